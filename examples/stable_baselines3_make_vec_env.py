"""Stable-Baselines3's own `make_vec_env` with plain spaces: PPO, CrossQ or DQN, then a score."""

import argparse
from typing import Any

from sb3_contrib import CrossQ
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_util import make_vec_env

from glimpse_envs.evaluation.protocol import evaluate

ENV_ID = "Glimpse/CenteredGlyphs-v0"
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "ppo": (PPO, {"flat": True}),
    "crossq": (CrossQ, {"flat": True, "flat_observation": True}),
    "dqn": (DQN, {"flat": "discrete", "flat_observation": True, "look": "tiles"}),
}


def main(name: str, steps: int) -> None:
    kind, plain = MODELS[name]
    env = make_vec_env(f"glimpse_envs:{ENV_ID}", 16, env_kwargs={"history": True, **plain})
    policy = "MlpPolicy" if "flat_observation" in plain else "MultiInputPolicy"
    model = kind(policy, env, gamma=1.0, seed=0)
    model.learn(steps)
    asked = {key: plain[key] for key in plain.keys() & {"look"}}
    print(evaluate(model, ENV_ID, history=True, episodes=1000, **asked).summary())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="ppo")
    parser.add_argument("--steps", type=int, default=500_000)
    main(parser.parse_args().model, parser.parse_args().steps)
