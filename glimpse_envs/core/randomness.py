"""Counter-based random streams: a number is a function of seed, purpose, stream, episode and index.

Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). The seed is
the key; the counter is (block, purpose, stream, episode). So nothing depends on the number of rows,
on threads or on the order of the draws, and two seeds share no stream.

Imported only by kernels: this module needs Numba.
"""

import numpy as np

from glimpse_envs.core.arrays import Floats, Ints, KeyArrays, Words
from glimpse_envs.core.kernels import kernel

# Purposes of streams: of training scenes, keyed by (row, episode), and of fixed ones, by index.
SCENE, START, LEVEL = (0, 2), (1, 3), (5, 6)

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@kernel
def block_at(
    block: int | np.int64, seed: np.uint64, purpose: int, stream: int, episode: int
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return words 4 block ... 4 block + 3 of the stream of the other arguments, each < 2**32."""
    c0, c1 = np.uint64(block), np.uint64(purpose)
    c2, c3 = np.uint64(stream), np.uint64(episode)
    k0, k1 = seed & _LOW, seed >> _32
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1 = (p1 >> _32) ^ c1 ^ k0, p1 & _LOW
        c2, c3 = (p0 >> _32) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@kernel
def fill_words(words: Words, seed: np.uint64, purpose: int, stream: int, episode: int) -> None:
    """Fill `words` (n,) uint32 with the first n words of the stream of the other arguments."""
    for start in range(0, len(words), 4):
        block = block_at(start // 4, seed, purpose, stream, episode)
        for i in range(min(4, len(words) - start)):
            words[start + i] = np.uint32(block[i])


@kernel(inline="always")
def below(word: np.uint32, n: int) -> np.int64:
    """Map a word to an integer in [0, n); the bias is below n / 2**32."""
    return np.int64((np.uint64(word) * np.uint64(n)) >> _32)


@kernel(inline="always")
def symmetric(word: np.uint32) -> float:
    """Map a word to a float64 in (-1, 1)."""
    return (float(word) + 0.5) / 2147483648.0 - 1.0


@kernel
def fill_keyed_words(words: Words, n: int, keys: KeyArrays, purposes: tuple[int, int]) -> None:
    """Fill `words` (w,) from the key of scene n, for the purposes `SCENE`, `START` or `LEVEL`.

    `keys` are the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`.
    """
    train, fixed = purposes
    seeds, streams, episodes, indices = keys
    if indices[n] < 0:
        fill_words(words, seeds[n], train, streams[n], episodes[n])
    else:
        fill_words(words, seeds[n], fixed, indices[n], 0)


@kernel
def keyed_block(
    block: int | np.int64, n: int, keys: KeyArrays, purposes: tuple[int, int]
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return words 4 block ... 4 block + 3 of the stream of `fill_keyed_words`, without drawing
    those before them: large hidden things are drawn cell by cell, when they are read."""
    train, fixed = purposes
    seeds, streams, episodes, indices = keys
    if indices[n] < 0:
        return block_at(block, seeds[n], train, streams[n], episodes[n])
    return block_at(block, seeds[n], fixed, indices[n], 0)


@kernel
def index_of(n: int, keys: KeyArrays, word: np.uint32, count: int) -> np.int64:
    """Return which of `count` examples scene n shows: in a fixed split that of its own number, else
    a uniform one by its `word`.

    `keys` are the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`.
    """
    _, _, _, indices = keys
    return indices[n] if indices[n] >= 0 else below(word, count)


@kernel
def draw_level_words(which: Ints, keys: KeyArrays, words: Words) -> None:
    """Fill `words` (m, 3): row i has the random words from which the level of `which[i]` is drawn.

    `keys` are the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`.
    """
    for i in range(len(which)):
        block = keyed_block(0, which[i], keys, LEVEL)
        words[i, 0], words[i, 1], words[i, 2] = block[0], block[1], block[2]


@kernel
def draw_starts(which: Ints, keys: KeyArrays, starts: Floats) -> None:
    """Fill `starts[which]` (m, 2) with places uniform in (-1, 1), each from its scene's key.

    `keys` are the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`.
    """
    words = np.empty(2, np.uint32)
    for n in which:
        fill_keyed_words(words, n, keys, START)
        starts[n, 0], starts[n, 1] = symmetric(words[0]), symmetric(words[1])
