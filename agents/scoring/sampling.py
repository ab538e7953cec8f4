"""Samples of actions that are the same each time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from agents.scoring.scanners import ScannedPolicy


@contextmanager
def samples_of(policy: Any, seed: int, episode: int = 0) -> Iterator[None]:
    """Seed, for one `episode`, what `policy` samples its actions with: a generator of its own, as
    this project's agents have, or that of torch, as others do, which is then as before."""
    seed = (seed + episode) % 2**64  # torch takes no greater ones
    chooses = policy.model if isinstance(policy, ScannedPolicy) else policy
    own = getattr(chooses, "generator", None)
    if isinstance(own, torch.Generator):
        own.manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
