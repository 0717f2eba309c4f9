"""Draws the paper's tables and figures from recorded runs: python llm_eval/report.py RUNS...

RUNS are folders of llm_eval/run.py, searched with all folders below them; runs that did not come to
their end are named and left out. Any players can be in them: language models, scripted players,
checkpoints, alone or mixed. Tables are printed and written as .md and .csv, figures as .png, .pdf
and .csv. The last line is one JSON object. Options read --out FOLDER or out=FOLDER.
"""

import argparse
import json
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, get_args

from llm_eval.reports import folder as folders
from llm_eval.reports.items import ITEMS, Item, Made, Request, Unfilled, choose
from llm_eval.reports.measures import Spread
from llm_eval.reports.reading import Found, read_runs
from llm_eval.reports.teams import Teams, gather
from osj_envs.compose import nearest

UNFILLED, WRONG = 1, 2
"""Exit statuses: something asked for could not be drawn from these runs; wrong arguments."""

OVERRIDES = ("out", "only", "against", "spread", "seed")
"""Options that may be given as key=value too."""

NO_MATPLOTLIB = (
    "figures take matplotlib, which is not installed here; pip install matplotlib brings it, and "
    "tables take none"
)


class _Parser(argparse.ArgumentParser):
    """Tells what was wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; --help tells what can be asked.")


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    try:
        given = sys.argv[1:] if arguments is None else arguments
        options = _parser().parse_args([_as_option(each) for each in given])
        if options.list:
            print(listing())
            return 0
        if not options.runs:
            raise ValueError("No folder of runs is named; such as runs/llm_eval.")
        return report(options)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG


def report(options: argparse.Namespace) -> int:
    """Draws all that is asked for, and prints it; the exit status."""
    items = choose(options.only)
    found = read_runs(options.runs)
    teams = gather(found)
    _check_against(teams, options.against)
    asked = {"seed": options.seed, "spread": options.spread, "against": options.against}
    about = folders.describe(teams, asked)
    folder = folders.open_folder(options.out or folders.default_path(about), about)
    _tell_left_out(found, teams)
    request = Request(teams, **asked)
    drawn: dict[str, Any] = {}
    not_drawn: dict[str, str] = {}
    for item in items:
        made = _make(item, request)
        if isinstance(made, str):
            not_drawn[item.name] = made
            print(f"{item.name} is not drawn: {made}\n")
            continue
        files = folders.write(folder, item.name, made)
        _show(item, made)
        drawn[item.name] = {"files": files, "problem_seeds": made.seeds}
    result = {
        "out": str(folder),
        "runs": len(found.runs) - len(teams.repeated),
        "scripted_roles": [str(each.path) for each in found.roles],
        "left_out": {str(path): why for path, why in found.left_out.items()},
        "repeated": [str(path) for path in teams.repeated],
        "drawn": drawn,
        "not_drawn": not_drawn,
    }
    print(json.dumps(result))
    return UNFILLED if not drawn or (options.only and not_drawn) else 0


def listing() -> str:
    """Every table and figure by name, with what it shows."""
    longest = max(len(item.name) for item in ITEMS)
    return "\n".join(f"{item.name:{longest}}  {item.about}" for item in ITEMS)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python llm_eval/report.py",
        description=__doc__,
        epilog=f"tables and figures:\n{listing()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="*", type=pathlib.Path, metavar="RUNS", help="folders")
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FOLDER",
        help="where to write; by default a folder below runs/ that belongs to these runs",
    )
    parser.add_argument(
        "--only",
        type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
        default=[],
        metavar="NAMES",
        help="draw these alone, such as table3,figure5",
    )
    parser.add_argument("--list", action="store_true", help="tell what can be drawn")
    parser.add_argument(
        "--against",
        metavar="TEAM",
        help="the team with which the others are compared; by default that of the highest return",
    )
    parser.add_argument(
        "--spread",
        choices=get_args(Spread),
        default="interval",
        help="what figures draw around values: 95%% bootstrap intervals, or one standard deviation "
        "over problem seeds as in the paper",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the bootstrap")
    return parser


def _as_option(argument: str) -> str:
    """The argument; an override as other programs take it, such as out=FOLDER, as an option."""
    return f"--{argument}" if argument.partition("=")[0] in OVERRIDES else argument


def _make(item: Item, request: Request) -> Made | str:
    """The table or figure, or why it cannot be drawn."""
    try:
        return item.make(request)
    except Unfilled as unfilled:
        return str(unfilled)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        return NO_MATPLOTLIB


def _show(item: Item, made: Made) -> None:
    """Prints a table, or a figure's line."""
    if not made.pictures:
        print("\n\n".join(sheet.text() for sheet in made.sheets))
    sentences = " ".join((f"{made.summary}; {_seeds(made.seeds)}.", *made.remarks))
    print(f"{item.name}: {sentences}\n")


def _seeds(seeds: Mapping[str, int]) -> str:
    """How many problem seeds are behind the teams."""
    low, high = min(seeds.values()), max(seeds.values())
    counts = f"{low}" if low == high else f"{low} to {high}"
    return f"{counts} problem {'seed' if high == 1 else 'seeds'} behind each"


def _tell_left_out(found: Found, teams: Teams) -> None:
    """Names the runs that nothing is drawn of."""
    whys: Mapping[pathlib.Path, str] = {
        **found.left_out,
        **dict.fromkeys(teams.repeated, "another run of the same team and problem is taken"),
    }
    for path, why in whys.items():
        print(f"left out {path}: {why}", file=sys.stderr)


def _check_against(teams: Teams, against: str | None) -> None:
    """Raises ValueError unless there is such a team."""
    labels = list(dict.fromkeys(team.label for team in teams.plain))
    if against is not None and against not in labels:
        known = nearest(against, labels) if labels else "there is none without roles."
        raise ValueError(f"--against names no team: {against!r}; {known}")


if __name__ == "__main__":
    sys.exit(main())
