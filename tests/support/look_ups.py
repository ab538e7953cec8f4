"""What the tests of scores and of attention share: a small table to look things up in."""

import torch
from torch import Tensor, nn

from baselines.scores import Score, ScoreName, make_score

B, N, SIZE, D = 4, 5, 3, 2
NAMES: tuple[ScoreName, ...] = (
    "dot",
    "scaled_dot",
    "bilinear",
    "additive",
    "cosine",
    "gaussian",
)


def noise(*shape: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def table(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Query (B, SIZE), keys (B, N, SIZE), values (B, N, D)."""
    return (
        noise(B, SIZE, seed=0, dtype=dtype),
        noise(B, N, SIZE, seed=1, dtype=dtype),
        noise(B, N, D, seed=2, dtype=dtype),
    )


def slopes(result: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """The gradient of the sum of `result` to each of `inputs`."""
    return torch.autograd.grad(result.sum(), inputs, retain_graph=True)


def some_mask() -> Tensor:
    """(B, N) bool: row b may read all but key b."""
    return ~torch.eye(B, N, dtype=torch.bool)


def seeded_score(name: ScoreName) -> Score:
    torch.manual_seed(0)
    score = make_score(name, SIZE, SIZE, units=7, bandwidth=0.6)
    return cast(score, torch.float64)


def cast(score: Score, dtype: torch.dtype) -> Score:
    return score.to(dtype) if isinstance(score, nn.Module) else score
