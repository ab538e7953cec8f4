"""Cache of compiled kernels: never stale, and nothing breaks where it cannot be."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from glimpse_envs.core.kernels import PACKAGE, kernel_files

# One kernel calls what another file has.
FILES = {
    "__init__.py": "",
    "callee.py": (
        "from glimpse_envs.core.kernels import kernel\n\n@kernel\ndef one():\n    return 1\n"
    ),
    "caller.py": (
        "from glimpse_envs.core.kernels import kernel\n"
        "from glimpse_envs.pair.callee import one\n\n"
        "@kernel\ndef ask():\n    return one()\n"
    ),
}
ASK = "from glimpse_envs.pair.caller import ask; print(ask(), sum(ask.stats.cache_hits.values()))"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a package that has the cache and two kernels."""
    (tmp_path / "glimpse_envs/core").mkdir(parents=True)
    for name in ("__init__.py", "core/__init__.py"):
        (tmp_path / "glimpse_envs" / name).touch()
    shutil.copy(PACKAGE / "core/kernels.py", tmp_path / "glimpse_envs/core")
    (tmp_path / "glimpse_envs/pair").mkdir()
    for name, content in FILES.items():
        (tmp_path / "glimpse_envs/pair" / name).write_text(content)
    return tmp_path


def ask(folder: Path, **environment: str) -> tuple[int, int, int]:
    """Call the kernel in a process of its own: what it returned, whether it came from the cache,
    and how many warnings there were."""
    program = [sys.executable, "-B", "-W", "always::RuntimeWarning", "-c", ASK]
    done = subprocess.run(
        program, cwd=folder, env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    answer, hits = done.stdout.split()
    return int(answer), int(hits), done.stderr.count("cannot be cached")


@pytest.mark.learning
def test_a_change_in_another_file_is_seen(copy: Path) -> None:
    assert ask(copy) == (1, 0, 0)
    assert ask(copy) == (1, 1, 0)
    callee = copy / "glimpse_envs/pair/callee.py"
    written = callee.stat()
    callee.write_text(callee.read_text().replace("return 1", "return 2"))
    os.utime(callee, ns=(written.st_atime_ns, written.st_mtime_ns))
    assert ask(copy) == (2, 0, 0)
    assert ask(copy) == (2, 1, 0)


@pytest.mark.learning
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_cache_is_made_anew(copy: Path, suffix: str) -> None:
    ask(copy)
    for path in copy.rglob(f"*{suffix}"):
        path.write_bytes(path.read_bytes()[:-50])
    assert ask(copy) == (1, 0, 0)
    assert ask(copy) == (1, 1, 0)


@pytest.mark.learning
def test_what_an_interrupted_process_left_leads_to_no_other_code(copy: Path) -> None:
    """A process that compiled a changed source could not write the machine code."""
    assert ask(copy) == (1, 0, 0)
    callee = copy / "glimpse_envs/pair/callee.py"
    callee.write_text(callee.read_text().replace("return 1", "return 2"))
    full = (
        "from numba.core.caching import IndexDataCacheFile as Files\n"
        "def fail(*_): raise OSError(28, 'No space left on device')\n"
        f"Files._save_data = fail\n{ASK}"
    )
    program = [sys.executable, "-B", "-c", full]
    done = subprocess.run(program, cwd=copy, capture_output=True, text=True)
    assert done.stdout.split()[0] == "2"
    assert ask(copy) == (2, 0, 0)
    assert ask(copy) == (2, 1, 0)
    files = [path.name for path in copy.rglob("caller.ask-*.nbc")]
    assert len(files) == 1, "that of the earlier source is gone"


@pytest.mark.learning
def test_without_a_folder_to_write_to_there_is_one_warning(copy: Path) -> None:
    # A file where folders would have to be: even root cannot write there.
    (copy / "file").touch()
    for name in ("pair", "core"):
        (copy / f"glimpse_envs/{name}/__pycache__").touch()
    nowhere = {"HOME": str(copy / "file"), "XDG_CACHE_HOME": str(copy / "file")}
    assert ask(copy, **nowhere) == (1, 0, 1)


@pytest.mark.learning
def test_a_cache_that_cannot_be_written_any_more_is_left(copy: Path) -> None:
    script = "import pathlib, shutil; from glimpse_envs.pair.caller import ask; "
    script += "folder = pathlib.Path('glimpse_envs/pair/__pycache__'); shutil.rmtree(folder); "
    script += "folder.touch(); print(ask())"
    program = [sys.executable, "-B", "-c", script]
    done = subprocess.run(program, cwd=copy, capture_output=True, text=True)
    assert (done.stdout, done.stderr.count("cannot be cached")) == ("1\n", 1)


def test_kernels_are_not_run_uncompiled() -> None:
    code = "import gymnasium, glimpse_envs; gymnasium.make('Glimpse/CenteredGlyphs-v0')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "NUMBA_DISABLE_JIT=1: kernels count on Numba's integers" in done.stderr


def test_what_kernels_use_of_ours_is_in_files_that_the_cache_looks_at() -> None:
    modules = (path.relative_to(PACKAGE.parent).with_suffix("").parts for path in kernel_files())
    watched = set(map(".".join, modules))
    assert {"glimpse_envs.core.geometry", "glimpse_envs.tasks.text.story_words"} <= watched
    seen = 0
    for path in kernel_files():
        tree = ast.parse(path.read_text())
        origin = {
            alias.asname or alias.name: node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("glimpse_envs")
            for alias in node.names
        }
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
                continue
            if not any("kernel" in ast.unparse(one) or "jitable" in ast.unparse(one)
                       for one in function.decorator_list):  # fmt: skip
                continue
            seen += 1
            used = {
                node.id
                for statement in function.body
                for node in ast.walk(statement)
                if isinstance(node, ast.Name)
            }
            assert {origin[name] for name in used & set(origin)} <= watched, function.name
    assert seen > 30
