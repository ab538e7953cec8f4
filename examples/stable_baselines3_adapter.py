"""Stable-Baselines3's PPO on one batched environment, and its score on the test split.

The policy has no memory, so it is shown all glimpses so far (`history=True`). Looks are tiles: a
choice among 16 is learned by reward alone much sooner than a place.
"""

import argparse

from stable_baselines3 import PPO

from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.evaluation.protocol import evaluate

ENV_ID, SEEN = "Glimpse/CenteredGlyphs-v0", {"history": True, "look": "tiles"}


def main(steps: int) -> None:
    env = make_sb3_env(ENV_ID, 64, seed=0, **SEEN)
    model = PPO(
        "MultiInputPolicy", env, n_steps=32, batch_size=512, learning_rate=1e-3, gamma=1.0, seed=0
    )
    model.learn(steps)
    print(evaluate(model, ENV_ID, **SEEN, episodes=1000).summary())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    main(parser.parse_args().steps)
