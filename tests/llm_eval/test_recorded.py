"""What was recorded is neither asked nor paid again."""

import asyncio
from typing import Any

import pytest

from llm_eval.clients.base import Reply
from llm_eval.clients.budget import Budget
from llm_eval.clients.connect import record, wrap
from llm_eval.clients.errors import GaveUp, PromptChanged
from llm_eval.clients.limit import Limits
from llm_eval.clients.recorded import Recorded
from llm_eval.clients.scripted import Answer, Scripted, in_order
from llm_eval.files import read_lines
from llm_eval.records import Replies
from tests.llm_eval.fakes import ask, paid, run, scripted_config


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
