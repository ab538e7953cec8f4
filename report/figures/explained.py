"""Figures of the page that explains hard and soft attention: one scene of 4x4 tiles throughout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.sources import load
from report.figures.style import (
    INK,
    add_legend,
    draw_lines,
    new_figure,
    save_figure,
    scale_logarithmically,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

SIDE, TILE = 56, 14
TILES = (SIDE // TILE) ** 2
EXAMPLE, CORNER = 0, (16, 11)
"""The glyph of the test split that is shown, and the row and column of its corner."""
DRAWS = 20_000
LOOKS = (1, 2, 4, 8, 16, 32)


def scene() -> Floats:
    """The scene (56, 56) in [0, 1]."""
    canvas = np.zeros((SIDE, SIDE))
    row, column = CORNER
    canvas[row : row + 28, column : column + 28] = load("glyphs", "test").images[EXAMPLE, 0] / 255
    return canvas


def tiles() -> Floats:
    """The scene's tiles (16, 14, 14), row by row: the values that are read."""
    across = SIDE // TILE
    return scene().reshape(across, TILE, across, TILE).swapaxes(1, 2).reshape(-1, TILE, TILE)


def rewards() -> Floats:
    """What a look at each tile earns (16,): the ink in it, over the most of any."""
    ink = tiles().mean(axis=(1, 2))
    return ink / ink.max()


def probabilities() -> Floats:
    """The policy (16,) of all figures: it prefers ink, and is not yet sure."""
    logits = 2.0 * rewards() + 0.3 * np.random.default_rng(0).normal(size=TILES)
    return np.exp(logits) / np.exp(logits).sum()


def score_gradients(looks: NDArray[np.int64], advantages: Floats) -> Floats:
    """Rows of (one-hot look - p) times the reward less its baseline, (N, 16)."""
    return (np.eye(TILES)[looks] - probabilities()) * advantages[:, None]


def draw_reading(path: Path) -> None:
    """The scene, its weights, the soft read-out and three samples."""
    p, values = probabilities(), tiles()
    figure = new_figure(7.6, 2.3)
    layout = figure.subplot_mosaic(
        [["scene", "weights", "soft", "first", "second", "third"]],
        width_ratios=[2, 2, 1.3, 1, 1, 1],
    )
    _show(layout["scene"], scene(), "scene: 16 tiles")
    _show(layout["weights"], p.reshape(4, 4), r"weights $p_i$")
    _show(layout["soft"], np.tensordot(p, values, 1), r"soft: $\sum_i p_i v_i$")
    looks = np.random.default_rng(2).choice(TILES, size=3, replace=False, p=p)
    for name, look in zip(("first", "second", "third"), looks, strict=True):
        _show(layout[name], values[look], f"hard: $v_{{{look}}}$")
    for edge in range(TILE, SIDE, TILE):
        layout["scene"].axhline(edge - 0.5, color=INK, linewidth=0.6)
        layout["scene"].axvline(edge - 0.5, color=INK, linewidth=0.6)
    save_figure(figure, path)


def draw_gradients(path: Path) -> None:
    """The score-function gradient of each logit, its spread, and its variance by decisions."""
    p, earned = probabilities(), rewards()
    mean = float(p @ earned)
    exact = p * (earned - mean)
    rng = np.random.default_rng(1)
    looks = rng.choice(TILES, size=DRAWS, p=p)
    figure = new_figure(8.6, 3.2)
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
    left.bar(range(TILES), exact, width=0.85, color=INK, alpha=0.45, label="exact sum")
    for turn, (name, baseline) in enumerate((("no baseline", 0.0), ("baseline E R", mean))):
        samples = score_gradients(looks, earned[looks] - baseline)
        style = style_of(turn)
        left.errorbar(
            np.arange(TILES) + 0.3 * turn - 0.15,
            samples.mean(axis=0),
            samples.std(axis=0),
            fmt=style.marker,
            markersize=3,
            linewidth=1,
            color=style.colour,
            label=f"{name}: mean and deviation of one sample",
        )
    left.set_xlabel("tile")
    left.set_title("gradient of the expected reward by each logit", loc="left")
    add_legend(left)
    variances = _variances(rng)
    scale_logarithmically(right.xaxis, LOOKS[0], LOOKS[-1])
    every = [value for curve in variances.values() for value in curve]
    scale_logarithmically(right.yaxis, min(every), max(every))
    draw_lines(
        right,
        {
            name: (LOOKS, curve, style_of(turn))
            for turn, (name, curve) in enumerate(variances.items())
        },
    )
    right.set_xlabel("looks in an episode")
    right.set_title("total variance of the gradient", loc="left")
    save_figure(figure, path)


def _variances(rng: np.random.Generator) -> dict[str, list[float]]:
    """Of the gradient of the shared logits, by the number of looks, all paid by one reward, which
    is the mean of what each earns, or each by its own share."""
    p, earned = probabilities(), rewards()
    found: dict[str, list[float]] = {"no baseline": [], "baseline": [], "a reward each": []}
    for count in LOOKS:
        looks = rng.choice(TILES, size=(DRAWS // 4, count), p=p)
        scores = np.eye(TILES)[looks] - p  # (N, T, 16)
        paid = earned[looks]  # (N, T)
        together = (rng.random(len(looks)) < paid.mean(axis=1)).astype(np.float64)
        mean = float(p @ earned)
        for name, advantage in (
            ("no baseline", together[:, None]),
            ("baseline", together[:, None] - mean),
            ("a reward each", (paid - mean) / count),
        ):
            gradients = (scores * advantage[..., None]).sum(axis=1)
            found[name].append(float(gradients.var(axis=0).sum()))
    return found


def draw_relaxations(path: Path) -> None:
    """One Gumbel sample's relaxed weights at falling temperatures."""
    noise = np.random.default_rng(5).gumbel(size=TILES)
    perturbed = np.log(probabilities()) + noise
    figure = new_figure(7.6, 2.0)
    panels = figure.subplots(1, 5, sharey=True)
    panels[0].bar(range(TILES), probabilities(), width=0.85, color=INK)
    panels[0].set_title("p", loc="left")
    for panel, temperature in zip(panels[1:], (2.0, 1.0, 0.5, 0.1), strict=True):
        relaxed = np.exp((perturbed - perturbed.max()) / temperature)
        panel.bar(range(TILES), relaxed / relaxed.sum(), width=0.85, color=style_of(0).colour)
        panel.set_title(f"τ = {temperature:g}", loc="left")
    for panel in panels:
        panel.set_xlabel("tile")
    save_figure(figure, path)


def draw_bandwidths(path: Path) -> None:
    """Kernel regression of noisy values at three bandwidths."""
    rng = np.random.default_rng(3)
    keys = np.sort(rng.uniform(0, 1, 24))
    values = np.sin(2 * np.pi * keys) + 0.2 * rng.normal(size=keys.size)
    queries = np.linspace(0, 1, 200)
    figure = new_figure(5.6, 2.8)
    panel = figure.subplots()
    panel.plot(keys, values, "o", color=INK, markersize=4)
    lines = {}
    for turn, bandwidth in enumerate((0.01, 0.08, 0.5)):
        scores = -((queries[:, None] - keys) ** 2) / (2 * bandwidth**2)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        read = (weights / weights.sum(axis=1, keepdims=True)) @ values
        lines[f"bandwidth {bandwidth:g}"] = (read, style_of(turn))
    for name, (read, style) in lines.items():
        panel.plot(queries, read, color=style.colour, linewidth=1.5, label=name)
    panel.set_xlabel("query and keys")
    panel.set_ylabel("value")
    add_legend(panel, below=False)
    save_figure(figure, path)


def _show(panel: Axes, image: Floats, title: str) -> None:
    panel.imshow(image, cmap="gray", vmin=0, vmax=max(float(image.max()), 1e-6))
    panel.set_title(title, loc="left", fontsize=8)
    panel.set_axis_off()
