"""CPU time of an episode, of model and environment alone."""

import time
from contextlib import closing
from typing import Any

import numpy as np

from agents.scoring.costs import make_evaluated
from agents.training.host import torch_threads
from glimpse_envs.evaluation.acting import as_act
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.evaluation.policy import as_policy
from glimpse_envs.evaluation.result import Evaluation

WARM_UP = 3
EPISODES = 20
LONGEST = 60.0
"""CPU seconds after which no further episode begins: a whole game may last for minutes."""


def seconds_per_episode(policy: Any, evaluation: Evaluation) -> float:
    """Core-seconds of one episode, its reset included: the mean over the first `EPISODES` of
    `evaluation`, after `WARM_UP` untimed ones; over fewer, at least one, where they are long.

    One row and one thread, for an agent's many small steps and the one large step of a full view
    alike; loading the policy and making the environment are not timed.

    Args:
        policy: as `glimpse_envs.evaluation.protocol.evaluate` takes it.
        evaluation: of this policy.
    """
    env = make_evaluated(evaluation, rows=1)
    act = as_act(as_policy(policy), env, deterministic=evaluation.actions == "likeliest")

    def play(scene: int) -> None:
        indices = np.array([scene % evaluation.episodes])
        observation, info = deal(env, evaluation.split, evaluation.seed, indices)
        state, start, ended = None, np.ones(1, np.bool_), np.zeros(1, np.bool_)
        while not ended[0]:
            action, state = act(observation, state, start, info)
            observation, _, terminated, truncated, info = env.step(action)
            start = ended = terminated | truncated

    with torch_threads(1), closing(env):
        begun = time.process_time()
        for scene in range(WARM_UP):
            if time.process_time() - begun < LONGEST / 2:
                play(scene)
        timed = time.process_time()
        for scene in range(EPISODES):
            play(scene)
            if time.process_time() - begun > LONGEST:
                break
        return (time.process_time() - timed) / (scene + 1)
