"""What two views in a row tell of an orchard: every case drawn by hand."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from osj_envs.grid.codes import Action
from osj_envs.grid.view import Window
from osj_envs.harvest import evidence as records
from osj_envs.harvest.constants import Lost
from osj_envs.harvest.watches import LOSSES, MOST, OPEN
from osj_envs.testing.glimpses import DRAWN, EYE, see, told

RED, YELLOW = 0, 1
ROTTED = Lost.ROTTED - 1
update = jax.jit(records.update, static_argnums=(0, 1))
open_watches = jax.jit(records.open_watches, static_argnums=0)


def watch(*drawings, step=100, evidence=None, action=Action.STAY, outcome=None, config=DRAWN):
    """The record after the drawings, one step apart; the last step has the action and outcome."""
    evidence = records.initial(config) if evidence is None else evidence
    frames = [see(drawing, step + index) for index, drawing in enumerate(drawings)]
    for index, (before, after) in enumerate(itertools.pairwise(frames)):
        is_last = index == len(frames) - 2
        now = (action, outcome or told()) if is_last else (Action.STAY, told())
        evidence = update(config, EYE, evidence, before, jnp.int32(now[0]), after, now[1])
    return evidence


def waits(evidence, step=101) -> dict:
    """The open watches, by (colour, loss)."""
    number = open_watches(DRAWN, evidence, see("^", step))
    return {entry: int(count) for entry, count in np.ndenumerate(np.asarray(number)) if count}


def test_a_meal_is_known_by_its_pay_and_opens_a_watch():
    evidence = watch(
        ". r1 .\n. ^ .", ". r-^ .\n. . .", action=Action.NORTH, outcome=told(RED, 1, 0.5)
    )
    assert evidence.pay.tolist() == [[0, 2, 0], [0, 0, 0]]
    assert evidence.eaten.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert records.payoffs_known(DRAWN, evidence).tolist() == [[False, True, False], [False] * 3]
    assert waits(evidence) == {(RED, 1): 1}
    assert evidence.watches.since[0, 1] == 101


def test_a_meal_counts_by_what_it_was_when_eaten_not_by_what_was_seen_before():
    evidence = watch(
        ". r1 .\n. ^ .", ". r-^ .\n. . .", action=Action.NORTH, outcome=told(RED, 2, 1.0)
    )
    assert waits(evidence) == {(RED, 2): 1}


def test_a_meal_is_recorded_by_one_who_was_zapped_away_from_it():
    far = Window(1, 1, 1)
    before, after = see("y0 ^ . . .", 100, far), see("y- . . . v", 101, far)
    action, outcome = jnp.int32(Action.WEST), told(YELLOW, 0, 0.25)
    evidence = update(DRAWN, far, records.initial(DRAWN), before, action, after, outcome)
    assert waits(evidence) == {(YELLOW, 0): 1}
    assert evidence.watches.kind[0, 0] == OPEN + YELLOW * LOSSES


@pytest.mark.parametrize(
    ("step", "stage", "loss"),
    [(0, 0, 0), (13, 0, 0), (14, 0, None), (28, 1, 1), (29, 1, None), (43, 2, 2)],
)
def test_an_apple_that_another_ate_is_recorded_if_it_cannot_have_turned(step, stage, loss):
    """By the clock: no apple is ripe before step 15, over-ripe before 30, rotten before 45."""
    before, after = f". r{stage} *\n. ^ .", ". r-* .\n. ^ ."
    found = waits(watch(before, after, step=step), step + 1)
    assert found == ({} if loss is None else {(RED, loss): 1})


@pytest.mark.parametrize(("age", "is_sure"), [(1, True), (14, True), (15, False), (19, False)])
def test_so_is_one_whose_stage_was_seen_to_start_not_long_ago(age, is_sure):
    """Eaten at this age of a stage that takes 15 steps or more."""
    turned = watch(". r0 *\n. ^ .", *[". r1 *\n. ^ ."] * age, ". r-* .\n. ^ .", step=100)
    assert waits(turned) == ({(RED, 1): 1} if is_sure else {})


def test_not_if_it_was_out_of_view_meanwhile():
    hidden = HIDDEN_FROM_ABOVE
    turned = watch(". . r0\n. . ^\n. . .", ". . r1\n. . ^\n. . .")
    narrow = Window(9, 0, 1)
    frames = [see(each, 101 + i, narrow) for i, each in enumerate(hidden)]
    for before, after in itertools.pairwise(frames):
        turned = update(DRAWN, narrow, turned, before, jnp.int32(7), after, told())
    assert waits(turned) == {}


HIDDEN_FROM_ABOVE = (
    ". . r1\n. . ^\n. . .",
    ". . r1\n. . v\n. . .",
    ". . r1\n. . ^\n. . .",
    ". . r-*\n. . ^\n. . .",
)


def test_an_over_ripe_apple_that_leaves_alone_has_rotted():
    assert waits(watch(". r2 .\n. ^ .", ". r- .\n. ^ .")) == {(RED, ROTTED): 1}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (". r2 *\n. ^ .", ". r-* .\n. ^ ."),
        (". r2 *\n. ^ .", ". r- *\n. ^ ."),
        (". r2 *\n. ^ .", ". r- .\n. ^ *"),
    ],
)
def test_it_is_unsure_with_another_on_the_cell_or_beside_it(before, after):
    assert waits(watch(before, after)) == {}


def test_it_is_unsure_if_a_cell_beside_it_was_out_of_view():
    window = Window(1, 0, 1)
    frames = [see(each, 100 + i, window) for i, each in enumerate((". .\nr2 ^", ". .\nr- ^"))]
    evidence = records.initial(DRAWN)
    evidence = update(DRAWN, window, evidence, frames[0], jnp.int32(7), frames[1], told())
    assert waits(evidence) == {}


def test_turning_apples_and_standing_ones_are_no_losses():
    evidence = watch("r0 r1\n. ^", "r1 r2\n. ^", "r1 r2\n. ^")
    assert waits(evidence) == {}
    assert evidence.watches.kind[0, :2].tolist() == [2, 3]


ROTS = (". r2 r0\n. ^ r1", ". r- r0\n. ^ r1")


def test_a_return_is_timed_with_what_hung_around():
    evidence = watch(*ROTS, ROTS[1], ROTS[1], ". r0 r1\n. ^ r-")
    returns = evidence.returns
    assert returns.count.tolist() == [[0, 0, 0, 1], [0] * 4]
    assert returns.steps[RED, ROTTED] == 3
    assert returns.around[RED, ROTTED] == 2
    assert returns.exposed[RED, ROTTED].tolist() == [0, 0, 3, 0]
    assert returns.exposed_count[RED, ROTTED].tolist() == [0, 0, 1, 0]
    assert waits(evidence) == {}
    assert evidence.watches.kind[0, 1] == 1  # an apple whose start was seen


def test_an_apple_that_came_and_went_in_one_step_was_eaten_by_the_agent_itself():
    evidence = watch(*ROTS, ". r-^ r0\n. . r1", action=Action.NORTH, outcome=told(RED, 0, 1.0))
    assert evidence.returns.count[RED, ROTTED] == 1
    assert evidence.returns.steps[RED, ROTTED] == 1
    assert waits(evidence, 102) == {(RED, 0): 1}


def test_a_watch_ends_untimed_if_another_steps_on_the_cell():
    evidence = watch(*ROTS, ". r-* r0\n. ^ r1", ". r- r0\n. ^ r1", ". r0 r0\n. ^ r1")
    assert not evidence.returns.count.any()
    assert not evidence.returns.exposed.any()


def test_one_who_stays_on_the_cell_only_suspends_it():
    """Nothing grows under an agent: the steps do not count as chances."""
    eaten = (". r0 *\n. ^ .", ". r-* .\n. ^ .", ". r-* .\n. ^ .", ". r- *\n. ^ .")
    evidence = watch(*eaten, ". r0 *\n. ^ .", step=3)
    assert evidence.returns.count[RED, 0] == 1
    assert evidence.returns.steps[RED, 0] == 3
    assert evidence.returns.exposed.sum() == 1


def out_of_view(first, *later):
    """A loss seen, then the cell out of view, then in view again."""
    window = Window(9, 0, 1)
    evidence = records.initial(DRAWN)
    frames = [first[0], first[1], ". . .\n. v .\n. . .", *later]
    seen = [see(each, 3 + i, window) for i, each in enumerate(frames)]
    for before, after in itertools.pairwise(seen):
        evidence = update(DRAWN, window, evidence, before, jnp.int32(7), after, told())
    return evidence


EATEN = (". r0 *\n. ^ .\n. . .", ". r-* .\n. ^ .\n. . .")
STILL_BARE, BACK = ". r- .\n. ^ .\n. . .", ". r0 .\n. ^ .\n. . ."


def test_a_watch_of_an_eaten_apple_survives_going_out_of_view():
    assert waits(out_of_view(EATEN)) == {(RED, 0): 1}
    returns = out_of_view(EATEN, STILL_BARE, BACK).returns
    assert returns.count[RED, 0] == 1
    assert returns.steps[RED, 0] == 3


def test_it_ends_untimed_if_an_apple_is_found_back():
    evidence = out_of_view(EATEN, BACK)
    assert not evidence.returns.count.any()
    assert waits(evidence) == {}


def test_a_watch_of_a_rotted_apple_ends_out_of_view():
    rotted = (". r2 .\n. . .\n. ^ .", ". r- .\n. . .\n. ^ .")
    window, evidence = EYE, records.initial(DRAWN)
    narrow = Window(9, 0, 1)
    seen = [see(each, 100 + i, window) for i, each in enumerate(rotted)]
    evidence = update(DRAWN, window, evidence, seen[0], jnp.int32(7), seen[1], told())
    assert waits(evidence) == {(RED, ROTTED): 1}
    away = see(". r- .\n. . .\n. v .", 101, narrow)
    evidence = update(DRAWN, narrow, evidence, away, jnp.int32(7), away, told())
    assert waits(evidence) == {}


def test_chances_count_only_where_all_that_hangs_around_is_seen_or_it_is_enough():
    window = Window(2, 0, 1)

    def chances(drawing):
        evidence = records.initial(DRAWN)
        kind = evidence.watches.kind.at[2, 3].set(OPEN)
        evidence = evidence.replace(watches=evidence.watches.replace(kind=kind))
        frame, later = see(drawing, 100, window), see(drawing, 101, window)
        evidence = update(DRAWN, window, evidence, frame, jnp.int32(7), later, told())
        return evidence.returns.exposed[RED, 0].tolist()

    few = ". . . . . . .\n. . r0 r0 . . .\n. . . r- . . .\n. . . ^ . . ."
    many = few.replace(". . . r- . . .", ". . r1 r- . . .")
    assert chances(few) == [0, 0, 0, 0]
    assert chances(many) == [0, 0, 0, 1]


def test_stages_are_timed_from_start_to_end():
    ripening = ["r0\n^"] * 15 + ["r1\n^"] * 17 + ["r2\n^"] * 16 + ["r-\n^"]
    evidence = watch(*ripening, step=0)
    assert evidence.stages.count.tolist() == [1, 1, 1]
    assert evidence.stages.steps.tolist() == [15, 17, 16]


def test_a_stage_whose_start_was_missed_is_not_timed():
    assert not watch("r0\n^", "r0\n^", "r1\n^", step=1).stages.count.any()
    assert watch("r0\n^", "r1\n^", step=0).stages.count.tolist() == [1, 0, 0]


def test_a_stage_that_ended_by_a_meal_is_not_timed():
    ate = told(RED, 2, 1.0)
    evidence = watch("r1\n^", "r2\n^", "r-^\n.", action=Action.NORTH, outcome=ate)
    assert evidence.watches.kind[0, 0] == OPEN + 2
    assert not evidence.stages.count.any()


def test_a_new_trial_wipes_the_watches_and_keeps_what_is_known():
    evidence = watch(*ROTS, ". r0 r0\n. ^ r1")
    evidence = watch(*ROTS, evidence=evidence, step=103)
    assert waits(evidence) == {(RED, ROTTED): 1}
    assert waits(evidence, step=0) == {}
    later = watch(". r- r0\n. ^ r0", ". r0 r0\n. ^ r0", evidence=evidence, step=0)
    assert later.returns.count[RED, ROTTED] == 1
    np.testing.assert_array_equal(later.returns.count, evidence.returns.count)
    assert later.watches.kind[:2, 1:3].tolist() == [[1, 1], [0, 1]]
    assert later.watches.since[0].tolist()[1:3] == [1, 0]


def test_counts_stay_at_their_greatest_and_sums_stop_together():
    evidence = records.initial(DRAWN)
    full = evidence.returns.replace(
        count=evidence.returns.count.at[RED, ROTTED].set(700),
        steps=evidence.returns.steps.at[RED, ROTTED].set(MOST - 2),
        exposed=evidence.returns.exposed.at[RED, ROTTED, 2].set(9),
    )
    evidence = evidence.replace(
        returns=full, eaten=jnp.full_like(evidence.eaten, MOST), stages=evidence.stages
    )
    after = watch(*ROTS, *[ROTS[1]] * 2, ". r0 r0\n. ^ r1", evidence=evidence)
    assert after.returns.count[RED, ROTTED] == 700
    assert after.returns.steps[RED, ROTTED] == MOST - 2
    assert after.returns.exposed[RED, ROTTED, 2] == 11  # the return itself found no room
    meal = told(RED, 1, 1.0)
    ate = watch("r1\n^", "r-^\n.", action=Action.NORTH, outcome=meal, evidence=evidence)
    assert (ate.eaten == MOST).all()


def test_time_beyond_the_greatest_number_stays_there():
    evidence = watch(*ROTS, step=99_000)
    assert evidence.watches.since[0, 1] == MOST
