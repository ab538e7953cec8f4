"""Choosing texts of published files: a compiled loop over groups of rows."""

import numpy as np

from glimpse_envs.core.arrays import Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import SCENE, fill_keyed_words, index_of


@kernel
def choose_texts(groups: Ints, keys: KeyArrays, count: int, which: Ints) -> None:
    """Set `which` (num_groups,) of `count` texts each of `groups` (m,) reads: in a fixed split that
    of its own number, else a uniform one.

    `keys` are the seeds, streams, episodes and indices of `glimpse_envs.core.keys.Keys`.
    """
    words = np.empty(1, np.uint32)
    for group in groups:
        fill_keyed_words(words, group, keys, SCENE)
        which[group] = index_of(group, keys, words[0], count)
