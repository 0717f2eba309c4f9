"""Failures of the infrastructure are asked again, with patience and an end."""

import random

import pytest

from llm_eval.clients import failures
from llm_eval.clients.base import Usage
from llm_eval.clients.config import RetryConfig
from llm_eval.clients.errors import FailureKind, FinalError, GaveUp
from llm_eval.clients.retry import Retry
from llm_eval.clients.scripted import Answer, Scripted, in_order
from tests.llm_eval.fakes import FakeTime, ask, failed, paid, run


def retried(
    *answers: Answer, rng: random.Random | None = None, **config: float
) -> tuple[Retry, FakeTime, Scripted]:
    clock, inner = FakeTime(), Scripted(in_order(answers))
    return Retry(inner, RetryConfig(**config), clock, rng or random.Random(0)), clock, inner


def test_waits_grow_and_are_jittered_up_to_the_longest():
    client, clock, _ = retried(*[failed()] * 9, "ok", first_seconds=2, longest_seconds=50)
    run(client.complete(ask("x")))
    for attempt, wait in enumerate(clock.waits):
        longest = min(2 * 2**attempt, 50)
        assert longest / 2 <= wait <= longest
    assert len(set(clock.waits)) == 9


def test_two_clients_do_not_wait_alike():
    waits = []
    for seed in (1, 2):
        client, clock, _ = retried(failed(), "ok", rng=random.Random(seed))
        run(client.complete(ask("x")))
        waits += clock.waits
    assert waits[0] != waits[1]


def test_what_the_endpoint_asks_to_wait_is_waited():
    client, clock, _ = retried(failed(retry_after=700.0), "ok", first_seconds=1, longest_seconds=5)
    run(client.complete(ask("x")))
    assert 700 <= clock.waits[0] <= 701


def test_a_call_is_retried_for_hours_and_then_given_up():
    client, clock, inner = retried(*[failed()] * 2000, give_up_seconds=7200.0, longest_seconds=60)
    with pytest.raises(GaveUp, match=r"It failed\. Gave up after \d+ attempts; start the run"):
        run(client.complete(ask("x")))
    assert 7100 < clock.now() <= 7200
    assert len(inner.requests) == len(clock.waits) + 1


def test_a_wait_beyond_the_bound_is_not_begun():
    client, clock, _ = retried(failed(retry_after=100.0), "ok", give_up_seconds=99.0)
    with pytest.raises(GaveUp):
        run(client.complete(ask("x")))
    assert clock.waits == []


def test_a_final_error_is_not_retried():
    client, clock, inner = retried(FinalError("Bad key."), "ok")
    with pytest.raises(FinalError):
        run(client.complete(ask("x")))
    assert len(inner.requests) == 1
    assert clock.waits == []


def test_failed_attempts_are_counted_and_paid():
    wasted = failed(FailureKind.OVERLOADED, usage=Usage(5, 2, dollars=0.25))
    client, _, _ = retried(wasted, failed(), paid(1.0, tokens=10))
    reply = run(client.complete(ask("x")))
    assert reply.failures == ("overloaded", "rate_limit")
    assert reply.usage == Usage(15, 12, dollars=1.25)


def test_thousands_of_failures_do_not_overflow():
    client, _, _ = retried(
        *[failed()] * 3000, "ok", factor=10, give_up_seconds=1e9, longest_seconds=1
    )
    assert run(client.complete(ask("x"))).text == "ok"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "3", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "3", "retry-after-ms": "soon"}, 3.0),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read(headers: dict[str, str], expected: float | None):
    assert failures.retry_after(headers, now=60.0) == expected
