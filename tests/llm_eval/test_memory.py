"""Notes, plans and recent steps change as the model was told they would."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_eval.memory import (
    EARLIER_GOALS,
    MAX_NOTES,
    RECENT_STEPS,
    Memory,
    RecentStep,
    add_step,
    edit_notes,
    end_trial,
    set_goal,
)
from llm_eval.replies import Goal, NoteEdit, Rewrite


def edit(op: str, number: int | None = None, text: str | None = None) -> NoteEdit:
    return NoteEdit.model_validate({"op": op, "id": number, "text": text})


def noted(*texts: str) -> Memory:
    memory = Memory()
    for text in texts:
        memory, _ = edit_notes(memory, edit("add", text=text))
    return memory


def notes_of(memory: Memory) -> dict[int, str]:
    return {note.id: note.text for note in memory.notes}


def test_ids_are_stable_and_never_given_twice():
    memory = noted("a", "b", "c")
    memory, told = edit_notes(memory, edit("delete", 3))
    assert told == "Note 3 was deleted."
    memory, told = edit_notes(memory, edit("replace", 1, "A"))
    assert told == "Note 1 was replaced."
    memory, told = edit_notes(memory, edit("add", text="d"))
    assert told == "Note 4 was added."
    assert notes_of(memory) == {1: "A", 2: "b", 4: "d"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (edit("none"), ""),
        (edit("none", 1, "x"), ""),
        (edit("delete", 7), "Your note edit did nothing: there is no note 7."),
        (edit("delete"), "Your note edit did nothing: there is no note None."),
        (edit("replace", 7, "x"), "Your note edit did nothing: there is no note 7."),
        (edit("replace", 1), "Your note edit did nothing: it had no text."),
        (edit("add", text="  "), "Your note edit did nothing: it had no text."),
        (edit("add"), "Your note edit did nothing: it had no text."),
    ],
)
def test_an_edit_that_cannot_be_made_changes_nothing_and_is_told(change: NoteEdit, told: str):
    memory = noted("a")
    assert edit_notes(memory, change) == (memory, told)


def test_notes_have_a_limit():
    memory = noted(*map(str, range(MAX_NOTES)))
    full, told = edit_notes(memory, edit("add", text="x"))
    assert full == memory
    assert "replace or delete one" in told
    memory, _ = edit_notes(memory, edit("delete", 5))
    memory, _ = edit_notes(memory, edit("add", text="x"))
    assert notes_of(memory)[MAX_NOTES + 1] == "x"


def goal(kind: str, row: int = 0) -> Goal:
    return Goal(type=kind, cell=[row, 1], why="because")


def test_a_goal_goes_on_until_another_takes_its_place():
    memory = Memory()
    for step, kind in enumerate(["eat", "eat", "clean", "eat"]):
        memory = set_goal(memory, goal(kind), step)
    spans = [(plan.goal.type, plan.since, plan.until) for plan in memory.goals]
    assert spans == [("eat", 0, 2), ("clean", 2, 3), ("eat", 3, None)]
    assert set_goal(memory, goal("eat", row=9), 4).goals[-1].since == 4


def test_only_so_many_goals_and_steps_are_kept():
    memory = Memory()
    for step in range(50):
        memory = set_goal(memory, goal("eat", row=step), step)
        memory = add_step(memory, RecentStep(step=step, action="stay", outcome="nothing"))
    assert [plan.since for plan in memory.goals] == list(range(50))[-EARLIER_GOALS - 1 :]
    assert [each.step for each in memory.recent] == list(range(50))[-RECENT_STEPS:]
    assert RECENT_STEPS == 15


def busy() -> Memory:
    memory = set_goal(noted("a", "b"), goal("eat"), 1)
    memory = add_step(memory, RecentStep(step=1, action="fire", outcome="hit", invalid="empty"))
    return end_trial(memory, "first", None)


def test_a_trials_end_keeps_summaries_and_the_rewritten_notes_only():
    memory = set_goal(add_step(busy(), RecentStep(step=1, action="x", outcome="y")), goal("a"), 1)
    rewrite = Rewrite(lessons=["one", "two"], to_try=["three"])
    after = end_trial(memory, "second", rewrite)
    assert after.earlier_trials == ("first", "second")
    kinds = [(note.id, note.text, note.kind) for note in after.notes]
    assert kinds == [(1, "one", "lesson"), (2, "two", "lesson"), (3, "three", "to_try")]
    assert (after.goals, after.recent, after.next_id) == ((), (), 4)


def test_a_failed_rewrite_leaves_no_notes():
    assert busy() == Memory(earlier_trials=("first",))


edits = st.builds(
    edit,
    st.sampled_from(["none", "add", "replace", "delete"]),
    st.none() | st.integers(-1, 6),
    st.none() | st.text(max_size=9),
)


@given(st.lists(edits, max_size=12), st.booleans())
def test_a_memory_survives_json_and_its_ids_are_unique(changes: list[NoteEdit], is_later: bool):
    memory = busy() if is_later else Memory()
    for step, change in enumerate(changes):
        memory, _ = edit_notes(memory, change)
        memory = set_goal(memory, goal("eat", row=step // 2), step)
    text = json.dumps(memory.model_dump(mode="json"))
    assert Memory.model_validate(json.loads(text)) == memory
    ids = [note.id for note in memory.notes]
    assert len(set(ids)) == len(ids)
    assert all(number < memory.next_id for number in ids)
