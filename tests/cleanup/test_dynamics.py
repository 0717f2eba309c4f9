"""OpenCleanup's physics, told by hand: each map is drawn beside what is expected of it."""

import dataclasses
import functools

import jax
import numpy as np
import pytest

from osj_envs.cleanup import dynamics
from osj_envs.cleanup.types import NO_COLOUR, Draws, ShotEffect
from osj_envs.grid.codes import Action, Item
from osj_envs.testing.drawn import Drawn, draw_world

N, S, E, W, LEFT, RIGHT, BEAM, STAY, PICK = Action
NOTHING, LIGHTENED, CLEARED = ShotEffect
CLEAR_RED, CLEAR_YELLOW, LIGHTEN_MID, LIGHTEN_DARK = 1, 2, 6, 7
RED_TOOL, MID_TOOL, DARK_TOOL, BLANK_TOOL = (0, 1), (1, 0), (2, 3), (3, 3)
TOOLS = {RED_TOOL: CLEAR_RED, MID_TOOL: LIGHTEN_MID, DARK_TOOL: LIGHTEN_DARK}


@functools.partial(jax.jit, static_argnames=("config", "num_agents"))
def sample_draws(config, num_agents, key):
    return dynamics.sample_draws(config, num_agents, key)


@functools.partial(jax.jit, static_argnames="config")
def step_world(config, latent, world, step, actions, draws):
    return dynamics.step_world(config, latent, world, step, actions, draws)


def quiet(drawn: Drawn, seed: int = 0) -> Draws:
    """Draws by which nothing spawns."""
    draws = sample_draws(drawn.config, drawn.num_agents, jax.random.key(seed))
    return draws.replace(spawn=np.float32(1.0))


def play(drawn: Drawn, *actions, draws: Draws | None = None, step: int = 0):
    """The step after all agents act, with nothing spawning unless draws are given."""
    draws = quiet(drawn) if draws is None else draws
    return step_world(
        drawn.config, drawn.latent, drawn.world, np.int32(step), np.array(actions), draws
    )


def expect(played, drawing: str, drawn: Drawn):
    """The board and the agents are as drawn; their windows are not looked at."""
    expected = draw_world(on_ground(drawing), **dataclasses.asdict(drawn.config)).world
    np.testing.assert_array_equal(played.world.item, expected.item)
    np.testing.assert_array_equal(played.world.colour, expected.colour)
    np.testing.assert_array_equal(played.world.agents.position, expected.agents.position)
    np.testing.assert_array_equal(played.world.agents.heading, expected.agents.heading)


def on_ground(drawing):
    """A drawing of one row with two rows of ground south of it."""
    lines = drawing.strip().splitlines()
    ground = " ".join("." for _ in lines[0].split())
    return "\n".join([*lines, ground, ground] if len(lines) == 1 else lines)


# The map's counts decide nothing but the share of dirt: the same ones compile once.
COUNTS = {"river_cells": 3, "initial_clean_cells": 0, "stream_cells": 0}
COUNTS |= {"orchard_cells": 1, "spawn_cells": 1, "stations": 4}


def draw(drawing, windows=None):
    """A drawing in which nothing grows."""
    return draw_world(on_ground(drawing), TOOLS, windows, apple_growth=0.0, **COUNTS)


def test_a_beam_clears_light_waste_of_its_hue_only():
    drawn = draw(
        """
        .  r0 .  .
        r0 y0 r1 .
        .  .^ .  .
        .  .  .  .
        """,
        [RED_TOOL],
    )
    expect(
        played := play(drawn, BEAM),
        """
        .  ~  .  .
        ~  y0 r1 .
        .  .^ .  .
        .  .  .  .
        """,
        drawn,
    )
    faced, beyond, left, right = 3, 0, 0, 1
    assert played.outcome.hit_colour[0].tolist() == [faced, beyond, left, right]
    assert played.outcome.hit_effect[0].tolist() == [NOTHING, CLEARED, CLEARED, NOTHING]
    assert played.events["cleared"].tolist() == [2.0]


@pytest.mark.parametrize(
    ("tool", "before", "after"),
    [
        (RED_TOOL, "r0", "~"),
        (RED_TOOL, "r1", "r1"),
        (RED_TOOL, "r2", "r2"),
        (RED_TOOL, "y0", "y0"),
        (MID_TOOL, "r1", "r0"),
        (MID_TOOL, "p1", "p0"),
        (MID_TOOL, "r0", "r0"),
        (MID_TOOL, "r2", "r2"),
        (DARK_TOOL, "r2", "r1"),
        (DARK_TOOL, "g2", "g1"),
        (DARK_TOOL, "g1", "g1"),
        (DARK_TOOL, "g0", "g0"),
        (BLANK_TOOL, "r0", "r0"),
        ((1,), "r0", "r0"),
        ((), "r0", "r0"),
        (RED_TOOL[::-1], "r0", "r0"),
        (RED_TOOL, "~", "~"),
        (RED_TOOL, "=", "="),
        (RED_TOOL, "o", "o"),
        (RED_TOOL, "0", "0"),
    ],
)
def test_what_a_tool_does_to_each_waste(tool, before, after):
    drawn = draw(f".> {before} . . . . .", [tool])
    played = play(drawn, BEAM)
    expect(played, f".> {after} . . . . .", drawn)
    effect = NOTHING if before == after else CLEARED if after == "~" else LIGHTENED
    assert played.outcome.hit_effect[0].tolist() == [effect, NOTHING, NOTHING, NOTHING]
    assert played.events["cleared"].tolist() == [float(effect == CLEARED)]
    assert played.events["lightened"].tolist() == [float(effect == LIGHTENED)]


def test_a_cell_changes_by_one_shade_a_step_however_many_beams_hit_it():
    drawn = draw(
        """
        .  .v .  .
        .> r1 .< .
        .  .^ .  .
        .  .  .  .
        """,
        [MID_TOOL, MID_TOOL, MID_TOOL, RED_TOOL],
    )
    # The fourth agent's tool would clear the light waste that the others make.
    played = play(drawn, BEAM, BEAM, BEAM, BEAM)
    assert played.world.item[1, 1] == Item.WASTE
    np.testing.assert_allclose(played.events["lightened"], [1 / 3, 1 / 3, 1 / 3, 0.0])
    assert played.events["cleared"].tolist() == [0.0] * 4
    assert (played.outcome.hit_colour[:, 0] == 1).all(), "all see the colour before the shots"
    assert played.outcome.hit_effect[:, 0].tolist() == [LIGHTENED] * 3 + [NOTHING]


def test_credit_for_a_cell_is_split_among_those_whose_beam_worked_on_it():
    drawn = draw(
        """
        .v .  .v .v
        r0 .  r0 r0
        .^ .  .  .
        .  .  .  .
        """,
        [RED_TOOL, RED_TOOL, BLANK_TOOL, RED_TOOL],
    )
    # The second works on both cells of its own side; the third's beam over them counts for nothing.
    played = play(drawn, BEAM, BEAM, BEAM, BEAM)
    assert played.events["cleared"].tolist() == [0.5, 2.0, 0.0, 0.5]


def test_a_bystanders_beam_undoes_nobodys_shot():
    """Two beams over the same cells, of which only one works."""
    for windows in ([RED_TOOL, BLANK_TOOL], [BLANK_TOOL, RED_TOOL]):
        drawn = draw(
            """
            .v .  .  .
            r0 r0 r0 .
            r0 .  .  .
            .^ .  .  .
            """,
            windows,
        )
        played = play(drawn, BEAM, BEAM)
        assert (np.asarray(played.world.item)[[1, 2], 0] == Item.WATER).all()
        assert float(played.events["cleared"].sum()) == 2.0 + (windows[0] == RED_TOOL)


def test_nobody_is_hit_by_a_beam_and_no_agent_blocks_it():
    drawn = draw(".> .< r0 . . . .", [RED_TOOL, RED_TOOL])
    expect(play(drawn, BEAM, STAY), ".> .< ~ . . . .", drawn)


@pytest.mark.parametrize(
    ("row", "after"),
    [
        ("r0 .< .  .  r0 r0 r0", "~  .< .  .  r0 r0 r0"),
        ("r0 r0 .  .  .  r0 .>", "r0 r0 .  .  .  r0 .>"),
        ("r0 r0 .  .  .> r0 r0", "r0 r0 .  .  .> ~  ~"),
        ("r0 r0 .v .  .  .  r0", "r0 r0 .v .  .  .  r0"),
    ],
)
def test_a_beam_over_the_edge_neither_wraps_nor_clamps(row, after):
    drawn = draw(row, [RED_TOOL])
    expect(play(drawn, BEAM), after, drawn)
    upright = draw(transposed(row), [RED_TOOL])
    expect(play(upright, BEAM), transposed(after), upright)


def transposed(drawing):
    """Rows as columns, and headings with them."""
    columns = zip(*(line.split() for line in on_ground(drawing).splitlines()), strict=True)
    mirrored = "\n".join(" ".join(column) for column in columns)
    return mirrored.translate(str.maketrans("<>^v", "^v<>"))


def test_the_waters_colour_goes_with_the_waste():
    drawn = draw(".> r0 . . . . .", [RED_TOOL])
    assert not play(drawn, BEAM).world.colour.any()


def test_picking_up_pushes_through_a_window_of_two_in_which_order_and_repeats_count():
    for before, after in [((), (-1, 2)), ((1,), (1, 2)), ((3, 1), (1, 2)), ((2, 2), (2, 2))]:
        drawn = draw(". 2> 1 . . . .", [before])
        played = play(drawn, PICK)
        assert played.world.window.tolist() == [list(after)]
        assert played.events["picked_up"].tolist() == [1.0]


def test_only_picking_up_on_a_station_picks_up():
    drawn = draw(". .> 1 . . . .", [(3, 2)])
    for action in Action:
        played = play(drawn, action)
        assert played.world.window.tolist() == [[3, 2]], "walking over a station does nothing"
        assert played.events["picked_up"].tolist() == [0.0]
    on_station = draw(". 1> . . . . .", [(3, 2)])
    for action in Action:
        assert play(on_station, action).events["picked_up"].tolist() == [float(action == PICK)]


def test_stations_hand_out_the_base_tools_in_the_order_of_the_chain():
    for place in range(10):
        drawn = draw(f". {place}> . . . . .", [()])
        assert play(drawn, PICK).world.window[0, 1] == place % 4


def test_walking_onto_an_apple_eats_it_for_a_reward_of_one():
    drawn = draw("o o< .> o o o .")
    played = play(drawn, W, E)
    expect(played, "*< o . *> o o .", drawn)
    assert played.reward.tolist() == played.outcome.reward.tolist() == [1.0, 1.0]
    assert played.events["apples"].tolist() == [1.0, 1.0]
    assert play(drawn, STAY, STAY).reward.tolist() == [1.0, 0.0], "and so does standing on one"


def test_of_two_that_want_an_apple_only_the_winner_eats_it():
    drawn = draw(".> o .< . . . .")
    rewards = {tuple(play(drawn, E, W, draws=quiet(drawn, s)).reward.tolist()) for s in range(9)}
    assert rewards == {(1.0, 0.0), (0.0, 1.0)}


def test_the_blocked_are_told():
    drawn = draw(".^ .> .< . . . .")
    assert play(drawn, N, E, STAY).outcome.blocked.tolist() == [True, True, False]
    assert play(drawn, N, LEFT, E).outcome.blocked.tolist() == [True, False, False]
    assert play(drawn, W, BEAM, PICK).outcome.blocked.tolist() == [True, False, False]


@pytest.mark.parametrize("action", [-1, 9, 100, -(2**31), 2**31 - 1])
def test_a_number_that_is_no_action_is_a_stay(action):
    drawn = draw("r0 .< o 1 . . .", [RED_TOOL])
    played, stayed = play(drawn, action), play(drawn, STAY)
    jax.tree.map(np.testing.assert_array_equal, played, stayed)
    assert not played.outcome.blocked.any()


def growing(drawing, tools=None, windows=None, **options):
    """Every apple that may grow does, where the river is clean enough."""
    drawn = draw_world(on_ground(drawing), tools, windows, **({"apple_growth": 1.0} | options))
    every_cell = np.zeros((drawn.config.height, drawn.config.width), np.uint32)
    return drawn, quiet(drawn).replace(cell=every_cell)


def test_apples_grow_on_empty_unoccupied_orchard_only():
    drawn, draws = growing("* o *^ . @ ~ = 1 r0 * .", dirt_threshold=1.0)
    played = play(drawn, STAY, draws=draws)
    expect(played, "o o *^ . @ ~ = 1 r0 o .", drawn)
    assert played.reward.tolist() == [0.0]


def test_nothing_grows_under_an_agent_that_leaves_but_behind_it_the_step_after():
    drawn, draws = growing("* *> . . ~ . .")
    played = play(drawn, E, draws=draws)
    expect(played, "o * .> . ~ . .", drawn)


def test_an_apple_that_grows_is_eaten_by_one_that_walks_onto_it_in_the_same_step():
    drawn, draws = growing("* .< . . ~ . .")
    played = play(drawn, W, draws=draws)
    expect(played, "*< . . . ~ . .", drawn)
    assert played.reward.tolist() == [1.0]


def test_growth_reads_the_board_as_the_step_begins():
    """A shot that clears enough counts from the next step on, and so does waste that spawns."""
    drawn, draws = growing(".> r0 * . . . ~", tools=TOOLS, windows=[RED_TOOL], dirt_threshold=0.5)
    expect(played := play(drawn, BEAM, draws=draws), ".> ~ * . . . ~", drawn)
    later = dataclasses.replace(drawn, world=played.world)
    expect(play(later, STAY, draws=draws), ".> ~ o . . . ~", drawn)

    drawn, draws = growing(".> * . . . . ~", dirt_threshold=0.5, waste_skew=1.0)
    spawns = draws.replace(spawn=np.float32(0.0), shade=np.int32(0))
    expect(play(drawn, STAY, draws=spawns, step=51), ".> o . . . . r0", drawn)


def spawning(drawing, shade=0, **options):
    """Waste comes at every step from 51 on."""
    drawn = draw_world(on_ground(drawing), **({"apple_growth": 0.0} | COUNTS | options))
    return drawn, quiet(drawn).replace(spawn=np.float32(0.0), shade=np.int32(shade))


def lucky(drawn, cell):
    """Random words by which a clean river cell of the first row is the one drawn."""
    words = np.arange(drawn.config.cells, dtype=np.uint32)
    words[cell] = 1000
    return words.reshape(drawn.config.height, drawn.config.width)


def test_no_waste_spawns_before_step_51():
    drawn, draws = spawning(".> ~ . . . . .", dominant_hue=2, shade=1)
    expect(play(drawn, STAY, draws=draws, step=50), ".> ~ . . . . .", drawn)
    expect(play(drawn, STAY, draws=draws, step=51), ".> g1 . . . . .", drawn)


def test_waste_spawns_on_clean_river_only_and_one_cell_a_step():
    drawn, draws = spawning(".> r2 = * @ 1 . ~ ~ y0")
    played = [
        play(drawn, STAY, draws=draws.replace(cell=lucky(drawn, cell)), step=60)
        for cell in range(10)
    ]
    expect(played[7], ".> r2 = * @ 1 . r0 ~ y0", drawn)
    for cell in (0, 1, 2, 3, 4, 5, 6, 8, 9):
        expect(played[cell], ".> r2 = * @ 1 . ~ r0 y0", drawn)


def test_nothing_spawns_under_an_agent_not_even_elsewhere_and_not_under_one_that_leaves():
    drawn, draws = spawning("~> . ~ . . . .")
    onto_agent = draws.replace(cell=lucky(drawn, 0))
    expect(play(drawn, STAY, draws=onto_agent, step=51), "~> . ~ . . . .", drawn)
    expect(play(drawn, E, draws=onto_agent, step=51), "~ .> ~ . . . .", drawn)
    elsewhere = draws.replace(cell=lucky(drawn, 2))
    expect(play(drawn, STAY, draws=elsewhere, step=51), "~> . r0 . . . .", drawn)


def test_waste_that_spawns_is_shot_in_the_same_step():
    drawn, draws = spawning(".> ~ . . . . .", tools=TOOLS, windows=[RED_TOOL])
    played = play(drawn, BEAM, draws=draws, step=51)
    expect(played, ".> ~ . . . . .", drawn)
    assert played.events["cleared"].tolist() == [1.0]


def test_waste_has_the_dominant_hue_unless_the_skew_lets_another_in():
    drawn, draws = spawning(".> ~ . . . . .", dominant_hue=4, waste_skew=0.5)
    draws = draws.replace(hue=np.int32(1))
    below, above = draws.replace(skew=np.float32(0.49)), draws.replace(skew=np.float32(0.5))
    expect(play(drawn, STAY, draws=below, step=51), ".> p0 . . . . .", drawn)
    expect(play(drawn, STAY, draws=above, step=51), ".> y0 . . . . .", drawn)


def test_an_item_under_an_agent_stays():
    """Agents walk over every kind of cell, and leave it as they found it."""
    drawn = draw(".> ~ = 1 @ * r2 .")
    world = drawn.world
    for column in range(1, 8):
        played = play(dataclasses.replace(drawn, world=world), E)
        world = played.world
        np.testing.assert_array_equal(world.item, drawn.world.item)
        np.testing.assert_array_equal(world.colour, drawn.world.colour)
        assert world.agents.position.tolist() == [[0, column]]


def test_who_makes_and_remakes_a_working_tool():
    drawn = draw(". 1> . . . . .", [(0, 0)])
    made = play(drawn, PICK)
    assert made.world.window.tolist() == [list(RED_TOOL)]
    assert (made.events["tool_made"][0], made.events["tool_remade"][0]) == (1.0, 0.0)
    lost = play(dataclasses.replace(drawn, world=made.world), PICK)
    assert (lost.events["tool_made"][0], lost.events["tool_remade"][0]) == (0.0, 0.0)
    again = lost.world.replace(window=np.array([[3, 0]], np.int32))
    remade = play(dataclasses.replace(drawn, world=again), PICK)
    assert (remade.events["tool_made"][0], remade.events["tool_remade"][0]) == (1.0, 1.0)
    kept = play(dataclasses.replace(drawn, world=remade.world), STAY)
    assert (kept.events["tool_made"][0], kept.events["tool_remade"][0]) == (0.0, 0.0)


def test_the_empty_hand_is_no_tool():
    """Even where the pair of two zeros clears."""
    for window, cleared in [((), 0.0), ((0,), 0.0), ((0, 0), 1.0)]:
        drawn = draw(".> r0 . . . . .", [window])
        drawn.latent.rules.effect[0] = CLEAR_RED
        assert play(drawn, BEAM).events["cleared"].tolist() == [cleared]


def test_shots_at_nothing_tell_nothing():
    drawn = draw(". .^ . . . . .", [RED_TOOL])
    outcome = play(drawn, BEAM).outcome
    assert outcome.hit_colour.tolist() == [[NO_COLOUR] * 4]
    assert outcome.hit_effect.tolist() == [[NOTHING] * 4]
    assert play(drawn, BEAM).events["fired"].tolist() == [1.0]
