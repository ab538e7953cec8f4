"""Rooms import only downwards, and importing the library loads nothing heavy."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# From the ground up. A room may import rooms of its own floor too, as long as that is acyclic.
FLOORS = [
    {"sources", "geometry", "randomness", "rendering", "threads", "arguments", "files"},
    {"scenes", "sensors", "task", "actions", "dealing", "display", "infos", "state", "levels"}
    | {"env", "single", "flat"},
    {"tasks", "suite"},
    {"adapters"},
    {"evaluation"},
    {"agents"},
    {"baselines"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
OWN = {"glimpse_envs", "agents", "baselines"}


def sources_of(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imports_of(path: Path) -> Iterator[str]:
    """The dotted names of all modules that a file imports, wherever in it, but not for types."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(module: str) -> str | None:
    """The room of one of our modules; None for the package itself and for others' modules."""
    package, _, rest = module.partition(".")
    if package == "glimpse_envs":
        return rest.partition(".")[0] or None
    return package if package in OWN else None


def room_edges() -> set[tuple[str, str]]:
    """Which room imports which other one."""
    edges = set()
    for package in sorted(OWN):
        for path in sources_of(package):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            room = room_of(module.removesuffix(".__init__"))
            for imported in imports_of(path):
                other = room_of(imported)
                if room is not None and other in FLOOR_OF and other != room:
                    edges.add((room, other))
    return edges


def test_every_room_has_a_floor() -> None:
    package = ROOT / "glimpse_envs"
    rooms = {path.relative_to(package).parts[0] for path in sources_of("glimpse_envs")}
    assert {room.removesuffix(".py") for room in rooms} <= {"__init__", "__main__", *FLOOR_OF}


def test_rooms_import_only_downwards() -> None:
    upwards = {(a, b) for a, b in room_edges() if FLOOR_OF[a] < FLOOR_OF[b]}
    assert not upwards


def test_rooms_of_a_floor_import_each_other_without_a_circle() -> None:
    edges = room_edges()
    below = {room: {b for a, b in edges if a == room} for room in FLOOR_OF}
    for room in FLOOR_OF:
        reached: set[str] = set()
        frontier = set(below[room])
        while frontier:
            reached |= frontier
            frontier = set().union(*(below[other] for other in frontier)) - reached
        assert room not in reached


@pytest.mark.parametrize(
    ("package", "never"),
    [("glimpse_envs", {"torch", "agents", "baselines"}), ("agents", {"baselines"})],
)
def test_a_package_never_imports_those_above_it(package: str, never: set[str]) -> None:
    offenders = {
        (path.name, imported)
        for path in sources_of(package)
        for imported in imports_of(path)
        if imported.partition(".")[0] in never
    }
    assert not offenders


def test_extras_install_what_their_rooms_import() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"]["evaluation"]
    assert "glimpse-envs[evaluation]" in project["optional-dependencies"]["agents"]
    wanted = {
        imported.partition(".")[0]
        for path in sources_of("glimpse_envs/evaluation")
        for imported in imports_of(path)
    }
    listed = {re.split(r"[^\w-]", line)[0] for line in [*project["dependencies"], *extra]}
    assert "scipy" in wanted
    assert wanted - set(sys.stdlib_module_names) - OWN <= listed


HEAVY = {
    "torch",
    "agents",
    "baselines",
    "numba",
    "cv2",
    "scipy",
    "matplotlib",
    "pooch",
    "imageio",
    "safetensors",
    "stable_baselines3",
}


def test_importing_the_library_loads_nothing_heavy() -> None:
    program = "import sys, glimpse_envs.sources; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = {name.partition(".")[0] for name in loaded.stdout.split()}
    assert "glimpse_envs" in modules
    assert not modules & HEAVY
