"""One limit on requests in flight for each endpoint, shared by all games of a process."""

import asyncio

from llm_eval.clients.base import Client, Reply, Request
from llm_eval.clients.config import ClientConfig


class Limits:
    """The limit of every endpoint; make one for a process, within its event loop."""

    def __init__(self) -> None:
        self._gates: dict[str, tuple[int, asyncio.Semaphore]] = {}

    def gate(self, config: ClientConfig) -> asyncio.Semaphore:
        """What a request to the endpoint has to pass.

        Raises:
            ValueError: another client states another limit for the same endpoint.
        """
        known = self._gates.setdefault(
            config.endpoint, (config.max_in_flight, asyncio.Semaphore(config.max_in_flight))
        )
        if known[0] != config.max_in_flight:
            raise ValueError(
                f"max_in_flight of {config.endpoint} is {config.max_in_flight} for {config.model} "
                f"and {known[0]} for another model; an endpoint has one limit."
            )
        return known[1]


class Limited:
    """A client whose requests pass a gate.

    Args:
        client: to ask.
        gate: open to so many at a time.
    """

    def __init__(self, client: Client, gate: asyncio.Semaphore) -> None:
        self._client = client
        self._gate = gate

    async def complete(self, request: Request) -> Reply:
        """Asks as soon as there is room; see `Client`."""
        async with self._gate:
            return await self._client.complete(request)
