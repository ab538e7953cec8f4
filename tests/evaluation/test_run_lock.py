"""One process writes a run, and what a killed one left is cleared away."""

import subprocess
import sys
from pathlib import Path

import pytest

from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.run_lock import writing

HOLD = """
import sys
from pathlib import Path
from glimpse_envs.evaluation.run_lock import writing
with writing(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_run_is_written_by_one_process_until_that_ends(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(RunError, match="is being trained by another process"), writing(tmp_path):
        pass
    holder.kill()
    holder.communicate()
    with writing(tmp_path):
        pass


def test_a_second_training_of_the_same_process_is_refused_too(tmp_path: Path) -> None:
    with writing(tmp_path), pytest.raises(RunError, match="is being trained"), writing(tmp_path):
        pass
    with writing(tmp_path):
        pass


def test_temporary_files_of_a_killed_process_are_removed_and_no_others(tmp_path: Path) -> None:
    for name in (".checkpoint.safetensors-a1b2", ".metrics.jsonl-x_3", ".mine-1", "notes-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half").write_bytes(b"half")
    with writing(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {".lock", ".mine-1", "notes-1"}


def test_a_file_is_no_folder_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(ValueError, match=f"the run {folder} .*is a file"), writing(folder):
            pass
