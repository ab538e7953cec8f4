"""One training on several processes, each with a share of the rows."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from agents.sb3.models import PPOConfig
from agents.sb3.training import train as train_sb3
from agents.training import distributed, row_draws
from agents.training.distributed import (
    average_gradients,
    check_divisible,
    joined,
    own_part,
    share_of,
)
from agents.training.row_draws import RowGenerator, draw_rows
from baselines.pictures.spatial_transformer import SpatialTransformer, SpatialTransformerConfig
from baselines.setting import Setting
from glimpse_envs.evaluation.runs import open_run
from tests.support.split_training import CASES, FLOAT32, UPDATES, config_of, train_case

EQUAL = [case for case in CASES if case != "long"]


def torchrun(folder: Path, *cases: str) -> subprocess.Popen[str]:
    """Train `cases` in `folder` by two processes."""
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.Popen(
        [*start, "-m", "--", "tests.support.split_training", str(folder), *cases],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def assert_equal_runs(one: Path, two: Path, tolerance: float = 1e-5) -> None:
    """Weights and moments within `tolerance`, equal episodes and random states, and metrics of
    every update that differ by rounding alone."""
    (arrays, numbers), (others, other_numbers) = (
        open_run(folder).load_checkpoint() for folder in (one, two)
    )
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        exact = array.dtype.kind != "f"
        np.testing.assert_allclose(
            others[name], array, rtol=0, atol=0 if exact else tolerance, err_msg=name
        )
    assert other_numbers["numbers"] == pytest.approx(numbers["numbers"], rel=1e-9)
    lines, other_lines = (open_run(folder).read_metrics() for folder in (one, two))
    assert len(lines) == len(other_lines)
    for line, other in zip(lines, other_lines, strict=True):
        assert {n: v for n, v in other.items() if n != "seconds"} == pytest.approx(
            {n: v for n, v in line.items() if n != "seconds"}, rel=1e-3, abs=1e-5
        )


@pytest.fixture(scope="module")
def split_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    process = torchrun(folder, *EQUAL)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return folder


@pytest.mark.learning
@pytest.mark.parametrize("case", EQUAL)
def test_two_processes_train_as_one_does(case: str, split_runs: Path, tmp_path: Path) -> None:
    train_case(case, tmp_path / case)
    tolerance = 1e-3 if case in FLOAT32 else 1e-5
    assert_equal_runs(tmp_path / case, split_runs / case, tolerance)


@contextmanager
def long_training(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The case "long" by two processes, once it has had a few updates."""
    process = torchrun(folder, "long")
    try:
        deadline = time.monotonic() + 300
        while not (folder / "long" / "checkpoint.safetensors").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.communicate()


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The ids of the processes that torchrun has started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in children.read_text().split()]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The case "long" by one process."""
    folder = tmp_path_factory.mktemp("one") / "long"
    train_case("long", folder)
    return folder


@pytest.mark.learning
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the processes in /proc")
def test_a_process_that_dies_ends_all_with_one_error_and_one_process_resumes(
    tmp_path: Path, unbroken: Path
) -> None:
    with long_training(tmp_path) as process:
        os.kill(workers_of(process)[1], signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    said = [line for line in errors.splitlines() if line.startswith("error: ")]
    assert said == [
        "error: another process of this training has ended; resume from the last checkpoint, by "
        "--resume"
    ]
    assert errors.count("Traceback (most recent call last)") == 1, "torchrun's own"
    train_case("long", tmp_path / "long")
    assert_equal_runs(unbroken, tmp_path / "long")


@pytest.mark.learning
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the processes in /proc")
def test_processes_that_one_interrupt_reached_all_end_with_its_status(tmp_path: Path) -> None:
    with long_training(tmp_path) as process:
        os.kill(workers_of(process)[1], signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
    assert output.count("saved after") == 1, errors
    assert errors.splitlines().count("interrupted") == 1
    assert "exitcode  : 143" in errors, "torchrun's own report"


@pytest.mark.learning
def test_sigterm_saves_once_and_two_processes_resume(tmp_path: Path, unbroken: Path) -> None:
    with long_training(tmp_path) as process:
        process.terminate()
        output, errors = process.communicate(timeout=60)
    assert output.count("saved after") == 1, errors
    assert "go on with torchrun --nproc-per-node 2 -m -- agents.train reinforce --run" in output
    _, metadata = open_run(tmp_path / "long").load_checkpoint()
    assert 0 < metadata["updates"] < 5 * UPDATES
    again = torchrun(tmp_path, "long")
    _, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors
    assert_equal_runs(unbroken, tmp_path / "long")


# --- in one process, as if it were the second of two ----------------------------------------------


@pytest.fixture
def second_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (distributed, row_draws):
        monkeypatch.setattr(module, "processes", lambda: 2)
        monkeypatch.setattr(module, "rank", lambda: 1)
    monkeypatch.setenv("LOCAL_RANK", "1")


@pytest.mark.usefixtures("second_of_two")
def test_a_share_has_its_part_of_the_rows_and_its_own_gpu() -> None:
    config = replace(config_of("reinforce"), device="cuda", batch_size=8, copies=4)
    share = share_of(config)
    assert (share.batch_size, share.device) == (4, "cuda:1")
    assert share_of(replace(config, device="cpu")).device == "cpu"


@pytest.mark.usefixtures("second_of_two")
def test_what_cannot_be_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="batch_size=12 must be a multiple of 8: there are 2 proc"):
        share_of(replace(config_of("reinforce"), batch_size=12, copies=4))
    with pytest.raises(ValueError, match="Stable-Baselines3 runs in one process"):
        train_sb3(PPOConfig(), tmp_path / "run")
    with pytest.raises(ValueError, match="device='cuda:1' is one GPU for all 2 processes: give"):
        share_of(replace(config_of("reinforce"), device="cuda:1"))
    setting = Setting.of("Glimpse/ClutteredGlyphs-v0", {})
    model = SpatialTransformer(setting, SpatialTransformerConfig())
    with pytest.raises(ValueError, match="SpatialTransformer normalises by the whole batch"):
        check_divisible(model)
    for part in (nn.BatchNorm1d(3), nn.BatchNorm3d(3)):
        with pytest.raises(ValueError, match=rf"whole batch \({type(part).__name__}\)"):
            check_divisible(nn.Sequential(part))


@pytest.mark.parametrize(("counts", "own"), [(None, slice(3, 6)), ([5, 3], slice(5, 8))])
@pytest.mark.usefixtures("second_of_two")
def test_a_draw_is_the_part_of_that_for_all_rows(counts: list[int] | None, own: slice) -> None:
    def drawn(generator: torch.Generator, rows: int) -> Tensor:
        return draw_rows(lambda shape: torch.rand(shape, generator=generator), (rows, 4), generator)

    split, whole = RowGenerator(), torch.Generator()
    split.manual_seed(3)
    whole.manual_seed(3)
    split.counts = counts
    rows = 6 if counts is None else sum(counts)
    for _ in range(2):
        assert torch.equal(drawn(split, 3), drawn(whole, rows)[own])


@pytest.mark.usefixtures("second_of_two")
def test_gradients_that_some_process_lacks_are_averaged_and_those_that_none_has_stay_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there, nowhere, fixed = (nn.Parameter(torch.zeros(2)) for _ in range(4))
    fixed.requires_grad_(False)
    here.grad = torch.tensor([2.0, 4.0])
    first = torch.tensor([0.0, 0.0, 6.0, 8.0, 0.0, 0.0, 0.0, 1.0, 0.0, 3.0])
    monkeypatch.setattr(distributed, "summed", lambda own: own + first)
    losses = average_gradients([here, there, nowhere, fixed], torch.tensor([1.0]))
    assert losses.tolist() == [2.0]
    assert here.grad.tolist() == [1.0, 2.0]
    assert there.grad is not None
    assert there.grad.tolist() == [3.0, 4.0]
    assert nowhere.grad is None
    assert fixed.grad is None


@pytest.mark.usefixtures("second_of_two")
def test_a_part_of_a_state_is_cut_from_the_joined_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def state(start: int) -> dict[str, Any]:
        return {"rows": np.arange(start, start + 2), "task": {"path": np.ones((2, 3))}, "n": 5}

    monkeypatch.setattr(distributed, "everyones", lambda own: [state(0), own])
    whole = joined(state(2))
    np.testing.assert_array_equal(whole["rows"], np.arange(4))
    assert whole["task"]["path"].shape == (4, 3)
    assert whole["n"] == 5
    np.testing.assert_array_equal(own_part(whole)["rows"], state(2)["rows"])
