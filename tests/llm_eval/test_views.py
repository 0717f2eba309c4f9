"""A seat's record, patches and events in words, from records and views made by hand."""

import dataclasses

import jax
import numpy as np

from llm_eval.prompts.examples import example_worlds
from llm_eval.prompts.system import game_text
from llm_eval.views.patches import patch_lines, remember
from llm_eval.views.witness import Witness, last_seen, of_trial, watch
from osj_envs.cleanup import evidence as cleanup
from osj_envs.grid.codes import Heading, Item
from osj_envs.harvest import evidence as harvest
from osj_envs.harvest.watches import OPEN
from tests.llm_eval.games import make


def test_shots_are_listed_as_they_were_and_nothing_else() -> None:
    env = make("cleanup")
    record = jax.device_get(cleanup.initial(env.game.config))
    assert game_text(env).rules_known(record) == "nothing yet"
    effect, count = np.array(record.effect), np.array(record.count)
    effect[1, 0], count[1, 0] = cleanup.Known.CLEARED, 3
    effect[1, 2], count[1, 2] = cleanup.Known.NO_EFFECT, 1
    effect[11, 14], count[11, 14] = cleanup.Known.LIGHTENED, 2
    text = game_text(env).rules_known(record.replace(effect=effect, count=count))
    assert text.splitlines() == [
        "- fired 0 then 1 at light red waste: cleared it to water (3 cells); "
        "dark red waste: no effect (1 cell)",
        "- fired 2 then 3 at dark purple waste: made it one shade lighter (2 cells)",
    ]


def test_meals_returns_and_stages_are_listed_as_they_were_and_nothing_else() -> None:
    env = make("harvest")
    record = jax.device_get(harvest.initial(env.game.config))
    assert game_text(env).rules_known(record) == "nothing yet"
    pay, eaten = np.array(record.pay), np.array(record.eaten)
    pay[3, 1], eaten[3, 1] = 2, 4
    returns = {
        field.name: np.array(getattr(record.returns, field.name))
        for field in dataclasses.fields(record.returns)
    }
    returns["count"][3, 1], returns["steps"][3, 1], returns["around"][3, 1] = 2, 51, 5
    returns["exposed"][3, 1, 3], returns["exposed_count"][3, 1, 3] = 51, 2
    returns["exposed"][0, 3, 0] = 1
    stages = record.stages.replace(
        count=np.array([2, 0, 1], np.uint16), steps=np.array([35, 0, 16], np.uint16)
    )
    record = record.replace(
        pay=pay, eaten=eaten, returns=record.returns.replace(**returns), stages=stages
    )
    assert game_text(env).rules_known(record).splitlines() == [
        "- ripe cyan apple: paid you 0.5 points (eaten 4 times)",
        "- red tree, rotted: with no apple near watched for 1 step, came back 0 times",
        "- cyan tree, eaten ripe: seen to come back 2 times, after 25.5 steps and with 2.5 apples "
        "near on average; with 3 or more apples near watched for 51 steps, came back 2 times",
        "- unripe apples turned ripe after 17.5 steps on average (2 apples)",
        "- over-ripe apples rotted after 16.0 steps on average (1 apple)",
    ]


def test_emptied_cells_are_waited_on_within_a_trial_alone() -> None:
    env = make("harvest")
    game, (observation, record) = game_text(env), example_worlds(game_text(env))[1]
    kind, since = np.array(record.watches.kind), np.array(record.watches.since)
    kind[0, 1], since[0, 1] = OPEN + 1, 3
    record = record.replace(watches=record.watches.replace(kind=kind, since=since))
    sight = game.look(observation)
    assert game.now(sight, record, ()).endswith("Emptied cells that you wait on:\nnone")
    later = dataclasses.replace(sight, own=sight.own.replace(step=10))
    line = "- row 0, column 1: bare red tree, eaten ripe 7 steps ago"
    assert game.now(later, record, ()).endswith(f"Emptied cells that you wait on:\n{line}")


def test_trees_that_stand_together_are_one_patch_as_last_seen() -> None:
    old = [(0, 0, 2, Item.APPLE, 1), (0, 1, 2, Item.APPLE, 1), (9, 9, 2, Item.EMPTY_TREE, 2)]
    new = [(0, 1, 2, Item.RIPE_APPLE, 5), (0, 3, 2, Item.OVERRIPE_APPLE, 5)]
    assert list(patch_lines(remember(old, new), 6)) == [
        "green, rows 0 to 0, columns 0 to 3: 3 trees seen, 1 unripe, 1 ripe, 1 over-ripe, 0 bare "
        "(some of it last seen 5 steps ago)",
        "green, rows 9 to 9, columns 9 to 9: 1 tree seen, 0 unripe, 0 ripe, 0 over-ripe, 1 bare "
        "(some of it last seen 4 steps ago)",
    ]


def test_what_another_agent_does_is_told_from_two_views() -> None:
    game = game_text(make("harvest"))
    sight = game.look(example_worlds(game)[0][0])

    def seen(step: int, cell: tuple[int, int] | None, turned: int, item: int) -> object:
        agent, heading, items = sight.agent.copy(), sight.turned.copy(), sight.item.copy()
        items[0, 1] = item
        if cell is not None:
            agent[cell], heading[cell] = 3, turned
        own = sight.own.replace(step=step)
        return dataclasses.replace(sight, own=own, agent=agent, turned=heading, item=items)

    moves = [(None, 1), ((0, 2), 1), ((0, 1), 1), ((0, 1), 2), ((0, 1), 2), (None, 1)]
    witness, told = Witness(), []
    for step, (cell, turned) in enumerate(moves):
        item = Item.APPLE if step < 2 else Item.EMPTY_TREE
        witness = watch(game, witness, seen(step, cell, turned, item))
        told += [last_seen(other, step) for other in witness.others]
    at = "at row 0, column 1, on bare red tree, facing"
    assert told == [
        "C, in view now: at row 0, column 2, on ground, facing north; it came into view",
        f"C, in view now: {at} north; it moved west, onto the unripe red apple that was there",
        f"C, in view now: {at} east; it turned",
        f"C, in view now: {at} east; it stood still",
        f"C, last seen 1 step ago: {at} east; it stood still",
    ]
    assert of_trial(witness.others[0]) == (
        "C was in view for 4 steps (3 on bare red tree, 1 on ground) and went onto an apple 1 time"
    )
    assert Heading(witness.others[0].heading) == Heading.EAST


def test_changes_in_view_are_told_and_too_many_are_counted() -> None:
    game = game_text(make("cleanup"))
    sight = game.look(example_worlds(game)[0][0])
    before = watch(game, Witness(), sight)
    item, colour = sight.item.copy(), sight.colour.copy()
    item[0, 1], colour[0, 1] = Item.WATER, 0
    own = sight.own.replace(step=1)
    after = dataclasses.replace(sight, own=own, item=item, colour=colour)
    assert watch(game, before, after).events == ("row 0, column 1: light red waste became water",)
    flooded = np.where(sight.item == Item.GROUND, Item.WATER, sight.item).astype(np.uint8)
    many = watch(game, before, dataclasses.replace(sight, own=own, item=flooded)).events
    assert len(many) == 13
    assert many[-1].endswith("more cells changed")
