"""Quotes of the project's code: above each a link to its lines, on a page that shows the file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
FOLDER = "code"
_NAMED = re.compile(r"# ([\w/]+\.py)\n")
_QUOTES = re.compile(r"^```python\n# ([\w/]+\.py)$", re.MULTILINE)


def lines_of(quoted: str, code: str) -> list[int]:
    """The line of the code, from 1, at which each part of a quote begins, however indented. Parts
    are separated by a line of three dots.

    Raises:
        ValueError: a part is not in the code.
    """
    lines, found = _lines(code), []
    for part in map(_lines, quoted.split("\n...\n")):
        starts = range(len(lines) - len(part) + 1)
        begin = next((at for at in starts if lines[at : at + len(part)] == part), None)
        if begin is None:
            raise ValueError("it is not in the code: " + " / ".join(part))
        found.append(begin + 1)
    return found


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.rstrip("\n").split("\n")]


def link_quotes(app: Sphinx, document: nodes.document) -> None:
    """Replace the first line of a quote, the file's path, by links to the lines."""
    for block in list(document.findall(nodes.literal_block)):
        named = _NAMED.match(block.astext())
        if named is None or not (ROOT / named[1]).exists():
            continue
        path, text = named[1], block.astext()[named.end() :]
        target = app.builder.get_relative_uri(app.env.docname, _page(path))
        words: list[nodes.Node] = [nodes.Text(f"{path}, line ")]
        for line in lines_of(text, (ROOT / path).read_text(encoding="utf-8")):
            if len(words) > 1:
                words.append(nodes.Text(" and "))
            words.append(nodes.reference("", str(line), refuri=f"{target}#line-{line}"))
        code = nodes.literal_block(text, text, **block.non_default_attributes())
        block.replace_self([nodes.paragraph("", "", *words, classes=["quoted"]), code])


def show_files(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each quoted file, with numbered lines."""
    texts = [page.read_text(encoding="utf-8") for page in Path(app.srcdir).glob("*.md")]
    for path in sorted({path for text in texts for path in _QUOTES.findall(text)}):
        if (ROOT / path).exists():
            form = HtmlFormatter(linenos="inline", linespans="line")
            code = highlight((ROOT / path).read_text(encoding="utf-8"), PythonLexer(), form)
            body = f'<section><h1>{path}</h1><div class="code-file">{code}</div></section>'
            yield _page(path), {"title": path, "body": body}, "page.html"


def _page(path: str) -> str:
    return f"{FOLDER}/{path.removesuffix('.py')}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", link_quotes)
    app.connect("html-collect-pages", show_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
