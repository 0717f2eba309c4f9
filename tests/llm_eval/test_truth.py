"""The prompt tells the truth: what ACTIONS NOW states is done in the environment, and compared."""

import re
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from llm_eval.prompts.system import game_text
from llm_eval.replies import ACTIONS
from llm_eval.views.cleanup import hand_name
from osj_envs.cleanup.evidence import Known
from osj_envs.cleanup.evidence import initial as no_shots
from osj_envs.cleanup.names import waste_name
from osj_envs.cleanup.types import NO_COLOUR, ShotEffect
from osj_envs.grid.codes import Action, Heading
from osj_envs.grid.names import HEADINGS, agent_name
from osj_envs.harvest.evidence import initial as no_meals
from osj_envs.harvest.names import apple_name
from osj_envs.harvest.observation import board as harvest_board
from tests.llm_eval.games import GAMES, make
from tests.llm_eval.worlds import Board, scatter

CELL = r"row (\d+), column (\d+)"
BOARDS = 40
EFFECTS = {
    ShotEffect.NOTHING: "no effect",
    ShotEffect.LIGHTENED: "made it one shade lighter",
    ShotEffect.CLEARED: "cleared it to water",
}


def half_known(board: Board, rng: np.random.Generator) -> Any:
    """A true record of about half of the rules."""
    config, rules = board.env.game.config, board.latent.rules
    if board.env.name == "harvest":
        known = rng.random(rules.pay.shape) < 0.5
        pay = np.where(known, 1 + np.array(rules.pay), 0)
        return no_meals(config).replace(pay=pay.astype(np.uint8), eaten=known.astype(np.uint16))
    effect = np.full((config.pairs, config.colours), Known.NO_EFFECT)
    for pair, what in enumerate(np.array(rules.effect).tolist()):
        for colour in range(config.colours):
            hue, shade = divmod(colour, config.shades)
            if shade == 0 and what == 1 + hue:
                effect[pair, colour] = Known.CLEARED
            elif shade > 0 and what == config.hues + shade:
                effect[pair, colour] = Known.LIGHTENED
    known = rng.random(effect.shape) < 0.5
    effect = np.where(known, effect, Known.NEVER_TRIED).astype(np.uint8)
    return no_shots(config).replace(effect=effect, count=known.astype(np.uint16))


@pytest.mark.parametrize("name", GAMES)
def test_every_action_does_what_the_prompt_says(name: str) -> None:
    env, rng = make(name), np.random.default_rng(5)
    game, met = game_text(env), set()
    for _ in range(BOARDS):
        board = scatter(env, rng)
        evidence = half_known(board, rng)
        for seat in range(env.num_agents):
            sight = game.look(board.observation(seat))
            lines = game.actions(sight, evidence)
            for action, line in enumerate(lines):
                label, what = line.split(": ", 1)
                assert label == ACTIONS[name][action]
                actions = np.full(env.num_agents, Action.STAY)
                actions[seat] = action
                played = board.step(actions)
                met |= CHECKS[name](board, seat, action, what, played)
            met.add(HEADINGS[sight.heading])
    assert met == KINDS[name], f"not every kind of statement was met: {KINDS[name] ^ met}"


def check_move(board: Board, seat: int, what: str, played: Any, label: Any) -> set[str]:
    before = tuple(np.array(board.world.agents.position[seat]).tolist())
    after = tuple(np.array(played.world.agents.position[seat]).tolist())
    if what == "the map ends there; you would stay where you are":
        assert after == before
        return {"edge"}
    found = re.fullmatch(rf"to {CELL}: ([^;]*)(?:; (\w+) is there now, .*?)?(?:; (you .*))?", what)
    assert found, what
    goal = int(found[1]), int(found[2])
    assert found[3] == label(goal)
    who = next((s for s, p in enumerate(positions(board)) if p == goal), None)
    assert found[4] == (None if who is None else letter(board, seat, who))
    assert after == (goal if who is None else before)
    if found[5] is None:
        assert played.reward[seat] == 0
    return {"move", "taken" if who is not None else "free"} | ({"meal"} if found[5] else set())


def check_cleanup(board: Board, seat: int, action: int, what: str, played: Any) -> set[str]:
    if action <= Action.WEST:
        kinds = check_move(board, seat, what, played, lambda cell: cleanup_label(board, cell))
        assert (played.reward[seat] == 1) == ("; you would eat it" in what)
        return kinds
    if action == Action.BEAM:
        return check_fire(board, seat, what, played)
    if action == Action.PICK_UP:
        hand = hand_name(played.world.window[seat].tolist())
        if what == "nothing: you are on no station":
            assert hand == hand_name(np.array(board.world.window[seat]).tolist())
            return {"no station"}
        assert re.fullmatch(rf"take base tool \d+; your hand would be {re.escape(hand)}", what)
        return {"pick-up"}
    return check_turn(board, seat, what, played)


def check_fire(board: Board, seat: int, what: str, played: Any) -> set[str]:
    outcome, config = played.outcome, board.env.game.config
    hits = {}
    colours, effects = outcome.hit_colour[seat].tolist(), outcome.hit_effect[seat].tolist()
    for colour, effect in zip(colours, effects, strict=True):
        if colour != NO_COLOUR:
            hits.setdefault(waste_name(*divmod(colour, config.shades)), []).append(effect)
    if what.startswith("nothing"):
        assert (np.array(board.world.window[seat]) < 0).any()
        assert not sum(sum(effects) for effects in hits.values())
        return {"no tool"}
    told = re.findall(rf"{CELL}, ([\w ]+) waste \((?:before: )?([^)]*)\)", what)
    assert sorted(name for *_, name, _ in told) == sorted(
        name for name, effects in hits.items() for _ in effects
    )
    kinds = {"no waste"} if not told else set()
    for row, col, name, known in told:
        cell = int(row), int(col)
        changed = played.world.item[cell] != np.array(board.world.item)[cell]
        effect = hits[name][0]
        assert changed == (effect != ShotEffect.NOTHING)
        assert known in ("not tried", EFFECTS[ShotEffect(effect)])
        kinds.add(known)
    return kinds


def check_harvest(board: Board, seat: int, action: int, what: str, played: Any) -> set[str]:
    if action <= Action.WEST:
        kinds = check_move(board, seat, what, played, lambda cell: harvest_label(board, cell))
        meal = re.search(r"you would eat it: (.*)$", what)
        if "is there now" not in what:
            assert (played.reward[seat] > 0) == bool(meal)
        if meal and "not known" not in meal[1]:
            assert meal[1].startswith(f"it pays {played.reward[seat]:g} point")
            kinds.add("known pay")
        return kinds
    if action == Action.BEAM:
        if what.startswith("nothing: your beam is not ready for "):
            assert int(re.findall(r"\d+", what)[0]) == board.world.cooldown[seat] > 0
            assert not played.outcome.zapped.any()
            return {"not ready"}
        there = what.partition("; there now: ")[2]
        told = {name for name, *_ in re.findall(rf"(\w+) at {CELL}", there)}
        others = np.flatnonzero(played.outcome.zapped).tolist()
        assert told == {letter(board, seat, other) for other in others}
        assert (there == "nobody") == (not others)
        return {"hit"} if others else {"miss"}
    return check_turn(board, seat, what, played)


def check_turn(board: Board, seat: int, what: str, played: Any) -> set[str]:
    assert (played.world.agents.position == np.array(board.world.agents.position)).all()
    heading = Heading(int(played.world.agents.heading[seat]))
    if what.startswith("face"):
        assert what == f"face {HEADINGS[heading]}"
        return {"turn"}
    row, col = positions(board)[seat]
    assert what == f"stay at row {row}, column {col}"
    return {"stay"}


def positions(board: Board) -> list[tuple[int, int]]:
    return [tuple(p) for p in np.array(board.world.agents.position).tolist()]


def letter(board: Board, seat: int, other: int) -> str:
    return agent_name((other - seat) % board.env.num_agents)


def cleanup_label(board: Board, cell: tuple[int, int]) -> str:
    label = game_text(board.env).label
    return label(int(board.world.item[cell]), int(board.world.colour[cell])).name


def harvest_label(board: Board, cell: tuple[int, int]) -> str:
    item, colour = harvest_board(board.env.game.config, board.world)
    return game_text(board.env).label(int(item[cell]), int(colour[cell])).name


CHECKS = {"cleanup": check_cleanup, "harvest": check_harvest}
SHARED = {"edge", "move", "taken", "free", "meal", "turn", "stay", *HEADINGS.values()}
KINDS = {
    "cleanup": SHARED
    | {"no station", "pick-up", "no tool", "no waste", "not tried", *EFFECTS.values()},
    "harvest": SHARED | {"known pay", "not ready", "hit", "miss"},
}


def test_what_is_told_of_a_meal_is_the_apple_that_was_there() -> None:
    env, rng = make("harvest"), np.random.default_rng(6)
    game = game_text(env)
    for _ in range(BOARDS):
        board = scatter(env, rng)
        sights = [game.look(board.observation(seat)) for seat in range(env.num_agents)]
        actions = rng.integers(0, 4, env.num_agents)
        played = board.step(actions)
        for seat, sight in enumerate(sights):
            outcome = type(played.outcome)(
                *(getattr(played.outcome, f)[seat] for f in played.outcome.__dataclass_fields__)
            )
            words = game.outcome(game.spot(sight), int(actions[seat]), outcome)
            if outcome.reward > 0:
                goal = sight.lands[actions[seat]]
                assert (
                    f"You ate the {harvest_label(board, goal)}: {outcome.reward:g} point" in words
                )
                stage = int(outcome.eaten_stage)
                assert apple_name(int(outcome.eaten_colour), stage) == harvest_label(board, goal)
            assert ("could not move" in words) == bool(
                outcome.blocked and sight.lands[actions[seat]] != sight.cell
            )
    assert jnp.isfinite(played.reward).all()
