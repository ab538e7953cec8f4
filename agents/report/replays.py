"""Episodes played once more, to be drawn."""

from collections.abc import Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from glimpse_envs.core.arrays import Floats
from glimpse_envs.episodes.description import describe, task_of
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.evaluation.policy import Policy, as_act
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.rendering import AnyPicture


@dataclass(frozen=True)
class Replay:
    """One episode.

    Attributes:
        episode: its number in the split.
        probability: of its wrong answer; NaN where unknown.
        total: its return.
        pictures: one of every moment.
        boxes: (n, 4) of the targets at its end, x0, y0, x1, y1 in pixels.
    """

    episode: int
    probability: float
    total: float
    pictures: tuple[AnyPicture, ...]
    boxes: Floats = field(default_factory=lambda: np.zeros((0, 4)))


def replay(
    policy: Policy, evaluation: Evaluation, episodes: Sequence[tuple[int, float]]
) -> list[Replay]:
    """Play `episodes`, each with a probability to be shown, of an evaluation once more; none of a
    world of others, which draws itself."""
    if task_class_of(evaluation.env_id) is None:
        return []
    options: dict[str, Any] = {"split": evaluation.split, "autoreset_mode": "Disabled"}
    env = gym.make_vec(evaluation.env_id, num_envs=1, **options, **evaluation.env_kwargs)
    with closing(env):
        task = task_of(env)
        assert task is not None
        act, found = as_act(policy, env, deterministic=True), []
        view = describe(env).picture_view
        for episode, probability in episodes:
            indices = np.array([episode])
            observation, info = deal(env, evaluation.split, evaluation.seed, indices)
            state, start, ended, total = None, np.ones(1, np.bool_), False, 0.0
            pictures = [deepcopy(task.picture(0, ""))]  # the task reuses its arrays
            while not ended:
                action, state = act(observation, state, start, info)
                start = np.zeros(1, np.bool_)
                observation, reward, terminated, truncated, info = env.step(action)
                ended, total = bool(terminated[0] or truncated[0]), total + float(reward[0])
                pictures.append(deepcopy(task.picture(0, "")))
            boxes = np.zeros((0, 4))
            if view is not None and "target_box" in info:
                corners = np.asarray(info["target_box"], np.float64).reshape(-1, 2)
                boxes = view.space.to_pixels(corners).reshape(-1, 4)
                boxes = boxes[~np.isnan(boxes).any(axis=1)]
            found.append(Replay(episode, probability, total, tuple(pictures), boxes))
    return found
