"""Play a batch with Gymnasium alone: random looks, and the share of right answers by chance."""

import argparse

import gymnasium as gym
import numpy as np

import glimpse_envs  # noqa: F401  (registers the environments)


def main(steps: int) -> None:
    envs = gym.make_vec("Glimpse/CenteredGlyphs-v0", num_envs=64)
    envs.action_space.seed(0)
    envs.reset(seed=0)
    successes: list[bool] = []
    for _ in range(steps // 64):
        _, _, terminated, truncated, info = envs.step(envs.action_space.sample())
        ended = terminated | truncated
        if ended.any():
            successes += info["success"][ended].tolist()
    right = f"{100 * np.mean(successes):.1f} %" if successes else "unknown"
    print(f"{len(successes)} episodes, right: {right}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000)
    main(parser.parse_args().steps)
