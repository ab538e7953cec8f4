"""TorchRL's PPO on an environment with plain spaces, single environments or one batch.

TorchRL puts entries of `info` among the observations where it reads them, `info["target"]` too:
leave info readers off, as here, or the label is seen.
"""

import argparse

import torch
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential
from tensordict.nn import TensorDictModule as Module
from torch import nn
from torch.distributions import OneHotCategorical
from torchrl.collectors import Collector
from torchrl.envs import GymEnv, RewardSum, TransformedEnv
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

ID = "glimpse_envs.flat_ids:GlimpseDiscrete/CenteredGlyphs-v0"


def main(steps: int, rows: int) -> None:
    torch.manual_seed(0)
    env = TransformedEnv(GymEnv(ID, num_envs=rows), RewardSum())
    seen, choices = env.observation_spec["observation"].shape[-1], env.action_spec.space.n

    def network(outputs: int) -> nn.Module:
        return nn.Sequential(nn.Linear(seen, 256), nn.Tanh(), nn.Linear(256, outputs))

    actor = ProbabilisticTensorDictSequential(
        Module(network(choices), ["observation"], ["logits"]),
        ProbabilisticTensorDictModule(
            ["logits"], ["action"], distribution_class=OneHotCategorical, return_log_prob=True
        ),
    )
    critic = Module(network(1), ["observation"], ["state_value"])
    loss, advantage = ClipPPOLoss(actor, critic), GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    collector = Collector(env, actor, frames_per_batch=2048, total_frames=steps)
    for batch in collector:
        with torch.no_grad():
            advantage(batch)
        for part in batch.reshape(-1)[torch.randperm(batch.numel())].split(256):
            losses = loss(part)
            sum(losses[f"loss_{name}"] for name in ("objective", "critic", "entropy")).backward()
            optimizer.step()
            optimizer.zero_grad()
        ended = batch["next", "done"]
        print(f"mean return {batch['next', 'episode_reward'][ended].mean():.3f}")
    collector.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500_000)
    parser.add_argument("--rows", type=int, default=16)
    main(parser.parse_args().steps, parser.parse_args().rows)
