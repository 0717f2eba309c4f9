"""A person in a seat: asked at each step for one action; what they remember is their own."""

from llm_eval.carry import Carry
from llm_eval.clients.base import Client
from llm_eval.memory import end_trial
from llm_eval.parsing import Invalid
from llm_eval.prompts.person import person_message
from llm_eval.prompts.system import rules_for_a_person
from llm_eval.replies import CHOICES
from llm_eval.seated import Recorder, Seated, trial_summary
from llm_eval.views.sight import Sight
from osj_envs.seats import SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Evidence


class Human(Seated):
    """See `Seated`.

    Args:
        client: that shows the person each step and takes the answer.
        env: the game.
        seat: whose seat it is; the person is told it.
        player: its name in the records.
        recorder: is handed each step's record.

    Raises:
        ValueError: a game without texts.
    """

    def __init__(
        self,
        client: Client,
        env: MultiTrial,
        seat: int = 0,
        player: str = "human",
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(client, env, seat, player, recorder)
        self._choice = CHOICES[env.name]
        self._rules = rules_for_a_person(env)

    async def end_trial(self, carry: Carry, trial: int, evidence: Evidence) -> Carry:
        """Keeps the trial's summary; nothing is asked."""
        del evidence
        return Carry(memory=end_trial(carry.memory, trial_summary(carry, trial), None))

    async def _decide(self, carry: Carry, view: SeatView, sight: Sight) -> Carry:
        prompt = person_message(
            self._env,
            self._game,
            view,
            sight,
            carry.memory,
            carry.witness,
            carry.told,
            carry.reward,
        )
        tags = {"trial": sight.own.trial, "step": sight.own.step, "seat": self._seat}
        found = await self._ask(self._rules, prompt, self._choice, tags)
        if not isinstance(found, Invalid):
            found = self._check_legal(found.action, view) or found
        if isinstance(found, Invalid):
            return carry.having(pending=self._stays(sight, prompt, found))
        return carry.having(pending=self._does(sight, prompt, found.action, found))
