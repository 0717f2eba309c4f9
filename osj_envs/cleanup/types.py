"""The records of OpenCleanup: rules, latent, world, outcome and the draws of a step."""

import enum

from flax import struct
from jaxtyping import Array, Bool, Float, Int, Int8, Int32, UInt8, UInt32

from osj_envs.grid.movement import Agents

EMPTY_SLOT = -1
"""A slot of the pick-up window that holds nothing."""

NO_COLOUR = -1
"""`Outcome.hit_colour` where a shot hit no waste."""


class ShotEffect(enum.IntEnum):
    """What an agent's own shot did to a waste cell that it hit."""

    NOTHING = 0
    LIGHTENED = 1
    CLEARED = 2


@struct.dataclass
class Rules:
    """What each tool does.

    Attributes:
        effect: the effect of the ordered pair `first * base_tools + second`: `NOTHING`,
            `clears(hue)` or `lightens(shade)`. Each effect but `NOTHING` occurs exactly once.
    """

    effect: Int8[Array, "pairs"]


@struct.dataclass
class HiddenTools:
    """The rules together with the hue that makes them matter: what `recipe_split` cuts.

    Attributes:
        rules: what each tool does.
        dominant_hue: the episode's dominant hue of waste.
    """

    rules: Rules
    dominant_hue: Int32[Array, ""]


@struct.dataclass
class Latent:
    """Drawn once an episode and hidden from the agents (paper, section 3.2).

    Attributes:
        rules: what each ordered pair of pick-ups does.
        layout: `Terrain` codes of the map.
        dominant_hue: the hue that most waste has, 0 .. hues - 1.
    """

    rules: Rules
    layout: UInt8[Array, "height width"]
    dominant_hue: Int[Array, ""]


@struct.dataclass
class World:
    """A trial in progress.

    Attributes:
        item: `Item` codes of what lies on each cell, also under agents.
        colour: 1 + hue where there is waste, 0 elsewhere.
        agents: where they stand and face.
        window: the last two pick-ups, older first, `EMPTY_SLOT` where there is none yet; int32.
        last_tool: the working pair that each agent held last in this trial, or -1; kept for the
            metrics, never seen by a policy; int32.
    """

    item: UInt8[Array, "height width"]
    colour: UInt8[Array, "height width"]
    agents: Agents
    window: Int[Array, "agents 2"]
    last_tool: Int[Array, "agents"]


@struct.dataclass
class Outcome:
    """What each agent is told of its own action, and of nothing else.

    Attributes:
        reward: its reward, float32.
        blocked: it wanted to move and stayed where it was.
        hit_colour: for each cell of its shot (order of `grid.beam`), the waste's colour code
            (hue * shades + shade) before the shot, or `NO_COLOUR`; int32.
        hit_effect: for each cell of its shot, the `ShotEffect`; int32.
    """

    reward: Float[Array, "agents"]
    blocked: Bool[Array, "agents"]
    hit_colour: Int[Array, "agents beam"]
    hit_effect: Int[Array, "agents beam"]


@struct.dataclass
class Draws:
    """All chance of one step, drawn before the deterministic core.

    Attributes:
        cell: a random word for each cell; decides growth on orchard cells and, the greatest one
            among the clean, where waste spawns on river cells.
        spawn: uniform in [0, 1): whether waste spawns.
        skew: uniform in [0, 1): whether spawned waste has the dominant hue.
        hue: hue of spawned waste that does not, 0 .. hues - 1.
        shade: shade of spawned waste, 0 .. shades - 1.
        priority: random words: who wins a contested cell.
    """

    cell: UInt32[Array, "height width"]
    spawn: Float[Array, ""]
    skew: Float[Array, ""]
    hue: Int[Array, ""]
    shade: Int[Array, ""]
    priority: UInt32[Array, "agents"]
