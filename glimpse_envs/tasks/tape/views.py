"""Observed priorities, addresses and whole tapes, and the comparison of whole-tape answers."""

from typing import NamedTuple

import numpy as np

from glimpse_envs.core.arrays import Bools, Float32s, Floats, Ints
from glimpse_envs.tasks.encoding import one_hot
from glimpse_envs.tasks.tape.arrays import Tapes


def priorities_under(tapes: Tapes, groups: Ints, heads: Ints) -> Float32s:
    """Return the priorities (m, 1) at the input cells `heads` (m,) of `groups` (m,); 0 for a
    blank."""
    inside = (heads >= 0) & (heads < tapes.cells.shape[1])
    priorities = tapes.priorities[groups, np.where(inside, heads, 0)]
    return np.where(inside, priorities, np.float32(0))[:, None]


def addresses_in_bits(heads: list[Ints], bits: list[int]) -> Float32s:
    """Return the addresses of several `heads`, (m,) each, as bits (m, sum of `bits`) in {0, 1},
    head by head, `bits[i]` of head i, least significant first."""
    places = [head[:, None] >> np.arange(n) & 1 for head, n in zip(heads, bits, strict=True)]
    return np.concatenate(places, axis=1).astype(np.float32)


def whole_tapes(tapes: Tapes, groups: Ints, num_symbols: int, sorting: bool) -> Float32s:
    """Return the input tapes of `groups` (m,): one-hot symbols (m, cells, `num_symbols`) float32;
    with `sorting` also the priorities, last, (m, cells, `num_symbols` + 1)."""
    scene = one_hot(tapes.cells[groups], num_symbols)
    if not sorting:
        return scene
    return np.concatenate([scene, tapes.priorities[groups][..., None]], axis=2)


class WholeAnswers(NamedTuple):
    """Comparison of m answers, each a whole output, with their targets."""

    share: Floats  # (m,) share of the output before the first wrong symbol, in [0, 1]
    done: Ints  # (m,) symbols before the first wrong one
    success: Bools  # (m,)


def compare_whole(answers: Ints, target: Ints, counts: Ints) -> WholeAnswers:
    """Compare `answers` (m, outputs) with `target` (m, outputs), of which the first `counts` (m,)
    entries are symbols and the others 0."""
    right = answers == target
    success = right.all(axis=1)
    before_wrong = np.logical_and.accumulate(right, axis=1).sum(axis=1)
    share = np.where(success, counts, np.minimum(before_wrong, counts - 1)) / counts
    return WholeAnswers(share, np.minimum(before_wrong, counts), success)
