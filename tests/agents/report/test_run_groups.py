"""Runs of one config are one curve, named by what tells them from others."""

from pathlib import Path

import numpy as np

from agents.scoring.run_groups import group_runs, metric_names
from glimpse_envs.evaluation.runs import Run, create_run


def test_runs_that_differ_in_the_seed_alone_share_a_curve(seeds: list[Run]) -> None:
    groups = group_runs(seeds)
    assert [len(group.runs) for group in groups] == [2, 1]
    assert "learning_rate=0.0001" in groups[1].name
    curve, alone = groups[0].curve("error"), group_runs(seeds[:1])[0].curve("error")
    assert curve is not None
    assert alone is not None
    assert curve.seeds == 2
    both = [[line["error"] for line in run.read_metrics() if "error" in line] for run in seeds[:2]]
    np.testing.assert_allclose(curve.mean, np.mean(both, axis=0))
    np.testing.assert_allclose(curve.low, np.min(both, axis=0))
    np.testing.assert_allclose(curve.high, np.max(both, axis=0))
    np.testing.assert_allclose(alone.mean, both[0])


def test_curves_of_another_librarys_learner_are_drawn_by_episodes(tmp_path: Path) -> None:
    """Stable-Baselines3's lines are counted in timesteps, and tell the episodes apart."""
    run = create_run(tmp_path, {"policy": "a:B", "algorithm": "ppo", "config": {"seed": 0}})
    for episodes in (10, 20):
        run.append_metrics(6 * episodes, {"error": 0.5, "episodes": episodes, "seconds": 1.0})
    (group,) = group_runs([run])
    curve = group.curve("error")
    assert curve is not None
    assert curve.episodes.tolist() == [10, 20]
    assert metric_names([group]) == ["error"]


def test_a_setting_that_older_code_had_not_does_not_part_seeds(tmp_path: Path) -> None:
    """The default that the newer run recorded is what the older one had."""
    old = {"policy": "a:B", "algorithm": "x", "config": {"seed": 0, "size": 3}}
    new = {**old, "config": {"seed": 1, "size": 3, "kind": "k"}, "defaults": {"kind": "k"}}
    other = {**old, "config": {"seed": 2, "size": 3, "kind": "z"}}
    elsewhere = {**old, "config": {"seed": 3, "size": 3, "env_kwargs": {"budget": 2}}}
    configs = (old, new, other, elsewhere)
    runs = [create_run(tmp_path / str(k), config) for k, config in enumerate(configs)]
    groups = group_runs(runs)
    assert [len(group.runs) for group in groups] == [2, 1, 1]
    assert "kind=z" in groups[1].name
    assert "budget=2" in groups[2].name


def test_models_of_different_names_are_told_apart_by_them_and_their_tasks(tmp_path: Path) -> None:
    first = {"policy": "a:B", "algorithm": "x", "config": {"size": 3, "rate": 0.1}}
    second = {"policy": "c:D", "algorithm": "y", "config": {"size": 4, "rate": 0.2}}
    faster = {**second, "config": {"size": 4, "rate": 0.3, "env_kwargs": {"budget": 2}}}

    runs = [create_run(tmp_path / str(n), c) for n, c in enumerate((first, second, faster))]

    def names(*chosen: int) -> list[str]:
        return [group.name for group in group_runs([runs[n] for n in chosen])]

    assert names(0, 1) == ["x", "y"]
    assert names(0, 2) == ["x", "y, budget=2"]
    assert names(1, 2) == ["y, rate=0.2", "y, budget=2, rate=0.3"]


def test_the_tasks_and_the_algorithms_own_settings_are_named_first(tmp_path: Path) -> None:
    run = {"policy": "a:B", "algorithm": "x"}
    configs = [
        {"batch_size": 8, "precision": "float32", "window": "draw", "env_kwargs": {"budget": 4}},
        {"batch_size": 9, "precision": "auto", "window": "retina", "env_kwargs": {"budget": 6}},
    ]
    runs = [create_run(tmp_path / str(n), {**run, "config": c}) for n, c in enumerate(configs)]
    names = [group.name for group in group_runs(runs)]
    assert names[0] == "x, budget=4, window=draw, batch_size=8, precision=float32"


def test_what_differs_is_named_beside_a_long_name_of_a_model(tmp_path: Path) -> None:
    model = {
        "name": "A model of a name that is so long that nothing else would have room beside it"
    }
    shared = {"policy": "a:B", "algorithm": "x", "model": model}
    runs = [
        create_run(tmp_path / str(size), {**shared, "config": {"network": {"units": size}}})
        for size in (128, 256)
    ]
    names = [group.name for group in group_runs(runs)]
    assert [name.rpartition(", ")[2] for name in names] == ["units=128", "units=256"]
    assert all(name.startswith("A model of a name") and len(name) <= 72 for name in names)
