"""Runs are scored together on a set of tasks, and a set that is not whole is refused."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from agents.algorithms.reinforce import Reinforce
from agents.suite import SuiteConfig, main, score_runs
from tests.support.episodes import CENTRED
from tests.support.tiny import tiny_config, tiny_network
from tests.support.trainings import trained


@pytest.mark.learning
def test_runs_are_scored_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = [str(tmp_path / f"seed{seed}") for seed in range(2)]
    for seed, folder in enumerate(seeds):
        trained(Reinforce, tiny_config(seed=seed, env_kwargs={}), Path(folder))
    main([*seeds, "--tasks", CENTRED, "--episodes", "100"])
    printed = capsys.readouterr().out
    assert CENTRED in printed
    heads, row = (line.split() for line in printed.splitlines()[:2])
    assert row[1 + heads.index("episodes")] == "100"
    assert "inter-quartile mean" in printed

    changed = str(tmp_path / "changed")
    trained(Reinforce, tiny_config(env_kwargs={"budget": 2}), Path(changed))
    for arguments, message in [
        (
            [*seeds, "--tasks", "nope"],
            "'nope' is neither a set (pictures, memory, all), which",
        ),
        ([*seeds, "--tasks", "memory", CENTRED], "'memory' is neither a set (pictures"),
        ([*seeds, "--tasks", "pictures"], "is none of Glimpse/CenteredMNIST-v0"),
        (["--tasks", CENTRED], "name at least one run"),
        ([*seeds, "--tasks", CENTRED, "Glimpse/Copy-v0"], "no run on Glimpse/Copy-v0"),
        ([changed, "--tasks", CENTRED], "budget=2 is another task"),
        ([*seeds, "--tasks", CENTRED, "--split", "train"], "split='train' must be one of 'test'"),
        (
            [*seeds, "--tasks", CENTRED, "--episodes", "99999"],
            "episodes is 99999; the test split has 10000",
        ),
    ]:
        with pytest.raises(SystemExit):
            main(arguments)
        assert message in capsys.readouterr().err


@pytest.mark.learning
def test_a_run_is_one_seed_however_often_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    trained(Reinforce, tiny_config(env_kwargs={}), Path(folder))
    options = ["--tasks", CENTRED, "--episodes", "100"]
    main([folder, *options])
    once = capsys.readouterr().out
    again = f"{tmp_path}/other/../run"
    main([folder, folder, again, *options])
    assert capsys.readouterr().out == (
        f"the run {folder} is named more than once; it counts once\n"
        f"the run {again} is named more than once; it counts once\n{once}"
    )

    copy = str(tmp_path / "copy")
    shutil.copytree(folder, copy)
    with pytest.raises(SystemExit):
        main([folder, copy, *options])
    assert f"{folder} and {copy} are of one config and seed 0" in capsys.readouterr().err


@pytest.mark.learning
def test_runs_of_two_learners_have_no_common_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(tmp_path / name) for name in ("one", "other")]
    trained(Reinforce, tiny_config(env_kwargs={}), Path(folders[0]))
    changes: dict[str, Any] = {"seed": 1, "network": tiny_network(core="gru")}
    trained(Reinforce, tiny_config(env_kwargs={}, **changes), Path(folders[1]))
    with pytest.raises(SystemExit):
        main([*folders, "--tasks", CENTRED, "--episodes", "100"])
    message = f"{folders[0]} and {folders[1]} differ in network.core: they are two learners"
    assert message in capsys.readouterr().err


def test_a_single_episode_has_no_interval(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="episodes=1 must be at least 2: an interval needs two"):
        score_runs(SuiteConfig(runs=(tmp_path,), episodes=1))
