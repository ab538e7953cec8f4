"""Whether an environment is to blame where a training meets numbers that are not finite."""

from collections.abc import Mapping, Sequence

import torch
from numpy.typing import NDArray
from torch import Tensor


class EnvironmentNotFinite(FloatingPointError):  # as FloatingPointError is named
    """An environment gave numbers that are not finite."""


def check_environment(
    env_id: str,
    observations: Sequence[Mapping[str, Tensor]],
    rewards: Sequence[NDArray] | Tensor = (),
) -> None:
    """Raise an `EnvironmentNotFinite` where a batch of episodes holds numbers that are not finite.

    Args:
        env_id: of the environment, for the message.
        observations: of each step, the reset's first, name -> (B, ...).
        rewards: of each step, (B,).
    """
    for step, observation in enumerate(observations):
        when = f"after step {step}" if step else "after a reset"
        for name, part in observation.items():
            _check(part, f"{env_id}: observation[{name!r}] {when}")
        if step < len(rewards):
            _check(torch.as_tensor(rewards[step]), f"{env_id}: the reward of step {step + 1}")


def _check(values: Tensor, what: str) -> None:
    wrong = values[~values.isfinite()]
    if len(wrong):
        raise EnvironmentNotFinite(
            f"{what} is {wrong[0].item()}; an environment must give finite numbers"
        )
