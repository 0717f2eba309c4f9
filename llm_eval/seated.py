"""What every player does that decides on a text: it reads its view, and is told what came of it.

The text is made from the seat's own view, record and outcomes alone.
"""

import abc
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from llm_eval.carry import Carry, Pending
from llm_eval.clients.base import Client, Message, Request
from llm_eval.memory import RecentStep, add_step
from llm_eval.parsing import Invalid, Read, check_legal, read_reply
from llm_eval.prompts.system import game_text
from llm_eval.records import StepRecord
from llm_eval.replies import ACTIONS, Part, schema_of
from llm_eval.views.sight import Sight
from llm_eval.views.witness import of_trial, watch
from llm_eval.views.words import counted, points
from osj_envs.grid.codes import Action
from osj_envs.seats import Decision, SeatView
from osj_envs.trials import MultiTrial
from osj_envs.types import Evidence, Key

Recorder = Callable[[StepRecord], None]
"""Takes each step's record once its outcome is known."""

FROZEN = "You could not act."
"""What came of a step in which the player was not asked."""


class Seated(abc.ABC):
    """A host player that is asked at every step; nothing of an episode is kept in the object.

    Args:
        client: who is asked; replies are recorded by its wrapper.
        env: the game.
        seat: whose seat it is, for the records alone.
        player: its name in the records.
        recorder: is handed each step's record.

    Raises:
        ValueError: a game without texts.
    """

    is_traceable = False

    def __init__(
        self,
        client: Client,
        env: MultiTrial,
        seat: int = 0,
        player: str = "",
        recorder: Recorder | None = None,
    ) -> None:
        self._client = client
        self._env = env
        self._seat = seat
        self._player = player
        self._recorder = recorder
        self._game = game_text(env)
        self._names = ACTIONS[env.name]

    def initial_carry(self, key: Key) -> Carry:
        """Nothing seen, nothing noted."""
        del key
        return Carry()

    async def act(self, carry: Carry, view: SeatView, key: Key) -> tuple[Carry, Decision]:
        """Asks, unless the agent is frozen; an invalid reply is a stay.

        Raises:
            InfrastructureError, FinalError: nobody answered.
        """
        del key
        sight = self._game.look(view.observation)
        carry = carry.having(witness=watch(self._game, carry.witness, sight))
        if getattr(sight.own, "frozen", 0):
            carry = carry.having(pending=self._pending(sight, Action.STAY))
        else:
            carry = await self._decide(carry, view, sight)
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

    @abc.abstractmethod
    async def end_trial(self, carry: Carry, trial: int, evidence: Evidence) -> Carry:
        """The carry at the next trial's start.

        Args:
            carry: after the trial's last outcome.
            trial: that ended, from 0.
            evidence: the seat's own record at its end.
        """

    @abc.abstractmethod
    async def _decide(self, carry: Carry, view: SeatView, sight: Sight) -> Carry:
        """The carry with a pending decision."""

    async def _ask(
        self, system: str, prompt: str, model: type[Read], tags: dict[str, Any]
    ) -> Read | Invalid:
        """What was replied, or why it is none."""
        request = Request(
            system=system,
            messages=(Message("user", prompt),),
            schema=schema_of(model),
            tags=tags,
        )
        return read_reply(await self._client.complete(request), model)

    def _check_legal(self, action: str, view: SeatView) -> Invalid | None:
        """Why the action cannot be done now, if it cannot."""
        legal = [self._names[code] for code in np.flatnonzero(view.legal_actions).tolist()]
        return check_legal(action, legal)

    def _stays(self, sight: Sight, prompt: str, invalid: Invalid) -> Pending:
        """What an invalid reply comes to."""
        told = (f"{invalid.message} It counted as a stay.",)
        kind = str(invalid.kind)
        return self._pending(sight, Action.STAY, prompt=prompt, invalid=kind, told=told)

    def _does(
        self, sight: Sight, prompt: str, action: str, reply: Part, told: tuple[str, ...] = ()
    ) -> Pending:
        """What a valid reply comes to."""
        decision = reply.model_dump(mode="json")
        code = self._names.index(action)
        return self._pending(sight, code, prompt=prompt, decision=decision, told=told)

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


def trial_summary(carry: Carry, trial: int) -> str:
    """What the agent did in a trial, and what it saw of the others."""
    did = [f"{name} {count}" for name, count in carry.counts.items() if count]
    lines = [
        f"Trial {trial + 1}: {counted(carry.steps, 'step')}, {points(carry.reward)}; "
        f"{', '.join(did) or 'nothing done'}.",
        *(f"  {of_trial(other)}" for other in carry.witness.others),
    ]
    return "\n".join(lines)
