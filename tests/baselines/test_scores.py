"""Scores agree with their papers' formulas and with closed forms at their limits."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from baselines.attention import attend
from baselines.scores import (
    AdditiveScore,
    BilinearScore,
    GaussianScore,
    Score,
    ScoreName,
    cosine_score,
    dot_score,
    make_score,
    scaled_dot_score,
)
from tests.support.look_ups import NAMES, SIZE, B, D, N, noise, seeded_score, slopes, table


def by_hand(score: Score, query: NDArray, key: NDArray) -> float:
    """The score of one key (SIZE,) for one query (SIZE,), from the papers' formulas."""
    if score is dot_score:
        return sum(query * key)
    if score is scaled_dot_score:
        return sum(query * key) / math.sqrt(SIZE)
    if score is cosine_score:
        return sum(query * key) / math.sqrt(sum(query**2)) / math.sqrt(sum(key**2))
    if isinstance(score, BilinearScore):
        matrix = score.project.weight.detach().numpy()  # (d, q)
        return sum(key[i] * matrix[i, j] * query[j] for i in range(SIZE) for j in range(SIZE))
    if isinstance(score, AdditiveScore):
        of_query, of_key = score.query.weight.detach().numpy(), score.key.weight.detach().numpy()
        bias, read = score.query.bias.detach().numpy(), score.read.weight.detach().numpy()[0]
        return sum(
            read[unit] * math.tanh(sum(of_query[unit] * query + of_key[unit] * key) + bias[unit])
            for unit in range(len(read))
        )
    assert isinstance(score, GaussianScore)
    bandwidth = math.exp(score.log_bandwidth.item())
    assert bandwidth == pytest.approx(0.6)
    return -sum((query - key) ** 2) / (2 * bandwidth**2)


@pytest.mark.parametrize("temperature", [1.0, 0.3])
@pytest.mark.parametrize("name", NAMES)
def test_each_score_is_its_papers_formula(name: ScoreName, temperature: float) -> None:
    query, keys, values = table()
    score = seeded_score(name)
    read, weights = attend(
        query, keys, values, score=score, temperature=temperature, need_weights=True
    )
    q, k, v = query.numpy(), keys.numpy(), values.numpy()
    for row in range(B):
        raw = np.exp([by_hand(score, q[row], k[row, n]) / temperature for n in range(N)])
        np.testing.assert_allclose(weights[row].detach(), raw / raw.sum(), rtol=1e-6)
        expected = sum(raw[n] * v[row, n] for n in range(N)) / raw.sum()
        np.testing.assert_allclose(read[row].detach(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["bilinear", "additive"])
def test_query_and_keys_of_two_sizes(name: ScoreName) -> None:
    _, keys, values = table(torch.float32)
    read = attend(torch.ones(B, 8), keys, values, score=make_score(name, 8, SIZE))
    assert read.shape == (B, D)


def test_a_key_of_length_0_has_no_angle() -> None:
    query, keys = torch.ones(1, SIZE), torch.zeros(1, N, SIZE, requires_grad=True)
    scores = cosine_score(query, keys)
    assert (scores == 0).all()
    assert slopes(scores, keys)[0].isfinite().all()


# The kernel's limits


@pytest.mark.parametrize("bandwidth", [1e-2, 1e-6, 1e-14, 1e-19, 1e-30, 1e-300])
@pytest.mark.parametrize("distance", [1.0, 1e6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_narrow_kernel_reads_the_nearest_key(
    bandwidth: float, distance: float, dtype: torch.dtype
) -> None:
    query, keys, values = table(dtype)
    query, keys = (distance * query).requires_grad_(), distance * keys
    score = GaussianScore(bandwidth, learn_bandwidth=True)
    read = attend(query, keys, values, score=score)
    nearest = torch.cdist(query[:, None], keys)[:, 0].argmin(dim=-1)
    torch.testing.assert_close(read, values[torch.arange(B), nearest])
    for slope in slopes(read, query, score.log_bandwidth):
        assert slope.isfinite().all()


def test_a_narrow_kernel_reads_the_nearest_key_that_may_be_read() -> None:
    query, keys, values = table(torch.float32)
    keys[:, 0] = query  # the nearest of all, in every row
    keys[:, 1], keys[:, 2:] = query + 10.0, query[:, None] + 20.0
    mask = torch.ones(B, N, dtype=torch.bool)
    mask[:, 0] = False
    read = attend(query, keys, values, mask=mask, score=GaussianScore(1e-30))
    torch.testing.assert_close(read, values[:, 1])


def test_keys_equally_near_are_read_alike_at_any_bandwidth() -> None:
    query = torch.zeros(1, 2, requires_grad=True)
    keys, values = torch.zeros(1, N, 2), noise(1, N, D, seed=2, dtype=torch.float32)
    read = attend(query, keys, values, score=GaussianScore(1e-30))
    torch.testing.assert_close(read, values.mean(dim=1))
    assert slopes(read, query)[0].isfinite().all()


@pytest.mark.parametrize("bandwidth", [1e4, 1e30])
def test_a_wide_kernel_reads_the_mean(bandwidth: float) -> None:
    query, keys, values = table()
    read = attend(query, keys, values, score=GaussianScore(bandwidth))
    torch.testing.assert_close(read, values.mean(dim=1))


def test_a_bandwidth_is_learned_only_where_asked() -> None:
    fixed, learned = (
        make_score("gaussian", 2, 2),
        make_score("gaussian", 2, 2, learn_bandwidth=True),
    )
    assert isinstance(fixed, nn.Module)
    assert isinstance(learned, nn.Module)
    assert not any(parameter.requires_grad for parameter in fixed.parameters())
    assert all(parameter.requires_grad for parameter in learned.parameters())


# Bad input


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("dott", 3, 3), {}, "'dott' must be one of 'dot', 'scaled_dot'"),
        (("cosine", 2, 3), {}, "query_size=2 and key_size=3; 'bilinear'"),
        (("additive", 3, 3), {"units": 0}, "units=0 must be at least 1"),
        (("gaussian", 3, 3), {"bandwidth": 0.0}, "bandwidth=0.0 must be above 0"),
        (("gaussian", 3, 3), {"bandwidth": math.inf}, "bandwidth=inf must be above 0"),
    ],
)
def test_a_score_that_cannot_be_is_refused(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_score(*arguments, **options)
