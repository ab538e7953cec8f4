"""The list of environments, used by tests, docs, benchmarks and the command line."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

_CLASSIFICATION = "glimpse_envs.tasks.pictures.classification:ImageClassification"
_SEARCH = "glimpse_envs.tasks.pictures.search:Search"
_SEQUENCE = "glimpse_envs.tasks.pictures.sequence:DigitSequence"
_DESCRIBE = "glimpse_envs.tasks.pictures.describe:DescribeScene"
_CATCH = "glimpse_envs.tasks.worlds.catch:Catch"
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
    """

    id: str
    task: str
    kwargs: dict[str, Any]

    @property
    def family(self) -> str:
        """The room of the task, which says what is hidden: pictures, tape, table or worlds."""
        return self.task.split(".")[2]


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
    scene="circle_square",
    scene_size=28,
    budget=16,
    glimpse_size=5,
    scales=1,
    inside=True,
    look="relative",
    max_move=0.2,
    reward="dense",
)


def _moving(source: str) -> dict[str, Any]:
    return dict(
        scene="moving_images",
        source=source,
        scene_size=100,
        clutter=8,
        clutter_size=8,
        speed=4.0,
        budget=12,
        glimpse_size=12,
        scales=4,  # as RAM has it for scenes of 100 pixels
        reward="dense",
    )


def _pair(source: str, asked: str, clutter: int, budget: int) -> dict[str, Any]:
    # The widest window, of 192 pixels, shows the scene from any place, from a corner all but four
    # rows and columns. With one of 96 an agent missed a digit in one scene of six, mostly where the
    # two are far apart.
    kwargs = _cluttered_large(source) | dict(clutter=clutter, budget=budget, scales=5)
    return dict(scene="image_pairs", asked=asked) | kwargs


def _search(source: str) -> dict[str, Any]:
    return dict(source=source, scene_size=240, images=12, glimpse_size=12, scales=5)


def _sequence(source: str) -> dict[str, Any]:
    return dict(source=source, scene_size=54, scene_width=110, length=5, looks_per_answer=3)


def _describe(source: str) -> dict[str, Any]:
    return dict(source=source, scene_size=60, glimpse_size=12, scales=3)


def _megapixel(source: str) -> dict[str, Any]:
    kwargs = dict(source=source, scene_size=1500, budget=16, glimpse_size=12, scales=7)
    return dict(scene="image_majority", images=5, majority=3, strokes=50, noise="under") | kwargs


_RECALL = dict(keys=20, values=10, cells=8, length=6)
_LOOKUP = dict(key_size=8, noise=0.3, values=10, cells=16, length=8)
_CHASE = dict(cells=1000, values=16, length=5)

SUITE: dict[str, Row] = {
    row.id: row
    for row in (
        Row("Glimpse/CenteredMNIST-v0", _CLASSIFICATION, _centred("mnist")),
        Row("Glimpse/CenteredGlyphs-v0", _CLASSIFICATION, _centred("glyphs")),
        Row("Glimpse/TranslatedMNIST-v0", _CLASSIFICATION, _translated("mnist")),
        Row("Glimpse/TranslatedGlyphs-v0", _CLASSIFICATION, _translated("glyphs")),
        Row("Glimpse/ClutteredMNIST-v0", _CLASSIFICATION, _cluttered("mnist")),
        Row("Glimpse/ClutteredGlyphs-v0", _CLASSIFICATION, _cluttered("glyphs")),
        Row("Glimpse/ClutteredMNISTLarge-v0", _CLASSIFICATION, _cluttered_large("mnist")),
        Row("Glimpse/ClutteredGlyphsLarge-v0", _CLASSIFICATION, _cluttered_large("glyphs")),
        Row("Glimpse/FashionMNIST-v0", _CLASSIFICATION, _centred("fashion_mnist", 12)),
        Row("Glimpse/CIFAR10-v0", _CLASSIFICATION, _CIFAR),
        Row("Glimpse/CircleSquare-v0", _CLASSIFICATION, _CIRCLE_SQUARE),
        Row("Glimpse/DigitPair-v0", _CLASSIFICATION, _pair("mnist", "pair", 8, 4)),
        Row("Glimpse/DigitPairGlyphs-v0", _CLASSIFICATION, _pair("glyphs", "pair", 8, 4)),
        Row("Glimpse/DigitSum-v0", _CLASSIFICATION, _pair("mnist", "sum", 0, 4)),
        Row("Glimpse/DigitSumGlyphs-v0", _CLASSIFICATION, _pair("glyphs", "sum", 0, 4)),
        Row("Glimpse/MovingDigit-v0", _CLASSIFICATION, _moving("mnist")),
        Row("Glimpse/MovingDigitGlyphs-v0", _CLASSIFICATION, _moving("glyphs")),
        Row("Glimpse/Search-v0", _SEARCH, _search("mnist")),
        Row("Glimpse/SearchGlyphs-v0", _SEARCH, _search("glyphs")),
        Row("Glimpse/DigitSequence-v0", _SEQUENCE, _sequence("mnist")),
        Row("Glimpse/DigitSequenceGlyphs-v0", _SEQUENCE, _sequence("glyphs")),
        Row("Glimpse/DescribeScene-v0", _DESCRIBE, _describe("mnist")),
        Row("Glimpse/DescribeSceneGlyphs-v0", _DESCRIBE, _describe("glyphs")),
        Row("Glimpse/MegapixelMNIST-v0", _CLASSIFICATION, _megapixel("mnist")),
        Row("Glimpse/MegapixelGlyphs-v0", _CLASSIFICATION, _megapixel("glyphs")),
        Row("Glimpse/Catch-v0", _CATCH, dict(scene_size=24, paddle=2, glimpse_size=6, scales=3)),
        Row("Glimpse/Copy-v0", _TAPE, _tape("copy")),
        Row("Glimpse/Reverse-v0", _TAPE, _tape("reverse")),
        Row("Glimpse/RepeatCopy-v0", _TAPE, _tape("repeat_copy", repeats=3)),
        Row("Glimpse/DuplicatedInput-v0", _TAPE, _tape("duplicated_input", duplicates=3)),
        Row("Glimpse/ForwardReverse-v0", _TAPE, _tape("forward_reverse")),
        Row("Glimpse/Addition-v0", _TAPE, _tape("addition", symbols=10)),
        Row("Glimpse/PrioritySort-v0", _TAPE, _tape("priority_sort")),
        Row("Glimpse/AssociativeRecall-v0", _ASSOCIATIVE_RECALL, _RECALL),
        Row("Glimpse/DictionaryLookup-v0", _DICTIONARY_LOOKUP, _LOOKUP),
        Row("Glimpse/PointerChase-v0", _POINTER_CHASE, _CHASE),
    )
}

ATARI = "Glimpse/Atari-v0"
"""Atari games through a fovea; not of the suite, whose environments share one episode loop."""

MINIGRID = "Glimpse/MiniGrid-v0"
"""MiniGrid's worlds through a glimpse; not of the suite either."""


def register(env_id: str, *, task: str, **kwargs: Any) -> None:
    """Register an environment with Gymnasium, single and batched.

    Another package does so in the module that its ids name, `package:Namespace/Name-v0`; worker
    processes import it by that name.

    Args:
        env_id: Gymnasium's name, such as "Mine/MyTask-v0".
        task: the task's class, a `glimpse_envs.task.Task`, as "module:Class".
        **kwargs: its arguments, flat scalars, so that specs can be written down.

    Raises:
        ValueError: the id stands for another environment of this package.
    """
    taken = gym.registry.get(env_id) if env_id in (*SUITE, ATARI, MINIGRID) else None
    if taken is not None and taken.kwargs != {"task": task, **kwargs}:
        raise ValueError(
            f"the id {env_id!r} is taken: it stands for an environment of glimpse_envs; give "
            "another, such as 'Mine/MyTask-v0'"
        )
    gym.register(
        env_id,
        entry_point="glimpse_envs.single:GlimpseEnv",
        vector_entry_point="glimpse_envs.env:GlimpseVectorEnv",
        kwargs={"task": task, **kwargs},
    )


def register_all() -> None:
    """Register every environment of the suite, and `ATARI` and `MINIGRID`, worlds of others."""
    for row in SUITE.values():
        register(row.id, task=row.task, **row.kwargs)
    gym.register(
        ATARI,
        entry_point="glimpse_envs.wrappers.atari:make_atari",
        vector_entry_point="glimpse_envs.wrappers.atari:make_atari_vector",
        kwargs={"game": "Pong", "fovea": 50},
    )
    gym.register(
        MINIGRID,
        entry_point="glimpse_envs.wrappers.minigrid:make_minigrid",
        vector_entry_point="glimpse_envs.wrappers.minigrid:make_minigrid_vector",
        kwargs={"world": "DoorKey-6x6"},
    )
