"""Dealing and reading tables: compiled loops over groups of rows and over rows.

`keys` are the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`;
every number is drawn from the scene's own words, for the purposes SCENE. Values are 1 ... V; 0
stands for a blank, which one-hots show at their index 0.
"""

import math

import numpy as np

from glimpse_envs.core.arrays import Float32s, Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import (
    SCENE,
    below,
    fill_keyed_words,
    keyed_block,
)


@kernel
def bits_of(numbers: Ints, b: int) -> Float32s:
    """Return the b bits of `numbers` (m,), least significant first, (m, b)."""
    bits = np.empty((len(numbers), b), np.float32)
    for i in range(len(numbers)):
        for j in range(b):
            bits[i, j] = np.float32((numbers[i] >> j) & 1)
    return bits


@kernel
def addresses_of(bits: Ints) -> Ints:
    """Return the addresses (m,) whose bits are `bits` (m, b), least significant first."""
    addresses = np.zeros(len(bits), np.int64)
    for i in range(len(bits)):
        for j in range(bits.shape[1]):
            addresses[i] |= bits[i, j] << j
    return addresses


@kernel
def deal_pairs(
    groups: Ints,
    keys: KeyArrays,
    sizes: tuple[int, int],
    tables: tuple[Ints, Ints, Ints],
) -> None:
    """Draw `pairs[group]` (L, 2), key and value, for `lengths[group]` pairs with different keys,
    then zeros; and `asked[group]`, the index of the pair asked for.

    Args:
        sizes: K and V.
        tables: `lengths` (num_groups,), `pairs` (num_groups, L, 2), `asked` (num_groups,).
    """
    (num_keys, num_values), (lengths, pairs, asked) = sizes, tables
    words = np.empty(1 + 2 * pairs.shape[1], np.uint32)
    pool = np.empty(num_keys, np.int64)
    for group in groups:
        fill_keyed_words(words, group, keys, SCENE)
        n = lengths[group]
        asked[group] = below(words[0], n)
        for k in range(num_keys):
            pool[k] = k + 1
        for i in range(pairs.shape[1]):
            if i >= n:
                pairs[group, i, 0] = pairs[group, i, 1] = 0
                continue
            other = i + below(words[1 + 2 * i], num_keys - i)
            pool[i], pool[other] = pool[other], pool[i]
            pairs[group, i, 0] = pool[i]
            pairs[group, i, 1] = 1 + below(words[2 + 2 * i], num_values)


@kernel
def show_recall(
    rows: Ints,
    copies: int,
    heads: Ints,
    taken: Ints,
    lengths: Ints,
    pairs: Ints,
    asked: Ints,
    memory: Ints,
    sizes: tuple[int, int],
) -> tuple[Float32s, Float32s, Float32s]:
    """Return one-hots of the cell under the head of each of `rows` (m,), of the pair to be stored
    next, (m, K + 1 + V + 1) each, and, when all are stored, of the key asked for, (m, K + 1).

    Args:
        copies: rows in a group.
        heads, taken: (num_envs,), the address in view and the number of glimpses so far: the first,
            and one for each pair stored or cell read since.
        lengths, asked: (num_groups,), the pairs and which of them is asked for.
        pairs: (num_groups, L, 2), keys and values.
        memory: (num_envs, N), the index of the pair in each cell; -1: none.
        sizes: K and V.
    """
    num_keys, num_values = sizes
    glimpse = np.zeros((len(rows), num_keys + num_values + 2), np.float32)
    shown, query = np.zeros_like(glimpse), np.zeros((len(rows), num_keys + 1), np.float32)
    for i in range(len(rows)):
        row = rows[i]
        group = row // copies
        head, count = heads[row], taken[row] - 1
        here = memory[row, head] if head < memory.shape[1] else -1
        key = value = next_key = next_value = asked_key = 0
        if here >= 0:
            key, value = pairs[group, here, 0], pairs[group, here, 1]
        if count < lengths[group]:
            next_key, next_value = pairs[group, count, 0], pairs[group, count, 1]
        else:
            asked_key = pairs[group, asked[group], 0]
        glimpse[i, key] = glimpse[i, num_keys + 1 + value] = 1.0
        shown[i, next_key] = shown[i, num_keys + 1 + next_value] = 1.0
        query[i, asked_key] = 1.0
    return glimpse, shown, query


@kernel
def _gaussian(first: np.uint32, second: np.uint32) -> float:
    """Return a standard normal number from two words (Box & Muller, 1958)."""
    radius = math.sqrt(-2.0 * math.log((float(first) + 0.5) / 4294967296.0))
    return radius * math.cos(2.0 * math.pi * float(second) / 4294967296.0)


@kernel
def deal_dictionary(
    groups: Ints, keys: KeyArrays, num_values: int, noise: float, tables: tuple
) -> None:
    """Draw the dictionaries of `groups` (m,).

    Args:
        num_values: V.
        noise: root mean square length of the noise added to the key asked for.
        tables: arrays with one row per group, the first given, the others filled: `lengths`
            (num_groups,), the entries n; `entries` (num_groups, N, D), keys of unit length, zeros
            from cell n on; `values` (num_groups, N), 1 ... V, 0 from cell n on; `queries`
            (num_groups, D), of unit length; `right` (num_groups,), the cell whose key has the
            greatest dot product with the query; `starts` (num_groups,), a uniform filled cell.
    """
    lengths, entries, values, queries, right, starts = tables
    cells, size = entries.shape[1], entries.shape[2]
    words = np.empty(2 + 2 * size + cells * (1 + 2 * size), np.uint32)
    vector = np.empty(size)
    for group in groups:
        n = lengths[group]
        needed = words[: 2 + 2 * size + n * (1 + 2 * size)]
        fill_keyed_words(needed, group, keys, SCENE)
        starts[group], asked = below(words[0], n), below(words[1], n)
        at = 2 + 2 * size
        for cell in range(cells):
            values[group, cell] = 0
            if cell >= n:
                for d in range(size):
                    entries[group, cell, d] = 0.0
                continue
            values[group, cell] = 1 + below(words[at], num_values)
            squares = 0.0
            for d in range(size):
                vector[d] = _gaussian(words[at + 1 + 2 * d], words[at + 2 + 2 * d])
                squares += vector[d] * vector[d]
            for d in range(size):
                entries[group, cell, d] = vector[d] / math.sqrt(squares)
            at += 1 + 2 * size
        squares = 0.0
        for d in range(size):
            added = noise / math.sqrt(size) * _gaussian(words[2 + 2 * d], words[3 + 2 * d])
            vector[d] = entries[group, asked, d] + added
            squares += vector[d] * vector[d]
        for d in range(size):
            queries[group, d] = vector[d] / math.sqrt(squares)
        best = -np.inf
        for cell in range(n):
            # Products of float32 numbers are exact in float64, so an agent finds the same cell.
            dot = 0.0
            for d in range(size):
                dot += float(entries[group, cell, d]) * float(queries[group, d])
            if dot > best:
                best, right[group] = dot, cell


@kernel
def chase_cell(
    group: int, keys: KeyArrays, address: int | np.int64, cells: int, num_values: int
) -> tuple[np.int64, np.int64]:
    """Return the address and the value that the cell at `address` holds.

    Block 0 of a scene's words holds its start, block i + 1 is cell i: a cell is drawn when it is
    read, so dealing a table costs the same for ten cells and for a million.
    """
    block = keyed_block(address + 1, group, keys, SCENE)
    return below(np.uint32(block[0]), cells), 1 + below(np.uint32(block[1]), num_values)


@kernel
def deal_chase(groups: Ints, keys: KeyArrays, sizes: tuple[int, int], tables: tuple) -> None:
    """Draw the starts of the chases of `groups` (m,), and follow their hops.

    Args:
        sizes: N and V.
        tables: (num_groups,) each: `lengths`, the hops; filled, `starts`, the first cells, `ends`,
            the last cells, and `targets`, their values.
    """
    (cells, num_values), (lengths, starts, ends, targets) = sizes, tables
    for group in groups:
        address = below(np.uint32(keyed_block(0, group, keys, SCENE)[0]), cells)
        starts[group] = address
        for _ in range(lengths[group]):
            address = chase_cell(group, keys, address, cells, num_values)[0]
        ends[group] = address
        targets[group] = chase_cell(group, keys, address, cells, num_values)[1]


@kernel
def read_chase(
    groups: Ints,
    keys: KeyArrays,
    addresses: Ints,
    cells: int,
    num_values: int,
) -> tuple[Ints, Ints]:
    """Return the addresses (m,) and values (m,) in the cells of `groups` (m,) at `addresses` (m,);
    zeros beyond the last cell."""
    held, values = np.empty(len(groups), np.int64), np.empty(len(groups), np.int64)
    for i, (group, address) in enumerate(zip(groups, addresses)):  # noqa: B905  # Numba's zip
        held[i] = values[i] = 0
        if address < cells:
            held[i], values[i] = chase_cell(group, keys, address, cells, num_values)
    return held, values
