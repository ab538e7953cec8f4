"""Runs are scored together on a set of tasks, and a set that is not whole is refused."""

from pathlib import Path

import pytest

from agents.algorithms.reinforce import Reinforce
from agents.suite import main
from tests.support.episodes import CENTRED
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


@pytest.mark.learning
def test_runs_are_scored_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = [str(tmp_path / f"seed{seed}") for seed in range(2)]
    for seed, folder in enumerate(seeds):
        trained(Reinforce, tiny_config(seed=seed, env_kwargs={}), Path(folder))
    main([*seeds, "--tasks", CENTRED, "--episodes", "100"])
    printed = capsys.readouterr().out
    assert CENTRED in printed
    assert "inter-quartile mean" in printed

    changed = str(tmp_path / "changed")
    trained(Reinforce, tiny_config(env_kwargs={"budget": 2}), Path(changed))
    for arguments, message in [
        ([*seeds, "--tasks", "pictures"], "is none of Glimpse/CenteredMNIST-v0"),
        ([*seeds, "--tasks", CENTRED, "Glimpse/Copy-v0"], "no run on Glimpse/Copy-v0"),
        ([changed, "--tasks", CENTRED], "budget=2 is another task"),
    ]:
        with pytest.raises(SystemExit):
            main(arguments)
        assert message in capsys.readouterr().err
