"""Attention, soft and hard, agrees with closed forms, and reads nothing that it must not."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from baselines.attention import attend, attend_hard
from baselines.scores import (
    GaussianScore,
    Score,
    ScoreName,
    dot_score,
    make_score,
    scaled_dot_score,
)
from tests.support.look_ups import (
    NAMES,
    SIZE,
    B,
    D,
    N,
    cast,
    noise,
    seeded_score,
    slopes,
    some_mask,
    table,
)

FUSED = [dot_score, scaled_dot_score]


@pytest.mark.parametrize("name", NAMES)
def test_heads_are_rows(name: ScoreName) -> None:
    """Leading axes (B, heads) give what each head gives by itself."""
    query, keys, values = (torch.stack([part, part.flip(0)], dim=1) for part in table())
    mask = torch.stack([some_mask(), some_mask().flip(1)], dim=1)
    look_up = partial(attend, score=seeded_score(name))
    read = look_up(query, keys, values, mask=mask)
    assert read.shape == (B, 2, D)
    for head in range(2):
        alone = look_up(query[:, head], keys[:, head], values[:, head], mask=mask[:, head])
        torch.testing.assert_close(read[:, head], alone)
    read, index, log_prob = attend_hard(query, keys, values, mask=mask, score=seeded_score(name))
    assert (read.shape, index.shape, log_prob.shape) == ((B, 2, D), (B, 2), (B, 2))


# Temperature


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("need_weights", [False, True])
def test_a_temperature_near_0_reads_the_best_key(
    name: ScoreName, dtype: torch.dtype, need_weights: bool
) -> None:
    query, keys, values = table(dtype)
    score = cast(seeded_score(name), dtype)
    best = score(query, keys).argmax(dim=-1)
    for temperature in (1e-4, 1e-30, 1e-300):
        look_up = partial(attend, query, keys, values, score=score, temperature=temperature)
        read = look_up(need_weights=True)[0] if need_weights else look_up()
        torch.testing.assert_close(read, values[torch.arange(B), best])


@pytest.mark.parametrize("name", NAMES)
def test_a_great_temperature_reads_the_mean(name: ScoreName) -> None:
    query, keys, values = table()
    read = attend(query, keys, values, score=seeded_score(name), temperature=1e12)
    torch.testing.assert_close(read, values.mean(dim=1))


@pytest.mark.parametrize(("dtype", "least"), [(torch.float32, 1e-37), (torch.float64, 1e-300)])
def test_a_row_has_its_own_temperature_and_learns_it(dtype: torch.dtype, least: float) -> None:
    query, keys, values = table(dtype)
    temperature = torch.tensor([[0.1], [1.0], [2.0], [least]], dtype=dtype)
    temperature.requires_grad_()
    read = attend(query, keys, values, temperature=temperature)
    for row in range(3):
        alone = (part[row : row + 1] for part in (query, keys, values))
        expected = attend(*alone, temperature=temperature[row].item())
        torch.testing.assert_close(read[row : row + 1], expected)
    (slope,) = slopes(read, temperature)
    assert slope.isfinite().all()
    assert slope[:3].all()


# Masks


@pytest.mark.parametrize("garbage", [7.0, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_masked_leaks_nowhere(name: ScoreName, garbage: float) -> None:
    query, keys, _ = table()
    values = noise(B, N, SIZE, seed=2)  # D = d, so that torch fuses
    score, mask = seeded_score(name), some_mask()
    clean = attend(query, keys, values, mask=mask, score=score)
    for row in range(B):  # to leave a key out is to mask it
        kept = mask[row]
        alone = attend(query[[row]], keys[[row]][:, kept], values[[row]][:, kept], score=score)
        torch.testing.assert_close(clean[[row]], alone)
    spoilt = [query, keys.masked_fill(~mask[..., None], garbage)]
    spoilt.append(values.masked_fill(~mask[..., None], garbage))
    for part in spoilt:
        part.requires_grad_()
    fused = attend(*spoilt, mask=mask, score=score)
    explicit, weights = attend(*spoilt, mask=mask, score=score, need_weights=True)
    _, index, log_prob = attend_hard(*spoilt, mask=mask, score=score)
    assert mask.gather(1, index[:, None]).all()
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(B).double())
    for result in (fused, explicit):
        torch.testing.assert_close(result, clean)
    for result in (fused, explicit, weights[mask], log_prob):
        gradients = torch.autograd.grad(
            result.square().sum(), spoilt, allow_unused=True, retain_graph=True
        )
        for gradient in gradients:
            assert gradient is None or gradient.isfinite().all()
        for gradient in gradients[1:]:
            assert gradient is None or (gradient[~mask] == 0).all()


@pytest.mark.parametrize("look_up", [attend, attend_hard])
def test_a_row_that_may_read_nothing_is_refused(look_up: Callable[..., Any]) -> None:
    mask = some_mask()
    mask[2] = False
    with pytest.raises(ValueError, match=r"no key be read in row 2 \(1 such in all\)"):
        look_up(*table(), mask=mask)
    heads = [torch.stack([part, part], dim=1) for part in table()]
    with pytest.raises(ValueError, match=r"row 2, 0 \(2 such"):
        look_up(*heads, mask=torch.stack([mask, mask], dim=1))


# Torch's fused kernel


@pytest.mark.parametrize("score", FUSED)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("width", [D, SIZE])  # torch has another kernel where D = d
def test_the_fused_kernel_is_the_explicit_sum(
    score: Score, masked: bool, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mask = some_mask() if masked else None
    calls = []

    def counted(*args: Any, **kwargs: Any) -> Tensor:
        calls.append(args)
        return torch._C._nn.scaled_dot_product_attention(*args, **kwargs)

    monkeypatch.setattr(F, "scaled_dot_product_attention", counted)
    query, keys, _ = table()
    tensors = [query, keys, noise(B, N, width, seed=2)]
    for part in tensors:
        part.requires_grad_()
    fused = attend(*tensors, mask=mask, score=score, temperature=0.7)
    assert len(calls) == 1, "torch does it"
    explicit, _ = attend(*tensors, mask=mask, score=score, temperature=0.7, need_weights=True)
    assert len(calls) == 1, "torch gives no weights"
    torch.testing.assert_close(fused, explicit)
    slope = noise(B, width, seed=3)
    torch.testing.assert_close(
        torch.autograd.grad(fused, tensors, slope), torch.autograd.grad(explicit, tensors, slope)
    )


@pytest.mark.learning
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("need_weights", [False, True])
def test_gradients_are_those_of_finite_differences(name: ScoreName, need_weights: bool) -> None:
    score, mask = seeded_score(name), some_mask()
    temperature = torch.full((B, 1), 0.7, dtype=torch.float64)

    def look_up(*tensors: Tensor) -> Any:
        query, keys, values, *learned = tensors
        rest: dict[str, Any] = {"mask": mask, "score": score, "need_weights": need_weights}
        return attend(query, keys, values, temperature=learned[0] if learned else 0.7, **rest)

    inputs = (*table(), temperature) if need_weights else table()
    assert torch.autograd.gradcheck(look_up, [part.requires_grad_() for part in inputs])


# Numbers at the edge


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", NAMES)
def test_half_precision_is_close_to_full(name: ScoreName, dtype: torch.dtype) -> None:
    score = seeded_score(name)
    exact = attend(*table(dtype), score=cast(score, dtype), need_weights=True)
    wide = [part.double() for part in table(dtype)]
    fused = attend(*table(dtype), score=cast(score, dtype))
    expected = attend(*wide, score=cast(score, torch.float64), need_weights=True)
    tolerance = 8 * torch.finfo(dtype).eps
    assert exact[0].dtype == fused.dtype == dtype
    assert exact[1].dtype == torch.float32
    for found, wanted in zip((*exact, fused), (*expected, expected[0]), strict=True):
        torch.testing.assert_close(found.double(), wanted, atol=tolerance, rtol=tolerance)


def test_a_narrow_query_reads_a_wide_table() -> None:
    query, keys, values = table(torch.float32)
    read = attend(query.bfloat16(), keys, values)
    torch.testing.assert_close(read, attend(query.bfloat16().float(), keys, values))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("score", [dot_score, scaled_dot_score, GaussianScore()])
@pytest.mark.parametrize("need_weights", [False, True])
def test_great_scores_read_the_best_key(
    score: Score, dtype: torch.dtype, need_weights: bool
) -> None:
    """Scores of 10^5 and more: beyond float16, and exp of them beyond float64."""
    size = 1e15 if dtype == torch.float32 else 400.0
    query = torch.tensor([[size, -size]], dtype=dtype, requires_grad=True)
    keys = torch.tensor([[[-size, size], [size, -size], [-size, -size]]], dtype=dtype)
    values = torch.tensor([[[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]], dtype=dtype)
    if need_weights:
        read, weights = attend(query, keys, values, score=score, need_weights=True)
        assert weights.tolist() == [[0.0, 1.0, 0.0]]
    else:
        read = attend(query, keys, values, score=score)
    assert read.tolist() == [[2.0, -2.0]]
    assert (slopes(read, query)[0] == 0).all()


# Bad input

MISFITS: dict[str, tuple[Any, str]] = {
    "one row": ({"query": torch.ones(SIZE)}, r"query \(3,\).*same leading axes"),
    "keys of other rows": ({"keys": torch.ones(2, N, SIZE)}, r"keys \(2, 5, 3\).*same leading"),
    "values without N": ({"values": torch.ones(B, D)}, r"values \(4, 2\) do not fit"),
    "more values": ({"values": torch.ones(B, N + 1, D)}, "each key has one value"),
    "no keys": (
        {"keys": torch.ones(B, 0, SIZE), "values": torch.ones(B, 0, D)},
        "there is at least one",
    ),
    "whole numbers": ({"values": torch.ones(B, N, D).long()}, "values: torch.int64"),
    "mask of numbers": ({"mask": torch.ones(B, N)}, "of torch.float32.*of torch.bool"),
    "mask of rows": ({"mask": torch.ones(B, 1).bool()}, r"mask is \(4, 1\).*must be \(4, 5\)"),
    "temperature 0": ({"temperature": 0.0}, "temperature=0.0 must be above 0"),
    "temperature NaN": ({"temperature": math.nan}, "temperature=nan must be above 0"),
    "temperature below 0": (
        {"temperature": torch.tensor([[1.0], [1.0], [-2.0], [1.0]])},
        "must be above 0",
    ),
    "temperature a key": (
        {"temperature": torch.ones(B, N)},
        r"temperature \(4, 5\) must be \(\) or \(4, 1\)",
    ),
    "a score of one number": ({"score": lambda q, k: q.sum()}, r"score gave \(\).*must give"),
} | {
    f"{name} of another size": (
        {"query": torch.ones(B, 1), "score": make_score(name, SIZE, SIZE)},
        r"query \(4, 1\) and keys \(4, 5, 3\) do not fit: this score needs \(..., 3\)",
    )
    for name in NAMES
}


@pytest.mark.parametrize("misfit", MISFITS)
@pytest.mark.parametrize("look_up", [attend, attend_hard])
def test_what_does_not_fit_is_refused(look_up: Callable[..., Any], misfit: str) -> None:
    changed, message = MISFITS[misfit]
    query, keys, values = table(torch.float32)
    with pytest.raises(ValueError, match=message):
        look_up(**({"query": query, "keys": keys, "values": values} | changed))
