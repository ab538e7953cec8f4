"""Keys of a keyboard for actions, in the form that `gymnasium.utils.play` takes."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

Held = tuple[int, ...]
"""Keys held together, as key codes of SDL and pygame; the codes of letters and digits are their
code points."""
Parts = Mapping[str, Any]
"""Component -> its choice, for a single row."""

SPACE = ord(" ")
RIGHT, LEFT, DOWN, UP = range(0x4000004F, 0x40000053)
SHIFT = 0x400000E1

SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""Keys of symbols; that of symbol n has index n."""


def key_of_symbol(number: int) -> int:
    """The code of the key for a symbol that is shown as `number`.

    Raises:
        ValueError: there is no key for it.
    """
    if number >= len(SYMBOLS):
        raise ValueError(
            f"symbol {number} has no key: there are {len(SYMBOLS)}, the digits and letters; make "
            "the environment with fewer symbols, or give play its keys_to_action"
        )
    return ord(SYMBOLS[number])


def combine_keys(idle: Parts, groups: Sequence[Mapping[Held, Parts]]) -> dict[Held, dict[str, Any]]:
    """Return the action of each combination of at most one entry of each of `groups`.

    Args:
        idle: the action without a choice, which the space bar gives.
        groups: keys -> the parts of the action that they change.
    """
    actions: dict[Held, dict[str, Any]] = {(SPACE,): dict(idle)}
    for chosen in product(*([((), {}), *group.items()] for group in groups)):
        held = tuple(sorted({key for keys, _ in chosen for key in keys}))
        if held:
            action = dict(idle)
            for _, parts in chosen:
                action |= parts
            actions[held] = action
    return actions
