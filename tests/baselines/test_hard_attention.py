"""A hard read is a sample of the soft one, and its log-probability teaches where to read."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from baselines.attention import attend, attend_hard
from baselines.scores import ScoreName
from tests.support.look_ups import NAMES, B, D, N, seeded_score, slopes, some_mask, table


@pytest.mark.parametrize("name", NAMES)
def test_the_hard_log_probability_is_that_of_the_soft_weight(name: ScoreName) -> None:
    tensors = [part.requires_grad_() for part in table()]
    options: dict[str, Any] = {"score": seeded_score(name), "temperature": 0.5}
    options["mask"] = some_mask()
    generator = torch.Generator().manual_seed(0)
    read, index, log_prob = attend_hard(*tensors, **options, generator=generator)
    weights = attend(*tensors, **options, need_weights=True)[1]
    expected = weights[torch.arange(B), index].log()
    torch.testing.assert_close(log_prob, expected)
    assert torch.equal(read, tensors[2][torch.arange(B), index])
    reached = tensors[:2]
    gradients = slopes(log_prob, *reached)
    torch.testing.assert_close(gradients, slopes(expected, *reached))
    assert all(gradient.any() for gradient in gradients), "it teaches where to look"
    unreached = torch.autograd.grad(read.sum(), reached, allow_unused=True)
    assert all(gradient is None for gradient in unreached)


def test_many_hard_reads_tend_to_the_soft_one() -> None:
    samples = 20_000
    query, keys, values = (part[:1].expand(samples, *part.shape[1:]) for part in table())
    mask = some_mask()[:1].expand(samples, N)
    generator = torch.Generator().manual_seed(1)
    read, index, _ = attend_hard(query, keys, values, mask=mask, generator=generator)
    soft, weights = attend(query[:1], keys[:1], values[:1], mask=mask[:1], need_weights=True)
    error = read.std(dim=0) / math.sqrt(samples)
    assert ((read.mean(dim=0) - soft[0]).abs() < 4 * error).all()
    found = torch.bincount(index, minlength=N) / samples
    error = (weights[0] * (1 - weights[0]) / samples).sqrt()
    assert ((found - weights[0]).abs() <= 4 * error).all()


def test_a_hard_read_follows_the_generator_alone() -> None:
    query, keys, values = (torch.cat([part] * 16) for part in table())

    def sample(seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return attend_hard(query, keys, values, generator=generator)[1]

    first = sample(3)
    torch.manual_seed(99)
    assert torch.equal(sample(3), first)
    assert not torch.equal(sample(4), first)


def test_a_hard_read_out_gives_a_gradient_to_the_value_read_alone() -> None:
    query, keys, values = table()
    mask = some_mask()
    values = values.masked_fill(~mask[..., None], math.nan).requires_grad_()
    read, index, _ = attend_hard(query, keys, values, mask=mask)
    expected = F.one_hot(index, N)[..., None].expand(B, N, D)
    assert torch.equal(slopes(read, values)[0], expected.double())
