"""From a model's reply to its decision, or to the reason why there is none.

The reader takes JSON alone, in fences, in prose, or in the reasoning where the answer is empty.
It never chooses between two objects, completes a cut one, or looks inside a broken one.
"""

import dataclasses
import enum
import json
import re
from collections.abc import Collection
from typing import Any, TypeVar

from pydantic import ValidationError

from llm_eval.clients.base import Reply
from llm_eval.replies import Part

Read = TypeVar("Read", bound=Part)


class InvalidKind(enum.StrEnum):
    """Why a reply is invalid; each is the model's doing."""

    EMPTY = "empty"
    REFUSED = "refused"
    NO_JSON = "no_json"
    BROKEN_JSON = "broken_json"
    TRUNCATED = "truncated"
    TWO_OBJECTS = "two_objects"
    WRONG_FIELDS = "wrong_fields"
    ILLEGAL_ACTION = "illegal_action"


@dataclasses.dataclass(frozen=True)
class Invalid:
    """A reply without a decision.

    Attributes:
        kind: why.
        message: one sentence, told to the model at its next step.
    """

    kind: InvalidKind
    message: str


SENTENCES = {
    InvalidKind.EMPTY: "Your reply was empty.",
    InvalidKind.REFUSED: "You refused to reply.",
    InvalidKind.NO_JSON: "Your reply held no JSON object.",
    InvalidKind.BROKEN_JSON: "Your reply was no valid JSON.",
    InvalidKind.TRUNCATED: "Your reply was cut off before its end.",
    InvalidKind.TWO_OBJECTS: "Your reply held more than one JSON object.",
}

THINK, END_THINK = "<think>", "</think>"
"""Around thinking that some local servers leave before the answer; the first may be missing."""

JSON_LIKE = re.compile(r'\{\s*(?:["\'}]|\Z)|\[\s*\{')
"""How an object, or a list of objects, begins; other brackets are prose."""


def read_reply(reply: Reply, model: type[Read]) -> Read | Invalid:
    """The decision in a reply.

    Args:
        reply: of a client.
        model: what is expected: a game's step, or `Rewrite`.
    """
    if reply.finish_reason == "refusal":
        return _invalid(InvalidKind.REFUSED)
    text, was_cut = _answer(reply)
    if not text.strip():
        return _invalid(InvalidKind.TRUNCATED if was_cut else InvalidKind.EMPTY)
    found = find_object(text, was_cut)
    return found if isinstance(found, Invalid) else _validated(found, model)


def check_legal(action: str, legal: Collection[str]) -> Invalid | None:
    """The reason why an action cannot be done now, if it cannot."""
    if action in legal:
        return None
    return Invalid(
        InvalidKind.ILLEGAL_ACTION,
        f"The action {action} was not possible; possible were {', '.join(legal)}.",
    )


def find_object(text: str, was_cut: bool = False) -> dict[str, Any] | Invalid:
    """The one JSON object in a text.

    Args:
        text: of the reply.
        was_cut: the reply ended at its token limit.
    """
    found: list[dict[str, Any]] = []
    place = 0
    while (start := JSON_LIKE.search(text, place)) is not None:
        end = _end_of(text, start.start())
        if end is None:
            return _invalid(InvalidKind.TRUNCATED)
        value = _load(text[start.start() : end])
        if not isinstance(value, dict):
            return _invalid(InvalidKind.BROKEN_JSON)
        found.append(value)
        place = end
    if was_cut and text[place:].strip(" \t\r\n`"):
        return _invalid(InvalidKind.TRUNCATED)
    if not found:
        return _invalid(InvalidKind.NO_JSON)
    # An object that is merely repeated leaves no doubt.
    if any(_canonical(other) != _canonical(found[0]) for other in found[1:]):
        return _invalid(InvalidKind.TWO_OBJECTS)
    return found[0]


def _answer(reply: Reply) -> tuple[str, bool]:
    """The text to read, and whether it was cut."""
    was_cut = reply.finish_reason == "length"
    thinking, closed, answer = reply.text.rpartition(END_THINK)
    if not closed and answer.lstrip().startswith(THINK):
        return "", True
    return (answer if answer.strip() else reply.reasoning or thinking), was_cut


def _canonical(fields: dict[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True)


def _end_of(text: str, start: int) -> int | None:
    """The place after the bracket that closes the one at `start`; None if nothing does."""
    depth, in_string, place = 0, False, start
    while place < len(text):
        letter = text[place]
        if letter == "\\" and in_string:
            place += 1
        elif letter == '"':
            in_string = not in_string
        elif letter in "{[" and not in_string:
            depth += 1
        elif letter in "}]" and not in_string:
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return None


def _load(text: str) -> Any:
    """The value, or None where the text is not strictly JSON."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that names a field twice could mean either."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field is there twice")
    return fields


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _validated(fields: dict[str, Any], model: type[Read]) -> Read | Invalid:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    fault = first["msg"].removeprefix("Value error, ")
    fault = fault[:1].lower() + fault[1:]
    return Invalid(InvalidKind.WRONG_FIELDS, f"Your reply's field {place} was wrong: {fault}.")


def _invalid(kind: InvalidKind) -> Invalid:
    return Invalid(kind, SENTENCES[kind])
