"""skrl's PPO on one batched environment with plain spaces, and its score."""

import argparse
from typing import Any

import gymnasium as gym
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from torch import nn

from glimpse_envs.evaluation.protocol import evaluate

ENV_ID, ID = "Glimpse/CenteredGlyphs-v0", "glimpse_envs.flat_ids:GlimpseDiscrete/CenteredGlyphs-v0"
ROWS, ROLLOUT = 64, 32


class Actor(CategoricalMixin, Model):
    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        CategoricalMixin.__init__(self)
        self.net = nn.Sequential(nn.LazyLinear(256), nn.Tanh(), nn.LazyLinear(self.num_actions))

    def compute(self, inputs: dict[str, Any], role: str) -> tuple[Any, dict[str, Any]]:
        return self.net(inputs["observations"]), {}


class Critic(DeterministicMixin, Model):
    compute = Actor.compute

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.net = nn.Sequential(nn.LazyLinear(256), nn.Tanh(), nn.LazyLinear(1))


def main(steps: int) -> None:
    env = wrap_env(gym.make_vec(ID, num_envs=ROWS))
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    actor, critic = Actor(**spaces), Critic(**spaces)
    memory = RandomMemory(memory_size=ROLLOUT, num_envs=ROWS, device=env.device)
    cfg = PPO_CFG(rollouts=ROLLOUT, mini_batches=8, discount_factor=1.0, entropy_loss_scale=0.01)
    models = {"policy": actor, "value": critic}
    agent = PPO(models=models, memory=memory, cfg=cfg, **spaces)
    SequentialTrainer(env=env, agents=agent, cfg={"timesteps": max(ROLLOUT, steps // ROWS)}).train()

    def act(observation: dict[str, Any]) -> Any:
        flat = [torch.as_tensor(part).flatten(1) for part in observation.values()]
        return actor.net(torch.cat(flat, dim=1)).argmax(dim=-1).numpy()

    print(evaluate(act, ENV_ID, episodes=1000, history=True, look="tiles").summary())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500_000)
    main(parser.parse_args().steps)
