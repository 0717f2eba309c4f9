"""OpenHarvest's trees and meals, told by hand: each map is drawn beside what is expected of it."""

import dataclasses

import numpy as np
import pytest

from osj_envs.grid.codes import Action
from osj_envs.harvest import dynamics
from osj_envs.harvest.constants import Lost
from osj_envs.harvest.types import NOTHING_EATEN
from osj_envs.testing.drawn_orchard import STAGE_STEPS, draw_orchard
from osj_envs.testing.played_orchard import (
    after,
    expect,
    look,
    lucky,
    play,
    quiet,
    with_trees,
)
from osj_envs.testing.slow_orchard import without_meaningless
from osj_envs.testing.trees import differing_leaves

N, S, E, W, LEFT, RIGHT, BEAM, STAY, PICK = Action


FULL = """
a a a .  .
a a .  .  @
a .  .  .  @
.  .  .  .  @
"""


# Ages and stages.


@pytest.mark.parametrize("stage_steps", [15, 17, 20])
def test_an_apple_ripens_and_rots_after_its_own_steps(stage_steps):
    drawn = with_trees(draw_orchard(FULL.replace("@", "@^", 1)), stage_steps=stage_steps)
    stages = []
    for _ in range(3 * stage_steps):
        drawn = after(drawn, play(drawn, STAY))
        lost = drawn.world.trees.lost
        assert (lost == lost[0]).all()
        stages.append(
            "r" if lost[0] else "abc"[int(np.asarray(dynamics.stage(drawn.world.trees))[0])]
        )
    unripe = stage_steps - 1
    assert "".join(stages) == "a" * unripe + "b" * stage_steps + "c" * stage_steps + "r"


def test_apples_of_one_orchard_age_apart():
    drawn = with_trees(
        draw_orchard(FULL.replace("@", "@^", 1)),
        age=[14, 29, 44, 0, 18, 59],
        stage_steps=[15, 15, 15, 15, 20, 20],
    )
    expect(
        play(drawn, STAY),
        drawn,
        """
        b c r .  .
        a a .  .  @^
        r .  .  .  @
        .  .  .  .  @
        """,
    )


def test_a_bare_cell_does_not_age():
    drawn = with_trees(draw_orchard(BARE), age=59, stage_steps=20)
    played = play(drawn, STAY)
    assert look(played, drawn) == look(drawn, drawn)


BARE = """
x y z .  .
x y .  .  @^
z .  .  .  @
.  .  .  .  @
"""


# Cells whose apple rotted.


@pytest.mark.parametrize("delay", [2, 3, 4, 5])
def test_a_cell_whose_apple_rotted_regrows_after_its_delay(delay):
    drawn = with_trees(draw_orchard(BARE, rot_delay=(delay, delay)), age=44, stage_steps=15, lost=0)
    drawn = after(drawn, played := play(drawn, STAY))
    assert (played.world.trees.lost == Lost.ROTTED).all()
    for waited in range(1, delay + 1):
        drawn = after(drawn, play(drawn, STAY))
        hangs = drawn.world.trees.lost == Lost.HANGING
        assert hangs.all() if waited == delay else not hangs.any()
    assert (drawn.world.trees.age == 0).all(), "the new ones are unripe"


def test_a_cell_whose_apple_rotted_regrows_whatever_is_near_it():
    for others in ("x", "a", "r"):
        drawing = f"""
        r  {others} {others} .
        {others} {others} .  .
        {others} .  @^ @
        """
        drawn = draw_orchard(drawing, delay=1)
        assert play(drawn, STAY).world.trees.lost[drawn.tree(0, 0)] == Lost.HANGING


def test_a_cell_whose_apple_rotted_waits_for_an_agent_to_leave():
    drawn = draw_orchard(
        """
        x  r^ x  .
        x  x  .  .
        x  .  @  @
        """,
        delay=2,
    )
    place = drawn.tree(0, 1)
    for _ in range(4):
        drawn = after(drawn, play(drawn, STAY))
        assert drawn.world.trees.lost[place] == Lost.ROTTED
    drawn = after(drawn, left := play(drawn, S))
    assert left.world.agents.position.tolist() == [[1, 1]]
    assert drawn.world.trees.lost[place] == Lost.ROTTED, "it stood there as the step began"
    assert play(drawn, STAY).world.trees.lost[place] == Lost.HANGING


def test_the_delay_runs_on_while_an_agent_stands_there():
    drawn = draw_orchard(
        """
        x  r^ x  .
        x  x  .  .
        x  .  @  @
        """,
        delay=3,
    )
    gone = after(drawn, play(drawn, S))
    assert gone.world.trees.lost[drawn.tree(0, 1)] == Lost.ROTTED
    gone = after(drawn, play(gone, STAY))
    assert gone.world.trees.lost[drawn.tree(0, 1)] == Lost.ROTTED
    assert play(gone, STAY).world.trees.lost[drawn.tree(0, 1)] == Lost.HANGING


# Cells whose apple was eaten.


def near(drawing, **options):
    """The apples counted near the middle of a diamond, by the chance that they make."""
    drawn = draw_orchard(
        drawing, regrowth=(0.125, 0.25, 0.5, 1.0), speeds=(1.0, 1.0, 1.0), **options
    )
    chance = dynamics.regrowth_chance(drawn.config, drawn.latent.rules, drawn.world)
    chances = dict(
        zip(drawn.latent.layout.trees.tolist(), np.asarray(chance).tolist(), strict=True)
    )
    return {
        divmod(cell, drawn.config.width): {0.125: 0, 0.25: 1, 0.5: 2, 1.0: 3}[c]
        for cell, c in chances.items()
    }


def test_what_hangs_within_two_steps_counts_and_the_cell_itself_and_others_do_not():
    counts = near(
        """
        .  .  x  .  .  .  .  .
        .  x  x  x  .  .  .  a
        a  x  x  x  x  .  a  a
        .  x  x  x  .  a  a  a
        .  .  x  .  .  .  .  .
        @^ @  .  .  .  .  .  .
        """
    )
    close = [(2, 1), (2, 2), (1, 1), (3, 1)]
    assert all(counts[cell] == 1 for cell in close)
    assert counts[2, 0] == 0, "an apple is not near itself"
    far = [(2, 3), (2, 4), (1, 2), (1, 3), (3, 2), (3, 3), (0, 2), (4, 2)]
    assert not any(counts[cell] for cell in far)


def test_how_many_hang_near_is_counted_to_three():
    counts = near(
        """
        .  .  a  .  .  .
        .  a  x  a  .  .
        a  x  x  x  a  .
        .  a  x  a  .  .
        .  .  a  .  .  .
        @^ @  .  .  .  .
        """
    )
    assert counts[2, 2] == counts[1, 2] == 3
    counts = near(
        """
        .  .  r  .  .  .
        .  a  y  z  .  .
        r  x  x  x  x  .
        .  z  x  b  .  .
        .  .  r  .  .  .
        @^ @  .  .  .  .
        """
    )
    assert counts[2, 2] == 2, "one that rotted is gone, and ripeness does not matter"


@pytest.mark.parametrize("turn", range(4))
def test_a_turned_quarter_has_the_same_neighbours(turn):
    rows = np.rot90(np.array([list("axx"), list("xx."), list("x..")]), turn)
    lines = ["  ".join(row) + "  .  @" for row in rows]
    counts = near("\n".join([*lines, ".  .  .  .  @^"]))
    corner = [(0, 0), (2, 0), (2, 2), (0, 2)][turn]
    for cell, count in counts.items():
        distance = abs(cell[0] - corner[0]) + abs(cell[1] - corner[1])
        assert count == (1 <= distance <= 2)


def test_the_speed_is_that_of_the_colour_and_of_the_stage_at_which_it_was_eaten():
    drawn = draw_orchard(
        """
        a a y .  .  a a z
        a x .  .  .  .  a y
        a .  .  .  .  .  .  x
        @^ @  .  .  .  .  .  .
        """,
        colours=(1, 0),
        speed=((0, 1, 2), (2, 0, 1)),
        regrowth=(0.0, 0.25, 0.25, 0.25),
    )
    chance = dynamics.regrowth_chance(drawn.config, drawn.latent.rules, drawn.world)
    speeds = {(1, 1): 0.5, (0, 2): 2.0, (0, 7): 0.5, (1, 7): 1.0, (2, 7): 2.0}
    for cell, speed in speeds.items():
        assert chance[drawn.tree(*cell)] == pytest.approx(0.25 * speed)


def test_what_was_eaten_comes_back_by_chance_and_unripe():
    drawn = draw_orchard(
        """
        b x y .  .
        z b .  .  @^
        b .  .  .  @
        .  .  .  .  @
        """
    )
    assert look(play(drawn, STAY), drawn) == look(drawn, drawn)
    expect(
        played := play(drawn, STAY, draws=lucky(drawn)),
        drawn,
        """
        b a a .  .
        a b .  .  @^
        b .  .  .  @
        .  .  .  .  @
        """,
    )
    assert played.world.trees.age[drawn.tree(0, 1)] == 0
    assert played.events["regrown"].tolist() == [3.0]


def test_with_nothing_near_what_was_eaten_never_comes_back():
    drawn = draw_orchard(BARE)
    assert look(play(drawn, STAY, draws=lucky(drawn)), drawn) == look(drawn, drawn)


def test_regrowth_reads_the_board_as_the_step_begins():
    """An apple that rots, or comes, in this very step counts from the next on."""
    drawing = """
    c x x .  .
    r x .  .  @^
    x .  .  .  @
    .  .  .  .  @
    """
    drawn = draw_orchard(drawing, delay=1)
    rots = with_trees(drawn, age=44, lost=drawn.world.trees.lost)
    played = play(rots, STAY, draws=lucky(rots))
    assert look(played, rots).split()[0] == "r"
    grown = [
        cell
        for cell in ((0, 1), (0, 2), (1, 1), (2, 0))
        if played.world.trees.lost[drawn.tree(*cell)] == 0
    ]
    assert grown == [(0, 1), (0, 2), (1, 1), (2, 0)], "all have the one that rots near"
    alone = with_trees(drawn, lost=np.where(drawn.world.trees.lost == 0, 1, drawn.world.trees.lost))
    played = play(alone, STAY, draws=lucky(alone))
    assert (played.world.trees.lost == Lost.HANGING).sum() == 1, "only that whose delay is over"


def test_no_apple_grows_under_an_agent_but_behind_it_the_step_after():
    drawn = draw_orchard(
        """
        a x> x a
        a x  . .
        a .  @ @
        """.replace("a x> x a", "a x> x .")
    )
    expect(
        played := play(drawn, E, draws=lucky(drawn)),
        drawn,
        """
        a x x> .
        a a  . .
        a .  @ @
        """,
    )
    assert played.reward.tolist() == [1.0], "what came there in the same step is eaten"
    assert played.events["ate_unripe"].tolist() == [1.0]
    later = play(after(drawn, played), STAY, draws=lucky(drawn))
    assert look(later, drawn).split()[:3] == ["a", "a", "x"]


# Eating.

COLOURED = """
a b c . . a b c .
a b . . . . a b .
a . . . . . . a .
. @ @ @ . . . . .
"""


@pytest.mark.parametrize("colour", [0, 1])
@pytest.mark.parametrize("stage", range(3))
def test_an_apple_pays_by_its_colour_and_stage(colour, stage):
    pay = ((0, 1, 2), (2, 0, 1))
    drawing = ("abc"[stage] + "> a a .\na a . .\na . @ @").replace("a a a", "a a a")
    drawn = draw_orchard(drawing, colours=(colour,), pay=pay)
    played = play(drawn, STAY)
    points = (1.0, 0.5, 0.25)[pay[colour][stage]]
    assert played.reward.tolist() == played.outcome.reward.tolist() == [points]
    assert played.outcome.eaten_colour.tolist() == [colour]
    assert played.outcome.eaten_stage.tolist() == [stage]
    assert played.world.trees.lost[drawn.tree(0, 0)] == Lost.EATEN + stage
    counts = {name: float(count[0]) for name, count in played.events.items()}
    assert counts["apples"] == 1.0
    assert [counts[n] for n in ("ate_unripe", "ate_ripe", "ate_overripe")] == [
        float(stage == each) for each in range(3)
    ]
    assert counts["ate_best"] == float(points == 1.0)
    assert counts["ate_early"] == float(stage < pay[colour].index(0))


def test_the_stage_is_that_after_the_apple_has_aged():
    drawn = with_trees(draw_orchard("a> a a .\na a . .\na . @ @"), age=14)
    assert play(drawn, STAY).outcome.eaten_stage.tolist() == [1]
    rots = with_trees(drawn, age=44)
    assert play(rots, STAY).outcome.eaten_stage.tolist() == [NOTHING_EATEN], "it rots first"
    assert play(rots, STAY).reward.tolist() == [0.0]


def test_walking_onto_an_apple_eats_it_and_nobody_else_is_paid():
    drawn = draw_orchard(
        """
        a< a a .> .
        a  a .  .  @
        a  .  .  .  @
        """
    )
    played = play(drawn, S, W)
    expect(
        played,
        drawn,
        """
        a  a x> .  .
        x< a .  .  @
        a  .  .  .  @
        """,
    )
    assert played.reward.tolist() == [1.0, 1.0]
    idle = play(drawn, E, STAY)
    assert idle.reward.tolist() == [1.0, 0.0]
    assert idle.outcome.eaten_colour.tolist() == [0, NOTHING_EATEN]


def test_of_two_that_want_an_apple_only_the_winner_eats_it():
    drawn = draw_orchard(
        """
        x  a  x  .
        x  x^ .  .
        x  .  @  @
        """.replace("x  a  x  .", "x> a  x< .")
    )
    drawn = dataclasses.replace(drawn)
    rewards = {
        tuple(play(drawn, E, W, STAY, draws=quiet(drawn, s)).reward.tolist()) for s in range(9)
    }
    assert rewards == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)}


def test_an_apple_under_an_agent_that_could_not_move_is_eaten_too():
    drawn = draw_orchard("a^ x x .\nx x . .\nx . @ @")
    played = play(drawn, N)
    assert played.outcome.blocked.tolist() == [True]
    assert played.reward.tolist() == [1.0]


def test_what_is_rarely_worth_it_counts_as_neither_best_nor_early():
    drawn = draw_orchard("c^ x x .\nx x . .\nx . @ @", pay=((0, 1, 2),))
    events = play(drawn, STAY).events
    assert (events["ate_best"][0], events["ate_early"][0]) == (0.0, 0.0)


# The end.


def test_a_trial_is_over_when_nothing_hangs_and_nothing_is_on_its_way():
    drawn = draw_orchard("x x x .\nx x . .\na^ . @ @")
    assert not play(draw_orchard("x x x .\nx x . .\na .^ @ @"), STAY).is_over
    played = play(drawn, STAY)
    assert played.reward.tolist() == [1.0]
    assert played.is_over


def test_a_trial_goes_on_while_a_rotted_cell_counts_down():
    drawn = draw_orchard("x y z .\nx x . .\nr .^ @ @", delay=3)
    for _ in range(2):
        drawn = after(drawn, played := play(drawn, STAY))
        assert not played.is_over
        assert not (played.world.trees.lost == Lost.HANGING).any()
    assert play(drawn, STAY).world.trees.lost[drawn.tree(2, 0)] == Lost.HANGING


def test_a_trial_goes_on_while_an_agent_stands_on_a_rotted_cell():
    drawn = draw_orchard("x y z .\nx x . .\nr^ . @ @", delay=1)
    for _ in range(3):
        drawn = after(drawn, played := play(drawn, STAY))
        assert not played.is_over


def test_a_trial_goes_on_where_apples_come_with_nothing_near():
    drawn = draw_orchard(BARE, regrowth=(0.1, 0.0, 0.0, 0.0))
    assert not play(drawn, STAY).is_over
    assert play(draw_orchard(BARE), STAY).is_over


def test_the_trees_stay_where_agents_walk():
    drawn = draw_orchard(BARE.replace("x y z .  .", "x> y z .  ."))
    for _ in range(4):
        drawn = after(drawn, played := play(drawn, E, STAY))
        assert not differing_leaves(
            without_meaningless(drawn.world).trees, without_meaningless(played.world).trees
        )
        assert look(played, drawn).split()[:3] == ["x", "y", "z"]


def test_the_drawn_ages_are_those_of_the_stages():
    trees = draw_orchard("a b c .\na b . .\na .^ @ @").world.trees
    assert sorted(set(trees.age.tolist())) == [0, STAGE_STEPS, 2 * STAGE_STEPS]
