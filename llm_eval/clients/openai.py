"""Every OpenAI-compatible endpoint, through the official SDK."""

from typing import TYPE_CHECKING, Any

from llm_eval.clients.base import Reply, Request, Schema, Usage
from llm_eval.clients.config import ClientConfig, priced
from llm_eval.clients.failures import broken_reply, error_in_reply
from llm_eval.clients.sdk import SDKClient

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

DEFAULT_URL = "https://api.openai.com/v1"

FINISH = {"content_filter": "refusal"}
"""Finish reasons whose name is different here."""


class OpenAIClient(SDKClient):
    """One model at an OpenAI-compatible endpoint; asks once, without retries.

    Args:
        config: of the endpoint.

    Raises:
        ValueError: its key is missing.
        ModuleNotFoundError: the SDK is not installed.
    """

    def __init__(self, config: ClientConfig) -> None:
        import openai

        super().__init__(config, openai.AsyncOpenAI, openai.OpenAIError, DEFAULT_URL)
        if config.base_url is not None:
            # read from the environment, and nobody else's business
            self._sdk.organization = self._sdk.project = None

    async def complete(self, request: Request) -> Reply:
        """Asks once; see `Client`."""
        body = request_body(self._config, request)
        call = self._sdk.chat.completions.create(
            model=body.pop("model"), messages=body.pop("messages"), extra_body=body
        )
        return await self._ask(call)

    def _read(self, answer: Any, seconds: float) -> Reply:
        config, usage = self._config, priced_usage(answer, self._config)
        choices: Any = getattr(answer, "choices", None)
        error: Any = getattr(answer, "error", None)
        if choices and error is None:
            error = getattr(choices[0], "error", None)
        if error is not None:
            raise error_in_reply(error, config, self._key, usage)
        message = getattr(choices[0], "message", None) if choices else None
        if message is None:
            raise broken_reply(config, "an answer without a message", usage)
        finish = getattr(choices[0], "finish_reason", None)
        if finish in (None, "error"):
            raise broken_reply(config, "an answer that does not say how it ended", usage)
        refused = getattr(message, "refusal", None)
        return Reply(
            text=text_of(message.content),
            reasoning=reasoning_of(message),
            finish_reason="refusal" if refused else FINISH.get(finish, finish),
            usage=usage,
            seconds=seconds,
            model=str(answer.model or config.model),
            request_id=str(getattr(answer, "_request_id", None) or answer.id or ""),
        )


def request_body(config: ClientConfig, request: Request) -> dict[str, Any]:
    """The request's JSON body."""
    turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
    body: dict[str, Any] = {
        "model": config.model,
        "messages": [{"role": "system", "content": request.system}, *turns],
        config.token_limit_name: request.max_tokens or config.max_tokens,
    }
    if config.reasoning_effort is not None:
        body["reasoning_effort"] = config.reasoning_effort
    if config.temperature is not None:
        body["temperature"] = config.temperature
    if request.schema is not None and config.json_mode != "none":
        body["response_format"] = response_format(config.json_mode, request.schema)
    return {**body, **config.extra_body, **request.sampling}


def response_format(json_mode: str, schema: Schema) -> dict[str, Any]:
    """How the API is told to enforce JSON."""
    if json_mode == "json_object":
        return {"type": "json_object"}
    if json_mode == "json_object_schema":
        return {"type": "json_object", "schema": dict(schema.json_schema)}
    strict = {"name": schema.name, "schema": dict(schema.json_schema), "strict": True}
    return {"type": "json_schema", "json_schema": strict}


def priced_usage(answer: "ChatCompletion", config: ClientConfig) -> Usage:
    """What the endpoint counted; without a count, dollars are unknown."""
    counted = getattr(answer, "usage", None)
    if counted is None:
        return Usage(dollars=None)
    prompt, output = counted.prompt_tokens_details, counted.completion_tokens_details
    usage = Usage(
        input_tokens=counted.prompt_tokens or 0,
        output_tokens=counted.completion_tokens or 0,
        reasoning_tokens=(output and output.reasoning_tokens) or 0,
        cached_tokens=(prompt and prompt.cached_tokens) or 0,
    )
    return priced(usage, config.prices)


def reasoning_of(message: Any) -> str:
    """The model's thinking, under whichever name the endpoint gives it."""
    named = (getattr(message, name, None) for name in ("reasoning_content", "reasoning"))
    return next((text for text in named if isinstance(text, str) and text), "")


def text_of(content: object) -> str:
    """The answer's text; some endpoints send it in parts."""
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
