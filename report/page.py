"""What a page is: what it reads, what it writes, and whether that is fresh."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from glimpse_envs.core.files import write_atomically
from report.markdown import ReportError, replace_block

ROOT = Path(__file__).parents[1]
README = "README.md"

Draw = Callable[[Path], None]
"""Draws a figure and writes it to a path, whole or not at all."""


@dataclass(frozen=True)
class Places:
    """Where records are read, and where pages are written."""

    results: Path = ROOT / "results"
    root: Path = ROOT
    """The folder of README.md and docs/."""
    origin: Path = ROOT
    """Where pages of which a part is drawn are taken from when `root` has none yet."""

    @property
    def benchmarks(self) -> Path:
        """The folder of measured speeds, costs and variances."""
        return self.results / "benchmarks"

    def host(self, page: str) -> Path:
        """The file of a page of which a part is drawn."""
        path = self.root / page
        return path if path.exists() else self.origin / page

    def link(self, file: Path, page: str) -> str:
        """The relative link to `file` on a page, whose path is given from the root."""
        return Path(os.path.relpath(file, (self.root / page).parent)).as_posix()


@dataclass(frozen=True)
class Published:
    """All that a page writes; paths are given from the root, "docs/speed.md"."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Path -> Markdown."""
    blocks: Mapping[str, str] = field(default_factory=dict)
    """Name of a block of the README -> Markdown; "docs/index.md:NAME" is one of another page."""
    figures: Mapping[str, Draw] = field(default_factory=dict)
    """Path -> what draws it."""
    figures_follow_texts: bool = True
    """Whether figures are drawn again where a text that shows them was stale; False for those that
    show nothing of what texts are drawn from, such as films."""
    problems: Sequence[str] = ()
    """Of records that were left out; each names its file."""
    owned: str = ""
    """A pattern of paths at which no file but these may be; "" for none."""


@dataclass(frozen=True)
class Page:
    """One entry of `report.__main__.PAGES`."""

    name: str
    """On the command line."""
    folders: tuple[str, ...]
    """Of `results/`, from which it is drawn; empty where the suite and the code tell all."""
    publish: Callable[[Places], Published]
    needs_all: bool = True
    """Whether all of the folders have to be there, or one is enough."""

    @property
    def reads(self) -> str:
        """What it is drawn from, for people."""
        folders = (Path("results", folder).as_posix() for folder in self.folders)
        return ", ".join(folders) or "the code"

    def check(self, places: Places) -> None:
        """Refuse folders that are not there: a page of nothing would replace what was published.

        Raises:
            ReportError: it names the folder.
        """
        paths = [places.results / folder for folder in self.folders]
        lacking = [path for path in paths if not path.is_dir()]
        if lacking and (self.needs_all or lacking == paths):
            raise ReportError(
                f"no folder {lacking[0]}, from which the page {self.name} is drawn: give --results "
                "the folder that holds it, or name the pages to draw"
            )


def page_of(blocks: Iterable[str], docs: str = "") -> str:
    """The text of a page of docs/: its blocks, and the way back.

    Args:
        docs: the way to docs/ from the page's folder, "../" for a folder in it.
    """
    return "\n\n".join([*blocks, f"[Back to the documentation]({docs}index.md)\n"])


def in_docs(path: str) -> str:
    """The link to a file of docs/ from a page of it."""
    return path.removeprefix("docs/")


def stale_files(published: Published, places: Places) -> list[Path]:
    """Texts that do not say what they should, figures that are missing, and files of nobody.

    Raises:
        ReportError: a page lacks the markers of a block.
        OSError, UnicodeDecodeError: a text cannot be read.
    """
    figures = [places.root / path for path in published.figures]
    missing = [path for path in figures if not path.exists()]
    return [*_stale_texts(published, places), *missing, *_strays(published, places)]


def write(published: Published, places: Places, *, redraw: bool = False) -> list[Path]:
    """Write what is stale, delete files of nobody, and return the paths of all these.

    A figure is drawn where it is missing, on `redraw`, and, with `figures_follow_texts`, where a
    text that shows it was stale.

    Raises:
        ReportError: a page lacks the markers of a block; nothing is written.
        OSError, UnicodeDecodeError: a text cannot be read or written.
    """
    texts = _stale_texts(published, places)
    strays = list(_strays(published, places))
    figures = {places.root / path: draw for path, draw in published.figures.items()}
    shown = "".join(texts.values()) if published.figures_follow_texts else ""
    drawn = [path for path in figures if redraw or not path.exists() or path.name in shown]
    for path in drawn:
        path.parent.mkdir(parents=True, exist_ok=True)
        figures[path](path)
    for path, text in texts.items():
        write_atomically(path, text.encode())
    for path in strays:
        path.unlink()
    return [*texts, *drawn, *strays]


def _stale_texts(published: Published, places: Places) -> dict[Path, str]:
    """Path -> what it should hold, of the texts that do not."""
    wanted = {places.root / path: text for path, text in published.texts.items()}
    for key, block in published.blocks.items():
        page, _, name = key.rpartition(":")
        path = places.root / (page or README)
        text = wanted.get(path) or places.host(page or README).read_bytes().decode()
        try:
            wanted[path] = replace_block(text, block, name)
        except ReportError as error:
            raise ReportError(f"{path} {error}") from error
    return {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_bytes().decode() != text
    }


def _strays(published: Published, places: Places) -> Iterator[Path]:
    kept = {places.root / path for path in (*published.texts, *published.figures)}
    if published.owned:
        found = (path for path in places.root.glob(published.owned) if path.is_file())
        yield from sorted(set(found) - kept)
