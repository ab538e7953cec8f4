"""Where a result comes from: command, git revision, processor and versions of libraries."""

import contextlib
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path, PurePath

from glimpse_envs import __version__

CPU_INFO = Path("/proc/cpuinfo")
_EXTENSIONS = ("amx_bf16", "avx512_bf16", "avx512f", "avx2")
"""What tells processors of one model name apart, and decides how fast networks are; the best
first."""

CHECKOUT = Path(__file__).parents[2]

NOTEBOOK = "a notebook"
"""Stands for the command of a run that was made in one."""


def command_line() -> str:
    """The command that runs this process, as it can be typed; of a notebook, `NOTEBOOK`. Absolute
    paths exist only on this machine: those of records begin with results/, other ones become
    runs/NAME, and a folder of images or a program its name."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is None and PurePath(sys.argv[0] if sys.argv else "").name == "ipykernel_launcher.py":
        return NOTEBOOK
    # A spawned process knows only the path of its program.
    path = sys.argv[0] if sys.argv else ""
    module = _module_at(path) if spec is None else spec.name.removesuffix(".__main__")
    script = PurePath(path).name if PurePath(path).is_absolute() else path
    program = [script] if module is None else ["-m", module]
    return shlex.join(["python", *program, *map(_portable, sys.argv[1:])])


def _portable(argument: str) -> str:
    """`argument` without folders of this machine alone."""
    place = re.fullmatch(r"((?:.*[=:?])?)(/[^/].*?)/?", argument)
    if place is None:
        return argument
    before, path = place[1], PurePath(place[2])
    if before.endswith((":", "?")):
        return f"{before}{path.name}"
    record = path.suffix == ".json" and "results" in path.parts
    return f"{before}{_below_results(path) if record else PurePath('runs', path.name)}"


def _below_results(path: PurePath) -> PurePath:
    at = len(path.parts) - 1 - path.parts[::-1].index("results")
    return PurePath(*path.parts[at:])


def _module_at(path: str) -> str | None:
    """The module whose __main__.py is at `path`, in one of this project's packages, in this
    checkout or another."""
    parts = PurePath(path).parts
    for start in range(bool(PurePath(path).anchor), len(parts) - 1):
        if parts[-1] == "__main__.py" and CHECKOUT.joinpath(*parts[start:]).is_file():
            return ".".join(parts[start:-1])
    return None


def git_revision(folder: Path | None = None) -> str:
    """The git commit checked out in `folder` (that of this package, if None).

    40 hex digits, with "+dirty" if tracked files differ; "unknown" without git or a repository.
    """
    folder = folder or Path(__file__).parent
    # The leading check keeps an installed package from taking the revision of the repository
    # whose virtual environment it happens to lie in.
    tracked = _git(folder, "ls-files")
    described = _git(folder, "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+dirty")
    return described if tracked and described else "unknown"


def hardware(cores: int | None = None) -> str:
    """The processor's model, its vector extension and the number of cores of this run (all that it
    may use, if None)."""
    told: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in CPU_INFO.read_text().splitlines():
            name, _, value = line.partition(":")
            told.setdefault(name.strip(), value.strip())
    model = told.get("model name") or platform.processor() or platform.machine()
    flags = told.get("flags", "").split()
    extension = next((f" with {name}" for name in _EXTENSIONS if name in flags), "")
    model = f"{model or 'unknown processor'}{extension}"
    cores = allowed_cores() if cores is None else cores
    return f"{model}, {cores} {'core' if cores == 1 else 'cores'}"


def allowed_cores() -> int:
    """The number of cores that this process may run on."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def versions(own: Iterable[str] = ()) -> dict[str, str]:
    """Versions of Python, this package and the installed libraries that its results depend on, and
    of the user's `own` packages; where one is not installed, its git commit."""
    found = {"python": platform.python_version(), "glimpse_envs": __version__}
    for distribution in ("numpy", "gymnasium", "numba", "torch"):
        with contextlib.suppress(PackageNotFoundError):
            found[distribution] = version(distribution)
    return found | {package: _version_of(package) for package in sorted(own)}


def _version_of(package: str) -> str:
    """The version of an installed package, else its git commit; "unknown" without either."""
    for distribution in packages_distributions().get(package, ()):
        return version(distribution)
    spec = None
    with contextlib.suppress(ValueError):  # of a module that was made by hand
        spec = find_spec(package) if package.isidentifier() else None
    places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or ())]
    place = next((Path(place) for place in places if place is not None), None)
    if place is None:
        return "unknown"
    return git_revision(place.parent if place.is_file() else place)


def _git(folder: Path, *arguments: str) -> str:
    """Return the output of a git command; "" where it fails."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
