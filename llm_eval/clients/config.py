"""How an endpoint is spoken to: all in which one differs from the next, checked on entry."""

import os
import pathlib
import urllib.parse
from collections.abc import Mapping
from typing import Any, Literal, Self

from omegaconf import OmegaConf
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from llm_eval.clients.base import Request, Usage
from osj_envs.compose import CONFIG_DIR, nearest

CLIENTS_DIR = CONFIG_DIR / "client"
"""One file for each `llm:<name>`."""

TOKENS_PER_MESSAGE = 64
"""More than any chat template adds to a message."""


class Record(BaseModel):
    """A part of the configuration: unchangeable, and no key beyond those declared."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Prices(Record):
    """Dollars for a million tokens.

    Attributes:
        input: of the prompt.
        output: of the answer, reasoning included.
        cached_input: of prompt tokens read from a cache; None if they cost as much as others.
    """

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached_input: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    def dollars(self, usage: Usage) -> float:
        """What the tokens cost."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = usage.input_tokens - usage.cached_tokens
        spent = fresh * self.input + usage.cached_tokens * cached
        return (spent + usage.output_tokens * self.output) / 1e6


class RetryConfig(Record):
    """How often and how long to ask again.

    Attributes:
        first_seconds: longest wait after the first failure.
        factor: by which the longest wait grows from one failure to the next.
        longest_seconds: where it stops growing.
        give_up_seconds: a call gives up rather than wait beyond this, from its first attempt.
    """

    first_seconds: float = Field(default=1.0, gt=0)
    factor: float = Field(default=2.0, ge=1)
    longest_seconds: float = Field(default=120.0, gt=0)
    give_up_seconds: float = Field(default=6 * 3600.0, ge=0)


class ClientConfig(Record):
    """One model at one endpoint.

    Attributes:
        provider: whose API is spoken: `openai` for every OpenAI-compatible endpoint, `anthropic`,
            or `scripted` for a model built in.
        model: as the endpoint names it; for `scripted`, the name of a script.
        base_url: of the endpoint; None for the provider's own.
        key_env: environment variable that holds the key.
        key_file: file that holds the key; without either, no key is sent.
        json_mode: how JSON is enforced: by the reply's schema (`json_object_schema` spells that as
            llama-cpp-python asks for it), as any one object, or not at all.
        token_limit_name: the API's name of the limit on the answer's tokens.
        max_tokens: that limit, reasoning included.
        reasoning_effort: as the API spells it; None to leave it out.
        temperature: None to leave it out, as reasoning models ask for.
        extra_body: further fields of the request's body (top_p, top_k, a thinking budget).
        timeout_seconds: of one attempt, to its last byte.
        max_in_flight: most requests at a time to this endpoint, all games and models together.
        retry: how failures of the infrastructure are retried.
        prices: None if unknown.
    """

    provider: Literal["openai", "anthropic", "scripted"]
    model: str = Field(min_length=1)
    base_url: str | None = None
    key_env: str | None = None
    key_file: str | None = None
    json_mode: Literal["json_schema", "json_object_schema", "json_object", "none"] = "none"
    token_limit_name: str = "max_tokens"
    max_tokens: int = Field(default=4096, ge=1)
    reasoning_effort: str | None = None
    temperature: float | None = Field(default=None, ge=0)
    extra_body: Mapping[str, Any] = Field(default_factory=dict)
    timeout_seconds: float = Field(default=600.0, gt=0)
    max_in_flight: int = Field(default=8, ge=1)
    retry: RetryConfig = RetryConfig()
    prices: Prices | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.key_env and self.key_file:
            raise ValueError("key_env and key_file are both set; name one of them")
        if self.provider == "anthropic" and self.json_mode.startswith("json_object"):
            raise ValueError(
                f"json_mode is {self.json_mode!r}, which anthropic lacks; take json_schema"
            )
        if self.base_url and urllib.parse.urlsplit(self.base_url).password is not None:
            raise ValueError("base_url holds a password; name a key by key_env or key_file")
        return self

    @property
    def endpoint(self) -> str:
        """What one limit on requests in flight belongs to."""
        return self.base_url or self.provider

    def key(self) -> SecretStr | None:
        """The key, read from its place now.

        Raises:
            ValueError: it is not there, or is no key.
        """
        place, text = self._key_source()
        if place is None:
            return None
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError(f"{place} holds no key; a key is one word of printable ASCII.")
        return SecretStr(text)

    def _key_source(self) -> tuple[str | None, str]:
        if self.key_env:
            place = f"The environment variable {self.key_env}"
            if self.key_env not in os.environ:
                raise ValueError(f"{place} is not set; export the key of {self.model} in it.")
            return place, os.environ[self.key_env].strip()
        if self.key_file:
            place = f"The file {self.key_file}"
            path = pathlib.Path(self.key_file).expanduser()
            if not path.is_file():
                raise ValueError(f"{place} does not exist; write the key of {self.model} to it.")
            return place, path.read_bytes().decode("utf-8", "replace").strip()
        return None, ""

    def worst_case(self, request: Request) -> Usage:
        """The most that a call can cost: a token is at least a byte of the prompt."""
        texts = [request.system, *(message.content for message in request.messages)]
        if request.schema is not None:
            texts.append(str(request.schema.json_schema))
        prompt = sum(len(text.encode("utf-8", "replace")) + TOKENS_PER_MESSAGE for text in texts)
        usage = Usage(prompt, request.max_tokens or self.max_tokens)
        return priced(usage, self.prices)


def priced(usage: Usage, prices: Prices | None) -> Usage:
    """The usage with its dollars."""
    dollars = None if prices is None else prices.dollars(usage)
    return Usage(
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cached_tokens,
        dollars,
    )


def client_names() -> list[str]:
    """Every model that is configured."""
    return sorted(path.stem for path in CLIENTS_DIR.glob("*.yaml"))


def load_client_config(name: str) -> ClientConfig:
    """The file `configs/client/<name>.yaml`, or, where the name ends in .yaml, that file.

    Raises:
        ValueError: there is no such file, or it does not make a configuration.
    """
    path = pathlib.Path(name) if name.endswith(".yaml") else CLIENTS_DIR / f"{name}.yaml"
    if not path.is_file():
        known = [*client_names(), "a file that ends in .yaml"]
        raise ValueError(f"Unknown model: {name!r}; {nearest(name, known)}")
    node = OmegaConf.load(path)
    return read_client_config(name, OmegaConf.to_container(node, resolve=True))  # type: ignore[arg-type]


def read_client_config(name: str, fields: Mapping[str, Any]) -> ClientConfig:
    """A configuration from plain fields.

    Raises:
        ValueError: an unknown key or a value out of its range; the message is one sentence.
    """
    _check_keys(f"client {name}", fields, ClientConfig)
    for key, record in (("retry", RetryConfig), ("prices", Prices)):
        if isinstance(fields.get(key), Mapping):
            _check_keys(f"client {name}, {key}", fields[key], record)
    try:
        return ClientConfig.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"client {name}{', ' if place else ''}{place}: {message}.") from None


def _check_keys(place: str, fields: Mapping[str, Any], record: type[Record]) -> None:
    known = list(record.model_fields)
    for key in fields:
        if key not in known:
            raise ValueError(f"{place}: unknown key {key!r}; {nearest(key, known)}")
