"""From a configuration to a client with all its wrappers, in the order that they need."""

from typing import Protocol, Self, runtime_checkable

from llm_eval.clients.base import Client
from llm_eval.clients.budget import Budget, Budgeted
from llm_eval.clients.config import ClientConfig
from llm_eval.clients.limit import Limited, Limits
from llm_eval.clients.recorded import Recorded, ReplyLog
from llm_eval.clients.retry import Retry


def make_client(config: ClientConfig) -> Client:
    """The bare client of a provider, whose SDK is imported here and nowhere else.

    Raises:
        ValueError: its key is missing, its script is unknown, or its SDK is not installed.
    """
    try:
        return _make(config)
    except ModuleNotFoundError as error:
        message = f"{config.model} needs the package {error.name}; pip install 'osj[llm]'."
        raise ValueError(message) from error


def _make(config: ClientConfig) -> Client:
    if config.provider == "openai":
        from llm_eval.clients.openai import OpenAIClient

        return OpenAIClient(config)
    if config.provider == "anthropic":
        from llm_eval.clients.anthropic import AnthropicClient

        return AnthropicClient(config)
    from llm_eval.clients.scripted import make_scripted

    return make_scripted(config)


class Endpoints:
    """All that the games of a process ask: one bare client for each configuration, and the limits.

    Use it as an asynchronous context manager around all games, in one event loop.
    """

    def __init__(self) -> None:
        self._limits = Limits()
        self._bare: dict[str, Client] = {}

    def client(self, config: ClientConfig, budget: Budget, player: str) -> Client:
        """A player's client, for all its seats in a run.

        Args:
            config: of the model.
            budget: of the run.
            player: who pays.

        Raises:
            ValueError: as `make_client`, or a limit or price does not fit.
        """
        name = config.model_dump_json()
        if name not in self._bare:
            self._bare[name] = make_client(config)
        return wrap(self._bare[name], config, self._limits, budget, player)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        for client in self._bare.values():
            if isinstance(client, Closable):
                await client.close()


@runtime_checkable
class Closable(Protocol):
    """A client that holds connections."""

    async def close(self) -> None:
        """Closes them."""


def wrap(
    client: Client, config: ClientConfig, limits: Limits, budget: Budget, player: str
) -> Client:
    """A player's client: attempts pass the endpoint's gate and are paid; failures are retried.

    Money is set aside only while an attempt is in flight, and a waiting one holds no place.
    """
    paid = Budgeted(client, budget, player, config)
    return Retry(Limited(paid, limits.gate(config)), config.retry)


def record(client: Client, log: ReplyLog, seat: str, player: str) -> Client:
    """A seat's client: what is recorded is neither asked, paid nor waited for again."""
    return Recorded(client, log, seat, player)
