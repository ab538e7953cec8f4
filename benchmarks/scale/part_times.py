"""A model's time by part on one core: building scenes, reading, and the rest.

The environment and the reading of soft windows are timed, forward and backward; the rest of an
episode, or of an update, is choosing and answering.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from gymnasium.vector import VectorEnv, VectorWrapper
from torch import Tensor
from torch.autograd.function import FunctionCtx

from agents.algorithms.learner import GradientLearner
from agents.training.config import TrainingConfig
from agents.training.precision import autocast
from baselines.learner import SupervisedLearner
from baselines.pictures.gaussian_window import GaussianWindow, GaussianWindowConfig
from baselines.setting import Setting
from benchmarks.comparison.contenders import ALGORITHMS
from glimpse_envs.episodes.description import task_of
from glimpse_envs.vision.sensors.retina import Retina
from report.scaling import Milliseconds

P = ParamSpec("P")
R = TypeVar("R")
Read = Callable[..., Tensor]

# Bursts of fewer seconds than this are too short for the clock: small scenes are played again.
SHORTEST_BURST = 0.1


@dataclass
class Stopwatch:
    """CPU seconds of this thread, by part; other processes do not count."""

    seconds: dict[str, float] = field(default_factory=lambda: {"building": 0.0, "reading": 0.0})

    def timed(self, part: str, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do `work`, and add its time to `part`."""
        started = time.thread_time()
        try:
            return work(*args, **kwargs)
        finally:
            self.seconds[part] += time.thread_time() - started


class TimedEnv(VectorWrapper):
    """Times `reset` as building, and `step` of an environment of glimpses as reading."""

    def __init__(self, env: VectorEnv, stopwatch: Stopwatch) -> None:
        super().__init__(env)
        self.stopwatch = stopwatch
        observations: Any = env.single_observation_space
        self.reads = "glimpse" in observations.spaces

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        return self.stopwatch.timed("building", self.env.reset, **kwargs)

    def step(self, actions: Any) -> Any:
        if not self.reads:
            return self.env.step(actions)
        return self.stopwatch.timed("reading", self.env.step, actions)


class TimedWindow(GaussianWindow):
    """DRAW's window, with its filters and their products with the scene timed."""

    def __init__(self, setting: Setting, config: GaussianWindowConfig) -> None:
        super().__init__(setting, config)
        self.stopwatch = Stopwatch()

    def _window(self, scene: Tensor, place: Tensor, stride: Tensor, width: Tensor) -> Tensor:
        inputs = scene, place, stride, width
        seen: Tensor = _TimedReading.apply(self.stopwatch, super()._window, *inputs)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return seen


class _TimedReading(torch.autograd.Function):
    """`read(*inputs)`, timed forward and backward."""

    @staticmethod
    def forward(ctx: Any, stopwatch: Stopwatch, read: Read, *inputs: Tensor) -> Tensor:
        # A graph of its own, so that going back through it is a call that can be timed.
        needed = [x.detach().requires_grad_(x.requires_grad) for x in inputs]
        with torch.set_grad_enabled(any(ctx.needs_input_grad)):
            seen = stopwatch.timed("reading", read, *needed)
        ctx.stopwatch, ctx.needed, ctx.seen = stopwatch, needed, seen
        return seen.detach()

    @staticmethod
    def backward(ctx: FunctionCtx, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        kept: Any = ctx
        wanted = [x for x in kept.needed if x.requires_grad]
        found = iter(
            kept.stopwatch.timed("reading", torch.autograd.grad, kept.seen, wanted, gradients)
        )
        return None, None, *(next(found) if x.requires_grad else None for x in kept.needed)


class TimedModel:
    """One model in training, whose episodes and updates are timed by part.

    Args:
        make: constructor of the learner, from its config.
        config: of the training, with the batch size to time.
    """

    def __init__(self, make: Callable[[Any], GradientLearner], config: TrainingConfig) -> None:
        self.learner, self.config = make(config), config
        model = self.learner.policy
        self.stopwatch = model.stopwatch if isinstance(model, TimedWindow) else Stopwatch()
        self.learner.envs = [TimedEnv(env, self.stopwatch) for env in self.learner.envs]
        self.learner.env = self.learner.envs[0]
        task = task_of(self.learner.env)
        assert task is not None
        self.steps = task.budget

    def infer(self) -> None:
        """Choose the likeliest actions of one episode in each row, up to the last, whose answer is
        scored: what is observed after it is needed by nobody, and would copy a whole scene again.
        """
        policy: Any = self.learner.policy.eval()
        env = self.learner.env
        observation, _ = env.reset()
        state, starts = None, np.ones(env.num_envs, np.bool_)
        with autocast(self.learner.device, self.config.torch_precision):
            action, state = policy.predict(observation, state, starts, deterministic=True)
            for _ in range(1, self.steps):
                observation = env.step(action)[0]
                starts = np.zeros_like(starts)
                action, state = policy.predict(observation, state, starts, deterministic=True)

    def update(self) -> None:
        """Take one step of learning."""
        self.learner.policy.train()
        self.learner.update(0.5)

    def time(self, work: Callable[[], None]) -> Milliseconds:
        """Milliseconds a scene of `work`, by part, over a burst, after once to fetch its memory."""
        work()
        before = dict(self.stopwatch.seconds)
        started, batches, total = time.thread_time(), 0, 0.0
        while total < SHORTEST_BURST:
            work()
            batches += 1
            total = time.thread_time() - started
        parts = {name: self.stopwatch.seconds[name] - before[name] for name in before}
        scenes = batches * self.config.batch_size
        return Milliseconds(
            building=1e3 * parts["building"] / scenes,
            reading=1e3 * parts["reading"] / scenes,
            answering=1e3 * (total - sum(parts.values())) / scenes,
        )

    def close(self) -> None:
        self.learner.close()


def time_dense_sums(side: int, scenes: int, repeats: int) -> float:
    """Milliseconds a scene that the agent's retina sums over scenes without a black pixel, the best
    of `repeats`. The suite's are black but for their pieces, and large ones are summed there alone.

    Args:
        side: of the scenes in pixels.
        scenes: summed at once.
    """
    retina = Retina((1, side, side), glimpse_size=12, scales=None)
    canvas, sums = retina.allocate(scenes, np.uint8)
    random = np.random.default_rng(0)
    canvas[..., 1:-1, 1:-1] = random.integers(1, 256, (scenes, 1, side, side), np.uint8)
    which = np.arange(scenes)
    retina.sum_scenes(canvas, sums, which)  # compiled, and its memory fetched
    taken = []
    for _ in range(repeats):
        started = time.thread_time()
        retina.sum_scenes(canvas, sums, which)
        taken.append(time.thread_time() - started)
    return 1e3 * min(taken) / scenes


def make_timed(algorithm: str, config: TrainingConfig) -> TimedModel:
    """The model of `algorithm`, a name in `benchmarks.comparison.contenders.ALGORITHMS`."""
    if isinstance(config, GaussianWindowConfig):
        return TimedModel(partial(SupervisedLearner, model=TimedWindow), config)
    make: Any = ALGORITHMS[algorithm].make
    return TimedModel(make, config)


def best_times(
    models: Sequence[TimedModel], repeats: int
) -> list[tuple[Milliseconds, Milliseconds]]:
    """Inference and update of each model: each part's best of `repeats` bursts.

    The models take turns, so that a busy machine slows all alike. The best is taken of each part
    alone, because allocating memory for big scenes slows different parts in different bursts.
    """
    bursts: list[list[tuple[Milliseconds, Milliseconds]]] = [[] for _ in models]
    for _ in range(repeats):
        for model, taken in zip(models, bursts, strict=True):
            taken.append((model.time(model.infer), model.time(model.update)))
    return [
        (_best([first for first, _ in taken]), _best([second for _, second in taken]))
        for taken in bursts
    ]


def _best(bursts: Sequence[Milliseconds]) -> Milliseconds:
    return Milliseconds(
        building=min(spent.building for spent in bursts),
        reading=min(spent.reading for spent in bursts),
        answering=min(spent.answering for spent in bursts),
    )
