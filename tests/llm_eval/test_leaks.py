"""No leak: nothing that a seat has not experienced or does not see reaches its prompts."""

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import baselines.registry
from llm_eval.clients.base import Reply, Request
from llm_eval.clients.scripted import Scripted, wander
from llm_eval.memory import Memory
from llm_eval.policy import LanguageModel
from llm_eval.prompts.person import person_message
from llm_eval.prompts.system import game_text
from llm_eval.prompts.user import step_message
from llm_eval.records import StepRecord
from llm_eval.replies import ACTIONS
from llm_eval.views.witness import Witness, watch
from osj_envs.grid.codes import Action, Item
from osj_envs.harvest.constants import Lost
from osj_envs.seats import SeatView
from osj_envs.trials import MultiTrial
from tests.llm_eval.games import GAMES, Table, make, play, reads
from tests.llm_eval.worlds import Board, scatter

STEPS, LENGTH = 90, 50
PLAYERS = {"cleanup": "cleaner", "harvest": "greedy"}


Plan = dict[tuple[int, int], list[int]]
"""All seats' actions by trial and step; a trial may end early."""


def plan_of(env: MultiTrial, latent: Any) -> tuple[Plan, Any]:
    """Actions of scripted players with some chance moves, and all seats' records at the end."""
    policy = baselines.registry.make(PLAYERS[env.name], env)
    act = jax.jit(policy.act)
    table, rng = Table(env, jax.random.key(2), latent), np.random.default_rng(2)
    carries = [policy.initial_carry(jax.random.key(s)) for s in range(env.num_agents)]
    plan: Plan = {}
    for step in range(STEPS):
        keys = jax.random.split(jax.random.key(step), env.num_agents)
        acted = [act(*each) for each in zip(carries, table.views(), keys, strict=True)]
        carries = [carry for carry, _ in acted]
        chance = rng.integers(0, env.num_actions, env.num_agents)
        wanted = [int(decision.action) for _, decision in acted]
        clock = table.state.clock
        acts = np.where(rng.random(env.num_agents) < 0.15, chance, wanted).tolist()
        plan[int(clock.trial), int(clock.step)] = acts
        table.step(acts)
    return plan, jax.device_get(table.evidence)


def replay(env: MultiTrial, latent: Any, plan: Plan) -> list[StepRecord]:
    """The same actions by language models; all that they were shown."""
    records: list[StepRecord] = []

    def script_of(seat: int) -> Callable[[Request], str]:
        def script(request: Request) -> str:
            if request.tags["kind"] == "rewrite":
                return wander(request)
            at = request.tags["trial"], request.tags["step"]
            action = plan[at][seat] if at in plan else Action.STAY
            return json.dumps(json.loads(wander(request)) | {"action": ACTIONS[env.name][action]})

        return script

    players = [
        LanguageModel(Scripted(script_of(seat)), env, seat, recorder=records.append)
        for seat in range(env.num_agents)
    ]
    play(Table(env, jax.random.key(2), latent), players, STEPS)
    return records


def other_rules(name: str, rules: Any, evidence: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Rules that differ only in what nobody experienced, and ones that differ in the rest."""
    if name == "cleanup":
        met = np.array(evidence.effect).any(axis=(0, 2))
        effect = np.array(rules.effect)
        hidden, known = effect.copy(), effect.copy()
        hidden[~met] = np.roll(effect[~met], 1)
        known[met] = np.roll(effect[met], 1)
        return rules.replace(effect=jnp.array(hidden)), rules.replace(effect=jnp.array(known))
    del rng
    met = np.array(evidence.eaten).any(axis=(0, 2))[:, None]
    fields = {"pay": np.array(rules.pay), "speed": np.array(rules.speed)}
    turned = {field: np.roll(places, 1, axis=1) for field, places in fields.items()}
    hidden = {f: jnp.array(np.where(met, fields[f], turned[f])) for f in fields}
    known = {f: jnp.array(np.where(met, turned[f], fields[f])) for f in fields}
    return rules.replace(**hidden), rules.replace(**known)


@pytest.mark.parametrize("name", GAMES)
def test_what_nobody_experienced_changes_no_prompt(name: str) -> None:
    env = make(name, num_trials=2, trial_length=LENGTH)
    latent = env.problem(907)
    plan, evidence = plan_of(env, latent)
    hidden, known = other_rules(name, latent.rules, evidence, np.random.default_rng(0))
    shown = replay(env, latent, plan)
    assert any("# RULES YOU KNOW\n- " in (record.prompt or "") for record in shown)
    assert not jax.tree.all(jax.tree.map(jnp.array_equal, hidden, latent.rules))
    assert replay(env, latent.replace(rules=hidden), plan) == shown
    assert replay(env, latent.replace(rules=known), plan) != shown


def prompt_of(board: Board, seat: int) -> str:
    """What a model and a person read in the seat."""
    game = game_text(board.env)
    view = SeatView(
        observation=board.observation(seat),
        evidence=jax.device_get(board.env.game.initial_evidence()),
        legal_actions=np.ones(board.env.num_actions, bool),
        last_action=np.int32(7),
        last_reward=np.float32(0),
        trial=np.int32(1),
        is_first_of_trial=np.bool_(False),
        is_first_of_episode=np.bool_(False),
    )
    sight = game.look(view.observation)
    witness = watch(game, Witness(), sight)
    model = step_message(board.env, game, view, sight, Memory(), witness, ())
    return model + person_message(board.env, game, view, sight, Memory(), witness, (), 0.0)


Change = Callable[[Board, int, np.ndarray], Any]


def _latent(change: Callable[[Any], Any]) -> Change:
    return lambda board, seat, unseen: (change(board.latent), board.world)


def _world(change: Callable[[Any, int, np.ndarray], Any]) -> Change:
    return lambda board, seat, unseen: (board.latent, change(board.world, seat, unseen))


def _others(field: str, value: int) -> Change:
    """The same field of all other agents set to something else."""

    def change(world: Any, seat: int, unseen: np.ndarray) -> Any:
        new = np.array(getattr(world, field))
        new[np.arange(len(new)) != seat] = value
        return world.replace(**{field: jnp.array(new)})

    return _world(change)


def _trees(field: str, change: Callable[[Any, np.ndarray], np.ndarray]) -> Change:
    def replaced(world: Any, seat: int, unseen: np.ndarray) -> Any:
        hidden = unseen.reshape(-1)[np.array(world.layout.trees)]
        new = jnp.array(change(world.trees, hidden).astype(np.uint8))
        return world.replace(trees=world.trees.replace(**{field: new}))

    return _world(replaced)


def _rules(field: str) -> Change:
    return _latent(
        lambda latent: latent.replace(
            rules=latent.rules.replace(**{field: jnp.roll(getattr(latent.rules, field), 1, -1)})
        )
    )


def _cells(field: str, code: int) -> Change:
    return _world(
        lambda world, seat, unseen: world.replace(
            **{field: jnp.where(unseen, jnp.uint8(code), getattr(world, field))}
        )
    )


def _lost(trees: Any, hidden: np.ndarray) -> np.ndarray:
    """Bare trees lost their apple another way, and trees out of view hang full or not."""
    lost = np.array(trees.lost)
    bare = np.where(lost >= Lost.EATEN, 1 + lost % Lost.ROTTED, lost)
    return np.where(hidden, Lost.ROTTED, bare)


PRIVATE: dict[str, dict[str, Change]] = {
    "cleanup": {
        "latent.rules.effect": _rules("effect"),
        "latent.dominant_hue": _latent(lambda z: z.replace(dominant_hue=(z.dominant_hue + 1) % 5)),
        "latent.layout": _latent(lambda z: z.replace(layout=jnp.roll(z.layout, 3))),
        "world.item": _cells("item", Item.STATION + 3),
        "world.colour": _cells("colour", 4),
        "world.window": _others("window", 3),
        "world.last_tool": _others("last_tool", 9),
    },
    "harvest": {
        "latent.rules.pay": _rules("pay"),
        "latent.rules.speed": _rules("speed"),
        "latent.patch_colour": _latent(lambda z: z.replace(patch_colour=z.patch_colour[::-1])),
        "latent.layout.trees": _latent(
            lambda z: z.replace(layout=z.layout.replace(trees=z.layout.trees[::-1]))
        ),
        "latent.layout.spawns": _latent(
            lambda z: z.replace(layout=z.layout.replace(spawns=z.layout.spawns[::-1]))
        ),
        "world.trees.age": _trees("age", lambda t, hidden: np.array(t.age) // 20 * 20 + 19),
        "world.trees.stage_steps": _trees(
            "stage_steps",
            lambda t, hidden: np.where(hidden, 17, np.maximum(np.array(t.age) // 3 + 1, 20)),
        ),
        "world.trees.delay": _trees("delay", lambda t, hidden: np.array(t.delay) * 0 + 77),
        "world.trees.lost": _trees("lost", _lost),
        "world.frozen": _others("frozen", 11),
        "world.cooldown": _others("cooldown", 2),
        "world.tree_colour": _world(
            lambda world, seat, unseen: world.replace(
                tree_colour=jnp.where(
                    jnp.array(unseen.reshape(-1)[np.array(world.layout.trees)]),
                    (world.tree_colour + 1) % 5,
                    world.tree_colour,
                )
            )
        ),
    },
}
SHOWN = {"world.agents.position", "world.agents.heading"}
MAP = {"world.layout.trees", "world.layout.spawns"}
"""Where trees and spawn cells are can be seen; what is out of view is moved with the trees."""


def fields_of(board: Board) -> set[str]:
    tree = {"latent": board.latent, "world": board.world}
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {".".join(str(getattr(k, "name", getattr(k, "key", ""))) for k in p) for p, _ in paths}


@pytest.mark.parametrize("name", GAMES)
def test_no_private_field_reaches_a_prompt(name: str) -> None:
    env, rng = make(name), np.random.default_rng(8)
    changed = dict.fromkeys(PRIVATE[name], 0)
    for _ in range(6):
        board = scatter(env, rng)
        assert fields_of(board) - MAP == PRIVATE[name].keys() | SHOWN
        for seat in range(env.num_agents):
            prompt = prompt_of(board, seat)
            unseen = ~game_text(env).look(board.observation(seat)).seen
            for field, change in PRIVATE[name].items():
                latent, world = change(board, seat, unseen)
                assert prompt_of(Board(env, latent, world), seat) == prompt, field
                same = jax.tree.map(jnp.array_equal, (latent, world), (board.latent, board.world))
                changed[field] += not jax.tree.all(same)
    assert all(changed.values()), f"never changed: {changed}"


@pytest.mark.parametrize("name", GAMES)
def test_what_is_in_view_does_reach_it(name: str) -> None:
    env, rng = make(name), np.random.default_rng(9)
    board = scatter(env, rng)
    prompt = prompt_of(board, 0)
    agents = board.world.agents
    turned = agents.replace(heading=(agents.heading + 1) % 4)
    assert prompt_of(Board(env, board.latent, board.world.replace(agents=turned)), 0) != prompt
    own = {"cleanup": "window", "harvest": "cooldown"}[name]
    value = getattr(board.world, own)
    other = board.world.replace(**{own: value.at[0].set((value[0] + 1) % 3)})
    assert prompt_of(Board(env, board.latent, other), 0) != prompt


class Slow:
    """The same replies, after a while that differs from call to call."""

    async def complete(self, request: Request) -> Reply:
        await asyncio.sleep(random.random() / 300)
        return Reply(reads(request))


@pytest.mark.parametrize("name", GAMES)
def test_prompts_do_not_depend_on_who_answers_first(name: str) -> None:
    env = make(name, num_trials=2, trial_length=8)
    games = []
    for client in (Scripted(reads), Slow(), Slow()):
        records: list[StepRecord] = []
        players = [
            LanguageModel(client, env, seat, recorder=records.append)
            for seat in range(env.num_agents)
        ]
        play(Table(env, jax.random.key(4), env.problem(3)), players, 20)
        games.append(sorted(records, key=lambda r: (r.trial, r.step, r.kind, r.seat)))
    assert games[0] == games[1] == games[2]


def test_a_seats_prompt_does_not_tell_which_seat_it_is() -> None:
    env, rng = make("cleanup"), np.random.default_rng(1)
    board = scatter(env, rng)
    order = np.roll(np.arange(env.num_agents), 2)
    agents = jax.tree.map(lambda x: x[order], board.world.agents)
    world = board.world.replace(agents=agents, window=board.world.window[order])
    rolled = Board(env, board.latent, world)
    for place, seat in enumerate(order.tolist()):
        assert prompt_of(rolled, place) == prompt_of(board, seat)
