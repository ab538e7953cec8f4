"""The recurrent attention model (Mnih et al., 2014) in one file, with Gymnasium and PyTorch alone.

Answers are learned by cross-entropy. Where to look has no gradient: by REINFORCE, looks that came
before right answers become likelier. `--random` is the control: it learns answers alone.
"""

import argparse

import gymnasium as gym
import torch
from torch import Tensor, nn
from torch.distributions import Distribution, Normal, Uniform
from torch.nn import functional as F

import glimpse_envs  # noqa: F401  (registers the environments)

LOOK_STD = 0.15  # in training, around the look's mean; a scene goes from -1 to 1


class RAM(nn.Module):
    """Reads a glimpse at each step, and says where to look next and what the scene shows."""

    def __init__(self, seen: int, answers: int, units: int = 128) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(seen, 256), nn.LayerNorm(256), nn.ReLU())
        self.core = nn.LSTMCell(256, units)
        self.look, self.answer, self.value = (nn.Linear(units, n) for n in (2, answers, 1))

    def forward(
        self, observation: Tensor, state: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Return the mean of the next look (B, 2), the answer's logits (B, answers), the expected
        reward (B,) and the LSTM's state, from an observation (B, seen)."""
        state = self.core(self.encoder(observation), state)
        # Only answers train the memory, as in the paper.
        known = state[0].detach()
        return self.look(known).tanh(), self.answer(state[0]), self.value(known)[:, 0], state


def play(
    envs: gym.vector.VectorEnv, model: RAM, *, greedy: bool, random: bool
) -> tuple[Tensor, Tensor]:
    """Play an episode in every row, all of which take the same number of glimpses; return the loss
    and whether each row (B,) ended with success."""
    observation, info = envs.reset()
    state, ended, returns = None, False, torch.zeros(envs.num_envs)
    log_probs, values = [], []
    while not ended:
        mean, logits, value, state = model(torch.from_numpy(observation), state)
        looks: Distribution = Normal(mean, LOOK_STD)
        if random:
            looks = Uniform(-torch.ones_like(mean), 1.0)
        look = mean if greedy and not random else looks.sample()
        log_probs.append(looks.log_prob(look).sum(1))
        values.append(value)
        action = {"look": look.clamp(-1, 1).numpy(), "answer": logits.argmax(1).numpy()}
        observation, reward, terminated, _, info = envs.step(action)
        returns += torch.from_numpy(reward).float()
        ended = terminated.all()
    # The look that comes with the last answer is not taken.
    advantages = returns - torch.stack(values[:-1])  # (T - 1, B)
    look_loss = -(torch.stack(log_probs[:-1]) * advantages.detach()).mean()
    answer_loss = F.cross_entropy(logits, torch.from_numpy(info["target"]))
    right = torch.from_numpy(info["success"]).float()
    return answer_loss + look_loss + advantages.square().mean(), right


def main(env_id: str, episodes: int, rows: int, seed: int, random: bool) -> None:
    torch.manual_seed(seed)
    kwargs = {"autoreset_mode": "Disabled", "flat_observation": True}
    envs = gym.make_vec(env_id, num_envs=rows, **kwargs)
    envs.reset(seed=seed)
    model = RAM(envs.single_observation_space.shape[0], envs.single_action_space["answer"].n)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for update in range(1, episodes // rows + 1):
        loss, right = play(envs, model, greedy=False, random=random)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 100 == 0:
            print(f"{update * rows:,} episodes: {100 * right.mean():.1f} % right", flush=True)

    test = gym.make_vec(env_id, num_envs=10_000, split="test", **kwargs)
    test.reset(seed=0)
    with torch.no_grad():
        _, right = play(test, model, greedy=True, random=random)
    print(f"error on {len(right):,} test scenes: {100 * (1 - right.mean()):.2f} %")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env-id", default="Glimpse/CenteredGlyphs-v0")
    parser.add_argument("--episodes", type=int, default=200_000)
    parser.add_argument("--rows", type=int, default=256, help="episodes in a batch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--random", action="store_true", help="look at random places")
    given = parser.parse_args()
    main(given.env_id, given.episodes, given.rows, given.seed, given.random)
