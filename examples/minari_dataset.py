"""A Minari dataset of episodes that the oracle plays: pip install 'minari[create]'."""

import argparse

import gymnasium as gym
import minari

from glimpse_envs.episodes.description import task_of


def main(episodes: int) -> None:
    env = minari.DataCollector(gym.make("glimpse_envs:Glimpse/CenteredGlyphs-v0"))
    task = task_of(env)
    assert task is not None
    for episode in range(episodes):
        env.reset(seed=episode)
        ended = False
        while not ended:
            action = {name: value[0] for name, value in task.oracle().items()}
            _, _, terminated, truncated, _ = env.step(action)
            ended = terminated or truncated
    dataset = env.create_dataset(
        "glimpse/centered-glyphs/oracle-v0", algorithm_name="oracle", author="glimpse_envs"
    )
    returns = [episode.rewards.sum() for episode in dataset]
    print(f"{len(returns)} episodes, mean return {sum(returns) / len(returns):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100)
    main(parser.parse_args().episodes)
