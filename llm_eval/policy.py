"""A language model in a seat: it is asked at each step, and rewrites its notes at trials' ends."""

import functools
from typing import Any

from llm_eval.carry import Carry
from llm_eval.clients.base import Client
from llm_eval.memory import edit_notes, end_trial, set_goal
from llm_eval.parsing import Invalid
from llm_eval.prompts.system import AgentRole, Reveal, reveal_text, system_prompt
from llm_eval.prompts.user import rewrite_message, step_message
from llm_eval.records import StepRecord
from llm_eval.replies import STEP_REPLIES, Rewrite
from llm_eval.seated import Recorder, Seated, trial_summary
from llm_eval.views.sight import Sight
from osj_envs.seats import SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Evidence, Latent


class LanguageModel(Seated):
    """See `Seated`.

    Args:
        client: of the model; replies are recorded by its wrapper.
        env: the game.
        seat: whose seat it is, for the records alone.
        player: its name in the records.
        role: stated in the system prompt.
        recorder: is handed each step's record.

    Raises:
        ValueError: an unknown role, or a game without prompts.
    """

    def __init__(
        self,
        client: Client,
        env: MultiTrial,
        seat: int = 0,
        player: str = "llm",
        role: AgentRole = "none",
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(client, env, seat, player, recorder)
        self._reply = STEP_REPLIES[env.name]
        self._system = functools.cache(functools.partial(system_prompt, env, role))
        self._system("")

    async def end_trial(self, carry: Carry, trial: int, evidence: Evidence) -> Carry:
        """Has the model rewrite its notes; a failed rewrite leaves none.

        Args:
            carry: after the trial's last outcome.
            trial: that ended, from 0.
            evidence: the seat's own record at its end.
        """
        summary = trial_summary(carry, trial)
        rules = self._game.rules_known(evidence)
        prompt = rewrite_message(self._env, trial, rules, carry.memory, summary)
        tags = {"trial": trial, "step": carry.steps - 1, "kind": "rewrite"}
        found = await self._ask(self._system(carry.revealed), prompt, Rewrite, tags)
        rewrite = None if isinstance(found, Invalid) else found
        self._hand_on(
            StepRecord(
                "rewrite",
                trial,
                carry.steps - 1,
                self._seat,
                self._player,
                prompt=prompt,
                decision=rewrite.model_dump(mode="json") if rewrite else None,
                invalid=str(found.kind) if isinstance(found, Invalid) else None,
            )
        )
        memory = end_trial(carry.memory, summary, rewrite)
        return Carry(memory=memory, revealed=carry.revealed)

    async def _decide(self, carry: Carry, view: SeatView, sight: Sight) -> Carry:
        prompt = step_message(
            self._env, self._game, view, sight, carry.memory, carry.witness, carry.told
        )
        tags = {"trial": sight.own.trial, "step": sight.own.step, "kind": "step"}
        found = await self._ask(self._system(carry.revealed), prompt, self._reply, tags)
        if not isinstance(found, Invalid):
            found = self._check_legal(found.action, view) or found
        if isinstance(found, Invalid):
            return carry.having(pending=self._stays(sight, prompt, found))
        memory, edited = edit_notes(carry.memory, found.note)
        memory = set_goal(memory, found.goal, sight.own.step)
        told = (edited,) if edited else ()
        pending = self._does(sight, prompt, found.action, found, told)
        return carry.having(memory=memory, pending=pending)


class Informed(LanguageModel):
    """A model that is told hidden rules at the start (a control, never a fair player).

    Args:
        reveal: what it is told.
        **options: of `LanguageModel`.
    """

    def __init__(self, *options: Any, reveal: Reveal = "all", **named: Any) -> None:
        super().__init__(*options, **named)
        self._reveal = reveal

    def told(self, carry: Carry, latent: Latent) -> Carry:
        """The carry with the hidden rules in words."""
        return carry.having(revealed=reveal_text(self._game, latent, self._reveal))
