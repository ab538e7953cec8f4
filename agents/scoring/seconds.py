"""CPU time of an episode, of model and environment alone."""

import time
from contextlib import closing
from typing import Any

import numpy as np
import torch

from agents.scoring.costs import make_evaluated
from glimpse_envs.evaluation.policy import as_act, as_policy
from glimpse_envs.evaluation.protocol import deal
from glimpse_envs.evaluation.result import Evaluation

WARM_UP = 3
EPISODES = 20


def seconds_per_episode(policy: Any, evaluation: Evaluation) -> float:
    """Core-seconds of one episode, its reset included: the mean over the first `EPISODES` of
    `evaluation`, after `WARM_UP` untimed ones.

    One row and one thread, for an agent's many small steps and the one large step of a full view
    alike; loading the policy and making the environment are not timed.

    Args:
        policy: as `glimpse_envs.evaluation.protocol.evaluate` takes it.
        evaluation: of this policy.
    """
    env = make_evaluated(evaluation, rows=1)
    act = as_act(as_policy(policy), env, deterministic=True)

    def play(scene: int) -> None:
        indices = np.array([scene % evaluation.episodes])
        observation, info = deal(env, evaluation.split, evaluation.seed, indices)
        state, start, ended = None, np.ones(1, np.bool_), np.zeros(1, np.bool_)
        while not ended[0]:
            action, state = act(observation, state, start, info)
            observation, _, terminated, truncated, info = env.step(action)
            start = ended = terminated | truncated

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with closing(env):
            for scene in range(WARM_UP):
                play(scene)
            began = time.process_time()
            for scene in range(EPISODES):
                play(scene)
            return (time.process_time() - began) / EPISODES
    finally:
        torch.set_num_threads(threads)
