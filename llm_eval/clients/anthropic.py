"""Claude, through the official SDK."""

from typing import TYPE_CHECKING, Any

from llm_eval.clients.base import Reply, Request, Usage
from llm_eval.clients.config import ClientConfig, priced
from llm_eval.clients.failures import broken_reply, error_in_reply
from llm_eval.clients.sdk import SDKClient

if TYPE_CHECKING:
    from anthropic.types import Message

DEFAULT_URL = "https://api.anthropic.com"

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
"""Stop reasons whose name is different here."""


class AnthropicClient(SDKClient):
    """One Claude model; asks once, without retries.

    Args:
        config: of the endpoint.

    Raises:
        ValueError: its key is missing.
        ModuleNotFoundError: the SDK is not installed.
    """

    def __init__(self, config: ClientConfig) -> None:
        import anthropic

        super().__init__(config, anthropic.AsyncAnthropic, anthropic.AnthropicError, DEFAULT_URL)

    async def complete(self, request: Request) -> Reply:
        """Asks once; see `Client`."""
        body = request_body(self._config, request)
        call = self._sdk.messages.create(
            model=body.pop("model"),
            messages=body.pop("messages"),
            max_tokens=body.pop("max_tokens"),
            extra_body=body,
        )
        return await self._ask(call)

    def _read(self, answer: Any, seconds: float) -> Reply:
        config, usage = self._config, priced_usage(answer, self._config)
        error = getattr(answer, "error", None)
        if error is not None:
            raise error_in_reply(error, config, self._key, usage)
        blocks, stopped = getattr(answer, "content", None), getattr(answer, "stop_reason", None)
        if blocks is None or stopped is None:
            raise broken_reply(config, "an answer that does not say how it ended", usage)
        return Reply(
            text=joined(blocks, "text"),
            reasoning=joined(blocks, "thinking"),
            finish_reason=FINISH.get(stopped, stopped),
            usage=usage,
            seconds=seconds,
            model=str(answer.model or config.model),
            request_id=str(getattr(answer, "_request_id", None) or answer.id or ""),
        )


def request_body(config: ClientConfig, request: Request) -> dict[str, Any]:
    """The request's JSON body."""
    body: dict[str, Any] = {
        "model": config.model,
        "system": request.system,
        "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
        "max_tokens": request.max_tokens or config.max_tokens,
    }
    if config.temperature is not None:
        body["temperature"] = config.temperature
    output: dict[str, Any] = {}
    if config.reasoning_effort is not None:
        output["effort"] = config.reasoning_effort
    if request.schema is not None and config.json_mode == "json_schema":
        schema = dict(request.schema.json_schema)
        output["format"] = {"type": "json_schema", "schema": schema}
    if output:
        body["output_config"] = output
    return {**body, **config.extra_body, **request.sampling}


def priced_usage(answer: "Message", config: ClientConfig) -> Usage:
    """What the endpoint counted; without a count, dollars are unknown."""
    counted = getattr(answer, "usage", None)
    if counted is None:
        return Usage(dollars=None)
    cached, written = counted.cache_read_input_tokens, counted.cache_creation_input_tokens
    details = getattr(counted, "output_tokens_details", None)
    usage = Usage(
        input_tokens=(counted.input_tokens or 0) + (cached or 0) + (written or 0),
        output_tokens=counted.output_tokens or 0,
        reasoning_tokens=getattr(details, "thinking_tokens", None) or 0,
        cached_tokens=cached or 0,
    )
    return priced(usage, config.prices)


def joined(blocks: list[Any], kind: str) -> str:
    """The text of all blocks of a kind: `text` or `thinking`."""
    texts = [getattr(block, kind, None) for block in blocks if block.type == kind]
    return "".join(text for text in texts if isinstance(text, str))
