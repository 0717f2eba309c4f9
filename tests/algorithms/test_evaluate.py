"""Evaluation of checkpoints: what is played, what is printed, what is written, what is refused."""

import json
import math
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct

from algorithms import evaluate, report, runs
from algorithms.checkpointing import About, open_checkpoints
from algorithms.compose import load_train_config
from algorithms.controls import AGENT, Match, load_seats, make_matches, play
from algorithms.figures import training_curve
from algorithms.learner import make_learner
from algorithms.policy import make_policy
from algorithms.rl2 import make_agent
from baselines import schelling
from osj_envs.env_config import make_env
from osj_envs.grid.codes import Action
from osj_envs.metrics import Metrics
from osj_envs.paired import Bounds
from osj_envs.seats import Decision, SeatView
from osj_envs.trials import MultiTrial
from tests.algorithms.tiny import make_tiny_config, tiny_arguments

RIPE = {"env__initial_waste": 0.0, "env__trial_length": 23, "env__num_trials": 3}
"""Worlds in which everybody finds apples."""


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX has been used in this process, so its devices are what they are."""
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of a run with the checkpoints 3, the best, and 5; it was never trained."""
    arguments = tiny_arguments(logging__directory=tmp_path_factory.mktemp("runs"), **RIPE)
    config = load_train_config(arguments)
    folder = runs.create(config, arguments)
    learner = make_learner(config, make_env(config.env, is_training=True))
    with open_checkpoints(folder.checkpoints, config.checkpoint) as checkpoints:
        for update, held_out_return in ((3, 0.5), (5, 0.25)):
            about = About(config, update, held_out_return=held_out_return)
            checkpoints.save(learner.init(update), about)
    return folder.path


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The last line of the program's output, which is one JSON object."""
    assert evaluate.main([*arguments, "num_problems=4"]) == 0
    last: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return last


def test_the_last_line_holds_the_figures_and_the_folder_the_rest(run, capsys):
    assert evaluate.main([f"checkpoint={run}", "num_problems=4"]) == 0
    output = capsys.readouterr().out
    last = json.loads(output.splitlines()[-1], parse_constant=pytest.fail)
    assert last["num_problems"] == 4
    assert len(last["return_by_trial"]) == len(last["return_by_trial_ci"]) == 3
    assert last["return_mean_ci"][0] <= last["return_mean"] <= last["return_mean_ci"][1]
    assert last["return_mean"] > 0
    assert last["split"] == "held_out"
    assert last["run_dir"] == str(run)
    assert last["checkpoint"] == str(run / "checkpoints" / "5")
    names = {"memory_wiped", "train_split", "random", "in_training", "random_in_training"}
    assert set(last["controls"]) == names
    folder = pathlib.Path(last["output_dir"])
    assert folder.parent == run
    written = json.loads((folder / "metrics.json").read_text(), parse_constant=pytest.fail)
    assert written["return_mean"] == last["return_mean"]
    assert written["controls"]["random"]["tiles_cleared"] is not None
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    table = (folder / "table.md").read_text()
    for title in ("agent, held-out problems", "agent, memory wiped at each trial", "random, held"):
        assert f"| {title}" in table
        assert f"| {title}" in output


def test_the_environment_can_be_changed_and_chance_repeats(run, capsys):
    options = [f"checkpoint={run}", "env=cleanup", "env.num_trials=2", "controls=false"]
    first = evaluated(capsys, *options, "which=best")
    assert len(first["return_by_trial"]) == 2
    assert first["checkpoint"].endswith("/3")
    assert first["controls"] == {}
    again = evaluated(capsys, *options, f"checkpoint={run / 'checkpoints' / '3'}")
    assert again["checkpoint"] == first["checkpoint"]
    assert again["output_dir"] != first["output_dir"]
    assert again["return_by_player"] == first["return_by_player"]
    other = evaluated(capsys, *options, "seed=1", "which=best")
    assert other["return_by_player"] != first["return_by_player"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "checkpoint=PATH is missing"),
        (["checkpoint=nowhere"], "There is no checkpoint"),
        (["checkpoint={run}x"], "Did you mean {run}?"),
        (["checkpoint={run}/checkpoints/4"], "Did you mean {run}/checkpoints/"),
        (["checkpoint={run}", "env=harvest"], "harvest"),
        (["checkpoint={run}", "split=heldout"], "'held_out'"),
        (["checkpoint={run}", "which=first"], "did you mean"),
        (["checkpoint={run}", "num_problems=0"], "num_problems is 0; it must be at least 1"),
        (["checkpoint={run}", "num_problem=3"], "did you mean 'num_problems'"),
        (["checkpoint={run}", "env.num_agnets=3"], "did you mean 'env.num_agents'"),
        (["checkpoint={run}", "env.hues=4"], "does not fit this agent in this environment"),
        (
            ["checkpoint={run}", "bounds=harvest"],
            "bounds are of 'harvest' and do not fit 'cleanup'",
        ),
        (["checkpoint={run}", "bounds=harvst"], "did you mean 'harvest'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(run, capsys, arguments, named):
    assert evaluate.main([argument.format(run=run) for argument in arguments]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert named.format(run=run) in errors


def test_help_shows_every_key(capsys):
    assert evaluate.main(["--help"]) == 0
    shown = capsys.readouterr().out
    for key in ("checkpoint:", "which:", "split:", "num_problems:", "controls:", "seed:", "env:"):
        assert key in shown


def matches_of(split: str = "held_out", game: str = "cleanup", **agent: Any) -> dict[str, Match]:
    changes = {f"agent__{key}": value for key, value in agent.items()}
    config = make_tiny_config(env=game, **changes)
    env = make_env(config.env, is_training=False)
    policy = make_policy(make_agent(config.agent, env.game), None)
    return make_matches(config, policy, split, has_controls=True)  # type: ignore[arg-type]


def test_the_controls_differ_in_what_they_say():
    matches = matches_of()
    assert {name: match.split for name, match in matches.items()} == {
        AGENT: "held_out",
        "memory_wiped": "held_out",
        "train_split": "train",
        "random": "held_out",
        "in_training": "held_out",
        "random_in_training": "held_out",
    }
    assert [name for name, match in matches.items() if match.wipes] == ["memory_wiped"]
    laid = {name: match.env.game.config.initial_waste for name, match in matches.items()}
    assert [name for name, waste in laid.items() if waste == 1.0] == list(matches)[:4]
    assert len({waste for name, waste in laid.items() if "in_training" in name}) == 1


def test_where_training_has_no_options_of_its_own_nothing_is_played_twice():
    matches = matches_of(game="harvest")
    assert list(matches) == [AGENT, "memory_wiped", "train_split", "random"]


def test_training_problems_are_compared_with_held_out_ones():
    matches = matches_of("train")
    assert matches[AGENT].split == "train"
    assert matches["held_out_split"].split == "held_out"


def test_what_carries_nothing_has_nothing_wiped():
    assert "memory_wiped" not in matches_of(memory="none")
    wiping = matches_of(wipe_at_trial=True)
    assert "memory_wiped" not in wiping
    assert wiping[AGENT].wipes


@struct.dataclass
class LateRiser:
    """Stays until it remembers a whole trial; from then on it wanders."""

    is_traceable: bool = struct.field(pytree_node=False, default=True)

    def initial_carry(self, key: jax.Array) -> jax.Array:
        return jnp.int32(0)

    def act(self, carry: jax.Array, view: SeatView, key: jax.Array) -> tuple[jax.Array, Decision]:
        wanders = carry >= RIPE["env__trial_length"]
        action = jnp.where(wanders, jax.random.randint(key, (), 0, 4), Action.STAY)
        return carry + 1, Decision(action=action)


@pytest.fixture(scope="module")
def ripe() -> MultiTrial:
    return make_env(make_tiny_config(**RIPE).env, is_training=False, auto_reset=False)


@pytest.fixture(scope="module")
def of_random(ripe: MultiTrial) -> Metrics:
    return play(Match("random", load_seats("random", ripe), ripe, "held_out"), range(8))


def test_the_random_control_is_random_play(of_random):
    assert of_random.num_problems == 8
    low, high = of_random.estimates["return_mean"].interval
    assert 0 < low < high < RIPE["env__trial_length"]


def test_a_match_is_played_on_its_split(ripe, of_random):
    in_training = play(Match("random", load_seats("random", ripe), ripe, "train"), range(8))
    returns = [each.estimates["return_by_trial"].value for each in (of_random, in_training)]
    assert (returns[0] != returns[1]).any()


@pytest.mark.parametrize("wipes", [False, True])
def test_a_match_wipes_the_memory_where_it_says_so(ripe, wipes):
    played = play(Match("late", LateRiser(), ripe, "held_out", wipes), range(8))
    first, *later = played.estimates["return_by_trial"].value
    assert first == 0
    assert all(each == 0 for each in later) if wipes else all(each > 0 for each in later)


@pytest.mark.parametrize(("seats", "wanted"), [("stay", 0), ("random", 1)])
def test_a_match_tells_its_position_between_bounds(ripe, seats, wanted):
    bounds = Bounds(load_seats("stay", ripe), load_seats("random", ripe))
    match = Match(seats, load_seats(seats, ripe), ripe, "held_out", bounds=bounds)
    assert play(match, range(8)).estimates["position"].value == wanted


@pytest.mark.slow
def test_a_checkpoint_takes_a_role_in_a_schelling_diagram(run, tmp_path, capsys):
    sizes = ["env.num_agents=2", "env.num_trials=2", "env.trial_length=40", "num_problems=8"]
    roles = [f"cooperator=checkpoint:{run}", "defector=stay", f"out={tmp_path / 'diagram'}"]
    assert schelling.main([*sizes, "env.initial_waste=0.0", *roles]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["return_cooperator"][1] > 0 == last["return_defector"][1]
    assert last["cooperator"] == f"checkpoint:{run}"


def test_the_curve_is_a_mean_over_trials(of_random):
    rows: list[dict[str, Any]] = [
        {"update": 1, "agent_steps": 10, "trials_finished/1": 0.0},
        {"update": 2, "agent_steps": 20, "return_mean": 1.0, "trials_finished/1": 1.0},
        {"update": 3, "agent_steps": 30, "return_mean": 4.0, "trials_finished/2": 3.0},
        {"update": 4, "agent_steps": 40, "return_mean": 2.0, "trials_finished/2": 2.0},
    ]
    curve = training_curve(rows, points=2)
    np.testing.assert_allclose(curve[:, :2], [[30, 3.25], [40, 2.0]])
    margin = 1.96 * math.sqrt((1 * 2.25**2 + 3 * 0.75**2) / 4)
    np.testing.assert_allclose(curve[0, 2:], [3.25 - margin, 3.25 + margin])
    assert training_curve([]).shape == (0, 4)
    results = report.Results({AGENT: "agent"}, {AGENT: of_random}, curve)
    numbers = json.loads(report.last_line(report._numbers(results)))
    assert numbers["training"] == {"return_first": 2.625, "return_last": 2.625}


def test_a_figure_without_training_or_controls_is_drawn(of_random, tmp_path):
    results = report.Results({AGENT: "agent"}, {AGENT: of_random}, training_curve([]))
    content = report.write(tmp_path / "new", results, {"run_dir": "here"})
    assert content["run_dir"] == "here"
    assert (tmp_path / "new" / "figure.png").exists()
    assert "nan" not in (tmp_path / "new" / "table.md").read_text()
