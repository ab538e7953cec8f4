"""Priorities, addresses and whole tapes as they are observed, and answers to a whole tape."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.tasks.tape.kernels import Tapes


def priorities_under(
    tapes: Tapes, groups: NDArray[np.int64], heads: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the priorities (m, 1) at the input cells `heads` (m,) of `groups` (m,), 0 on a
    blank."""
    inside = (heads >= 0) & (heads < tapes.cells.shape[1])
    priorities = tapes.priorities[groups, np.where(inside, heads, 0)]
    return np.where(inside, priorities, np.float32(0))[:, None]


def addresses_in_bits(heads: list[NDArray[np.int64]], bits: list[int]) -> NDArray[np.float32]:
    """Return the addresses under several `heads`, (m,) each, in so many `bits` each, lowest first,
    side by side (m, sum of bits)."""
    places = [head[:, None] >> np.arange(n) & 1 for head, n in zip(heads, bits, strict=True)]
    return np.concatenate(places, axis=1).astype(np.float32)


def whole_tapes(
    tapes: Tapes, groups: NDArray[np.int64], symbols: int, sorting: bool
) -> NDArray[np.float32]:
    """Return the whole input tapes (m, cells, S + 1) of `groups` (m,), with priorities, where they
    have them, (m, cells, S + 2)."""
    scene = np.eye(symbols + 1, dtype=np.float32)[tapes.cells[groups]]
    if not sorting:
        return scene
    return np.concatenate([scene, tapes.priorities[groups][..., None]], axis=2)


class WholeAnswers(NamedTuple):
    """How much of m answers, each of a whole output, is right."""

    share: NDArray[np.float64]  # (m,), of what is to be put out, before the first wrong one
    done: NDArray[np.int64]  # (m,), symbols before the first wrong one
    success: NDArray[np.bool_]  # (m,)


def judge_whole(
    answers: NDArray[np.int64], target: NDArray[np.int64], counts: NDArray[np.int64]
) -> WholeAnswers:
    """Compare `answers` (m, outputs) with `target` (m, outputs), of which the first `counts` (m,)
    are symbols and the others 0."""
    right = answers == target
    success = right.all(axis=1)
    before_wrong = np.logical_and.accumulate(right, axis=1).sum(axis=1)
    share = np.where(success, counts, np.minimum(before_wrong, counts - 1)) / counts
    return WholeAnswers(share, np.minimum(before_wrong, counts), success)
