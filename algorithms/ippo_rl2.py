"""Trains RL² agents by independent PPO: python algorithms/ippo_rl2.py env=cleanup [key=value ...].

Configuration groups are the folders of `configs/`: env, agent, scale, reward, logging. A member
is taken by group=member (agent=evidence), a single value by group.key=value
(agent.ppo.entropy=0.02). resume=RUN_DIR goes on with a run that was stopped or killed. The last
line is the evaluation as one JSON object. `--help` prints every key with its value.
"""

import json
import sys
from collections.abc import Sequence

import jax
from omegaconf import OmegaConf

from algorithms import report, runs
from algorithms.checkpointing import Checkpoints, open_checkpoints
from algorithms.compose import compose_train, load_train_config
from algorithms.controls import make_matches
from algorithms.display import Display
from algorithms.learner import Learner, make_learner
from algorithms.loggers import Logger, make_loggers, mark_interrupted, open_loggers
from algorithms.runs import Job
from algorithms.train import Place, Session, begin, make_held_out, train
from osj_envs.compose import ConfigError
from osj_envs.devices import prepare_backend
from osj_envs.env_config import make_env

INTERRUPTED = 130
"""Exit status of a run that was asked to stop, as of a program that SIGINT ends."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if {"-h", "--help"} & set(arguments):
            print(__doc__, OmegaConf.to_yaml(compose_train([])), sep="\n")
            return 0
        config = load_train_config(arguments)
        prepare_backend(config.distributed)
        with runs.shared_job(config, arguments) as job:
            return run(job)
    except (ConfigError, ValueError, TypeError, FloatingPointError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def run(job: Job) -> int:
    """Trains, evaluates, and reports; returns the exit status."""
    learner = make_learner(job.config, make_env(job.config.env, is_training=True))
    with open_checkpoints(job.folder.checkpoints, job.config.checkpoint) as checkpoints:
        if _is_finished(job, learner, checkpoints):
            _print_finished(job)
            return 0
        display = Display(learner.num_updates, checkpoints.latest() or 0)
        display.say(f"run folder: {job.folder.path}")
        place = begin(job, learner, checkpoints, display)
        with open_loggers(_loggers(job, display)) as loggers:
            held_out = make_held_out(job.config)
            session = Session(job, learner, checkpoints, held_out, loggers, display)
            if not train(session, place):
                mark_interrupted(loggers)
                display.say(
                    f"stopped after update {place.update}; to go on: resume={job.folder.path}"
                )
                return INTERRUPTED
            evaluate(session, place)
    return 0


def evaluate(session: Session, place: Place) -> None:
    """The evaluation after training, with its controls: on the screen, on disk, and logged."""
    job, held_out = session.job, session.held_out
    options = job.config.evaluation
    session.display.close(has_failed=False)
    session.display.say(f"evaluating on {options.final_problems} problems")
    matches = make_matches(job.config, held_out.policy(place.state), "held_out", options.controls)
    problems = range(options.final_problems)
    results = report.play_all(matches, problems, 0, job.folder.metrics_file)
    if jax.process_index() > 0:
        return
    facts = {"split": "held_out", "update": place.update, "run_dir": str(job.folder.path)}
    numbers = report.write(job.folder.evaluation, results, facts)
    for logger in session.loggers:
        logger.summarise(numbers)
    print(report.for_terminal(results), report.last_line(numbers), sep="\n\n", flush=True)


def _loggers(job: Job, display: Display) -> list[Logger]:
    """One process writes for all."""
    return [display, *make_loggers(job)] if jax.process_index() == 0 else [display]


def _is_finished(job: Job, learner: Learner, checkpoints: Checkpoints) -> bool:
    """Whether a resumed run is trained and evaluated already."""
    file = job.folder.evaluation / "metrics.json"
    if checkpoints.latest() != learner.num_updates or not file.exists():
        return False
    stored = json.loads(file.read_text())
    wanted = (learner.num_updates, job.config.evaluation.final_problems)
    return (stored["update"], stored["num_problems"]) == wanted


def _print_finished(job: Job) -> None:
    folder = job.folder.evaluation
    print(f"The run in {job.folder.path} is finished; this is its evaluation.", file=sys.stderr)
    print((folder / "table.md").read_text())
    print(report.last_line(json.loads((folder / "metrics.json").read_text())))


if __name__ == "__main__":
    sys.exit(main())
