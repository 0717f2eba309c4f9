"""Replies are read as the model meant them, or not at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_eval.clients.base import Reply
from llm_eval.parsing import Invalid, InvalidKind, check_legal, find_object, read_reply
from llm_eval.replies import (
    ACTIONS,
    LONGEST_TEXT,
    MAX_LESSONS,
    MAX_TO_TRY,
    STEP_REPLIES,
    CleanupReply,
    HarvestReply,
    Rewrite,
    one_line,
    schema_of,
)
from osj_envs.grid.codes import Action

FIELDS = {
    "why": "the river is dirty",
    "mode": "clean",
    "goal": {"type": "clean", "cell": [3, 4], "why": "near"},
    "note": {"op": "add", "id": None, "text": "north is water"},
    "action": "fire",
}
GOOD = json.dumps(FIELDS)
OTHER = json.dumps(FIELDS | {"action": "stay"})


def read(text: str, **fields: object) -> CleanupReply | Invalid:
    return read_reply(Reply(text, **fields), CleanupReply)  # type: ignore[arg-type]


def kind(text: str, **fields: object) -> InvalidKind:
    found = read(text, **fields)
    assert isinstance(found, Invalid)
    assert found.message.endswith(".")
    return found.kind


EXPECTED = CleanupReply.model_validate(FIELDS)

ACCEPTED = {
    "bare": GOOD,
    "fenced": f"```json\n{GOOD}\n```",
    "fence without a name": f"```\n{GOOD}\n```",
    "in prose": f"I think {{x, y}} [row 3] matters.\n{GOOD}\nThat is my move.",
    "repeated": f"{GOOD}\nAgain: {json.dumps(dict(reversed(FIELDS.items())))}",
    "after thinking": f'<think>Maybe {{"action": "stay"}}?</think>\n{GOOD}',
    "after thinking that began in the prompt": f"Maybe {OTHER}?</think>{GOOD}",
    "indented": json.dumps(FIELDS, indent=2),
    "spelled its way": GOOD.replace('"fire"', '" Fire "'),
    "with a field of its own": json.dumps(FIELDS | {"confidence": 0.4}),
    "brackets in strings": GOOD.replace("near", 'near {[ \\" the dam'),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_one_whole_object_is_read_wherever_it_stands(name: str):
    found = read(ACCEPTED[name])
    assert isinstance(found, CleanupReply)
    assert found.action == "fire"
    assert found.note == EXPECTED.note


def test_the_reasoning_is_read_only_where_the_answer_is_empty():
    assert read(" \n", reasoning=f"So: {GOOD}") == EXPECTED
    assert kind("I will fire.", reasoning=GOOD) is InvalidKind.NO_JSON
    assert kind("", reasoning=GOOD + OTHER) is InvalidKind.TWO_OBJECTS


def without(field: str) -> str:
    return json.dumps({name: value for name, value in FIELDS.items() if name != field})


REFUSED = {
    "": InvalidKind.EMPTY,
    "north": InvalidKind.NO_JSON,
    '"north"': InvalidKind.NO_JSON,
    GOOD + OTHER: InvalidKind.TWO_OBJECTS,
    GOOD + "{}": InvalidKind.TWO_OBJECTS,
    f"[{GOOD}]": InvalidKind.BROKEN_JSON,
    f"[{GOOD}, {OTHER}]": InvalidKind.BROKEN_JSON,
    f"[{GOOD},": InvalidKind.TRUNCATED,
    GOOD + '{"why": "no, wait': InvalidKind.TRUNCATED,
    '{"plan": [' + GOOD: InvalidKind.TRUNCATED,
    "{": InvalidKind.TRUNCATED,
    "<think>" + GOOD: InvalidKind.TRUNCATED,
    '{"plan": ' + GOOD + "}": InvalidKind.WRONG_FIELDS,
    GOOD.replace('"', "'"): InvalidKind.BROKEN_JSON,
    GOOD[:-1] + ",}" + OTHER: InvalidKind.BROKEN_JSON,
    GOOD[:-1] + ', "action": "stay"}': InvalidKind.BROKEN_JSON,
    GOOD.replace("[3, 4]", "[NaN, 4]"): InvalidKind.BROKEN_JSON,
    GOOD.replace("[3, 4]", "[" + "9" * 5000 + ", 4]"): InvalidKind.BROKEN_JSON,
    GOOD.replace("[3, 4]", "[" * 100_000 + "]" * 100_000): InvalidKind.BROKEN_JSON,
    GOOD.replace("[3, 4]", "[3, 4, 5]"): InvalidKind.WRONG_FIELDS,
    GOOD.replace('"fire"', '"zap"'): InvalidKind.WRONG_FIELDS,
    GOOD.replace('"fire"', '"fire north"'): InvalidKind.WRONG_FIELDS,
    GOOD.replace('"fire"', "6"): InvalidKind.WRONG_FIELDS,
    GOOD.replace('"fire"', '["fire"]'): InvalidKind.WRONG_FIELDS,
    GOOD.replace('"clean", "goal"', '"wait", "goal"'): InvalidKind.WRONG_FIELDS,
    GOOD.replace("null", '"1"'): InvalidKind.WRONG_FIELDS,
    without("action"): InvalidKind.WRONG_FIELDS,
    without("mode"): InvalidKind.WRONG_FIELDS,
    without("goal"): InvalidKind.WRONG_FIELDS,
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30] + text[-30:])
def test_anything_else_is_refused_with_its_reason(text: str):
    assert kind(text) is REFUSED[text]


def test_a_reply_that_ended_at_its_limit_counts_only_if_nothing_was_to_follow():
    assert read(GOOD + "\n``` \n\n", finish_reason="length") == EXPECTED
    assert kind(GOOD + "\nBut", finish_reason="length") is InvalidKind.TRUNCATED
    assert kind("", finish_reason="length") is InvalidKind.TRUNCATED
    assert kind("", reasoning="Hmm", finish_reason="length") is InvalidKind.TRUNCATED


def test_a_refusal_is_told_apart():
    assert kind(GOOD, finish_reason="refusal") is InvalidKind.REFUSED


def test_an_action_that_is_not_possible_now():
    assert check_legal("stay", ["north", "stay"]) is None
    refused = check_legal("fire", ["north", "stay"])
    assert refused is not None
    assert refused.kind is InvalidKind.ILLEGAL_ACTION
    assert "north, stay" in refused.message


@given(st.integers(1, len(GOOD) - 1), st.text(max_size=20))
def test_no_cut_of_a_reply_yields_an_action(length: int, prose: str):
    assert isinstance(read(prose.replace("}", "") + GOOD[:length]), Invalid)


@given(st.text(), st.sampled_from(["stop", "length", "refusal"]))
def test_the_reader_never_fails(text: str, finish: str):
    found = find_object(text)
    assert isinstance(found, (dict, Invalid))
    assert isinstance(read(text, reasoning=text, finish_reason=finish), Invalid)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FIELDS, "id"]), inner)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*FIELDS]), json_values, max_size=5))
def test_a_reply_of_any_json_is_read_or_refused(changes: dict[str, object]):
    found = read(json.dumps(FIELDS | changes))
    if isinstance(found, CleanupReply):
        assert found.action == str(changes.get("action", "fire")).strip().lower()


prose = st.text(st.characters(exclude_characters='{}[]"'), max_size=30)


@given(prose, prose, st.sampled_from(ACTIONS["cleanup"]), st.text(max_size=30))
def test_the_action_read_is_the_one_written(before: str, after: str, action: str, why: str):
    fields = FIELDS | {"action": action, "why": why}
    text = before.replace("<think>", "") + json.dumps(fields) + after.replace("</think>", "")
    found = read(text.replace("</think>", ""))
    assert isinstance(found, CleanupReply)
    assert found.action == action


@given(st.text(st.characters()))
def test_words_of_a_model_are_one_printable_line(text: str):
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= LONGEST_TEXT
    assert one_line(line) == line
    line.encode("utf-8")


def test_half_a_character_is_replaced():
    assert read(GOOD.replace("near", "\\ud800")).goal.why == "?"  # type: ignore[union-attr]


def test_a_rewrite_keeps_as_much_as_it_may():
    text = json.dumps({"lessons": ["", *map(str, range(20))], "to_try": list("abcdef")})
    found = read_reply(Reply(text), Rewrite)
    assert isinstance(found, Rewrite)
    assert found.lessons == [str(i) for i in range(MAX_LESSONS)]
    assert found.to_try == list("abcd")[:MAX_TO_TRY]
    assert isinstance(read_reply(Reply('{"lessons": []}'), Rewrite), Invalid)


def objects(node: object) -> list[dict[str, object]]:
    if isinstance(node, list):
        return [found for each in node for found in objects(each)]
    if not isinstance(node, dict):
        return []
    inner = [found for each in node.values() for found in objects(each)]
    return [node, *inner] if node.get("type") == "object" else inner


@pytest.mark.parametrize("model", [*STEP_REPLIES.values(), Rewrite])
def test_schemas_suit_strict_endpoints(model: type):
    schema = schema_of(model)
    text = json.dumps(schema.json_schema)
    assert schema.name.isidentifier()
    assert "reasoning" not in text
    assert "default" not in text
    assert "maxLength" not in text
    found = objects(schema.json_schema)
    assert found
    for node in found:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])  # type: ignore[call-overload]


def test_actions_are_named_by_their_codes():
    names = {Action.BEAM: "fire"}
    assert ACTIONS["cleanup"] == tuple(names.get(a, a.name.lower()) for a in sorted(Action))
    names = {Action.BEAM: "zap"}
    expected = tuple(names.get(a, a.name.lower()) for a in sorted(Action))
    assert ACTIONS["harvest"] == expected[: Action.PICK_UP]


@pytest.mark.parametrize("game", STEP_REPLIES)
def test_the_schema_offers_every_action(game: str):
    offered = schema_of(STEP_REPLIES[game]).json_schema["properties"]["action"]["enum"]
    assert tuple(offered) == ACTIONS[game]


def test_each_game_has_its_own_modes():
    text = GOOD.replace('"clean", "goal"', '"wait", "goal"').replace("fire", "zap")
    assert isinstance(read_reply(Reply(text), HarvestReply), HarvestReply)
    assert isinstance(read_reply(Reply(text), CleanupReply), Invalid)
