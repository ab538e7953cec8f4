"""Errors of the environment under a wrapper, with its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym


class WrappedEnvError(RuntimeError):
    """The environment under a wrapper raised, or gave an observation that is not in its space. The
    next call must be `reset`."""


def name_of(env: Any) -> str:
    """Return the id of an environment, or the name of its class if it has none."""
    spec = getattr(env, "spec", None) or getattr(env.unwrapped, "spec", None)
    return spec.id if spec is not None else type(env.unwrapped).__name__


@contextmanager
def naming(name: str, call: str) -> Iterator[None]:
    """Raise any error of the environment `name` in `call` as a `WrappedEnvError`.

    `gymnasium.error.ResetNeeded` passes through unchanged.
    """
    try:
        yield
    except (gym.error.ResetNeeded, WrappedEnvError):
        raise
    except Exception as error:
        raise WrappedEnvError(
            f"{name} raised {type(error).__name__} in {call}: {error}. Call reset() to begin anew"
        ) from error
