"""Costs of an episode: how much of the scene is read, and the arithmetic of reading and choosing.

- `values_delivered`: numbers that reading gives to the model: K C g g a glimpse, and once those of
  a context; for a soft reader its read-out; for attention sampling its low view and patches; for
  any other network on the whole scene, the pixels C H W.
- `pixels_covered`: distinct pixels of the scene under any window or outline so far. For an agent
  they are those of its own scanpaths; a context, soft attention and full views touch all H W.
- `multiply_adds`: of the model (as defined in `agents.scoring.multiply_adds`) and of reading.
- `multiply_adds_reading`: of these, reading alone. An agent's retina mixes four sums of pixels a
  cell: 4 K C g g a glimpse, and as many for each of the tiles that soft attention mixes, although
  they are read by larger products; other sensors declare theirs. Soft attention multiplies filters
  or weights with the scene, or with all tiles; a network on the whole scene has no separate
  reading, nor has a model that describes it word by word, whose attention reads its own features.
- `cells_read`: of a tape, a table or a text, cells that choosing and reading touched, counted each
  time, and glimpses that recall scored, as a soft memory scores cells; it replaces all other costs.

Building a scene, and summing it for the retina, touch every pixel once an episode for every model:
they are additions, and no part of these costs. An agent's last look, which is not taken, and its
learned baseline, which training alone needs, are computed by its network and included.
"""

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agents.policy.glimpse_policy import GlimpsePolicy
from agents.scoring.counted_scenes import SceneReader, count_inside, count_steps
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.batches import make_batch
from glimpse_envs.evaluation.policy import as_policy
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.rendering.drawing import SUBPIXEL_BITS, fixed_point

# Number of scenes whose coverage is computed at once; the result does not depend on it.
CHUNK = 500

# Pixels by which the rounding of a location may move a window's edge.
EDGE = 1e-3


@dataclass(frozen=True)
class Costs:
    """Mean costs of an evaluation's episodes, by the names in this module's docstring.

    Args:
        per_episode: name -> cost of a whole episode.
        by_glimpse: name -> costs (T,) after 1, 2, ... glimpses, without `multiply_adds_reading`.
    """

    per_episode: dict[str, float] = field(default_factory=dict)
    by_glimpse: dict[str, tuple[float, ...]] = field(default_factory=dict)


def measure_costs(policy: Any, evaluation: Evaluation) -> Costs:
    """The costs of a policy's episodes, whose scanpaths are those of its `evaluation`; none for
    third-party worlds, nor for tasks with looks but without `reading`, which do not declare what
    reading costs.

    Args:
        policy: with `predict`, as `glimpse_envs.evaluation.policy.Policy`; a torch module where
            it has `answers`, and so sees the whole scene.
        evaluation: of this policy.
    """
    if task_class_of(evaluation.env_id) is None:
        return Costs()
    judged = as_policy(policy)
    with closing(make_evaluated(evaluation, rows=1)) as env:
        observation, _ = env.reset(seed=evaluation.seed)
        seen = describe(env)
        in_memory = judged.cells_read(next(iter(observation.values())).shape[1])
        if in_memory is not None:
            return Costs({"cells_read": in_memory})
        if judged.answers(observation) is not None:
            return _of_inner_glimpses(policy, env, observation, evaluation)
        if seen.reading is None:
            shows_all = "scene" in observation
            return _of_full_view(policy, env, observation, evaluation) if shows_all else Costs()
        if seen.reading.cells:
            cells = evaluation.glimpses.mean() * seen.reading.cells + _recalled(policy, evaluation)
            return Costs({"cells_read": round(float(cells), 3)})
        return _of_looks(policy, env, evaluation)


def _of_inner_glimpses(
    policy: Any, env: gym.vector.VectorEnv, observation: dict[str, NDArray], evaluation: Evaluation
) -> Costs:
    """Of a model that answers once, after glimpses inside itself."""
    inside = count_inside(policy, env, evaluation)
    touched = np.full(len(inside.values), _area(observation))
    return _as_costs(inside.values, touched, inside.multiply_adds, inside.reading)


def _of_full_view(
    policy: Any, env: gym.vector.VectorEnv, observation: dict[str, NDArray], evaluation: Evaluation
) -> Costs:
    """Of a model that is shown the whole scene at each of its steps."""
    share = _taken(evaluation).mean(axis=0)
    # A scene that stands still is delivered, and read by a soft reader, once.
    shown = np.cumsum(share) if describe(env).fixed_steps else np.ones(len(share))
    touched = np.full(len(share), _area(observation))
    if isinstance(policy, SceneReader):
        inside = count_inside(policy, env, evaluation)
        values, spent = shown * inside.values[-1], shown * inside.multiply_adds[-1]
        return _as_costs(values, touched, spent, shown[-1] * inside.reading)
    values = shown * float(observation["scene"][0].size)
    return _as_costs(values, touched, _on_average(policy, env, evaluation, share), 0.0)


def _of_looks(policy: Any, env: gym.vector.VectorEnv, evaluation: Evaluation) -> Costs:
    """Of an agent that is shown its glimpses."""
    seen, taken = describe(env), _taken(evaluation)
    assert seen.reading is not None
    assert seen.picture_view is not None
    assert evaluation.locations is not None
    share = taken.mean(axis=0)
    looks = np.cumsum(share)
    values = looks * seen.reading.values + seen.reading.context
    read = looks * seen.reading.multiply_adds + seen.reading.context_multiply_adds
    touched = covered_on_average(seen.picture_view, evaluation.locations, taken)
    if seen.reading.context:
        touched = np.full(len(share), float(np.prod(seen.picture_view.scene_shape[1:])))
    multiply_adds = read + _on_average(policy, env, evaluation, share)
    return _as_costs(values, touched, multiply_adds, read[-1])


def _area(observation: dict[str, NDArray]) -> float:
    """The pixels H W of a scene."""
    return float(np.prod(observation["scene"].shape[-2:]))


def _as_costs(values: NDArray, touched: NDArray, multiply_adds: NDArray, reading: float) -> Costs:
    """The costs after 1, 2, ... glimpses, (T,) each, and the multiply-adds of reading alone."""
    curves = {
        "values_delivered": values,
        "pixels_covered": touched,
        "multiply_adds": multiply_adds,
    }
    by_glimpse = {name: tuple(round(float(v), 2) for v in curve) for name, curve in curves.items()}
    per_episode = {name: curve[-1] for name, curve in by_glimpse.items()}
    return Costs({**per_episode, "multiply_adds_reading": round(float(reading), 2)}, by_glimpse)


def make_evaluated(evaluation: Evaluation, rows: int) -> gym.vector.VectorEnv:
    """The environment of an evaluation, with so many rows."""
    return make_batch(evaluation.env_id, rows, evaluation.split, **evaluation.env_kwargs)


def covered_on_average(
    view: PictureView, locations: NDArray[np.floating], taken: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The mean number (T,) of distinct pixels under any window, or of a sensor without square
    windows in any outline, after 1, 2, ... glimpses.

    The windows of one glimpse have one middle, so that the widest holds the others.

    Args:
        view: how the pictures are looked at.
        locations: (scenes, T, 2) in [-1, 1], (x, y).
        taken: (scenes, T), which of them were looked at.
    """
    _, height, width = view.scene_shape
    if not view.window_sides:
        return _within_outlines(view, locations, taken)
    side = max(view.window_sides)
    total = np.zeros(locations.shape[1])
    for start in range(0, len(locations), CHUNK):
        part = slice(start, start + CHUNK)
        places = view.space.to_pixels(locations[part])
        windows = np.stack([places - side / 2 + EDGE, places + side / 2 - EDGE], axis=2)
        windows = np.stack([np.floor(windows[:, :, 0]), np.ceil(windows[:, :, 1])], axis=2)
        windows = np.clip(windows, 0, [width, height])  # (n, T, 2 ends, 2 axes)
        total += area_of_union(windows * taken[part, :, None, None]).sum(axis=0)
    return total / len(locations)


def _within_outlines(
    view: PictureView, locations: NDArray[np.floating], taken: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """`covered_on_average` of a sensor whose outlines are any polygons."""
    from glimpse_envs.core.opencv import cv2

    total = np.zeros(locations.shape[1])
    for places, looked in zip(view.space.to_pixels(locations), taken, strict=True):
        covered = np.zeros(view.scene_shape[1:], np.uint8)
        for step, place in enumerate(places):
            for outline in view.outlines if looked[step] else ():
                corners = fixed_point(place + outline)
                cv2.fillPoly(covered, [corners], 1, shift=SUBPIXEL_BITS)
            total[step] += np.count_nonzero(covered)
    return total / len(locations)


def area_of_union(rectangles: NDArray[np.float64]) -> NDArray[np.float64]:
    """The area (n, T) that the first 1, 2, ... T of each row's rectangles cover together.

    Their edges cut the plane into a grid of (2 T - 1)**2 boxes, each of which is covered wholly or
    not at all, so that the work does not depend on how large they are.

    Args:
        rectangles: (n, T, 2, 2), the corner (x0, y0) and the corner (x1, y1) of each; one of no
            area covers nothing.
    """
    edges = np.sort(rectangles.reshape(len(rectangles), -1, 2), axis=1)  # (n, 2 T, 2)
    begins, sizes = edges[:, None, :-1], np.diff(edges, axis=1)
    low, high = rectangles[:, :, :1], rectangles[:, :, 1:]  # (n, T, 1, 2)
    spans = (low <= begins) & (begins < high)  # (n, T, 2 T - 1, 2)
    boxes = spans[..., None, :, 0] & spans[..., :, None, 1]  # (n, T, rows, columns)
    covered = np.logical_or.accumulate(boxes, axis=1).astype(np.float64)
    return np.einsum("ntij,ni,nj->nt", covered, sizes[..., 1], sizes[..., 0], optimize=True)


def _recalled(policy: Any, evaluation: Evaluation) -> float:
    """The mean number of kept glimpses that an agent's recall scores in an episode."""
    kept = policy.config.recall_glimpses if isinstance(policy, GlimpsePolicy) else 0
    scored = np.minimum(np.arange(1, evaluation.glimpses.max() + 1), kept).cumsum()
    return float(scored[evaluation.glimpses - 1].mean())


def _taken(evaluation: Evaluation) -> NDArray[np.bool_]:
    """(episodes, T), which steps each episode has."""
    return np.arange(int(evaluation.glimpses.max())) < evaluation.glimpses[:, None]


def _on_average(
    policy: Any,
    env: gym.vector.VectorEnv,
    evaluation: Evaluation,
    share: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The mean multiply-adds (T,) of deciding on 1, 2, ... observations of an episode, where the
    `share` (T,) of all episodes is that long."""
    return np.cumsum(count_steps(policy, env, evaluation) * share)
