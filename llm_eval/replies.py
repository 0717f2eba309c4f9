"""What a model has to reply: the one object of a step, and the notes rewritten after a trial."""

import functools
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from llm_eval.clients.base import Schema

MAX_LESSONS = 12
MAX_TO_TRY = 4
"""What is beyond these of a rewrite is dropped."""

LONGEST_TEXT = 300
"""Characters of a note, a lesson or a reason; what is beyond is dropped."""

CLEANUP_ACTIONS = (
    "north",
    "south",
    "east",
    "west",
    "turn_left",
    "turn_right",
    "fire",
    "stay",
    "pick_up",
)
"""Names of OpenCleanup's actions, by their code."""

HARVEST_ACTIONS = (
    "north",
    "south",
    "east",
    "west",
    "turn_left",
    "turn_right",
    "zap",
    "stay",
)
"""Names of OpenHarvest's actions, by their code."""


def one_line(text: str) -> str:
    """A model's words as one printable line, cut to length, so that no reply can draw blocks.

    Whatever is not printable is a space; half a character is a question mark.
    """
    valid = text.encode("utf-8", "replace").decode("utf-8")
    printable = "".join(letter if letter.isprintable() else " " for letter in valid)
    return " ".join(printable.split())[:LONGEST_TEXT].rstrip()


def _spelling(value: object) -> object:
    """Names may differ in case, spaces and hyphens, never in their letters."""
    if not isinstance(value, str):
        return value
    return "_".join(value.replace("-", " ").replace("_", " ").lower().split())


def _two_numbers(cell: list[int] | None) -> list[int] | None:
    if cell is not None and len(cell) != 2:
        raise ValueError("a cell is [row, column]")
    return cell


def _first_lines(most: int) -> AfterValidator:
    return AfterValidator(lambda texts: [text for text in texts if text][:most])


Line = Annotated[str, AfterValidator(one_line)]
Name = BeforeValidator(_spelling)


class Part(BaseModel):
    """An object within a reply; what it has beyond the declared fields is not looked at."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Goal(Part):
    """What the model is after.

    Attributes:
        type: what it wants to do there, in a word or two.
        cell: [row, column], or None for no place in particular.
        why: the reason.
    """

    type: Line
    cell: Annotated[list[int] | None, AfterValidator(_two_numbers)] = None
    why: Line = ""


class NoteEdit(Part):
    """At most one change of the notes.

    Attributes:
        op: the change.
        id: of the note to replace or delete.
        text: of the new note.
    """

    op: Annotated[Literal["none", "add", "replace", "delete"], Name] = "none"
    id: int | None = None
    text: Line | None = None


class StepReply(Part):
    """The reply of a step; a game narrows `mode` and `action`.

    Attributes:
        why: the reason of the move; another name than this is refused by some endpoints.
        mode: what kind of thing the model is doing.
        goal: what it is after.
        note: its change of the notes.
        action: the one thing that it does.
    """

    why: Line = ""
    mode: str
    goal: Goal
    note: NoteEdit = NoteEdit()
    action: str


class CleanupReply(StepReply):
    """The reply of a step of OpenCleanup."""

    mode: Annotated[Literal["craft", "clean", "harvest", "explore"], Name]
    action: Annotated[Literal[CLEANUP_ACTIONS], Name]  # type: ignore[valid-type]


class HarvestReply(StepReply):
    """The reply of a step of OpenHarvest."""

    mode: Annotated[Literal["harvest", "wait", "explore", "travel", "zap"], Name]
    action: Annotated[Literal[HARVEST_ACTIONS], Name]  # type: ignore[valid-type]


class CleanupChoice(Part):
    """What a person chose in OpenCleanup."""

    action: Annotated[Literal[CLEANUP_ACTIONS], Name]  # type: ignore[valid-type]


class HarvestChoice(Part):
    """What a person chose in OpenHarvest."""

    action: Annotated[Literal[HARVEST_ACTIONS], Name]  # type: ignore[valid-type]


class Rewrite(Part):
    """The notes after a trial.

    Attributes:
        lessons: what was learned.
        to_try: what to try in the next trial.
    """

    lessons: Annotated[list[Line], _first_lines(MAX_LESSONS)] = Field(
        json_schema_extra={"maxItems": MAX_LESSONS}
    )
    to_try: Annotated[list[Line], _first_lines(MAX_TO_TRY)] = Field(
        json_schema_extra={"maxItems": MAX_TO_TRY}
    )


STEP_REPLIES: dict[str, type[StepReply]] = {"cleanup": CleanupReply, "harvest": HarvestReply}
"""The reply of each game."""

CHOICES: dict[str, type[CleanupChoice] | type[HarvestChoice]] = {
    "cleanup": CleanupChoice,
    "harvest": HarvestChoice,
}
"""The choice of a person in each game."""

ACTIONS: dict[str, tuple[str, ...]] = {"cleanup": CLEANUP_ACTIONS, "harvest": HARVEST_ACTIONS}
"""The names of each game's actions, by their code."""


@functools.cache
def schema_of(model: type[Part]) -> Schema:
    """The JSON schema of a reply as strict endpoints take it."""
    return Schema(model.__name__, _strict(model.model_json_schema()))


def _strict(node: Any) -> Any:
    """A schema whose objects list all properties as required, allow no others and no defaults."""
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, Mapping):
        return node
    strict = {key: _strict(value) for key, value in node.items() if key in _KEPT}
    for group in ("properties", "$defs"):
        if group in node:
            strict[group] = {name: _strict(each) for name, each in node[group].items()}
    if node.get("type") == "object":
        strict |= {"required": list(node["properties"]), "additionalProperties": False}
    return strict


_KEPT = frozenset({"type", "enum", "anyOf", "items", "$ref", "maxItems"})
"""Keywords of pydantic's schemas that strict endpoints take; the rest is said in the prompt."""
