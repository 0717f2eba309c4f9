"""The user messages: one for each step, and one at a trial's end."""

from collections.abc import Sequence

from llm_eval.memory import Memory, Note, PlannedGoal, RecentStep
from llm_eval.prompts import fill
from llm_eval.replies import LONGEST_TEXT, MAX_LESSONS, MAX_TO_TRY
from llm_eval.views.base import GameText
from llm_eval.views.sight import Sight
from llm_eval.views.witness import Witness, last_seen
from llm_eval.views.words import listed, place
from osj_envs.seats import SeatView
from osj_envs.trials import MultiTrial

KINDS = {"note": "", "lesson": "(lesson) ", "to_try": "(to try) "}
"""Before a note's text."""


def step_message(
    env: MultiTrial,
    game: GameText,
    view: SeatView,
    sight: Sight,
    memory: Memory,
    witness: Witness,
    told: Sequence[str],
) -> str:
    """What a seat reads at a step.

    Args:
        env: the game.
        game: its texts.
        view: the seat's own.
        sight: the same, laid on the map.
        memory: the seat's own.
        witness: what it has seen in this trial, this view included.
        told: what came of its last action, and of its last reply.
    """
    legal = view.legal_actions.tolist()
    lines = game.actions(sight, view.evidence)
    return fill(
        "step",
        trial=sight.own.trial + 1,
        trials=env.num_trials,
        step=sight.own.step,
        steps=env.trial_length,
        rules=game.rules_known(view.evidence),
        notes=notes_text(memory.notes),
        earlier=earlier_text(memory),
        others=others_text(witness, sight),
        plan=plan_text(memory.goals),
        last=listed([*told, *witness.events]),
        recent=listed(map(_recent, memory.recent)),
        now=game.now(sight, view.evidence, witness.trees),
        actions=listed(line for line, is_legal in zip(lines, legal, strict=True) if is_legal),
    )


def rewrite_message(env: MultiTrial, trial: int, rules: str, memory: Memory, summary: str) -> str:
    """What a seat reads at a trial's end.

    Args:
        env: the game.
        trial: that ended, from 0.
        rules: the seat's own record as text.
        memory: at the trial's end.
        summary: of the trial.
    """
    return fill(
        "rewrite",
        trial=trial + 1,
        trials=env.num_trials,
        rules=rules,
        notes=notes_text(memory.notes),
        earlier=earlier_text(memory),
        summary=summary,
        lessons=MAX_LESSONS,
        to_try=MAX_TO_TRY,
        longest=LONGEST_TEXT,
    )


def notes_text(notes: Sequence[Note]) -> str:
    """The notes by id."""
    return "\n".join(f"[{note.id}] {KINDS[note.kind]}{note.text}" for note in notes) or "none"


def earlier_text(memory: Memory) -> str:
    """The summaries of the trials before."""
    return "\n".join(memory.earlier_trials) or "none"


def others_text(witness: Witness, sight: Sight) -> str:
    """The other agents as they were last seen."""
    return listed((last_seen(o, sight.own.step) for o in witness.others), "none seen yet")


def plan_text(goals: Sequence[PlannedGoal]) -> str:
    """The current goal and the ones before."""
    if not goals:
        return "none yet"
    *earlier, current = goals
    lines = [f"now, since step {current.since}: {_goal(current)}"]
    lines += [f"before, steps {g.since} to {g.until}: {_goal(g)}" for g in reversed(earlier)]
    return listed(lines)


def _goal(planned: PlannedGoal) -> str:
    goal = planned.goal
    where = "" if goal.cell is None else f" at {place((goal.cell[0], goal.cell[1]))}"
    return f"{goal.type}{where}" + (f" ({goal.why})" if goal.why else "")


def _recent(step: RecentStep) -> str:
    return f"step {step.step}, {step.action}: {step.outcome}"
