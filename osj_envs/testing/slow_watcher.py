"""An agent's record of OpenHarvest once more: cell by cell, in plain Python.

Written from what the record promises and not from the fast code, to compare that with.
"""

import collections
import dataclasses
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from osj_envs.grid.codes import Action, Item, Plane
from osj_envs.grid.view import Window
from osj_envs.harvest.constants import HarvestConfig
from osj_envs.harvest.observation import CELLS, STEPS
from osj_envs.testing.slow_grid import AHEAD, Cell, is_on_map, turned, wanted_cell

BARE, ROTTED = "bare", 3
"""A tree without an apple; the loss that is no stage."""

State: TypeAlias = int | str | None
"""Of a tree: an apple's stage, or `BARE`; None where no tree is seen."""


class Timed(NamedTuple):
    """What is being timed on a cell: a stage, or a bare tree of a colour and loss."""

    stage: int | None
    colour: int | None
    loss: int | None
    since: int


class Sight(NamedTuple):
    """What is seen on one cell; `agent` is 0 for nobody, 1 for the viewer."""

    state: State
    colour: int
    agent: int


@dataclasses.dataclass
class Glance:
    """A view with its absolute cells, and what the agent knows of itself."""

    cells: dict[Cell, Sight]
    position: Cell
    step: int


class SlowWatcher:
    """The record of one agent.

    Attributes:
        pay: points by colour and stage.
        eaten: own meals by colour and stage.
        returns: by colour and loss, the (steps, apples near) of each timed return.
        exposed: by colour, loss and apples near (3 for more), whether it came back, step by step.
        stages: the lengths of the stages timed.
        timed: what is being timed, by cell.
    """

    def __init__(self, config: HarvestConfig, window: Window) -> None:
        """Nothing is known."""
        self.config, self.window = config, window
        self.pay: dict[tuple[int, int], float] = {}
        self.eaten: collections.Counter[tuple[int, int]] = collections.Counter()
        self.returns: dict[tuple[int, int], list[tuple[int, int]]] = collections.defaultdict(list)
        self.exposed: dict[tuple[int, int, int], list[bool]] = collections.defaultdict(list)
        self.stages: dict[int, list[int]] = collections.defaultdict(list)
        self.timed: dict[Cell, Timed] = {}

    def update(self, observation: Any, action: int, next_observation: Any, outcome: Any) -> None:
        """Takes in one step; all without a batch axis."""
        before, after = self._glance(observation), self._glance(next_observation)
        if before.step == 0:
            self.timed = {
                cell: Timed(0, None, None, 0)
                for cell, sight in before.cells.items()
                if sight.state == 0
            }
        meal = self._eat(before, action, after, outcome)
        cells = {*before.cells, *after.cells, *self.timed, *([meal] if meal else [])}
        self.timed = {
            cell: timed
            for cell in cells
            if (timed := self._follow(cell, before, after, cell == meal, outcome))
        }

    def _glance(self, observation: Any) -> Glance:
        own = np.asarray(observation.own)
        heading, numbers = int(own[:4].argmax()), own[4:7] * (CELLS, CELLS, STEPS)
        row, col, step = (round(float(number)) for number in numbers)
        position = (row, col)
        front, right = AHEAD[heading], AHEAD[turned(heading, Action.TURN_RIGHT)]
        cells = {}
        for place, codes in _places(np.asarray(observation.view)):
            ahead, aside = self.window.ahead - place[0], place[1] - self.window.side
            row = position[0] + ahead * front[0] + aside * right[0]
            col = position[1] + ahead * front[1] + aside * right[1]
            if is_on_map((row, col), self.config.height, self.config.width):
                cells[row, col] = _sight(codes)
        return Glance(cells, position, step)

    def _eat(self, before: Glance, action: int, after: Glance, outcome: Any) -> Cell | None:
        """Writes the agent's own meal down, and empties its cell; None where it ate nothing."""
        colour, stage = int(outcome.eaten_colour), int(outcome.eaten_stage)
        if colour < 0:
            return None
        self.pay[colour, stage] = float(outcome.reward)
        self.eaten[colour, stage] += 1
        cell = wanted_cell(before.position, int(action), self.config.height, self.config.width)
        after.cells[cell] = Sight(BARE, colour, 0)
        return cell

    def _follow(
        self, cell: Cell, before: Glance, after: Glance, is_meal: bool, outcome: Any
    ) -> Timed | None:
        """Counts what happened on one cell; what is being timed there from now on."""
        was, now = before.cells.get(cell), after.cells.get(cell)
        timed = self.timed.get(cell)
        came = was is not None and was.state == BARE and (is_meal or _is_apple(now))
        loss = self._loss(cell, before, after, timed)
        if is_meal:
            loss = int(outcome.eaten_stage)
        if timed is not None and timed.stage is None:
            self._count_bare(cell, timed, before, after, came, is_meal)
        elif timed is not None and _is_apple(was) and now is not None:
            self._count_stage(timed, now, loss, after.step)
        if loss is not None:
            assert now is not None
            return Timed(None, now.colour, loss, after.step)
        if _is_apple(now):
            return self._follow_apple(timed, was, now, after.step)
        return self._keep_waiting(timed, was, now)

    def _loss(self, cell: Cell, before: Glance, after: Glance, timed: Timed | None) -> int | None:
        """How others, or time, made an apple go; None where none did or that is unsure."""
        was, now = before.cells.get(cell), after.cells.get(cell)
        if was is None or now is None or not _is_apple(was) or now.state != BARE:
            return None
        assert isinstance(was.state, int)
        stage, least = was.state, self.config.stage_steps[0]
        seen_to_start = timed is not None and timed.stage == stage
        earliest = timed.since if timed is not None and seen_to_start else stage * least
        if after.step - earliest < least:
            return stage
        around = [(cell[0] + r, cell[1] + c) for r, c in AHEAD.values()]
        around = [x for x in around if is_on_map(x, self.config.height, self.config.width)]
        lonely = all(x in before.cells and before.cells[x].agent <= 1 for x in around)
        return ROTTED if stage == 2 and lonely and now.agent <= 1 else None

    def _count_stage(self, timed: Timed, now: Sight, loss: int | None, step: int) -> None:
        assert timed.stage is not None
        if now.state == timed.stage + 1 or (timed.stage == 2 and loss == ROTTED):
            self.stages[timed.stage].append(step - timed.since)

    def _count_bare(
        self,
        cell: Cell,
        timed: Timed,
        before: Glance,
        after: Glance,
        came: bool,
        is_meal: bool,
    ) -> None:
        """Counts the return of an apple to a bare cell that is waited for, or a chance of one."""
        assert timed.colour is not None
        assert timed.loss is not None
        was, now = before.cells.get(cell), after.cells.get(cell)
        near = [
            (cell[0] + r, cell[1] + c)
            for r in range(-2, 3)
            for c in range(-2, 3)
            if abs(r) + abs(c) in (1, 2)
            and is_on_map((cell[0] + r, cell[1] + c), self.config.height, self.config.width)
        ]
        hung = sum(_is_apple(before.cells.get(x)) for x in near)
        if came:
            self.returns[timed.colour, timed.loss].append((after.step - timed.since, hung))
        is_told = came or is_meal or (now is not None and now.agent <= 1)
        is_sure = hung >= 3 or all(x in before.cells for x in near)
        if was is not None and was.state == BARE and not was.agent and is_told and is_sure:
            self.exposed[timed.colour, timed.loss, min(hung, 3)].append(came)

    def _follow_apple(
        self, timed: Timed | None, was: Sight | None, now: Sight | None, step: int
    ) -> Timed | None:
        assert now is not None
        if was is None or was.state is None:
            return None
        if was.state != now.state:
            assert isinstance(now.state, int)
            return Timed(now.state, None, None, step)
        return timed if timed is not None and timed.stage is not None else None

    def _keep_waiting(
        self, timed: Timed | None, was: Sight | None, now: Sight | None
    ) -> Timed | None:
        """The watch for a bare cell goes on, unless someone came or a rotted one is hidden."""
        if timed is None or timed.stage is not None:
            return None
        if now is None:
            return None if timed.loss == ROTTED else timed
        someone_came = now.agent > 1 and was is not None and was.agent == 0
        return None if someone_came else timed


def _places(view: np.ndarray) -> list[tuple[Cell, np.ndarray]]:
    rows, cols, _ = view.shape
    return [((row, col), view[row, col]) for row in range(rows) for col in range(cols)]


def _sight(codes: np.ndarray) -> Sight:
    item = int(codes[Plane.ITEM])
    states: dict[int, State] = {
        Item.APPLE: 0,
        Item.RIPE_APPLE: 1,
        Item.OVERRIPE_APPLE: 2,
        Item.EMPTY_TREE: BARE,
    }
    return Sight(states.get(item), int(codes[Plane.COLOUR]) - 1, int(codes[Plane.AGENT]))


def _is_apple(sight: Sight | None) -> bool:
    return sight is not None and isinstance(sight.state, int)
