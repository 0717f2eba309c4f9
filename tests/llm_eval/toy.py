"""A game of nothing but replies, memory and records; run as a program it is killed again and again.

`python -m tests.llm_eval.toy FOLDER SEED` plays into the folder, kills each attempt after a random
number of replies until one comes to its end, and prints how many were killed.
"""

import asyncio
import dataclasses
import json
import os
import pathlib
import random
import signal
import sys
import time
from collections.abc import Coroutine, Sequence
from typing import Any

from llm_eval.clients.base import Message, Reply, Request
from llm_eval.clients.budget import Budget
from llm_eval.clients.config import ClientConfig, RetryConfig
from llm_eval.clients.connect import record, wrap
from llm_eval.clients.limit import Limits
from llm_eval.clients.scripted import Answer, Scripted, wander
from llm_eval.memory import Memory, RecentStep, add_step, edit_notes, end_trial, set_goal
from llm_eval.parsing import Invalid, read_reply
from llm_eval.records import REPLIES, Progress, RunFolder, StepRecord
from llm_eval.replies import CleanupReply, Rewrite, schema_of
from tests.llm_eval.fakes import failed

SEATS, TRIALS, STEPS = 3, 2, 7
CONFIG = ClientConfig(
    provider="scripted",
    model="wander",
    prices={"input": 1.0, "output": 5.0},  # type: ignore[arg-type]
    retry=RetryConfig(first_seconds=0.001, longest_seconds=0.001),
    max_in_flight=2,
    max_tokens=150,
)


def unsteady(request: Request) -> Answer:
    """Mostly a good reply; now and then an invalid one, or none at the first attempt."""
    rng = random.Random(request.prompt_hash)
    if rng.random() < 0.2:
        return "I do not know."
    if random.random() < 0.1:
        return failed()
    return wander(request)


@dataclasses.dataclass
class Seat:
    """Who asks, and what it remembers."""

    number: int
    client: object
    memory: Memory = dataclasses.field(default_factory=Memory)


async def play(path: pathlib.Path, budget_dollars: float | None = None) -> Scripted:
    """Plays the run in the folder to its end; the model that was asked."""
    model = Scripted(unsteady, CONFIG, latency=0.001)
    with RunFolder(path, {"game": "toy", "steps": STEPS}, {"osj": "1"}) as folder:
        if folder.is_done:
            return model
        budget = Budget(budget_dollars, spent=folder.spent())
        paid = wrap(model, CONFIG, Limits(), budget, "wanderer")
        names = [f"seat {number}" for number in range(SEATS)]
        clients = [record(paid, folder.replies, name, "wanderer") for name in names]
        seats = [Seat(number, client) for number, client in enumerate(clients)]
        returns = [0.0] * SEATS
        for trial in range(TRIALS):
            for step in range(STEPS):
                await play_step(folder, seats, returns, trial, step)
            await all_of([rewrite(folder, seat, trial) for seat in seats])
        notes = [[note.text for note in seat.memory.notes] for seat in seats]
        folder.finish({"returns": returns, "notes": notes, "invalid": invalid_of(folder)})
    return model


def invalid_of(folder: RunFolder) -> dict[str, int]:
    return dict(sorted(folder.tallies["wanderer"].invalid.items()))


async def play_step(
    folder: RunFolder, seats: list[Seat], returns: list[float], trial: int, step: int
) -> None:
    prompts = [prompt_of(seat, trial, step) for seat in seats]
    pairs = zip(seats, prompts, strict=True)
    asked = [ask(seat, CleanupReply, text, trial, step) for seat, text in pairs]
    replies = await all_of(asked)
    for seat, prompt, reply in zip(seats, prompts, replies, strict=True):
        decision = read_reply(reply, CleanupReply)
        invalid = decision if isinstance(decision, Invalid) else None
        action = "stay" if isinstance(decision, Invalid) else decision.action
        outcome = invalid.message if invalid else action
        if isinstance(decision, CleanupReply):
            seat.memory, told = edit_notes(seat.memory, decision.note)
            seat.memory = set_goal(seat.memory, decision.goal, step)
            outcome += told
        seat.memory = add_step(seat.memory, RecentStep(step=step, action=action, outcome=outcome))
        returns[seat.number] += len(action) / 10
        folder.add_step(
            StepRecord(
                "step",
                trial,
                step,
                seat.number,
                "wanderer",
                prompt=prompt,
                decision=None if isinstance(decision, Invalid) else decision.model_dump(),
                invalid=invalid.kind if invalid else None,
                reward=len(action) / 10,
            )
        )
    folder.write_progress(Progress(trial, TRIALS, step, STEPS, returns))


async def all_of(calls: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Lets every call come to its end, so that no paid reply is lost, and then fails if one did."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return list(results)


async def rewrite(folder: RunFolder, seat: Seat, trial: int) -> None:
    reply = await ask(seat, Rewrite, prompt_of(seat, trial, STEPS), trial, STEPS)
    found = read_reply(reply, Rewrite)
    rewritten = None if isinstance(found, Invalid) else found
    seat.memory = end_trial(seat.memory, f"Trial {trial} is over.", rewritten)


async def ask(seat: Seat, model: type, text: str, trial: int, step: int) -> Reply:
    tags = {"trial": trial, "step": step}
    request = Request("Play.", (Message("user", text),), schema_of(model), tags=tags)
    return await seat.client.complete(request)  # type: ignore[attr-defined, no-any-return]


def prompt_of(seat: Seat, trial: int, step: int) -> str:
    memory = json.dumps(seat.memory.model_dump(mode="json"))
    return f"Seat {seat.number}, trial {trial}, step {step}: {memory}"


def replies_in(path: pathlib.Path) -> int:
    file = path / REPLIES
    return file.read_bytes().count(b"\n") if file.exists() else 0


def killed_until_done(path: pathlib.Path, seed: int) -> int:
    """How many attempts were killed before one came to its end."""
    rng, kills = random.Random(seed), 0
    while True:
        child = os.fork()
        if not child:
            asyncio.run(play(path))
            os._exit(0)
        most = replies_in(path) + rng.randrange(12)
        while replies_in(path) <= most:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                assert status == 0, f"The attempt after {kills} kills failed."
                return kills
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.005))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills += 1


if __name__ == "__main__":
    print(killed_until_done(pathlib.Path(sys.argv[1]), int(sys.argv[2])))
