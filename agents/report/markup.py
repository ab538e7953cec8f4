"""HTML of tables, lists and figures; all text is escaped here, but for `content`."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray


def table(header: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table that scrolls sideways where it is too wide; without a header where that is empty."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    head = f"<thead><tr>{head}</tr></thead>" if header else ""
    return (
        f'<div class="scroll" tabindex="0"><table class="{kind}">{head}<tbody>{body}</tbody>'
        "</table></div>"
    )


def confusion_table(counts: NDArray[np.int64], names: Sequence[str]) -> str:
    """Counts (n, n) of answers (columns) to each target (row), shaded by their share of the row."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = [f"<thead><tr><th>is \\ answer</th>{head}</tr></thead><tbody>"]
    for target, row in enumerate(counts):
        cells = [f"<tr><th>{escape(names[target])}</th>"]
        for answer, count in enumerate(row):
            kind = "right" if answer == target else "wrong"
            # A root, so that rare mistakes are seen beside the right answers.
            share = 75 * np.sqrt(count / max(int(row.sum()), 1))
            text = str(count) if count else ""
            cells.append(f'<td class="{kind}" style="--share:{share:.0f}%">{text}</td>')
        lines.append("".join(cells) + "</tr>")
    inside = "".join(lines)
    return (
        f'<div class="scroll" tabindex="0"><table class="confusion">{inside}</tbody></table></div>'
    )


def figure(content: str, caption: str) -> str:
    """A drawing with a line below it."""
    return f"<figure>{content}<figcaption>{escape(caption)}</figcaption></figure>"


def chart(source: str, title: str) -> str:
    """A chart from a data URI."""
    return f'<figure><img src="{source}" alt="{escape(title)}"></figure>'


def grid(kind: str, items: Iterable[str]) -> str:
    """Figures beside one another, as many as there is room for; nothing without any."""
    inside = "".join(items)
    return f'<div class="{kind}">{inside}</div>' if inside else ""


def folded(title: str, content: str, opened: bool = False) -> str:
    """A part of the page that can be opened and closed."""
    state = " open" if opened else ""
    return f"<details{state}><summary>{escape(title)}</summary>{content}</details>"


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def note(text: str) -> str:
    """A line of small print."""
    return f'<p class="note">{escape(text)}</p>'


def warning_list(warnings: Sequence[str]) -> str:
    """The warnings in a box; nothing without any."""
    if not warnings:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in warnings)
    return f'<div class="warnings"><strong>Warnings</strong><ul>{lines}</ul></div>'


def preformatted(text: str) -> str:
    """Text as it stands."""
    return f"<pre>{escape(text)}</pre>"
