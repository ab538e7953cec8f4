"""All estimators on a task whose gradient is known: 4 tiles of a digit, 3 glimpses.

The whole gradient of the expected reward is estimated, by all parameters that it reaches. The
reward is the probability of the right answer after the last glimpse, so that the looks' gradient is
the score function's, and the answers' gradient is that of back-propagation in all estimators.
`exact` follows the 16 paths of looks and is the true gradient; `exact, next` samples the history;
`straight_through` goes through relaxed samples of Gumbel noise.
"""

from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from torch import Tensor

from agents.algorithms import straight_through
from agents.algorithms.exact import (
    OBJECTIVES,
    Exact,
    ExactConfig,
    all_paths_losses,
    next_tile_losses,
)
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.algorithms.tile_learner import TileEpisodes
from agents.episodes.environments import make_training_env
from agents.episodes.rollout import play_episodes
from agents.policy.networks import NetworkConfig
from benchmarks.variance.estimators import Baselines, fit_baselines, look_loss
from benchmarks.variance.frozen import Episodes
from benchmarks.variance.noise import Estimate, squared_mean, total_variance

ENV_ID = "Glimpse/CenteredGlyphs-v0"
TILES, GLIMPSES = 4, 3
KWARGS: dict[str, Any] = {"glimpse_size": 14, "look": "tiles", "budget": GLIMPSES}
SCENES, COPIES = 8, 8
BATCH = SCENES * COPIES
"""Number of episodes an update; `exact` follows every path of each scene."""
OPTIONS = {"scene": np.repeat(np.arange(SCENES), COPIES)}
"""Options of `reset`: the same scenes at every update."""
TEMPERATURES = (1.0, 0.5)

PASSES = {
    "exact": sum(TILES**look for look in range(GLIMPSES)),
    "exact_next": 1 + TILES * (GLIMPSES - 1) + (GLIMPSES - 2),
}
"""Passes through glimpse network and core an episode; of the other estimators one a glimpse."""


@dataclass(frozen=True)
class Measured:
    """Noise and bias of one estimator's gradient of one update, with fixed scenes.

    Args:
        variance: tr Cov.
        squared_bias: |E g - truth|^2 / |truth|^2, unbiased, so that it can be below 0.
    """

    variance: Estimate
    squared_bias: Estimate


class Enumerable:
    """A policy after a short training, on `SCENES` fixed scenes.

    Args:
        updates: number of updates of the training.
        units: number of units of the core; the other layers have as many or half.
        seed: random seed of the training and of all samples.
    """

    def __init__(self, updates: int = 200, units: int = 32, seed: int = 0) -> None:
        network = NetworkConfig(
            what_units=units,
            where_units=units // 2,
            glimpse_units=units,
            core_units=units,
            head_units=units // 2,
        )
        config = ReinforceConfig(
            env_id=ENV_ID,
            env_kwargs=KWARGS,
            seed=seed,
            batch_size=BATCH,
            learning_rate=3e-3,
            network=network,
        )
        self.learner = Reinforce(config)
        self.policy = self.learner.policy
        for update in range(updates):
            self.learner.update(update / updates)
        many = make_training_env(replace(config, batch_size=32 * BATCH))
        many.reset(seed=seed + 1)
        with torch.no_grad():
            fitted = Episodes.by_answer(play_episodes(many, self.policy, self.learner.choose))
        self.baselines = Baselines(fit_baselines(self.policy, fitted), COPIES)
        self.env = _fixed_scenes("glimpse")
        self.tiles = self._tile_episodes(ExactConfig(env_id=ENV_ID, env_kwargs=KWARGS))
        self.generator = torch.Generator().manual_seed(seed + 1)
        named = [(n, p) for n, p in self.policy.named_parameters() if not n.startswith("baseline")]
        self.parameters = [p for _, p in named]
        self.of_the_look = torch.cat(
            [torch.full((p.numel(),), name.startswith("heads.look")) for name, p in named]
        )

    def truth(self) -> Tensor:
        """The true gradient, (P,)."""
        return self._gradient(self._exact(self._scenes_once()).mean())

    def of_scenes(self) -> Tensor:
        """The true gradients (S, P) of the single scenes."""
        return torch.stack([self._gradient(one) for one in self._exact(self._scenes_once())])

    def estimates(self, updates: int) -> dict[str, Tensor]:
        """Estimator -> its gradients (U, P) of so many independent updates."""
        found: dict[str, list[Tensor]] = {}
        for _ in range(updates):
            for name, objective in {**self._by_score(), **self._by_tiles()}.items():
                found.setdefault(name, []).append(self._gradient(objective))
        return {name: torch.stack(gradients) for name, gradients in found.items()}

    def _by_score(self) -> dict[str, Tensor]:
        """The scalar objective of one update of each estimator of REINFORCE's family, all on the
        same episodes."""
        played = play_episodes(self.env, self.policy, self.learner.choose, options=OPTIONS)
        right = played.log_likelihood()[-1].exp().mean()
        advantages = self.baselines.advantages(Episodes.by_answer(played))
        return {name: right + look_loss(played, a) for name, a in advantages.items()}

    def _by_tiles(self) -> dict[str, Tensor]:
        """The same of the estimators that read all tiles."""
        policy, generator, reward = self.policy, self.generator, OBJECTIVES["expected_reward"]
        ahead = next_tile_losses(policy, self.tiles, reward, generator).losses["objective"]
        climbed = {
            "exact": self._exact(self._scenes_once()).mean(),
            "exact_next": -ahead.mean(),
        }
        for temperature in TEMPERATURES:
            losses = straight_through.episode_losses(
                policy, self.tiles, temperature, True, generator
            ).losses
            climbed[f"straight_through_{temperature:g}"] = (-losses["answer"]).exp().mean()
        return climbed

    def _exact(self, episodes: TileEpisodes) -> Tensor:
        """The expected reward in each of B scenes, (B,)."""
        losses = all_paths_losses(self.policy, episodes, OBJECTIVES["expected_reward"]).losses
        return -losses["objective"]

    def _gradient(self, of: Tensor) -> Tensor:
        parts = torch.autograd.grad(
            of, self.parameters, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        return torch.cat([part.flatten() for part in parts])

    def _scenes_once(self) -> TileEpisodes:
        tiles = self.tiles
        return replace(
            tiles,
            glimpses=tiles.glimpses[::COPIES],
            targets=tiles.targets[::COPIES],
            first=tiles.first[::COPIES],
        )

    def _tile_episodes(self, config: ExactConfig) -> TileEpisodes:
        """The episodes of `env`, with the glimpses at all tiles."""
        seen, _ = self.env.reset(options=OPTIONS)
        full = _fixed_scenes("full")
        whole, _ = full.reset(options=OPTIONS)
        *_, info = full.step({"answer": np.zeros(BATCH, np.int64)})
        learner = Exact(replace(config, batch_size=BATCH))
        away = torch.as_tensor(seen["location"])[:, None] - learner.reader.locations  # (B, n, 2)
        return TileEpisodes(
            glimpses=learner.reader(torch.as_tensor(whole["scene"])),
            locations=learner.reader.locations,
            targets=torch.as_tensor(info["target"]),
            first=away.square().sum(dim=-1).argmin(dim=1),
            pays=learner.pays,
        )


def assess(estimates: Tensor, truth: Tensor) -> Measured:
    """The variance and bias of independent `estimates` (U, P) of `truth` (P,)."""
    errors = (estimates - truth).double()
    gram = (errors @ errors.T).numpy()
    signal = truth.double().square().sum().item()
    bias = squared_mean(gram)
    return Measured(total_variance(gram), Estimate(bias.value / signal, bias.error / signal))


def _fixed_scenes(view: str) -> VectorEnv:
    """The environment of `OPTIONS`."""
    env = gym.make_vec(
        ENV_ID, num_envs=BATCH, split="test", view=view, autoreset_mode="Disabled", **KWARGS
    )
    env.reset(seed=0)
    return env
