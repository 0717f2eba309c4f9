"""The records that the trainer hands around."""

from typing import Any

from flax import struct
from jaxtyping import Array, Bool, Float, Int, UInt8

from osj_envs.types import Key, Observation


@struct.dataclass
class AgentInput:
    """What the network is given at a step, with any leading axes.

    Attributes:
        view: codes of the egocentric window; the painted record, where there is one, comes last.
        own: what the agent knows of itself.
        last_action: its previous action, or `seats.NO_ACTION` where it remembers none.
        last_reward: the individual reward that this action brought.
        is_first_of_trial: nothing has been done in this trial yet.
        forgets: the recurrent state is wiped before this step.
        record: the evidence record as numbers; no features where it is not kept.
        rules: the hidden rules as numbers; no features unless the agent is told them.
    """

    view: UInt8[Array, "*batch rows cols planes"]
    own: Float[Array, "*batch own"]
    last_action: Int[Array, "*batch"]
    last_reward: Float[Array, "*batch"]
    is_first_of_trial: Bool[Array, "*batch"]
    forgets: Bool[Array, "*batch"]
    record: Float[Array, "*batch record"]
    rules: Float[Array, "*batch rules"]


@struct.dataclass
class Memory:
    """What an agent carries from step to step.

    Attributes:
        hidden: the recurrent state; no features without recurrence.
        last_action: as in `AgentInput`.
        last_reward: as in `AgentInput`.
        is_first_of_trial: as in `AgentInput`.
        is_first_of_episode: nothing has been done in this episode yet.
        evidence: the environment's evidence record, or None where it is not kept.
    """

    hidden: Float[Array, "*batch hidden"]
    last_action: Int[Array, "*batch"]
    last_reward: Float[Array, "*batch"]
    is_first_of_trial: Bool[Array, "*batch"]
    is_first_of_episode: Bool[Array, "*batch"]
    evidence: Any


@struct.dataclass
class NetworkOutput:
    """The network's answer.

    Attributes:
        logits: of the action distribution.
        value: of the discounted return.
        record_logits: the evidence record as the recurrent state has it; tanh of half of it lies
            where the record does, within -1 .. 1.
        event_logits: for each action, whether taking it brings the predicted events about.
    """

    logits: Float[Array, "*batch actions"]
    value: Float[Array, "*batch"]
    record_logits: Float[Array, "*batch record"]
    event_logits: Float[Array, "*batch actions"]


@struct.dataclass
class Boundaries:
    """Where trials and episodes end; true on the step that was the last one.

    Attributes:
        trial_end: the trial ended with this step (true at every episode's end, too).
        episode_end: the episode ended with this step.
        time_limit: the end is the clock's doing alone, and `final_value` stands in for what
            would have come; without it, nothing is taken to come after an end.
        final_value: value of the observation after the step, used where `time_limit` holds.
    """

    trial_end: Bool[Array, "time *actors"]
    episode_end: Bool[Array, "time *actors"]
    time_limit: Bool[Array, "time *actors"]
    final_value: Float[Array, "time *actors"]


@struct.dataclass
class Transition:
    """One step of all actors, as the update needs it.

    Attributes:
        inputs: what the network was given.
        action: what was sampled.
        log_prob: of the action when it was sampled.
        value: predicted before the step.
        reward: the transformed reward that is learned from.
        boundaries: what ended with the step.
        event: whether a predicted event came about, as 0 or 1.
    """

    inputs: AgentInput
    action: Int[Array, "*batch"]
    log_prob: Float[Array, "*batch"]
    value: Float[Array, "*batch"]
    reward: Float[Array, "*batch"]
    boundaries: Boundaries
    event: Float[Array, "*batch"]


@struct.dataclass
class Batch:
    """What one gradient step learns from; time first, then actors.

    Attributes:
        hidden: the recurrent state at the chunk's start; no time axis.
        inputs, action, log_prob, value, event: as in `Transition`.
        advantage: normalised over the whole update.
        target: what the value is fitted to.
    """

    hidden: Float[Array, "actors hidden"]
    inputs: AgentInput
    action: Int[Array, "time actors"]
    log_prob: Float[Array, "time actors"]
    value: Float[Array, "time actors"]
    event: Float[Array, "time actors"]
    advantage: Float[Array, "time actors"]
    target: Float[Array, "time actors"]


@struct.dataclass
class Tally:
    """Running sums over the trial in progress, for the metrics.

    Attributes:
        returns: individual rewards, undiscounted.
        events: counts by name.
        is_whole: the trial was seen from its first step (a staggered start cuts the first one).
    """

    returns: Float[Array, "*envs agents"]
    events: dict[str, Float[Array, "*envs agents"]]
    is_whole: Bool[Array, "*envs"]


@struct.dataclass
class Actors:
    """Environments and the agents in them; every leaf has the environment axis first.

    Attributes:
        env_state: the episodes in progress.
        observation: what the agents see now.
        memory: what the agents carry.
        smoothed_reward: the reward transform's trace.
        tally: the trial in progress, for the metrics.
    """

    env_state: Any
    observation: Observation
    memory: Memory
    smoothed_reward: Float[Array, "*envs agents"]
    tally: Tally


@struct.dataclass
class LearnerState:
    """All that the next update depends on; saved and restored, a run goes on bit by bit.

    Attributes:
        params: of the network, replicated.
        opt_state: of the optimiser, replicated.
        actors: sharded on the environment axis.
        key: the run's key; an update derives its own from it and from `updates`.
        updates: how many are done, int32.
    """

    params: Any
    opt_state: Any
    actors: Actors
    key: Key
    updates: Int[Array, ""]
