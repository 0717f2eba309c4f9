"""What the games of an experiment came to, for a person and as JSON."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from llm_eval.experiment import Team
from llm_eval.game import Played, one_problem
from llm_eval.players import HUMAN
from osj_envs import metrics, schelling
from osj_envs.env import Environment
from osj_envs.records import EpisodeRecord

COUNTS = ("replies", "input_tokens", "output_tokens", "dollars", "unpriced_replies")
"""What is added up over games and players."""


def team_record(played: Sequence[Played]) -> EpisodeRecord:
    """The records of a team's games, problems first."""
    records = [one_problem(each.record) for each in played]
    record: EpisodeRecord = jax.tree.map(lambda *parts: np.concatenate(parts), *records)
    return record


def summarise(
    game: Environment, played: Mapping[Team, Sequence[Played]], seed: int
) -> tuple[str, dict[str, Any]]:
    """Tables, and the same figures by name: one team's own, or each team's under `teams`.

    Args:
        game: what was played.
        played: each team's games.
        seed: of the bootstrap.
    """
    tables, teams = [], {}
    records = {team: team_record(games) for team, games in played.items()}
    for team, games in played.items():
        figures = metrics.summarise(game, records[team], seed)
        counts = _counts(games)
        teams[team.name] = {**metrics.as_json(figures), **counts}
        title = f"{team.name}: {', '.join(dict.fromkeys(each.player for each in team.places))}"
        tables.append(f"{title}\n{metrics.table(figures)}\n{_sentence(counts)}")
    values: dict[str, Any] = {"teams": teams} if len(teams) > 1 else dict(*teams.values())
    for name, diagram in _diagrams(records, seed).items():
        tables.append(f"{name}\n{schelling.table(diagram)}")
        values.setdefault("schelling", {})[name] = schelling.as_json(diagram)
    return "\n\n".join(tables), values


def _counts(games: Sequence[Played]) -> dict[str, Any]:
    """The models' replies in all games of a team."""
    players = [each for game in games for name, each in game.replies.items() if name != HUMAN]
    counts = {name: sum(each[name] for each in players) for name in COUNTS}
    for name in ("invalid", "failures"):
        counts[name] = sum(sum(each[name].values()) for each in players)
    counts["dollars"] = round(counts["dollars"], 6)
    counts["invalid_rate"] = (
        round(counts["invalid"] / counts["replies"], 6) if counts["replies"] else None
    )
    return counts


def _sentence(counts: Mapping[str, Any]) -> str:
    unknown = f" and {counts['unpriced_replies']:,} without a price"
    return (
        f"{counts['replies']:,} replies, {counts['invalid']:,} of them invalid; "
        f"{counts['failures']:,} failed attempts; {counts['input_tokens']:,} tokens in, "
        f"{counts['output_tokens']:,} out; {counts['dollars']:.2f} dollars"
        f"{unknown if counts['unpriced_replies'] else ''}."
    )


def _diagrams(records: Mapping[Team, EpisodeRecord], seed: int) -> dict[str, schelling.Diagram]:
    """A Schelling diagram of each team that played with every number of cooperators."""
    found: dict[str, dict[int, EpisodeRecord]] = {}
    for team, record in records.items():
        cooperators = sum(place.role == "cooperator" for place in team.places)
        if any(place.role != "none" for place in team.places):
            name = re.sub(r"-\d+-cooperate$", "", team.name)
            found.setdefault(name, {})[cooperators] = record
    whole = {
        name: by_count
        for name, by_count in found.items()
        if sorted(by_count) == list(range(next(iter(by_count.values())).returns.shape[-1] + 1))
    }
    return {
        name: schelling.make_diagram([by_count[k] for k in sorted(by_count)], seed)
        for name, by_count in whole.items()
    }
