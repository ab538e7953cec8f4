"""The families of environments, a film and a line each: on the README and on the landing page."""

from collections.abc import Sequence

from glimpse_envs.suite import SUITE, Row
from report.markdown import table
from report.page import in_docs
from report.pages.environment_facts import page_name

FOLDER = "docs/environments"
INDEX = "README.md"
WRAPPED_FILM = "docs/pong.webp"
_WRAPPED = "Any pixel environment", "docs/wrappers.md", "An episode of Pong"
_WRAPPED_WORDS = "Atari games, MiniGrid's worlds or your own, through a glimpse"
FAMILIES = {
    "pictures": ("Pictures", "ClutteredMNIST", "digits, garments and objects to find and name"),
    "worlds": ("Worlds", "Catch", "a falling ball to catch, of which only the glimpse is seen"),
    "tape": ("Tapes", "ForwardReverse", "a tape read cell by cell: copy, reverse, add, sort"),
    "table": ("Tables", "PointerChase", "cells read by address: store, look up, follow pointers"),
    "text": ("Texts", "Stories", "statements read one by one, and a question to answer"),
}
"""Package of `glimpse_envs.tasks` -> title, environment whose film is shown, and what is hidden; a
package that is not here has its name for a title, and its first environment's film."""


def families() -> dict[str, list[Row]]:
    """The rows of the suite by their family, in its order."""
    found: dict[str, list[Row]] = {}
    for row in SUITE.values():
        found.setdefault(row.family, []).append(row)
    return found


def families_block() -> str:
    """The README's table: a column for each family and one for what is wrapped, with a film and a
    link."""
    heads, films, words = [], [], []
    for package, rows in families().items():
        title, _, hidden = family(package, rows)
        link = f"{FOLDER}/{INDEX}#{title.lower()}"
        heads.append(f"[{title}]({link})")
        films.append(f"[{_family_film(package, rows, FOLDER)}]({link})")
        words.append(_number(rows) + (f": {hidden}" if hidden else ""))
    title, page, shown = _WRAPPED
    heads.append(f"[{title}]({page})")
    films.append(f"[![{shown}]({WRAPPED_FILM})]({page})")
    words.append(_WRAPPED_WORDS)
    return table(heads, [films, words])


def cards_block() -> str:
    """The landing page's list: each family and what is wrapped, with a film and a link."""
    cards, folder = [], FOLDER.removeprefix("docs/")
    for package, rows in families().items():
        title, _, hidden = family(package, rows)
        cards.append(
            f"- {_family_film(package, rows, folder)}\n\n"
            f"  **[{title}]({folder}/{INDEX}#{title.lower()})**, {_number(rows)}"
            f"{': ' if hidden else ''}{hidden}."
        )
    title, page, shown = _WRAPPED
    cards.append(
        f"- ![{shown}]({in_docs(WRAPPED_FILM)})\n\n"
        f"  **[{title}]({in_docs(page)})**: {_WRAPPED_WORDS}."
    )
    return "\n\n".join(cards)


def _family_film(package: str, rows: Sequence[Row], folder: str) -> str:
    _, shown, _ = family(package, rows)
    return f"![An episode of {shown}]({folder}/{shown}_oracle.webp)"


def _number(rows: Sequence[Row]) -> str:
    return f"{len(rows)} environment{'s' if len(rows) > 1 else ''}"


def family(package: str, rows: Sequence[Row]) -> tuple[str, str, str]:
    """Title, environment whose film is shown, and what is hidden, of a family's `rows`."""
    return FAMILIES.get(package, (package.capitalize(), page_name(rows[0]), ""))
