"""The list of environments, used by tests, docs, benchmarks and the command line."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym

from glimpse_envs.core.classes import parse_class_name

_CLASSIFICATION = "glimpse_envs.tasks.pictures.classification:ImageClassification"
_SEARCH = "glimpse_envs.tasks.pictures.search:Search"
_SEQUENCE = "glimpse_envs.tasks.pictures.sequence:DigitSequence"
_DESCRIBE = "glimpse_envs.tasks.pictures.describe:DescribeScene"
_CATCH = "glimpse_envs.tasks.worlds.catch:Catch"
_TAPE = "glimpse_envs.tasks.tape.machine:TapeMachine"
_ASSOCIATIVE_RECALL = "glimpse_envs.tasks.table.associative_recall:AssociativeRecall"
_DICTIONARY_LOOKUP = "glimpse_envs.tasks.table.dictionary_lookup:DictionaryLookup"
_POINTER_CHASE = "glimpse_envs.tasks.table.pointer_chase:PointerChase"
_READ = "glimpse_envs.tasks.text.reading:ReadText"


@dataclass(frozen=True)
class Row:
    """One environment.

    Args:
        id: its name in Gymnasium's registry.
        task: the task's class, "module:Class".
        kwargs: its flat scalar arguments.
        summary: what the agent has to do, in a sentence, and where the task comes from.
    """

    id: str
    task: str
    kwargs: dict[str, Any]
    summary: str = ""

    @property
    def family(self) -> str:
        """Family of the task, by what is hidden: pictures, tape, table, text or worlds."""
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


def _pair(asked: str, clutter: int, source: str) -> dict[str, Any]:
    # The widest window, of 192 pixels, shows the scene from any place, from a corner all but four
    # rows and columns. With one of 96 an agent missed a digit in one scene of six, mostly where the
    # two are far apart.
    kwargs = _cluttered_large(source) | dict(clutter=clutter, budget=4, scales=5)
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


def _with_glyphs(
    mnist: str, glyphs: str, task: str, kwargs_of: Callable[[str], dict[str, Any]], summary: str
) -> tuple[Row, Row]:
    """Return the rows of an environment with MNIST's digits and of its twin with glyphs."""
    twin = f"{mnist} with built-in glyphs in place of MNIST's digits: it needs no data files."
    return (
        Row(f"Glimpse/{mnist}-v0", task, kwargs_of("mnist"), summary),
        Row(f"Glimpse/{glyphs}-v0", task, kwargs_of("glyphs"), twin),
    )


SUITE: dict[str, Row] = {
    row.id: row
    for row in (
        *_with_glyphs(
            "CenteredMNIST", "CenteredGlyphs", _CLASSIFICATION, _centred,
            "Classify a digit that fills the scene, from glimpses of a small part of it (RAM, Mnih "
            "et al. 2014).",
        ),
        *_with_glyphs(
            "TranslatedMNIST", "TranslatedGlyphs", _CLASSIFICATION, _translated,
            "Find and classify a digit somewhere in an empty scene (RAM, Mnih et al. 2014).",
        ),
        *_with_glyphs(
            "ClutteredMNIST", "ClutteredGlyphs", _CLASSIFICATION, _cluttered,
            "Find and classify a digit among pieces of other digits (RAM, Mnih et al. 2014).",
        ),
        *_with_glyphs(
            "ClutteredMNISTLarge", "ClutteredGlyphsLarge", _CLASSIFICATION, _cluttered_large,
            "Find and classify a digit in a larger scene, among more pieces of other digits (RAM, "
            "Mnih et al. 2014).",
        ),
        Row(
            "Glimpse/FashionMNIST-v0", _CLASSIFICATION, _centred("fashion_mnist", 12),
            "Classify a garment that fills the scene, from glimpses of a small part of it.",
        ),
        Row(
            "Glimpse/CIFAR10-v0", _CLASSIFICATION, _CIFAR,
            "Classify what a small colour photograph shows, from glimpses of a part of it.",
        ),
        Row(
            "Glimpse/CircleSquare-v0", _CLASSIFICATION, _CIRCLE_SQUARE,
            "Say at every step whether a circle or a square is hidden; the gaze moves by short "
            "distances, and the background's brightness leads to the shape (ap_gym; APPLE, ICLR "
            "2026).",
        ),
        *_with_glyphs(
            "DigitPair", "DigitPairGlyphs", _CLASSIFICATION, partial(_pair, "pair", 8),
            "Name both of two digits, in any order, in a scene with pieces of other digits (DRAM, "
            "Ba et al. 2015).",
        ),
        *_with_glyphs(
            "DigitSum", "DigitSumGlyphs", _CLASSIFICATION, partial(_pair, "sum", 0),
            "Find two digits in an empty scene, and add them (DRAM, Ba et al. 2015).",
        ),
        *_with_glyphs(
            "MovingDigit", "MovingDigitGlyphs", _CLASSIFICATION, _moving,
            "Follow a digit that drifts and bounces among drifting pieces of other digits, and "
            "name it at every step.",
        ),
        *_with_glyphs(
            "Search", "SearchGlyphs", _SEARCH, _search,
            "Find the digit that the question names, among other digits in a large scene, and stop "
            "while looking at it.",
        ),
        *_with_glyphs(
            "DigitSequence", "DigitSequenceGlyphs", _SEQUENCE, _sequence,
            "Read a row of one to five digits from left to right, and say where it ends (DRAM, Ba "
            "et al. 2015, with digits in place of street numbers).",
        ),
        *_with_glyphs(
            "DescribeScene", "DescribeSceneGlyphs", _DESCRIBE, _describe,
            "Describe one or two digits and where they lie in a sentence, word by word; the test "
            "asks for combinations that training leaves out (Mansimov et al. 2016).",
        ),
        *_with_glyphs(
            "MegapixelMNIST", "MegapixelGlyphs", _CLASSIFICATION, _megapixel,
            "Name the digit that occurs three times among five, in a scene of more than two "
            "million pixels with patterns of noise (Katharopoulos and Fleuret 2019).",
        ),
        Row(
            "Glimpse/Catch-v0", _CATCH, dict(scene_size=24, paddle=2, glimpse_size=6, scales=3),
            "Move a paddle under a falling ball, while choosing which part of the screen to see "
            "(RAM, Mnih et al. 2014).",
        ),
        Row(
            "Glimpse/Copy-v0", _TAPE, _tape("copy"),
            "Put out the symbols of a tape, read one cell at a time "
            "(RL-NTM, Zaremba and Sutskever 2015).",
        ),
        Row(
            "Glimpse/Reverse-v0", _TAPE, _tape("reverse"),
            "Put out the symbols of a tape, the last first "
            "(RL-NTM, Zaremba and Sutskever 2015).",
        ),
        Row(
            "Glimpse/RepeatCopy-v0", _TAPE, _tape("repeat_copy", repeats=3),
            "Put out the symbols of a tape as many times as its first cell says "
            "(RL-NTM, Zaremba and Sutskever 2015).",
        ),
        Row(
            "Glimpse/DuplicatedInput-v0", _TAPE, _tape("duplicated_input", duplicates=3),
            "Put out each symbol of a tape once, where every one stands three times "
            "(RL-NTM, Zaremba and Sutskever 2015).",
        ),
        Row(
            "Glimpse/ForwardReverse-v0", _TAPE, _tape("forward_reverse"),
            "Put out the symbols of a tape, the last first, with an input head that cannot move "
            "back and a second tape to write on (RL-NTM, Zaremba and Sutskever 2015).",
        ),
        Row(
            "Glimpse/Addition-v0", _TAPE, _tape("addition", symbols=10),
            "Add two numbers whose digits alternate on a tape, lowest digit first (after "
            "Zaremba et al. 2016).",
        ),
        Row(
            "Glimpse/PrioritySort-v0", _TAPE, _tape("priority_sort"),
            "Put out the symbols of a tape by their priorities, highest first (after neural Turing "
            "machines, Graves et al. 2014).",
        ),
        Row(
            "Glimpse/AssociativeRecall-v0", _ASSOCIATIVE_RECALL, _RECALL,
            "Store pairs of keys and values in cells of your choice; then find the value of one "
            "key.",
        ),
        Row(
            "Glimpse/DictionaryLookup-v0", _DICTIONARY_LOOKUP, _LOOKUP,
            "Answer with the value of the entry whose key is most like the query.",
        ),
        Row(
            "Glimpse/PointerChase-v0", _POINTER_CHASE, _CHASE,
            "Follow a number of pointers from a given cell, and answer with the value in the last "
            "one.",
        ),
        Row(
            "Glimpse/Stories-v0", _READ, dict(text="stories"),
            "Answer where somebody is, after reading statements of a story one at a time (after "
            "bAbI, Weston et al. 2015).",
        ),
        Row(
            "Glimpse/Babi-v0", _READ, dict(text="babi"),
            "Answer a question of bAbI, after reading statements of its text one at a time "
            "(Weston et al. 2015).",
        ),
    )
}  # fmt: skip

ATARI = "Glimpse/Atari-v0"
"""Atari games through a fovea; not in the suite, whose environments share one episode loop."""

MINIGRID = "Glimpse/MiniGrid-v0"
"""MiniGrid's worlds through a glimpse; not in the suite either."""


def register(env_id: str, *, task: str, **kwargs: Any) -> None:
    """Register an environment with Gymnasium, single and batched.

    Another package registers its environments in the module that their ids name, as in
    `package:Namespace/Name-v0`; worker processes import it by that name.

    Args:
        env_id: Gymnasium's name, such as "Mine/MyTask-v0".
        task: the task's class, a `glimpse_envs.task.Task`, as "module:Class".
        **kwargs: its arguments, flat scalars, so that specs can be saved as JSON.

    Raises:
        ValueError: `task` is not written "module:Class", or the id is taken by an environment of
            this package.
    """
    parse_class_name("task", task)
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
    """Register every environment of the suite, and `ATARI` and `MINIGRID`."""
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
