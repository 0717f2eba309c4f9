"""The protocol of every client: one asynchronous method from a request to a reply."""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, Protocol, runtime_checkable

Role = Literal["user", "assistant"]


@dataclasses.dataclass(frozen=True)
class Message:
    """One turn of the conversation that follows the system prompt."""

    role: Role
    content: str


@dataclasses.dataclass(frozen=True)
class Schema:
    """The JSON schema that a reply has to follow, for endpoints that enforce one.

    Attributes:
        name: letters, digits, `_` and `-`, as endpoints ask for.
        json_schema: every object lists all its properties as required and allows no others.
    """

    name: str
    json_schema: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Request:
    """What a model is asked.

    Attributes:
        system: the system prompt.
        messages: the turns after it; the last is the user's.
        schema: of the reply; None for free text.
        max_tokens: most tokens of the reply, reasoning included; None for the client's own limit.
        sampling: options of this request that go before the client's own, by their name in the
            endpoint's API.
        tags: kept beside the reply in the records (trial, step); no part of the prompt.

    Raises:
        UnicodeEncodeError: a text is no valid Unicode.
    """

    system: str
    messages: tuple[Message, ...]
    schema: Schema | None = None
    max_tokens: int | None = None
    sampling: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    tags: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for text in (self.system, *(message.content for message in self.messages)):
            text.encode("utf-8")  # a lone surrogate could be neither hashed alike nor sent

    @functools.cached_property
    def prompt_hash(self) -> str:
        """SHA-256 in hexadecimal of all that the model is given; the tags are not."""
        fields = dataclasses.asdict(self)
        del fields["tags"]
        text = json.dumps(fields, sort_keys=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a call cost.

    Attributes:
        input_tokens: of the prompt, cached ones included.
        output_tokens: of the answer, reasoning included.
        reasoning_tokens: of these, those of reasoning, where the endpoint tells.
        cached_tokens: of the input, those read from a cache.
        dollars: by the configured prices; None where prices or token counts are unknown.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    dollars: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        dollars = None
        if self.dollars is not None and other.dollars is not None:
            dollars = self.dollars + other.dollars
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_tokens + other.cached_tokens,
            dollars,
        )


@dataclasses.dataclass(frozen=True)
class Reply:
    """What a model answered.

    Attributes:
        text: the answer; may be empty.
        reasoning: what the endpoint gave of the model's thinking; may be empty.
        finish_reason: `stop`, `length` (cut at the token limit), `refusal`, or the endpoint's word.
        usage: of this call and of the failed attempts before it.
        seconds: from asking to the whole answer, for the attempt that succeeded.
        model: as the endpoint names it.
        request_id: the endpoint's, for its support.
        failures: kinds of the failed attempts that came before (`errors.FailureKind`).
    """

    text: str
    reasoning: str = ""
    finish_reason: str = "stop"
    usage: Usage = Usage()
    seconds: float = 0.0
    model: str = ""
    request_id: str = ""
    failures: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The reply in JSON types."""
        return dataclasses.asdict(self) | {"failures": list(self.failures)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Reply":
        """The reply that `to_json` wrote."""
        usage, failures = Usage(**fields["usage"]), tuple(fields["failures"])
        return cls(**{**fields, "usage": usage, "failures": failures})


@runtime_checkable
class Client(Protocol):
    """A model, or a wrapper around one."""

    async def complete(self, request: Request) -> Reply:
        """Asks once.

        Raises:
            InfrastructureError: nobody answered; asking again may help.
            FinalError: asking again cannot help (bad request, bad key, unknown model).
        """
