"""On a Ray cluster, a run whose machine dies goes on on another, to the same record."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glimpse_envs.evaluation.record import Record
from tests.support.table_commands import begun, records_of, trained, wait_until

cluster_utils = pytest.importorskip("ray.cluster_utils", exc_type=ImportError)

SEEDS = [0, 1]

pytestmark = [pytest.mark.learning, pytest.mark.filterwarnings("default")]


@pytest.fixture(autouse=True)
def workers_as_urgent_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray's workers are nice, and would hardly begin on cores that other processes keep busy."""
    monkeypatch.setenv("RAY_worker_niceness", "0")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two nodes of one CPU each on this machine; the first holds the cluster together."""
    nodes = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    nodes.add_node(num_cpus=1)
    yield nodes
    nodes.shutdown()


def trained_on(node: Any, folder: Path) -> list[int]:
    """Seeds of the runs that train on a node, as children of its own process."""
    (raylet,) = node.all_processes["raylet"]
    return [
        seed
        for seed in SEEDS
        if trained(folder, seed) and parent_of(processes_of(folder, seed)[-1]) == raylet.process.pid
    ]


def processes_of(folder: Path, seed: int) -> list[int]:
    """Process IDs of a run, one of each start."""
    log = folder / "runs" / f"long-seed{seed}" / "log.txt"
    return [
        int(number) for number in re.findall("^--- .* process (\\d+) on", log.read_text(), re.M)
    ]


def parent_of(process: int) -> int | None:
    """None where the process has ended."""
    # Not by `ps`, which small systems lack.
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    found = re.search(r"^PPid:\s+(\d+)$", status, re.M)
    assert found
    return int(found[1])


def test_a_run_whose_node_dies_goes_on_elsewhere(
    tmp_path: Path, cluster: Any, unbroken: list[Record]
) -> None:
    process = begun(tmp_path, "--ray", cluster.address)
    (node,) = cluster.worker_nodes
    # Runs start far apart on busy cores: the node dies once its own run has begun to train, not
    # when both have, as the first may have ended by then.
    wait_until(lambda: bool(trained_on(node, tmp_path)), process)
    (lost,) = trained_on(node, tmp_path)
    cluster.remove_node(node, allow_graceful=False)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "2 recorded, 0 running, 0 waiting" in out.splitlines()[-1]
    assert records_of(tmp_path) == unbroken
    begun_twice = [seed for seed in SEEDS if len(processes_of(tmp_path, seed)) == 2]
    assert begun_twice == [lost]


def test_ctrl_c_saves_there_too(tmp_path: Path) -> None:
    process = begun(tmp_path, "--ray", "local", "--workers", "2", table="ENDLESS")
    wait_until(lambda: trained(tmp_path, 0, 1), process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "interrupted"
    assert out.splitlines()[-1] == "saved; the same command goes on"
    logs = [tmp_path / "runs" / f"long-seed{seed}" / "log.txt" for seed in (0, 1)]
    assert all("saved after" in log.read_text() for log in logs)
