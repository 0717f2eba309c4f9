"""OpenHarvest's zaps and waits, told by hand: each map is drawn beside what is expected of it."""

import dataclasses

import jax
import numpy as np
import pytest

from osj_envs.grid.codes import Action
from osj_envs.harvest.constants import Lost
from osj_envs.testing.drawn_orchard import draw_orchard
from osj_envs.testing.played_orchard import (
    after,
    lucky,
    play,
    quiet,
)
from osj_envs.testing.trees import differing_leaves

N, S, E, W, LEFT, RIGHT, BEAM, STAY, PICK = Action


FIELD = """
.  .  .  .  .  .  .
.  .  .^ .  .  .  .
.  .  .  .  .  .  .
.  .  .  .  x  x  x
@  @  @  @  x  x  .
.  .  .  .  x  .  .
"""


def zapper(*places, heading="^", waits=None, **options):
    """One agent in the middle that faces some way, others on the places given."""
    rows = [line.split() for line in FIELD.strip().splitlines()]
    rows[1][2] = "." + heading
    for row, column in places:
        rows[row][column] += "v"
    drawn = draw_orchard("\n".join(" ".join(row) for row in rows), **options)
    position = drawn.world.agents.position.tolist()
    order = [position.index(list(place)) for place in [(1, 2), *places]]
    agents = jax.tree.map(lambda leaf: leaf[order], drawn.world.agents)
    return dataclasses.replace(drawn, world=dataclasses.replace(drawn.world, agents=agents))


BEAMS = {
    "^": {(0, 2), (0, 1), (0, 3)},
    ">": {(1, 3), (1, 4), (0, 3), (2, 3)},
    "v": {(2, 2), (3, 2), (2, 1), (2, 3)},
    "<": {(1, 1), (1, 0), (0, 1), (2, 1)},
}


@pytest.mark.parametrize("heading", BEAMS)
def test_a_beam_hits_the_four_cells_ahead_and_no_others(heading):
    for row in range(4):
        for column in range(5):
            if (row, column) in {(1, 2), (3, 4)}:
                continue
            drawn = zapper((row, column), heading=heading)
            played = play(drawn, BEAM, STAY)
            hit = (row, column) in BEAMS[heading]
            assert played.outcome.zapped.tolist() == [False, hit]
            assert played.events["zap_hits"].tolist() == [float(hit), 0.0]
            assert played.events["zapped"].tolist() == [0.0, float(hit)]
            assert played.events["zaps"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("corner", [(0, 0), (0, 6), (5, 6), (5, 0)])
@pytest.mark.parametrize("heading", range(4))
def test_a_beam_over_the_edge_neither_wraps_nor_clamps(corner, heading):
    drawn = zapper(*[(r, c) for r in (0, 3, 5) for c in range(7) if (r, c) != corner])
    agents = drawn.world.agents
    agents.position[0], agents.heading[0] = corner, heading
    played = play(drawn, BEAM, *[STAY] * (drawn.num_agents - 1))
    down, across = ((-1, 0), (0, 1), (1, 0), (0, -1))[heading]
    faced = corner[0] + down, corner[1] + across
    cells = {faced, (faced[0] + down, faced[1] + across)}
    cells |= {(faced[0] + across, faced[1] + down), (faced[0] - across, faced[1] - down)}
    expected = [tuple(place) in cells for place in agents.position.tolist()]
    assert played.outcome.zapped.tolist() == expected


def test_one_hit_goes_to_a_free_spawn_cell_and_faces_any_way():
    drawn = zapper((0, 2), (4, 1))
    seen = set()
    for seed in range(60):
        played = play(drawn, BEAM, STAY, STAY, draws=quiet(drawn, seed))
        agents = played.world.agents
        seen.add((*agents.position[1].tolist(), int(agents.heading[1])))
        assert agents.position[[0, 2]].tolist() == [[1, 2], [4, 1]], "others stay"
    assert {(row, column) for row, column, _ in seen} == {(4, 0), (4, 2), (4, 3)}
    assert {heading for *_, heading in seen} == {0, 1, 2, 3}


def test_all_hit_at_once_go_to_different_cells():
    drawn = zapper((0, 1), (0, 2), (0, 3), (2, 2))
    for seed in range(30):
        played = play(drawn, BEAM, STAY, STAY, STAY, BEAM, draws=quiet(drawn, seed))
        assert played.outcome.zapped.tolist() == [False, True, True, True, False]
        places = {tuple(place) for place in played.world.agents.position[1:4].tolist()}
        assert len(places) == 3
        assert places <= {(4, column) for column in range(4)}


def test_where_no_spawn_cell_is_free_open_ground_is_taken():
    drawn = zapper((0, 2), (0, 1), (4, 0), (4, 1), (4, 2))
    trees = {divmod(int(cell), 7) for cell in drawn.latent.layout.trees}
    for seed in range(30):
        played = play(drawn, BEAM, *[STAY] * 5, draws=quiet(drawn, seed))
        first, second = (tuple(place) for place in played.world.agents.position[1:3].tolist())
        assert (4, 3) in {first, second}, "the free spawn cell is taken first"
        other = second if first == (4, 3) else first
        assert other not in trees
        assert other[0] != 4 or other[1] > 3
        everyone = {tuple(place) for place in played.world.agents.position.tolist()}
        assert len(everyone) == 6


def test_all_beams_meet_the_same_board():
    """Two that face each other hit each other, and so does a beam on a cell just left."""
    drawn = zapper((0, 2))
    agents = drawn.world.agents
    agents.heading[1] = 2
    played = play(drawn, BEAM, BEAM)
    assert played.outcome.zapped.tolist() == [True, True]
    moved = play(drawn, BEAM, E)
    assert moved.outcome.zapped.tolist() == [False, True], "(0, 3) is in the beam too"
    assert play(zapper((0, 3)), BEAM, E).outcome.zapped.tolist() == [False, False]


def test_two_that_hit_one_each_count_it():
    drawn = zapper((0, 2), (1, 3))
    drawn.world.agents.heading[2] = 0
    played = play(drawn, BEAM, STAY, BEAM)
    assert played.events["zap_hits"].tolist() == [1.0, 0.0, 1.0]
    assert played.events["zapped"].tolist() == [0.0, 1.0, 0.0]


def test_a_zap_pays_nothing_and_does_nothing_to_apples():
    drawn = draw_orchard(
        """
        a a a .  .
        a a .  .  @
        a .  .  .  @
        .^ .  .  .  @
        """
    )
    quietly, loudly = play(drawn, STAY), play(drawn, BEAM)
    assert loudly.reward.tolist() == [0.0]
    assert not differing_leaves(quietly.world.trees, loudly.world.trees)


def test_one_zapped_after_its_meal_keeps_it():
    drawn = draw_orchard(
        """
        a  a  a  .  .
        a  x  .  .  @
        a  .< .  .  @
        .^ .  .  .  @
        """
    )
    played = (
        play(drawn, BEAM, W)
        if drawn.world.agents.position[0].tolist() == [3, 0]
        else play(drawn, W, BEAM)
    )
    eater = int(np.argmax(played.reward))
    assert played.reward[eater] == 1.0
    assert played.outcome.zapped[eater]
    assert played.world.trees.lost[drawn.tree(2, 0)] == Lost.EATEN
    assert played.world.agents.position[eater].tolist() in [[1, 4], [2, 4], [3, 4]]


@pytest.mark.parametrize("action", [N, S, E, W, LEFT, RIGHT, BEAM])
def test_one_hit_cannot_act_for_just_twelve_steps(action):
    drawn = zapper((0, 2))
    drawn = after(drawn, play(drawn, BEAM, STAY))
    assert drawn.world.frozen.tolist() == [0, 12]
    agents = jax.tree.map(np.copy, drawn.world.agents)
    agents.position[1], agents.heading[1] = (2, 5), 0
    drawn = dataclasses.replace(drawn, world=dataclasses.replace(drawn.world, agents=agents))
    for left in range(12, 0, -1):
        assert drawn.world.frozen.tolist() == [0, left]
        stays = play(drawn, STAY, STAY)
        played = play(drawn, STAY, action)
        assert not differing_leaves(stays, played)
        drawn = after(drawn, played)
    assert drawn.world.frozen.tolist() == [0, 0]
    assert differing_leaves(play(drawn, STAY, STAY), play(drawn, STAY, action))


def test_a_frozen_agent_can_be_hit_again_and_waits_anew():
    drawn = zapper((0, 2))
    drawn.world.frozen[1] = 5
    played = play(drawn, BEAM, STAY)
    assert played.outcome.zapped.tolist() == [False, True]
    assert played.world.frozen.tolist() == [0, 12]
    assert played.world.agents.position[1, 0] == 4


def test_a_frozen_agent_eats_what_it_stands_on_only_if_it_hangs_there():
    """It cannot act, but nothing grows under it either."""
    drawn = draw_orchard("x^ a a .\na a . .\na . @ @")
    drawn.world.frozen[0] = 3
    assert play(drawn, E, draws=lucky(drawn)).reward.tolist() == [0.0]


def test_a_beam_is_unavailable_for_just_two_steps_after_one():
    drawn = zapper((5, 0))
    fired = []
    for _ in range(8):
        played = play(drawn, BEAM, STAY)
        fired.append(int(played.events["zaps"][0]))
        drawn = after(drawn, played)
    assert fired == [1, 0, 0, 1, 0, 0, 1, 0]


def test_a_beam_that_cools_down_is_a_stay():
    drawn = zapper((0, 2))
    drawn.world.cooldown[0] = 2
    assert not differing_leaves(play(drawn, STAY, STAY), play(drawn, BEAM, STAY))
    drawn.world.cooldown[0] = 0
    assert differing_leaves(play(drawn, STAY, STAY), play(drawn, BEAM, STAY))


@pytest.mark.parametrize("action", [-1, 8, 100, -(2**31), 2**31 - 1])
def test_a_number_that_is_no_action_is_a_stay(action):
    drawn = draw_orchard("a a a .\na a .> .\na . @ @")
    assert not differing_leaves(play(drawn, STAY), play(drawn, action))


def test_the_blocked_are_told():
    drawn = draw_orchard("x^ x> x< .\nx x . .\nx . @ @")
    assert play(drawn, N, E, STAY).outcome.blocked.tolist() == [True, True, False]
    assert play(drawn, N, LEFT, E).outcome.blocked.tolist() == [True, False, False]
