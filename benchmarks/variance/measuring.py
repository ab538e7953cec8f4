"""One measurement: a policy, the baselines fitted to it, and the noise of every estimator."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.variance.estimators import (
    Judge,
    count_parameters,
    episode_grams,
    fit_baselines,
    update_gradients,
)
from benchmarks.variance.frozen import Episodes, Frozen, Setting
from benchmarks.variance.noise import Array, Estimate, separate_noise, squared_mean

UPDATE = 64
"""Episodes of the update whose variance is reported."""
SCENES, EPISODES_A_SCENE, COPIES = 32, 16, 4
"""Of a measurement; leave-one-out compares `COPIES` of a scene's episodes."""
SIGNAL_BATCH = 512
"""Episodes of each batch that the gradient itself is estimated from: at least 8 of them, at most
48, until its squared norm is known to a fifth."""


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
    """What of it comes of sampling, the scenes fixed."""
    scenes: float | None = None
    signal: float | None = None
    """The squared norm of the gradient."""
    signal_error: float | None = None
    reward: float | None = None
    """What an episode earns."""

    @property
    def noise_to_signal(self) -> float | None:
        """None where the gradient itself is not known well enough."""
        if self.signal is None or self.signal <= 2 * (self.signal_error or 0.0):
            return None
        return self.variance / self.signal


def prepare(setting: Setting, fit: int) -> tuple[Frozen, Judge]:
    """A policy, and the baselines fitted to it on `fit` episodes."""
    frozen = Frozen(setting)
    average = fit_baselines(frozen.policy, frozen.play(frozen.make_env(fit, 1, seed=1)))
    return frozen, Judge(average, COPIES)


def measure_signal(frozen: Frozen, judge: Judge) -> dict[str, Estimate]:
    """The squared norm of the gradient itself, by part, from independent batches."""
    env = frozen.make_env(SIGNAL_BATCH, 1, seed=2)
    gradients: list[Tensor] = []
    while True:
        episodes = frozen.play(env, keep_gradient=True)
        advantages = judge.advantages(episodes)["learned"]
        gradients.append(update_gradients(frozen.policy, episodes.played, [advantages])[0])
        if len(gradients) % 8 == 0:
            signal = {
                part: squared_mean(gram) for part, gram in grams_of(frozen, gradients).items()
            }
            known = all(norm.error < 0.2 * norm.value for norm in signal.values())
            if known or len(gradients) == 48:
                return signal


def grams_of(frozen: Frozen, gradients: list[Tensor]) -> dict[str, Array]:
    """The inner products of gradients (P,), by part. The look's head is what comes last of what a
    look's gradient reaches."""
    stacked = torch.stack(gradients).double()
    look = stacked[:, -count_parameters(frozen.policy, "look") :]
    return {"all": (stacked @ stacked.T).numpy(), "look": (look @ look.T).numpy()}


def measure(
    experiment: str,
    x: float,
    frozen: Frozen,
    judge: Judge,
    episodes: Episodes,
    signal: dict[str, Estimate],
    setting: str | None = None,
) -> Iterator[Point]:
    """All estimators and parts, from `EPISODES_A_SCENE` episodes of each of `SCENES` scenes; the
    setting's name is that of the policy unless it is given."""
    advantages = judge.advantages(episodes)
    grams = episode_grams(frozen.policy, episodes.played, list(advantages.values()))
    for estimator, by_part in zip(advantages, grams, strict=True):
        unit = judge.copies if estimator == "leave_one_out" else 1
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
    frozen, judge = prepare(setting, fit)
    env = frozen.make_env(SCENES * EPISODES_A_SCENE, EPISODES_A_SCENE, seed=3)
    episodes = frozen.play(env)
    yield from measure(experiment, x, frozen, judge, episodes, measure_signal(frozen, judge))
