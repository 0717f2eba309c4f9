"""Both SDKs against a server that misbehaves: bounded, counted, and whose doing it was."""

import asyncio
import json
import logging
import pickle
import time
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from llm_eval.clients.base import Message, Reply, Request
from llm_eval.clients.budget import Budget
from llm_eval.clients.config import ClientConfig, Prices, RetryConfig
from llm_eval.clients.connect import Endpoints, make_client
from llm_eval.clients.errors import (
    ClientError,
    FailureKind,
    FinalError,
    GaveUp,
    InfrastructureError,
)
from llm_eval.parsing import Invalid, InvalidKind, read_reply
from llm_eval.replies import CleanupReply, schema_of
from tests.llm_eval.loopback import (
    ACTS,
    BROKEN,
    ENDLESS,
    FINAL,
    RETRIED,
    TEXTS,
    Served,
    loopback,
)

APIS = ("openai", "anthropic")
REQUEST = Request("You play.", (Message("user", "Your move."),), schema_of(CleanupReply))
KEY = "sk-canary-41c1"
PRICES = Prices(input=2.0, output=10.0)


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CANARY_KEY", KEY)
    # what must not lead the requests astray
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-another")
    monkeypatch.setenv("OPENAI_ORG_ID", "sk-another")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "sk-another")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-another")
    return str(request.param)


def config_of(api: str, served: Served, **fields: Any) -> ClientConfig:
    url = served.url + ("/v1" if api == "openai" else "")
    retry = RetryConfig(first_seconds=0.01, longest_seconds=0.02, give_up_seconds=5.0)
    given = {"provider": api, "model": "m", "base_url": url, "key_env": "CANARY_KEY"}
    rest = {"timeout_seconds": 5.0, "retry": retry, "prices": PRICES}
    return ClientConfig(**(given | rest | fields))


def ask_all(api: str, served: Served, turns: int, budget: Budget, **fields: Any) -> list[Reply]:
    """So many turns through all the wrappers, one after the other."""
    config = config_of(api, served, **fields)

    async def play() -> list[Reply]:
        async with Endpoints() as endpoints:
            client = endpoints.client(config, budget, "p")
            return [await client.complete(REQUEST) for _ in range(turns)]

    return asyncio.run(play())


def ask_once(api: str, served: Served, request: Request = REQUEST, **fields: Any) -> Reply:
    async def ask() -> Reply:
        client: Any = make_client(config_of(api, served, **fields))
        try:
            return await client.complete(request)  # type: ignore[no-any-return]
        finally:
            await client.close()

    return asyncio.run(ask())


def failure_of(call: Callable[[], object]) -> ClientError:
    with pytest.raises(ClientError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("name", TEXTS)
def test_what_the_model_wrote_is_the_models_doing(api: str, name: str):
    with loopback(name) as served:
        reply = ask_once(api, served)
    decision = read_reply(reply, CleanupReply)
    assert isinstance(decision, CleanupReply) == (name in ACTS)
    if isinstance(decision, CleanupReply):
        assert decision.action == "fire"
    else:
        assert decision.kind == EXPECTED[name]
    assert reply.failures == ()


EXPECTED = {
    "malformed": InvalidKind.BROKEN_JSON,
    "empty": InvalidKind.EMPTY,
    "truncated": InvalidKind.TRUNCATED,
    "wrong_schema": InvalidKind.WRONG_FIELDS,
    "two_objects": InvalidKind.TWO_OBJECTS,
    "refusal": InvalidKind.REFUSED,
    "not_its_action": InvalidKind.WRONG_FIELDS,
}

KINDS = {
    "429": FailureKind.RATE_LIMIT,
    "408": FailureKind.TIME_OUT,
    "529": FailureKind.OVERLOADED,
    "error_in_200": FailureKind.ERROR_IN_REPLY,
    "error_of_a_choice": FailureKind.ERROR_IN_REPLY,
    "cut_body": FailureKind.CONNECTION,
    "hang_up": FailureKind.CONNECTION,
    "silence": FailureKind.TIME_OUT,
    "drip": FailureKind.TIME_OUT,
}


@pytest.mark.parametrize("name", [*RETRIED, *BROKEN, *ENDLESS])
def test_failures_of_the_infrastructure_are_retried_and_told_apart(api: str, name: str):
    started = time.monotonic()
    with loopback(name) as served:
        limit = 0.4 if name in ENDLESS else 5.0
        (reply,) = ask_all(api, served, 1, Budget(), timeout_seconds=limit)
        assert len(served.bodies) == 2
    general = FailureKind.BROKEN_REPLY if name in BROKEN else FailureKind.SERVER_ERROR
    assert reply.failures == (KINDS.get(name, general),)
    assert isinstance(read_reply(reply, CleanupReply), CleanupReply)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("name", FINAL)
def test_what_cannot_get_better_stops_at_once(api: str, name: str):
    with loopback(name) as served:
        error = failure_of(lambda: ask_all(api, served, 1, Budget()))
        assert len(served.bodies) == 1
    assert isinstance(error, FinalError)
    assert str(error).endswith(".")
    assert "; " in str(error)


def test_a_server_that_is_not_there(api: str):
    with loopback() as served:
        pass
    error = failure_of(lambda: ask_once(api, served))
    assert isinstance(error, InfrastructureError)
    assert error.kind is FailureKind.CONNECTION


def test_a_call_gives_up_within_its_bound(api: str):
    retry = RetryConfig(first_seconds=0.05, longest_seconds=0.05, give_up_seconds=0.3)
    started = time.monotonic()
    with loopback(*["500"] * 50) as served:
        error = failure_of(lambda: ask_all(api, served, 1, Budget(), retry=retry))
        asked = len(served.bodies)
    assert isinstance(error, GaveUp)
    assert error.failures == (FailureKind.SERVER_ERROR,) * asked
    assert 3 < asked < 20
    assert time.monotonic() - started < 3


def test_usage_and_cost_are_what_the_server_counted(api: str):
    schedule = ["good", "500", "empty", "error_in_200", "two_objects", "cut_body", "429", "good"]
    budget = Budget(total=1e6)
    with loopback(*schedule) as served:
        replies = ask_all(api, served, 4, budget)
    assert len(served.bodies) == len(schedule)
    usage = sum((reply.usage for reply in replies[1:]), replies[0].usage)
    assert usage.input_tokens == served.input_tokens > 0
    assert usage.output_tokens == served.output_tokens > 0
    # the OpenAI side says that one token of each prompt was cached, at the price of others
    expected = (2.0 * served.input_tokens + 10.0 * served.output_tokens) / 1e6
    assert usage.dollars == pytest.approx(expected, rel=1e-9)
    assert budget.spent["p"] == pytest.approx(expected, rel=1e-9)


def test_one_action_a_turn_whatever_the_server_does(api: str):
    bad = [*TEXTS, *RETRIED, *BROKEN]
    schedule = [name for pair in zip(bad, reversed(bad), strict=True) for name in pair]
    turns = sum(name in TEXTS for name in schedule)
    with loopback(*schedule) as served:
        replies = ask_all(api, served, turns, Budget())
        assert len(served.bodies) == len(schedule)
    answered = [name for name in schedule if name in TEXTS]
    decisions = [read_reply(reply, CleanupReply) for reply in replies]
    actions = ["stay" if isinstance(d, Invalid) else d.action for d in decisions]
    assert actions == ["fire" if name in ACTS else "stay" for name in answered]
    failed = sum(len(reply.failures) for reply in replies)
    assert failed == len(schedule) - turns


def test_calls_of_an_endpoint_share_its_limit(api: str):
    async def many(config: ClientConfig) -> None:
        async with Endpoints() as endpoints:
            configs = (config, config, config.model_copy(update={"model": "other"}))
            clients = [endpoints.client(each, Budget(), "p") for each in configs]
            await asyncio.gather(*(c.complete(REQUEST) for c in clients for _ in range(4)))

    with loopback(latency=0.03) as served:
        asyncio.run(many(config_of(api, served, max_in_flight=3)))
    assert served.most_at_once == 3
    assert len(served.bodies) == 12


def test_connections_are_closed_and_shared(api: str):
    async def twice(config: ClientConfig) -> list[Any]:
        async with Endpoints() as endpoints:
            for player in "pq":
                await endpoints.client(config, Budget(), player).complete(REQUEST)
            return list(endpoints._bare.values())

    with loopback() as served:
        (client,) = asyncio.run(twice(config_of(api, served)))
    assert client._sdk.is_closed()


@pytest.mark.parametrize("name", ["401", "403", "500", "bad_key_in_200", "hang_up"])
def test_a_key_is_in_no_error_and_no_log(
    api: str, name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    caplog.set_level(logging.DEBUG)
    retry = RetryConfig(first_seconds=0.01, give_up_seconds=0.03)
    with loopback(*[name] * 9) as served:
        config = config_of(api, served, retry=retry)
        error = failure_of(lambda: ask_all(api, served, 1, Budget(), retry=retry))
        assert KEY in json.dumps(served.headers)
        assert "sk-another" not in json.dumps(served.headers)
    told = "".join(traceback.format_exception(error)) + repr(vars(error)) + str(error)
    assert KEY not in told
    assert KEY not in repr(error.__context__)
    assert KEY not in caplog.text
    for text in (repr(config), config.model_dump_json(), str(config), repr(config.key())):
        assert KEY not in text
    assert KEY.encode() not in pickle.dumps(config)
    if name != "hang_up":
        assert "[key]" in str(error)


def test_a_reply_tells_all_that_the_endpoint_told(api: str):
    with loopback("in_reasoning") as served:
        reply = ask_once(api, served)
    assert reply.model == "served-model"
    assert reply.request_id == "request-7"
    assert "So the answer" in reply.reasoning
    assert reply.finish_reason == "stop"
    assert 0 < reply.seconds < 5
    if api == "openai":
        assert (reply.usage.reasoning_tokens, reply.usage.cached_tokens) == (5, 1)


def test_the_request_holds_what_is_configured():
    schema = dict(schema_of(CleanupReply).json_schema)
    extra = {"top_k": 20, "thinking": {"type": "disabled"}}
    fields: dict[str, Any] = {"reasoning_effort": "low", "extra_body": extra, "max_tokens": 77}
    with loopback() as served:
        ask_once(
            "openai",
            served,
            key_env=None,
            json_mode="json_schema",
            temperature=0.5,
            token_limit_name="max_completion_tokens",
            **fields,
        )
        ask_once("openai", served, key_env=None, json_mode="json_object")
        ask_once("openai", served, key_env=None, json_mode="json_object_schema")
        ask_once("anthropic", served, key_env=None, json_mode="json_schema", **fields)
        ask_once("anthropic", served, key_env=None)
    strict, loose, shaped, claude, free = served.bodies
    format_of = {"name": "CleanupReply", "schema": schema, "strict": True}
    assert strict == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "You play."},
            {"role": "user", "content": "Your move."},
        ],
        "max_completion_tokens": 77,
        "reasoning_effort": "low",
        "temperature": 0.5,
        "response_format": {"type": "json_schema", "json_schema": format_of},
        **extra,
    }
    assert loose["response_format"] == {"type": "json_object"}
    assert shaped["response_format"] == {"type": "json_object", "schema": schema}
    assert set(loose) == {"model", "messages", "max_tokens", "response_format"}
    form = {"type": "json_schema", "schema": schema}
    assert claude == {
        "model": "m",
        "system": "You play.",
        "messages": [{"role": "user", "content": "Your move."}],
        "max_tokens": 77,
        "output_config": {"effort": "low", "format": form},
        **extra,
    }
    assert set(free) == {"model", "messages", "system", "max_tokens"}


def test_a_request_goes_before_the_configuration(api: str):
    request = Request("s", (Message("user", "u"),), max_tokens=5, sampling={"temperature": 0.1})
    with loopback() as served:
        ask_once(api, served, request, temperature=0.9)
    assert served.bodies[0]["max_tokens"] == 5
    assert served.bodies[0]["temperature"] == 0.1
