"""One differentiable dictionary look-up, soft and hard: score the keys, weigh them, read out.

Axes throughout: `...` is one leading axis or more, the same in every argument: B rows, or B rows
and heads (`Tensor.expand` adds an axis at no cost); N keys; d a key's size; D a value's size.
"""

import math
from typing import Literal, Protocol, get_args, overload

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.distributions import Categorical

# What lies further below the best score weighs exp(-1000), which is 0 exactly in float64 too.
NEGLIGIBLE = 1000.0
# Torch's kernel multiplies by 1 / temperature before it takes the best score off, so that at a
# lower temperature than this it could overflow.
LEAST_FUSED_TEMPERATURE = 1e-6
# Kernel scores are kept within this, so that float32 can tell the nearest key at any bandwidth.
LARGEST_KERNEL_SCORE = 1e30
LEAST_BANDWIDTH = 1e-18


class Score(Protocol):
    """How well each key answers the query; a function or a module."""

    def __call__(self, query: Tensor, keys: Tensor, /) -> Tensor:
        """Score keys (..., N, d) against a query (..., q): (..., N), finite, greater is better."""


def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """q . k."""
    _check_alike(query, keys)
    return (_wide(keys) @ _wide(query)[..., None])[..., 0]


def scaled_dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """q . k / sqrt(d) (Vaswani et al. 2017, eq. 1)."""
    return dot_score(query, keys) / math.sqrt(keys.shape[-1])


def cosine_score(query: Tensor, keys: Tensor) -> Tensor:
    """The cosine of the angle between q and k (NTM, Graves et al. 2014, eq. 6).

    Their key strength beta (eq. 5) is 1 / temperature. A key of length 0 scores 0.
    """
    return dot_score(F.normalize(_wide(query), dim=-1), F.normalize(_wide(keys), dim=-1))


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
    """v . tanh(W q + U k + b), all learned (Bahdanau et al. 2015, appendix A.1.2)."""

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

    The bandwidth goes to 0: the nearest key's value; to infinity: the mean of all. One so small
    that the scores would leave float32 counts as the least that keeps them in it.

    Args:
        bandwidth: the kernel's standard deviation, in the keys' own units; above 0.
        learn_bandwidth: whether its logarithm is a parameter.
    """

    def __init__(self, bandwidth: float = 1.0, learn_bandwidth: bool = False) -> None:
        super().__init__()
        if not 0 < bandwidth < math.inf:
            raise ValueError(f"bandwidth={bandwidth} must be above 0 and finite")
        log_bandwidth = torch.tensor(math.log(bandwidth))
        self.log_bandwidth = nn.Parameter(log_bandwidth, requires_grad=learn_bandwidth)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        _check_alike(query, keys)
        halves = (_wide(query)[..., None, :] - _wide(keys)).square().sum(dim=-1) / 2
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


@overload
def attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = ...,
    score: Score = ...,
    temperature: float | Tensor = ...,
    need_weights: Literal[False] = ...,
) -> Tensor: ...
@overload
def attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = ...,
    score: Score = ...,
    temperature: float | Tensor = ...,
    need_weights: Literal[True],
) -> tuple[Tensor, Tensor]: ...
def attend(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
    score: Score = scaled_dot_score,
    temperature: float | Tensor = 1.0,
    need_weights: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Read everything, each value by its weight: softmax(score(query, keys) / temperature) values.

    Without weights, dot products go through torch's fused kernel. Where D = d that keeps no
    (..., N) weights, and on the CPU cannot be differentiated twice, nor does torch's flop counter
    count it.

    Args:
        query: (..., q) real; q = d but for the bilinear and the additive score.
        keys: (..., N, d) real.
        values: (..., N, D) real.
        mask: (..., N) bool, True where a key may be read. What may not be read weighs 0 exactly
            and gets a gradient of 0, even where its key or value is infinite or NaN.
        score: as from `make_score`.
        temperature: above 0: towards 0 the best key alone is read, towards infinity all are
            alike. A tensor is () or (..., 1).
        need_weights: also return the weights.

    Returns:
        The read-out (..., D), of the values' dtype; with `need_weights` also the weights (..., N),
        at least float32, each row adding up to 1.

    Raises:
        ValueError: shapes or dtypes do not fit, the temperature is not above 0 and finite, or the
            mask lets nothing be read in some row (which it names).
    """
    _check(query, keys, values, mask, temperature)
    if mask is not None:
        # A weight of 0 does not stop a value that is infinite: 0 * inf is NaN.
        values = values.masked_fill(~mask[..., None], 0.0)
    scale = None if need_weights else _fused_scale(query, keys, values, score, temperature)
    if scale is not None:
        return _fused(query, keys, values, mask, scale)
    weights = _logits(query, keys, mask, score, temperature).softmax(dim=-1)
    read = (weights.to(values.dtype)[..., None, :] @ values)[..., 0, :]
    return (read, weights) if need_weights else read


def attend_hard(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
    score: Score = scaled_dot_score,
    temperature: float | Tensor = 1.0,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Read one value only: a sample by the weights of `attend`, which are its expectation.

    Arguments and errors are those of `attend`; `generator` is a CPU generator.

    Returns:
        The read-out (..., D), through which no gradient reaches query or keys; the index (...)
        int64 of the value read; and its log-probability (...) in nats, at least float32, through
        which one does.
    """
    _check(query, keys, values, mask, temperature)
    logits = _logits(query, keys, mask, score, temperature)
    choice = Categorical(logits.flatten(0, -2))
    index = choice.sample(generator)
    log_prob = choice.log_prob(index).reshape(query.shape[:-1])
    index = index.reshape(query.shape[:-1])
    return values.take_along_dim(index[..., None, None], dim=-2)[..., 0, :], index, log_prob


def _fused(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    if mask is not None:
        keys, mask = keys.masked_fill(~mask[..., None], 0.0), mask[..., None, :]
    query = query[..., None, :]
    if query.ndim == 3:  # torch fuses only what has heads: (B, heads, 1, d)
        query, keys, values = query[:, None], keys[:, None], values[:, None]
        mask = None if mask is None else mask[:, None]
        return F.scaled_dot_product_attention(query, keys, values, mask, scale=scale)[:, 0, 0]
    return F.scaled_dot_product_attention(query, keys, values, mask, scale=scale)[..., 0, :]


def _logits(
    query: Tensor, keys: Tensor, mask: Tensor | None, score: Score, temperature: float | Tensor
) -> Tensor:
    """(..., N), at most 0 and finite but where `mask` is False, at least float32: the scores over
    the temperature, less the best of each row, which changes no weight."""
    if mask is not None:
        keys = keys.masked_fill(~mask[..., None], 0.0)
    scores = _wide(score(query, keys))
    if scores.shape != keys.shape[:-1]:
        raise ValueError(
            f"the score gave {_shape(scores)} for keys {_shape(keys)}; it must give "
            f"{_shape(keys[..., 0])}"
        )
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    divisor = torch.as_tensor(temperature, dtype=scores.dtype, device=scores.device)
    divisor = divisor.clamp(min=1e6 * torch.finfo(scores.dtype).tiny)
    below = scores - scores.detach().amax(dim=-1, keepdim=True)
    return torch.maximum(below, -NEGLIGIBLE * divisor) / divisor


def _fused_scale(
    query: Tensor, keys: Tensor, values: Tensor, score: Score, temperature: float | Tensor
) -> float | None:
    """What torch's kernel is to multiply dot products by; None where it would not serve."""
    if isinstance(temperature, Tensor) or temperature < LEAST_FUSED_TEMPERATURE:
        return None
    if score not in (dot_score, scaled_dot_score) or not query.dtype == keys.dtype == values.dtype:
        return None
    _check_alike(query, keys)
    return 1 / temperature / (math.sqrt(keys.shape[-1]) if score is scaled_dot_score else 1.0)


def _wide(tensor: Tensor) -> Tensor:
    """`tensor` in float32 at least: half precision ends at 65,504 and has 3 digits."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def _check_sizes(query: Tensor, keys: Tensor, query_size: int, key_size: int) -> None:
    if query.shape[-1] != query_size or keys.shape[-1] != key_size:
        raise ValueError(
            f"query {_shape(query)} and keys {_shape(keys)} do not fit: this score needs "
            f"(..., {query_size}) and (..., N, {key_size})"
        )


def _check_alike(query: Tensor, keys: Tensor) -> None:
    _check_sizes(query, keys, keys.shape[-1], keys.shape[-1])


def _check(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, temperature: float | Tensor
) -> None:
    leading = query.shape[:-1]
    if not leading or keys.shape[:-2] != leading or values.shape[:-2] != leading:
        raise ValueError(
            f"query {_shape(query)}, keys {_shape(keys)} and values {_shape(values)} do not fit: "
            "they are (..., q), (..., N, d) and (..., N, D) with the same leading axes, one or more"
        )
    if keys.shape[-2] != values.shape[-2] or keys.shape[-2] == 0:
        raise ValueError(
            f"keys {_shape(keys)} and values {_shape(values)} do not fit: each key has one value, "
            "and there is at least one"
        )
    for name, tensor in (("query", query), ("keys", keys), ("values", values)):
        if not tensor.is_floating_point():
            raise ValueError(f"{name}: {tensor.dtype} must be floating, to be weighed")
    if isinstance(temperature, Tensor):
        if temperature.ndim and temperature.shape != (*leading, 1):
            raise ValueError(f"temperature {_shape(temperature)} must be () or {(*leading, 1)}")
        positive = bool(((temperature > 0) & temperature.isfinite()).all())
    else:
        positive = 0 < temperature < math.inf
    if not positive:
        raise ValueError(f"temperature={temperature} must be above 0 and finite")
    if mask is None:
        return
    if mask.dtype != torch.bool or mask.shape != keys.shape[:-1]:
        raise ValueError(
            f"the mask is {_shape(mask)} of {mask.dtype}; it must be {_shape(keys[..., 0])} of "
            "torch.bool, True where a key may be read"
        )
    blind = (~mask.any(dim=-1)).nonzero().tolist()
    if blind:
        row = ", ".join(map(str, blind[0]))
        raise ValueError(
            f"the mask lets no key be read in row {row} ({len(blind)} such in all); every row "
            "needs one True at least"
        )
