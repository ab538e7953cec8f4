"""Gradients of the looks' expected reward, by estimators of REINFORCE's family, for a frozen
policy.

The estimated gradient is that of the expected reward by the policy's looks, with fixed answers: the
expectation of sum_t A_t grad log pi(look_t), in which REINFORCE and actor-critic differ in their
advantages A alone.

An episode's gradient by the weights of a linear layer is sum_t d_t x_t', from the layer's inputs x
and the gradient d by its outputs. The inner product of two episodes' gradients is a sum of products
(d_t . d_u)(x_t . x_u), so those of all episodes take one ordinary backward pass and two matrix
products a layer; no episode's gradient is stored.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.algorithms.reinforce import MovingAverage, leave_one_out
from agents.algorithms.returns import gae, returns_to_go
from agents.episodes.rollout import replay_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.glimpse_policy import GlimpsePolicy
from benchmarks.variance.frozen import Episodes

ESTIMATORS = ("none", "moving_average", "learned", "leave_one_out", "actor_critic")
GAE_LAMBDA = 0.5
REACHED = ("glimpse_network.", "core.", "heads.look.")
"""Prefixes of the names of the parameters that a look's gradient reaches."""
PARTS = {"all": REACHED, "look": ("heads.look.",)}

FIT_BATCH = 64
"""Episodes a batch of the moving average and of the critic's regression."""
PATIENCE = 5
SETTLED = 200
"""Batches after which a moving average has settled: 0.9**200 is below 1e-9."""


@dataclass(frozen=True)
class Baselines:
    """The advantages of each estimator.

    Args:
        average: the moving average.
        copies: number of episodes a scene that leave-one-out compares.
    """

    average: float
    copies: int

    def advantages(self, episodes: Episodes) -> dict[str, Tensor]:
        """Estimator -> (T, B), 0 where no look was taken."""
        played, returns = episodes.played, returns_to_go(episodes.signal)
        values = played.values.detach()
        advantages = {
            "none": returns,
            "moving_average": returns - self.average,
            "learned": returns - values,
            "leave_one_out": returns - leave_one_out(returns, self.copies),
            "actor_critic": gae(episodes.signal, values, played.alive, lambda_=GAE_LAMBDA),
        }
        return {name: advantage * played.continuing for name, advantage in advantages.items()}


def fit_baselines(policy: GlimpsePolicy, episodes: Episodes) -> float:
    """Train the policy's own baseline alone on `episodes`; return a moving average over them.

    The baseline, after its mean is corrected, regresses the returns of three quarters of the
    episodes by Adam until its error on the rest has not fallen by 1 % for `PATIENCE` passes; the
    best weights are kept. The moving average sees the same episodes, `FIT_BATCH` at a time, until
    its start at 0 has no effect.
    """
    returns = returns_to_go(episodes.signal)  # (T, B)
    average = MovingAverage()
    batches = torch.split(returns, FIT_BATCH, dim=1)
    for _ in range(-(-SETTLED // len(batches))):
        for batch in batches:
            average(batch)
    memory = _memory(policy, episodes.played)  # (T, B, units)
    held_out = returns.shape[1] // 4
    baseline, last = policy.baseline, policy.baseline[-1]
    assert isinstance(last, nn.Linear)
    with torch.no_grad():
        last.bias.add_((returns - baseline(memory)[..., 0]).mean())
    optimizer = torch.optim.Adam(baseline.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)
    best, best_error, waited = baseline.state_dict(), float("inf"), 0
    while waited < PATIENCE:
        with torch.no_grad():
            error = _squared_error(baseline, memory[:, :held_out], returns[:, :held_out]).item()
        waited = 0 if error < 0.99 * best_error else waited + 1
        if error < best_error:
            best_error = error
            best = {name: value.clone() for name, value in baseline.state_dict().items()}
        order = held_out + torch.randperm(returns.shape[1] - held_out, generator=generator)
        for rows in torch.split(order, FIT_BATCH):
            optimizer.zero_grad()
            loss = _squared_error(baseline, memory[:, rows], returns[:, rows])
            torch.autograd.backward(loss)
            optimizer.step()
    baseline.load_state_dict(best)
    return average.value


def _squared_error(baseline: nn.Module, memory: Tensor, returns: Tensor) -> Tensor:
    return ((baseline(memory)[..., 0] - returns) ** 2).mean()


def _memory(policy: GlimpsePolicy, played: Trajectory) -> Tensor:
    """The baseline's input at every step, (T, B, units)."""
    with torch.no_grad(), _recorded({"baseline": policy.baseline}) as calls:
        everyone = torch.arange(played.rewards.shape[1])
        replay_episodes(policy, played, everyone, encoded_at_once=1)  # one call a step
    return torch.stack([read for read, _ in calls["baseline"]])


def look_loss(trajectory: Trajectory, advantages: Tensor) -> Tensor:
    """The scalar whose gradient is the estimate of one update, up to its sign."""
    return (trajectory.stack("look", "log_prob") * advantages).sum(dim=0).mean()


def update_gradients(
    policy: GlimpsePolicy, trajectory: Trajectory, advantages: Sequence[Tensor]
) -> Tensor:
    """The estimate of one update by each of E advantages (T, B): (E, P), by the parameters of
    `REACHED` in the policy's order. The trajectory has its gradient."""
    parameters = [p for _, p in reached(policy)]
    rows = []
    for advantage in advantages:
        gradient = torch.autograd.grad(
            look_loss(trajectory, advantage), parameters, retain_graph=True
        )
        rows.append(torch.cat([part.flatten() for part in gradient]))
    return torch.stack(rows)


def reached(policy: GlimpsePolicy, part: str = "all") -> list[tuple[str, nn.Parameter]]:
    """The parameters of a part, with their names."""
    return [
        (name, parameter)
        for name, parameter in policy.named_parameters()
        if name.startswith(PARTS[part]) and parameter.requires_grad
    ]


def count_parameters(policy: GlimpsePolicy, part: str = "all") -> int:
    """How many numbers the gradient of a part has."""
    return sum(parameter.numel() for _, parameter in reached(policy, part))


def episode_grams(
    policy: GlimpsePolicy, played: Trajectory, advantages: Sequence[Tensor]
) -> list[dict[str, NDArray[np.float64]]]:
    """The inner products (B, B) of all episodes' gradients, by part, for each of the advantages.

    Args:
        policy: with linear layers alone where a look's gradient reaches (`normalise=False`).
        played: B episodes of T steps.
        advantages: (T, B) each.

    Raises:
        ValueError: a parameter that is reached is in no linear layer.
    """
    layers: dict[str, nn.Module] = {
        name: module
        for name, module in policy.named_modules()
        if isinstance(module, nn.Linear) and name.startswith(REACHED)
    }
    held = {f"{name}.{kind}" for name in layers for kind in ("weight", "bias")}
    others = sorted({name for name, _ in reached(policy)} - held)
    if others:
        raise ValueError(f"{', '.join(others)} are in no linear layer: set normalise=False")
    everyone = torch.arange(played.rewards.shape[1])
    with _recorded(layers) as calls:  # one call of each layer a step
        replayed = replay_episodes(policy, played, everyone, encoded_at_once=1)
    outputs = [output for called in calls.values() for _, output in called]
    inputs = {name: _input_products([x for x, _ in called]) for name, called in calls.items()}
    log_prob = replayed.stack("look", "log_prob")
    rows = log_prob.shape[1]
    grams = []
    for advantage in advantages:
        by_output = iter(
            torch.autograd.grad(
                (log_prob * advantage).sum(),
                outputs,
                retain_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )
        )
        found = {part: np.zeros((rows, rows)) for part in PARTS}
        for name, called in calls.items():
            d = torch.stack([next(by_output) for _ in called], dim=1).flatten(0, 1)  # (B T, out)
            product = (d @ d.T) * inputs[name]
            of_episodes = product.view(rows, len(called), rows, len(called)).sum(dim=(1, 3))
            for part, begins in PARTS.items():
                if name.startswith(begins):
                    found[part] += of_episodes.double().numpy()
        grams.append(found)
    return grams


def _input_products(inputs: list[Tensor]) -> Tensor:
    """The inner products (B T, B T) of a layer's T inputs (B, in), each with a 1 for the bias."""
    x = torch.stack(inputs, dim=1).flatten(0, 1)
    return x @ x.T + 1


@contextmanager
def _recorded(modules: dict[str, nn.Module]) -> Iterator[dict[str, list[tuple[Tensor, Tensor]]]]:
    """Give name -> the (input, output) of every call of each module; inputs are constants."""
    calls: dict[str, list[tuple[Tensor, Tensor]]] = {name: [] for name in modules}

    def note(name: str, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        calls[name].append((inputs[0].detach(), output))

    with ExitStack() as hooks:
        for name, module in modules.items():
            hooks.enter_context(module.register_forward_hook(partial(note, name)))
        yield calls
