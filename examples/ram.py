"""The recurrent attention model (Mnih et al., 2014) in one file, with Gymnasium and PyTorch alone.

The answer is taught by cross-entropy. Where to look has no gradient: REINFORCE makes those looks
likelier that came before right answers.
"""

import argparse
import time

import gymnasium as gym
import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn import functional as F

import glimpse_envs  # noqa: F401  (registers the environments)

LOOK_STD = 0.15  # of looks around their mean, in the scene's coordinates from -1 to 1


class RAM(nn.Module):
    """An LSTM that reads a glimpse at each step, and says where to look next and what there is."""

    def __init__(self, observation: int, answers: int, units: int = 128) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(observation, 256), nn.LayerNorm(256), nn.ReLU())
        self.core = nn.LSTMCell(256, units)
        self.look, self.answer, self.value = (nn.Linear(units, n) for n in (2, answers, 1))

    def forward(
        self, observation: Tensor, state: tuple[Tensor, Tensor] | None
    ) -> tuple[Normal, Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return the distribution of the next look (B, 2), the logits of the answer (B, answers),
        the expected reward (B,) and the LSTM's state, from an observation (B, n)."""
        state = self.core(self.encoder(observation), state)
        seen = state[0]
        # Looks and the expected reward do not train the memory: answers do.
        mean = self.look(seen.detach()).tanh()
        value = self.value(seen.detach()).squeeze(1)
        return Normal(mean, LOOK_STD), self.answer(seen), value, state


def play(envs: gym.vector.VectorEnv, model: RAM, greedy: bool) -> tuple[Tensor, Tensor]:
    """Play one episode in every row, all of which have the same number of glimpses; return the loss
    and the reward of each row (B,)."""
    observation, _ = envs.reset()
    state, ended = None, False
    log_probabilities, values = [], []
    while not ended:
        looks, logits, value, state = model(torch.from_numpy(observation), state)
        look = looks.mean if greedy else looks.sample()
        log_probabilities.append(looks.log_prob(look).sum(1))
        values.append(value)
        action = {"look": look.clamp(-1, 1).numpy(), "answer": logits.argmax(1).numpy()}
        observation, reward, terminated, _, info = envs.step(action)
        ended = bool(terminated.all())
    rewards = torch.from_numpy(reward).float()
    # The last look is never taken, and nothing depends on it.
    log_probability, expected = torch.stack(log_probabilities[:-1]), torch.stack(values[:-1])
    advantage = rewards - expected
    policy_loss = -(log_probability * advantage.detach()).mean()
    answer_loss = F.cross_entropy(logits, torch.from_numpy(info["target"]))
    return answer_loss + policy_loss + advantage.square().mean(), rewards


def main(env_id: str, minutes: float, batch: int, seed: int) -> None:
    torch.manual_seed(seed)
    make = {"num_envs": batch, "autoreset_mode": "Disabled", "flat_observation": True}
    envs = gym.make_vec(env_id, **make)
    envs.reset(seed=seed)
    answers = envs.single_action_space["answer"].n
    model = RAM(envs.single_observation_space.shape[0], answers)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    start, updates = time.perf_counter(), 0
    while time.perf_counter() < start + 60 * minutes:
        loss, rewards = play(envs, model, greedy=False)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        updates += 1
        if updates % 100 == 0:
            print(f"{updates * batch:,} episodes: {100 * rewards.mean():.1f} % right", flush=True)
    test = gym.make_vec(env_id, **make | {"num_envs": 10_000}, split="test")
    test.reset(seed=0)
    with torch.no_grad():
        _, rewards = play(test, model, greedy=True)
    print(f"{len(rewards):,} test scenes: {100 * (1 - rewards.mean()):.2f} % error")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env-id", default="Glimpse/CenteredGlyphs-v0")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    main(arguments.env_id, arguments.minutes, arguments.batch, arguments.seed)
