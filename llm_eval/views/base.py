"""What every game's texts offer; the host player knows no more of a game than this."""

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from llm_eval.views.sight import Cell, Sight
from osj_envs.grid.text import Label
from osj_envs.grid.view import Window
from osj_envs.types import Evidence, Observation


class Spot(BaseModel):
    """Where an action was decided, for the words of its outcome.

    Attributes:
        cell: where the agent stood.
        lands: the cell that each move wants.
        beam: the cells of the beam, None for one off the map.
        under: item and colour of what the agent stood on.
        hand: the last two pick-ups, the older first; empty in a game without any.
        wait: steps for which the beam is not ready.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cell: Cell
    lands: tuple[Cell, ...]
    beam: tuple[Cell | None, ...]
    under: tuple[int, int]
    hand: tuple[int, ...] = ()
    wait: int = 0


class GameText(Protocol):
    """A game as text for one seat."""

    @property
    def name(self) -> str:
        """The game's id."""

    @property
    def config(self) -> Any:
        """The game's configuration."""

    @property
    def window(self) -> Window:
        """How far agents see."""

    def look(self, observation: Observation) -> Sight:
        """What the seat sees."""

    def label(self, item: int, colour: int) -> Label:
        """What lies on a cell, as agents can tell it."""

    def spot(self, sight: Sight) -> Spot:
        """Where the next action is decided."""

    def rules_known(self, evidence: Evidence) -> str:
        """The seat's own record, as facts."""

    def now(self, sight: Sight, evidence: Evidence, trees: Sequence[tuple[int, ...]]) -> str:
        """Position, facing, what is in hand, and the map.

        Args:
            sight: what the seat sees.
            evidence: its record.
            trees: all trees seen in this trial: row, column, colour, item, step.
        """

    def actions(self, sight: Sight, evidence: Evidence) -> list[str]:
        """What each action would do, by its code."""

    def outcome(self, spot: Spot, action: int, outcome: Any) -> str:
        """What came of the seat's own action."""

    def tally(self, spot: Spot, action: int, outcome: Any) -> dict[str, int]:
        """The same as counts, for the trial's summary."""

    def is_change(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Whether a cell's change is worth telling."""

    def trees(self, sight: Sight) -> list[tuple[int, ...]]:
        """The trees in view: row, column, colour, item, step; none in a game without any."""
