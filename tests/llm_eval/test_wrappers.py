"""Retry, limit, budget, recording and scripts, each on its own."""

import asyncio
import json
import random
import time
import types
from collections.abc import Coroutine
from typing import Any

import pytest

from llm_eval.clients import failures
from llm_eval.clients.base import Client, Message, Reply, Request, Usage
from llm_eval.clients.budget import TOTAL, Budget, Budgeted
from llm_eval.clients.config import RetryConfig
from llm_eval.clients.connect import make_client, record, wrap
from llm_eval.clients.errors import BudgetSpent, FailureKind, FinalError, GaveUp, PromptChanged
from llm_eval.clients.limit import Limited, Limits
from llm_eval.clients.recorded import Recorded
from llm_eval.clients.retry import Retry
from llm_eval.clients.scripted import Answer, Scripted, in_order, wander
from llm_eval.files import read_lines
from llm_eval.parsing import Invalid, read_reply
from llm_eval.records import Replies
from llm_eval.replies import STEP_REPLIES, Rewrite, schema_of
from tests.llm_eval.fakes import FakeTime, ask, failed, paid, scripted_config


def run(task: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(task)


# retry


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


# limit


class Crowd:
    """A client that counts how many ask it at a time."""

    def __init__(self) -> None:
        self.inside = self.most = 0

    async def complete(self, request: Request) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.001)
        self.inside -= 1
        if request.messages[0].content == "fail":
            raise FinalError("No.")
        return Reply("ok")


def test_an_endpoint_has_one_limit_for_all_games():
    crowd, limits = Crowd(), Limits()
    configs = [scripted_config(max_in_flight=3, model=name) for name in "ab"]

    async def games() -> None:
        clients = [Limited(crowd, limits.gate(config)) for config in configs * 3]
        asked = [c.complete(ask(t)) for c in clients for t in ("x", "fail", "y")]
        await asyncio.gather(*asked, return_exceptions=True)

    run(games())
    assert crowd.most == 3


def test_other_endpoints_have_their_own():
    limits = Limits()
    one, other = (scripted_config(base_url=f"http://{name}/v1") for name in "ab")
    assert limits.gate(one) is limits.gate(one)
    assert limits.gate(one) is not limits.gate(other)


def test_two_limits_of_one_endpoint_are_refused():
    limits = Limits()
    limits.gate(scripted_config(max_in_flight=3))
    with pytest.raises(ValueError, match="an endpoint has one limit"):
        limits.gate(scripted_config(max_in_flight=4))


# budget: a call is a dollar at its worst


def budgeted(budget: Budget, *answers: Answer, player: str = "p", latency: float = 0) -> Budgeted:
    return Budgeted(Scripted(in_order(answers), None, latency), budget, player, scripted_config())


def spend(client: Client, most: int) -> int:
    """How many calls come through before the budget is spent."""

    async def play() -> int:
        for count in range(most):
            try:
                await client.complete(ask("x"))
            except BudgetSpent:
                return count
        return most

    return int(run(play()))


def test_a_call_that_could_exceed_the_budget_is_not_begun():
    budget = Budget(total=2.5)
    client = budgeted(budget, *[paid(0.5)] * 10)
    assert spend(client, 10) == 4
    assert budget.spent == {"p": 2.0, TOTAL: 2.0}


def test_a_player_has_its_own_budget():
    budget = Budget(total=100.0, by_player={"p": 1.0})
    assert spend(budgeted(budget, *[paid(0.4)] * 5), 5) == 1
    assert spend(budgeted(budget, *[paid(0.4)] * 5, player="q"), 5) == 5
    assert budget.spent == pytest.approx({"p": 0.4, "q": 2.0, TOTAL: 2.4})


def test_the_spent_of_an_interrupted_run_counts():
    budget = Budget(total=3.0, spent={"p": 1.5, "q": 1.0})
    assert spend(budgeted(budget, paid(0.1)), 1) == 0
    message = "The budget is spent: all players spent 2.5000 of 3.0000 dollars, and a call of p"
    with pytest.raises(BudgetSpent, match=message):
        run(budgeted(budget, paid(0.1)).complete(ask("x")))


def test_calls_at_once_never_exceed_the_budget_and_use_it_up():
    budget = Budget(total=2.9)
    clients = [budgeted(budget, *[paid(0.3)] * 9, latency=0.001) for _ in range(5)]

    async def play() -> list[object]:
        asked = [c.complete(ask("x")) for c in clients for _ in range(3)]
        return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 5)

    answers = run(play())
    refused = [answer for answer in answers if isinstance(answer, BudgetSpent)]
    assert budget.spent[TOTAL] == pytest.approx(2.1)
    assert len(refused) == 15 - 7
    assert all(isinstance(a, (Reply, BudgetSpent)) for a in answers)


def test_a_call_that_nobody_counted_is_taken_at_its_worst():
    budget = Budget(total=10.0)
    run(budgeted(budget, paid(None)).complete(ask("x")))
    assert budget.spent["p"] == 1.0


def test_a_failed_attempt_costs_what_it_cost_and_frees_the_rest():
    budget = Budget(total=1.2)
    client = budgeted(budget, failed(usage=Usage(dollars=0.1)), FinalError("No."), paid(0.2))
    for _ in range(2):
        with pytest.raises(Exception, match=r"It failed\.|No\."):
            run(client.complete(ask("x")))
    run(client.complete(ask("x")))
    assert budget.spent["p"] == pytest.approx(0.3)


def test_a_budget_needs_prices():
    config = scripted_config(prices=None)
    with pytest.raises(ValueError, match=r"set prices\.input and prices\.output"):
        Budgeted(Scripted(wander), Budget(total=1.0), "p", config)
    Budgeted(Scripted(wander), Budget(by_player={"q": 1.0}), "p", config)


def test_a_prompt_costs_at_most_what_is_set_aside():
    config = scripted_config(prices={"input": 1e6, "output": 0.0})
    text = "naïve ☃ " * 20
    held = config.worst_case(ask(text)).dollars
    assert held is not None
    assert held > len(text.encode())


# recorded


def recorded_run(path: Any, texts: list[str], answers: list[Answer]) -> tuple[list[str], int]:
    """The replies to the texts, and how many of them were asked for live."""
    inner = Scripted(in_order(answers))

    async def play() -> list[str]:
        replies = Replies(path, {})
        client = Recorded(inner, replies, "seat 0", "p")
        try:
            return [(await client.complete(ask(text, step=text))).text for text in texts]
        finally:
            replies.close()

    return run(play()), len(inner.requests)


def test_recorded_replies_are_replayed_in_order_without_a_call(tmp_path: Any):
    path = tmp_path / "replies.jsonl"
    assert recorded_run(path, ["a", "b"], ["1", "2"]) == (["1", "2"], 2)
    assert recorded_run(path, ["a", "b", "c"], ["3"]) == (["1", "2", "3"], 1)
    assert recorded_run(path, ["a", "b", "c"], []) == (["1", "2", "3"], 0)
    entries, _ = read_lines(path)
    assert [entry["tags"]["step"] for entry in entries] == ["a", "b", "c"]
    assert [entry["prompt"] for entry in entries] == [ask(text).prompt_hash for text in "abc"]


def test_a_changed_prompt_stops_with_its_place(tmp_path: Any):
    path = tmp_path / "replies.jsonl"
    recorded_run(path, ["a", "b"], ["1", "2"])
    message = "The recorded reply of seat 0 at step b answers another prompt than the one of step z"
    with pytest.raises(PromptChanged, match=message):
        recorded_run(path, ["a", "z"], ["9"])


def test_a_reply_is_on_disk_before_it_is_given(tmp_path: Any):
    path = tmp_path / "replies.jsonl"
    recorded_run(path, ["a"], [paid(0.5)])
    entries, _ = read_lines(path)
    assert Reply.from_json(entries[0]["reply"]) == paid(0.5)


def test_a_failure_is_not_recorded(tmp_path: Any):
    path = tmp_path / "replies.jsonl"
    with pytest.raises(GaveUp):
        recorded_run(path, ["a", "b"], ["1", GaveUp("Enough.", ())])
    assert recorded_run(path, ["a", "b"], ["2"]) == (["1", "2"], 1)


def test_seats_have_their_own_order(tmp_path: Any):
    async def play(expected_live: int) -> list[str]:
        replies = Replies(tmp_path / "replies.jsonl", {})
        inner = Scripted(lambda request: request.messages[0].content)
        seats = [record(inner, replies, f"seat {i}", "p") for i in range(3)]
        texts = [f"{i}-{step}" for step in range(2) for i in range(3)]
        asked = [seats[int(text[0])].complete(ask(text)) for text in texts]
        answers = [reply.text for reply in await asyncio.gather(*asked)]
        assert len(inner.requests) == expected_live
        replies.check_all_replayed()
        replies.close()
        return answers

    assert run(play(6)) == run(play(0)) == ["0-0", "1-0", "2-0", "0-1", "1-1", "2-1"]


def test_replaying_costs_nothing(tmp_path: Any):
    async def play(budget: Budget) -> None:
        replies = Replies(tmp_path / "replies.jsonl", {})
        config = scripted_config()
        bare = Scripted(in_order([paid(0.9), paid(0.9)]))
        client = record(wrap(bare, config, Limits(), budget, "p"), replies, "seat 0", "p")
        for text in "ab":
            await client.complete(ask(text))
        replies.close()

    run(play(Budget(total=2.0)))
    run(play(Budget(total=2.0, spent={"p": 1.8})))


# scripted


@pytest.mark.parametrize("model", [*STEP_REPLIES.values(), Rewrite])
def test_the_wanderer_replies_as_asked_and_always_alike(model: Any):
    actions = set()
    for text in range(60):
        request = Request("s", (Message("user", str(text)),), schema_of(model))
        answer = wander(request)
        assert wander(request) == answer
        decision = read_reply(Reply(answer), model)
        assert not isinstance(decision, Invalid)
        actions.add(json.loads(answer).get("action"))
    assert len(actions) > 5 or model is Rewrite


def test_a_script_is_counted_and_priced():
    config = scripted_config(prices={"input": 1.0, "output": 2.0})
    reply = run(Scripted(lambda request: "x" * 40, config).complete(ask("y" * 394)))
    assert reply.usage == Usage(100, 10, dollars=pytest.approx(120e-6))
    assert reply.model == "wander"
    assert reply.seconds == 0.0


def test_a_script_takes_its_time():
    started = time.monotonic()
    run(Scripted(lambda request: "x", latency=0.03).complete(ask("x")))
    assert time.monotonic() - started >= 0.03


def test_a_table_that_is_used_up_says_so():
    client = Scripted(in_order(["", "b"]))
    assert [run(client.complete(ask("x"))).text for _ in range(2)] == ["", "b"]
    with pytest.raises(LookupError, match="No answer is left"):
        run(client.complete(ask("x")))


def test_an_unknown_script_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'wander'"):
        make_client(scripted_config(model="wonder"))


# the protocol


def test_the_hash_is_of_the_prompt_alone():
    base = ask("x", step=1)
    assert ask("x", step=2).prompt_hash == base.prompt_hash
    others = [
        ask("y"),
        Request("other", base.messages),
        Request("system", (Message("assistant", "x"),)),
        Request("system", base.messages, schema_of(Rewrite)),
        Request("system", base.messages, max_tokens=3),
        Request("system", base.messages, sampling={"top_p": 0.5}),
    ]
    hashes = {request.prompt_hash for request in [base, *others]}
    assert len(hashes) == 7


def test_half_a_character_is_refused_in_a_prompt():
    with pytest.raises(UnicodeEncodeError):
        ask("\ud800")


@pytest.mark.parametrize("wrapper", [Retry, Limited, Budgeted, Recorded, Scripted])
def test_every_wrapper_is_a_client(wrapper: type):
    assert isinstance(wrapper.complete, types.FunctionType)
    assert isinstance(object.__new__(wrapper), Client)
