"""Models built in: replies from a function or a table, without a network."""

import asyncio
import json
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llm_eval.clients.base import Client, Reply, Request, Usage
from llm_eval.clients.config import ClientConfig, priced
from osj_envs.compose import nearest

Answer = str | Reply | Exception
Script = Callable[[Request], Answer]
"""What a scripted model answers; an exception is raised in the answer's place."""

BYTES_PER_TOKEN = 4
"""By which scripted models count tokens."""


class Scripted:
    """A client that answers from a function.

    Args:
        script: from the request to the answer.
        config: for prices and the model's name; None for a model without a price.
        latency: seconds that an answer takes.

    Attributes:
        requests: all that was asked, in order.
    """

    def __init__(
        self, script: Script, config: ClientConfig | None = None, latency: float = 0.0
    ) -> None:
        self._script = script
        self._config = config
        self._latency = latency
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        """The script's answer; see `Client`."""
        self.requests.append(request)
        # Even an instant answer lets the other seats have their turn, as a real one would.
        await asyncio.sleep(self._latency)
        answer = self._script(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        prices, model = (self._config.prices, self._config.model) if self._config else (None, "")
        return Reply(answer, usage=priced(count_tokens(request, answer), prices), model=model)


def in_order(answers: Iterable[Answer]) -> Script:
    """A script that gives the answers one after the other; asking beyond the last is an error."""
    left = iter(answers)

    def script(request: Request) -> Answer:
        for answer in left:
            return answer
        return LookupError(f"No answer is left for {dict(request.tags)}.")

    return script


def count_tokens(request: Request, answer: str) -> Usage:
    """Roughly what a real model would count."""
    prompt = request.system + "".join(message.content for message in request.messages)
    return Usage(
        input_tokens=len(prompt.encode()) // BYTES_PER_TOKEN,
        output_tokens=len(answer.encode()) // BYTES_PER_TOKEN,
    )


def wander(request: Request) -> str:
    """Some reply that the schema allows, drawn by the prompt: the same one whenever it is asked."""
    if request.schema is None:
        return "{}"
    rng = random.Random(request.prompt_hash)
    return json.dumps(draw_value(request.schema.json_schema, rng))


def draw_value(
    schema: Mapping[str, Any], rng: random.Random, roots: Mapping[str, Any] | None = None
) -> Any:
    """A random value that a JSON schema of `replies` allows.

    Args:
        schema: to follow.
        rng: draws.
        roots: the definitions that `$ref` names.
    """
    roots = schema.get("$defs", {}) if roots is None else roots
    if "$ref" in schema:
        return draw_value(roots[schema["$ref"].rpartition("/")[2]], rng, roots)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        return draw_value(rng.choice(schema["anyOf"]), rng, roots)
    if schema["type"] == "object":
        return {name: draw_value(each, rng, roots) for name, each in schema["properties"].items()}
    if schema["type"] == "array":
        return [draw_value(schema["items"], rng, roots) for _ in range(2)]
    return {"integer": rng.randrange(20), "string": f"thought {rng.randrange(100)}", "null": None}[
        schema["type"]
    ]


SCRIPTS: dict[str, Script] = {"wander": wander}
"""The scripted models that a configuration may name; programs add their own."""


def make_scripted(config: ClientConfig) -> Client:
    """The scripted model of a configuration.

    Raises:
        ValueError: there is none of that name.
    """
    if config.model not in SCRIPTS:
        raise ValueError(
            f"Unknown script: {config.model!r}; {nearest(config.model, list(SCRIPTS))}"
        )
    return Scripted(SCRIPTS[config.model], config)
