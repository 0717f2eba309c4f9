"""Asks again after failures of the infrastructure, for hours if need be."""

import asyncio
import dataclasses
import logging
import random
import time
from typing import Protocol

from llm_eval.clients.base import Client, Reply, Request, Usage
from llm_eval.clients.config import RetryConfig
from llm_eval.clients.errors import FailureKind, GaveUp, InfrastructureError

LOG = logging.getLogger(__name__)


class Timekeeper(Protocol):
    """What tells the time and waits."""

    def now(self) -> float:
        """Seconds that only grow."""

    async def sleep(self, seconds: float) -> None:
        """Waits."""


class RealTime:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await asyncio.sleep(seconds)


class Retry:
    """A client that asks again, with growing and random waits.

    Args:
        client: to ask.
        config: how long to wait and when to give up.
        timekeeper: tells the time and waits.
        rng: draws the jitter.
    """

    def __init__(
        self,
        client: Client,
        config: RetryConfig,
        timekeeper: Timekeeper | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._client = client
        self._config = config
        self._time = timekeeper or RealTime()
        self._rng = rng or random.Random()

    async def complete(self, request: Request) -> Reply:
        """Asks until a reply comes; its usage and failures include the failed attempts'.

        Raises:
            GaveUp: the next wait would end too late.
            FinalError: as the client raises it, at once.
        """
        deadline = self._time.now() + self._config.give_up_seconds
        failures: list[FailureKind] = []
        wasted = Usage()
        while True:
            try:
                reply = await self._client.complete(request)
            except InfrastructureError as error:
                failure = error
            else:
                usage = wasted + reply.usage
                return dataclasses.replace(reply, usage=usage, failures=tuple(failures))
            wasted += failure.usage
            failures.append(failure.kind)
            await self._wait(failure, failures, deadline)

    async def _wait(
        self, failure: InfrastructureError, failures: list[FailureKind], deadline: float
    ) -> None:
        seconds = self._seconds(failure, len(failures))
        if self._time.now() + seconds > deadline:
            raise GaveUp(
                f"{failure} Gave up after {len(failures)} attempts; "
                "start the run again to go on from here.",
                tuple(failures),
            )
        LOG.info("%s Asking again in %.0f s.", failure, seconds)
        await self._time.sleep(seconds)

    def _seconds(self, failure: InfrastructureError, attempts: int) -> float:
        """The wait: at least what the endpoint asked for, and up to the back-off beyond it."""
        config = self._config
        # The exponent stops growing before the power overflows.
        growth = config.factor ** min(attempts - 1, 64)
        longest = min(config.first_seconds * growth, config.longest_seconds)
        if failure.retry_after is not None:
            return failure.retry_after + self._rng.uniform(0, longest)
        return self._rng.uniform(longest / 2, longest)
