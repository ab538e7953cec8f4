"""The site builds without a warning, every public name is in its reference, and no link is dead."""

from __future__ import annotations

import ast
import html
import importlib
import inspect
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from textwrap import dedent
from urllib.parse import unquote, urlsplit

import pytest
from sphinx.util.inventory import InventoryFile

from tests.support.guides import DOCS, ROOT, blocks

REFERENCE = runpy.run_path(str(DOCS / "_ext" / "reference.py"))
QUOTES = runpy.run_path(str(DOCS / "_ext" / "quotes.py"))

pytestmark = pytest.mark.learning


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


class _Page(HTMLParser):
    """What a page links to, shows and loads, and the places in it that may be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.text: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        if "id" in values:
            self.places.add(values["id"])
        if tag in ("img", "script") and "src" in values:
            self.loads.append(values["src"])
        if tag == "link" and values.get("rel") == "stylesheet":
            self.loads.append(values["href"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path) for path in site.rglob("*.html")}


def _dead(pages: dict[Path, _Page]) -> Iterator[str]:
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists() or (
                place and target in pages and place not in pages[target].places
            ):
                yield f"{path.name}: {link}"


def test_no_link_within_the_site_is_dead(pages: dict[Path, _Page]) -> None:
    assert sorted(set(_dead(pages))) == []


def test_a_page_needs_no_network(pages: dict[Path, _Page]) -> None:
    """Formulas are MathML, and fonts, styles and scripts are the site's own."""
    loads = {load for page in pages.values() for load in page.loads if urlsplit(load).netloc}
    assert loads == set()


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    listed = {name for kind, names in inventory.data.items() if kind[:3] == "py:" for name in names}
    modules = [module for group in REFERENCE["public_modules"]().values() for module in group]
    assert len(modules) > 100
    public = REFERENCE["public_names"]
    wanted = {f"{module}.{name}" for module in modules for name in public(module)}
    assert sorted(wanted - listed) == []


ARRAYS = re.compile(r"\b(NDArray|Tensor|Floats|Ints|Bools|Float32s|Bytes)\b")
SHAPE = re.compile(r"\((\w|\.\.\.)[\w.+*/ -]*,[^()]*\)|\bshapes?\b")
PROTOCOL = {"NotImplementedError", "AssertionError", "AttributeError", "KeyError", "StopIteration"}
"""Errors that Python's own protocols ask for, or that mean a mistake in the code itself."""


def _functions(module: str) -> Iterator[tuple[str, ast.FunctionDef, str]]:
    """Each public function and method of a module, with what describes it: a constructor by
    its class too."""
    loaded = importlib.import_module(module)
    names = set(REFERENCE["public_names"](module))
    for node in ast.parse(Path(loaded.__file__ or "").read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name not in names:
            continue
        thing = getattr(loaded, node.name)
        if isinstance(node, ast.FunctionDef):
            yield f"{module}.{node.name}", node, inspect.getdoc(thing) or ""
            continue
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef):
                text = inspect.getdoc(getattr(thing, inner.name)) or ""
                if inner.name in ("__init__", "__post_init__"):
                    yield f"{module}.{node.name}", inner, f"{inspect.getdoc(thing)}\n{text}"
                elif not inner.name.startswith("_"):
                    yield f"{module}.{node.name}.{inner.name}", inner, text


def _raises(node: ast.AST) -> bool:
    """Whether a function's own body raises an error by its name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(child, ast.Raise) and child.exc is not None:
            error = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
            name = ast.unparse(error).rpartition(".")[2]
            if name[0].isupper() and name not in PROTOCOL:
                return True
        if _raises(child):
            return True
    return False


def _lacks(module: str) -> Iterator[str]:
    loaded = importlib.import_module(module)
    public = set(REFERENCE["public_names"](module))
    yield from (f"{module}.{name}: no text" for name in public if not getattr(loaded, name).__doc__)
    for name, node, text in _functions(module):
        hints = [each.annotation for each in (*node.args.args, *node.args.kwonlyargs)]
        types = " ".join(ast.unparse(hint) for hint in [*hints, node.returns] if hint)
        if node.name in public and ARRAYS.search(types) and not SHAPE.search(text):
            yield f"{name}: no shapes"
        if _raises(node) and not re.search(r"\bRaises?\b", text):
            yield f"{name}: no errors"


def test_every_public_name_has_its_text_shapes_and_errors() -> None:
    modules = [module for group in REFERENCE["public_modules"]().values() for module in group]
    assert sorted(lack for module in modules for lack in _lacks(module)) == []


def test_a_name_that_lacks_its_text_shapes_or_errors_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
        def silent(): ...

        def shapeless(values: Tensor) -> Tensor:
            \"\"\"Twice the values.\"\"\"

        def daring(number):
            \"\"\"Half of an even number.\"\"\"
            if number % 2:
                raise ValueError("odd")
    """
    path = tmp_path / "lacking.py"
    path.write_text("from __future__ import annotations\n" + dedent(code), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(REFERENCE, "public_names", lambda module: ["silent", "shapeless", "daring"])
    assert sorted(_lacks("lacking")) == [
        "lacking.daring: no errors",
        "lacking.shapeless: no shapes",
        "lacking.silent: no text",
    ]


def test_formulas_are_drawn_by_the_browser(site: Path) -> None:
    text = (site / "explained.html").read_text(encoding="utf-8")
    assert len(re.findall("<math", text)) >= 20
    assert "$" not in re.sub(r"<(script|pre|code).*?</\1>", "", text, flags=re.DOTALL)


def test_a_quote_leads_to_its_lines(site: Path) -> None:
    """The line that is linked begins as the quote does."""
    lines_of = QUOTES["lines_of"]
    assert lines_of("a = 1\n...\nreturn a", "def f():\n    a = 1\n\n    return a\n") == [2, 4]
    with pytest.raises(ValueError, match="not in the code: return b"):
        lines_of("return b", "return a\n")
    quotes = [block for block in blocks(DOCS / "explained.md", "python") if block.is_quote]
    text = (site / "explained.html").read_text(encoding="utf-8")
    linked = iter(re.findall(r'href="(code/[\w/]+\.html)#(line-\d+)"', text))
    for quote in quotes:
        for part in quote.quoted.split("\n...\n"):
            page, line = next(linked)
            assert page == f"code/{quote.file.removesuffix('.py')}.html"
            shown = (site / page).read_text(encoding="utf-8").partition(f'id="{line}"')[2]
            first = html.unescape(re.sub("<.*?>", "", shown.partition("\n")[0].partition(">")[2]))
            assert first.lstrip("0123456789 ") == part.partition("\n")[0].strip()
    assert next(linked, None) is None


def test_search_finds_a_page_of_every_kind(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for page in ("first_agent", "explained", "environments/Copy", "api/glimpse_envs.core"):
        assert f'"{page}"' in index
