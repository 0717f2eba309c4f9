"""The records of OpenHarvest: rules, latent, world, outcome and the draws of a step."""

from flax import struct
from jaxtyping import Array, Bool, Float, Int, Int8, UInt8, UInt16, UInt32

from osj_envs.grid.movement import Agents

NOTHING_EATEN = -1
"""`Outcome.eaten_colour` and `eaten_stage` of an agent that ate nothing."""


@struct.dataclass
class Rules:
    """What an apple pays and how fast its cell regrows, by its colour and stage when eaten.

    Attributes:
        pay: place in `HarvestConfig.pays`; each colour has every place exactly once.
        speed: place in `HarvestConfig.speeds`; likewise.
    """

    pay: Int8[Array, "colours stages"]
    speed: Int8[Array, "colours stages"]


@struct.dataclass
class Layout:
    """A map, as flat cell numbers (row * width + column).

    Attributes:
        trees: patch by patch, in the order of `HarvestConfig.patch_of_tree`; within a patch in
            the order of its shape before it was turned, so that neighbours are the same always.
        spawns: a straight run in one row.
    """

    trees: UInt16[Array, "trees"]
    spawns: UInt16[Array, "spawns"]


@struct.dataclass
class Latent:
    """Drawn once an episode and hidden from the agents (paper, section 3.2).

    Attributes:
        rules: pay and speed of each colour and stage.
        layout: where the trees and spawn cells are.
        patch_colour: colour of each patch, 0 .. colours - 1.
    """

    rules: Rules
    layout: Layout
    patch_colour: Int8[Array, "patches"]


@struct.dataclass
class Trees:
    """The state of every tree, in the order of `Layout.trees`.

    Attributes:
        lost: how the cell lost its apple (`Lost`): 0 while one hangs, 1 + stage after it was
            eaten, `Lost.ROTTED` after it rotted.
        age: steps since the apple appeared; meaningless where none hangs.
        stage_steps: steps that each of the apple's stages takes; likewise.
        delay: steps until a rotted cell regrows; meaningless for any other cell.
    """

    lost: UInt8[Array, "trees"]
    age: UInt8[Array, "trees"]
    stage_steps: UInt8[Array, "trees"]
    delay: UInt8[Array, "trees"]


@struct.dataclass
class World:
    """A trial in progress.

    Attributes:
        trees: what hangs where.
        layout: the map, which agents see.
        tree_colour: colour of each tree, which agents see.
        agents: where they stand and face.
        frozen: steps for which each agent still cannot act, int32.
        cooldown: steps for which each agent still cannot zap, int32.
    """

    trees: Trees
    layout: Layout
    tree_colour: Int8[Array, "trees"]
    agents: Agents
    frozen: Int[Array, "agents"]
    cooldown: Int[Array, "agents"]


@struct.dataclass
class Outcome:
    """What each agent is told of its own action, and of nothing else.

    Attributes:
        reward: its reward, float32.
        blocked: it wanted to move and stayed where it was.
        eaten_colour: colour of the apple that it ate, or `NOTHING_EATEN`; int32.
        eaten_stage: stage of that apple, or `NOTHING_EATEN`; int32.
        zapped: it was hit, and has been sent to a spawn cell.
    """

    reward: Float[Array, "agents"]
    blocked: Bool[Array, "agents"]
    eaten_colour: Int[Array, "agents"]
    eaten_stage: Int[Array, "agents"]
    zapped: Bool[Array, "agents"]


@struct.dataclass
class Draws:
    """All chance of one step, drawn before the deterministic core.

    Attributes:
        tree: a random word for each tree; decides, as it is needed, whether an eaten cell regrows,
            the steps of a new apple's stages, and the delay of a cell whose apple rots.
        priority: random words: who wins a contested cell, and who of those zapped goes to the
            first refuge.
        heading: where an agent faces after it was zapped.
        refuge: random words: the order in which cells are given to those zapped; the spawn cells,
            then, where they may not be enough, all cells of the map.
    """

    tree: UInt32[Array, "trees"]
    priority: UInt32[Array, "agents"]
    heading: Int[Array, "agents"]
    refuge: UInt32[Array, "refuges"]
