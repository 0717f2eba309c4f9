"""Runs by who played: each team with all of its problems, under a name of its own."""

import collections
import dataclasses
import functools
import json
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

import osj_envs
from llm_eval.experiment import Place
from llm_eval.players import MODEL
from llm_eval.reports.reading import Found, RolesPlayed, Run
from osj_envs import metrics
from osj_envs.env import Environment
from osj_envs.records import EpisodeRecord
from osj_envs.statistics import Ratio

LONGEST_NAME = 28
"""Characters of a mixed team's own name, and of what tells two teams of one name apart: beyond them
something shorter stands in their place, so that tables and legends stay readable."""

UNNAMED = "mixed team"
"""A mixed team whose name is too long, and so are its players'."""


@dataclasses.dataclass(frozen=True, eq=False)
class Team:
    """The runs of one team in one game, a run for each problem seed.

    Attributes:
        label: its name in tables and legends; no other team of the game has it.
        runs: in the order of their problem seeds.
    """

    label: str
    runs: tuple[Run, ...]

    @property
    def game(self) -> str:
        """The environment's id."""
        return self.runs[0].game

    @property
    def places(self) -> tuple[Place, ...]:
        """The players, in the roster's order."""
        return self.runs[0].places

    @property
    def players(self) -> tuple[str, ...]:
        """The players' names, in the roster's order."""
        return tuple(place.player for place in self.places)

    @property
    def cooperators(self) -> int | None:
        """How many are told to cooperate; None where nobody is told a role."""
        roles = [place.role for place in self.places]
        return None if set(roles) == {"none"} else roles.count("cooperator")

    @property
    def is_mixed(self) -> bool:
        """Whether different players play together."""
        return len(set(self.players)) > 1

    @property
    def problem_seeds(self) -> tuple[int, ...]:
        """Of its runs."""
        return tuple(run.problem_seed for run in self.runs)

    @functools.cached_property
    def record(self) -> EpisodeRecord:
        """Of all its problems."""
        record: EpisodeRecord = jax.tree.map(
            lambda *parts: np.concatenate(parts), *(run.record for run in self.runs)
        )
        return record

    @property
    def num_trials(self) -> int:
        """Of each problem."""
        return self.record.returns.shape[1]

    @functools.cached_property
    def ratios(self) -> Mapping[str, Ratio]:
        """Every figure of docs/METRICS.md, by problem and, where it has them, trial or player."""
        game = _game(self.game, json.dumps(self.runs[0].options, sort_keys=True))
        return {each.name: each.ratio for each in metrics.summarise(game, self.record).figures}

    @property
    def character(self) -> str:
        """All that makes the team but its roles, as text that can be compared."""
        facts = {**_facts(self.runs[0]), "players": self.players}
        return json.dumps([self.game, facts], sort_keys=True)

    def plays_like(self, other: "Team") -> bool:
        """Whether the same problem seeds are the same problems and trials to both."""
        return self._played == other._played

    @property
    def _played(self) -> tuple[Any, ...]:
        run = self.runs[0]
        return run.game, run.options, run.settings["osj"], self.num_trials


@dataclasses.dataclass(frozen=True)
class Teams:
    """All teams.

    Attributes:
        plain: nobody is told a role; by game, and by mean return from the highest down.
        with_roles: some are told to cooperate and the others to defect.
        scripted_roles: games of roles that are no language models.
        repeated: runs of a team and a problem that another run was taken for.
    """

    plain: tuple[Team, ...]
    with_roles: tuple[Team, ...]
    scripted_roles: tuple[RolesPlayed, ...]
    repeated: tuple[pathlib.Path, ...]

    def of_game(self, game: str) -> tuple[Team, ...]:
        """The teams of a game in which nobody is told a role."""
        return tuple(team for team in self.plain if team.game == game)


def gather(found: Found) -> Teams:
    """Teams of runs; of two runs of one team and problem the first is taken."""
    groups: dict[tuple[str, str], dict[int, Run]] = {}
    repeated = []
    for run in found.runs:
        group = groups.setdefault((run.game, json.dumps(_facts(run), sort_keys=True)), {})
        if run.problem_seed in group:
            repeated.append(run.path)
        group.setdefault(run.problem_seed, run)
    sorted_runs = [tuple(group[seed] for seed in sorted(group)) for group in groups.values()]
    teams = [Team(label, group) for label, group in _labelled(sorted_runs)]
    order = {game: place for place, game in enumerate(osj_envs.list_ids())}
    teams.sort(key=lambda team: (order[team.game], -team.record.returns.mean(), team.label))
    return Teams(
        plain=tuple(team for team in teams if team.cooperators is None),
        with_roles=tuple(team for team in teams if team.cooperators is not None),
        scripted_roles=found.roles,
        repeated=tuple(repeated),
    )


def on_seeds(team: Team, seeds: Sequence[int]) -> EpisodeRecord:
    """The team's record of these problems alone, in their order."""
    rows = np.array([team.problem_seeds.index(seed) for seed in seeds])
    record: EpisodeRecord = jax.tree.map(lambda leaf: leaf[rows], team.record)
    return record


def player_label(player: str) -> str:
    """A player's name in tables and legends."""
    kind, _, name = player.partition(":")
    if kind == MODEL:
        return name
    return f"{kind} {pathlib.PurePath(name).name}" if name else kind


def _labelled(groups: Sequence[tuple[Run, ...]]) -> list[tuple[str, tuple[Run, ...]]]:
    """Every group with a label; those of one name are told apart by the settings that differ."""
    alike = collections.defaultdict(list)
    for group in groups:
        alike[(group[0].game, _roles(group[0]), _base_label(group[0]))].append(group)
    labelled = []
    for (_, _, base), rivals in alike.items():
        facts = [_flat(_facts(group[0])) for group in rivals]
        keys = sorted({key for each in facts for key in each})
        differing = [key for key in keys if len({repr(each.get(key)) for each in facts}) > 1]
        for number, (group, each) in enumerate(zip(rivals, facts, strict=True), 1):
            marks = [f"{key.rpartition('.')[2]}={each.get(key)}" for key in differing]
            mark = ", ".join(dict.fromkeys(marks))
            short = mark if len(mark) <= LONGEST_NAME else str(number)
            labelled.append((f"{base} [{short}]" if mark else base, group))
    return labelled


def _base_label(run: Run) -> str:
    players = list(dict.fromkeys(place.player for place in run.places))
    label = player_label(players[0])
    if len(players) > 1:
        label = re.sub(r"-\d+-cooperate$", "", run.path.parent.name)
        names = (label, _composition(run), UNNAMED)
        label = next(name for name in names if len(name) <= LONGEST_NAME)
    told = {"none": "", "all": ", told all"}.get(run.reveal, f", told {run.reveal}")
    return f"{label}{told}"


def _composition(run: Run) -> str:
    """The players of a mixed team, such as `4 gpt-6-sol + scripted greedy`."""
    counts = collections.Counter(player_label(place.player) for place in run.places)
    return " + ".join(f"{count} {name}" if count > 1 else name for name, count in counts.items())


def _roles(run: Run) -> tuple[str, ...]:
    return tuple(place.role for place in run.places)


def _facts(run: Run) -> dict[str, Any]:
    """All that makes a team: runs that agree in it differ in the problem alone."""
    return {
        "env": dict(run.options),
        "players": [dataclasses.asdict(place) for place in run.places],
        "reveal": run.reveal,
        **run.settings,
    }


def _flat(node: Any, prefix: str = "") -> dict[str, Any]:
    """Every value by its dotted key."""
    items = node.items() if isinstance(node, Mapping) else enumerate(node)
    flat: dict[str, Any] = {}
    for key, value in items:
        name = f"{prefix}{key}"
        flat |= _flat(value, f"{name}.") if isinstance(value, Mapping | list) else {name: value}
    return flat


@functools.lru_cache(maxsize=32)
def _game(name: str, options: str) -> Environment:
    return osj_envs.make(name, **json.loads(options)).game
