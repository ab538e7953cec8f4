"""One measurement: a policy, the baselines fitted to it, and the noise of every estimator."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.variance.estimators import (
    Baselines,
    count_parameters,
    episode_grams,
    fit_baselines,
    update_gradients,
)
from benchmarks.variance.frozen import Episodes, Frozen, Setting
from benchmarks.variance.noise import Array, Estimate, separate_noise, squared_mean
from report.variance_record import ratio_to_signal

UPDATE = 64
"""Episodes of the update whose variance is reported."""
SCENES, EPISODES_A_SCENE, COPIES = 32, 16, 4
"""Size of a measurement; leave-one-out compares `COPIES` of a scene's episodes."""
SIGNAL_BATCH = 512
"""Number of episodes in each batch that the true gradient is estimated from: 8 to 48 batches, until
its squared norm has a standard error of a fifth."""


@dataclass(frozen=True)
class Point:
    """One estimator at one place of one experiment, with one seed."""

    experiment: str
    setting: str
    x: float
    seed: int
    estimator: str
    part: str
    parameters: int
    variance: float
    """tr Cov of the gradient of one update."""
    variance_error: float | None = None
    actions: float | None = None
    """The part of the variance from sampling, with fixed scenes."""
    scenes: float | None = None
    signal: float | None = None
    """The squared norm of the true gradient."""
    signal_error: float | None = None
    reward: float | None = None
    """The mean reward of an episode."""

    @property
    def noise_to_signal(self) -> float | None:
        """None where the true gradient is not known well enough."""
        return ratio_to_signal(self.variance, self.signal, self.signal_error)


def prepare(setting: Setting, fit: int) -> tuple[Frozen, Baselines]:
    """A policy, and the baselines fitted to it on `fit` episodes."""
    frozen = Frozen(setting)
    average = fit_baselines(frozen.policy, frozen.play(frozen.make_env(fit, 1, seed=1)))
    return frozen, Baselines(average, COPIES)


def measure_signal(frozen: Frozen, baselines: Baselines) -> dict[str, Estimate]:
    """The squared norm of the true gradient, by part, from independent batches."""
    env = frozen.make_env(SIGNAL_BATCH, 1, seed=2)
    gradients: list[Tensor] = []
    while True:
        episodes = frozen.play(env, keep_gradient=True)
        advantages = baselines.advantages(episodes)["learned"]
        gradients.append(update_gradients(frozen.policy, episodes.played, [advantages])[0])
        if len(gradients) % 8 == 0:
            signal = {
                part: squared_mean(gram) for part, gram in grams_of(frozen, gradients).items()
            }
            known = all(norm.error < 0.2 * norm.value for norm in signal.values())
            if known or len(gradients) == 48:
                return signal


def grams_of(frozen: Frozen, gradients: list[Tensor]) -> dict[str, Array]:
    """The inner products of gradients (P,), by part; the look's head has the last parameters."""
    stacked = torch.stack(gradients).double()
    look = stacked[:, -count_parameters(frozen.policy, "look") :]
    return {"all": (stacked @ stacked.T).numpy(), "look": (look @ look.T).numpy()}


def play_scenes(frozen: Frozen) -> Episodes:
    """The episodes of a measurement."""
    rows = SCENES * EPISODES_A_SCENE
    return frozen.play(frozen.make_env(rows, EPISODES_A_SCENE, seed=3))


def measure(
    experiment: str,
    x: float,
    frozen: Frozen,
    baselines: Baselines,
    episodes: Episodes,
    signal: dict[str, Estimate],
    setting: str | None = None,
) -> Iterator[Point]:
    """All estimators and parts, from the episodes of `play_scenes`."""
    advantages = baselines.advantages(episodes)
    grams = episode_grams(frozen.policy, episodes.played, list(advantages.values()))
    for estimator, by_part in zip(advantages, grams, strict=True):
        unit = baselines.copies if estimator == "leave_one_out" else 1
        share = unit / UPDATE
        for part, gram in by_part.items():
            noise = separate_noise(gram, SCENES, unit)
            yield Point(
                experiment,
                setting or frozen.setting.name,
                x,
                frozen.setting.seed,
                estimator,
                part,
                count_parameters(frozen.policy, part),
                variance=noise.total.value * share,
                variance_error=noise.total.error * share,
                actions=noise.actions.value * share,
                scenes=noise.scenes.value * share,
                signal=signal[part].value,
                signal_error=signal[part].error,
                reward=episodes.signal.sum(dim=0).mean().item(),
            )


def measure_setting(experiment: str, x: float, setting: Setting, fit: int) -> Iterator[Point]:
    """All estimators and parts for the policy of one setting."""
    frozen, baselines = prepare(setting, fit)
    episodes, signal = play_scenes(frozen), measure_signal(frozen, baselines)
    yield from measure(experiment, x, frozen, baselines, episodes, signal)
