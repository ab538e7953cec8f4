"""A table's command that is killed, interrupted or doubled ends in the records of the unbroken."""

import os
import signal
from pathlib import Path

import pytest

from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.runs import open_run
from tests.support.table_commands import begun, records_of, trained, wait_until

SEEDS = [0, 1]

pytestmark = pytest.mark.learning


def test_killed_in_mid_run_two_commands_share_what_is_left_and_end_in_the_same_records(
    tmp_path: Path, unbroken: list[Record]
) -> None:
    process = begun(tmp_path, "--workers", "2")
    wait_until(lambda: trained(tmp_path, *SEEDS), process)
    process.kill()
    process.communicate(timeout=60)
    assert not (tmp_path / "results").exists(), "killed before the end"

    processes = [begun(tmp_path, "--workers", "1") for _ in range(2)]
    outs = [process.communicate(timeout=600) for process in processes]
    assert [err for _, err in outs] == ["", ""]
    assert [process.returncode for process in processes] == [0, 0]
    assert records_of(tmp_path) == unbroken
    assert all(any(f"long-seed{seed}: error" in out for out, _ in outs) for seed in SEEDS)
    for seed in SEEDS:
        metrics = open_run(tmp_path / "runs" / f"long-seed{seed}").read_metrics()
        steps = [line["step"] for line in metrics if "error" in line]
        assert steps == sorted(set(steps)), "one process at a time trained it"


def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path: Path, unbroken: list[Record]) -> None:
    process = begun(tmp_path, "--workers", "1")
    wait_until(lambda: trained(tmp_path, 0), process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == "interrupted\n"
    assert out.splitlines()[-1] == "saved; the same command goes on"
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / "runs" / "long-seed1").exists(), "no further run is started"
    assert "saved after" in (tmp_path / "runs" / "long-seed0" / "log.txt").read_text()
    process = begun(tmp_path, "--workers", "2")
    assert process.communicate(timeout=600)[1] == ""
    assert records_of(tmp_path) == unbroken
