"""What the clients of both SDKs have in common."""

import abc
from collections.abc import Awaitable
from typing import Any

from llm_eval.clients.base import Reply
from llm_eval.clients.config import ClientConfig
from llm_eval.clients.failures import ask

NO_KEY = "none"
"""Sent where the endpoint asks for no key: without one the SDKs look for others, or refuse."""


class SDKClient(abc.ABC):
    """One model at one endpoint; asks once, without retries.

    Args:
        config: of the endpoint.
        sdk: class of the SDK's asynchronous client.
        sdk_error: base class of the SDK's exceptions.
        default_url: of the provider; stated, so that no environment variable leads the requests,
            and the key, elsewhere.

    Raises:
        ValueError: its key is missing.
    """

    def __init__(
        self, config: ClientConfig, sdk: Any, sdk_error: type[Exception], default_url: str
    ) -> None:
        self._config = config
        self._key = config.key()
        self._sdk_error = sdk_error
        self._sdk = sdk(
            api_key=self._key.get_secret_value() if self._key else NO_KEY,
            base_url=config.base_url or default_url,
            timeout=config.timeout_seconds,
            max_retries=0,
        )

    async def close(self) -> None:
        """Closes the connections, within the event loop that they were opened in."""
        await self._sdk.close()

    async def _ask(self, call: Awaitable[Any]) -> Reply:
        """Awaits a call of the SDK; see `ask`."""
        return await ask(call, self._read, self._config, self._sdk_error, self._key)

    @abc.abstractmethod
    def _read(self, answer: Any, seconds: float) -> Reply:
        """The reply in an answer that took so long."""
