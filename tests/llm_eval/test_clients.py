"""The protocol, and models built in."""

import json
import sys
import time
import types
from typing import Any

import pytest

from llm_eval.clients.base import Client, Message, Reply, Request, Usage
from llm_eval.clients.budget import Budgeted
from llm_eval.clients.connect import make_client
from llm_eval.clients.limit import Limited
from llm_eval.clients.recorded import Recorded
from llm_eval.clients.retry import Retry
from llm_eval.clients.scripted import Scripted, in_order, wander
from llm_eval.parsing import Invalid, read_reply
from llm_eval.replies import STEP_REPLIES, Rewrite, schema_of
from tests.llm_eval.fakes import ask, run, scripted_config


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


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_missing_sdk_says_how_to_get_it(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, name, None)
    config = scripted_config(provider=name, model="m")
    with pytest.raises(ValueError, match=rf"m needs the package {name}; pip install 'osj\[llm\]'"):
        make_client(config)


@pytest.mark.parametrize("wrapper", [Retry, Limited, Budgeted, Recorded, Scripted])
def test_every_wrapper_is_a_client(wrapper: type):
    assert isinstance(wrapper.complete, types.FunctionType)
    assert isinstance(object.__new__(wrapper), Client)
