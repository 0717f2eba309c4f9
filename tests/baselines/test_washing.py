"""Which tool next, and where to fire it, by hand and against slow searches."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines import washing
from baselines.washing import Tools
from osj_envs.cleanup import evidence as records
from osj_envs.cleanup import rules
from osj_envs.cleanup.constants import PAPER, CleanupConfig
from osj_envs.cleanup.evidence import Evidence, Known
from osj_envs.cleanup.types import EMPTY_SLOT, Rules
from osj_envs.grid.beam import beam_cells
from osj_envs.grid.codes import Item
from osj_envs.grid.movement import Agents

SMALL = CleanupConfig(hues=2, shades=3, base_tools=3)


def board(rng, shape, config):
    """Waste of all kinds, water and ground."""
    shade = rng.integers(0, config.shades, shape)
    hue = rng.integers(0, config.hues, shape)
    waste = rng.random(shape) < 0.3
    item = np.where(waste, Item.WASTE + shade, rng.choice([Item.GROUND, Item.WATER], shape))
    return item.astype(np.uint8), np.where(waste, 1 + hue, 0).astype(np.uint8)


def slow_effect(config, item, colour):
    """The effect that a cell's waste needs, by the rules."""
    if not Item.WASTE <= item < Item.STATION:
        return rules.NOTHING
    shade = int(item) - Item.WASTE
    return rules.lightens(shade, config) if shade else rules.clears(int(colour) - 1)


@pytest.mark.parametrize("config", [PAPER, SMALL])
def test_what_each_cell_needs(config):
    item, colour = board(np.random.default_rng(0), (6, 7), config)
    effect = np.asarray(washing.needed_effect(config, item, colour))
    expected = [slow_effect(config, i, c) for i, c in zip(item.flat, colour.flat, strict=True)]
    assert effect.ravel().tolist() == expected
    counts = np.asarray(washing.count_needed(config, jnp.asarray(effect)))
    assert counts.tolist() == [expected.count(kind) for kind in range(1, config.effects + 1)]


def record(config, **known):
    """A record in which `p3_c5=Known...` says what pair 3 did to colour 5."""
    effect = records.initial(config).effect
    for name, value in known.items():
        pair, colour = (int(part[1:]) for part in name.split("_"))
        effect = effect.at[pair, colour].set(value)
    return Evidence(effect=effect, count=(effect > 0).astype(jnp.uint16))


def test_a_record_settles_a_tool_and_an_effect_at_once():
    """Pair 3 clears light waste of hue 1; pair 2 does nothing to dark waste."""
    cleared, nothing = Known.CLEARED, Known.NO_EFFECT
    tools = washing.tools_from_evidence(PAPER, record(PAPER, p3_c3=cleared, p2_c5=nothing))
    works, may_work = np.asarray(tools.works), np.asarray(tools.may_work)
    assert np.argwhere(works).tolist() == [[3, 1]]
    assert not may_work[3].any()
    assert not may_work[:, 1].any()
    dark = PAPER.effects - 1
    assert not may_work[2, dark]
    assert may_work.sum() == 15 * 6 - 1


def test_rules_leave_nothing_open():
    effect = np.zeros(PAPER.pairs, np.int8)
    effect[[4, 9]] = rules.clears(2), rules.lightens(2)
    tools = washing.tools_from_rules(PAPER, Rules(effect=jnp.asarray(effect)))
    assert np.argwhere(np.asarray(tools.works)).tolist() == [[4, 2], [9, PAPER.effects - 1]]
    assert not tools.may_work.any()


def test_a_tool_is_worth_its_cells_and_the_chance_to_find_out():
    works = np.zeros((PAPER.pairs, PAPER.effects), bool)
    works[3, 0] = True
    may_work = np.zeros_like(works)
    may_work[[5, 6], 1] = may_work[[5, 6, 7, 8], 2] = True
    needed = jnp.array([9, 1, 0, 0, 0, 0, 4])
    value = washing.value_tools(Tools(jnp.array(works), jnp.array(may_work)), needed, 20.0)
    assert value[3] == 9
    np.testing.assert_allclose(np.asarray(value)[[5, 6, 7, 8]], [10, 10, 0, 0])


def pick(value, window, walk):
    worth = np.zeros(PAPER.pairs, np.float32)
    for (first, second), amount in value.items():
        worth[4 * first + second] = amount
    return int(washing.next_pick(PAPER, jnp.array(worth), jnp.array(window), jnp.array(walk)))


def test_pick_ups_lead_to_the_tool_and_are_chained():
    near = [3, 3, 3, 3]
    empty = [EMPTY_SLOT, EMPTY_SLOT]
    assert pick({(1, 2): 5}, empty, near) == 1
    assert pick({(1, 2): 5}, [EMPTY_SLOT, 1], near) == 2
    assert pick({(1, 2): 5}, [3, 1], near) == 2
    assert pick({(1, 2): 5}, [1, 3], near) == 1
    assert pick({(1, 1): 5}, [2, 1], near) == 1
    # of two equally good tools the one that the newest pick-up begins
    assert pick({(0, 1): 5, (3, 2): 5}, [1, 3], near) == 2
    # of two equally good ones the nearer, and a far better one even if it is farther
    assert pick({(0, 1): 5, (3, 2): 5}, empty, [9, 9, 1, 1]) == 3
    assert pick({(0, 1): 50, (3, 2): 5}, empty, [9, 9, 1, 1]) == 0
    # it is the first of the two that is walked to; the rest of the way is along the chain's ring
    assert pick({(0, 1): 5, (1, 0): 5}, empty, [1, 9, 9, 9]) == 0
    assert pick({(1, 3): 5, (3, 0): 5}, empty, near) == 3
    assert pick({(0, 2): 5, (1, 1): 5}, empty, near) == 1


def slow_rates(config, effects, is_known, item, effect, free, position, heading):
    """What a shot from each stand and heading does for each step it takes, one by one."""
    rates = {}
    for row, col, way in itertools.product(*map(range, item.shape), range(4)):
        away = abs(row - position[0]) + abs(col - position[1])
        if not free[row, col] and away:
            continue
        agents = Agents(position=jnp.array([[row, col]]), heading=jnp.array([way]))
        cells = [c for c in np.asarray(beam_cells(agents, *item.shape))[0].tolist() if c >= 0]
        hit = [item.flat[c] for c in cells if effect.flat[c] in effects]
        gain = len(hit) if is_known else len(set(hit))
        turns = min((way - heading) % 4, (heading - way) % 4)
        rates[row, col, way] = gain / (1 + away + turns)
    return rates


@pytest.mark.parametrize("is_known", [True, False])
def test_the_aim_is_the_best_stand_for_its_steps(is_known):
    rng = np.random.default_rng(3)
    pair, window = 5, jnp.array([1, 2])
    aim = jax.jit(washing.aim, static_argnums=0)
    for case in range(12):
        item, colour = board(rng, (4, 5), SMALL)
        effects = {1, 3, 4} if not is_known else {1 + case % SMALL.effects}
        known = np.zeros((SMALL.pairs, SMALL.effects), bool)
        known[pair, [effect - 1 for effect in effects]] = True
        nothing = np.zeros_like(known)
        tools = Tools(*(map(jnp.array, (known, nothing) if is_known else (nothing, known))))
        effect = np.asarray(washing.needed_effect(SMALL, item, colour))
        free = rng.random(item.shape) < 0.7
        position, heading = rng.integers([4, 5]), int(rng.integers(4))
        found = aim(SMALL, tools, window, item, effect, free, position, heading)
        rates = slow_rates(SMALL, effects, is_known, item, effect, free, position, heading)
        assert found.is_any == np.isin(effect, list(effects)).any()
        if found.is_any and max(rates.values()) > 0:
            most = pytest.approx(max(rates.values()))
            best = {(row, col) for (row, col, _), rate in rates.items() if rate == most}
            assert set(map(tuple, np.argwhere(found.stands).tolist())) == best
            here = {way: rates.get((*position.tolist(), way), 0.0) for way in range(4)}
            assert here[int(found.heading)] == pytest.approx(max(here.values()))


def test_a_hand_with_nothing_in_it_has_no_aim():
    item, colour = board(np.random.default_rng(0), (4, 5), PAPER)
    everything = jnp.ones((PAPER.pairs, PAPER.effects), bool)
    effect = washing.needed_effect(PAPER, item, colour)
    tools = Tools(works=everything, may_work=everything)
    for window in ([EMPTY_SLOT, EMPTY_SLOT], [EMPTY_SLOT, 2]):
        free = jnp.ones(item.shape, bool)
        place = (free, jnp.array([0, 0]), jnp.int32(0))
        found = washing.aim(PAPER, tools, jnp.array(window), jnp.asarray(item), effect, *place)
        assert not found.is_any
