"""What a model keeps from step to step and from trial to trial, as pure functions.

A memory is written as JSON by `model_dump(mode="json")` and read by `Memory.model_validate`.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

from llm_eval.replies import Goal, NoteEdit, Rewrite

MAX_NOTES = 40
"""Most notes at a time, carried lessons included."""

RECENT_STEPS = 15
"""Steps that the model is shown again."""

EARLIER_GOALS = 5
"""Goals before the current one that the model is shown."""


class Kept(BaseModel):
    """A part of the memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Note(Kept):
    """One of the model's own notes.

    Attributes:
        id: stable within a trial, and never given twice in it.
        text: one line.
        kind: `lesson` and `to_try` were carried over from the trial before.
    """

    id: int
    text: str
    kind: str = "note"


class PlannedGoal(Kept):
    """A goal, and how long it was pursued.

    Attributes:
        goal: as the model put it.
        since: step of the trial at which it was first stated.
        until: step at which another took its place; None for the current one.
    """

    goal: Goal
    since: int
    until: int | None = None


class RecentStep(Kept):
    """What a step was and brought.

    Attributes:
        step: of the trial.
        action: its name.
        outcome: what came of it, in words, from the model's own view.
        invalid: why the reply was invalid; None if it was valid.
    """

    step: int
    action: str
    outcome: str
    invalid: str | None = None


class Memory(Kept):
    """All that is kept.

    Attributes:
        notes: by id.
        next_id: of the next note.
        goals: the current one last.
        recent: the newest last.
        earlier_trials: one summary for each finished trial.
    """

    notes: tuple[Note, ...] = ()
    next_id: int = 1
    goals: tuple[PlannedGoal, ...] = ()
    recent: tuple[RecentStep, ...] = ()
    earlier_trials: tuple[str, ...] = ()


def edit_notes(memory: Memory, edit: NoteEdit) -> tuple[Memory, str]:
    """Makes the edit if it can be made.

    Returns:
        The next memory, and one sentence about the edit for the model; empty if it made none.
    """
    if edit.op == "none":
        return memory, ""
    if edit.op == "add":
        return _add(memory, edit.text)
    place = next((i for i, note in enumerate(memory.notes) if note.id == edit.id), None)
    if place is None:
        return memory, f"Your note edit did nothing: there is no note {edit.id}."
    before, after = memory.notes[:place], memory.notes[place + 1 :]
    if edit.op == "delete":
        return _with(memory, notes=before + after), f"Note {edit.id} was deleted."
    if not edit.text:
        return memory, "Your note edit did nothing: it had no text."
    changed = Note(id=memory.notes[place].id, text=edit.text)
    return _with(memory, notes=(*before, changed, *after)), f"Note {edit.id} was replaced."


def _add(memory: Memory, text: str | None) -> tuple[Memory, str]:
    if not text:
        return memory, "Your note edit did nothing: it had no text."
    if len(memory.notes) >= MAX_NOTES:
        full = f"you have {MAX_NOTES} notes, the most there can be; replace or delete one"
        return memory, f"Your note edit did nothing: {full}."
    note = Note(id=memory.next_id, text=text)
    added = _with(memory, notes=(*memory.notes, note), next_id=memory.next_id + 1)
    return added, f"Note {note.id} was added."


def set_goal(memory: Memory, goal: Goal, step: int) -> Memory:
    """Takes up a goal; one of the same type and cell goes on since when it was first stated."""
    if not memory.goals:
        return _with(memory, goals=(PlannedGoal(goal=goal, since=step),))
    *earlier, current = memory.goals
    if (current.goal.type, current.goal.cell) == (goal.type, goal.cell):
        same = PlannedGoal(goal=goal, since=current.since)
        return _with(memory, goals=(*earlier, same))
    ended = PlannedGoal(goal=current.goal, since=current.since, until=step)
    goals = (*earlier, ended, PlannedGoal(goal=goal, since=step))
    return _with(memory, goals=goals[-EARLIER_GOALS - 1 :])


def add_step(memory: Memory, step: RecentStep) -> Memory:
    """Keeps a step, and drops the oldest beyond `RECENT_STEPS`."""
    return _with(memory, recent=(*memory.recent, step)[-RECENT_STEPS:])


def end_trial(memory: Memory, summary: str, rewrite: Rewrite | None) -> Memory:
    """The memory at the next trial's start: summaries and the rewritten notes, nothing else.

    Args:
        memory: at the trial's end.
        summary: of the trial, in words.
        rewrite: the notes as the model rewrote them; None if it failed, which leaves none.
    """
    carried = rewrite or Rewrite(lessons=[], to_try=[])
    lines = [(text, "lesson") for text in carried.lessons]
    lines += [(text, "to_try") for text in carried.to_try]
    notes = tuple(Note(id=i, text=text, kind=kind) for i, (text, kind) in enumerate(lines, 1))
    summaries = (*memory.earlier_trials, summary)
    return Memory(notes=notes, next_id=len(notes) + 1, earlier_trials=summaries)


def _with(memory: Memory, **changes: Any) -> Memory:
    """The memory with some fields changed; the values are valid already."""
    return memory.model_copy(update=changes)
