"""Faults seen in public implementations of such games, and the tests that guard against each.

`python tests/test_known_faults.py` prints the list.
"""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]

TRIALS = "tests/test_trials.py"
MOVEMENT, BEAM, VIEW = (f"tests/grid/test_{part}.py" for part in ("movement", "beam", "view"))
HAND, ORACLE, CHANCE, SYMMETRY, SEEN = (
    f"tests/cleanup/test_{part}.py"
    for part in ("dynamics", "oracle", "statistics", "symmetries", "observation")
)
ORCHARD, ORCHARD_ORACLE, ZAPS = (
    f"tests/harvest/test_{part}.py" for part in ("dynamics", "oracle", "zaps")
)
CHECKS = "osj_envs/testing/conformance.py"

FAULTS = {
    "the reward of a trial's last step is lost at the reset": [
        f"{TRIALS}::test_a_trials_last_step_pays_counts_and_is_not_scaled",
    ],
    "rewards are scaled by the number of agents": [
        f"{TRIALS}::test_the_agent_axis_stays_whatever_the_number_of_agents",
        f"{HAND}::test_walking_onto_an_apple_eats_it_for_a_reward_of_one",
    ],
    "a beam at the map's edge wraps to the far side or clamps to the edge": [
        f"{BEAM}::test_no_beam_wraps_or_clamps_at_any_edge",
        f"{HAND}::test_a_beam_over_the_edge_neither_wraps_nor_clamps",
        f"{ZAPS}::test_a_beam_over_the_edge_neither_wraps_nor_clamps",
        f"{SYMMETRY}::test_a_band_of_ground_around_the_map_changes_nothing_within_it",
        f"{VIEW}::test_off_map_is_wall",
    ],
    "a bystander's beam footprint undoes another's shot": [
        f"{HAND}::test_a_bystanders_beam_undoes_nobodys_shot",
        f"{HAND}::test_a_cell_changes_by_one_shade_a_step_however_many_beams_hit_it",
        f"{ORACLE}::test_every_step_is_as_by_the_slow_rules",
    ],
    "agents leave holes, or an item under an agent vanishes": [
        f"{HAND}::test_an_item_under_an_agent_stays",
        f"{ORCHARD}::test_the_trees_stay_where_agents_walk",
        f"{VIEW}::test_views_tell_what_lies_under_an_agent",
        f"{ORACLE}::test_every_step_is_as_by_the_slow_rules",
    ],
    "only three of the four headings are ever drawn": [
        f"{MOVEMENT}::test_agents_start_on_distinct_allowed_cells_uniformly_with_all_four_headings",
        f"{CHANCE}::test_agents_start_on_the_spawn_cells_and_then_on_open_ground",
    ],
    "one random key feeds several draws": [
        f"{TRIALS}::test_no_key_is_used_twice",
        f"{CHECKS}::check_keys",
        "tests/test_conformance.py::test_no_key_is_used_twice_where_a_trial_or_an_episode_begins",
        f"{CHECKS}::check_boundaries",
    ],
    "a dead orchard is declared while rotted cells still count down": [
        f"{ORCHARD}::test_a_trial_goes_on_while_a_rotted_cell_counts_down",
        f"{ORCHARD}::test_a_trial_goes_on_while_an_agent_stands_on_a_rotted_cell",
        f"{ORCHARD_ORACLE}::test_every_step_is_as_by_the_slow_rules",
    ],
    "shapes collapse when num_agents=1": [
        f"{CHECKS}::check_one_agent",
        f"{TRIALS}::test_the_agent_axis_stays_whatever_the_number_of_agents",
        f"{ORACLE}::test_every_step_is_as_by_the_slow_rules",
    ],
    "auto-reset hands the next episode's first observation out as this episode's last": [
        f"{TRIALS}::test_the_final_observation_is_the_old_trials_and_the_returned_one_the_new_trials",
        f"{TRIALS}::test_the_clock_counts_trials_and_steps",
        f"{CHECKS}::check_boundaries",
    ],
    "hidden state leaks from one episode into the next, or is wiped at a mere trial boundary": [
        f"{TRIALS}::test_every_leaf_after_a_boundary_is_that_of_a_fresh_start",
        f"{TRIALS}::test_a_trial_keeps_the_latent_and_an_episode_gets_another",
        f"{CHECKS}::check_boundaries",
    ],
    "previous action or reward leaks into the next episode, or is wiped at a trial's end": [
        "tests/algorithms/test_rl2.py::test_what_crosses_which_boundary",
        "tests/test_rollout.py::test_the_last_reward_reaches_the_player",
        "tests/test_rollout.py::test_the_evidence_reaches_the_player",
    ],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_a_guard(fault):
    assert FAULTS[fault]
    for guard in FAULTS[fault]:
        path, _, name = guard.partition("::")
        tree = ast.parse((ROOT / path).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


if __name__ == "__main__":
    for fault, guards in FAULTS.items():
        print(f"- {fault}", *guards, sep="\n    ")
