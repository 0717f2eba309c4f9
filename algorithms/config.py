"""The configuration of a training run: typed, validated where it enters, never changed after."""

import dataclasses
from typing import Any

from osj_envs.compose import nearest
from osj_envs.env_config import EnvConfig, read_env

MEMORIES = ("gru", "evidence", "gru+evidence", "none", "lru")
REWARDS = ("individual", "common", "svo", "inequity_aversion")
WANDB_MODES = ("offline", "online", "disabled")


@dataclasses.dataclass
class PPOConfig:
    """Proximal policy optimisation (Schulman et al. 2017).

    Attributes:
        learning_rate: of Adam, at the start.
        anneal: the learning rate falls linearly to 0 over the run.
        discount: per step, across trial boundaries too.
        gae_lambda: 0 trusts the value, 1 the sampled return.
        clip: how far the probability ratio may go from 1.
        entropy: weight of the entropy bonus.
        value_loss: weight of the squared error of the value.
        max_gradient_norm: longer gradients are scaled down to this norm.
        epochs: passes over a chunk.
        minibatches: gradient steps a pass.
        crosses_trials: what comes after a trial's end counts towards its steps.
        bootstraps_time_limit: where returns stop at a clock's end, the value of the final
            observation stands in for what would have come.
    """

    learning_rate: float = 1e-3
    anneal: bool = False
    discount: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value_loss: float = 0.5
    max_gradient_norm: float = 0.5
    epochs: int = 2
    minibatches: int = 4
    crosses_trials: bool = True
    bootstraps_time_limit: bool = False

    def __post_init__(self) -> None:
        for name in ("discount", "gae_lambda"):
            check_range(f"agent.ppo.{name}", getattr(self, name), 0.0, 1.0)
        for name in ("entropy", "value_loss", "learning_rate", "max_gradient_norm", "clip"):
            check_range(f"agent.ppo.{name}", getattr(self, name), 0.0)
        for name in ("epochs", "minibatches"):
            check_range(f"agent.ppo.{name}", getattr(self, name), 1)


@dataclasses.dataclass
class AgentConfig:
    """The agent.

    Attributes:
        memory: what it carries from step to step, one of `MEMORIES`.
        wipe_at_trial: control: everything it carries is wiped at every trial boundary.
        told_rules: control: the hidden rules are part of its input.
        record_loss: weight of the loss that trains the recurrent state to reproduce the evidence
            record; 0 for none.
        reads_own_record: with `gru+evidence`, the policy reads the record as its recurrent state
            reproduces it, and never the record itself.
        event_loss: weight of the loss that trains the recurrent state to predict, for the action
            taken, whether one of `events` comes about; 0 for none.
        events: names among the environment's events.
        event_action: the action whose steps that loss counts, or -1 for all.
        hidden_size: features of the recurrent state.
        embedding_size: features of each view code.
        view_size, own_size, record_size, head_size: features of the dense layers.
        ppo: how it learns.
    """

    memory: str = "gru"
    wipe_at_trial: bool = False
    told_rules: bool = False
    record_loss: float = 0.0
    reads_own_record: bool = False
    event_loss: float = 0.0
    events: list[str] = dataclasses.field(default_factory=list)
    event_action: int = -1
    hidden_size: int = 128
    embedding_size: int = 8
    view_size: int = 128
    own_size: int = 32
    record_size: int = 64
    head_size: int = 128
    ppo: PPOConfig = dataclasses.field(default_factory=PPOConfig)

    def __post_init__(self) -> None:
        check_choice("agent.memory", self.memory, MEMORIES)
        for name in ("hidden_size", "embedding_size", "view_size", "own_size", "head_size"):
            check_range(f"agent.{name}", getattr(self, name), 1)
        for name in ("record_loss", "event_loss"):
            check_range(f"agent.{name}", getattr(self, name), 0.0)
        self._check_losses()

    def _check_losses(self) -> None:
        if (self.record_loss or self.event_loss) and not self.recurrence:
            raise ValueError(
                f"agent.memory={self.memory} has no recurrent state for record_loss or event_loss "
                "to train; take gru, lru or gru+evidence."
            )
        if self.reads_own_record and not (self.memory == "gru+evidence" and self.record_loss):
            raise ValueError(
                "agent.reads_own_record needs agent.memory=gru+evidence and a record_loss above 0."
            )
        if self.event_loss and not self.events:
            raise ValueError("agent.event_loss needs agent.events, the names of what it predicts.")

    @property
    def recurrence(self) -> str | None:
        """`gru`, `lru` or None."""
        kind = self.memory.split("+")[0]
        return kind if kind in ("gru", "lru") else None

    @property
    def recalls_last_step(self) -> bool:
        """The previous action and reward are part of the network's input."""
        return self.memory != "none"

    @property
    def reads_record(self) -> bool:
        """The evidence record is part of the network's input."""
        return "evidence" in self.memory and not self.reads_own_record

    @property
    def keeps_record(self) -> bool:
        """The evidence record is kept, be it as an input or as a target."""
        return self.reads_record or self.record_loss > 0


@dataclasses.dataclass
class ScaleConfig:
    """How much is run at once, and for how long.

    Attributes:
        num_envs: environments over all devices.
        chunk_length: steps between updates, and of truncated back-propagation.
        agent_steps: length of the run, in steps of single agents.
        staggered: environments start at different steps of an episode, so that every update sees
            all of its phases.
    """

    num_envs: int = 64
    chunk_length: int = 64
    agent_steps: int = 1_000_000
    staggered: bool = True

    def __post_init__(self) -> None:
        for name in ("num_envs", "chunk_length", "agent_steps"):
            check_range(f"scale.{name}", getattr(self, name), 1)


@dataclasses.dataclass
class RewardConfig:
    """What the agents learn from; see `algorithms.rewards`.

    Attributes:
        kind: one of `REWARDS`.
        weight: `svo`: cost of each radian between the reward's angle and `angle`.
        angle: `svo`: the orientation in degrees.
        alpha: `inequity_aversion`: aversion to having less.
        beta: `inequity_aversion`: aversion to having more.
        smoothing: `inequity_aversion`: what a step leaves of the smoothed rewards.
    """

    kind: str = "individual"
    weight: float = 0.2
    angle: float = 45.0
    alpha: float = 5.0
    beta: float = 0.05
    smoothing: float = 0.965

    def __post_init__(self) -> None:
        check_choice("reward.kind", self.kind, REWARDS)
        check_range("reward.weight", self.weight, 0.0)
        check_range("reward.angle", self.angle, -180.0, 180.0)
        check_range("reward.smoothing", self.smoothing, 0.0, 1.0)


@dataclasses.dataclass
class LoggingConfig:
    """Where a run is written down.

    Attributes:
        directory: holds a new folder for every run.
        wandb: one of `WANDB_MODES`.
        project: of wandb.
        every: updates between two log lines.
    """

    directory: str = "runs"
    wandb: str = "offline"
    project: str = "osj"
    every: int = 1

    def __post_init__(self) -> None:
        check_choice("logging.wandb", self.wandb, WANDB_MODES)
        check_range("logging.every", self.every, 1)


@dataclasses.dataclass
class CheckpointConfig:
    """When a run is saved, and which checkpoints are kept.

    Attributes:
        minutes: a checkpoint at least this often; one follows every held-out evaluation, too.
        keep: how many of the newest are kept, beside the best by held-out return.
    """

    minutes: float = 5.0
    keep: int = 2

    def __post_init__(self) -> None:
        check_range("checkpoint.minutes", self.minutes, 0.0)
        check_range("checkpoint.keep", self.keep, 1)


@dataclasses.dataclass
class EvaluationConfig:
    """How a run is evaluated on problems that training never shows.

    Attributes:
        every: updates between two evaluations during training, which pick the best checkpoint.
        problems: of each of these.
        final_problems: of the evaluation after training, and of each of its controls.
        controls: play the controls, too.
    """

    every: int = 50
    problems: int = 32
    final_problems: int = 256
    controls: bool = True

    def __post_init__(self) -> None:
        for name in ("every", "problems", "final_problems"):
            check_range(f"evaluation.{name}", getattr(self, name), 1)


@dataclasses.dataclass
class TrainConfig:
    """A training run.

    Attributes:
        seed: of everything random.
        resume: folder of the run to go on with, or None for a new run.
        distributed: several processes share the run (`jax.distributed`).
        env, agent, scale, reward, logging, checkpoint, evaluation: the groups.
    """

    env: Any
    agent: AgentConfig = dataclasses.field(default_factory=AgentConfig)
    scale: ScaleConfig = dataclasses.field(default_factory=ScaleConfig)
    reward: RewardConfig = dataclasses.field(default_factory=RewardConfig)
    logging: LoggingConfig = dataclasses.field(default_factory=LoggingConfig)
    checkpoint: CheckpointConfig = dataclasses.field(default_factory=CheckpointConfig)
    evaluation: EvaluationConfig = dataclasses.field(default_factory=EvaluationConfig)
    seed: int = 0
    resume: str | None = None
    distributed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.env, EnvConfig):
            self.env = read_env(self.env)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raises ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; {nearest(value, choices)}")


def check_range(name: str, value: float, low: float, high: float = float("inf")) -> None:
    """Raises ValueError unless `low` <= `value` <= `high`."""
    if not low <= value <= high:
        bound = f"at least {low}" if high == float("inf") else f"between {low} and {high}"
        raise ValueError(f"{name} is {value}; it must be {bound}.")
