"""Random draws for the rows of this process, the same as in a single process with all rows.

Every process draws for the rows of all and takes its own part, so that their generators stay equal.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from agents.training.distributed import processes, rank


class RowGenerator(torch.Generator):
    """A CPU generator of draws for this process's share of the rows.

    Attributes:
        counts: rows of each process in the next draws; None: as many as in this one.
    """

    counts: Sequence[int] | None = None


def row_generator(seed: int) -> torch.Generator:
    """A generator of draws for rows in a training with this seed; in a single process it is torch's
    own."""
    kind = RowGenerator if processes() > 1 else torch.Generator
    return kind().manual_seed(seed_of_draws(seed))


def seed_of_draws(seed: int) -> int:
    """The seed of a training's draws: with the training's own, which its initial weights have, the
    first draws would be the numbers that these are made of."""
    stream = np.random.SeedSequence(seed, spawn_key=(1,))
    return int(stream.generate_state(1)[0])  # torch's CPU generator keeps 32 bits


def draw_rows(
    draw: Callable[[tuple[int, ...]], Tensor],
    shape: Sequence[int],
    generator: torch.Generator | None,
) -> Tensor:
    """A random tensor of `shape` (b, ...) for the b rows of this process, where `draw(shape)` makes
    one for all rows from `generator`. Without a `RowGenerator` these rows are all."""
    rows, *rest = shape
    if not isinstance(generator, RowGenerator):
        return draw((rows, *rest))
    counts = generator.counts or [rows] * processes()
    begin = sum(counts[: rank()])
    return draw((sum(counts), *rest))[begin : begin + rows]
