"""What an agent's own meals and its own view have established, kept for a whole episode.

Every function is for one agent; callers vmap over agents. Source: paper, section 4 (the record
that its players are given); what counts as certain (`watches`), and the layout of the numbers, are
our choice.
"""

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float32, Int, Int32, UInt8, UInt16

from osj_envs.grid.codes import Item, Plane
from osj_envs.grid.view import Window
from osj_envs.harvest import watches as watching
from osj_envs.harvest.constants import STAGES, HarvestConfig
from osj_envs.harvest.observation import decode_own
from osj_envs.harvest.types import Outcome
from osj_envs.harvest.watches import LOSSES, MOST, MOST_NEAR, OPEN, Returns, Stages, Watches
from osj_envs.types import Observation

UNKNOWN = 0
"""`Evidence.pay` of what has not been eaten."""

PAINTED_CODES = 2 + STAGES
"""Codes of `paint`: 0 where no apple hangs, 1 for unknown pay, else 2 + place in `pays`."""


@struct.dataclass
class Evidence:
    """One agent's record.

    Attributes:
        pay: 1 + place in `HarvestConfig.pays`, or `UNKNOWN`.
        eaten: apples that the agent ate; stays at the greatest uint16 once there.
        returns: apples seen to come back.
        stages: stages seen to pass.
        watches: what is being timed in this trial.
    """

    pay: UInt8[Array, "colours stages"]
    eaten: UInt16[Array, "colours stages"]
    returns: Returns
    stages: Stages
    watches: Watches


def initial(config: HarvestConfig) -> Evidence:
    """Nothing eaten and nothing watched yet."""
    shape = config.colours, STAGES
    return Evidence(
        pay=jnp.full(shape, UNKNOWN, jnp.uint8),
        eaten=jnp.zeros(shape, jnp.uint16),
        returns=watching.no_returns(config),
        stages=watching.no_stages(),
        watches=watching.no_watches(config),
    )


def update(
    config: HarvestConfig,
    window: Window,
    evidence: Evidence,
    observation: Observation,
    action: Int[Array, ""],
    next_observation: Observation,
    outcome: Outcome,
) -> Evidence:
    """The record with what this step showed; both observations are of the same trial."""
    own, now = decode_own(observation.own), decode_own(next_observation.own).step
    before = watching.look(config, window, observation)
    after = watching.look(config, window, next_observation)
    watches = watching.at_start(evidence.watches, own, before)
    change = watching.compare(config, watches, own, action, outcome, before, after, now)
    returns, stages = watching.count(config, evidence.returns, evidence.stages, watches, change)
    pay, eaten = _paid(config, evidence, outcome)
    return Evidence(
        pay=pay,
        eaten=eaten,
        returns=returns,
        stages=stages,
        watches=watching.watch(watches, change),
    )


def features(
    config: HarvestConfig, evidence: Evidence, observation: Observation
) -> Float32[Array, "features"]:
    """The record as numbers from -1 to 1 for a policy; in the paper's game 45 + 80 + 30 + 6 = 161.

    Each is 0 where nothing is known. A count x shows as x / (x + k).

    1. colours x stages x pays: 1 at the pay that is known;
    2. colours x losses x 4: timed returns (k = 2); how soon they came, 20 / (20 + mean steps); how
       much hung near, mean / 12; and watches that are open (k = 4);
    3. colours x stages x 2: how readily a cell regrows that was eaten at the stage: with r returns
       where one expects e at a speed of 1, (r - e) / (r + e + 1); and what that rests on, r + e
       (k = 1);
    4. stages x 2: stages timed (k = 2), and how long they took, mean / longest possible.
    """
    is_pay = evidence.pay[..., None] == 1 + jnp.arange(len(config.pays))
    parts = (is_pay, _back(config, evidence, observation), _speed(config, evidence))
    times = _mean(evidence.stages.steps, evidence.stages.count) / config.stage_steps[1]
    stages = jnp.stack([_share(evidence.stages.count, 2), times], axis=-1)
    return jnp.concatenate([part.reshape(-1).astype(jnp.float32) for part in (*parts, stages)])


def paint(
    config: HarvestConfig, evidence: Evidence, observation: Observation
) -> UInt8[Array, "rows cols"]:
    """For each apple in view, 1 for unknown pay, else 2 + place in `pays`; elsewhere 0."""
    item, colour = observation.view[..., Plane.ITEM], observation.view[..., Plane.COLOUR]
    apple = (item >= Item.APPLE) & (item < Item.APPLE + STAGES)
    entry = (colour.astype(jnp.int32) - 1) * STAGES + item - Item.APPLE
    entry = jnp.clip(entry, 0, config.colours * STAGES - 1)
    pay = evidence.pay.reshape(-1).at[entry].get(mode="promise_in_bounds")
    return jnp.where(apple, pay + jnp.uint8(1), jnp.uint8(0))


def payoffs_known(config: HarvestConfig, evidence: Evidence) -> Bool[Array, "colours stages"]:
    """Which colours the agent has eaten at which stages."""
    del config  # the record has its sizes
    return evidence.pay != UNKNOWN


def open_watches(
    config: HarvestConfig, evidence: Evidence, observation: Observation
) -> Int32[Array, "colours losses"]:
    """How many bare cells the agent waits for, by their colour and how they lost their apple.

    None as a trial starts, whatever was watched in the one before.
    """
    begins = decode_own(observation.own).step == 0
    kinds = OPEN + jnp.arange(config.colours * LOSSES, dtype=jnp.uint8)
    waits = (evidence.watches.kind == kinds[:, None, None]) & ~begins
    return waits.sum(axis=(1, 2), dtype=jnp.int32).reshape(config.colours, LOSSES)


def _paid(
    config: HarvestConfig, evidence: Evidence, outcome: Outcome
) -> tuple[UInt8[Array, "colours stages"], UInt16[Array, "colours stages"]]:
    """`Evidence.pay` and `eaten` after the agent's own meal, if it had one."""
    colour = jnp.arange(config.colours)[:, None] == outcome.eaten_colour
    ate = colour & (jnp.arange(STAGES) == outcome.eaten_stage)
    place = jnp.abs(jnp.array(config.pays) - outcome.reward).argmin()
    pay = jnp.where(ate, (1 + place).astype(jnp.uint8), evidence.pay)
    return pay, evidence.eaten + (ate & (evidence.eaten < MOST)).astype(jnp.uint16)


def _back(
    config: HarvestConfig, evidence: Evidence, observation: Observation
) -> Float32[Array, "colours losses 4"]:
    """The second part of the features."""
    returns = evidence.returns
    soon = jnp.where(returns.count > 0, 20 / (20 + _mean(returns.steps, returns.count)), 0.0)
    around = _mean(returns.around, returns.count) / MOST_NEAR
    waiting = _share(open_watches(config, evidence, observation), 4)
    return jnp.stack([_share(returns.count, 2), soon, around, waiting], axis=-1)


def _speed(config: HarvestConfig, evidence: Evidence) -> Float32[Array, "colours stages 2"]:
    """The third part of the features."""
    came = evidence.returns.exposed_count[:, :STAGES].sum(axis=-1, dtype=jnp.float32)
    steps = evidence.returns.exposed[:, :STAGES].astype(jnp.float32)
    expected = (steps * jnp.array(config.regrowth)).sum(axis=-1)
    total = came + expected
    return jnp.stack([(came - expected) / (total + 1), _share(total, 1)], axis=-1)


def _share(count: Array, half: int) -> Float32[Array, "*shape"]:
    """A count as a number below 1, which is a half at `half`."""
    number = count.astype(jnp.float32)
    return number / (number + half)


def _mean(
    total: UInt16[Array, "*shape"], count: UInt16[Array, "*shape"]
) -> Float32[Array, "*shape"]:
    """The mean, 0 of nothing."""
    return total.astype(jnp.float32) / jnp.maximum(count, 1)
