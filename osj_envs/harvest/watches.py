"""What an agent has seen of how apples leave, come back and ripen, from two views in a row.

Every function is for one agent; callers vmap over agents. What counts as certain is our choice:

- A cell that is seen with an apple and then without has lost it in a known way if the agent ate it
  itself; if it left before its stage can have ended, since each takes `stage_steps[0]` steps or
  more: another agent ate it at that stage; or if it was over-ripe, and no other agent is on the
  cell or was beside it: it rotted. Any other way is not recorded, such as an apple that was eaten
  in a step in which it may have turned.
- A watch runs from a loss of a known way to the return of an apple. The return is timed if it is
  seen: bare in one view, an apple in the next. A watch ends untimed if an apple is found back
  later, if another agent steps on the cell, which may eat what grows in that very step, and with
  the trial. That of an eaten apple goes on while the cell is out of view; that of a rotted one does
  not, since it comes back too soon.
- A stage is timed if its start, its end and all between is seen. A trial starts with new apples.
"""

import dataclasses
import functools
from typing import TypeVar

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Int, Int32, UInt8, UInt16

from osj_envs.grid.chart import chart
from osj_envs.grid.codes import Item, Plane
from osj_envs.grid.movement import flat, wanted_positions
from osj_envs.grid.view import Window
from osj_envs.harvest.constants import NEIGHBOUR_DISTANCE, STAGES, HarvestConfig, Lost, Stage
from osj_envs.harvest.observation import Own, decode_own
from osj_envs.harvest.types import NOTHING_EATEN, Outcome
from osj_envs.types import Observation

LOSSES = STAGES + 1
"""Ways of losing an apple, `Lost` - 1: the stage at which it was eaten, then rotted."""

NEARBY = 4
"""Columns for the apples that hang near an empty cell: 0, 1, 2, and 3 or more."""

OPEN = 1 + STAGES
"""The lowest `Watches.kind` that waits for a return."""

MOST = int(jnp.iinfo(jnp.uint16).max)
"""The greatest number that the record counts to."""


@struct.dataclass
class Returns:
    """Apples seen to come back, by the cell's colour and by how it lost the one before.

    All numbers of a colour and loss stay as they are once one of them would leave uint16.

    Attributes:
        count: timed returns.
        steps: their steps since the loss, summed.
        around: apples seen near the cell (`NEIGHBOUR_DISTANCE`) just before they came, summed.
        exposed: steps in which a watched cell might have been seen to come back, whether it did or
            not, with no agent on it and all near it in view, by how many apples hung near.
        exposed_count: those among them in which it came back.
    """

    count: UInt16[Array, "colours losses"]
    steps: UInt16[Array, "colours losses"]
    around: UInt16[Array, "colours losses"]
    exposed: UInt16[Array, "colours losses nearby"]
    exposed_count: UInt16[Array, "colours losses nearby"]


@struct.dataclass
class Stages:
    """Stages timed: until an apple turned or, for an over-ripe one, rotted.

    Attributes:
        count: how many; it and `steps` stay as they are once one of them would leave uint16.
        steps: their steps, summed.
    """

    count: UInt16[Array, "stages"]
    steps: UInt16[Array, "stages"]


@struct.dataclass
class Watches:
    """What is being timed on each cell of the map in this trial.

    Attributes:
        kind: 0 for nothing; 1 + stage for an apple whose stage was seen to start; for an empty tree
            whose loss is known, `OPEN` + colour * `LOSSES` + loss.
        since: step of the trial at which the stage started or the apple was gone; meaningless where
            nothing is timed.
    """

    kind: UInt8[Array, "height width"]
    since: UInt16[Array, "height width"]


@struct.dataclass
class Seen:
    """What a view shows of the map, cell by cell.

    Attributes:
        tree: 0 where no tree is seen, 1 + stage of the apple on one, `BARE` for one without.
        colour: of the tree.
        taken: an agent stands there.
        other: one that is not the viewer.
        hidden: out of view.
    """

    tree: UInt8[Array, "height width"]
    colour: UInt8[Array, "height width"]
    taken: Bool[Array, "height width"]
    other: Bool[Array, "height width"]
    hidden: Bool[Array, "height width"]

    @property
    def apple(self) -> Bool[Array, "height width"]:
        """An apple hangs there."""
        return (self.tree > 0) & (self.tree < BARE)

    @property
    def bare(self) -> Bool[Array, "height width"]:
        """A tree without an apple stands there."""
        return self.tree == BARE


@struct.dataclass
class Change:
    """All that one step tells an agent about the trees.

    Attributes:
        before: the map as the step began.
        after: the map as it ended; the colour of the agent's own meal is known out of view too.
        meal: the cell on which the agent ate.
        lost: how a cell lost its apple (`Lost`), 0 where it did not or that is not certain.
        now: step of the trial that the later view shows.
    """

    before: Seen
    after: Seen
    meal: Bool[Array, "height width"]
    lost: UInt8[Array, "height width"]
    now: Int[Array, ""]

    @property
    def came(self) -> Bool[Array, "height width"]:
        """An apple came back, as was seen, or known from a meal on a cell that had been bare."""
        return self.before.bare & (self.after.apple | self.meal)


BARE = 1 + STAGES
"""`Seen.tree` without an apple."""
_UNSEEN = 16
"""What a cell out of view adds to the number of apples near."""
_BINS = 256
"""Bins that a byte tells apart."""
_CELLS = 2**16
"""As many cells as a map has at most, since a layout counts them in uint16."""
_SPAN = range(-NEIGHBOUR_DISTANCE, NEIGHBOUR_DISTANCE + 1)
_NEAR = tuple((r, c) for r in _SPAN for c in _SPAN if 0 < abs(r) + abs(c) <= NEIGHBOUR_DISTANCE)
_BESIDE = ((-1, 0), (0, 1), (1, 0), (0, -1))
_Sums = TypeVar("_Sums", Returns, Stages)

MOST_NEAR = len(_NEAR)
"""Cells near another."""


def no_returns(config: HarvestConfig) -> Returns:
    """Nothing seen to come back yet."""
    shape = config.colours, LOSSES
    by_loss, by_nearby = jnp.zeros(shape, jnp.uint16), jnp.zeros((*shape, NEARBY), jnp.uint16)
    return Returns(
        count=by_loss,
        steps=by_loss,
        around=by_loss,
        exposed=by_nearby,
        exposed_count=by_nearby,
    )


def no_stages() -> Stages:
    """No stage timed yet."""
    return Stages(count=jnp.zeros(STAGES, jnp.uint16), steps=jnp.zeros(STAGES, jnp.uint16))


def no_watches(config: HarvestConfig) -> Watches:
    """Nothing is being timed."""
    shape = config.height, config.width
    return Watches(kind=jnp.zeros(shape, jnp.uint8), since=jnp.zeros(shape, jnp.uint16))


def look(config: HarvestConfig, window: Window, observation: Observation) -> Seen:
    """A view laid on the map."""
    own = decode_own(observation.own)
    shape = config.height, config.width
    board, in_view = chart(window, shape, observation.view, own.heading, own.position)
    item, agent = board[..., Plane.ITEM], board[..., Plane.AGENT]
    is_tree = in_view & (item >= Item.APPLE) & (item <= Item.EMPTY_TREE)
    return Seen(
        tree=jnp.where(is_tree, item - jnp.uint8(Item.APPLE - 1), jnp.uint8(0)),
        colour=board[..., Plane.COLOUR] - jnp.uint8(1),
        taken=in_view & (agent > 0),
        other=in_view & (agent > 1),
        hidden=~in_view,
    )


def at_start(watches: Watches, own: Own, before: Seen) -> Watches:
    """As a trial starts, nothing is being timed but the apples in view, which are all new."""
    begins = own.step == 0
    new = (before.tree == 1 + Stage.UNRIPE).astype(jnp.uint8)
    return Watches(
        kind=jnp.where(begins, new, watches.kind),
        since=jnp.where(begins, jnp.uint16(0), watches.since),
    )


def compare(
    config: HarvestConfig,
    watches: Watches,
    own: Own,
    action: Int[Array, ""],
    outcome: Outcome,
    before: Seen,
    after: Seen,
    now: Int[Array, ""],
) -> Change:
    """What a step changed, from the views before and after and the agent's own action."""
    meal = _meal(config, own, action, outcome)
    colour = jnp.where(meal, outcome.eaten_colour.astype(jnp.uint8), after.colour)
    after = dataclasses.replace(after, colour=colour)
    by_others = _losses(config, watches, before, after, now)
    by_self = (Lost.EATEN + outcome.eaten_stage).astype(jnp.uint8)
    lost = jnp.where(meal, by_self, by_others)
    return Change(before=before, after=after, meal=meal, lost=lost, now=now)


def count(
    config: HarvestConfig, returns: Returns, stages: Stages, watches: Watches, change: Change
) -> tuple[Returns, Stages]:
    """The returns and stages with what a step brought.

    Args:
        config: the game.
        returns: before the step.
        stages: before the step.
        watches: before the step.
        change: the step.
    """
    near = _sum_around(change.before.apple + jnp.uint8(_UNSEEN) * change.before.hidden, _NEAR)
    hung = (near % _UNSEEN).astype(jnp.int32)
    timed = jnp.where(change.came | _stage_ended(change), watches.kind, jnp.uint8(0))
    kinds = OPEN + config.colours * LOSSES
    number, around = _sum_pairs(timed, kinds, hung)
    steps = _sum_by(timed, kinds, change.now - watches.since.astype(jnp.int32))
    exposed, came = _exposed(config, watches, change, near)
    by_loss, by_nearby = (config.colours, LOSSES), (config.colours, LOSSES, NEARBY)
    more = Returns(
        count=number[OPEN:].reshape(by_loss),
        steps=steps[OPEN:].reshape(by_loss),
        around=around[OPEN:].reshape(by_loss),
        exposed=exposed.reshape(by_nearby),
        exposed_count=came.reshape(by_nearby),
    )
    return _added(returns, more), _added(stages, Stages(number[1:OPEN], steps[1:OPEN]))


def watch(watches: Watches, change: Change) -> Watches:
    """What is being timed after a step."""
    before, after, lost = change.before, change.after, change.lost
    turned = after.apple & (before.tree > 0) & (before.tree != after.tree)
    same = jnp.where(before.tree == after.tree, watches.kind, jnp.uint8(0))
    opened = jnp.uint8(OPEN - 1) + after.colour * jnp.uint8(LOSSES) + lost
    kept = jnp.where(_still_waits(watches, change), watches.kind, jnp.uint8(0))
    kind = jnp.where(after.apple, jnp.where(turned, after.tree, same), kept)
    step = jnp.minimum(change.now, MOST).astype(jnp.uint16)
    return Watches(
        kind=jnp.where(lost > 0, opened, kind),
        since=jnp.where(turned | (lost > 0), step, watches.since),
    )


def _meal(
    config: HarvestConfig, own: Own, action: Int[Array, ""], outcome: Outcome
) -> Bool[Array, "height width"]:
    """The cell on which the agent ate: that to which it moved, even if it was zapped away then."""
    size = config.height, config.width
    moved_to = wanted_positions(own.position[None], action[None], *size)[0]
    here = jnp.arange(config.cells).reshape(size) == flat(moved_to, config.width)
    return here & (outcome.eaten_colour != NOTHING_EATEN)


def _losses(
    config: HarvestConfig, watches: Watches, before: Seen, after: Seen, now: Int[Array, ""]
) -> UInt8[Array, "height width"]:
    """How each cell lost its apple (`Lost`), own meals aside."""
    gone = before.apple & after.bare
    shortest = config.stage_steps[0]
    soonest = (before.tree.astype(jnp.int32) - 1) * shortest
    start = jnp.where(watches.kind == before.tree, watches.since, soonest)
    is_eaten = now < start + shortest
    near_it = _sum_around((before.other | before.hidden).astype(jnp.uint8), _BESIDE)
    is_rotted = (before.tree == 1 + Stage.OVERRIPE) & ~after.other & (near_it == 0)
    how = jnp.where(is_eaten, before.tree, jnp.where(is_rotted, Lost.ROTTED, Lost.HANGING))
    return jnp.where(gone, how, Lost.HANGING).astype(jnp.uint8)


def _still_waits(watches: Watches, change: Change) -> Bool[Array, "height width"]:
    """Which watches for a return go on while no apple is seen."""
    before, after = change.before, change.after
    visited = after.other & ~before.taken & ~before.hidden
    is_rotted = (watches.kind - OPEN) % LOSSES == Lost.ROTTED - 1
    return (watches.kind >= OPEN) & ~visited & ~(is_rotted & after.hidden)


def _stage_ended(change: Change) -> Bool[Array, "height width"]:
    """Where an apple turned, or rotted."""
    before, after = change.before, change.after
    goes_on = after.apple | (change.lost == Lost.ROTTED)
    return before.apple & (after.tree == before.tree + 1) & goes_on


def _exposed(
    config: HarvestConfig, watches: Watches, change: Change, near: UInt8[Array, "height width"]
) -> tuple[Int32[Array, "columns"], Int32[Array, "columns"]]:
    """`Returns.exposed` and `exposed_count` of a step, flat."""
    before, after = change.before, change.after
    hung = near % _UNSEEN
    is_sure = (near < _UNSEEN) | (hung >= NEARBY - 1)
    stayed = before.bare & after.bare & ~after.other
    exposed = (change.came | stayed) & ~before.taken & is_sure & (watches.kind >= OPEN)
    column = (watches.kind - OPEN) * NEARBY + jnp.minimum(hung, NEARBY - 1)
    columns = config.colours * LOSSES * NEARBY
    bins = jnp.where(exposed, column, jnp.uint8(columns))
    return _sum_pairs(bins, columns, change.came.astype(jnp.int32))


def _added(sums: _Sums, more: _Sums) -> _Sums:
    """The sums with more; an entry of which any number would leave uint16 stays as it is."""
    total = jax.tree.map(lambda old, new: old.astype(jnp.int32) + new, sums, more)
    entries = sums.count.shape
    leaves = [leaf.reshape(*entries, -1) for leaf in jax.tree.leaves(total)]
    fits = (jnp.concatenate(leaves, axis=-1) <= MOST).all(axis=-1)

    def keep(old: Array, new: Array) -> Array:
        here = fits.reshape(*entries, *[1] * (new.ndim - fits.ndim))
        return jnp.where(here, new.astype(old.dtype), old)

    return jax.tree.map(keep, sums, total)


def _sum_pairs(
    bins: UInt8[Array, "height width"], size: int, values: Int32[Array, "height width"]
) -> tuple[Int32[Array, "size"], Int32[Array, "size"]]:
    """How many cells each bin has, and the sum of their small values: two sums in one word."""
    total = _sum_by(bins, size, 1 + values * _CELLS)
    return total % _CELLS, total // _CELLS


def _sum_by(
    bins: UInt8[Array, "height width"], size: int, values: Int32[Array, "height width"]
) -> Int32[Array, "size"]:
    """The values summed by bin; those of bins from `size` on are left out."""
    total = jnp.zeros(_BINS, jnp.int32)
    return total.at[bins.reshape(-1)].add(values.reshape(-1), mode="promise_in_bounds")[:size]


def _sum_around(
    values: UInt8[Array, "height width"], steps: tuple[tuple[int, int], ...]
) -> UInt8[Array, "height width"]:
    """For each cell, the sum over the cells that are these steps away; off the map there is 0."""
    height, width = values.shape
    reach = NEIGHBOUR_DISTANCE
    padded = jnp.pad(values, reach)
    shifted = [padded[reach + r :, reach + c :][:height, :width] for r, c in steps]
    return functools.reduce(jnp.add, shifted)
