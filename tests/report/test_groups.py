"""Runs are grouped over seeds, and a group says no more than its runs allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from glimpse_envs.evaluation.record import Model, Record, Validation
from glimpse_envs.evaluation.statistics import bootstrap_interval, wilson_interval
from report.curves import curve_of, time_to
from report.grouping import group_runs, tasks_of
from report.groups import BY_THE_WALL, Group, compare
from report.kinds import KINDS, kind_of
from report.unequal_trainings import unequal_trainings
from tests.support.records import (
    ENV_ID,
    EPISODES,
    FULL_CONV,
    MODELS,
    RANDOM,
    REINFORCE,
    SOFT_TILES,
    a_record,
    as_runs,
    many_records,
    memory_record,
)


def the_group(*records: Record) -> Group:
    (group,) = group_runs(as_runs(records))
    return group


# Kinds


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (Model("full soft random"), "hard"),
        (Model("", "privileged"), "privileged"),
        (Model("", "everything", attention="hard"), "addressed"),
        (Model("", "everything", attention="soft_to_hard"), "soft_to_hard"),
        (Model("", "everything", attention="soft"), "soft"),
        (Model("", "everything", attention="none"), "full"),
    ],
)
def test_the_kind_follows_from_fields_whatever_the_name(model: Model, kind: str) -> None:
    assert kind_of(model) == kind


# Groups


def test_groups_hold_runs_that_differ_in_the_seed_alone() -> None:
    runs = [a_record(seed=seed) for seed in (2, 0, 1)]
    others = [
        a_record(RANDOM),
        a_record(env_kwargs={"clutter": 8}),
        a_record(score={"episodes": 5_000, "successes": ""}),
        a_record(score={"split": "validation"}),
    ]
    groups = group_runs(as_runs([*runs, *others]))
    assert sorted(group.seeds for group in groups) == [1, 1, 1, 3]
    three = next(group for group in groups if group.seeds == 3)
    assert [record.seed for record in three.records] == [0, 1, 2]


def test_other_settings_are_another_group_that_says_which() -> None:
    settings: list[dict[str, Any]] = [
        {"batch_size": 128, "network": {"core": "lstm"}},
        {"batch_size": 128, "network": {"core": "gru", "contrast": True}},
    ]
    runs = [a_record(seed=s, config={**c, "seed": s}) for s in range(3) for c in settings]
    groups = group_runs(as_runs(runs))
    assert [(group.label, group.seeds) for group in groups] == [
        ("Reinforce LSTM (contrast, core gru)", 3),
        ("Reinforce LSTM (no contrast, core lstm)", 3),
    ]


def test_a_run_with_an_option_that_was_added_later_joins_the_row() -> None:
    old = a_record(config={"batch_size": 128})
    new = {"batch_size": 128, "network": {"colour": "red"}}
    runs = [old, a_record(seed=1, config=new, defaults={**new, "batch_size": 64})]
    assert the_group(*runs).seeds == 2
    other = a_record(seed=2, config={"batch_size": 128, "network": {"colour": "blue"}})
    assert [group.label for group in group_runs(as_runs([*runs, other]))] == [
        "Reinforce LSTM (colour blue)",
        "Reinforce LSTM (colour red)",
    ]


def test_machines_make_no_other_group() -> None:
    runs = [a_record(config={"batch_size": 128}), a_record(config={"batch_size": 128, "threads": 8},
                                                          seed=1, hardware="another")]  # fmt: skip
    assert the_group(*runs).seeds == 2


def test_one_run_has_wilsons_interval_and_makes_no_claim() -> None:
    group = the_group(a_record(error=3.0))
    low, high = wilson_interval(300, EPISODES)
    assert group.interval == (100 * low, 100 * high)
    assert not group.claims


def test_five_seeds_are_bootstrapped_over_seeds_and_episodes() -> None:
    counts = [250, 280, 300, 310, 900]
    group = the_group(*(a_record(error=c / 100, seed=s) for s, c in enumerate(counts)))
    low, high = bootstrap_interval(np.stack([np.arange(EPISODES) >= count for count in counts]))
    assert group.error == pytest.approx(2.9667, abs=1e-4)  # the middle three
    assert group.interval == pytest.approx((100 * low, 100 * high))
    assert group.claims


def test_seeds_without_their_episodes_are_bootstrapped_from_counts() -> None:
    group = the_group(*(a_record(error=3.0, seed=s, score={"successes": ""}) for s in range(5)))
    low, high = group.interval
    assert 2.5 < low < 3.0 < high < 3.5
    assert group.claims


@pytest.mark.parametrize(("seeds", "episodes"), [(4, EPISODES), (5, 1_000)])
def test_few_seeds_or_episodes_make_no_claim(seeds: int, episodes: int) -> None:
    score = {"episodes": episodes, "successes": ""}
    group = the_group(*(a_record(seed=seed, score=score) for seed in range(seeds)))
    assert not group.claims


@pytest.mark.parametrize(("shortest", "claims"), [(6.0, True), (5.9, False)])
def test_one_slow_training_does_not_make_the_others_long(shortest: float, claims: bool) -> None:
    minutes = [20.0, *[shortest] * 4]
    group = the_group(*(a_record(seed=s, seconds=60 * m, cores=1) for s, m in enumerate(minutes)))
    assert group.core_minutes == shortest
    assert group.claims is claims


def test_minutes_are_those_by_a_cores_own_clock_where_there_are_such() -> None:
    wall, own = BY_THE_WALL[0] + "0" * 28, "0" * 40
    trained = [(900.0, wall, "cpu"), (60.0, own, "cuda"), (300.0, own, "cpu")]
    records = [
        a_record(seed=seed, seconds=seconds, cores=1, revision=revision, config={"device": device})
        for seed, (seconds, revision, device) in enumerate(trained)
    ]
    assert the_group(*records).minutes_cell == "5 (1 of 3 seeds)"
    assert the_group(records[2]).minutes_cell == "5"
    assert the_group(*records[:2]).minutes_cell == "15 (wall, 1 of 2 seeds)"
    assert the_group(records[0]).minutes_cell == "15 (wall)"
    assert the_group(records[1]).minutes_cell == "1 (GPU)"


def test_what_else_than_sight_differs_between_trainings_is_told() -> None:
    agent, soft = (
        the_group(a_record(model, config={"optimizer": optimizer, "batch_size": batch, **more}))
        for model, optimizer, batch, more in (
            (REINFORCE, "muon", 256, {"curriculum": "threshold"}), (SOFT_TILES, "adam", 128, {}),
        )
    )  # fmt: skip
    (told,) = unequal_trainings([agent, soft])
    assert "Agents: Muon, batches of 256 and lengths by the curriculum *threshold*." in told
    assert "everything: Adam, batches of 128 and lengths by the curriculum *uniform*." in told
    other = the_group(a_record(config={"optimizer": "adam", "batch_size": 32}))
    (told,) = unequal_trainings([agent, other, soft])
    assert "Adam or Muon, batches of 32 to 256 and lengths by" in told
    assert "*threshold* or *uniform*" in told
    assert unequal_trainings([agent]) == []
    like_soft = the_group(a_record(config={"optimizer": "adam", "batch_size": 128}))
    assert unequal_trainings([like_soft, soft]) == []


def test_a_reference_is_cleared_only_by_the_whole_interval() -> None:
    assert compare((1.0, 2.0), 2.1) == "under"
    assert compare((1.0, 2.0), 2.0) == "overlaps"
    assert compare((1.0, 2.0), 1.5) == "overlaps"
    assert compare((1.0, 2.0), 0.9) == "above"


def test_errors_by_glimpse_are_those_of_all_seeds_or_of_none() -> None:
    assert len(the_group(a_record(), a_record(seed=1)).error_by_glimpse) == 8
    old = a_record(seed=1, score={"success_by_glimpse": ()})
    assert the_group(a_record(), old).error_by_glimpse == []


def test_a_seed_whose_episodes_all_ended_early_keeps_its_last_values() -> None:
    whole = a_record()
    score = whole.headline
    cut = {
        "success_by_glimpse": score.success_by_glimpse[:7],
        "costs_by_glimpse": {name: costs[:7] for name, costs in score.costs_by_glimpse.items()},
    }
    group = the_group(whole, a_record(seed=1, score=cut))
    of_both = [score.success_by_glimpse[7], score.success_by_glimpse[6]]
    assert group.error_by_glimpse[7] == pytest.approx(100 * (1 - np.mean(of_both)))
    costs = score.costs_by_glimpse["multiply_adds"]
    assert group.cost_by_glimpse("multiply_adds")[6:] == pytest.approx(
        [costs[6], (costs[7] + costs[6]) / 2]
    )


@pytest.mark.parametrize("model", [SOFT_TILES, FULL_CONV])
def test_of_a_scene_that_moves_most_models_that_see_everything_remember_no_frame(
    model: Model,
) -> None:
    group = the_group(a_record(model, env_id="Glimpse/MovingDigit-v0", budget=12))
    assert group.sees == "every pixel of the present frame, without a memory"
    assert group.budget == ("whole" if model is FULL_CONV else "12 a frame")
    assert the_group(a_record(SOFT_TILES)).budget == "8"


def test_of_a_scene_that_moves_soft_readers_take_a_glimpse_a_frame() -> None:
    model = replace(SOFT_TILES, remembers_frames=True)
    group = the_group(a_record(model, env_id="Glimpse/MovingDigit-v0", budget=12))
    assert group.sees == "every pixel of the present frame, with a memory"
    assert group.budget == "12"


def test_a_record_does_not_import_the_scene_of_another_package() -> None:
    group = the_group(a_record(FULL_CONV, env_kwargs={"scene": "not_installed:Scene"}))
    assert group.sees == "every pixel"


def test_levels_are_means_over_the_seeds_that_were_scored_there() -> None:
    group = the_group(memory_record(0, 1.0), memory_record(1, 0.4, multiples=(1, 2)))
    assert group.success_at(2) == pytest.approx(0.35)
    assert group.success_at(4) == 0.25
    assert group.success_at(3) is None
    assert [level for level, _ in group.successes_by_level()] == [10, 20]
    assert (group.solved, group.episodes_to_solve, group.minutes_to_solve) == (1, 20_000, 1.5)


def test_minutes_to_solve_are_of_the_seeds_whose_times_count() -> None:
    wall = BY_THE_WALL[0] + "0" * 28
    group = the_group(memory_record(0), memory_record(1, revision=wall))
    assert (group.solved, group.episodes_to_solve) == (2, 30_000)
    assert group.minutes_to_solve == 1.5, "the first seed's, which a core's own clock timed"
    assert the_group(memory_record(1, revision=wall)).minutes_to_solve == 3.0
    assert the_group(memory_record(0, right=0.4), memory_record(1, revision=wall)).solved == 1


# Tasks


def test_the_groups_of_a_task_stand_kind_by_kind_whatever_the_order() -> None:
    (task,) = tasks_of(as_runs(reversed(many_records())))
    kinds = [group.kind for group in task.groups]
    assert kinds == sorted(kinds, key=KINDS.index)
    assert len(task.groups) == len(MODELS)


def test_labels_tell_only_what_differs() -> None:
    shared = {"scene_size": 80}
    records = [
        a_record(env_kwargs={**shared, "look": "tiles"}),
        a_record(env_kwargs=shared),
        a_record(SOFT_TILES, env_kwargs=shared),
    ]
    (task,) = tasks_of(as_runs(records))
    labels = [group.label for group in task.groups]
    assert labels == ["Reinforce LSTM", "Reinforce LSTM (look tiles)", "Soft tiles LSTM"]


def test_labels_tell_the_length_of_a_training_where_nothing_else_does() -> None:
    lengths: list[dict[str, Any]] = [
        {"weight_decay": 0.0, "minutes": 1.0, "episodes": 3_000_000},
        {"weight_decay": 0.0, "minutes": 3.0, "episodes": 3_000_000},
        {"weight_decay": 0.0, "minutes": 3.0, "episodes": 50_000},
        {"weight_decay": 0.5, "minutes": None, "episodes": 400_000},
    ]
    (task,) = tasks_of(as_runs([a_record(config=config) for config in lengths]))
    assert [group.label for group in task.groups] == [
        "Reinforce LSTM (weight decay 0, 1 minute)",
        "Reinforce LSTM (weight decay 0, 3 minutes, 3.0 M episodes)",
        "Reinforce LSTM (weight decay 0, 3 minutes, 50 k episodes)",
        "Reinforce LSTM (weight decay 0.5)",
    ]


def test_a_seed_that_was_trained_again_is_no_further_seed() -> None:
    timed = [a_record(seed=s, config={"minutes": 10.0}, episodes=1_000) for s in (0, 1)]
    again, further = (a_record(seed=s, config={"episodes": 1_000}, episodes=1_000) for s in (0, 2))
    groups = group_runs(as_runs([*timed, again, further]))
    assert sorted([record.seed for record in group.records] for group in groups) == [[0], [0, 1, 2]]


def test_labels_tell_a_curriculum_that_knew_the_target_and_other_numbers_of_episodes() -> None:
    near = a_record(config={"curriculum": "distance"})
    assert [group.label for group in group_runs(as_runs([near]))] == ["Reinforce LSTM"]
    fewer = a_record(seed=1, score={"episodes": 1_000})
    labels = [group.label for group in group_runs(as_runs([near, a_record(), fewer]))]
    assert sorted(labels) == [
        "Reinforce LSTM (1,000 test episodes)",
        "Reinforce LSTM (10,000 test episodes)",
        "Reinforce LSTM (curriculum distance, 10,000 test episodes)",
    ]


def test_settings_and_arguments_share_a_labels_brackets() -> None:
    records = [
        a_record(env_kwargs={"scales": 4}, config={"minutes": minutes}) for minutes in (4.0, 10.0)
    ]
    (task,) = tasks_of(as_runs(records))
    assert [group.label for group in task.groups] == [
        "Reinforce LSTM (10 minutes, 4 scales)",
        "Reinforce LSTM (4 minutes, 4 scales)",
    ]


def test_ways_of_looking_are_compared_and_other_scenes_are_not() -> None:
    records = [
        a_record(),
        a_record(env_kwargs={"look": "tiles", "budget": 4}, budget=4),
        a_record(SOFT_TILES),
        a_record(env_kwargs={"clutter": 8}),
        a_record(env_id="Glimpse/CIFAR10-v0"),
        memory_record(env_kwargs={"min_length": 2, "slack": 3.0}),
        memory_record(),
    ]
    tasks = {(t.env_id, *t.env_kwargs.items()): len(t.groups) for t in tasks_of(as_runs(records))}
    assert tasks == {
        (ENV_ID,): 3,
        (ENV_ID, ("clutter", 8)): 1,
        ("Glimpse/CIFAR10-v0",): 1,
        ("Glimpse/Copy-v0",): 2,
    }


# Curves


def a_curve(*points: tuple[float, int, float]) -> tuple[Validation, ...]:
    return tuple(Validation(s, n, 1 - error / 100, None, 2_000) for s, n, error in points)


def test_the_time_to_an_error_is_that_of_the_first_score_at_or_under_it() -> None:
    curve = a_curve((1.5, 100, 60.0), (3.0, 200, 10.0), (6.0, 400, 5.0), (12.0, 800, 4.0))
    points = curve_of(the_group(a_record(curve=curve)))
    assert [time_to(error, points) for error in (10, 9.9, 5)] == [3.0, 6.0, 6.0]
    assert time_to(1, points) == np.inf
    assert curve_of(the_group(a_record(curve=()))) == []


def test_curves_of_seeds_are_averaged_as_far_as_all_have_points() -> None:
    curves = [
        a_curve((1.0, 100, 30.0), (2.0, 200, 10.0), (4.0, 400, 5.0)),
        a_curve((3.0, 100, 40.0), (4.0, 200, 20.0)),
    ]
    first, second = curve_of(the_group(*(a_record(seed=s, curve=c) for s, c in enumerate(curves))))
    assert (first.core_seconds, first.error) == pytest.approx((2.0, 35.0))
    assert (second.core_seconds, second.error) == pytest.approx((3.0, 15.0))
    assert second.low < 10.1  # seeds that differ by so much say little of the next
    assert second.high > 19.9
    low, high = wilson_interval(600, 2_000)
    alone = curve_of(the_group(a_record(curve=curves[0])))[0]
    assert (alone.low, alone.high) == pytest.approx((100 * low, 100 * high))


def test_points_that_one_long_update_passed_at_once_leave_the_others_in_their_places() -> None:
    config = {"validate_every": 0, "stop_at": None}
    curves = [
        a_curve((1.0, 100, 40.0), (2.0, 200, 20.0), (4.0, 400, 10.0)),
        a_curve((2.0, 200, 20.0), (4.0, 400, 10.0)),
    ]
    group = the_group(
        *(a_record(seed=s, curve=curve, config=config) for s, curve in enumerate(curves))
    )
    assert [(point.core_seconds, point.error) for point in curve_of(group)] == [
        pytest.approx((2.0, 20.0)), pytest.approx((4.0, 10.0))
    ]  # fmt: skip


def test_a_label_tells_how_the_scene_was_seen_even_where_no_other_differs() -> None:
    (task,) = tasks_of(as_runs([a_record(env_kwargs={"scales": 4, "glimpse_size": 12})]))
    assert (task.env_kwargs, task.groups[0].label) == ({}, "Reinforce LSTM (4 scales)")
