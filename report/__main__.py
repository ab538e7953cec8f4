"""Draw results, the comparison of hard with soft, and memory from records; nothing is trained.

python -m report [--check]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.records import Record, read_records
from report.figures.results import draw_plot
from report.markdown import ReportError, replace_block
from report.pages.comparison import (
    Comparison,
    comparison_block,
    comparison_page,
    comparison_pictures,
    read_comparison,
)
from report.pages.memory import (
    PAGE,
    Memory,
    memory_block,
    memory_page,
    memory_pictures,
    read_memory,
)
from report.pages.results import build_table


@dataclass(frozen=True)
class Report:
    """What the records say, and where it is published."""

    records: list[Record]
    comparison: Comparison
    memory: Memory
    readme: Path
    page: Path
    """Of the comparison; that of memory, and the pictures of both, lie beside it."""
    plot: Path

    @property
    def memory_page(self) -> Path:
        return self.page.parent / PAGE

    def pictures(self) -> dict[Path, Callable[[Path], None]]:
        """The pages' pictures: path -> what draws it there."""
        named = comparison_pictures(self.comparison) | memory_pictures(self.memory)
        return {self.page.parent / name: draw for name, draw in named.items()}

    def texts(self) -> dict[Path, tuple[str, str]]:
        """Each text file: path -> what it holds ("" where it is missing), what it should hold.

        Raises:
            ReportError: the README lacks the markers between which a block belongs.
            OSError, UnicodeDecodeError: the README cannot be read.
        """
        present = self.readme.read_bytes().decode()
        docs = Path(os.path.relpath(self.page.parent, self.readme.parent)).as_posix()
        blocks = {
            "results": build_table(self.records),
            "comparison": comparison_block(self.comparison, docs),
            "memory": memory_block(self.memory, docs),
        }
        wanted = present
        for name, block in blocks.items():
            try:
                wanted = replace_block(wanted, block, name)
            except ReportError as error:
                raise ReportError(f"{self.readme} {error}") from error
        pages = {
            self.page: comparison_page(self.comparison),
            self.memory_page: memory_page(self.memory),
        }
        texts = {self.readme: (present, wanted)}
        for path, page in pages.items():
            texts[path] = (path.read_bytes().decode() if path.exists() else "", page)
        return texts

    def stale(self) -> list[Path]:
        """The texts that do not say what the records do, and the pictures that are missing."""
        paths = [path for path, (present, wanted) in self.texts().items() if present != wanted]
        return paths + [path for path in [self.plot, *self.pictures()] if not path.exists()]

    def write(self) -> None:
        """Draw all pictures and write the texts that are stale."""
        texts = self.texts()
        draw_plot(self.records, self.plot)
        for path, draw in self.pictures().items():
            draw(path)
        for path, (present, wanted) in texts.items():
            if wanted != present:
                write_atomically(path, wanted.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 0, 1 where `--check` finds something stale, 2 on an error."""
    parser = argparse.ArgumentParser(
        prog="python -m report",
        description="Draw the README's tables, docs/comparison.md, docs/memory.md and the plots "
        "from records.",
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of records")
    parser.add_argument(
        "--comparison",
        type=Path,
        help="folder of the comparison's; RESULTS/comparison if not given",
    )
    parser.add_argument(
        "--memory", type=Path, help="folder of memory's; RESULTS/memory if not given"
    )
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    parser.add_argument("--page", type=Path, default=Path("docs/comparison.md"))
    parser.add_argument("--plot", type=Path, default=Path("docs/error_by_glimpses.png"))
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if something is stale"
    )
    options = parser.parse_args(arguments)
    try:
        records, problems = read_records(options.results)
        comparison = read_comparison(options.comparison or options.results / "comparison")
        memory = read_memory(
            options.memory or options.results / "memory", options.results / "benchmarks"
        )
        for problem in [*problems, *comparison.problems, *memory.problems]:
            print(f"left out: {problem}", file=sys.stderr)
        report = Report(records, comparison, memory, options.readme, options.page, options.plot)
        if options.check:
            stale = report.stale()
            for path in stale:
                print(f"{path} is stale: run {parser.prog}", file=sys.stderr)
            return int(bool(stale))
        report.write()
    except (ReportError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
