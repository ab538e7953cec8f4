"""Words and tables of the published pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

UNKNOWN = "—"
"""The cell of what was not measured."""


class ReportError(ValueError):
    """The report cannot be written where it should go; the message says what is missing."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; line breaks and bars in a cell are made harmless."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def bullets(texts: Iterable[str]) -> str:
    """A list of the distinct texts, in order, a line each."""
    return "\n".join(f"- {flat(text)}" for text in dict.fromkeys(texts))


def flat(text: str) -> str:
    """`text` in one line."""
    return " ".join(text.split())


def listed(texts: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def short(env_id: str) -> str:
    """An environment's id without its namespace."""
    return env_id.removeprefix("Glimpse/")


def setting(name: str, value: object) -> str:
    """A setting in words: "6 glimpses", "look tiles", "10 minutes", "no place noise"."""
    words = name.rpartition(".")[2].replace("_", " ")
    words = {"budget": "glimpses", "stop at": "early stop at"}.get(words, words)
    if isinstance(value, bool) or value is None:
        return words if value else f"no {words.removesuffix(' at')}"
    if isinstance(value, float):
        if words == "minutes":
            return "1 minute" if value == 1 else f"{value:g} minutes"
        return f"{words} {value:g}"
    if isinstance(value, int) and words.endswith("s"):
        return f"{count(value) if value >= 10_000 else value} {words}"
    return f"{words} {value}"


def environment(env_id: str, env_kwargs: Mapping[str, Any]) -> str:
    """An environment with what differs from its defaults, in words."""
    arguments = ", ".join(setting(k, v) for k, v in sorted(env_kwargs.items()))
    return f"{short(env_id)} ({arguments})" if arguments else short(env_id)


def count(number: float) -> str:
    """A count to two or three digits: 640, 2.9 k, 62 k, 4.0 M."""
    for unit, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        scaled = number / size
        if scaled >= 0.9995:  # what rounds to 1,000 of the unit below
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"
    return f"{number:.0f}"


def digits(number: float, most: int = 3) -> str:
    """A number to so many digits, before the point to all of them: 0.0123, -20.4, 1,234."""
    return f"{number:,.0f}" if abs(number) >= 10**most - 0.5 else f"{number:.{most}g}"


def minutes(number: float) -> str:
    """A length of time to two digits, or to whole minutes: 0.42, 1.5, 25."""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"


def short_revision(revision: str) -> str:
    """A revision's first twelve digits, and whether its tree had uncommitted changes."""
    commit, plus, state = revision.partition("+")
    return f"{commit[:12]}{plus}{state}"


def replace_block(text: str, block: str, name: str) -> str:
    """`text` with what stands between the markers of `name` replaced by `block`.

    Raises:
        ReportError: the markers are missing, doubled or in the wrong order.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ReportError(f"needs one line {begin} and, after it, one line {end}")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{block}\n{end}{rest.split(end)[1]}"


def _cell(text: str) -> str:
    return flat(text).replace("|", "\\|")
