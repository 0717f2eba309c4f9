"""What a player remembers of the board, against the boards that it has seen; looking around."""

import jax
import jax.numpy as jnp
import numpy as np

from baselines import memory as memories
from baselines.memory import NOT_YET, UNSEEN, glance
from osj_envs.grid.chart import chart
from osj_envs.grid.codes import Action
from osj_envs.grid.movement import Agents
from osj_envs.grid.view import Window, egocentric_views

HEIGHT, WIDTH, STEPS = 7, 9, 40
WINDOW = Window(ahead=2, behind=1, side=1)


def renew(item, colour):
    """Odd items stay, even ones become 2; colours go."""
    return jnp.where(item % 2 == 1, item, jnp.where(item == UNSEEN, item, 2)), jnp.zeros_like(
        colour
    )


@jax.jit
def remember(memory, item, colour, position, heading, step, is_first):
    agents = Agents(position=position, heading=heading)
    view = egocentric_views(WINDOW, item, colour, agents)[0]
    return memories.update(memory, WINDOW, view, heading[0], position[0], step, is_first, renew)


@jax.jit
def in_view(position, heading):
    blank = jnp.zeros((WINDOW.rows, WINDOW.cols, 4), jnp.uint8)
    return chart(WINDOW, (HEIGHT, WIDTH), blank, heading, position)[1]


def test_the_last_sight_of_each_cell_is_remembered_and_renewed_as_a_trial_starts():
    """Against a slow memory, over boards and places that change at random."""
    rng = np.random.default_rng(0)
    memory = memories.initial((HEIGHT, WIDTH))
    item = np.full((HEIGHT, WIDTH), UNSEEN)
    colour = np.zeros((HEIGHT, WIDTH), int)
    seen_at = np.full((HEIGHT, WIDTH), NOT_YET)
    for index in range(STEPS):
        step = index % 15
        board = rng.integers(1, 17, (2, HEIGHT, WIDTH)).astype(np.uint8)
        cells = rng.choice(HEIGHT * WIDTH, 3, replace=False)
        position = np.stack(np.divmod(cells, WIDTH), axis=-1).astype(np.int32)
        heading = rng.integers(0, 4, 3).astype(np.int32)
        memory = remember(memory, *board, position, heading, step, step == 0)
        if step == 0:
            item, colour = map(np.array, renew(jnp.array(item), jnp.array(colour)))
            seen_at[:] = NOT_YET
        seen = np.asarray(in_view(position[0], heading[0]))
        item[seen], colour[seen], seen_at[seen] = board[0][seen], board[1][seen], step
        others = np.zeros((HEIGHT, WIDTH), bool)
        others[position[1:, 0], position[1:, 1]] = True
        np.testing.assert_array_equal(memory.item, item)
        np.testing.assert_array_equal(memory.colour, colour)
        np.testing.assert_array_equal(memory.seen_at, seen_at)
        np.testing.assert_array_equal(memory.others, others & seen)
        np.testing.assert_array_equal(memories.age(memory, step), step - seen_at)
    assert (item == UNSEEN).sum() < item.size // 4


def test_a_glance_turns_to_the_side_that_shows_more():
    rng = np.random.default_rng(1)
    look = jax.jit(lambda wanted, heading, place: glance(WINDOW, wanted, heading, place))
    seen_actions = set()
    for _ in range(150):
        wanted = jnp.array(rng.random((HEIGHT, WIDTH)) < 0.06)
        position = jnp.array([rng.integers(HEIGHT), rng.integers(WIDTH)])
        heading = jnp.int32(rng.integers(4))
        right, back, left = (
            int((wanted & in_view(position, (heading + turn) % 4)).sum()) for turn in (1, 2, 3)
        )
        found = look(wanted, heading, position)
        assert found.shows == max(right, back, left)
        expected = Action.TURN_RIGHT if right > left else Action.TURN_LEFT
        assert found.action == (expected if max(right, back, left) else Action.STAY)
        seen_actions.add(int(found.action))
    assert len(seen_actions) == 3


def test_looking_round_shows_everything_within_reach():
    """Glances alone bring every wanted cell into view that some heading shows."""
    wanted = jnp.ones((HEIGHT, WIDTH), bool)
    position, heading = jnp.array([3, 4]), jnp.int32(0)
    for _ in range(5):
        wanted = wanted & ~in_view(position, heading)
        found = glance(WINDOW, wanted, heading, position)
        turn = {Action.TURN_RIGHT: 1, Action.TURN_LEFT: -1, Action.STAY: 0}[int(found.action)]
        heading = (heading + turn) % 4
    assert found.shows == 0
    shown = [in_view(position, jnp.int32(way)) for way in range(4)]
    assert not (wanted & jnp.stack(shown).any(axis=0)).any()
