"""Samples of actions that are the same each time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def samples_of(policy: Any, seed: int, episode: int = 0) -> Iterator[None]:
    """Seed, for one `episode`, what `policy` samples its actions with: the torch generator that is
    its attribute `generator`, as of this project's agents, and torch's own, as others use, which is
    then as before. Other ways to draw, such as NumPy's, are left alone."""
    torch = sys.modules.get("torch")  # a policy that draws by torch has imported it
    if torch is None:
        yield
        return
    seed = (seed + episode) % 2**64  # torch takes no greater ones
    own = getattr(policy, "generator", None)
    if isinstance(own, torch.Generator):
        own.manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
