"""Stable-Baselines3's own `make_vec_env` with plain spaces: PPO, DQN or CrossQ, then a score."""

import argparse
from typing import Any

from sb3_contrib import CrossQ
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_util import make_vec_env

from glimpse_envs.evaluation.protocol import evaluate

DIGITS, FIND = "Glimpse/CenteredGlyphs-v0", "Glimpse/SearchGlyphs-v0"
TILES = {"history": True, "look": "tiles"}
SMALL = {"net_arch": {"pi": [64, 64], "qf": [128, 128]}}
ONE = {"history": True, "scene_size": 72, "images": 1, "glimpse_size": 6, "budget": 3}
# Learner, policy and settings; the task, what is seen of it, and how its spaces are made plain.
MODELS: dict[str, tuple[Any, str, dict[str, Any], str, dict[str, Any], dict[str, Any]]] = {
    "ppo": (
        PPO, "MultiInputPolicy", {"n_steps": 128, "batch_size": 512, "learning_rate": 1e-3},
        DIGITS, TILES, {"flat": True},
    ),
    "dqn": (
        DQN, "MlpPolicy", {"exploration_final_eps": 0.02, "train_freq": 1},
        DIGITS, TILES, {"flat": "discrete", "flat_observation": True},
    ),
    "crossq": (
        CrossQ, "MlpPolicy",
        {"gradient_steps": -1, "learning_starts": 1000, "policy_kwargs": SMALL},
        FIND, ONE, {"flat": True, "flat_observation": True},
    ),
}  # fmt: skip


def main(name: str, steps: int) -> None:
    kind, policy, settings, env_id, seen, plain = MODELS[name]
    env = make_vec_env(f"glimpse_envs:{env_id}", 16, env_kwargs={**seen, **plain})
    model = kind(policy, env, gamma=1.0, seed=0, **settings)
    model.learn(steps)
    print(evaluate(model, env_id, episodes=1000, **seen).summary())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="ppo")
    parser.add_argument("--steps", type=int, default=500_000)
    main(parser.parse_args().model, parser.parse_args().steps)
