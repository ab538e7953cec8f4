"""Steps a second of every environment."""

import sys
from pathlib import Path

import pytest

from benchmarks.speed import throughput


def test_a_few_environments_do_not_replace_the_record_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(*_: object) -> None:
        raise AssertionError("it measures")

    monkeypatch.setattr(throughput, "measure_duel", measured)
    few = ["--env-id", "Glimpse/Copy-v0", "--record", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["throughput", *few])
    with pytest.raises(SystemExit):
        throughput.main()
    assert "--record is for all environments: leave --env-id out" in capsys.readouterr().err
