"""One episode moment by moment, for code that draws or shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.episodes.description import ACT, OBSERVATION
from glimpse_envs.evaluation.acting import as_act
from glimpse_envs.evaluation.actions import Actions
from glimpse_envs.evaluation.policy import Observation, Policy


@dataclass(frozen=True)
class Moment:
    """What a policy sees before a decision, as a batch of one row, or the end of the episode.

    Attributes:
        observation: name -> (1, ...).
        info: name -> (1, ...).
        state: recurrent, before the decision; None at first.
        episode_start: (1,), whether it is the first moment.
        ended: whether the episode is over.
        total: return so far.
    """

    observation: Observation
    info: dict[str, Any]
    state: Any
    episode_start: NDArray[np.bool_]
    ended: bool
    total: float


def moments(
    policy: Policy,
    env: gym.Env,
    observation: Any,
    info: dict[str, Any],
    actions: Actions = "likeliest",
) -> Iterator[Moment]:
    """Yield each moment of an episode before its action is taken, and last the end.

    An action is taken when the next moment is asked for.

    Args:
        policy: the policy that plays.
        env: a single environment, just reset.
        observation, info: those of the reset.
        actions: the likeliest, or samples.
    """
    act = as_act(policy, env, deterministic=actions == "likeliest")
    state, start, ended, total = None, np.ones(1, np.bool_), False, 0.0
    while True:
        parts = observation if isinstance(observation, dict) else {OBSERVATION: observation}
        moment = Moment(_batch(parts), _batch(info), state, start, ended, total)
        yield moment
        if ended:
            return
        action, state = act(moment.observation, state, start, moment.info)
        chosen: Any = {name: value[0] for name, value in action.items()}
        chosen = chosen if isinstance(env.action_space, spaces.Dict) else chosen[ACT]
        observation, reward, terminated, truncated, info = env.step(chosen)
        start = np.zeros(1, np.bool_)
        ended, total = bool(terminated or truncated), total + float(reward)


def _batch(parts: dict[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value)[None] for name, value in parts.items()}
