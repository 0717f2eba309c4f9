"""The host's loop around the update: it logs, evaluates, saves, and stops when it is asked to."""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from algorithms.checkpointing import About, Checkpoints
from algorithms.config import TrainConfig
from algorithms.controls import Match, play
from algorithms.display import Display
from algorithms.interrupts import Interrupt, noted_interrupts
from algorithms.learner import Learner
from algorithms.loggers import Logger, Row, finished_trials, keep_until
from algorithms.policy import LearnedPolicy, make_policy
from algorithms.records import LearnerState
from algorithms.rl2 import Agent, make_agent
from algorithms.runs import Job
from osj_envs.env_config import make_env
from osj_envs.trials import MultiTrial

HELD_OUT_SEEDS = 2**31
"""Problem seeds from here on pick the best checkpoint; the evaluation after training starts at 0,
so that what it plays has picked nothing."""


@dataclasses.dataclass(frozen=True)
class HeldOut:
    """The evaluation during training: few problems, compiled once.

    Attributes:
        config: of the run.
        env: as evaluation plays it.
        agent: the learner's, for that environment.
    """

    config: TrainConfig
    env: MultiTrial
    agent: Agent

    def policy(self, state: LearnerState) -> LearnedPolicy:
        """The agent with the parameters of now."""
        return make_policy(self.agent, jax.device_get(state.params))

    def figures(self, state: LearnerState) -> dict[str, float]:
        """Mean return, and return by trial."""
        wipes = self.config.agent.wipe_at_trial
        match = Match("held-out", self.policy(state), self.env, "held_out", wipes)
        problems = self.config.evaluation.problems
        seeds = range(HELD_OUT_SEEDS, HELD_OUT_SEEDS + problems)
        estimates = play(match, seeds).estimates
        returns = {name: estimates[name].value for name in ("return_mean", "return_by_trial")}
        return {f"held_out/{name}": value for name, value in readable(returns).items()}


@dataclasses.dataclass(frozen=True)
class Session:
    """A run under way.

    Attributes:
        job: what is to be done.
        learner: of the run.
        checkpoints: of the run.
        held_out: the evaluation during training.
        loggers: where it is written down.
        display: one of them, which a person sees.
    """

    job: Job
    learner: Learner
    checkpoints: Checkpoints
    held_out: HeldOut
    loggers: Sequence[Logger]
    display: Display


@dataclasses.dataclass
class Place:
    """Where a run stands.

    Attributes:
        state: of the learner.
        update: updates that are done.
        trials: trials that have finished.
        saved: when it was last saved, in seconds of `time.monotonic`.
    """

    state: LearnerState
    update: int
    trials: int
    saved: float


def begin(job: Job, learner: Learner, checkpoints: Checkpoints, say: Display) -> Place:
    """The place of the newest checkpoint, the logs cut back to it, or a fresh start."""
    if checkpoints.latest() is None:
        about = About(job.config, update=0)
        state = learner.init(job.config.seed)
    else:
        state, about = checkpoints.restore(learner)
    files = (job.folder.metrics_file, job.folder.times_file)
    if job.is_resumed and jax.process_index() == 0:
        dropped = max(keep_until(file, about.update) for file in files)
        again = f"; {dropped} logged updates after it are done again" if dropped else ""
        say.say(f"going on after update {about.update}{again}")
    return Place(state, about.update, about.trials, time.monotonic())


def train(session: Session, place: Place) -> bool:
    """Updates to the end of the run; `place` moves along.

    Returns:
        False where somebody stopped it; it is saved and can be resumed.

    Raises:
        FloatingPointError: training diverged.
    """
    update = session.learner.compile_update()
    with noted_interrupts() as interrupt:
        while place.update < session.learner.num_updates:
            start = time.perf_counter()
            place.state, metrics = update(place.state)
            figures = readable(jax.device_get(metrics))
            seconds = time.perf_counter() - start
            place.update += 1
            _check_finite(figures, place.update)
            place.trials += round(finished_trials(figures))
            if _wrap_up(session, place, figures, seconds, interrupt):
                return place.update == session.learner.num_updates
    return True


def _wrap_up(
    session: Session,
    place: Place,
    figures: dict[str, float],
    seconds: float,
    interrupt: Interrupt,
) -> bool:
    """What follows an update; whether to stop."""
    evaluation = session.job.config.evaluation
    is_last = place.update == session.learner.num_updates
    is_evaluated = is_last or place.update % evaluation.every == 0
    figures = {**figures, "trials_total": float(place.trials)}
    if is_evaluated:
        with session.display.paused():
            figures |= session.held_out.figures(place.state)
    _log(session, place, figures, seconds, is_certain=is_evaluated)
    waited = time.monotonic() - place.saved
    is_due = waited >= 60 * session.job.config.checkpoint.minutes
    is_due, stops = _agreed(is_due, interrupt.received is not None)
    if is_due or is_evaluated or stops:
        held_out_return = figures.get("held_out/return_mean")
        about = About(session.job.config, place.update, place.trials, held_out_return)
        session.checkpoints.save(place.state, about)
        place.saved = time.monotonic()
    return stops


def _log(
    session: Session, place: Place, figures: dict[str, float], seconds: float, is_certain: bool
) -> None:
    """Tells the display of every update, and the others of every so many."""
    per_update = session.learner.agent_steps_per_update
    times = {"seconds": seconds, "agent_steps_per_second": per_update / seconds}
    row = Row(place.update, place.update * per_update, figures, times)
    is_written = is_certain or place.update % session.job.config.logging.every == 0
    for logger in session.loggers:
        if is_written or logger is session.display:
            logger.log(row)


def make_held_out(config: TrainConfig) -> HeldOut:
    """The evaluation during a run."""
    env = make_env(config.env, is_training=False, auto_reset=False)
    return HeldOut(config, env, make_agent(config.agent, env.game))


def readable(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Single numbers; those by trial as `name/1` and so on. Means over no trial are left out."""
    flat: dict[str, float] = {}
    for name, value in metrics.items():
        if np.ndim(value):
            flat |= {f"{name}/{trial}": float(x) for trial, x in enumerate(value, start=1)}
        else:
            flat[name] = float(value)
    counted = ("return_", "events/")
    return {
        n: value for n, value in flat.items() if not (np.isnan(value) and n.startswith(counted))
    }


def _check_finite(figures: dict[str, float], update: int) -> None:
    for name, value in figures.items():
        if not np.isfinite(value):
            raise FloatingPointError(
                f"Training diverged: {name} is {value} in update {update}; a lower "
                "agent.ppo.learning_rate may help. The checkpoints are from before."
            )


def _agreed(*flags: bool) -> tuple[bool, ...]:
    """The first process's flags: processes look at their clocks at different times."""
    if jax.process_count() == 1:
        return flags
    return tuple(bool(flag) for flag in multihost_utils.broadcast_one_to_all(np.asarray(flags)))
