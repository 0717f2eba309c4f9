"""What can go wrong on the way to a reply, each told in one sentence that says what to do."""

import enum

from llm_eval.clients.base import Usage


class FailureKind(enum.StrEnum):
    """Failures of the infrastructure, never of the model."""

    RATE_LIMIT = "rate_limit"
    TIME_OUT = "time_out"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    CONNECTION = "connection"
    ERROR_IN_REPLY = "error_in_reply"
    BROKEN_REPLY = "broken_reply"


class ClientError(Exception):
    """No reply came; the message is one sentence for a person and holds no key."""


class InfrastructureError(ClientError):
    """Nobody answered; asking again may help.

    Attributes:
        kind: what failed.
        retry_after: seconds that the endpoint asked to wait, or None.
        usage: what the failed attempt cost all the same.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.usage = usage or Usage()


class GaveUp(ClientError):
    """An infrastructure failure that outlasted all retries.

    Attributes:
        failures: the kind of each failed attempt, in order.
    """

    def __init__(self, message: str, failures: tuple[FailureKind, ...]) -> None:
        super().__init__(message)
        self.failures = failures


class FinalError(ClientError):
    """Asking again cannot help: a bad request, a bad key, an unknown model, no credit."""


class BudgetSpent(ClientError):
    """The next call could exceed the budget; the run stops and can be resumed with more."""


class PromptChanged(ClientError):
    """A recorded reply answers another prompt than the one asked now."""
