"""Rooms import only downwards, files without circles, and the library loads nothing heavy."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# From the ground up: a room imports only rooms above it in this list. A room is a folder with all
# that is in it, or a single file; the longest name that fits a module is its room.
ROOMS = [
    "glimpse_envs.core",
    "glimpse_envs.sources",
    "glimpse_envs.task",
    "glimpse_envs.rendering",
    "glimpse_envs.episodes",
    "glimpse_envs.vision",
    "glimpse_envs.flat",
    "glimpse_envs.wrappers",
    "glimpse_envs.env",
    "glimpse_envs.single",
    "glimpse_envs.testing",
    "glimpse_envs.suite",
    "glimpse_envs",  # its __init__ alone
    "glimpse_envs.tasks",
    "glimpse_envs.adapters",
    "glimpse_envs.evaluation",
    "report",
    "agents.training",
    "agents.policy",
    "agents.episodes",
    "agents.scoring",
    "agents.algorithms",
    "agents",
    "agents.play",
    "agents.report",
    "agents.sb3",
    "baselines",
    "benchmarks",
]
PACKAGES = ("glimpse_envs", "report", "agents", "baselines", "benchmarks")


@cache
def modules() -> dict[str, Path]:
    """Dotted name -> file, of all our modules; a package is its `__init__`."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """The dotted names that a file imports, not for types alone, and whether at its top level."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            yield from ((f"{node.module}.{alias.name}", id(node) in top) for alias in node.names)


def module_of(imported: str) -> str | None:
    """Our module that an imported name is, or stands in; None for others' modules."""
    while imported and imported not in modules():
        imported = imported.rpartition(".")[0]
    return imported or None


@cache
def edges() -> dict[str, set[str]]:
    """Which of our modules each imports, anywhere in it."""
    found: dict[str, set[str]] = {}
    for name, path in modules().items():
        others = {module_of(imported) for imported, _ in imports_of(path)}
        found[name] = {other for other in others if other is not None and other != name}
    return found


def room_of(module: str) -> str:
    while module not in ROOMS:
        module = module.rpartition(".")[0]
        assert module, "every module has a room"
    return module


def test_every_module_has_a_room() -> None:
    for name in modules():
        room_of(name)


def test_the_guide_lists_the_rooms_in_their_order() -> None:
    guide = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    listed = guide.partition("only from those before it:")[2].strip().partition("\n\n")[0]
    found = []
    for package, rooms in re.findall(r"`(\w+)`(?: \(([^)]*)\))?", listed):
        found += [package, *(f"{package}.{room}" for room in re.findall(r"`(\w+)`", rooms))]
    assert sorted(found) == sorted({*ROOMS, *(room.partition(".")[0] for room in ROOMS)})
    assert [room for room in found if "." in room] == [room for room in ROOMS if "." in room]


def test_rooms_import_only_downwards() -> None:
    floor = {room: number for number, room in enumerate(ROOMS)}
    upwards = {
        (name, other)
        for name, others in edges().items()
        for other in others
        # Importing the package registers the suite; that is no look into a room.
        if other != "glimpse_envs" and floor[room_of(name)] < floor[room_of(other)]
    }
    assert not upwards


def test_files_import_each_other_without_a_circle() -> None:
    below = {name: others - {"glimpse_envs"} for name, others in edges().items()}
    for name in below:
        reached: set[str] = set()
        frontier = set(below[name])
        while frontier:
            reached |= frontier
            frontier = set().union(*(below[other] for other in frontier)) - reached
        assert name not in reached, f"{name} imports itself through {sorted(reached)}"


@pytest.mark.parametrize(
    ("package", "never"),
    [("glimpse_envs", {"torch", "agents", "baselines", "report"}), ("agents", {"baselines"})],
)
def test_a_package_never_imports_those_above_it(package: str, never: set[str]) -> None:
    offenders = {
        (name, imported)
        for name, path in modules().items()
        if name.partition(".")[0] == package
        for imported, _ in imports_of(path)
        if imported.partition(".")[0] in never
    }
    assert not offenders


def test_extras_install_what_their_rooms_import() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = settings["project"], settings["dependency-groups"]
    extra = project["optional-dependencies"]["evaluation"]
    assert "glimpse-envs[evaluation]" in groups["report"]
    wanted = {
        imported.partition(".")[0]
        for name, path in modules().items()
        if name.startswith(("glimpse_envs.evaluation", "report"))
        for imported, _ in imports_of(path)
    }
    lines = [*project["dependencies"], *extra, *groups["report"]]
    listed = {re.split(r"[^\w-]", line)[0] for line in lines}
    assert "scipy" in wanted
    assert wanted - set(sys.stdlib_module_names) - set(PACKAGES) <= listed


HEAVY = {
    "torch",
    "agents",
    "baselines",
    "report",
    "numba",
    "cv2",
    "scipy",
    "matplotlib",
    "pooch",
    "imageio",
    "safetensors",
    "stable_baselines3",
}


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import agents.train", "agents and baselines need torch, which is not installed: pip"),
        ("import baselines.train", "agents and baselines need torch, which is not installed: pip"),
        ("import glimpse_envs.core.opencv", "OpenCV cannot be loaded: .*libgl1"),
    ],
)
def test_what_is_not_installed_is_told_with_the_command_that_installs_it(
    program: str, told: str
) -> None:
    without = (
        "import sys\n"
        "from importlib.abc import MetaPathFinder\n"
        "class Without(MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'cv2': raise ImportError('libGL.so.1: cannot open shared file')\n"
        "        return None\n"
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'torch' else found(name, *rest)\n"
        "sys.meta_path.insert(0, Without())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", without + program], cwd=ROOT, capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert re.search(told, ran.stderr.splitlines()[-1])


def test_importing_the_library_loads_nothing_heavy() -> None:
    program = "import sys, glimpse_envs.sources; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded_modules = {name.partition(".")[0] for name in loaded.stdout.split()}
    assert "glimpse_envs" in loaded_modules
    assert not loaded_modules & HEAVY
