"""The folder of a report: it belongs to the runs that the report was drawn from."""

import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from llm_eval.files import write_whole
from llm_eval.reports.items import Made
from llm_eval.reports.teams import Team, Teams

REPORT = "report.json"
"""Says what a folder's tables and figures were drawn from; the first file written."""

DPI = 150
"""Of the pictures."""


def describe(teams: Teams, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the tables and figures depend on, as JSON holds it.

    Args:
        teams: all that played.
        options: of the report.
    """
    played = {_name(team): _runs(team) for team in (*teams.plain, *teams.with_roles)}
    roles = {f"{each.game}: {each.label}": [str(each.path)] for each in teams.scripted_roles}
    return {**options, "teams": played | roles}


def default_path(about: Mapping[str, Any]) -> pathlib.Path:
    """A folder that no other runs have."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:10]
    return pathlib.Path("runs") / f"report-{digest}"


def open_folder(path: pathlib.Path, about: Mapping[str, Any]) -> pathlib.Path:
    """The folder of a report, made if it is not there.

    Args:
        path: of the folder.
        about: what the report depends on.

    Raises:
        ValueError: it is the folder of another report, or of something else.
    """
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; name a folder with --out.")
    file = path / REPORT
    if file.exists():
        _check_same(path, json.loads(file.read_bytes()), about)
    elif path.is_dir() and any(path.iterdir()):
        raise ValueError(f"{path} is no folder of a report, and it is not empty.")
    else:
        path.mkdir(parents=True, exist_ok=True)
        write_whole(file, about)
    return path


def write(folder: pathlib.Path, name: str, made: Made) -> list[str]:
    """Writes a table or a figure with its numbers; the names of the files.

    Args:
        folder: of the report.
        name: of the table or figure.
        made: what is written.
    """
    files = []
    if not made.pictures:
        files.append(f"{name}.md")
        pages = "\n\n".join(sheet.markdown() for sheet in made.sheets)
        (folder / files[-1]).write_text(f"{pages}\n")
    for sheet in made.sheets:
        files.append(f"{_joined(name, sheet.name)}.csv")
        (folder / files[-1]).write_text(sheet.csv())
    for suffix, picture in made.pictures.items():
        for ending in ("png", "pdf"):
            files.append(f"{_joined(name, suffix)}.{ending}")
            # Without a date the same runs make the same bytes.
            picture.savefig(folder / files[-1], dpi=DPI, metadata=_UNDATED[ending])
    return files


_UNDATED: Mapping[str, dict[str, Any]] = {"png": {}, "pdf": {"CreationDate": None}}


def _joined(name: str, suffix: str) -> str:
    return f"{name}-{suffix}" if suffix else name


def _name(team: Team) -> str:
    roles = "" if team.cooperators is None else f", {team.cooperators} cooperate"
    return f"{team.game}: {team.label}{roles}"


def _runs(team: Team) -> list[str]:
    return [str(run.path) for run in team.runs]


def _check_same(path: pathlib.Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    keys: Sequence[str] = [key for key in {**there, **asked} if there.get(key) != asked.get(key)]
    if keys:
        what = "runs" if keys[0] == "teams" else f"{keys[0]} = {there.get(keys[0])!r}"
        asked_for = "other ones" if keys[0] == "teams" else repr(asked.get(keys[0]))
        raise ValueError(
            f"{path} holds a report with {what}, and {asked_for} would take its place; name "
            "another folder with --out."
        )
