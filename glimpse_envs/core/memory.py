"""Whether an environment fits into the machine's memory; errors say what needs how much."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

import numpy as np
from gymnasium import spaces


def check_memory(needed: int, **values: int) -> None:
    """Raise a ValueError if a single row of an environment with these `values` needs more than the
    machine's memory; `needed` is in bytes."""
    available = memory_of_machine()
    if needed > available:
        named = ", ".join(f"{name}={value}" for name, value in values.items())
        raise ValueError(
            f"{named} needs {needed:,} bytes for each row; this machine has {available:,}"
        )


def check_batch_memory(num_envs: int, *single_spaces: spaces.Space, hidden: int = 0) -> None:
    """Raise a ValueError if `num_envs` rows of `single_spaces` and `hidden` more bytes need more
    than the machine's memory. Each entry counts three times: lower bound, upper bound and value."""
    leaves = [
        leaf
        for space in single_spaces
        for leaf in (space.spaces.values() if isinstance(space, spaces.Dict) else [space])
    ]
    entries = sum(np.dtype(s.dtype).itemsize * prod(s.shape or ()) for s in leaves)
    needed, available = 3 * num_envs * entries + hidden, memory_of_machine()
    if needed > available:
        raise ValueError(
            f"num_envs={num_envs} needs at least {needed:,} bytes; this machine has {available:,}"
        )


@contextmanager
def naming_memory(num_envs: int) -> Iterator[None]:
    """Turn the MemoryError of a batch of `num_envs` rows into one sentence.

    Raises:
        ValueError: the block ran out of memory.
    """
    try:
        yield
    except MemoryError as error:
        raise ValueError(
            f"num_envs={num_envs} needs more memory than is free ({error}); this machine has "
            f"{memory_of_machine():,} bytes"
        ) from error


def memory_of_machine() -> int:
    """Return the machine's memory in bytes; 1 TiB where the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 40
