"""One differentiable dictionary look-up, soft and hard: score the keys, weigh them, read out.

Axes throughout: `...` is one leading axis or more, the same in every argument: B rows, or B rows
and heads (`Tensor.expand` adds an axis at no cost); N keys; d a key's size; D a value's size.
"""

import math
from typing import Literal, overload

import torch
from torch import Tensor
from torch.nn import functional as F

from agents.policy.distributions import Categorical
from agents.training.precision import wide
from baselines.scores import Score, check_alike, dot_score, scaled_dot_score, shape_of

# A score further below the best one weighs exp(-1000), which is 0 exactly in float64 too.
NEGLIGIBLE = 1000.0
# Torch's kernel multiplies by 1 / temperature before it takes the best score off, so that at a
# lower temperature than this it could overflow.
LEAST_FUSED_TEMPERATURE = 1e-6


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
    """Read all values, each by its weight: softmax(score(query, keys) / temperature) values.

    Without weights, dot products go through torch's fused kernel. Where D = d, this kernel stores
    no (..., N) weights; on the CPU it cannot be differentiated twice, and torch's flop counter
    misses it.

    Args:
        query: (..., q) real; q = d except for the bilinear and the additive score.
        keys: (..., N, d) real.
        values: (..., N, D) real.
        mask: (..., N) bool, True where a key may be read. A masked key weighs 0 exactly and gets a
            gradient of 0, even where its key or value is infinite or NaN.
        score: as from `make_score`.
        temperature: above 0; towards 0 only the best key is read, towards infinity all equally.
            A tensor is () or (..., 1).
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
    if query.ndim == 3:  # torch fuses only tensors with heads: (B, heads, 1, d)
        query, keys, values = query[:, None], keys[:, None], values[:, None]
        mask = None if mask is None else mask[:, None]
        return F.scaled_dot_product_attention(query, keys, values, mask, scale=scale)[:, 0, 0]
    return F.scaled_dot_product_attention(query, keys, values, mask, scale=scale)[..., 0, :]


def _logits(
    query: Tensor, keys: Tensor, mask: Tensor | None, score: Score, temperature: float | Tensor
) -> Tensor:
    """Logits (..., N): scores over the temperature, less each row's best, which changes no weight.

    They are at least float32, at most 0, and finite but where `mask` is False.
    """
    if mask is not None:
        keys = keys.masked_fill(~mask[..., None], 0.0)
    scores = wide(score(query, keys))
    if scores.shape != keys.shape[:-1]:
        raise ValueError(
            f"the score gave {shape_of(scores)} for keys {shape_of(keys)}; it must give "
            f"{shape_of(keys[..., 0])}"
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
    """The factor on dot products in torch's kernel; None where the kernel does not fit."""
    if isinstance(temperature, Tensor) or temperature < LEAST_FUSED_TEMPERATURE:
        return None
    if score not in (dot_score, scaled_dot_score) or not query.dtype == keys.dtype == values.dtype:
        return None
    check_alike(query, keys)
    return 1 / temperature / (math.sqrt(keys.shape[-1]) if score is scaled_dot_score else 1.0)


def _check(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, temperature: float | Tensor
) -> None:
    leading = query.shape[:-1]
    if not leading or keys.shape[:-2] != leading or values.shape[:-2] != leading:
        raise ValueError(
            f"query {shape_of(query)}, keys {shape_of(keys)} and values {shape_of(values)} do not "
            "fit: they are (..., q), (..., N, d) and (..., N, D) with the same leading axes, one "
            "or more"
        )
    if keys.shape[-2] != values.shape[-2] or keys.shape[-2] == 0:
        raise ValueError(
            f"keys {shape_of(keys)} and values {shape_of(values)} do not fit: each key has one "
            "value, and there is at least one"
        )
    for name, tensor in (("query", query), ("keys", keys), ("values", values)):
        if not tensor.is_floating_point():
            raise ValueError(f"{name}: {tensor.dtype} must be floating, to be weighed")
    if isinstance(temperature, Tensor):
        if temperature.ndim and temperature.shape != (*leading, 1):
            raise ValueError(f"temperature {shape_of(temperature)} must be () or {(*leading, 1)}")
        positive = bool(((temperature > 0) & temperature.isfinite()).all())
    else:
        positive = 0 < temperature < math.inf
    if not positive:
        raise ValueError(f"temperature={temperature} must be above 0 and finite")
    if mask is None:
        return
    if mask.dtype != torch.bool or mask.shape != keys.shape[:-1]:
        raise ValueError(
            f"the mask is {shape_of(mask)} of {mask.dtype}; it must be {shape_of(keys[..., 0])} of "
            "torch.bool, True where a key may be read"
        )
    blind = (~mask.any(dim=-1)).nonzero().tolist()
    if blind:
        row = ", ".join(map(str, blind[0]))
        raise ValueError(
            f"the mask lets no key be read in row {row} ({len(blind)} such in all); every row "
            "needs one True at least"
        )
