"""Episodes played once more, to be drawn."""

from collections.abc import Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field

import gymnasium as gym
import numpy as np

from agents.scoring.scanners import RandomScanner, RepeatedScanner, ScannedPolicy
from glimpse_envs.core.arrays import Floats
from glimpse_envs.episodes.description import describe, task_of
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.dealing import deal_one
from glimpse_envs.evaluation.moments import moments
from glimpse_envs.evaluation.policy import Policy
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
    third-party world, which draws itself."""
    if task_class_of(evaluation.env_id) is None:
        return []
    env = gym.make(evaluation.env_id, split=evaluation.split, **evaluation.env_kwargs)
    with closing(env):
        task = task_of(env)
        assert task is not None
        view, found = describe(env).picture_view, []
        for episode, probability in episodes:
            begun = deal_one(env, evaluation.split, evaluation.seed, episode)
            pictures: list[AnyPicture] = []
            for moment in moments(_repeating(policy, env, evaluation, episode), env, *begun):
                last = moment
                pictures.append(deepcopy(task.picture(0, "")))  # the task reuses its arrays
            boxes = np.zeros((0, 4))
            if view is not None and "target_box" in last.info:
                corners = np.asarray(last.info["target_box"], np.float64).reshape(-1, 2)
                boxes = view.space.to_pixels(corners).reshape(-1, 4)
                boxes = boxes[~np.isnan(boxes).any(axis=1)]
            found.append(Replay(episode, probability, last.total, tuple(pictures), boxes))
    return found


def _repeating(policy: Policy, env: gym.Env, evaluation: Evaluation, episode: int) -> Policy:
    """`policy`, with the looks of the episode where it draws them anew whenever it is played."""
    if not isinstance(policy, ScannedPolicy) or not isinstance(policy.scanner, RandomScanner):
        return policy
    if evaluation.locations is None:
        return policy
    return ScannedPolicy(RepeatedScanner(env, evaluation.locations[episode]), policy.model)
