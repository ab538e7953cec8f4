"""Relevance of keys to a query: the scores from which attention computes its weights.

Axes throughout: `...` is one leading axis or more, the same in every argument: B rows, or B rows
and heads; N keys; q a query's size; d a key's.
"""

import math
from typing import Literal, Protocol, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.training.precision import wide

# Kernel scores are kept within this, so that float32 can tell the nearest key at any bandwidth.
LARGEST_KERNEL_SCORE = 1e30
LEAST_BANDWIDTH = 1e-18


class Score(Protocol):
    """Relevance of each key to the query; a function or a module."""

    def __call__(self, query: Tensor, keys: Tensor, /) -> Tensor:
        """Score keys (..., N, d) against a query (..., q): (..., N), finite, greater is better."""


def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """q . k, (..., N) of a query (..., d) and keys (..., N, d)."""
    check_alike(query, keys)
    # Rows times columns that lie along memory: several times faster than keys @ query.
    return (wide(query)[..., None, :] @ wide(keys).mT)[..., 0, :]


def scaled_dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """q . k / sqrt(d) (Vaswani et al. 2017, eq. 1)."""
    return dot_score(query, keys) / math.sqrt(keys.shape[-1])


def cosine_score(query: Tensor, keys: Tensor) -> Tensor:
    """The cosine of the angle between q and k (NTM, Graves et al. 2014, eq. 6).

    Their key strength beta (eq. 5) is 1 / temperature. A key of length 0 scores 0.
    """
    return dot_score(F.normalize(wide(query), dim=-1), F.normalize(wide(keys), dim=-1))


class BilinearScore(nn.Module):
    """q . W k, W learned (Luong et al. 2015, eq. 8, "general")."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        # W stands on the query's side: one product a row instead of N.
        self.project = nn.Linear(query_size, key_size, bias=False)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        _check_sizes(query, keys, self.project.in_features, self.project.out_features)
        return dot_score(self.project(query), keys)


class AdditiveScore(nn.Module):
    """v . tanh(W q + U k + b), all learned (Bahdanau et al. 2015, appendix A.1.2).

    Raises:
        ValueError: `units` is below 1.
    """

    def __init__(self, query_size: int, key_size: int, units: int = 128) -> None:
        super().__init__()
        if units < 1:
            raise ValueError(f"units={units} must be at least 1")
        self.query = nn.Linear(query_size, units)
        self.key = nn.Linear(key_size, units, bias=False)
        self.read = nn.Linear(units, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        _check_sizes(query, keys, self.query.in_features, self.key.in_features)
        return self.read((self.query(query)[..., None, :] + self.key(keys)).tanh())[..., 0]


class GaussianScore(nn.Module):
    """-||q - k||^2 / (2 bandwidth^2): the read-out is then the kernel regression of Nadaraya
    (1964) and Watson (1964), attention without parameters.

    As the bandwidth goes to 0, the read-out is the nearest key's value; to infinity, the mean of
    all. A bandwidth too small for scores in float32 counts as the smallest that is not.

    Args:
        bandwidth: the kernel's standard deviation, in the keys' own units; above 0.
        learn_bandwidth: make its logarithm a parameter.

    Raises:
        ValueError: the bandwidth is not above 0 and finite.
    """

    def __init__(self, bandwidth: float = 1.0, learn_bandwidth: bool = False) -> None:
        super().__init__()
        if not 0 < bandwidth < math.inf:
            raise ValueError(f"bandwidth={bandwidth} must be above 0 and finite")
        log_bandwidth = torch.tensor(math.log(bandwidth))
        self.log_bandwidth = nn.Parameter(log_bandwidth, requires_grad=learn_bandwidth)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        check_alike(query, keys)
        halves = (wide(query)[..., None, :] - wide(keys)).square().sum(dim=-1) / 2
        furthest = halves.detach().amax(dim=-1, keepdim=True)
        least = (furthest / LARGEST_KERNEL_SCORE).sqrt().clamp(min=LEAST_BANDWIDTH)
        log_bandwidth = torch.maximum(self.log_bandwidth.to(halves.dtype), least.log())
        return -halves * (-2 * log_bandwidth).exp()


ScoreName = Literal["dot", "scaled_dot", "bilinear", "additive", "cosine", "gaussian"]


def make_score(
    name: ScoreName,
    query_size: int,
    key_size: int,
    *,
    units: int = 128,
    bandwidth: float = 1.0,
    learn_bandwidth: bool = False,
) -> Score:
    """Return the score called `name` for queries (..., query_size) and keys (..., N, key_size).

    `units` is for "additive" alone, `bandwidth` and `learn_bandwidth` for "gaussian".

    Raises:
        ValueError: no such score, or the score is not for such sizes or options.
    """
    if name not in get_args(ScoreName):
        names = ", ".join(map(repr, get_args(ScoreName)))
        raise ValueError(f"score {name!r} must be one of {names}")
    if name == "bilinear":
        return BilinearScore(query_size, key_size)
    if name == "additive":
        return AdditiveScore(query_size, key_size, units)
    if query_size != key_size:
        raise ValueError(
            f"score {name!r} compares a query with a key entry by entry, but {query_size=} and "
            f"{key_size=}; 'bilinear' and 'additive' take sizes that differ"
        )
    if name == "gaussian":
        return GaussianScore(bandwidth, learn_bandwidth)
    return {"dot": dot_score, "scaled_dot": scaled_dot_score, "cosine": cosine_score}[name]


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """The shape of `tensor` as errors show it."""
    return tuple(tensor.shape)


def check_alike(query: Tensor, keys: Tensor) -> None:
    """Refuse a query and keys whose shapes cannot be compared entry by entry.

    Raises:
        ValueError: they are of two sizes.
    """
    _check_sizes(query, keys, keys.shape[-1], keys.shape[-1])


def _check_sizes(query: Tensor, keys: Tensor, query_size: int, key_size: int) -> None:
    if query.shape[-1] != query_size or keys.shape[-1] != key_size:
        raise ValueError(
            f"query {shape_of(query)} and keys {shape_of(keys)} do not fit: this score needs "
            f"(..., {query_size}) and (..., N, {key_size})"
        )
