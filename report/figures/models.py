"""How each model is drawn, in all figures alike, and which share a panel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from zlib import crc32

from glimpse_envs.evaluation.record import Model
from report.figures.style import COLOURS, LineStyle, style_of
from report.groups import Group
from report.kinds import Kind, kind_of

MOST_LINES = 5
"""In a panel."""

_DASHES: dict[Kind, str] = {
    "hard": "-",
    "human": "-",
    "privileged": "-.",
    "addressed": "-",
    "soft_to_hard": "-.",
    "soft": ":",
    "full": "--",
}

# Name -> colour and marker: others for models that stand in one panel.
_NUMBERS = {
    "Reinforce LSTM": 0,
    "Reinforce LSTM, looks at cells": 5,
    "A2C LSTM": 1,
    "PPO LSTM": 2,
    "Reinforce LSTM, random glimpses": 4,
    "A2C LSTM, direct access to symbols": 3,
    "A2C LSTM, direct access, answer by reward": 5,
    "A2C LSTM, direct access to symbols, answer by reward": 7,
    "Exact LSTM, trained on all tiles": 6,
    "Straight-through LSTM, trained on all tiles": 7,
    "Hard key-value LSTM": 2,
    "Soft-to-hard key-value LSTM": 4,
    "Soft DRAW window LSTM": 3,
    "Soft key-value LSTM": 3,
    "Soft retina LSTM": 2,
    "Soft NTM LSTM": 5,
    "Soft tiles LSTM": 5,
    "Soft tiles by content LSTM": 7,
    "Full view conv": 1,
    "Full view dense": 4,
    "Full view spatial transformer": 2,
    "Full view strong": 6,
    "Full view LSTM without memory": 6,
}


def style_named(name: str) -> LineStyle:
    """Colour and marker of a model of which the name alone is known."""
    return style_of(_NUMBERS.get(name, crc32(name.encode())))


def style_of_model(model: Model) -> LineStyle:
    """The dashes and the filling tell the kind, colour and marker the model."""
    kind = kind_of(model)
    return replace(style_named(model.name), dashes=_DASHES[kind], filled=kind == "hard")


def styled(groups: Iterable[Group]) -> list[tuple[Group, LineStyle]]:
    """Groups of one panel with their styles: other settings of a model change the marker and the
    shade. A model without a number of its own gets the colour of another where its own is taken."""
    groups = list(groups)
    models = dict.fromkeys(group.first.model for group in groups)
    bases: dict[str, LineStyle] = {}
    for model in sorted(models, key=lambda model: model.name not in _NUMBERS):
        style = style_of_model(model)
        own = model.name in bases or model.name in _NUMBERS
        bases.setdefault(model.name, style if own else _apart(style, bases.values()))
    seen: dict[str, int] = {}
    pairs = []
    for group in groups:
        name = group.first.model.name
        turn = seen[name] = seen.get(name, -1) + 1
        pairs.append((group, bases[name].variant(turn)))
    return pairs


def _apart(style: LineStyle, taken: Collection[LineStyle]) -> LineStyle:
    """`style`, or one in the colour and marker of a number that no other model of the panel has."""
    colours = {other.colour for other in taken}
    numbered = map(style_of, range(len(COLOURS)))
    others = (replace(style, colour=s.colour, marker=s.marker) for s in numbered)
    return next((s for s in (style, *others) if s.colour not in colours), style)


def by_panel(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """The groups of one panel after another: all in one, or hard attention apart from the others,
    and never more than `MOST_LINES`."""
    parts = [list(groups)]
    if len(groups) > MOST_LINES:
        parts = [list(part) for _, part in groupby(groups, lambda group: group.kind == "hard")]
    for part in parts:
        for start in range(0, len(part), MOST_LINES):
            yield part[start : start + MOST_LINES]


def numbered(titles: Sequence[str]) -> list[str]:
    """The titles of panels; of those that have the same, each says which of how many it is."""
    found = []
    for place, title in enumerate(titles):
        number, of = titles[: place + 1].count(title), titles.count(title)
        found.append(f"{title}, {number} of {of}" if of > 1 else title)
    return found
