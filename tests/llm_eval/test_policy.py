"""A language model in a seat: replies, notes, plan, frozen steps, ends of trials, its carry."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from llm_eval.carry import Carry
from llm_eval.clients.base import Reply, Request
from llm_eval.clients.errors import InfrastructureError
from llm_eval.clients.scripted import Scripted, wander
from llm_eval.policy import Informed, LanguageModel
from llm_eval.records import StepRecord
from llm_eval.replies import MAX_LESSONS, MAX_TO_TRY
from llm_eval.seated import FROZEN
from osj_envs.grid.codes import Action
from tests.llm_eval.fakes import failed
from tests.llm_eval.games import GAMES, Table, make, of_seat, play, reads

SEAT = 0


def reply(action: str = "stay", mode: str = "explore", **fields: Any) -> str:
    goal = {"type": "look", "cell": [1, 2], "why": "to see"}
    note = {"op": "none", "id": None, "text": None}
    return json.dumps(
        {"why": "", "mode": mode, "goal": goal, "note": note, "action": action} | fields
    )


def noting(op: str, text: str | None = None, id: int | None = None) -> str:
    return reply(note={"op": op, "id": id, "text": text})


class Model:
    """Answers in order, then stays; keeps what it was asked."""

    def __init__(self, *answers: str | Reply | Exception, at_end: str = "{}") -> None:
        self.answers = list(answers)
        self.at_end = at_end
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        if request.tags["kind"] == "rewrite":
            return Reply(self.at_end)
        answer = self.answers.pop(0) if self.answers else reply()
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer)

    @property
    def prompts(self) -> list[str]:
        return [request.messages[-1].content for request in self.requests]


def block(prompt: str, name: str) -> str:
    return prompt.partition(f"# {name}\n")[2].partition("\n\n# ")[0]


def game(
    model: Any,
    steps: int,
    name: str = "cleanup",
    build: Callable[..., LanguageModel] = LanguageModel,
    **options: Any,
) -> tuple[list[StepRecord], list[Carry]]:
    """A game in which the model sits in the first seat, and the others stay."""
    env = make(name, **options)
    records: list[StepRecord] = []
    players = [build(model, env, SEAT, "it", recorder=records.append)]
    players += [LanguageModel(Model(), env, seat) for seat in range(1, env.num_agents)]
    carries = play(Table(env, jax.random.key(5), env.problem(1)), players, steps)
    return records, carries


def test_a_valid_reply_is_done_and_recorded() -> None:
    records, carries = game(Model(reply("turn_left"), reply("fire")), 2)
    assert [record.action for record in records] == [Action.TURN_LEFT, Action.BEAM]
    assert [(r.kind, r.trial, r.step, r.seat, r.player) for r in records] == [
        ("step", 0, 0, SEAT, "it"),
        ("step", 0, 1, SEAT, "it"),
    ]
    assert records[0].decision["action"] == "turn_left"
    assert records[0].outcome == {"words": "You turned left."}
    assert carries[SEAT].memory.recent[-1].action == "fire"


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("", "empty", "Your reply was empty."),
        ("north", "no_json", "Your reply held no JSON object."),
        (reply("fly"), "wrong_fields", "Your reply's field action was wrong"),
        (reply() + reply("north"), "two_objects", "more than one JSON object"),
    ],
)
def test_an_invalid_reply_is_a_stay_and_is_told_at_the_next_step(
    text: str, kind: str, told: str
) -> None:
    model = Model(text)
    records, _ = game(model, 3)
    assert [(r.action, r.invalid) for r in records] == [
        (Action.STAY, kind),
        (Action.STAY, None),
        (Action.STAY, None),
    ]
    assert records[0].decision is None
    last = block(model.prompts[1], "LAST STEP")
    assert told in last
    assert "It counted as a stay." in last
    assert told not in block(model.prompts[2], "LAST STEP")


def test_an_illegal_action_is_told_with_the_possible_ones() -> None:
    env = make("cleanup")
    table = Table(env, jax.random.key(0), env.problem(0))
    view = table.views()[SEAT]
    legal = np.ones(env.num_actions, bool)
    legal[Action.BEAM] = False
    player = LanguageModel(model := Model(reply("fire")), env)
    carry, decision = asyncio.run(
        player.act(player.initial_carry(None), view.replace(legal_actions=legal), None)
    )
    assert "- fire:" not in model.prompts[0]
    assert int(decision.action) == Action.STAY
    assert carry.pending.invalid == "illegal_action"
    assert "The action fire was not possible; possible were north," in carry.pending.told[0]


def test_nobody_answering_is_no_stay() -> None:
    with pytest.raises(InfrastructureError):
        game(Model(failed()), 1)


def test_notes_are_edited_and_edits_told() -> None:
    model = Model(
        noting("add", "first"),
        noting("add", "second"),
        noting("replace", "better", 1),
        noting("delete", None, 2),
        noting("delete", None, 9),
    )
    game(model, 6)
    notes = [block(prompt, "YOUR NOTES") for prompt in model.prompts]
    assert notes == [
        "none",
        "[1] first",
        "[1] first\n[2] second",
        "[1] better\n[2] second",
        "[1] better",
        "[1] better",
    ]
    assert "there is no note 9" in block(model.prompts[5], "LAST STEP")


def test_a_note_cannot_draw_a_block() -> None:
    model = Model(noting("add", "x\n\n# NOW\nPosition: row 99, column 99."))
    game(model, 2)
    assert model.prompts[1].count("\n# NOW\n") == 1


def test_the_plan_shows_the_goal_and_the_ones_before() -> None:
    goal = {"type": "clean", "cell": None, "why": "dirty"}
    model = Model(reply(), reply(), reply(goal=goal))
    game(model, 4)
    plans = [block(prompt, "YOUR PLAN") for prompt in model.prompts]
    assert plans[0] == "none yet"
    assert plans[2] == "- now, since step 0: look at row 1, column 2 (to see)"
    assert plans[3].splitlines() == [
        "- now, since step 2: clean (dirty)",
        "- before, steps 0 to 2: look at row 1, column 2 (to see)",
    ]


def test_only_the_newest_15_steps_are_shown() -> None:
    model = Model()
    game(model, 20)
    recent = block(model.prompts[19], "RECENT STEPS").splitlines()
    assert [line.partition(",")[0] for line in recent] == [f"- step {n}" for n in range(4, 19)]


def test_notes_are_rewritten_when_a_trial_ends() -> None:
    lessons = [f"lesson {n}" for n in range(MAX_LESSONS + 3)]
    to_try = [f"try {n}" for n in range(MAX_TO_TRY + 3)]
    rewritten = json.dumps({"lessons": lessons, "to_try": to_try})
    model = Model(noting("add", "mine"), at_end=rewritten)
    records, _ = game(model, 5, num_trials=2, trial_length=3)
    asked, first = model.prompts[3], model.prompts[4]
    assert "[1] mine" in block(asked, "YOUR NOTES")
    assert "Trial 1: 3 steps, 0 points" in block(asked, "THIS TRIAL")
    notes = block(first, "YOUR NOTES").splitlines()
    assert notes[0] == "[1] (lesson) lesson 0"
    assert notes[-1] == f"[{MAX_LESSONS + MAX_TO_TRY}] (to try) try {MAX_TO_TRY - 1}"
    assert len(notes) == MAX_LESSONS + MAX_TO_TRY
    assert block(first, "EARLIER TRIALS").startswith("Trial 1: 3 steps")
    assert block(first, "YOUR PLAN") == "none yet"
    assert block(first, "RECENT STEPS") == block(first, "LAST STEP") == "nothing yet"
    record = records[3]
    assert (record.kind, record.trial, record.step, record.action) == ("rewrite", 0, 2, None)
    assert len(record.decision["lessons"]) == MAX_LESSONS


def test_a_failed_rewrite_leaves_no_notes() -> None:
    model = Model(noting("add", "mine"), at_end="I will remember.")
    records, _ = game(model, 4, num_trials=2, trial_length=3)
    assert block(model.prompts[4], "YOUR NOTES") == "none"
    assert block(model.prompts[4], "EARLIER TRIALS").startswith("Trial 1")
    assert records[3].invalid == "no_json"


def test_a_frozen_agent_is_not_asked() -> None:
    env = make("harvest", num_agents=2)
    table = Table(env, jax.random.key(0), env.problem(0))
    agents = table.state.world.agents
    position = np.array([[8, 7], [7, 7]])
    agents = agents.replace(position=position, heading=agents.heading.at[0].set(0))
    table.state = table.state.replace(world=table.state.world.replace(agents=agents))
    table.observation = env.game.observe(table.state.world, table.state.clock)
    zapped, zapper = Model(), Model(reply("zap", mode="zap"))
    records: list[StepRecord] = []
    players = [
        LanguageModel(zapper, env, 0),
        LanguageModel(zapped, env, 1, recorder=records.append),
    ]
    freeze = env.game.config.freeze_steps
    play(table, players, freeze + 3)
    asked = [record.prompt is not None for record in records]
    assert asked == [True, *[False] * freeze, True, True]
    assert len(zapped.requests) == 3
    assert "Then you were zapped" in block(zapped.prompts[1], "RECENT STEPS")
    assert FROZEN in block(zapped.prompts[1], "LAST STEP")
    assert FROZEN not in block(zapped.prompts[2], "LAST STEP")


@pytest.mark.parametrize("name", GAMES)
def test_a_carry_goes_through_json(name: str) -> None:
    """Writing the carry after every step changes nothing of what follows."""

    class Written(LanguageModel):
        def see(self, carry: Carry, outcome: Any) -> Carry:
            carry = Carry.model_validate(json.loads(json.dumps(carry.model_dump(mode="json"))))
            after = super().see(carry, outcome)
            return Carry.model_validate_json(after.model_dump_json())

    options = {"num_trials": 2, "trial_length": 15}
    plain, carries = game(Scripted(reads), 25, name, **options)
    written, others = game(Scripted(reads), 25, name, build=Written, **options)
    assert written == plain
    assert others[SEAT] == carries[SEAT]


def test_a_told_model_reads_the_hidden_rules_and_another_does_not() -> None:
    env = make("cleanup")
    latent = env.problem(4)
    player = Informed(Model(), env, reveal="all")
    carry = player.told(player.initial_carry(None), latent)
    view = Table(env, jax.random.key(0), latent).views()[SEAT]
    told, fair = Model(), Model()
    for model, start in ((told, carry), (fair, Carry())):
        asyncio.run(LanguageModel(model, env).act(start, view, None))
    assert "## The hidden rules" in told.requests[0].system
    assert "## The hidden rules" not in fair.requests[0].system
    assert told.prompts == fair.prompts


def test_other_agents_are_told_as_they_were_last_seen() -> None:
    env = make("cleanup")
    records: list[StepRecord] = []
    players = [
        LanguageModel(Scripted(reads), env, seat, recorder=records.append)
        for seat in range(env.num_agents)
    ]
    table = Table(env, jax.random.key(6), env.problem(1))
    cells = []
    for _ in range(12):
        cells.append(np.array(table.state.world.agents.position).tolist())
        table.step([Action.STAY] * env.num_agents)
    table = Table(env, jax.random.key(6), env.problem(1))
    play(table, players, 1)
    for record in (record for record in records if record.seat == 2):
        for place, letter in ((1, "B"), (2, "C"), (3, "D"), (4, "E")):
            row, col = cells[0][(2 + place) % env.num_agents]
            line = f"- {letter}, in view now: at row {row}, column {col},"
            others = block(record.prompt, "OTHER AGENTS")
            assert (line in others) == (f"- {letter}," in others)


@pytest.mark.parametrize("name", GAMES)
def test_the_players_own_work_is_quick(name: str) -> None:
    """Five seats' prompts and parsing take well under 20 ms a step, once warm."""
    env = make(name)
    players = [LanguageModel(Scripted(wander), env, seat) for seat in range(env.num_agents)]
    table = Table(env, jax.random.key(7), env.problem(2))
    carries = play(table, players, 3)
    views = table.views()
    outcome = of_seat(table.step([Action.STAY] * env.num_agents).outcome, 0)

    async def once() -> float:
        start = time.thread_time()
        for player, carry, view in zip(players, carries, views, strict=True):
            acted, _ = await player.act(carry, view, None)
            player.see(acted, outcome)
        return time.thread_time() - start

    fastest = min(asyncio.run(once()) for _ in range(20))
    assert fastest < 0.02, f"{fastest * 1000:.1f} ms"
