"""The site builds without a warning, every public name is in its reference, and no link is dead."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from sphinx.util.inventory import InventoryFile

from tests.support.guides import DOCS, ROOT

REFERENCE = runpy.run_path(str(DOCS / "_ext" / "reference.py"))

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


def test_formulas_are_drawn_by_the_browser(site: Path) -> None:
    text = (site / "explained.html").read_text(encoding="utf-8")
    assert len(re.findall("<math", text)) >= 20
    assert "$" not in re.sub(r"<(script|pre|code).*?</\1>", "", text, flags=re.DOTALL)


def test_search_finds_a_page_of_every_kind(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for page in ("first_agent", "explained", "environments/Copy", "api/glimpse_envs.core"):
        assert f'"{page}"' in index
