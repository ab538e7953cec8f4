"""The wheel holds all that the environments need, and plays without the checkout."""

import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.learning,
    pytest.mark.skipif(
        find_spec("build") is None or find_spec("hatchling") is None,
        reason="build or hatchling is not installed",
    ),
]


def run(*command: str | Path, folder: Path) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    options = ("--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT))
    run(sys.executable, "-m", "build", *options, folder=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_library_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    library = ROOT / "glimpse_envs"
    sources = {f"glimpse_envs/{p.relative_to(library).as_posix()}" for p in library.rglob("*.py")}
    assert {name for name in held if name.endswith(".py")} == sources
    assert "glimpse_envs/py.typed" in held


def test_it_installs_and_plays_where_the_checkout_is_not(wheel: Path, tmp_path: Path) -> None:
    """Its dependencies are lent by this environment, which an editable checkout does not reach."""
    venv = tmp_path / "empty"
    run(sys.executable, "-m", "venv", "--without-pip", venv, folder=tmp_path)
    python = venv / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index")
    run(*pip, "--no-deps", "--quiet", wheel, folder=tmp_path)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
               folder=tmp_path)  # fmt: skip
    (Path(site.strip()) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(python, "-c", "import glimpse_envs; print(glimpse_envs.__file__)", folder=tmp_path)
    assert where.startswith(str(venv))
    listed = run(python, "-m", "glimpse_envs", folder=tmp_path)
    assert "Glimpse/ClutteredGlyphs-v0" in listed
    picture = tmp_path / "picture.png"
    env_id = "Glimpse/ClutteredGlyphs-v0"
    run(python, "-m", "glimpse_envs", env_id, "--out", picture, folder=tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
