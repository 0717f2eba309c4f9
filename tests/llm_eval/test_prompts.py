"""Prompts: complete templates, the order of blocks, determinism, numbers, and golden examples.

`python -m tests.llm_eval.test_prompts` writes the golden prompts anew.
"""

import json
import pathlib
import re
import sys
from typing import Any

import jax
import pytest

import llm_eval.prompts
from llm_eval.clients.scripted import Scripted, wander
from llm_eval.human import Human
from llm_eval.parsing import check_legal
from llm_eval.policy import LanguageModel
from llm_eval.prompts import fill, template_names
from llm_eval.prompts.examples import example_worlds
from llm_eval.prompts.system import (
    REVEALS,
    ROLES,
    game_text,
    reveal_text,
    rules_for_a_person,
    system_prompt,
)
from llm_eval.records import StepRecord
from llm_eval.replies import ACTIONS, STEP_REPLIES
from llm_eval.seated import Seated
from tests.llm_eval.games import GAMES, Table, make, play, reads

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
BLOCKS = (
    "RULES YOU KNOW",
    "YOUR NOTES",
    "EARLIER TRIALS",
    "OTHER AGENTS",
    "YOUR PLAN",
    "LAST STEP",
    "RECENT STEPS",
    "NOW",
    "ACTIONS NOW",
)


def records_of(
    name: str, steps: int = 40, script: Any = reads, seated: type[Seated] = LanguageModel
) -> list[StepRecord]:
    env = make(name, num_trials=2, trial_length=25)
    records: list[StepRecord] = []
    players = [
        seated(Scripted(script), env, seat, recorder=records.append)
        for seat in range(env.num_agents)
    ]
    play(Table(env, jax.random.key(3), env.problem(906)), players, steps)
    return records


def all_system_prompts(name: str) -> dict[tuple[str, str], str]:
    env = make(name)
    latent = env.problem(906)
    return {
        (role, reveal): system_prompt(env, role, reveal_text(game_text(env), latent, reveal))
        for role in ROLES
        for reveal in REVEALS[name]
    }


def test_every_template_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    read = llm_eval.prompts._read

    def spy(name: str) -> Any:
        used.add(name)
        return read(name)

    monkeypatch.setattr(llm_eval.prompts, "_read", spy)
    for name in GAMES:
        all_system_prompts(name)
        records_of(name, steps=26, script=wander)
        records_of(name, steps=2, script=wander, seated=Human)
    assert used == set(template_names())


@pytest.mark.parametrize("name", template_names())
def test_a_template_says_what_is_wrong_with_its_placeholders(name: str) -> None:
    fields = dict.fromkeys(llm_eval.prompts._read(name).get_identifiers(), "x")
    assert "$" not in fill(name, **fields)
    with pytest.raises(ValueError, match=rf"{name}.md lacks the placeholder \$more"):
        fill(name, **fields, more="x")
    for field in fields:
        less = {key: text for key, text in fields.items() if key != field}
        with pytest.raises(ValueError, match=rf"{name}.md has the placeholder \${field}"):
            fill(name, **less)


def test_an_unknown_template_is_named() -> None:
    with pytest.raises(ValueError, match="no prompt goodbye"):
        fill("goodbye")


def test_a_lone_dollar_is_an_error(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    (tmp_path / "odd.md").write_text("It costs $ 5.")
    monkeypatch.setattr(llm_eval.prompts, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="begins no placeholder"):
        fill("odd")


@pytest.mark.parametrize("name", GAMES)
def test_blocks_come_in_the_protocols_order(name: str) -> None:
    prompts = [r.prompt for r in records_of(name) if r.kind == "step" and r.prompt]
    assert len(prompts) > 100
    for prompt in prompts:
        assert re.match(r"Trial [12] of 2\. \d+ of 25 steps are taken\.\n", prompt)
        assert tuple(re.findall(r"^# (.*)$", prompt, re.MULTILINE)) == BLOCKS


@pytest.mark.parametrize("name", GAMES)
def test_the_same_game_gives_the_same_prompts(name: str) -> None:
    assert records_of(name) == records_of(name)


@pytest.mark.parametrize("name", GAMES)
def test_a_person_reads_the_rules_that_a_model_reads(name: str) -> None:
    prompt, rules = system_prompt(make(name)), rules_for_a_person(make(name))
    world, _, reading = rules.partition("## What you see each step")
    assert prompt.startswith(world)
    assert prompt.removeprefix(world).startswith("## What you read each step")
    assert "JSON" not in reading


@pytest.mark.parametrize("name", GAMES)
def test_a_role_is_one_added_item(name: str) -> None:
    prompts = all_system_prompts(name)
    texts = {role: prompts[role, "none"] for role in ROLES}
    items = {role: texts[role].split("\n## ") for role in ROLES}
    added = {role: [item for item in items[role] if item.startswith("Your role")] for role in ROLES}
    assert [len(added[role]) for role in ROLES] == [0, 1, 1]
    assert added["cooperator"] != added["defector"]
    rest = {role: [i for i in items[role] if i not in added[role]] for role in ROLES}
    assert rest["cooperator"] == rest["defector"]
    goal, scoring = items["none"][1], rest["defector"][1]
    assert goal.startswith("Your goal")
    assert scoring.startswith("Scoring")
    assert scoring.partition("\n\n")[2] in goal
    assert items["none"][2:] == rest["defector"][2:]


@pytest.mark.parametrize("name", GAMES)
def test_a_reveal_adds_a_part_and_changes_nothing_else(name: str) -> None:
    prompts = all_system_prompts(name)
    for reveal in REVEALS[name][1:]:
        plain, told = prompts["none", "none"], prompts["none", reveal]
        text = reveal_text(game_text(make(name)), make(name).problem(906), reveal)
        assert told.replace(f"{text}\n\n", "") == plain != told


def test_revealed_rules_are_those_of_the_latent() -> None:
    env = make("cleanup")
    latent = env.problem(5)
    text = reveal_text(game_text(env), latent, "all")
    effects = latent.rules.effect.tolist()
    told = re.findall(r"- (\d) then (\d): (\w+ \w+)", text)
    assert {int(a) * 4 + int(b) for a, b, _ in told} == {i for i, e in enumerate(effects) if e}
    assert ("1 then 1: clears light red" in text) == (effects[5] == 1)
    env = make("harvest")
    latent = env.problem(5)
    pays, speeds = (1.0, 0.5, 0.25), (2.0, 1.0, 0.5)
    text = reveal_text(game_text(env), latent, "all")
    for colour, hue in enumerate(("red", "yellow", "green", "cyan", "purple")):
        pay = [pays[i] for i in latent.rules.pay[colour].tolist()]
        speed = [speeds[i] for i in latent.rules.speed[colour].tolist()]
        unripe, ripe, over = (f"{x:g} points" for x in pay)
        assert f"- {hue}: unripe {unripe}, ripe {ripe}, over-ripe {over}" in text
        unripe, ripe, over = (f"factor {x:g}" for x in speed)
        assert f"- {hue}: unripe {unripe}, ripe {ripe}, over-ripe {over}" in text
    assert "points" not in reveal_text(game_text(env), latent, "regrowth")


def test_unknown_roles_reveals_and_games_are_named() -> None:
    env = make("cleanup")
    with pytest.raises(ValueError, match="Unknown role: 'cooperater'"):
        system_prompt(env, "cooperater")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cleanup has no reveal 'regrowth'"):
        reveal_text(game_text(env), env.problem(0), "regrowth")


@pytest.mark.parametrize("name", GAMES)
def test_the_examples_are_valid_replies_and_legal_moves(name: str) -> None:
    env = make(name)
    prompt, game = system_prompt(env), game_text(env)
    replies = [line for line in prompt.splitlines() if line.startswith('{"why"')]
    worlds = example_worlds(game)
    assert len(replies) == len(worlds) == 2
    for text, (observation, evidence) in zip(replies, worlds, strict=True):
        reply = STEP_REPLIES[name].model_validate(json.loads(text))
        sight = game.look(observation)
        lines = dict(line.split(": ", 1) for line in game.actions(sight, evidence))
        assert check_legal(reply.action, ACTIONS[name]) is None
        assert "nothing" not in lines[reply.action]
        assert "the map ends" not in lines[reply.action]
        assert sight.seen[tuple(reply.goal.cell)]
        assert all(line in prompt for line in game.actions(sight, evidence))


NUMBERS = {
    "cleanup": {
        "hues": (4, "one of 4 hues (red, yellow, green, cyan)"),
        "shades": (2, "one of 2 shades (light, mid)"),
        "base_tools": (3, "Of the 9 pairs"),
        "waste_skew": (0.75, "with chance 0.75,"),
        "waste_spawn": (0.35, "with chance 0.35 a step"),
        "waste_spawn_start": (77, "Once 77 steps of a trial"),
        "apple_growth": (0.07, "with chance 0.07 a step"),
        "dirt_threshold": (0.5, "With 18 waste cells or fewer"),
        "num_agents": (3, "You are one of 3 agents"),
        "num_trials": (7, "The game has 7 trials"),
        "trial_length": (123, "at most 123 steps"),
    },
    "harvest": {
        "pays": ((3.0, 0.75, 0.125), "each of 3, 0.75 or 0.125 points"),
        "speeds": ((4.0, 1.5, 0.25), "factors 4, 1.5 or 0.25"),
        "freeze_steps": (9, "next 9 steps"),
        "cooldown_steps": (5, "not ready for 5 steps"),
        "colours": (3, "(red, yellow, green)"),
        "num_agents": (4, "the others are B, C, D."),
    },
}


@pytest.mark.parametrize(("name", "option"), [(n, o) for n in GAMES for o in NUMBERS[n]])
def test_numbers_are_the_environments_own(name: str, option: str) -> None:
    value, words = NUMBERS[name][option]
    assert words in system_prompt(make(name, **{option: value}))
    assert words not in system_prompt(make(name))


def golden_prompts(name: str) -> dict[str, str]:
    prompts = [r.prompt for r in records_of(name) if r.seat == 1 and r.prompt]
    rewrites = [r.prompt for r in records_of(name) if r.seat == 1 and r.kind == "rewrite"]
    texts = {"system": system_prompt(make(name)), "step": prompts[24], "rewrite": rewrites[0]}
    return {f"llm_{name}_{kind}.txt": f"{text}\n" for kind, text in texts.items()}


@pytest.mark.parametrize("name", GAMES)
def test_golden_prompts(name: str) -> None:
    for file, text in golden_prompts(name).items():
        assert (GOLDEN / file).read_text(encoding="utf-8") == text, file


if __name__ == "__main__":
    for game in GAMES:
        for file, text in golden_prompts(game).items():
            (GOLDEN / file).write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {file}\n")
