"""A language model in a seat: it is asked at each step, and rewrites its notes at trials' ends.

What the model reads is made from its seat's view, record and outcomes alone.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from llm_eval.carry import Carry, Pending
from llm_eval.clients.base import Client, Message, Request
from llm_eval.memory import RecentStep, add_step, edit_notes, end_trial, set_goal
from llm_eval.parsing import Invalid, check_legal, read_reply
from llm_eval.prompts.system import AgentRole, Reveal, game_text, reveal_text, system_prompt
from llm_eval.prompts.user import rewrite_message, step_message
from llm_eval.records import StepRecord
from llm_eval.replies import ACTIONS, STEP_REPLIES, Part, Rewrite, StepReply, schema_of
from llm_eval.views.sight import Sight
from llm_eval.views.witness import of_trial, watch
from llm_eval.views.words import counted, points
from osj_envs.grid.codes import Action
from osj_envs.seats import Decision, SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Evidence, Key, Latent

Recorder = Callable[[StepRecord], None]
"""Takes each step's record once its outcome is known."""

FROZEN = "You could not act."
"""What came of a step in which the model was not asked."""


class LanguageModel:
    """A host player that asks a model at every step; nothing of an episode is kept in the object.

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

    is_traceable = False

    def __init__(
        self,
        client: Client,
        env: MultiTrial,
        seat: int = 0,
        player: str = "llm",
        role: AgentRole = "none",
        recorder: Recorder | None = None,
    ) -> None:
        self._client = client
        self._env = env
        self._seat = seat
        self._player = player
        self._recorder = recorder
        self._game = game_text(env)
        self._reply = STEP_REPLIES[env.name]
        self._names = ACTIONS[env.name]
        self._system = functools.cache(functools.partial(system_prompt, env, role))
        self._system("")

    def initial_carry(self, key: Key) -> Carry:
        """Nothing seen, nothing noted."""
        del key
        return Carry()

    async def act(self, carry: Carry, view: SeatView, key: Key) -> tuple[Carry, Decision]:
        """Asks the model, unless the agent is frozen; an invalid reply is a stay.

        Raises:
            InfrastructureError, FinalError: nobody answered.
        """
        del key
        sight = self._game.look(view.observation)
        carry = carry.having(witness=watch(self._game, carry.witness, sight))
        if getattr(sight.own, "frozen", 0):
            carry = carry.having(pending=self._pending(sight, Action.STAY))
        else:
            carry = await self._ask(carry, view, sight)
        assert carry.pending is not None
        return carry, Decision(action=jnp.int32(carry.pending.action))

    def see(self, carry: Carry, outcome: Any) -> Carry:
        """Takes in what came of the action, and hands on the step's record."""
        pending = carry.pending
        assert pending is not None, "an outcome without an action"
        words = self._game.outcome(pending.spot, pending.action, outcome)
        if pending.prompt is None:
            words = f"{FROZEN} {words}"
        self._record(pending, float(outcome.reward), words)
        memory = carry.memory
        if pending.prompt is not None:
            name = self._names[pending.action]
            step = RecentStep(
                step=pending.step, action=name, outcome=words, invalid=pending.invalid
            )
            memory = add_step(memory, step)
        counts = dict(carry.counts)
        for name, count in self._game.tally(pending.spot, pending.action, outcome).items():
            counts[name] = counts.get(name, 0) + count
        return carry.having(
            memory=memory,
            told=(words, *pending.told),
            counts=counts,
            reward=carry.reward + float(outcome.reward),
            steps=carry.steps + 1,
            pending=None,
        )

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
        found = await self._complete(carry, prompt, Rewrite, tags)
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
        assert rewrite is None or isinstance(rewrite, Rewrite)
        memory = end_trial(carry.memory, summary, rewrite)
        return Carry(memory=memory, revealed=carry.revealed)

    async def _ask(self, carry: Carry, view: SeatView, sight: Sight) -> Carry:
        """The carry with the model's decision."""
        prompt = step_message(
            self._env, self._game, view, sight, carry.memory, carry.witness, carry.told
        )
        tags = {"trial": sight.own.trial, "step": sight.own.step, "kind": "step"}
        found = await self._complete(carry, prompt, self._reply, tags)
        if isinstance(found, StepReply):
            legal = [self._names[code] for code in np.flatnonzero(view.legal_actions).tolist()]
            found = check_legal(found.action, legal) or found
        if isinstance(found, Invalid):
            told = f"{found.message} It counted as a stay."
            return carry.having(
                pending=self._pending(
                    sight, Action.STAY, prompt=prompt, invalid=str(found.kind), told=(told,)
                )
            )
        assert isinstance(found, StepReply)
        memory, edited = edit_notes(carry.memory, found.note)
        memory = set_goal(memory, found.goal, sight.own.step)
        pending = self._pending(
            sight,
            self._names.index(found.action),
            prompt=prompt,
            decision=found.model_dump(mode="json"),
            told=(edited,) if edited else (),
        )
        return carry.having(memory=memory, pending=pending)

    async def _complete(
        self, carry: Carry, prompt: str, model: type[Part], tags: dict[str, Any]
    ) -> Part | Invalid:
        request = Request(
            system=self._system(carry.revealed),
            messages=(Message("user", prompt),),
            schema=schema_of(model),
            tags=tags,
        )
        return read_reply(await self._client.complete(request), model)

    def _pending(self, sight: Sight, action: int, **fields: Any) -> Pending:
        spot = self._game.spot(sight)
        place = {"trial": sight.own.trial, "step": sight.own.step}
        return Pending(**place, spot=spot, action=int(action), **fields)

    def _record(self, pending: Pending, reward: float, words: str) -> None:
        self._hand_on(
            StepRecord(
                "step",
                pending.trial,
                pending.step,
                self._seat,
                self._player,
                prompt=pending.prompt,
                decision=pending.decision,
                invalid=pending.invalid,
                action=pending.action,
                reward=reward,
                outcome={"words": words},
            )
        )

    def _hand_on(self, record: StepRecord) -> None:
        if self._recorder is not None:
            self._recorder(record)


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


def trial_summary(carry: Carry, trial: int) -> str:
    """What the agent did in a trial, and what it saw of the others."""
    did = [f"{name} {count}" for name, count in carry.counts.items() if count]
    lines = [
        f"Trial {trial + 1}: {counted(carry.steps, 'step')}, {points(carry.reward)}; "
        f"{', '.join(did) or 'nothing done'}.",
        *(f"  {of_trial(other)}" for other in carry.witness.others),
    ]
    return "\n".join(lines)
