"""Models that read some patches: draws and estimates by enumeration, what is kept by sorting."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from baselines.pictures.attention_sampling import (
    AttentionSampling,
    AttentionSamplingConfig,
    draw_without_replacement,
    estimated_mean,
)
from baselines.pictures.patch_selection import PatchSelection, PatchSelectionConfig
from baselines.pictures.patches import grid_corners, patches_at
from baselines.setting import Setting
from tests.support.episodes import CENTRED

SETTING = Setting.of(CENTRED, {})


def pictures(rows: int) -> Tensor:
    return torch.rand(rows, 1, 28, 28, generator=torch.Generator().manual_seed(3))


# Patches


def test_patches_are_cut_out_and_black_outside() -> None:
    scene = torch.arange(2 * 3 * 5 * 7.0).view(2, 3, 5, 7) + 1
    corners = torch.tensor([[[1, 2], [-1, -2]], [[3, 5], [0, 0]]])
    seen = patches_at(scene, corners, 3)
    padded = torch.nn.functional.pad(scene, (3, 3, 3, 3))
    for row in range(2):
        for n, (y, x) in enumerate(corners[row].tolist()):
            expected = padded[row, :, y + 3 : y + 6, x + 3 : x + 6]
            torch.testing.assert_close(seen[row, n], expected)


def test_a_grid_of_patches_covers_the_picture() -> None:
    assert len(grid_corners(1500, 1500, 50, 50)) == 900
    corners = grid_corners(10, 7, 4, 3)
    assert corners.tolist() == [[y, x] for y in (0, 3, 6) for x in (0, 3)]
    assert grid_corners(3, 3, 5, 5).tolist() == [[0, 0]]


# Attention sampling


def orders(probabilities: Tensor, count: int) -> list[tuple[list[int], Tensor]]:
    """All orders of `count` places, and the probability of drawing each."""
    found = []
    for order in permutations(range(len(probabilities)), count):
        chance, left = torch.ones((), dtype=torch.float64), 1.0
        for place in order:
            chance = chance * probabilities[place].detach() / left
            left -= float(probabilities[place].detach())
        found.append((list(order), chance))
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_estimate_and_its_gradient_are_unbiased(count: int) -> None:
    """Summed over all ordered draws of 5 places, weighted by their probabilities."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(5, generator=generator, dtype=torch.float64).requires_grad_()
    features = torch.randn(5, 3, generator=generator, dtype=torch.float64).requires_grad_()
    direction = torch.randn(3, generator=generator, dtype=torch.float64)
    probabilities = logits.softmax(dim=0)
    exact = (probabilities @ features) @ direction
    drawn = orders(probabilities, count)
    assert sum(float(chance) for _, chance in drawn) == pytest.approx(1)
    estimate = torch.stack(
        [
            chance * (estimated_mean(probabilities[None, order], features[None, order]) @ direction)
            for order, chance in drawn
        ]
    ).sum()
    torch.testing.assert_close(estimate, exact)
    for values in (logits, features):
        found, expected = (
            torch.autograd.grad(value, values, retain_graph=True)[0] for value in (estimate, exact)
        )
        torch.testing.assert_close(found, expected)


def test_places_are_drawn_without_replacement_by_their_share_of_what_is_left() -> None:
    rows = 40_000
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
    generator = torch.Generator().manual_seed(1)
    drawn = draw_without_replacement(probabilities.expand(rows, -1), 2, generator)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    for order, chance in orders(probabilities, 2):
        share = (drawn == torch.tensor(order)).all(dim=1).double().mean().item()
        assert share == pytest.approx(float(chance), abs=5 * np.sqrt(float(chance) / rows))


def test_no_draw_wins_whatever_the_probability() -> None:
    seed, place = 11993, 827
    uniform = torch.rand((1, 1000), generator=torch.Generator().manual_seed(seed))
    assert uniform[0, place] == 0, "of this seed float32 draws a 0"
    probabilities = torch.full((1, 1000), 1e-3)
    probabilities[0, place] = 1e-12
    drawn = draw_without_replacement(probabilities, 999, torch.Generator().manual_seed(seed))
    assert place not in drawn


@torch.no_grad()
def test_an_answer_depends_neither_on_the_batch_nor_on_the_call() -> None:
    model = AttentionSampling(SETTING, AttentionSamplingConfig(low_scale=0.5, patch_size=14)).eval()
    scene = pictures(4)
    together = model({"scene": scene}).logits[0]
    alone = torch.cat([model({"scene": one[None]}).logits[0] for one in scene])
    torch.testing.assert_close(together, alone)


def test_what_is_learned_reaches_the_attention_and_a_bonus_spreads_it() -> None:
    model = AttentionSampling(SETTING, AttentionSamplingConfig(low_scale=0.5, patch_size=14))
    model.set_progress(0.0, torch.Generator().manual_seed(0))
    answers = model({"scene": pictures(4)})
    uniform = -1e-4 * np.log(14 * 14)
    assert uniform <= answers.losses["entropy"].item() < 0
    answers.logits.square().sum().backward()
    first = model.attend[0].weight.grad
    assert isinstance(first, Tensor)
    assert first.abs().max() > 0


# Iterative patch selection


def selection(**changes: Any) -> PatchSelection:
    torch.manual_seed(0)
    sizes: dict[str, Any] = dict(patch_size=8, stride=4, channels=4, heads=1)
    return PatchSelection(SETTING, PatchSelectionConfig(**sizes | changes))


@torch.no_grad()
def test_empty_patches_share_a_code_while_patches_are_scored() -> None:
    model, scene = selection().eval(), pictures(3)
    scene[0, :, :20] = 0.0
    scene[1] = 0.0
    every = torch.arange(len(model.corners)).expand(3, -1)
    one_by_one = model._features(scene, every)
    encoded = []

    def count(_: torch.nn.Module, seen: tuple[Tensor]) -> None:
        encoded.append(len(seen[0]))

    model.encode.register_forward_pre_hook(count)
    torch.testing.assert_close(model._scored(scene, every), one_by_one)
    torch.testing.assert_close(model._scored(scene[1:2], every[1:2]), one_by_one[1:2])
    filled = 2 * 6 + 36  # the lowest two rows of the first scene's patches, and the third's
    assert encoded == [1, filled, 1, 0]


@pytest.mark.parametrize("at_once", [1, 5, 36])
def test_the_patches_kept_one_after_another_are_the_best_of_all(at_once: int) -> None:
    model, scene = selection(kept=7, at_once=at_once), pictures(3)
    kept = model.select(scene)
    assert model.training
    model.eval()
    every = torch.arange(len(model.corners)).expand(3, -1)
    assert every.shape[1] == 36
    scores = model.pool.weights(model._features(scene, every)).mean(dim=1)
    best = scores.topk(7, dim=1).indices
    torch.testing.assert_close(kept.sort(dim=1).values, best.sort(dim=1).values)
    assert (kept.sort(dim=1).values != torch.arange(7)).any(), "not the first ones alone"


def test_the_answer_comes_from_the_patches_kept_alone() -> None:
    model, scene = selection(kept=5, at_once=4, heads=2).eval(), pictures(2).requires_grad_()
    (slopes,) = torch.autograd.grad(model({"scene": scene}).logits.square().sum(), scene)
    seen = torch.zeros(2, 28, 28)
    for row, kept in enumerate(model.corners[model.select(scene)].tolist()):
        for y, x in kept:
            seen[row, y : y + 8, x : x + 8] = 1
    assert (slopes[:, 0][seen == 0] == 0).all()
    assert slopes[:, 0][seen == 1].abs().max() > 0


def test_what_was_selected_in_autocast_trains_all_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before torch 2.13 its cache of weights, made without gradients, would leave them out: it is
    cleared between the two, which newer versions do not show in gradients."""
    clear, cleared = torch.clear_autocast_cache, list[None]()
    monkeypatch.setattr(torch, "clear_autocast_cache", lambda: cleared.append(clear()))
    model, scene = selection(kept=5, at_once=4), pictures(2)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model({"scene": scene}).logits
        assert cleared
    logits.float().square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name


def test_all_patches_are_kept_where_there_are_no_more() -> None:
    model, scene = selection(kept=100), pictures(2)
    assert model.select(scene).tolist() == [list(range(36))] * 2


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: selection(heads=3), "heads=3 must be a divisor of 4 channels, 16"),
        (lambda: selection(dropout=1.0), "dropout=1.0 must be at least 0 and below 1"),
        (lambda: selection(kept=0), "kept=0 must be at least 1"),
        (
            lambda: AttentionSampling(SETTING, AttentionSamplingConfig(patch_size=12)),
            "patch_size=12 must be at least 13",
        ),
        (
            lambda: AttentionSampling(
                SETTING, AttentionSamplingConfig(low_scale=0.5, entropy_bonus=float("inf"))
            ),
            "entropy_bonus=inf must be at least 0 and finite",
        ),
        (
            lambda: AttentionSampling(SETTING, AttentionSamplingConfig()),
            "low view of 3x3 places, fewer than patches=10",
        ),
    ],
)
def test_sizes_that_cannot_be_are_refused(make: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make()


def test_records_name_what_they_see() -> None:
    low = AttentionSamplingConfig(low_scale=0.5)
    for model in (selection(), AttentionSampling(SETTING, low)):
        assert model.model.sees == "everything"
        assert model.view == "full"
