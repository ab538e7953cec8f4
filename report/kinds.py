"""Kinds of models, by what they are shown and how they read it, from fields of `Model` alone."""

from __future__ import annotations

from typing import Literal

from glimpse_envs.evaluation.record import Attention, Model

Kind = Literal["hard", "human", "privileged", "addressed", "soft_to_hard", "soft", "full"]

SEES_OF_PICTURES: dict[Kind, str] = {
    "hard": "one glimpse at a time",
    "human": "one glimpse at a time",
    "privileged": "all tiles in training",
    "addressed": "every pixel once, or a coarse view, then some patches",
    "soft_to_hard": "every pixel, one place a read in the end",
    "soft": "every pixel",
    "full": "every pixel",
}
"""What a model of each kind is shown of a picture, from the least to the most."""

OF_CONTEXT = ", and the whole scene coarsely"
"""What is added to it by `context=True`."""

OF_FRAME = " of the present frame, {memory} a memory"
"""What is added to it of a network that is shown a scene that moves frame by frame."""

SEES_OF_CELLS: dict[Kind, str] = {
    "hard": "one cell a step",
    "human": "one cell a step",
    "privileged": "all cells in training",
    "addressed": "every cell once, then one a read",
    "soft_to_hard": "every cell, in tests one a read",
    "soft": "every cell",
    "full": "every cell, no memory",
}
"""The same of a tape or a table."""

SEES_OF_STATEMENTS = {
    kind: words.replace("cells", "statements").replace("cell", "statement")
    for kind, words in SEES_OF_CELLS.items()
}
"""The same of a text."""

KINDS = tuple(SEES_OF_PICTURES)
"""In the order of tables and plots."""

_OF_EVERYTHING: dict[Attention, Kind] = {
    "hard": "addressed",
    "soft_to_hard": "soft_to_hard",
    "soft": "soft",
    "none": "full",
}


def kind_of(model: Model) -> Kind:
    """The kind of a model."""
    if model.gaze == "human":
        return "human"
    if model.sees == "everything":
        return _OF_EVERYTHING[model.attention]
    return "hard" if model.sees == "glimpses" else "privileged"
