"""A run's folder survives kills, and refuses whatever is damaged or foreign."""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.evaluation.provenance import git_revision, hardware, versions
from glimpse_envs.evaluation.run_errors import CheckpointError, RunError
from glimpse_envs.evaluation.runs import FORMAT, Run, create_run, load_policy, open_run

CONFIG = {"policy": "some.module:Policy", "command": "train", "config": {"lr": 1e-3}, "seed": 3}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return create_run(tmp_path / "run", CONFIG)


def tensors() -> dict[str, NDArray[Any]]:
    return {
        "weight": np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not contiguous
        "step": np.array(7),  # no axes
        "random_state": np.frombuffer(b"\x00\xff\x10", np.uint8),
        "empty": np.zeros((0, 4), np.float64),
    }


def refuse(source: Path, target: Path) -> None:
    raise OSError("disk full")


def test_a_new_run_says_where_it_comes_from(run: Run) -> None:
    assert open_run(run.folder) == run
    assert CONFIG.items() <= run.config.items()
    assert run.config["versions"]["numpy"] == np.__version__
    assert {"format", "revision", "hardware", "created"} <= run.config.keys()


def test_a_run_is_never_overwritten(run: Run) -> None:
    with pytest.raises(RunError, match="is a run already"):
        create_run(run.folder, {**CONFIG, "seed": 4})
    assert open_run(run.folder).config["seed"] == 3


@pytest.mark.parametrize("policy", [None, "module", "module:", ":Class", "a:b:c", "a:b-c", 3])
def test_a_policy_is_a_module_and_a_class(tmp_path: Path, policy: object) -> None:
    with pytest.raises(ValueError, match="module:Class"):
        create_run(tmp_path / "run", {"policy": policy})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"policy": "a:b", "form', "not JSON"),
        ("[1, 2]", "should hold an object"),
        (json.dumps({"policy": "a:b"}), "format None"),
        (json.dumps({"policy": "a:b", "format": FORMAT + 1}), f"format {FORMAT + 1}"),
    ],
)
def test_a_damaged_or_foreign_config_is_refused(run: Run, text: str, message: str) -> None:
    (run.folder / "config.json").write_text(text)
    with pytest.raises(RunError, match=message):
        open_run(run.folder)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="does not exist"):
        open_run(tmp_path / "nowhere")
    with pytest.raises(RunError, match=r"no config\.json"):
        open_run(tmp_path)


def test_metrics_read_as_written_and_hold_only_valid_json(run: Run) -> None:
    assert run.read_metrics() == []
    run.append_metrics(10, {"error": np.float32(0.5), "episodes": 2560})
    run.append_metrics(20, {"error": math.nan, "loss": -math.inf})
    first, second = run.read_metrics()
    assert first == {"step": 10, "error": 0.5, "episodes": 2560}
    assert second["step"] == 20
    assert math.isnan(second["error"])
    assert math.isnan(second["loss"])
    assert run.metrics_path.read_text().splitlines()[1] == (
        '{"step": 20, "error": null, "loss": null}'
    )
    with pytest.raises(ValueError, match="step"):
        run.append_metrics(30, {"step": 1.0})


def test_a_line_torn_by_a_kill_is_left_out_and_not_glued_to_the_next(run: Run) -> None:
    for step in (1, 2, 3):
        run.append_metrics(step, {"error": step / 4})
    whole = run.metrics_path.read_bytes()
    last_line = whole.rindex(b"\n", 0, -1) + 1
    for torn in range(last_line, len(whole)):
        run.metrics_path.write_bytes(whole[:torn])
        assert [line["step"] for line in run.read_metrics()] == [1, 2]
        run.append_metrics(3, {"error": 3 / 4})
        assert run.metrics_path.read_bytes() == whole


def test_a_kill_in_the_very_first_line_leaves_no_metrics(run: Run) -> None:
    run.metrics_path.write_bytes(b'{"st')
    assert run.read_metrics() == []
    run.append_metrics(1, {})
    assert run.read_metrics() == [{"step": 1}]


def test_a_damaged_line_that_no_kill_explains_is_named(run: Run) -> None:
    run.metrics_path.write_bytes(b'{"step": 1}\n{"error": 0.5}\n{"step": 2}\n')
    with pytest.raises(RunError, match="line 2 is damaged"):
        run.read_metrics()


def test_cutting_drops_later_steps_only(run: Run) -> None:
    run.cut_metrics(0)
    assert not run.metrics_path.exists()
    for step in (10, 20, 30):
        run.append_metrics(step, {"error": step})
    before = run.metrics_path.read_bytes()
    run.cut_metrics(30)
    assert run.metrics_path.read_bytes() == before
    run.cut_metrics(20)
    assert [line["step"] for line in run.read_metrics()] == [10, 20]


def test_a_cut_that_fails_changes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (10, 20):
        run.append_metrics(step, {})
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        run.cut_metrics(10)
    assert [line["step"] for line in run.read_metrics()] == [10, 20]
    assert sorted(path.name for path in run.folder.iterdir()) == ["config.json", "metrics.jsonl"]


def test_a_checkpoint_returns_what_was_saved(run: Run) -> None:
    assert not run.has_checkpoint
    metadata = {"step": 7, "state": 2**127 + 1, "best": math.inf, "name": "Ünïcode", "none": None}
    run.save_checkpoint(tensors(), metadata)
    assert run.has_checkpoint
    loaded, loaded_metadata = run.load_checkpoint()
    assert loaded_metadata == metadata
    assert loaded.keys() == tensors().keys()
    for name, tensor in tensors().items():
        assert loaded[name].dtype == tensor.dtype
        np.testing.assert_array_equal(loaded[name], tensor, strict=True)


def test_a_missing_checkpoint_says_so(run: Run) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint yet"):
        run.load_checkpoint()


def test_a_save_that_fails_leaves_the_last_checkpoint(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.save_checkpoint(tensors(), {"step": 1})
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        run.save_checkpoint({"weight": np.zeros(3)}, {"step": 2})
    assert run.load_checkpoint()[1] == {"step": 1}
    assert len(list(run.folder.iterdir())) == 2


def test_a_bit_flipped_anywhere_is_refused(run: Run) -> None:
    run.save_checkpoint(tensors(), {"step": 1})
    whole = run.checkpoint_path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        run.checkpoint_path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"checkpoint\.safetensors"):
            run.load_checkpoint()


def test_a_truncated_checkpoint_is_refused(run: Run) -> None:
    run.save_checkpoint(tensors(), {"step": 1})
    whole = run.checkpoint_path.read_bytes()
    for length in (0, 4, 8, len(whole) // 2, len(whole) - 1):
        run.checkpoint_path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match="truncated or damaged"):
            run.load_checkpoint()


def test_safetensors_of_others_are_refused(run: Run) -> None:
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros(3)}, run.checkpoint_path)
    with pytest.raises(CheckpointError, match="not saved by a run"):
        run.load_checkpoint()


def test_a_character_changed_in_config_or_metrics_is_found_with_the_checkpoint(run: Run) -> None:
    for step in (1, 2):
        run.append_metrics(step, {"error": 0.5})
    run.save_checkpoint(tensors(), {"step": 2})
    run.append_metrics(3, {"error": 0.5})
    run.load_checkpoint()
    for path, old, new in (
        (run.config_path, b'"seed": 3', b'"seed": 4'),
        (run.metrics_path, b'"error": 0.5', b'"error": 0.6'),
    ):
        whole = path.read_bytes()
        path.write_bytes(whole.replace(old, new, 1))
        with pytest.raises(RunError, match=f"{path.name} was changed"):
            run.load_checkpoint()
        path.unlink()
        with pytest.raises(RunError, match=f"{path.name} was changed or deleted"):
            run.load_checkpoint()
        path.write_bytes(whole)
    run.load_checkpoint()


def test_a_config_is_replaced_and_a_kill_between_the_two_moves_does_no_harm(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.save_checkpoint(tensors(), {"step": 1})
    moves = []

    def stop_at_the_second(source: Path, target: Path) -> None:
        moves.append(target)
        if len(moves) == 2:
            raise OSError("killed")
        shutil.move(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stop_at_the_second)
        with pytest.raises(OSError, match="killed"):
            run.replace_config({**run.config, "seed": 5})
    assert open_run(run.folder).config["seed"] == 3
    run.load_checkpoint()
    again = run.replace_config({**run.config, "seed": 5})
    assert again == open_run(run.folder)
    assert again.config["seed"] == 5
    assert again.load_checkpoint()[1] == {"step": 1}


def test_a_run_whose_config_is_deleted_while_it_is_trained_says_so(run: Run) -> None:
    run.config_path.unlink()
    with pytest.raises(RunError, match=r"config\.json was deleted"):
        run.save_checkpoint(tensors(), {"step": 1})


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "model.zip", "metrics.jsonl"])
def test_what_a_run_without_its_config_left_is_not_taken_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"left")
    with pytest.raises(RunError, match=f"holds a {name} but no config"):
        create_run(tmp_path, CONFIG)
    assert [path.name for path in tmp_path.iterdir()] == [name]


class Trained:
    """A policy as `load_policy` expects one."""

    def __init__(self, run: Run, device: str) -> None:
        self.run = run
        self.device = device

    @classmethod
    def from_run(cls, run: Run, device: str = "cpu") -> "Trained":
        return cls(run, device)


def test_a_policy_is_loaded_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("some_learner")
    module.Trained = Trained  # type: ignore[attr-defined]  # a module made by hand
    monkeypatch.setitem(sys.modules, "some_learner", module)
    run = create_run(tmp_path / "run", {"policy": "some_learner:Trained"})
    policy = load_policy(run.folder, device="cuda")
    assert isinstance(policy, Trained)
    assert (policy.run, policy.device) == (run, "cuda")

    for number, (name, message) in enumerate(
        [
            ("no_such_learner:Trained", "no_such_learner cannot be imported"),
            ("some_learner:Renamed", "no class Renamed"),
            ("math:pi", "from_run"),
        ]
    ):
        other = create_run(tmp_path / str(number), {"policy": name})
        with pytest.raises(RunError, match=message):
            load_policy(other.folder)


def test_a_folder_of_the_users_that_hides_a_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hiding = ModuleType("baselines")
    hiding.__path__ = [str(tmp_path / "baselines")]
    run = create_run(tmp_path / "run", {"policy": "baselines.of_another_kind:Trained"})
    with pytest.raises(RunError, match=r"cannot be imported .* root.$"):
        load_policy(run.folder)  # of the checkout, which lacks it
    monkeypatch.setitem(sys.modules, "baselines", hiding)
    with pytest.raises(RunError, match=r"cannot be imported .* root.$"):
        load_policy(run.folder)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match=r"Your folder .*baselines hides the checkout's"):
        load_policy(run.folder)


def test_the_revision_names_the_commit_and_whether_files_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    assert git_revision(tmp_path) == "unknown"
    git("init")
    (tmp_path / "model.py").write_text("1\n")
    assert git_revision(tmp_path) == "unknown"
    git("add", "model.py")
    git("commit", "-m", "first")
    git("tag", "v1")
    head = git("rev-parse", "HEAD")
    assert git_revision(tmp_path) == head
    (tmp_path / "model.py").write_text("2\n")
    assert git_revision(tmp_path) == f"{head}+dirty"

    installed = tmp_path / "site-packages"
    installed.mkdir()
    assert git_revision(installed) == "unknown"

    monkeypatch.setenv("PATH", str(installed))
    assert git_revision(tmp_path) == "unknown"


def test_provenance_is_readable() -> None:
    assert hardware(1).endswith(", 1 core")
    assert hardware(2).endswith(", 2 cores")
    assert versions()["python"].startswith(".".join(map(str, sys.version_info[:3])))
