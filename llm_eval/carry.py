"""What a model's player carries from step to step, as JSON: memory, witness and pending step."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from llm_eval.memory import Memory
from llm_eval.views.base import Spot
from llm_eval.views.witness import Witness


class Pending(BaseModel):
    """A decision of which the outcome is not known yet.

    Attributes:
        trial, step: where in the episode, from 0.
        spot: where it was decided.
        action: the environment action.
        prompt: what the model was shown; None if it was not asked.
        decision: the parsed reply in JSON types; None if there is none.
        invalid: why not (`parsing.InvalidKind`).
        told: about the reply, for the next step.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    trial: int
    step: int
    spot: Spot
    action: int
    prompt: str | None = None
    decision: dict[str, Any] | None = None
    invalid: str | None = None
    told: tuple[str, ...] = ()


class Carry(BaseModel):
    """All that a model's player keeps; written by `model_dump(mode="json")`.

    Attributes:
        memory: of the model.
        witness: what was seen in this trial.
        told: what came of the last action and reply, for the next step.
        counts: what the agent did in this trial, by name.
        reward: of this trial.
        steps: of this trial.
        pending: the decision whose outcome is awaited.
        revealed: what was told of the hidden rules; empty for a fair player.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    memory: Memory = Memory()
    witness: Witness = Witness()
    told: tuple[str, ...] = ()
    counts: dict[str, int] = {}
    reward: float = 0.0
    steps: int = 0
    pending: Pending | None = None
    revealed: str = ""

    def having(self, **changes: Any) -> "Carry":
        """The carry with some fields changed; the values are valid already."""
        return self.model_copy(update=changes)
