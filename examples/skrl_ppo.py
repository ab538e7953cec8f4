"""skrl's PPO on one batched environment with plain spaces."""

import argparse
from typing import Any

import gymnasium as gym
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from torch import nn

ID = "glimpse_envs.flat_ids:GlimpseDiscrete/CenteredGlyphs-v0"
ROWS, ROLLOUT = 64, 32


class Actor(CategoricalMixin, Model):
    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        CategoricalMixin.__init__(self)
        self.net = nn.Sequential(nn.LazyLinear(256), nn.Tanh(), nn.LazyLinear(self.num_actions))

    def compute(self, inputs: dict[str, Any], role: str) -> tuple[Any, dict[str, Any]]:
        return self.net(inputs["observations"]), {}


class Critic(DeterministicMixin, Model):
    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.net = nn.Sequential(
            nn.Linear(self.num_observations, 256), nn.Tanh(), nn.Linear(256, 1)
        )

    compute = Actor.compute


def main(steps: int) -> None:
    set_seed(0)
    env = wrap_env(gym.make_vec(ID, num_envs=ROWS))
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    agent = PPO(
        models={"policy": Actor(**spaces), "value": Critic(**spaces)},
        memory=RandomMemory(memory_size=ROLLOUT, num_envs=ROWS, device=env.device),
        cfg=PPO_CFG(rollouts=ROLLOUT, mini_batches=8, discount_factor=1.0),
        device=env.device,
        **spaces,
    )
    trainer = SequentialTrainer(
        env=env, agents=agent, cfg={"timesteps": max(ROLLOUT, steps // ROWS)}
    )
    trainer.train()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    main(parser.parse_args().steps)
