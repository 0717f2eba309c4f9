"""OpenCleanup as one seat sees it."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import numpy as np

from llm_eval.replies import CLEANUP_ACTIONS
from llm_eval.views import words
from llm_eval.views.base import Spot
from llm_eval.views.sight import MOVES, Cell, DecodeOwn, Sight, look
from osj_envs.cleanup.constants import CleanupConfig, Terrain
from osj_envs.cleanup.evidence import Evidence, Known
from osj_envs.cleanup.names import pair_name, waste_name
from osj_envs.cleanup.observation import decode_own
from osj_envs.cleanup.text import cell_label
from osj_envs.cleanup.types import EMPTY_SLOT, NO_COLOUR, Outcome, ShotEffect
from osj_envs.grid.codes import Action, Item
from osj_envs.grid.text import Label
from osj_envs.grid.view import Window
from osj_envs.types import Observation

WATER = Label("~", "water")
"""A view does not tell a river's water from a stream's."""

EFFECTS = {
    Known.NO_EFFECT: "no effect",
    Known.LIGHTENED: "made it one shade lighter",
    Known.CLEARED: "cleared it to water",
}
"""What a shot did; `ShotEffect` counts from 0 where `Known` does from 1."""


@functools.cache
def _decoder(config: CleanupConfig) -> DecodeOwn:
    return functools.partial(decode_own, config)


@functools.cache
def _label(item: int, colour: int) -> Label:
    return WATER if item == Item.WATER else cell_label(item, colour, Terrain.GROUND)


@dataclasses.dataclass(frozen=True)
class CleanupText:
    """See `GameText`."""

    config: CleanupConfig
    window: Window
    name: str = "cleanup"

    def look(self, observation: Observation) -> Sight:
        """What the seat sees."""
        shape = self.config.height, self.config.width
        return look(shape, self.window, _decoder(self.config), observation)

    def label(self, item: int, colour: int) -> Label:
        """What lies on a cell."""
        return _label(item, colour)

    def spot(self, sight: Sight) -> Spot:
        """Where the next action is decided."""
        return Spot(
            cell=sight.cell,
            lands=sight.lands,
            beam=tuple(sight.beam_cells()),
            under=sight.code(sight.cell),
            hand=tuple(sight.own.window),
        )

    def rules_known(self, evidence: Evidence) -> str:
        """Each tool fired, and what it did to each colour of waste that it hit."""
        return words.listed(self._tools(np.asarray(evidence.effect), np.asarray(evidence.count)))

    def now(self, sight: Sight, evidence: Evidence, trees: Sequence[tuple[int, ...]] = ()) -> str:
        """Position, facing, hand and map."""
        del evidence, trees
        return "\n".join(
            [
                words.standing(sight),
                f"Hand: {hand_name(sight.own.window)}.",
                *words.board_lines(sight, self.label),
            ]
        )

    def actions(self, sight: Sight, evidence: Evidence) -> list[str]:
        """What each action would do, by its code."""
        lines = {move: self._move(sight, move) for move in MOVES} | words.plain_lines(sight)
        lines[Action.BEAM] = self._fire(sight, evidence)
        lines[Action.PICK_UP] = self._pick_up(sight)
        return [f"{CLEANUP_ACTIONS[action]}: {lines[action]}" for action in Action]

    def outcome(self, spot: Spot, action: int, outcome: Outcome) -> str:
        """What came of the seat's own action."""
        told = []
        if action in MOVES:
            told.append(words.moved(spot, action, bool(outcome.blocked)))
        elif action == Action.BEAM:
            told.append(self._fired(spot, outcome))
        elif action == Action.PICK_UP:
            told.append(_picked(spot))
        else:
            told.append(words.DONE[Action(action)])
        if float(outcome.reward):
            told.append(f"You ate an apple: {words.points(float(outcome.reward))}.")
        return " ".join(told)

    def tally(self, spot: Spot, action: int, outcome: Outcome) -> dict[str, int]:
        """Counts for the trial's summary."""
        effects = np.asarray(outcome.hit_effect)
        return {
            "apples eaten": int(outcome.reward > 0),
            "pick-ups": int(action == Action.PICK_UP and spot.under[0] >= Item.STATION),
            "shots": int(action == Action.BEAM),
            "waste cells cleared": int((effects == ShotEffect.CLEARED).sum()),
            "waste cells lightened": int((effects == ShotEffect.LIGHTENED).sum()),
        }

    def is_change(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """All that changes in this game is worth telling."""
        return before != after

    def trees(self, sight: Sight) -> list[tuple[int, ...]]:
        """This game has none."""
        del sight
        return []

    def _tools(self, effect: np.ndarray, count: np.ndarray) -> Iterator[str]:
        for pair in np.flatnonzero(count.any(axis=1)).tolist():
            hits = [
                f"{self._waste(colour)}: {EFFECTS[Known(int(effect[pair, colour]))]} "
                f"({words.counted(int(count[pair, colour]), 'cell')})"
                for colour in np.flatnonzero(count[pair]).tolist()
            ]
            tool = pair_name(*divmod(pair, self.config.base_tools))
            yield f"fired {tool} at {'; '.join(hits)}"

    def _waste(self, colour: int) -> str:
        return f"{waste_name(*divmod(colour, self.config.shades))} waste"

    def _move(self, sight: Sight, move: Action) -> str:
        line = words.move_line(sight, move, self.label)
        cell = sight.lands[move]
        is_apple = cell != sight.cell and sight.seen[cell] and sight.item[cell] == Item.RIPE_APPLE
        return f"{line}; you would eat it" if is_apple else line

    def _fire(self, sight: Sight, evidence: Evidence) -> str:
        older, newer = sight.own.window
        if older == EMPTY_SLOT:
            return "nothing: a tool is two pick-ups, and your hand has fewer"
        effect = np.asarray(evidence.effect)[older * self.config.base_tools + newer]
        hits = [self._hit(sight, cell, effect) for cell in sight.beam_cells() if cell is not None]
        found = "; ".join(filter(None, hits)) or "no waste is in the beam"
        return f"use {pair_name(older, newer)} on: {found}"

    def _hit(self, sight: Sight, cell: Cell, effect: np.ndarray) -> str:
        """A beam cell with waste, and what the tool did to such waste before; else nothing."""
        if not sight.seen[cell]:
            return f"{words.place(cell)}, out of your view"
        item, colour = sight.code(cell)
        if not Item.WASTE <= item < Item.STATION:
            return ""
        known = Known(int(effect[(colour - 1) * self.config.shades + item - Item.WASTE]))
        before = "not tried" if known == Known.NEVER_TRIED else f"before: {EFFECTS[known]}"
        return f"{words.place(cell)}, {self.label(item, colour).name} ({before})"

    def _pick_up(self, sight: Sight) -> str:
        tool = sight.code(sight.cell)[0] - Item.STATION
        if tool < 0:
            return "nothing: you are on no station"
        after = hand_name((sight.own.window[1], tool))
        return f"take base tool {tool}; your hand would be {after}"

    def _fired(self, spot: Spot, outcome: Outcome) -> str:
        if len(spot.hand) < 2 or spot.hand[0] == EMPTY_SLOT:
            return "You fired without a tool: nothing happened."
        colours, effects = outcome.hit_colour.tolist(), outcome.hit_effect.tolist()
        hits = [
            f"{words.place(cell)}, {self._waste(colour)}: {EFFECTS[Known(1 + effect)]}"
            for cell, colour, effect in zip(spot.beam, colours, effects, strict=True)
            if cell is not None and colour != NO_COLOUR
        ]
        tool = pair_name(*spot.hand)
        return f"You fired {tool}: {'; '.join(hits) or 'no waste was in the beam'}."


def hand_name(window: Sequence[int]) -> str:
    """What is in hand, named by the pick-ups alone."""
    older, newer = window
    if newer == EMPTY_SLOT:
        return "empty"
    if older == EMPTY_SLOT:
        return f"{newer} only, no tool yet"
    return pair_name(older, newer)


def _picked(spot: Spot) -> str:
    tool = spot.under[0] - Item.STATION
    if tool < 0:
        return "You tried to pick up, and stood on no station."
    newer = spot.hand[1] if len(spot.hand) == 2 else EMPTY_SLOT
    return f"You picked up base tool {tool}; your hand is {hand_name((newer, tool))}."
