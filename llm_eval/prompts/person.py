"""What a person in a seat reads: the same as a language model, without what a person remembers."""

from collections.abc import Sequence

from llm_eval.keys import KEYS
from llm_eval.memory import Memory
from llm_eval.prompts import fill
from llm_eval.prompts.user import earlier_text, others_text
from llm_eval.replies import ACTIONS
from llm_eval.views.base import GameText
from llm_eval.views.sight import Sight
from llm_eval.views.witness import Witness
from llm_eval.views.words import listed, points
from osj_envs.seats import SeatView
from osj_envs.trials import MultiTrial


def person_message(
    env: MultiTrial,
    game: GameText,
    view: SeatView,
    sight: Sight,
    memory: Memory,
    witness: Witness,
    told: Sequence[str],
    reward: float,
) -> str:
    """What a person reads at a step.

    Args:
        env: the game.
        game: its texts.
        view: the seat's own.
        sight: the same, laid on the map.
        memory: the seat's own; of it the earlier trials are told.
        witness: what it has seen in this trial, this view included.
        told: what came of its last action.
        reward: its own of this trial so far.
    """
    return fill(
        "person",
        trial=sight.own.trial + 1,
        trials=env.num_trials,
        step=sight.own.step,
        steps=env.trial_length,
        points=points(reward),
        rules=game.rules_known(view.evidence),
        earlier=earlier_text(memory),
        others=others_text(witness, sight),
        last=listed([*told, *witness.events]),
        now=game.now(sight, view.evidence, witness.trees),
        actions=_actions(game, view, sight),
    )


def _actions(game: GameText, view: SeatView, sight: Sight) -> str:
    """What each action that can be done would do, after its key."""
    names, legal = ACTIONS[game.name], view.legal_actions.tolist()
    lines = zip(names, game.actions(sight, view.evidence), legal, strict=True)
    return "\n".join(f"[{KEYS[name]}] {line}" for name, line, is_legal in lines if is_legal)
