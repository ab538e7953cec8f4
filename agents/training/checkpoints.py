"""Nested states as the flat tensors and numbers of a checkpoint."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run


def flatten(state: dict[str, Any]) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Split nested dicts into arrays of any shape and numbers, keyed by path, "policy/core/bias".

    Raises:
        TypeError: a leaf is neither tensor, array nor number.
    """
    arrays: dict[str, NDArray] = {}
    numbers: dict[str, Any] = {}
    for name, value in leaves_of(state, "/").items():
        if isinstance(value, torch.Tensor):
            arrays[name] = value.detach().cpu().numpy()
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        elif isinstance(value, bool | int | float | np.integer | np.floating | np.bool_):
            numbers[name] = value.item() if isinstance(value, np.generic) else value
        else:
            raise TypeError(f"{name} is a {type(value).__name__}, which a checkpoint cannot hold")
    return arrays, numbers


def unflatten(arrays: dict[str, NDArray], numbers: dict[str, Any]) -> dict[str, Any]:
    """Undo `flatten`; arrays of any shape under "env/" stay
    arrays, all others become tensors."""
    state: dict[str, Any] = {}
    for name, value in {**arrays, **numbers}.items():
        *path, leaf = name.split("/")
        place = state
        for part in path:
            place = place.setdefault(part, {})
        is_tensor = isinstance(value, np.ndarray) and path[:1] != ["env"]
        place[leaf] = torch.as_tensor(np.array(value)) if is_tensor else value
    return state


def load_moments(optimizer: torch.optim.Optimizer, moments: dict[str, Any]) -> None:
    """Load an optimizer's `state_dict()["state"]`, keyed by text as `unflatten` returns it."""
    groups = optimizer.state_dict()["param_groups"]
    by_index = {int(index): values for index, values in moments.items()}
    optimizer.load_state_dict({"state": by_index, "param_groups": groups})


def load_weights(model: nn.Module, run: Run) -> None:
    """Load the tensors under "policy/" of a run's last checkpoint into `model`.

    Raises:
        RunError: the checkpoint is missing or damaged, or is of another model than this one.
    """
    tensors, _ = run.load_checkpoint()
    prefix = "policy/"
    weights = {
        name.removeprefix(prefix): torch.as_tensor(np.array(value))
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
    with naming_misfits(run, type(model).__name__):
        model.load_state_dict(weights)


@contextmanager
def naming_misfits(run: Run, what: str) -> Iterator[None]:
    """Raise a `RunError` where the run's checkpoint is loaded and does not fit `what`."""
    try:
        yield
    except RuntimeError as error:
        raise RunError(
            f"{run.checkpoint_path} does not fit {what} as it is now: "
            f"{' '.join(str(error).split())}. Use the revision that trained it, "
            f"{run.config.get('revision')}, or train again."
        ) from error


def leaves_of(values: dict[Any, Any], separator: str, prefix: str = "") -> dict[str, Any]:
    """Nested dicts as one, keyed by path, its parts joined by `separator`."""
    leaves: dict[str, Any] = {}
    for name, value in values.items():
        path = f"{prefix}{name}"
        nested = isinstance(value, dict)
        leaves |= leaves_of(value, separator, path + separator) if nested else {path: value}
    return leaves
