"""A clock that only waiting moves, and requests and replies of little content."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from llm_eval.clients.base import Message, Reply, Request, Usage
from llm_eval.clients.config import ClientConfig, Prices
from llm_eval.clients.errors import FailureKind, InfrastructureError


class FakeTime:
    """Waits in no time.

    Attributes:
        waits: seconds of each.
    """

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> float:
        return sum(self.waits)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def run(task: Coroutine[Any, Any, Any]) -> Any:
    """The result of a task, in an event loop of its own."""
    return asyncio.run(task)


def ask(text: str, **tags: Any) -> Request:
    """A request for free text."""
    return Request("system", (Message("user", text),), tags=tags)


def failed(
    kind: FailureKind = FailureKind.RATE_LIMIT,
    retry_after: float | None = None,
    usage: Usage | None = None,
) -> InfrastructureError:
    """A failure worth another try."""
    return InfrastructureError(kind, "It failed.", retry_after, usage)


def paid(dollars: float | None, tokens: int = 1) -> Reply:
    """A reply that cost something."""
    return Reply("ok", usage=Usage(tokens, tokens, 0, 0, dollars), seconds=0.5)


def scripted_config(**fields: Any) -> ClientConfig:
    """A configuration whose worst case for `ask` is easy to reckon: a dollar for 1,000 tokens."""
    prices = Prices(input=0.0, output=1000.0)
    given: dict[str, Any] = {"provider": "scripted", "model": "wander", "prices": prices}
    return ClientConfig(**(given | {"max_tokens": 1000} | fields))
