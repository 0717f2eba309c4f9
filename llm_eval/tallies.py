"""What each player's replies came to: invalid ones, failures, tokens, seconds, dollars."""

import collections
import dataclasses
from collections.abc import Mapping
from typing import Any

from llm_eval.clients.base import Reply, Usage

COUNTED = ("invalid", "failures")
"""What is counted by kind."""


@dataclasses.dataclass
class Tally:
    """Of one player, or of all together.

    Attributes:
        replies: that came.
        invalid: replies without a decision, by kind (`parsing.InvalidKind`): the model's doing.
        failures: attempts that brought no reply, by kind (`errors.FailureKind`): nobody's doing.
        usage: of all attempts.
        unpriced: replies whose dollars are unknown; they are not in `usage`'s dollars.
        seconds: that the model took, all replies together.
    """

    replies: int = 0
    invalid: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    failures: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    usage: Usage = dataclasses.field(default_factory=Usage)
    unpriced: int = 0
    seconds: float = 0.0

    def add_reply(self, reply: Reply) -> None:
        """Counts a reply."""
        usage = reply.usage
        if usage.dollars is None:
            self.unpriced += 1
            usage = dataclasses.replace(usage, dollars=0.0)
        self.replies += 1
        self.failures.update(reply.failures)
        self.usage += usage
        self.seconds += reply.seconds

    @property
    def dollars(self) -> float:
        """Of the replies whose dollars are known."""
        return self.usage.dollars or 0.0

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types."""
        counted = {name: dict(sorted(getattr(self, name).items())) for name in COUNTED}
        return vars(self) | counted | {"usage": dataclasses.asdict(self.usage)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Tally":
        """The tally that `to_json` wrote."""
        counted = {name: collections.Counter(fields[name]) for name in COUNTED}
        return cls(**{**fields, **counted, "usage": Usage(**fields["usage"])})


def total(tallies: Mapping[str, Tally]) -> Tally:
    """All players together."""
    whole = Tally()
    for tally in tallies.values():
        whole.replies += tally.replies
        whole.invalid += tally.invalid
        whole.failures += tally.failures
        whole.usage += tally.usage
        whole.unpriced += tally.unpriced
        whole.seconds += tally.seconds
    return whole
