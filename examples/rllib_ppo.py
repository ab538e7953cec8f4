"""RLlib's PPO, in this process or with env runners in processes of their own.

Workers import the environments by the id's prefix, `glimpse_envs:`. The module of plain spaces
suits RLlib's default network.
"""

import argparse

import ray
from ray.rllib.algorithms.ppo import PPOConfig

ID = "glimpse_envs.flat_ids:GlimpseDiscrete/CenteredGlyphs-v0"


def main(steps: int, runners: int) -> None:
    ray.init(num_cpus=runners + 1, include_dashboard=False)
    config = (
        PPOConfig()
        .environment(ID)
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=16,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .training(
            train_batch_size_per_learner=2048, minibatch_size=256, num_epochs=4, lr=1e-3, gamma=1.0
        )
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    result = {}
    for _ in range(max(1, steps // 2048)):
        result = algorithm.train()
    runs = result["env_runners"]
    print(f"mean return {runs['episode_return_mean']:.3f}, length {runs['episode_len_mean']:.1f}")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--runners", type=int, default=0, help="processes; 0 for none but this")
    main(parser.parse_args().steps, parser.parse_args().runners)
