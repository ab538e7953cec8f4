"""How models were made and trained, in words: their labels, and what training alone was told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from report.controls import RULES, about_control
from report.groups import Group
from report.markdown import bullets, environment, listed

MEANINGS = {
    "Full view strong": "a deep convolutional network that sees the whole scene (`full_view`)",
    "Full view conv": "a small convolutional network that sees the whole scene (`full_view`)",
    "Full view dense": "a fully connected network that sees the whole scene (`full_view`)",
    "Soft DRAW window LSTM": "each soft glimpse is a window of Gaussian filters over the whole "
    "scene, whose place and width are outputs of an LSTM (`gaussian_window`)",
    "A2C feedforward": "the core is a layer without memory",
    "looks at cells": "each look is a choice among the cells that the present glimpse shows",
    "one by one": "looks choose among single cells, not blocks of two by two",
    "refined": "in tests, a look goes to the mean location of the likeliest cell and those around "
    "it",
    "inhibition of return": "the look head is told where the episode's glimpses have been",
    "wide inhibition of return": "the same; among distant, wide cells a visit has a wider effect",
    **{f"{gaze} glimpses": about_control(gaze) for gaze in RULES},
    "context": "the first glimpse comes with a coarse view of the whole scene",
    "classes from the glimpse": "the digit that a word names is read from the present glimpse, not "
    "from memory",
    "blind memory": "the memory is told which parts of the scene are lit, but not which digit was "
    "seen",
    "answer by reward": "answers, or acts, are learned from the reward alone, not from a label",
    "ICM": "a bonus for observations that a learned model of the world did not predict",
    "RND": "a bonus for observations that were rare, measured by predicting a random network",
    "SUGARL reward": "a step costs more the less its act can be guessed from the glimpses before "
    "and after it",
    "recall": "the codes of the latest glimpses are kept, and read by soft attention",
    "direct access to symbols": "an answer may repeat the symbol that is read",
    "direct access": "an answer or look may repeat the symbol or address that is read",
    "counts of glimpses": "the core is told, as numbers, how many glimpses are taken and left",
    "without query": "the query is not encoded",
    "without remaining": "the share of glimpses left is not encoded",
}
"""Words of a model's name -> what they mean, in the order of the lists."""


def meanings(groups: Iterable[Group]) -> list[str]:
    """The meanings of the words in the groups' labels."""
    used = {word.strip() for group in groups for word in re.split(r"[,()]", group.label)}
    return [f"**{word}**: {meaning}." for word, meaning in MEANINGS.items() if word in used]


def meanings_blocks(groups: Iterable[Group]) -> list[str]:
    """The list of `meanings` after its sentence; nothing where no word is used."""
    found = meanings(groups)
    return ["Parts of the models' names ([more](training.md)):", bullets(found)] if found else []


def training_blocks(groups: Sequence[Group]) -> list[str]:
    """What training alone was told of which models, as a list after its sentence; or nothing."""
    near = [group for group in groups if group.curriculum == "distance"]
    if not near:
        return []
    models = [f"{g.label} on {environment(g.first.env_id, g.first.env_kwargs)}" for g in near]
    told = (
        f"{listed(list(dict.fromkeys(models)))}: trained with the curriculum `distance`, in which "
        "first glimpses are near the target at first and move away with success. Training uses "
        "the target's location; tests do not."
    )
    return ["How models were made and trained:", bullets([told])]
