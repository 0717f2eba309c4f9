"""The patches of OpenHarvest that a seat has seen in a trial."""

import collections
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from llm_eval.views.words import counted
from osj_envs.grid.codes import Item
from osj_envs.harvest.constants import NEIGHBOUR_DISTANCE, STAGES
from osj_envs.harvest.names import COLOURS
from osj_envs.harvest.names import STAGES as STAGE_NAMES

Tree: TypeAlias = tuple[int, ...]
"""Row, column, colour, item, and the step at which it was last seen."""


def remember(trees: Sequence[Tree], seen: Sequence[Tree]) -> tuple[Tree, ...]:
    """All trees, each as it was last seen, row by row."""
    latest = {tree[:2]: tree for tree in (*trees, *seen)}
    return tuple(sorted(latest.values()))


def patch_lines(trees: Sequence[Tree], now: int) -> Iterator[str]:
    """A line for each patch, as far as it was seen."""
    for patch in _patches(trees):
        rows, cols, steps = ([tree[i] for tree in patch] for i in (0, 1, 4))
        hanging = collections.Counter(tree[3] for tree in patch)
        stages = [f"{hanging[Item.APPLE + i]} {STAGE_NAMES[i]}" for i in range(STAGES)]
        ago = counted(now - min(steps), "step")
        seen = "all in view now" if min(steps) == now else f"some of it last seen {ago} ago"
        yield (
            f"{COLOURS[patch[0][2]]}, rows {min(rows)} to {max(rows)}, columns {min(cols)} to "
            f"{max(cols)}: {counted(len(patch), 'tree')} seen, {', '.join(stages)}, "
            f"{hanging[Item.EMPTY_TREE]} bare ({seen})"
        )


def _patches(trees: Sequence[Tree]) -> list[list[Tree]]:
    """Trees of one colour that stand nearer to each other than patches do, joined."""
    patches: list[list[Tree]] = []
    for tree in trees:
        near = [patch for patch in patches if any(_is_near(tree, other) for other in patch)]
        joined = sorted(sum(near, [tree]))
        patches = [patch for patch in patches if not any(patch is each for each in near)]
        patches.append(joined)
    return sorted(patches)


def _is_near(one: Tree, other: Tree) -> bool:
    distance = max(abs(one[0] - other[0]), abs(one[1] - other[1]))
    return distance <= NEIGHBOUR_DISTANCE and one[2] == other[2]
