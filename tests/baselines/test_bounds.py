"""The privileged players of OpenHarvest: by hand, in whole games, and beside published figures."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from baselines import bounds, registry
from osj_envs.evaluation import evaluate
from osj_envs.grid.codes import Action
from osj_envs.harvest.constants import STAGES, HarvestConfig, Lost, Stage
from osj_envs.harvest.types import NOTHING_EATEN
from osj_envs.seats import Privileged, SeesState
from osj_envs.testing.drawn_orchard import STAGE_STEPS, draw_orchard
from osj_envs.testing.orchard_games import FORK, FORK_MOVES, TWO_IN_LINE, decide, env_of, watch
from osj_envs.testing.orchards import random_latent

N, S, E, W, STAY = Action.NORTH, Action.SOUTH, Action.EAST, Action.WEST, Action.STAY
SMALL = HarvestConfig(height=8, width=9, diamonds=1, quarters=1, spawn_cells=5)
GAMES, STEPS, AGENTS = 12, 120, 3

PLAYERS = {
    "greedy": bounds.make_full_greedy,
    "patient": bounds.make_full_patient,
    "steward": bounds.make_steward,
    "steward 2": lambda env: bounds.make_steward(env, keep=2),
    "steward 0": lambda env: bounds.make_steward(env, keep=0),
    "fast": bounds.make_fast_steward,
    "fast 0": lambda env: bounds.make_fast_steward(env, keep=0),
}

BEST_UNRIPE = {"pay": [(0, 1, 2)], "speed": [(1, 0, 2)]}
"""An apple pays most when unripe; its cell regrows fastest when it was ripe."""


def acts(player, drawing, age=None, **options):
    """What every seat does at once, all of them the same player."""
    drawn = draw_orchard(drawing, **BEST_UNRIPE | options)
    world = drawn.world
    if age is not None:
        hanging = np.asarray(world.trees.lost) == Lost.HANGING
        ages = np.where(hanging, age, 0).astype(np.uint8)
        world = dataclasses.replace(world, trees=dataclasses.replace(world.trees, age=ages))
    env = env_of(drawn.config, drawn.num_agents)
    policy = PLAYERS[player](env)
    return decide(env, policy, drawn.latent, world, jax.random.key(0)).tolist()


ALONE = """
x x a . . . .< .
x x . . . . . .
{} . . . . . . .
. . . . . . . @
"""


@pytest.mark.parametrize(
    ("corner", "player", "action"),
    [
        ("a", "greedy", W),
        ("b", "greedy", W),
        ("a", "patient", STAY),
        ("c", "steward", STAY),
        ("a", "steward 0", W),
        ("b", "fast 0", S),
    ],
)
def test_the_nearest_apple_on_the_menu(corner, player, action):
    found = acts(player, ALONE.format(corner))[0]
    assert found in ((S, W) if action == S else (action,))


@pytest.mark.parametrize(
    ("near", "far", "player", "action"),
    [
        *FORK_MOVES,
        ("b", "a", "steward 0", S),
        ("a", "b", "steward 0", W),
        ("a", "b", "fast 0", S),
        ("b", "a", "fast 0", W),
        ("c", "a", "fast 0", W),
        ("c", "b", "steward 0", W),
    ],
)
def test_an_apple_to_be_left_is_walked_around(near, far, player, action):
    assert acts(player, FORK.format(near=near, far=far)) == [action]


def test_an_agent_in_the_way_is_walked_around():
    assert acts("greedy", TWO_IN_LINE) == [W, S]


@pytest.mark.parametrize(("player", "action"), [("greedy", W), ("patient", STAY)])
def test_what_lies_behind_apples_to_be_left_is_waited_for(player, action):
    drawing = """
    b a x .< . . . .
    a a . .  . . . .
    x . . .  . . . .
    . . . .  . . . @
    """
    assert acts(player, drawing) == [action]


def test_what_lies_behind_other_agents_is_waited_for():
    drawing = """
    a  x  x^ .^ . . . .
    x  x^ .  .  . . . .
    x^ .  .  .  . . . .
    .  .  .  .  . . . @
    """
    west_or_north = (W, N)
    found = acts("greedy", drawing)
    assert found[1] == STAY
    assert found[0] == W
    assert found[2] in west_or_north
    assert found[3] == N


HANGING = {
    "three": "x a a . . . .^ .\nx a . . . . . .\nx . . . . . . .\n. . . . . . . @",
    "four": "a a a . . . .^ .\nx a . . . . . .\nx . . . . . . .\n. . . . . . . @",
}


@pytest.mark.parametrize(
    ("hanging", "player", "action"),
    [
        ("three", "greedy", W),
        ("three", "steward 2", W),
        ("three", "steward", STAY),
        ("three", "fast", STAY),
        ("four", "steward", W),
        ("four", "fast", STAY),
    ],
)
def test_an_apple_is_left_whose_cell_would_keep_too_few_neighbours(hanging, player, action):
    assert acts(player, HANGING[hanging]) == [action]


@pytest.mark.parametrize(
    ("age", "player", "action"),
    [
        (STAGE_STEPS - 2, "steward", W),
        (STAGE_STEPS - 1, "steward", STAY),
        (STAGE_STEPS - 2, "patient", STAY),
        (STAGE_STEPS - 1, "patient", W),
        (2 * STAGE_STEPS - 1, "steward", W),
        (3 * STAGE_STEPS - 2, "steward", W),
        (3 * STAGE_STEPS - 1, "steward", STAY),
        (3 * STAGE_STEPS - 1, "greedy", STAY),
    ],
)
def test_apples_are_taken_for_what_they_will_be_after_the_move(age, player, action):
    assert acts(player, HANGING["four"], age=age) == [action]


@pytest.mark.parametrize(("delay", "action"), [(1, W), (2, STAY)])
def test_a_rotted_cell_counts_as_soon_as_it_will_have_regrown(delay, action):
    drawing = HANGING["three"].replace("x a a", "r a a")
    assert acts("steward", drawing, delay=delay) == [action]


def test_of_two_that_could_eat_at_once_the_later_seat_gives_way():
    drawing = """
    a a a  .< . . . .
    x a .  .  . . . .
    x .^ . .  . . . .
    . . .  .  . . . @
    """
    # the later one leaves the apple beside it, and makes for the one that the other may eat
    assert acts("steward", drawing) == [W, E]
    assert acts("steward 2", drawing) == [W, E]
    assert acts("greedy", drawing) == [W, N]


@pytest.fixture(scope="module")
def small():
    """The environment, and hidden configurations of it."""
    rng = np.random.default_rng(0)
    latents = [random_latent(SMALL, rng) for _ in range(GAMES)]
    return env_of(SMALL, AGENTS), jax.tree.map(lambda *leaves: jnp.stack(leaves), *latents)


def watched_games(env, policy, latents):
    keys = jax.random.split(jax.random.key(1), GAMES)
    return jax.vmap(lambda key, latent: watch(env, policy, key, latent, STEPS))(keys, latents)


def meals(latent, watched):
    """(step, tree, stage) of each apple eaten that the agents could know to hang there."""
    config, trees = SMALL, np.asarray(latent.layout.trees).astype(int)
    cell = np.asarray(watched.after.agents.position) @ np.array([config.width, 1])
    stage = np.asarray(watched.outcome.eaten_stage)
    lost = np.asarray(watched.before.trees.lost)
    found, surprises = [], 0
    for step, seat in np.argwhere(stage != NOTHING_EATEN):
        tree = int(np.flatnonzero(trees == cell[step, seat])[0])
        if Lost.EATEN <= lost[step, tree] < Lost.ROTTED:
            surprises += 1
        else:
            found.append((step, tree, int(stage[step, seat])))
    return found, surprises


@pytest.mark.parametrize(
    ("player", "keep", "field"),
    [("steward", 3, "pay"), ("steward 2", 2, "pay"), ("fast", 3, "speed")],
)
def test_stewards_starve_no_cell_and_eat_at_their_stage_alone(small, player, keep, field):
    """But for apples that come by chance as an agent walks over their cell."""
    env, latents = small
    policy = PLAYERS[player](env)
    games = watched_games(env, policy, latents)
    near, worth = SMALL.neighbours, np.array({"pay": SMALL.pays, "speed": SMALL.speeds}[field])
    eaten = unforeseen = 0
    for game in range(GAMES):
        latent, watched = jax.tree.map(lambda leaf, g=game: np.asarray(leaf[g]), (latents, games))
        found, surprises = meals(latent, watched)
        colour = latent.patch_colour[list(SMALL.patch_of_tree)]
        best = worth[getattr(latent.rules, field)].argmax(axis=1)
        for step, tree, stage in found:
            assert stage in (best[colour[tree]], Stage.OVERRIPE)
            hangs = watched.after.trees.lost[step] == Lost.HANGING
            assert (near[tree] & hangs).sum() >= keep
        eaten += len(found)
        unforeseen += surprises
    assert eaten > 10 * GAMES
    assert unforeseen < 0.05 * eaten


def test_the_greedy_eat_everything_before_it_rots(small):
    env, latents = small
    games = watched_games(env, bounds.make_full_greedy(env), latents)
    hung, hangs = (np.asarray(w.trees.lost) == Lost.HANGING for w in (games.before, games.after))
    rotted = (np.asarray(games.after.trees.lost) == Lost.ROTTED) & hung
    eaten = (np.asarray(games.outcome.eaten_stage) != NOTHING_EATEN).sum(axis=(1, 2))
    assert rotted.sum() <= 0.3 * GAMES
    assert (eaten >= SMALL.trees - rotted.sum(axis=(1, 2))).all()
    assert (~hangs[:, 60].any(axis=-1)).mean() > 0.7


def test_the_bounds_are_known_as_privileged():
    env = env_of(SMALL, AGENTS)
    for name in registry.list_names("harvest"):
        sees = isinstance(registry.make(name, env), SeesState | Privileged)
        assert sees == (name in registry.list_names("harvest", privileged=True))
    assert len(registry.list_names("harvest", privileged=True)) == 4


def test_menus():
    rules = random_latent(HarvestConfig(), np.random.default_rng(1)).rules
    config = HarvestConfig()
    for menu, place in ((bounds.best_paying, rules.pay), (bounds.fastest, rules.speed)):
        expected = np.asarray(place) == 0
        expected[:, Stage.OVERRIPE] = True
        np.testing.assert_array_equal(menu(config, rules), expected)
    ripe = np.broadcast_to(np.arange(STAGES) > 0, rules.pay.shape)
    np.testing.assert_array_equal(bounds.ripe_or_later(config, rules), ripe)
    assert bounds.any_stage(config, rules).all()


@pytest.mark.parametrize("make", [bounds.make_steward, bounds.make_fast_steward])
def test_a_keep_below_zero_is_refused(make):
    with pytest.raises(ValueError, match="keep is -1"):
        make(env_of(SMALL, AGENTS), keep=-1)


PUBLISHED = {
    "full_greedy": ({}, (29, 52)),
    "full_patient": ({}, (27, 48)),
    "steward": ({}, (100, 182)),
    "steward 2": ({"keep": 2}, (71, 143)),
    "fast_steward": ({}, (74, 176)),
}
"""Points of five agents in 300 steps: the range of nine problems in ten."""


@pytest.mark.slow
@pytest.mark.parametrize("title", PUBLISHED)
def test_beside_the_published_figures(title):
    """The maps are others, so ranges overlap, and our middle lies in the published range."""
    options, (low, high) = PUBLISHED[title]
    env = osj_envs.make("harvest", num_trials=1, trial_length=300)
    policy = registry.make(title.split()[0], env, **options)
    record = evaluate(env, policy, jax.random.key(0), range(128))
    points = record.returns.sum(axis=(1, 2))
    assert low < points.mean() < high
    ours_low, ours_high = np.percentile(points, (5, 95))
    assert min(high, ours_high) - max(low, ours_low) > 0.5 * (high - low)
    if title == "full_greedy":
        assert 64 <= record.events["apples"].sum(axis=(1, 2)).mean() <= 68
        assert record.events["rotted"].sum(axis=(1, 2)).mean() < 0.6
