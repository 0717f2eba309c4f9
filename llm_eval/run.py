"""Plays language models, learned and scripted players: python llm_eval/run.py experiment=demo.

experiment is a file of `configs/experiment`, and every key of it can be set. A team of one's own is
team=PLAYER or team=[PLAYER,...] with one for each seat, where a player is `llm:MODEL` (a file of
`configs/client`), `scripted:POLICY`, `checkpoint:PATH` or `human` (you, by the keys of this
terminal). Each game has a folder of its own below
`directory`; the same command goes on where it was stopped. `--status FOLDER` tells where the runs
below a folder are. `-m` plays each unfinished game as a job of its own, here or, with
hydra/launcher=slurm, on a cluster. The last line is one JSON object. `--help` prints every key.
"""

import pathlib
import sys
from collections.abc import Sequence

from omegaconf import OmegaConf
from rich.console import Console

from llm_eval.launch import launch
from llm_eval.play import INTERRUPTED, WRONG, compose, load_config, play, wide
from llm_eval.status import find_runs, read_status, status_table
from osj_envs.compose import ConfigError

STATUS = "--status"

MULTIRUN = {"-m", "--multirun"}
"""As hydra has them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if {"-h", "--help"} & set(arguments):
            print(__doc__, OmegaConf.to_yaml(compose([])), sep="\n")
            return 0
        if STATUS in arguments:
            return show_status(arguments)
        if MULTIRUN & set(arguments):
            return launch([each for each in arguments if each not in MULTIRUN])
        return play(load_config(arguments))
    except (ConfigError, ValueError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return INTERRUPTED


def show_status(arguments: Sequence[str]) -> int:
    """Prints where the runs below a folder are."""
    rest = [each for each in arguments if each != STATUS]
    root = pathlib.Path(rest[0] if rest else "runs/llm_eval")
    if len(rest) > 1 or not root.is_dir():
        raise ValueError(f"{STATUS} takes a folder of runs, and {' '.join(rest) or root} is none.")
    runs = [read_status(path) for path in find_runs(root)]
    wide(Console()).print(status_table(runs, root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
