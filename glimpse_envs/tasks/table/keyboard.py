"""Keys for the actions of the table tasks."""

from itertools import combinations
from string import ascii_lowercase
from typing import Any

import numpy as np

from glimpse_envs.episodes.keyboard import SPACE, Held, combine_keys

MOST_BITS = 10
MOST_VALUES = 20


def table_keys(
    addresses: int | None,
    bits: int | None,
    values: int,
    first_answer: int,
    idle_address: int = 0,
) -> dict[Held, dict[str, Any]]:
    """Return the action of each combination of keys.

    Letters choose the address: its number, with a = 0, or, held together, those of its bits that
    are 1, with a the lowest. Digits give the answer, 0 is 10; with space 10 more. Space alone looks
    at address 0, or `idle_address`.

    Args:
        addresses: number of addresses, for looks that are a number; None for bits.
        bits: number of bits, for looks that are bits; None for a number.
        values: number of values that can be answered, shown as 1 ... `values`.
        first_answer: the answer that stands for value 1.
        idle_address: the address, a number, that is looked at where none is chosen.

    Raises:
        ValueError: there are more values, addresses or bits than keys.
    """
    for count, most, what in (
        (values, MOST_VALUES, "values"),
        (addresses or 0, len(ascii_lowercase), "addresses"),
        (bits or 0, MOST_BITS, "bits of an address"),
    ):
        if count > most:
            raise ValueError(f"{count} {what} are more than the {most} that have keys")
    idle: dict[str, Any] = {"answer": 0}
    choices: dict[Held, dict[str, Any]] = {}
    if addresses is not None:
        idle["look"] = idle_address
        choices |= {(ord(ascii_lowercase[a]),): {"look": a} for a in range(addresses)}
    if bits is not None:
        idle["look"] = np.zeros(bits, np.int8)
        for size in range(1, bits + 1):
            for ones in combinations(range(bits), size):
                look = np.isin(np.arange(bits), ones).astype(np.int8)
                choices[tuple(ord(ascii_lowercase[bit]) for bit in ones)] = {"look": look}
    for value in range(1, values + 1):
        digit = ord(str(value % 10))
        keys = (digit,) if value <= 10 else (SPACE, digit)
        choices[keys] = {"answer": value - 1 + first_answer}
    return combine_keys(idle, [choices])
