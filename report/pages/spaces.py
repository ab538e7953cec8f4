"""The table of a live space: its keys, their ranges, and what each means."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from report.markdown import table

MEANINGS: dict[str, str] = {
    "look: continuous": "the next glimpse's location (x, y), from the top left to the bottom right",
    "look: relative": "the gaze's move (x, y), shortened to length 1, times `max_move`",
    "look: tiles": "the tile to look at, row by row",
    "look: moves": "how the heads move: input, then memory (see below)",
    "look: absolute": "the cells to which the heads jump: input, then memory",
    "look: text, moves": "one statement later, none, or one earlier",
    "look: text, absolute": "the statement to read, counted back from the question",
    "look: discrete": "the address of the cell to look at",
    "look: bits": "the address of the cell to look at, lowest bit first",
    "answer": "the answer",
    "answer: may pass": "the answer or the symbol to output, 0 for none",
    "act": "the act in the world (see below)",
    "stop": "1 ends the episode with this answer",
    "stop: alone": "1 ends the episode where the gaze is now",
    "write": "what to write, 0 keeps what is there",
    "glimpse": "what the last look showed",
    "location": "where the glimpse was taken, (x, y)",
    "location: address": "the address of what is seen, lowest bit first",
    "priority": "the priority of the symbol under the input head",
    "shown": "the pair that the next look stores",
    "query": "what is asked for",
    "question": "the class that is asked for, one-hot",
    "question: text": "the words of the question, 0 after the last",
    "glimpse: text": "the words of the statement in view, 0 after the last",
    "context": "a coarse view of the whole scene, with the first glimpse; zeros later",
    "remaining": "glimpses left / budget",
    "last_action": "the action just taken",
    "scene": "everything that is hidden; of a picture (C, H, W)",
}
"""What the keys of all environments' actions and observations mean (a look: by its kind)."""


def space_table(
    space: spaces.Dict,
    arguments: Mapping[str, Any],
    answers: Sequence[str],
    question: str,
    *,
    optional: bool = False,
) -> str:
    """Return the table of an action's or an observation's keys.

    Args:
        space: of a single row.
        arguments: the task's arguments, by name; its `look` says what kind of look it is.
        answers: the names of the answers 0, 1, ...; empty where they have none.
        question: what is asked, in words; "" where there is no one question.
        optional: whether the answer 0 says nothing.

    Raises:
        LookupError: a key whose meaning `MEANINGS` does not say.
    """
    rows = []
    for key, leaf in space.spaces.items():
        meaning = _meaning(key, arguments)
        if key == "answer" and optional:
            meaning = MEANINGS["answer: may pass"]
        if key == "stop" and "answer" not in space.spaces:
            meaning = MEANINGS["stop: alone"]
        if key == "answer" and answers:
            meaning = f"{question} {', '.join(_numbered(answers))}".strip()
        kind = f"`{type(leaf).__name__}`, {np.dtype(leaf.dtype).name}"
        rows.append((f"`{key}`", kind, f"`{leaf.shape}`", _range(leaf), meaning))
    return table(("key", "space", "shape", "range", "meaning"), rows)


def _meaning(key: str, arguments: Mapping[str, Any]) -> str:
    text = "text" in arguments
    name = f"{key}: text" if text and key in ("glimpse", "question") else key
    if key == "look" and "look" in arguments:
        name = f"look: {'text, ' if text else ''}{arguments['look']}"
    if key == "location" and "scene_size" not in arguments:
        name = "location: address"
    if name not in MEANINGS:
        raise LookupError(
            f"what does the key {name!r} mean? Say so in report/pages/spaces.py, in MEANINGS"
        )
    return MEANINGS[name]


def _numbered(names: Sequence[str]) -> list[str]:
    """The names with their numbers, unless they are their own."""
    numbers = [str(number) for number in range(len(names))]
    if list(names) == numbers:
        return numbers
    return [f"{number} {name or 'for none'}" for number, name in zip(numbers, names, strict=True)]


def _range(leaf: spaces.Space) -> str:
    """The least and the greatest value of an element; of parts that differ, of each."""
    if isinstance(leaf, spaces.Box):
        return f"{leaf.low.min():g} to {leaf.high.max():g}"
    if isinstance(leaf, spaces.Discrete):
        return f"{leaf.start} to {leaf.start + leaf.n - 1}"
    if isinstance(leaf, spaces.MultiDiscrete):
        ends = zip(leaf.start.ravel(), leaf.nvec.ravel(), strict=True)
        return ", ".join(dict.fromkeys(f"{start} to {start + n - 1}" for start, n in ends))
    if isinstance(leaf, spaces.MultiBinary):
        return "0 to 1"
    raise LookupError(f"what is the range of {leaf}? Say so in report/pages/spaces.py, in _range")
