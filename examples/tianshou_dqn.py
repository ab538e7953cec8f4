"""Tianshou's DQN on an environment with plain spaces."""

import argparse

import gymnasium as gym
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

ID = "glimpse_envs.flat_ids:GlimpseDiscrete/CenteredGlyphs-v0"


def main(steps: int) -> None:
    env = gym.make(ID)
    training = DummyVectorEnv([lambda: gym.make(ID)] * 16)
    testing = DummyVectorEnv([lambda: gym.make(ID)] * 16)
    shape, space = env.observation_space.shape, env.action_space
    assert isinstance(space, gym.spaces.Discrete)
    net = Net(state_shape=shape, action_shape=space.n, hidden_sizes=[256, 256])
    policy = DiscreteQLearningPolicy(model=net, action_space=space, eps_training=0.1)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0)
    epoch = min(steps, 10_000)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=Collector(algorithm, training, VectorReplayBuffer(100_000, 16)),
            test_collector=Collector(algorithm, testing),
            max_epochs=max(1, steps // epoch),
            epoch_num_steps=epoch,
            collection_step_num_env_steps=160,
            update_step_num_gradient_steps_per_sample=0.1,
            test_step_num_episodes=200,
            batch_size=128,
        )
    )
    print(f"best mean return {result.best_reward:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300_000)
    main(parser.parse_args().steps)
