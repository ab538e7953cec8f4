"""The fenced blocks of the guides: what is run, what is quoted, what is typed into a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {"comparison", "gradient_variance", "memory", "memory_cost", "records", "results"}
"""Pages of results whose commands train for hours."""
GUIDES = sorted(
    path for path in (ROOT / "README.md", *DOCS.glob("*.md")) if path.stem not in GENERATED
)

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"# ([\w/]+\.py)\n")


@dataclass(frozen=True)
class Block:
    """A fenced block. One whose first line is a comment with a path is that file: a quote of ours,
    or a new one."""

    language: str
    text: str

    @property
    def file(self) -> str:
        """The path that its first line names; "" for none."""
        named = _NAMED.match(self.text)
        return named[1] if named else ""

    @property
    def is_quote(self) -> bool:
        """Whether it quotes a file of the project."""
        return bool(self.file) and (ROOT / self.file).exists()

    @property
    def quoted(self) -> str:
        """The text below the path."""
        return self.text.partition("\n")[2].strip("\n")


def blocks(page: Path, language: str) -> list[Block]:
    """The blocks of a page in a language, in order."""
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(kind, dedent(text)) for _, kind, text in found if kind == language]


def commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The commands `python -m MODULE OPTIONS` of a page's shell blocks, without pipes and
    redirections; `torchrun` starts a module too."""
    for block in blocks(page, "sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            line = re.split(r"\s[>|&]", line.partition("#")[0])[0]
            words = [word for word in shlex.split(line) if word not in ("nohup", "--")]
            if "-m" in words and words[0] in ("python", "torchrun"):
                start = words.index("-m") + 1
                yield words[start], words[start + 1 :]
