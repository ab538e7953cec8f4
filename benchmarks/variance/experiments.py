"""The experiments: variance against width, training, looks, batch, copies and more."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from agents.episodes.rollout import replay_episodes
from benchmarks.variance.estimators import (
    Baselines,
    count_parameters,
    fit_baselines,
    update_gradients,
)
from benchmarks.variance.frozen import LOOKS, Episodes, Frozen, Setting, paid_at_once
from benchmarks.variance.measuring import (
    COPIES,
    UPDATE,
    Point,
    grams_of,
    measure,
    measure_setting,
    measure_signal,
    play_scenes,
    prepare,
)
from benchmarks.variance.noise import total_variance
from benchmarks.variance.sampled_units import Toy, dimensions, hidden_units

TRAINED = 120
"""Number of updates of a short training."""


@dataclass(frozen=True)
class Scale:
    """Places, seeds and sample sizes of all experiments."""

    seeds: int = 3
    widths: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
    trainings: tuple[int, ...] = (30, 60, 120, 240, 480)
    budgets: tuple[int, ...] = (2, 3, 5, 9, 16)
    batches: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256)
    copies: tuple[int, ...] = (2, 4, 8, 16, 32)
    offsets: tuple[float, ...] = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
    units: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)
    dimensions: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    updates: int = 100
    """Number of updates in the batch experiment, a quarter of those in the enumerable one."""
    fit: int = 2048
    """Number of episodes that the baselines are fitted on."""


FULL, QUICK = (
    Scale(),
    Scale(
        seeds=2,
        widths=(16, 64, 256),
        trainings=(30, 240),
        budgets=(2, 3, 9),
        batches=(8, 32, 128),
        copies=(2, 8, 32),
        offsets=(0.0, 2.0, 16.0),
        updates=25,
        fit=1024,
    ),
)


def measure_width(scale: Scale) -> Iterator[Point]:
    """Against the units of the core and of the heads' hidden layers."""
    for setting in (
        Setting("tiles", "place"),
        Setting("continuous", "place"),
        Setting("tiles", "answer", updates=TRAINED),
        Setting("continuous", "answer", updates=TRAINED),
    ):
        for width in scale.widths:
            for seed in range(scale.seeds):
                here = replace(setting, width=width, seed=seed)
                yield from measure_setting("width", width, here, scale.fit)


def measure_training(scale: Scale) -> Iterator[Point]:
    """Against the updates of training, at one width."""
    for updates in scale.trainings:
        for seed in range(scale.seeds):
            setting = Setting("tiles", "answer", updates=updates, seed=seed)
            yield from measure_setting("training", updates, setting, scale.fit)


def measure_looks(scale: Scale) -> Iterator[Point]:
    """Against the number of looks that are sampled, one fewer than glimpses: each paid as it is
    taken, or all together by one bit at the end, which leaves the gradient as it is."""
    for look in LOOKS:
        for budget in scale.budgets:
            for seed in range(scale.seeds):
                yield from _measure_looks(Setting(look, "place", budget=budget, seed=seed), scale)


def _measure_looks(setting: Setting, scale: Scale) -> Iterator[Point]:
    frozen, baselines = prepare(setting, scale.fit)
    signal, looks = measure_signal(frozen, baselines), setting.budget - 1
    to_fit = frozen.play(frozen.make_env(scale.fit, 1, seed=1))
    episodes = play_scenes(frozen)
    kind = setting.name.partition(",")[0]
    paid = f"{kind}, each look paid"
    yield from measure("looks", looks, frozen, baselines, episodes, signal, paid)
    generator = torch.Generator().manual_seed(setting.seed)
    at_once = paid_at_once(to_fit, generator)
    baselines = replace(baselines, average=fit_baselines(frozen.policy, at_once))
    episodes = paid_at_once(_replayed(frozen, episodes), generator)
    yield from measure(
        "looks", looks, frozen, baselines, episodes, signal, f"{kind}, one bit at the end"
    )


def _replayed(frozen: Frozen, episodes: Episodes) -> Episodes:
    """The same episodes with the values of the present baseline."""
    rows = torch.arange(episodes.signal.shape[1])
    with torch.no_grad():
        return replace(episodes, played=replay_episodes(frozen.policy, episodes.played, rows))


def measure_toys(scale: Scale) -> Iterator[Point]:
    """Against the dimensions of a look, and hidden units that are sampled or not."""
    toys: list[tuple[str, str, tuple[int, ...], Callable[[int, int], Toy]]] = [
        ("dimensions", "one Gaussian look", scale.dimensions, dimensions),
        ("units", "sampled", scale.units, lambda n, seed: hidden_units(n, True, seed)),
        ("units", "deterministic", scale.units, lambda n, seed: hidden_units(n, False, seed)),
    ]
    for experiment, setting, places, make in toys:
        for x in places:
            for seed in range(3 * scale.seeds):  # they cost next to nothing
                toy = make(x, seed)
                for estimator, variance in toy.variance.items():
                    yield Point(
                        experiment,
                        setting,
                        x,
                        seed,
                        estimator,
                        "all",
                        toy.parameters,
                        variance / UPDATE,
                        signal=toy.signal,
                    )


def measure_batch(scale: Scale) -> Iterator[Point]:
    """Against the episodes of an update, and against the copies of a scene among `UPDATE`, by
    drawing whole updates."""
    for seed in range(scale.seeds):
        frozen, baselines = prepare(
            Setting("tiles", "answer", updates=TRAINED, seed=seed), scale.fit
        )
        signal = measure_signal(frozen, baselines)
        cases = [("batch", batch, batch, COPIES) for batch in scale.batches]
        cases += [("copies", copies, UPDATE, copies) for copies in scale.copies]
        for experiment, x, rows, copies in cases:
            drawn = _draw_updates(frozen, replace(baselines, copies=copies), rows, scale.updates)
            for estimator, gradients in drawn.items():
                if experiment == "copies" and estimator != "leave_one_out":
                    continue
                for part, gram in grams_of(frozen, gradients).items():
                    variance = total_variance(gram)
                    yield Point(
                        experiment,
                        frozen.setting.name,
                        x,
                        seed,
                        estimator,
                        part,
                        count_parameters(frozen.policy, part),
                        variance.value,
                        variance.error,
                        signal=signal[part].value,
                        signal_error=signal[part].error,
                    )


def _draw_updates(
    frozen: Frozen, baselines: Baselines, rows: int, updates: int
) -> dict[str, list[Tensor]]:
    """Estimator -> its gradients of independent updates of `rows` episodes: copies of a scene for
    leave-one-out, and for all others each of another scene."""
    drawn: dict[str, list[Tensor]] = {}
    for copies in (1, baselines.copies):
        env = frozen.make_env(rows, copies, seed=4)
        for _ in range(updates):
            episodes = frozen.play(env, keep_gradient=True)
            chosen = {
                name: advantages
                for name, advantages in baselines.advantages(episodes).items()
                if (name == "leave_one_out") == (copies > 1)
            }
            found = update_gradients(frozen.policy, episodes.played, list(chosen.values()))
            for name, gradient in zip(chosen, found, strict=True):
                drawn.setdefault(name, []).append(gradient)
    return drawn


def measure_offset(scale: Scale) -> Iterator[Point]:
    """Against a constant that is added to every episode's reward; the first takes its mean away."""
    for seed in range(scale.seeds):
        frozen, baselines = prepare(
            Setting("tiles", "answer", updates=TRAINED, seed=seed), scale.fit
        )
        signal = measure_signal(frozen, baselines)
        to_fit = frozen.play(frozen.make_env(scale.fit, 1, seed=1))
        episodes = play_scenes(frozen)
        mean = to_fit.signal.sum(dim=0).mean().item()
        for offset in (-mean, *scale.offsets):
            average = fit_baselines(frozen.policy, _offset(to_fit, offset))
            moved = _offset(_replayed(frozen, episodes), offset)
            yield from measure("offset", offset, frozen, Baselines(average, COPIES), moved, signal)


def _offset(episodes: Episodes, offset: float) -> Episodes:
    """`offset` more at the end of each episode."""
    return replace(episodes, signal=episodes.signal + offset * episodes.played.ends)


EXPERIMENTS: dict[str, Callable[[Scale], Iterator[Point]]] = {
    "width": measure_width,
    "training": measure_training,
    "looks": measure_looks,
    "toys": measure_toys,
    "batch": measure_batch,
    "offset": measure_offset,
}
