"""The program of Schelling diagrams, on a game whose payoffs are known and on the real ones."""

import dataclasses
import json
import pathlib
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import osj_envs
from algorithms.policy import LearnedPolicy
from baselines import players, schelling, schelling_games
from baselines.players import make_named
from baselines.schelling_games import Game, fingerprint, name_of, open_folder, play_all
from baselines.simple import Random, Stay
from osj_envs import schelling as diagrams
from osj_envs.testing.fakes import CountingGame, CountingOutcome, CountingWorld
from osj_envs.trials import MultiTrial
from osj_envs.types import WorldStep

COOPERATE = jnp.array([1.0, 2.0, 9.0])
DEFECT = jnp.array([3.0, 5.0, 7.0])
LENGTH = 4
SMALL = (
    "env.num_agents=2",
    "env.num_trials=2",
    "env.trial_length=5",
    "env.initial_waste=0.1",
    "num_problems=3",
)
ROLES = ("cooperator=random", "defector=stay")


class PayoffGame(CountingGame):
    """Three agents; action 1 cooperates. A step pays by the number of others that do.

    A seat pays a hundred more than the one before, and a problem its own luck.
    """

    def step_world(self, key, latent, world, step, actions) -> WorldStep:
        del key
        cooperates = actions == 1
        others = cooperates.sum() - cooperates
        reward = jnp.where(cooperates, COOPERATE[others], DEFECT[others])
        luck = (latent.key[0] % 512).astype(jnp.float32)
        reward = reward + 100 * jnp.arange(self.num_agents) + luck
        return WorldStep(
            world=CountingWorld(key=world.key, count=world.count + 1, total=world.total + actions),
            reward=reward,
            outcome=CountingOutcome(reward=reward),
            events={"cooperated": cooperates.astype(jnp.float32)},
            is_over=jnp.bool_(False),
        )


def payoff_game(problems=6) -> Game:
    env = MultiTrial(PayoffGame(3), num_trials=2, trial_length=LENGTH)
    return Game(env, Stay(action=1), Stay(action=0), "held_out", range(5, 5 + problems), 0)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The records of the game with known payoffs, and their folder."""
    folder = tmp_path_factory.mktemp("payoff")
    return play_all(payoff_game(), folder), folder


def test_the_first_players_cooperate(played):
    for k, record in enumerate(played[0]):
        assert record.events["cooperated"].sum(axis=(0, 1)).tolist() == [
            6 * 2 * LENGTH * (player < k) for player in range(3)
        ]


def test_the_seating_shifts_so_that_either_role_sits_everywhere(played):
    for record in played[0]:
        assert record.problem_seed.tolist() == list(range(5, 11))
        seats = [[(player + seed) % 3 for player in range(3)] for seed in range(5, 11)]
        assert record.seat.tolist() == seats


def test_known_payoffs_make_their_diagram(played):
    diagram = diagrams.make_diagram(played[0])
    cooperator, defector = (diagram.curves[name].value for name in ("cooperator", "defector"))
    # what a seat and a problem pay is the same for every role and number, seen over all seats
    extra = defector[0] - LENGTH * DEFECT[0]
    np.testing.assert_allclose(cooperator - extra, LENGTH * COOPERATE, atol=1e-3)
    np.testing.assert_allclose(defector - extra, LENGTH * DEFECT, atol=1e-3)
    found = [diagram.verdict(each.name) for each in diagrams.CONDITIONS]
    assert found[0] == "holds"  # the same seats are compared: no spread
    assert diagram.margins["cooperation_pays"].interval == pytest.approx([4 * 6] * 2, abs=1e-3)


def test_a_diagram_that_was_stopped_goes_on_to_the_same_bytes(played, tmp_path, monkeypatch):
    records, straight = played
    for k in (0, 2):
        shutil.copy(straight / f"cooperators-{k}.npz", tmp_path)
    evaluated = []

    def evaluate(env, roster, *rest, **options):
        evaluated.append(sum(player.action for player in roster))
        return schelling_games.records.load(straight / f"cooperators-{evaluated[-1]}.npz")

    monkeypatch.setattr(schelling_games, "evaluate", evaluate)
    resumed = play_all(payoff_game(), tmp_path)
    assert evaluated == [1, 3]
    jax.tree.map(np.testing.assert_array_equal, resumed, records)
    for path in straight.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in straight.iterdir())


def test_what_is_there_survives_a_stop_in_the_next_game(tmp_path, monkeypatch):
    evaluate = schelling_games.evaluate

    def stopped(env, roster, *rest, **options):
        if sum(player.action for player in roster) == 2:
            raise KeyboardInterrupt
        return evaluate(env, roster, *rest, **options)

    monkeypatch.setattr(schelling_games, "evaluate", stopped)
    with pytest.raises(KeyboardInterrupt):
        play_all(payoff_game(), tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cooperators-0.npz", "cooperators-1.npz"]


def test_a_stop_by_hand_says_how_to_go_on(monkeypatch, capsys):
    def stopped(config):
        raise KeyboardInterrupt

    monkeypatch.setattr(schelling, "run", stopped)
    assert schelling.main([*SMALL, *ROLES]) == 130
    assert "the same command goes on" in capsys.readouterr().err


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> pathlib.Path:
    """A folder in which the program has been."""
    folder = tmp_path_factory.mktemp("program") / "diagram"
    assert schelling.main([*SMALL, *ROLES, f"out={folder}"]) == 0
    return folder


def test_the_program_prints_tables_and_ends_with_json(program, capsys):
    assert schelling.main([*SMALL, *ROLES, f"out={program}"]) == 0
    text = capsys.readouterr().out
    assert "a sequential social dilemma" in text
    last = json.loads(text.splitlines()[-1], parse_constant=pytest.fail)
    head = [last[key] for key in ("env", "cooperator", "defector", "split", "num_problems")]
    assert head == ["cleanup", "random", "stay", "held_out", 3]
    assert len(last["return_cooperator"]) == 2
    assert last["run_dir"] == str(program)


def test_the_folder_holds_records_numbers_and_figure(program):
    names = {path.name for path in program.iterdir()}
    written = {"config.json", "table.txt", "schelling.csv", "figure.png", "metrics.json"}
    assert names == written | {f"cooperators-{k}.npz" for k in range(3)}
    numbers = json.loads((program / "metrics.json").read_text())
    assert numbers["return_defector"] == [0, 0]
    assert (program / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_command_again_leaves_the_same_bytes(program, tmp_path, capsys):
    again = tmp_path / "again"
    shutil.copytree(program, again)
    (again / "cooperators-1.npz").unlink()
    assert schelling.main([*SMALL, *ROLES, f"out={again}", "batch_size=2"]) == 0
    for path in program.iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("num_problems=4", "its num_problems is 3, not 4"),
        ("defector=random", "its defector is stay, not random"),
        ("seed=1", "its seed is 0, not 1"),
        ("split=train", "its split is held_out, not train"),
        ("env.hues=2", "its env is"),
    ],
)
def test_the_folder_of_another_diagram_is_left_alone(program, argument, said, capsys):
    before = {path: path.read_bytes() for path in program.iterdir()}
    assert schelling.main([*SMALL, *ROLES, f"out={program}", argument]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "out=DIR" in told
    assert {path: path.read_bytes() for path in program.iterdir()} == before


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="no folder of a Schelling diagram"):
        open_folder(tmp_path, {"env": {"name": "cleanup"}})
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_every_configuration_has_a_folder_of_its_own():
    asked = {"env": {"name": "cleanup", "hues": 3}, "seed": 0}
    assert name_of(asked) == name_of(dict(reversed(asked.items())))
    assert name_of(asked).startswith("schelling-cleanup-")
    assert name_of(asked) != name_of(asked | {"seed": 1})


def test_a_player_with_other_arrays_is_another_player():
    one, other = (LearnedPolicy(params={"w": jnp.full(3, w)}, agent=None) for w in (1.0, 2.0))
    assert fingerprint(one) == fingerprint(dataclasses.replace(one))
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(Random()) == fingerprint(Stay(action=1))  # no arrays: their names tell


def test_players_are_named_in_three_ways(monkeypatch):
    env = osj_envs.make("cleanup", num_agents=2)
    assert make_named("stay", env, {}) == Stay(action=7)
    entry = {"_target_": "baselines.simple.Stay", "action": 3}
    assert make_named(entry, env, {}) == Stay(action=3)
    asked = []
    monkeypatch.setattr(players, "make_player", lambda *entry: asked.append(entry))
    make_named("checkpoint:runs/one", env, {})
    target = "algorithms.policy.load_policy"
    assert asked == [({"_target_": target, "checkpoint": "runs/one"}, env)]


def test_players_have_short_titles():
    assert players.title_of("stay", {}) == "stay"
    assert players.title_of("cooperator", {"cooperation": 0.5}) == "cooperator (cooperation 0.5)"
    assert players.title_of("checkpoint:runs/one", {}) == "checkpoint one"
    assert players.title_of({"_target_": "baselines.simple.Stay", "action": 7}, {}) == "Stay"


def test_a_checkpoint_that_is_not_there_is_one_sentence(capsys):
    assert schelling.main([*SMALL, "cooperator=checkpoint:nowhere", "defector=stay"]) == 2
    told = capsys.readouterr().err.strip()
    assert "There is no checkpoint" in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cooperator=cooperater"], "did you mean 'cooperator'"),
        (["defektor=stay"], "did you mean 'defector'"),
        (["cooperator=random", "cooperator_options.keep=2"], "takes no options"),
        (["num_problems=1"], "at least 2"),
        (["split=heldout"], "held_out"),
        (["env=clean"], "did you mean 'cleanup'"),
        (["cooperator={_target_: baselines.gone.Player}"], "gone"),
        (["cooperator=checkpoint:x", "cooperator_options.keep=2"], "Only scripted policies"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(arguments, said, capsys, tmp_path):
    assert schelling.main([*arguments, f"directory={tmp_path}"]) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert told.startswith("error: ")
    assert len(told.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_help_names_keys_and_players(capsys):
    assert schelling.main(["--help"]) == 0
    text = capsys.readouterr().out
    for part in ("cooperator: cooperator", "num_problems: 256", "policies of cleanup", "random"):
        assert part in text


@pytest.mark.parametrize("game", ["cleanup", "harvest"])
@pytest.mark.slow
def test_the_roles_of_either_game_make_a_diagram(game, tmp_path, capsys):
    options = ("env.num_agents=1", "env.num_trials=1", "env.trial_length=4", "num_problems=2")
    assert schelling.main([f"env={game}", *options, f"directory={tmp_path}"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["cooperator"], last["defector"]) == ("cooperator", "defector")
    folder = pathlib.Path(last["run_dir"])
    assert folder.parent == tmp_path
    assert folder.name.startswith(f"schelling-{game}-")
