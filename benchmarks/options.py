"""What the commands of the benchmarks share: their options, and the JSON record that they write."""

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Collection
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.provenance import git_revision, hardware


def options_parser(about: str | None, **defaults: int) -> ArgumentParser:
    """A parser with --record and, where `defaults` name them, --rows and --repeats."""
    module: ModuleSpec | None = getattr(sys.modules["__main__"], "__spec__", None)
    prog = None if module is None else f"python -m {module.name.removesuffix('.__main__')}"
    parser = ArgumentParser(
        prog=prog, description=about, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--record",
        type=Path,
        help="folder to write the JSON record to; no record is written without it",
    )
    helps = {
        "rows": "number of episodes played at once",
        "repeats": "number of times that each case is timed",
    }
    for name, default in defaults.items():
        parser.add_argument(
            f"--{name}", type=int, default=default, help=f"{helps[name]} (default: {default})"
        )
    return parser


def check_whole(parser: ArgumentParser, options: Namespace, **chosen: Collection[object]) -> None:
    """Refuse a record of a part, which would replace that of the whole; the program ends.

    Args:
        parser: of the command.
        options: as it was called.
        chosen: option -> the values of a whole measurement.
    """
    parts = [
        f"--{name.replace('_', '-')}"
        for name, every in chosen.items()
        if {*getattr(options, name)} != {*every}
    ]
    if options.record and parts:
        parser.error(f"--record is for the whole measurement: leave {', '.join(parts)} out")


def record_header(benchmark: str, cores: int | None = 1) -> dict[str, Any]:
    """The entries that all records begin with; `cores` that it ran on, None: all there are."""
    return {"benchmark": benchmark, "hardware": hardware(cores), "revision": git_revision()}


def write_benchmark(
    folder: Path | None, benchmark: str, entries: dict[str, Any], cores: int | None = 1
) -> None:
    """Write BENCHMARK.json into `folder`, if there is one."""
    if folder is None:
        return
    text = json.dumps({**record_header(benchmark, cores), **entries}, indent=1) + "\n"
    write_atomically(folder / f"{benchmark}.json", text.encode())
