"""OpenHarvest against its slow reference: whole worlds, step by step, in very different sizes.

Every leaf of the world, the rewards, the outcomes and the events are compared, and so are the
views; a census makes sure that the rollouts hold every situation that matters.
"""

import functools
from collections import Counter

import numpy as np
import pytest

from osj_envs.grid.codes import Action
from osj_envs.grid.view import Window
from osj_envs.harvest import dynamics
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.harvest.observation import observe
from osj_envs.testing import against_slow, orchards
from osj_envs.testing.against_slow import Case, Physics, at, check_views, edge_shots, unlike
from osj_envs.testing.slow_harvest import SlowHarvest
from osj_envs.testing.slow_orchard import (
    read_draws,
    read_world,
    told_meals,
    without_meaningless,
    write_world,
)
from osj_envs.testing.trees import differing_leaves

OFTEN = (0.0, 0.1, 0.25, 0.45)
PAPER = Case(HarvestConfig(), 5, Window(), 29, 19)
# No two sizes are equal.
PRIMES = Case(
    HarvestConfig(
        colours=4, height=11, width=13, diamonds=1, quarters=2, spawn_cells=7,
        pays=(0.5, 2.0, 1.0), speeds=(0.1, 2.0, 1.0), regrowth=OFTEN, stage_steps=(2, 7),
        rot_delay=(1, 3), freeze_steps=3, cooldown_steps=1,
    ),
    3,
    Window(ahead=9, behind=3, side=2),
)  # fmt: skip
ROOM = Case(
    HarvestConfig(
        colours=2, height=4, width=5, diamonds=0, quarters=1, spawn_cells=3,
        regrowth=OFTEN, stage_steps=(1, 3), freeze_steps=2, cooldown_steps=0,
    ),
    4,
    Window(ahead=4, behind=0, side=1),
)  # fmt: skip
CROWD = Case(
    HarvestConfig(
        colours=3, height=6, width=7, diamonds=1, quarters=0, spawn_cells=2,
        regrowth=(0.2, 0.1, 0.3, 0.2), stage_steps=(3, 4), rot_delay=(2, 2), freeze_steps=4,
    ),
    14,
    Window(ahead=3, behind=1, side=2),
    23,
)  # fmt: skip
ALONE = Case(
    HarvestConfig(
        colours=1, height=3, width=4, diamonds=0, quarters=1, spawn_cells=1,
        pays=(1.0, 1.0, 0.25), regrowth=OFTEN, stage_steps=(1, 2), cooldown_steps=5,
    ),
    1,
    Window(ahead=2, behind=1, side=3),
)  # fmt: skip
CASES = {"paper": PAPER, "primes": PRIMES, "room": ROOM, "crowd": CROWD, "alone": ALONE}


def step_world(config, latent, world, step, actions, draws):
    del step  # the game counts its own times
    return dynamics.step_world(config, latent, world, actions, draws)


PHYSICS = Physics(dynamics.sample_draws, step_world, observe, orchards)


@functools.cache
def play(name):
    return against_slow.play(PHYSICS, CASES[name], seed=len(name))


def compare_step(slow, world, layout, actions, draws, played):
    """Plays the slow step and returns what differs, and what it did."""
    told = slow.step(world, actions, read_draws(slow.orchard, draws))
    expected_world = write_world(slow.orchard, world, layout)
    different = differing_leaves(expected_world, without_meaningless(played.world))
    outcome = played.outcome
    meals = np.stack([outcome.eaten_colour, outcome.eaten_stage], axis=-1)
    expected = {
        "reward": (told.reward, played.reward),
        "outcome.reward": (told.reward, outcome.reward),
        "outcome.blocked": (told.blocked, outcome.blocked),
        "outcome.eaten": (told_meals(told.eaten), meals),
        "outcome.zapped": (told.zapped, outcome.zapped),
        "is_over": (slow.is_over(world), played.is_over),
        **{f"events {name}": (told.events[name], played.events[name]) for name in told.events},
    }
    assert told.events.keys() == played.events.keys()
    return different + unlike(expected), told


@pytest.mark.parametrize("name", CASES)
def test_every_step_is_as_by_the_slow_rules(name):
    case, rollouts = CASES[name], play(name)
    census = Counter()
    for index, latent in enumerate(rollouts.latents):
        slow = SlowHarvest(case.config, latent)
        world = read_world(slow.orchard, rollouts.starts[index])
        for step in range(case.steps):
            before = read_world(slow.orchard, write_world(slow.orchard, world, latent.layout))
            actions = [int(action) for action in rollouts.actions[index, step]]
            draws, played = at(rollouts.draws, index, step), at(rollouts.played, index, step)
            different, told = compare_step(slow, world, latent.layout, actions, draws, played)
            assert not different, f"world {index}, step {step}: {different}"
            read_world(slow.orchard, played.world)
            census.update(situations(case, slow, told, actions, before, world))
    assert not (missing := WANTED[name] - census.keys()), f"never happened: {missing}"


def situations(case, slow, told, actions, before, world):
    """Names of what happened in a step."""
    yield from {("unripe", "ripe", "over-ripe")[meal[1]] for meal in told.eaten if meal}
    yield from ["blocked"] * any(told.blocked)
    yield from ["zapped"] * any(told.zapped)
    yield from ["hit by two"] * (sum(told.events["zap_hits"]) > sum(told.events["zapped"]))
    yield from ["hit several"] * (max(told.events["zap_hits"]) > 1)
    yield from ["rotted"] * any(told.events["rotted"])
    yield from ["over"] * slow.is_over(world)
    came = world.apples.keys() - before.apples.keys()
    yield from ["regrown after it was eaten"] * bool(came & before.eaten.keys())
    yield from ["regrown after it rotted"] * bool(came & before.rotted.keys())
    yield from ["best"] * any(told.events["ate_best"])
    yield from ["early"] * any(told.events["ate_early"])
    late = sum(told.events["apples"]) - sum(told.events["ate_best"] + told.events["ate_early"])
    yield from ["late"] * (late > 0)
    stood_on = {agent.cell for agent in before.agents}
    yield from ["waits for an agent to leave"] * any(
        before.rotted[cell] <= 1 for cell in stood_on & before.rotted.keys()
    )
    for old, agent, action, zapped in zip(
        before.agents, world.agents, actions, told.zapped, strict=True
    ):
        yield from ["frozen and zapped"] * bool(old.frozen and zapped)
        yield from ["frozen and would turn"] * bool(old.frozen and action == Action.TURN_LEFT)
        yield from ["frozen and would fire"] * bool(old.frozen and action == Action.BEAM)
        yield from ["too early to fire"] * bool(old.cooldown and action == Action.BEAM)
        yield from ["sent to open ground"] * (zapped and agent.cell not in slow.orchard.spawns)
        yield from ["sent to a spawn cell"] * (zapped and agent.cell in slow.orchard.spawns)
    yield from edge_shots(case, world.agents, [action == Action.BEAM for action in actions])


EVERYWHERE = {"unripe", "ripe", "over-ripe", "rotted", "blocked", "best"}
EVERYWHERE |= {"regrown after it rotted", "waits for an agent to leave", "too early to fire"}
EVERYWHERE |= {f"fired over the edge facing {heading}" for heading in range(4)}
OFTENER = {"regrown after it was eaten"}
COMPANY = {"zapped", "frozen and zapped", "sent to a spawn cell"}
COMPANY |= {"frozen and would turn", "frozen and would fire"}
WANTED = {
    "paper": EVERYWHERE | {"early"},
    "primes": EVERYWHERE | OFTENER | COMPANY - {"frozen and zapped"} | {"early"},
    "room": EVERYWHERE - {"too early to fire"}
    | OFTENER
    | COMPANY
    | {"hit by two", "hit several", "over", "early", "sent to open ground"},
    "crowd": EVERYWHERE
    | OFTENER
    | COMPANY
    | {"hit by two", "hit several", "early", "sent to open ground"},
    "alone": EVERYWHERE | OFTENER | {"over"},
}


@pytest.mark.parametrize("name", CASES)
def test_every_view_is_as_by_the_slow_rules(name):
    case, rollouts = CASES[name], play(name)
    for index, latent in enumerate(rollouts.latents):
        slow = SlowHarvest(case.config, latent)
        for step in range(index, case.steps, 5):
            world = read_world(slow.orchard, at(rollouts.played.world, index, step))
            found = at(rollouts.observations.view, index, step)
            check_views(case, world.agents, slow.board(world), found)
