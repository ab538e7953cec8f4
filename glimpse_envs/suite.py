"""The one list of environments, which tests, docs, benchmarks and the command line walk."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

_CLASSIFICATION = "glimpse_envs.tasks.pictures.classification:ImageClassification"
_TAPE = "glimpse_envs.tasks.tape.machine:TapeMachine"
_ASSOCIATIVE_RECALL = "glimpse_envs.tasks.table.associative_recall:AssociativeRecall"
_DICTIONARY_LOOKUP = "glimpse_envs.tasks.table.dictionary_lookup:DictionaryLookup"
_POINTER_CHASE = "glimpse_envs.tasks.table.pointer_chase:PointerChase"


@dataclass(frozen=True)
class Row:
    """One environment.

    Args:
        id: Gymnasium's name of it.
        task: the task's class, "module:Class".
        kwargs: its flat scalar arguments.
        chance: the mean return of answering blindly.
        ceiling: the best mean return.
    """

    id: str
    task: str
    kwargs: dict[str, Any]
    chance: float
    ceiling: float


def _centred(source: str, budget: int = 6) -> dict[str, Any]:
    return dict(source=source, scene_size=28, budget=budget, glimpse_size=8, scales=1)


def _translated(source: str) -> dict[str, Any]:
    return dict(source=source, scene_size=60, budget=8, glimpse_size=12, scales=3)


def _cluttered(source: str) -> dict[str, Any]:
    return _translated(source) | dict(clutter=4, clutter_size=8)


def _cluttered_large(source: str) -> dict[str, Any]:
    return _cluttered(source) | dict(scene_size=100, clutter=8, scales=4)


def _tape(program: str, symbols: int = 30, **kwargs: Any) -> dict[str, Any]:
    return dict(program=program, length=10, symbols=symbols, slack=2.0, **kwargs)


_CIFAR = dict(source="cifar10", scene_size=32, budget=8, glimpse_size=8, scales=2)
_CIRCLE_SQUARE = dict(
    source="circle_square",
    scene_size=28,
    budget=16,
    glimpse_size=5,
    scales=1,
    inside=True,
    look="relative",
    max_move=0.2,
    reward="dense",
)

_RECALL = dict(keys=20, values=10, cells=8, length=6)
_LOOKUP = dict(key_size=8, noise=0.3, values=10, cells=16, length=8)
_CHASE = dict(cells=1000, values=16, length=5)

SUITE: dict[str, Row] = {
    row.id: row
    for row in (
        Row("Glimpse/CenteredMNIST-v0", _CLASSIFICATION, _centred("mnist"), 0.1, 1.0),
        Row("Glimpse/CenteredGlyphs-v0", _CLASSIFICATION, _centred("glyphs"), 0.1, 1.0),
        Row("Glimpse/TranslatedMNIST-v0", _CLASSIFICATION, _translated("mnist"), 0.1, 1.0),
        Row("Glimpse/TranslatedGlyphs-v0", _CLASSIFICATION, _translated("glyphs"), 0.1, 1.0),
        Row("Glimpse/ClutteredMNIST-v0", _CLASSIFICATION, _cluttered("mnist"), 0.1, 1.0),
        Row("Glimpse/ClutteredGlyphs-v0", _CLASSIFICATION, _cluttered("glyphs"), 0.1, 1.0),
        Row("Glimpse/ClutteredMNISTLarge-v0", _CLASSIFICATION, _cluttered_large("mnist"), 0.1, 1.0),
        Row(
            "Glimpse/ClutteredGlyphsLarge-v0", _CLASSIFICATION, _cluttered_large("glyphs"), 0.1, 1.0
        ),
        Row("Glimpse/FashionMNIST-v0", _CLASSIFICATION, _centred("fashion_mnist", 12), 0.1, 1.0),
        Row("Glimpse/CIFAR10-v0", _CLASSIFICATION, _CIFAR, 0.1, 1.0),
        Row("Glimpse/CircleSquare-v0", _CLASSIFICATION, _CIRCLE_SQUARE, 0.5, 1.0),
        # Of tapes, on which the best blind agent puts out a symbol at every step: each further one
        # is reached and right with probability 1 / S; sums end with a carry, repetitions repeat.
        Row("Glimpse/Copy-v0", _TAPE, _tape("copy"), 0.00998, 1.0),
        Row("Glimpse/Reverse-v0", _TAPE, _tape("reverse"), 0.00998, 1.0),
        Row("Glimpse/RepeatCopy-v0", _TAPE, _tape("repeat_copy", repeats=3), 0.00617, 1.0),
        Row(
            "Glimpse/DuplicatedInput-v0",
            _TAPE,
            _tape("duplicated_input", duplicates=3),
            0.00998,
            1.0,
        ),
        Row("Glimpse/ForwardReverse-v0", _TAPE, _tape("forward_reverse"), 0.00998, 1.0),
        Row("Glimpse/Addition-v0", _TAPE, _tape("addition", symbols=10), 0.0272, 1.0),
        Row("Glimpse/PrioritySort-v0", _TAPE, _tape("priority_sort"), 0.00998, 1.0),
        # Of tables, which a blind agent answers with any one of V values: 1 / V.
        Row("Glimpse/AssociativeRecall-v0", _ASSOCIATIVE_RECALL, _RECALL, 0.1, 1.0),
        Row("Glimpse/DictionaryLookup-v0", _DICTIONARY_LOOKUP, _LOOKUP, 0.1, 1.0),
        Row("Glimpse/PointerChase-v0", _POINTER_CHASE, _CHASE, 1 / 16, 1.0),
    )
}


def register_all() -> None:
    """Register every environment of the suite with Gymnasium."""
    for row in SUITE.values():
        gym.register(
            row.id,
            entry_point="glimpse_envs.single:GlimpseEnv",
            vector_entry_point="glimpse_envs.env:GlimpseVectorEnv",
            kwargs={"task": row.task, **row.kwargs},
        )
