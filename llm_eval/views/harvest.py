"""OpenHarvest as one seat sees it."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import numpy as np

from llm_eval.replies import HARVEST_ACTIONS
from llm_eval.views import words
from llm_eval.views.base import Spot
from llm_eval.views.patches import patch_lines
from llm_eval.views.sight import MOVES, Sight, look
from osj_envs.grid.codes import Action, Item
from osj_envs.grid.text import Label
from osj_envs.grid.view import Window
from osj_envs.harvest.constants import STAGES, HarvestConfig
from osj_envs.harvest.evidence import UNKNOWN, Evidence
from osj_envs.harvest.names import COLOURS, apple_name, bare_name, loss_name
from osj_envs.harvest.names import STAGES as STAGE_NAMES
from osj_envs.harvest.observation import decode_own
from osj_envs.harvest.text import cell_label
from osj_envs.harvest.types import NOTHING_EATEN, Outcome
from osj_envs.harvest.watches import LOSSES, NEARBY, OPEN, Returns
from osj_envs.types import Observation

NEAR_NAMES = ("no apple", "1 apple", "2 apples", f"{NEARBY - 1} or more apples")
"""The columns of what hung near a bare tree."""


@functools.cache
def _label(item: int, colour: int) -> Label:
    return cell_label(item, colour)


@dataclasses.dataclass(frozen=True)
class HarvestText:
    """See `GameText`."""

    config: HarvestConfig
    window: Window
    name: str = "harvest"

    def look(self, observation: Observation) -> Sight:
        """What the seat sees."""
        shape = self.config.height, self.config.width
        return look(shape, self.window, decode_own, observation)

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
            wait=sight.own.cooldown,
        )

    def rules_known(self, evidence: Evidence) -> str:
        """Points paid, regrowth watched, and the times that stages took."""
        return words.listed(
            [*self._paid(evidence), *_regrown(evidence.returns), *_stage_times(evidence)]
        )

    def now(self, sight: Sight, evidence: Evidence, trees: Sequence[tuple[int, ...]]) -> str:
        """Position, facing, beam, map, patches seen and emptied cells waited on."""
        patches = words.listed(patch_lines(trees, sight.own.step), "none seen yet")
        waits = words.listed(self._waits(sight, evidence), "none")
        return "\n".join(
            [
                words.standing(sight),
                f"Beam: {_beam_state(sight)}.",
                *words.board_lines(sight, self.label),
                f"Patches seen in this trial:\n{patches}",
                f"Emptied cells that you wait on:\n{waits}",
            ]
        )

    def actions(self, sight: Sight, evidence: Evidence) -> list[str]:
        """What each action would do, by its code."""
        lines = {move: self._move(sight, evidence, move) for move in MOVES} | words.plain_lines(
            sight
        )
        lines[Action.BEAM] = _zap(sight)
        return [f"{name}: {lines[Action(code)]}" for code, name in enumerate(HARVEST_ACTIONS)]

    def outcome(self, spot: Spot, action: int, outcome: Outcome) -> str:
        """What came of the seat's own action."""
        if action in MOVES:
            told = [words.moved(spot, action, bool(outcome.blocked))]
        elif action == Action.BEAM:
            told = ["You zapped." if not spot.wait else "Your beam was not ready: you stayed."]
        else:
            told = [words.DONE[Action(action)]]
        if int(outcome.eaten_colour) != NOTHING_EATEN:
            apple = apple_name(int(outcome.eaten_colour), int(outcome.eaten_stage))
            told.append(f"You ate the {apple}: {words.points(float(outcome.reward))}.")
        if bool(outcome.zapped):
            told.append("Then you were zapped and sent to a spawn cell.")
        return " ".join(told)

    def tally(self, spot: Spot, action: int, outcome: Outcome) -> dict[str, int]:
        """Counts for the trial's summary."""
        stages = {
            f"{name} apples eaten": int(outcome.eaten_stage == code)
            for code, name in enumerate(STAGE_NAMES)
        }
        fired = int(action == Action.BEAM and not spot.wait)
        return {**stages, "zaps": fired, "times zapped": int(outcome.zapped)}

    def is_change(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Apples that went or came; not those that ripened."""
        return (before[0] == Item.EMPTY_TREE) != (after[0] == Item.EMPTY_TREE)

    def trees(self, sight: Sight) -> list[tuple[int, ...]]:
        """The trees in view: row, column, colour, item, step."""
        is_tree = sight.seen & (sight.item >= Item.APPLE) & (sight.item <= Item.EMPTY_TREE)
        rows, cols = np.nonzero(is_tree)
        colours, items = sight.colour[rows, cols] - 1, sight.item[rows, cols]
        steps = np.full_like(rows, sight.own.step)
        return [tuple(tree) for tree in np.stack([rows, cols, colours, items, steps], 1).tolist()]

    def _pays(self, evidence: Evidence, colour: int, stage: int) -> float | None:
        """The points that an apple is known to pay."""
        known = int(np.asarray(evidence.pay)[colour, stage])
        return None if known == UNKNOWN else self.config.pays[known - 1]

    def _paid(self, evidence: Evidence) -> Iterator[str]:
        eaten = np.asarray(evidence.eaten)
        for colour, stage in np.argwhere(eaten > 0).tolist():
            pay = self._pays(evidence, colour, stage)
            if pay is not None:
                times = words.counted(int(eaten[colour, stage]), "time")
                name = apple_name(colour, stage)
                yield f"{name}: paid you {words.points(pay)} (eaten {times})"

    def _waits(self, sight: Sight, evidence: Evidence) -> Iterator[str]:
        kind, since = np.asarray(evidence.watches.kind), np.asarray(evidence.watches.since)
        if sight.own.step == 0:
            return  # what is still there is of the trial before
        for row, col in np.argwhere(kind >= OPEN).tolist():
            colour, loss = divmod(int(kind[row, col]) - OPEN, LOSSES)
            steps = words.counted(sight.own.step - int(since[row, col]), "step")
            name = bare_name(colour)
            yield f"{words.place((row, col))}: {name}, {loss_name(loss + 1)} {steps} ago"

    def _move(self, sight: Sight, evidence: Evidence, move: Action) -> str:
        line = words.move_line(sight, move, self.label)
        cell = sight.lands[move]
        item, colour = sight.code(cell)
        stage = item - Item.APPLE
        if cell == sight.cell or not sight.seen[cell] or not 0 <= stage < STAGES:
            return line
        pay = self._pays(evidence, colour - 1, stage)
        known = "its points are not known to you" if pay is None else f"it pays {words.points(pay)}"
        return f"{line}; you would eat it: {known}"


def _beam_state(sight: Sight) -> str:
    wait = sight.own.cooldown
    return f"not ready for {words.counted(wait, 'step')}" if wait else "ready"


def _zap(sight: Sight) -> str:
    if sight.own.cooldown:
        return f"nothing: your beam is {_beam_state(sight)}"
    cells = [cell for cell in sight.beam_cells() if cell is not None]
    met = [sight.other_at(cell) for cell in cells if sight.seen[cell]]
    names = [f"{other.name} at {words.place(other.cell)}" for other in met if other]
    where = "; ".join(words.place(cell) for cell in cells) or "no cell of the map"
    return f"hit {where}; there now: {', '.join(names) or 'nobody'}"


def _regrown(returns: Returns) -> Iterator[str]:
    count, exposed = np.asarray(returns.count), np.asarray(returns.exposed)
    steps, around = np.asarray(returns.steps), np.asarray(returns.around)
    came = np.asarray(returns.exposed_count)
    for colour, loss in np.argwhere((count > 0) | exposed.any(axis=-1)).tolist():
        name = f"{COLOURS[colour]} tree, {loss_name(loss + 1)}"
        told, number = [], int(count[colour, loss])
        if number:
            mean_steps, mean_near = steps[colour, loss] / number, around[colour, loss] / number
            told.append(
                f"seen to come back {words.counted(number, 'time')}, after {mean_steps:.1f} steps "
                f"and with {mean_near:.1f} apples near on average"
            )
        told += [
            f"with {NEAR_NAMES[near]} near watched for "
            f"{words.counted(int(exposed[colour, loss, near]), 'step')}, came back "
            f"{words.counted(int(came[colour, loss, near]), 'time')}"
            for near in np.flatnonzero(exposed[colour, loss]).tolist()
        ]
        yield f"{name}: {'; '.join(told)}"


def _stage_times(evidence: Evidence) -> Iterator[str]:
    count, steps = np.asarray(evidence.stages.count), np.asarray(evidence.stages.steps)
    for stage in np.flatnonzero(count).tolist():
        end = f"turned {STAGE_NAMES[stage + 1]}" if stage + 1 < STAGES else "rotted"
        mean, number = steps[stage] / count[stage], words.counted(int(count[stage]), "apple")
        yield f"{STAGE_NAMES[stage]} apples {end} after {mean:.1f} steps on average ({number})"
