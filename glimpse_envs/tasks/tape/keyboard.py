"""Keys for the actions of the tape machine."""

from itertools import product
from typing import Any

import numpy as np

from glimpse_envs.episodes.keyboard import (
    DOWN,
    LEFT,
    RIGHT,
    SHIFT,
    UP,
    Held,
    combine_keys,
    key_of_symbol,
)
from glimpse_envs.tasks.tape.layout import TapeLayout


def tape_keys(layout: TapeLayout, least: int) -> dict[Held, dict[str, Any]]:
    """Return the action of each combination of keys; symbol 1 is shown as the number `least`.

    The left and right arrows move the input head, down and up the memory head to the left and to
    the right; the key of a symbol puts it out, and with shift writes it.

    Raises:
        ValueError: heads jump, all is seen at once, or there are more symbols than keys.
    """
    if layout.full or layout.rules.absolute:
        raise ValueError("there are keys for view='glimpse' with look='moves' alone")
    still = 0 if layout.rules.forward else 1
    moves: dict[Held, int] = {(): still, (RIGHT,): still + 1}
    if not layout.rules.forward:
        moves[(LEFT,)] = 0
    symbols = range(1, layout.num_symbols)
    keys = {symbol: key_of_symbol(symbol - 1 + least) for symbol in symbols}
    choices: dict[Held, dict[str, int]] = {(keys[s],): {"answer": s} for s in symbols}
    idle: dict[str, Any] = {"look": still, "answer": 0}
    if layout.tapes == 1:
        return combine_keys(idle, [{k: {"look": move} for k, move in moves.items() if k}, choices])
    idle |= {"look": np.array([still, 1]), "write": 0}
    memory: dict[Held, int] = {(): 1, (DOWN,): 0, (UP,): 2}
    looks = {
        (*first, *second): {"look": np.array([moves[first], memory[second]])}
        for first, second in product(moves, memory)
        if first or second
    }
    # Shift is pressed before the symbol's key; alone it chooses nothing.
    choices[(SHIFT,)] = {}
    choices |= {(SHIFT, keys[s]): {"write": s} for s in symbols}
    return combine_keys(idle, [looks, choices])
