"""The fair players of OpenHarvest: what they do on boards drawn by hand, and what they may know."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines import harvest, registry
from osj_envs.grid.codes import Action
from osj_envs.harvest.constants import PAPER, STAGES, HarvestConfig, Lost, Stage
from osj_envs.harvest.dynamics import stage
from osj_envs.harvest.evidence import initial
from osj_envs.harvest.rules import unrank
from osj_envs.harvest.types import NOTHING_EATEN
from osj_envs.seats import Privileged, SeesState
from osj_envs.testing.drawn_orchard import draw_orchard
from osj_envs.testing.orchard_games import FORK, FORK_MOVES, TWO_IN_LINE, decide, env_of, watch
from osj_envs.testing.orchards import random_latent, random_world

N, S, E, W, LEFT, RIGHT, BEAM, STAY, PICK = Action
SMALL = HarvestConfig(height=8, width=9, diamonds=1, quarters=1, spawn_cells=5)
AGENTS = 3

PLAYERS = {
    "greedy": harvest.make_greedy,
    "patient": harvest.make_patient,
    "forager": harvest.make_forager,
    "forager 0": lambda env: harvest.make_forager(env, 0.0),
    "forager 2/3": lambda env: harvest.make_forager(env, 2 / 3),
}
"""A restraint of 2/3 keeps two neighbours."""


def acts(player, drawing, pays=None):
    """What every seat does at once; `pays` is what all know of colour 0 by stage, else nothing."""
    drawn = draw_orchard(drawing)
    env = env_of(drawn.config, drawn.num_agents)
    evidence = initial(drawn.config)
    if pays is not None:
        evidence = evidence.replace(pay=evidence.pay.at[0].set(jnp.array(pays, jnp.uint8)))
    policy = PLAYERS[player](env)
    key = jax.random.key(0)
    return decide(env, policy, drawn.latent, drawn.world, key, evidence).tolist()


@pytest.mark.parametrize(
    ("near", "far", "player", "action"),
    [
        *FORK_MOVES,
        ("a", "b", "forager 0", W),
    ],
)
def test_the_nearest_apple_on_the_menu_around_those_to_be_left(near, far, player, action):
    assert acts(player, FORK.format(near=near, far=far)) == [action]


def test_an_agent_in_the_way_is_walked_around():
    assert acts("greedy", TWO_IN_LINE) == [W, S]


ALL_IN_SIGHT = """
{} {} {} . . . .< .
x  {} .  . . . .  .
x  .  .  . . . .  .
.  .  .  . . . .  @
"""


@pytest.mark.parametrize(
    ("apples", "player", "pays", "action"),
    [
        ("xaaa", "greedy", None, W),
        ("xaaa", "forager 0", None, W),
        ("xaaa", "forager 2/3", None, W),
        ("xaaa", "forager", None, STAY),
        ("xxaa", "forager 2/3", None, STAY),
        ("aaaa", "forager", None, W),
        # what pays most is known: that alone, and over-ripe
        ("aaaa", "forager", (1, 0, 0), W),
        ("bbbb", "forager", (1, 0, 0), STAY),
        ("cccc", "forager", (1, 0, 0), W),
        ("bbbb", "forager 0", (1, 0, 0), W),
        # it is not: what nothing is known of
        ("aaaa", "forager", (2, 0, 0), STAY),
        ("bbbb", "forager", (2, 0, 0), W),
        ("aaaa", "forager", (2, 3, 0), STAY),
        ("cccc", "forager", (2, 3, 1), W),
        ("aaaa", "patient", None, STAY),
        ("xxxx", "greedy", None, STAY),
    ],
)
def test_what_is_left_though_in_reach(apples, player, pays, action):
    assert acts(player, ALL_IN_SIGHT.format(*apples), pays) == [action]


def test_an_apple_behind_others_to_be_left_is_out_of_reach():
    drawing = """
    b a x . . . .< .
    a a . . . . .  .
    x . . . . . .  .
    . . . . . . .  @
    """
    assert acts("patient", drawing) == [STAY]
    assert acts("greedy", drawing) == [W]


@pytest.mark.parametrize(("facing", "action"), [(">", RIGHT), ("^", LEFT), ("v", RIGHT), ("<", W)])
def test_it_turns_to_where_it_has_seen_nothing_yet(facing, action):
    """The board lies mostly to the south and the west; apples there are not yet in sight."""
    drawing = f"""
    x x x . . . .{facing} .
    x x . . . . .  .
    a . . . . . .  .
    . . . . . . .  @
    """
    found = acts("greedy", drawing)[0]
    # one that sees the apple has two ways that are equally short
    assert found in ((S, W) if facing == "<" else (action,))


@pytest.mark.parametrize("restraint", [0.0, 0.2, 0.5, 0.75, 1.0])
def test_restraint_is_the_number_kept_on_average(restraint):
    player = harvest.make_forager(env_of(SMALL, AGENTS), restraint)
    keys = jax.random.split(jax.random.key(0), 4000)
    keep = np.asarray(jax.vmap(player.initial_carry)(keys).keep)
    wanted = 3 * restraint
    assert keep.mean() == pytest.approx(wanted, abs=0.03)
    assert set(keep.tolist()) <= {int(np.floor(wanted)), int(np.ceil(wanted))}


def test_a_restraint_out_of_range_is_refused():
    with pytest.raises(ValueError, match=r"restraint is 1\.5"):
        harvest.make_forager(env_of(SMALL, AGENTS), 1.5)


def test_neighbours_on_the_board_are_those_of_the_game():
    """Counted on the map, and by the table that regrowth goes by."""
    rng = np.random.default_rng(0)
    count = jax.jit(harvest.around)
    for _ in range(5):
        cells = np.asarray(random_latent(SMALL, rng).layout.trees).astype(int)
        hangs = rng.random(SMALL.trees) < 0.5
        board = np.zeros(SMALL.cells, bool)
        board[cells] = hangs
        found = np.asarray(count(jnp.array(board.reshape(SMALL.height, SMALL.width)))).ravel()
        np.testing.assert_array_equal(found[cells], SMALL.neighbours @ hangs.astype(int))


def test_a_trial_is_taken_to_start_with_an_unripe_apple_on_every_tree():
    item = jnp.array([[1, 2, 4, 5, 6, 7, 0]], jnp.uint8)
    renewed, colour = harvest.with_new_apples(item, jnp.full(item.shape, 3, jnp.uint8))
    assert renewed.tolist() == [[1, 2, 4, 4, 4, 4, 0]]
    assert (colour == 3).all()


def test_fair_players_are_not_shown_what_is_hidden():
    env = env_of(SMALL, AGENTS)
    names = registry.list_names("harvest", privileged=False)
    assert {"greedy", "patient", "forager", "cooperator", "defector"} <= set(names)
    for name in names:
        assert not isinstance(registry.make(name, env), SeesState | Privileged)


@pytest.mark.parametrize("player", PLAYERS)
def test_what_is_hidden_does_not_show_in_what_they_do(player):
    """How long stages take, and how soon rotted cells regrow, on the same board."""
    env, rng = env_of(SMALL, AGENTS), np.random.default_rng(2)
    policy, moved = PLAYERS[player](env), 0
    for index in range(8):
        latent = random_latent(SMALL, rng)
        world = random_world(SMALL, latent, AGENTS, rng)
        trees, ripeness = world.trees, np.asarray(stage(world.trees))
        other = dataclasses.replace(
            trees,
            stage_steps=np.full_like(trees.stage_steps, 20),
            age=(20 * ripeness + 7).astype(np.uint8),
            delay=np.full_like(trees.delay, 1),
        )
        hidden = dataclasses.replace(latent, rules=random_latent(SMALL, rng).rules)
        key = jax.random.key(index)
        first = decide(env, policy, latent, world, key)
        again = decide(env, policy, hidden, dataclasses.replace(world, trees=other), key)
        np.testing.assert_array_equal(first, again)
        moved += int((first < LEFT).sum())
    assert moved > 0


@pytest.fixture(scope="module")
def games():
    """Whole trials of the restrained and of the greedy, and restrained ones by other rules."""
    env, rng = env_of(SMALL, AGENTS), np.random.default_rng(3)
    latents = [random_latent(SMALL, rng) for _ in range(8)]
    latents = jax.tree.map(lambda *leaves: jnp.stack(leaves), *latents)
    keys = jax.random.split(jax.random.key(3), 8)
    orders = unrank(12_345_678, PAPER)
    other = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (8, *leaf.shape)), orders)
    others = dataclasses.replace(latents, rules=other)

    @jax.jit
    def run(policy, latents):
        return jax.vmap(lambda key, latent: watch(env, policy, key, latent, 150))(keys, latents)

    restrained, greedy = (
        harvest.make_forager(env).replace(restraint=jnp.float32(share)) for share in (1.0, 0.0)
    )
    return [
        jax.device_get(run(*each))
        for each in ((restrained, latents), (greedy, latents), (restrained, others))
    ]


def test_rules_do_not_show_before_anything_was_eaten(games):
    first, _, other = games
    differs = False
    for game in range(8):
        eaten = (first.outcome.eaten_stage[game] != NOTHING_EATEN).any(axis=1)
        until = int(np.argmax(eaten)) + 1
        np.testing.assert_array_equal(first.action[game, :until], other.action[game, :until])
        differs |= bool((first.action[game] != other.action[game]).any())
    assert differs


def test_the_restrained_keep_an_orchard_that_the_greedy_lose(games):
    """The greedy end all of it before it rots; the restrained earn more from what regrows."""
    restrained, greedy, _ = games
    hangs = [(game.after.trees.lost[:, -1] == Lost.HANGING).mean() for game in (restrained, greedy)]
    assert hangs[0] > 0.3
    assert hangs[1] < 0.05
    points = [game.outcome.reward.sum() for game in (restrained, greedy)]
    assert points[0] > 1.3 * points[1]
    eaten = (greedy.outcome.eaten_stage != NOTHING_EATEN).sum(axis=(1, 2))
    rotted = greedy.before.trees.lost == Lost.HANGING
    rotted &= greedy.after.trees.lost == Lost.ROTTED
    assert rotted.sum() < 8
    assert (eaten >= SMALL.trees - rotted.sum(axis=(1, 2))).all()


def test_the_restrained_starve_hardly_any_cell(games):
    """Others eat in the same step, and what is out of sight may be gone: hence not none."""
    near, starved, eaten = SMALL.neighbours, 0, 0
    restrained = games[0]
    after = restrained.after.trees.lost
    hangs = after == Lost.HANGING
    lost = (restrained.before.trees.lost == Lost.HANGING) & ~hangs & (after != Lost.ROTTED)
    starved = (lost & ((hangs.astype(int) @ near.T) < harvest.MOST_KEPT)).sum()
    eaten = lost.sum()
    assert eaten > 80
    assert starved < 0.15 * eaten


def test_menus():
    config = HarvestConfig(colours=2)
    yes, no = jnp.bool_(True), jnp.bool_(False)
    pay = jnp.array([[2, 1, 3], [3, 0, 0]], jnp.uint8)
    evidence = initial(config).replace(pay=pay)
    best = harvest.best_known(config, evidence, yes)
    assert best.tolist() == [[False, True, True], [False, True, True]]
    assert harvest.best_known(config, evidence, no).all()
    ripe = harvest.ripe_or_later(config, evidence, yes)
    assert ripe.tolist() == 2 * [[s != Stage.UNRIPE for s in range(STAGES)]]
    assert harvest.any_stage(config, evidence, yes).all()
