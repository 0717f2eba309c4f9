"""A person in a seat: the keys, the screen, what is read, recorded and replayed."""

import asyncio
import io
import json
import os
import pathlib
import subprocess
import sys
import termios
import tty
from typing import Any, Self

import jax
import pytest
from rich.console import Console

from llm_eval import keyboard, play, run
from llm_eval.clients.base import Message, Reply, Request
from llm_eval.clients.scripted import Scripted, wander
from llm_eval.human import Human
from llm_eval.keyboard import Keyboard, Person
from llm_eval.keys import actions_by_key
from llm_eval.play import INTERRUPTED, WRONG
from llm_eval.policy import LanguageModel
from llm_eval.records import DONE, REPLIES, RESULT, STEPS, StepRecord
from llm_eval.replies import ACTIONS
from llm_eval.screen import NARROWEST, lay_out
from llm_eval.seated import Seated
from tests.llm_eval import games
from tests.llm_eval.games import GAMES, Table, make, reads

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Typed:
    """Keys pressed beforehand, in the place of a terminal's; the input ends after them."""

    def __init__(self, *keys: str) -> None:
        self.left = list(keys)

    async def next(self) -> str:
        if not self.left:
            await keyboard.interrupt()
        return self.left.pop(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def step_of(name: str, steps: int = 6) -> StepRecord:
    """The last step at which a person was asked in a game of some steps."""
    env = make(name, num_trials=2, trial_length=25)
    records: list[StepRecord] = []
    players: list[Seated] = [Human(Scripted(wander), env, recorder=records.append)]
    players += [LanguageModel(Scripted(reads), env, seat) for seat in range(1, env.num_agents)]
    games.play(Table(env, jax.random.key(3), env.problem(906)), players, steps)
    return [record for record in records if record.prompt][-1]


def press(*keys: str, game: str = "cleanup", text: str = "Look.") -> tuple[Reply, str]:
    """What a person at a 70 × 16 terminal replies, and what stood on it all the while."""
    console = Console(width=70, height=16, file=io.StringIO(), force_terminal=False, record=True)
    request = Request("## The rules\n" + "rule\n" * 20, (Message("user", text),), tags={"seat": 3})
    reply = asyncio.run(Person(Typed(*keys), console, game).complete(request))
    return reply, console.export_text()


@pytest.mark.parametrize("game", GAMES)
def test_every_action_has_a_key_of_its_own(game: str) -> None:
    keys = actions_by_key(game)
    assert set(keys.values()) == set(ACTIONS[game])
    assert len([key for key in keys if len(key) == 1]) == len(ACTIONS[game])
    for key, action in keys.items():
        reply, seen = press(key, game=game)
        assert json.loads(reply.text) == {"action": action}
        assert action in seen


def test_help_rules_and_unknown_keys_cost_no_step() -> None:
    reply, seen = press("?", "x", "r", "x", "x", "Z", "up")
    assert json.loads(reply.text) == {"action": "north"}
    assert "w or up     north" in seen
    assert seen.count("rule\n") == 20
    assert seen.count("Any key goes on.") == 1 + 2
    assert "'Z' is no key here. ? lists the keys" in seen
    assert seen.count("Seat 3.") == 4


@pytest.mark.parametrize("name", GAMES)
def test_a_person_reads_what_a_model_in_the_seat_would_read(name: str) -> None:
    def blocks(seated: type[Seated]) -> dict[str, str]:
        env = make(name, num_trials=2, trial_length=25)
        records: list[StepRecord] = []
        players = [seated(Scripted(script), env, seat, recorder=records.append) for seat in SEATS]
        games.play(Table(env, jax.random.key(3), env.problem(906)), players, 29)
        prompt = next(r.prompt for r in records if (r.trial, r.step, r.seat) == (1, 3, 0))
        assert prompt is not None
        parts = [part.partition("\n") for part in prompt.split("\n\n# ")]
        return {heading: body for heading, _, body in parts}

    def script(request: Request) -> str:
        action = ACTIONS[name][(3 * request.tags["step"] + request.tags["trial"]) % 7]
        reply = json.loads(wander(request))
        return json.dumps(reply | {"action": action} if "action" in reply else reply)

    SEATS = range(5)
    person, model = blocks(Human), blocks(LanguageModel)
    for heading in ("RULES YOU KNOW", "EARLIER TRIALS", "OTHER AGENTS", "NOW"):
        assert person[heading] == model[heading]
    assert person["LAST STEP"].splitlines()[0] == model["LAST STEP"].splitlines()[0]
    keyless = [line.partition("] ")[2] for line in person["ACTIONS NOW"].splitlines()]
    assert keyless == [line.removeprefix("- ") for line in model["ACTIONS NOW"].splitlines()]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("width", [NARROWEST - 1, NARROWEST, 120])
def test_the_screen_shows_every_word_of_the_step(name: str, width: int) -> None:
    text = step_of(name).prompt
    assert text is not None
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(lay_out(text, width))
    seen = console.export_text()
    assert sorted(seen.split()) == sorted(text.split())
    board = [line for line in text.splitlines() if line.startswith(("0 ", "1 ", "2 ", "3 "))]
    assert board
    assert all(any(shown.startswith(line) for shown in seen.splitlines()) for line in board)


def test_a_step_is_recorded_with_what_was_read_and_chosen() -> None:
    record = step_of("cleanup")
    assert (record.kind, record.player, record.invalid) == ("step", "human", None)
    assert record.decision == {"action": ACTIONS["cleanup"][record.action or 0]}
    assert record.outcome["words"]


def arguments(folder: pathlib.Path) -> list[str]:
    small = ["env.num_agents=2", "env.num_trials=2", "env.trial_length=4", "env=harvest"]
    return [*small, "problem_seeds=[0]", "team=[human,llm:scripted]", f"directory={folder}"]


def play_keys(monkeypatch: Any, folder: pathlib.Path, *keys: str) -> tuple[int, list[str]]:
    """The program with these keys; its status, and the keys that were left."""
    typed = Typed(*keys)
    monkeypatch.setattr(play, "check_terminal", lambda stdin: None)
    monkeypatch.setattr(play, "Keyboard", lambda stdin: typed)
    return run.main(arguments(folder)), typed.left


def test_a_person_who_left_goes_on_to_the_same_end(tmp_path, capsys, monkeypatch) -> None:
    keys = ["s", "s", "?", "x", "d", "q", "f", "w", "x", "a"]
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    assert play_keys(monkeypatch, whole, *keys) == (0, [])
    printed = capsys.readouterr().out
    assert json.loads(printed.splitlines()[-1])["replies"] == 2 * (4 + 1)
    assert play_keys(monkeypatch, parted, *keys[:5]) == (INTERRUPTED, [])
    assert "the same command goes on" in capsys.readouterr().err
    assert run.main(["--status", str(parted)]) == 0
    assert "stopped" in capsys.readouterr().out
    assert play_keys(monkeypatch, parted, *keys[5:], "w") == (0, ["w"])
    assert capsys.readouterr().out == printed
    (one,), (other,) = ([path.parent for path in root.rglob(DONE)] for root in (whole, parted))
    for name in (STEPS, RESULT, "episode.npz"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    replies = [json.loads(line) for line in (other / REPLIES).read_text().splitlines()]
    assert sum(entry["player"] == "human" for entry in replies) == 8
    assert play_keys(monkeypatch, parted) == (0, [])


def test_without_a_terminal_nothing_is_begun(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("wwww"))
    assert run.main(arguments(tmp_path)) == WRONG
    told = capsys.readouterr().err
    assert "A human plays by the keys of a terminal, and standard input is none" in told
    assert not list(tmp_path.iterdir())


@pytest.fixture
def terminal():
    """Both ends of a terminal: where a person types, and what a program reads."""
    person, program = os.openpty()
    with os.fdopen(program, "r") as file:
        yield person, file
    os.close(person)


def test_a_terminals_keys_come_one_by_one(terminal) -> None:
    person, file = terminal
    before = termios.tcgetattr(file)

    async def read() -> list[str]:
        with Keyboard(file) as keys:
            first = asyncio.create_task(keys.next())
            await asyncio.sleep(0.05)
            assert not first.done()
            os.write(person, "w\x1b[A\x1bOCé\x1b[5~".encode())
            return [await first, *[await keys.next() for _ in range(4)]]

    assert asyncio.run(read()) == ["w", "up", "right", "é", "an unknown key"]
    assert termios.tcgetattr(file) == before


def test_ctrl_d_interrupts_and_gives_the_terminal_back(terminal) -> None:
    person, file = terminal
    before = termios.tcgetattr(file)

    async def read() -> None:
        with Keyboard(file) as keys:
            os.write(person, b"\x04")
            await keys.next()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(read())
    assert termios.tcgetattr(file) == before


@pytest.mark.slow
def test_the_program_plays_on_a_terminal(tmp_path, terminal) -> None:
    person, file = terminal
    tty.setcbreak(file)  # as the program does, so that what is typed ahead arrives as typed
    command = [sys.executable, "llm_eval/run.py", *arguments(tmp_path)]

    def start(keys: bytes) -> tuple[int, str]:
        os.write(person, keys)
        program = subprocess.run(
            command,
            cwd=ROOT,
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=300,
        )
        return program.returncode, program.stdout.decode()

    assert start(b"ssd\x04") == (INTERRUPTED, "")
    status, printed = start(b"xwqxx")
    assert (status, json.loads(printed.splitlines()[-1])["num_problems"]) == (0, 1)
