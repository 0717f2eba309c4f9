"""The record of an agent's own shots, against a plain-Python one and against the hidden rules."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from osj_envs.cleanup import evidence as records
from osj_envs.cleanup.constants import CleanupConfig
from osj_envs.cleanup.evidence import Evidence, Known
from osj_envs.cleanup.observation import Own, encode_own
from osj_envs.cleanup.rules import Rules, clears, encode, lightens
from osj_envs.cleanup.types import Outcome, ShotEffect
from osj_envs.grid.codes import Action, Item, Plane
from osj_envs.types import Observation

PAPER = CleanupConfig()
SMALL = CleanupConfig(hues=2, shades=1, base_tools=2, stations=2)
CONFIGS = pytest.mark.parametrize(
    "config", [PAPER, SMALL, CleanupConfig(hues=1, shades=2, base_tools=3)]
)
ROWS, COLS = 5, 7
update = jax.jit(records.update, static_argnums=0)
recipes_known = jax.jit(records.recipes_known, static_argnums=0)
features = jax.jit(records.features, static_argnums=0)
paint = jax.jit(records.paint, static_argnums=0)


def observe(config: CleanupConfig, window=(-1, -1), view=None, **changes) -> Observation:
    own = Own(
        heading=np.int32(changes.get("heading", 0)),
        position=np.array(changes.get("position", (3, 4)), np.int32),
        step=np.array(changes.get("step", 0)),
        trial=np.array(changes.get("trial", 0)),
        window=jnp.array(window, jnp.int32),
    )
    blank = jnp.full((ROWS, COLS, len(Plane)), Item.GROUND, jnp.uint8)
    return Observation(view=blank if view is None else view, own=encode_own(config, own))


def outcome(hits=()) -> Outcome:
    """The outcome of a shot that hit the (colour, effect) pairs."""
    padded = [*hits, *[(-1, 0)] * (4 - len(hits))]
    colours, effects = zip(*padded, strict=True)
    return Outcome(
        reward=jnp.float32(0),
        blocked=jnp.bool_(False),
        hit_colour=jnp.array(colours, jnp.int32),
        hit_effect=jnp.array(effects, jnp.int32),
    )


def fire(config, evidence, window, hits, action=Action.BEAM) -> Evidence:
    observation = observe(config, window)
    return update(config, evidence, observation, jnp.int32(action), observation, outcome(hits))


def plain_record(config, shots):
    """Per (pair, colour): [effect, count], kept in dictionaries."""
    table = {}
    for window, action, hits in shots:
        if action != Action.BEAM or window[0] == -1:
            continue
        pair = window[0] * config.base_tools + window[1]
        for colour, effect in hits:
            if colour != -1:
                entry = table.setdefault((pair, colour), [0, 0])
                entry[0] = {0: Known.NO_EFFECT, 1: Known.LIGHTENED, 2: Known.CLEARED}[effect]
                entry[1] += 1
    effect, count = np.zeros((2, config.pairs, config.colours), int)
    for place, (what, times) in table.items():
        effect[place], count[place] = what, times
    return effect, count


def true_effect(rules: Rules, config, window, colour) -> int:
    if window[0] == -1:
        return ShotEffect.NOTHING
    effect = int(rules.effect[window[0] * config.base_tools + window[1]])
    hue, shade = divmod(colour, config.shades)
    if shade == 0 and effect == clears(hue):
        return ShotEffect.CLEARED
    return (
        ShotEffect.LIGHTENED if shade and effect == lightens(shade, config) else ShotEffect.NOTHING
    )


def some_rules(config, rng) -> Rules:
    return encode(jnp.asarray(rng.permutation(config.pairs)[: config.effects]), config)


def some_shots(config, rules, rng, number):
    """Random windows, actions and hits, several of one colour often among them."""
    shots = []
    for _ in range(number):
        newest = int(rng.integers(-1, config.base_tools))
        window = (-1, newest) if newest < 0 else (int(rng.integers(-1, config.base_tools)), newest)
        action = int(rng.choice([Action.BEAM, Action.STAY, Action.PICK_UP], p=[0.8, 0.1, 0.1]))
        hits = []
        if action == Action.BEAM:
            few_or_all = rng.choice([min(3, config.colours), config.colours])
            colours = rng.integers(-1, few_or_all, size=4)
            hits = [
                (int(c), int(true_effect(rules, config, window, c) if c >= 0 else 0))
                for c in colours
            ]
        shots.append((window, action, hits or [(-1, 0)] * 4))
    return shots


@CONFIGS
def test_it_is_what_a_plain_record_holds(config):
    rng = np.random.default_rng(7)
    shots = some_shots(config, some_rules(config, rng), rng, 300)
    windows, actions, hits = (np.array(x) for x in zip(*shots, strict=True))

    def one(evidence, shot):
        window, action, hit = shot
        observation = observe(config, window)
        told = Outcome(jnp.float32(0), jnp.bool_(False), hit[:, 0], hit[:, 1])
        return records.update(config, evidence, observation, action, observation, told), None

    evidence, _ = jax.lax.scan(
        one, records.initial(config), jax.tree.map(jnp.int32, (windows, actions, hits))
    )
    effect, count = plain_record(config, shots)
    assert count.max() > 3
    np.testing.assert_array_equal(evidence.effect, effect)
    np.testing.assert_array_equal(evidence.count, count)
    assert (evidence.effect.dtype, evidence.count.dtype) == (jnp.uint8, jnp.uint16)


def test_a_shot_counts_every_cell_of_a_colour():
    evidence = fire(PAPER, records.initial(PAPER), (2, 1), [(7, 1), (3, 0), (7, 1), (7, 1)])
    assert evidence.count[9, 7] == 3
    assert evidence.count[9, 3] == 1
    assert evidence.count.sum() == 4
    assert evidence.effect[9, 7] == Known.LIGHTENED
    assert evidence.effect[9, 3] == Known.NO_EFFECT


@pytest.mark.parametrize("window", [(-1, -1), (-1, 2)])
def test_a_shot_without_a_tool_establishes_nothing(window):
    before = fire(PAPER, records.initial(PAPER), (0, 1), [(0, 2)])
    after = fire(PAPER, before, window, [(0, 0), (4, 0)])
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), before, after))


def test_only_the_beam_establishes_anything():
    for action in set(Action) - {Action.BEAM}:
        after = fire(PAPER, records.initial(PAPER), (0, 1), [(0, 2)], action)
        assert not after.count.any()


def test_the_count_stays_at_its_greatest():
    full = records.initial(PAPER)
    full = full.replace(count=full.count.at[5, 2].set(65534))
    after = fire(PAPER, full, (1, 1), [(2, 0)] * 4)
    assert after.count[5, 2] == 65535
    assert fire(PAPER, after, (1, 1), [(2, 0)]).count[5, 2] == 65535


def test_it_depends_on_hand_action_and_hits_alone():
    """Nothing else that is in view, and nothing of the next observation, touches the record."""
    start = fire(PAPER, records.initial(PAPER), (3, 3), [(1, 0)])
    noise = jax.random.randint(jax.random.key(0), (ROWS, COLS, len(Plane)), 0, 15)
    plain = observe(PAPER, (0, 2))
    other = observe(
        PAPER,
        (0, 2),
        noise.astype(jnp.uint8),
        heading=2,
        position=(9, 1),
        step=77,
        trial=3,
    )
    told = outcome([(4, 1), (8, 0)])
    rewarded = told.replace(reward=jnp.float32(1), blocked=jnp.bool_(True))
    action = jnp.int32(Action.BEAM)
    one = update(PAPER, start, plain, action, plain, told)
    two = update(PAPER, start, other, action, observe(PAPER, (1, 1)), rewarded)
    np.testing.assert_array_equal(one.effect, two.effect)
    np.testing.assert_array_equal(one.count, two.count)
    assert (one.count != start.count).any()


def by_effect(config, evidence) -> np.ndarray:
    """The first part of the features, by loops: 1 works, -1 does not, 0 never tried."""
    table = np.zeros((config.pairs, config.effects))
    for (pair, colour), known in np.ndenumerate(np.asarray(evidence.effect)):
        hue, shade = divmod(colour, config.shades)
        column = hue if shade == 0 else config.hues + shade - 1
        if known != Known.NEVER_TRIED:
            table[pair, column] = -1 if known == Known.NO_EFFECT else 1
    return table


def experienced(config) -> Evidence:
    """About half of the record filled."""
    rng = np.random.default_rng(3)
    number = 5 + config.pairs * config.colours // 2
    shots = some_shots(config, some_rules(config, rng), rng, number)
    effect, count = plain_record(config, shots)
    return Evidence(effect=jnp.uint8(effect), count=jnp.uint16(count))


@CONFIGS
@pytest.mark.parametrize("window", [(-1, -1), (-1, 1), (1, 0), (0, 1)])
def test_the_features_are_laid_out_as_documented(config, window):
    evidence = experienced(config)
    numbers = np.asarray(features(config, evidence, observe(config, window)))
    tools, effects = config.base_tools, config.effects
    table = by_effect(config, evidence)
    record, upcoming, hand = np.split(numbers, [table.size, table.size + tools * effects])
    assert {-1, 1} <= set(record.tolist())
    assert config != PAPER or 0 in record
    np.testing.assert_array_equal(record.reshape(table.shape), table)
    newest = window[1]
    rows = table[newest * tools : (newest + 1) * tools] if newest >= 0 else np.zeros((tools, 1))
    np.testing.assert_array_equal(upcoming.reshape(tools, -1), rows + np.zeros((tools, effects)))
    known = np.asarray(evidence.effect)[window[0] * tools + newest]
    sign = np.array([0, -1, 1, 1])[known] if window[0] >= 0 else np.zeros(config.colours)
    np.testing.assert_array_equal(hand, sign)


def test_features_are_few_and_float():
    numbers = features(PAPER, experienced(PAPER), observe(PAPER, (1, 2)))
    assert (numbers.shape, numbers.dtype) == ((155,), jnp.float32)


@CONFIGS
@pytest.mark.parametrize("window", [(-1, -1), (-1, 1), (1, 0), (0, 0)])
def test_waste_in_view_is_painted_with_what_the_hand_does_to_it(config, window):
    evidence = experienced(config)
    rng = np.random.default_rng(1)
    view = np.zeros((ROWS, COLS, len(Plane)), np.uint8)
    view[..., Plane.ITEM] = rng.integers(0, Item.STATION + config.base_tools, (ROWS, COLS))
    waste = (view[..., Plane.ITEM] >= Item.WASTE) & (view[..., Plane.ITEM] < Item.STATION)
    view[..., Plane.ITEM][waste] = Item.WASTE + rng.integers(0, config.shades, waste.sum())
    view[..., Plane.COLOUR][waste] = rng.integers(1, 1 + config.hues, waste.sum())
    expected = np.zeros((ROWS, COLS), int)
    for row, col in zip(*np.nonzero(waste), strict=True):
        item, hue = view[row, col, Plane.ITEM], view[row, col, Plane.COLOUR]
        colour = (hue - 1) * config.shades + item - Item.WASTE
        known = evidence.effect[window[0] * config.base_tools + window[1], colour]
        expected[row, col] = 1 + (int(known) if window[0] >= 0 else 0)
    painted = paint(config, evidence, observe(config, window, jnp.asarray(view)))
    np.testing.assert_array_equal(painted, expected)
    assert painted.dtype == jnp.uint8
    assert painted.max() < records.PAINTED_CODES
    assert waste.any()


def test_every_painted_code_occurs():
    evidence = records.initial(PAPER)
    for colour, effect in ((0, 2), (1, 0), (2, 1)):
        evidence = fire(PAPER, evidence, (0, 1), [(colour, effect)])
    view = np.zeros((1, 5, len(Plane)), np.uint8)
    view[0, :4, Plane.ITEM] = [Item.WASTE, Item.WASTE + 1, Item.WASTE + 2, Item.WASTE]
    view[0, :4, Plane.COLOUR] = [1, 1, 1, 2]
    painted = paint(PAPER, evidence, observe(PAPER, (0, 1), jnp.asarray(view)))
    assert painted[0].tolist() == [
        1 + Known.CLEARED,
        1 + Known.NO_EFFECT,
        1 + Known.LIGHTENED,
        1 + Known.NEVER_TRIED,
        0,
    ]


def test_recipes_known_counts_effects_not_colours_or_shots():
    evidence = records.initial(PAPER)
    assert recipes_known(PAPER, evidence) == 0
    mid_red, mid_yellow, dark_red, light_cyan = 1, 4, 2, 9
    for window, hit, known in [
        ((0, 1), (mid_red, 0), 0),
        ((0, 2), (mid_red, 1), 1),
        ((0, 2), (mid_yellow, 1), 1),
        ((3, 2), (dark_red, 1), 2),
        ((1, 1), (light_cyan, 2), 3),
        ((1, 1), (light_cyan, 2), 3),
    ]:
        evidence = fire(PAPER, evidence, window, [hit])
        assert recipes_known(PAPER, evidence) == known
    assert recipes_known(PAPER, evidence).dtype == jnp.int32


@CONFIGS
def test_all_recipes_can_be_known(config):
    rng = np.random.default_rng(0)
    rules, evidence = some_rules(config, rng), records.initial(config)
    for pair in range(config.pairs):
        window = divmod(pair, config.base_tools)
        for colour in range(config.colours):
            effect = int(true_effect(rules, config, window, colour))
            evidence = fire(config, evidence, window, [(colour, effect)])
    assert recipes_known(config, evidence) == config.effects


def played_out(env, key):
    """The latent of an episode of random actions, and every agent's record after it."""
    reset_key, act_key, step_key = jax.random.split(key, 3)
    observation, state = env.reset(reset_key)
    actions = jax.random.choice(act_key, jnp.arange(9), (env.episode_length, env.num_agents))
    evidence = jax.tree.map(lambda x: jnp.stack([x] * env.num_agents), env.game.initial_evidence())

    def step(carry, now):
        observation, state, evidence = carry
        index, action = now
        key = jax.random.fold_in(step_key, index)
        after, state, _, _, info = env.step(key, state, action)
        evidence = jax.vmap(env.game.update_evidence)(
            evidence, observation, action, info.final_observation, info.outcome
        )
        return (after, state, evidence), info.outcome.hit_colour

    start = (observation, state, evidence)
    (_, _, evidence), _ = jax.lax.scan(step, start, (jnp.arange(env.episode_length), actions))
    return state.latent, evidence


def test_in_play_the_record_holds_nothing_but_the_truth():
    env = osj_envs.make(
        "cleanup",
        num_agents=3,
        num_trials=2,
        trial_length=200,
        hues=2,
        shades=2,
        base_tools=2,
        waste_skew=0.5,
        auto_reset=False,
    )
    config = env.game.config
    keys = jax.random.split(jax.random.key(0), 40)
    latents, evidence = jax.jit(jax.vmap(lambda key: played_out(env, key)))(keys)
    tried = np.argwhere(np.asarray(evidence.effect) != Known.NEVER_TRIED)
    assert len(tried) > 50
    assert len(np.unique(np.asarray(evidence.effect))) == len(Known)
    for problem, agent, pair, colour in tried:
        rules = jax.tree.map(lambda x, i=problem: x[i], latents.rules)
        truth = true_effect(rules, config, divmod(pair, config.base_tools), colour)
        assert evidence.effect[problem, agent, pair, colour] == Known.NO_EFFECT + truth
        assert evidence.count[problem, agent, pair, colour] > 0
