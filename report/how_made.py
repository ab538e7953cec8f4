"""How models were made and trained, in words: their labels, and what training alone was told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from report.groups import Group
from report.markdown import bullets, environment, listed

MEANINGS = {
    "looks at cells": "each look goes to one of the cells that the present glimpse shows",
    "one by one": "looks from afar choose among single cells, not blocks of two by two",
    "refined": "the likeliest look, which tests take, goes to the mean place of the likeliest cell "
    "and those around it",
    "inhibition of return": "the head of looks is shown where the episode's glimpses have been",
    "wide inhibition of return": "the same, and from afar, where cells are wide, a visit "
    "reaches farther",
    "context": "a coarse view of the whole scene is shown with the first glimpse",
    "classes from the glimpse": "the digit that a word names is read from the present glimpse, not "
    "from memory",
    "blind memory": "memory sees which parts of the scene are lit, but not which digit was seen",
    "answer by reward": "answers, or acts, are learned from the reward alone, not from a label",
    "ICM": "a bonus is paid for what a learned model of the world did not predict",
    "RND": "a bonus is paid for what was rarely seen, by a random network's outputs",
    "recall": "the codes of the latest glimpses are kept, and read by soft attention",
    "direct access to symbols": "the heads may repeat the symbol that is read",
    "direct access": "the heads may repeat what is read, as a symbol or an address",
}
"""Words of a model's name -> what they mean, in the order of the lists."""


def meanings(groups: Iterable[Group]) -> list[str]:
    """Those of the words in the groups' labels."""
    used = {word.strip() for group in groups for word in re.split(r"[,()]", group.label)}
    return [f"**{word}**: {meaning}." for word, meaning in MEANINGS.items() if word in used]


def meanings_blocks(groups: Iterable[Group]) -> list[str]:
    """The list of `meanings` after its sentence; nothing where no word is used."""
    found = meanings(groups)
    return ["Words of models' names ([more](training.md)):", bullets(found)] if found else []


def training_blocks(groups: Sequence[Group]) -> list[str]:
    """What training alone was told of which models, as a list after its sentence; or nothing."""
    near = [group for group in groups if group.curriculum == "distance"]
    if not near:
        return []
    models = [f"{g.label} on {environment(g.first.env_id, g.first.env_kwargs)}" for g in near]
    told = (
        f"{listed(list(dict.fromkeys(models)))}: in training, first glimpses are near the target "
        "at first and move away with success (curriculum `distance`), so that training alone knows "
        "the target's place; tests begin anywhere."
    )
    return ["How models were made and trained:", bullets([told])]
