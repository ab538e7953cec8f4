"""What is scored: anything that chooses actions, and what it declares about itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_choice
from glimpse_envs.evaluation.outlook import Outlook

Observation = dict[str, NDArray[Any]]
Action = dict[str, NDArray[Any]]


class Predicts(Protocol):
    """The method that Stable-Baselines3's models and this project's agents share."""

    def predict(
        self,
        observation: Observation,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[Action, Any]: ...


class Policy(ABC):
    """A policy with the `predict` of Stable-Baselines3, and optional abilities with defaults.

    Attributes:
        view: the view of the environment in which it is scored unless another is asked for.
        privileged: whether `predict` is also given the environment's latest `info`, which tells
            where the target is.
        observation_space, action_space: those it was made for; None: the environment's.
    """

    view: Literal["glimpse", "full"] = "glimpse"
    privileged: bool = False
    observation_space: spaces.Space | None = None
    action_space: spaces.Space | None = None

    def check_readable(self, observation_space: spaces.Space) -> None:  # noqa: B027  # most can
        """Raise a `ValueError` where observations in `observation_space`, of a row, are larger than
        this policy can read."""

    @abstractmethod
    def predict(
        self,
        observation: Observation,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[Action, Any]:
        """Return an action for each row, name -> (n, ...), and the next recurrent state.

        Args:
            observation: name -> (n, ...).
            state: what the last call returned; None at first.
            episode_start: (n,), which rows begin an episode.
            deterministic: whether to return the likeliest actions rather than samples.
        """

    def outlook(
        self, observation: Observation, state: Any, episode_start: NDArray[np.bool_]
    ) -> Outlook | None:
        """Return the distributions from which `predict` would choose, given the same arguments;
        None where they are not known."""
        return None

    def answers(self, observation: Observation) -> NDArray[np.int64] | None:
        """Return the answers (n, T) after each of the glimpses that a model of the full view takes
        internally, the last being that of `predict`; None where it takes none, or where an episode
        of the full view takes several steps."""
        return None

    def beliefs(self, observation: Observation) -> NDArray[np.float32] | None:
        """Return the probabilities (n, T, k) of the k answers after each of the glimpses of
        `answers`; None where they are not known."""
        return None

    def attention(
        self,
        observation: Observation,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float32] | None:
        """Return how a model of the full view of pictures distributes its attention, (n, T, H, W),
        at each of the glimpses that it takes internally before it chooses in `predict`, given the
        same arguments. Values are at least 0 and add up to 1 over the pixels of a glimpse; None
        where it takes none."""
        return None

    def cells_read(self, cells: int) -> float | None:
        """Return how many cells a model of the full view reads in an episode with so many cells,
        counting repeated reads; None where it reads no memory cells."""
        return None


class _Foreign(Policy):
    """Stable-Baselines3's models, and functions from a batch of observations to one of actions.
    Their attributes `view`, `privileged` and `generator`, if they have them, are respected."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.view = getattr(policy, "view", "glimpse")
        self.privileged = getattr(policy, "privileged", False)
        self.generator = getattr(policy, "generator", None)
        self.observation_space = getattr(policy, "observation_space", None)
        self.action_space = getattr(policy, "action_space", None)
        # A model of Stable-Baselines3 knows the normalisation of the environment it is joined to.
        find = getattr(policy, "get_vec_normalize_env", None)
        wrapper = find() if callable(find) else None
        self._normalise = wrapper.normalize_obs if wrapper is not None else None

    def predict(
        self,
        observation: Observation,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
        **privileged: Any,
    ) -> tuple[Action, Any]:
        if not hasattr(self._policy, "predict"):
            return self._policy(observation, **privileged), None
        if self._normalise is not None:
            observation = self._normalise(observation)
        known = {"state": state, "episode_start": episode_start, "deterministic": deterministic}
        return self._policy.predict(observation, **known, **privileged)


def as_policy(policy: Predicts | Callable[..., Action]) -> Policy:
    """Return anything that chooses actions as a `Policy`.

    Raises:
        TypeError: it has no `predict` and cannot be called, or is a class.
        ValueError: its `view` is neither "glimpse" nor "full".
    """
    if isinstance(policy, Policy):
        _check_view(policy, policy)
        _check_parameters(policy)
        return policy
    if isinstance(policy, type):
        raise TypeError(
            f"policy is the class {policy.__name__}: give an instance of it, such as "
            f"{policy.__name__}(...)"
        )
    if not hasattr(policy, "predict") and not callable(policy):
        is_run = isinstance(policy, str | Path) or hasattr(policy, "folder")
        hint = " That of a run is glimpse_envs.evaluation.runs.load_policy(FOLDER)."
        raise TypeError(
            "policy should have predict(observation, state, episode_start, deterministic) or be a "
            f"callable from observation to action; {type(policy).__name__} is neither."
            f"{hint if is_run else ''}"
        )
    _check_parameters(policy)
    foreign = _Foreign(policy)
    _check_view(policy, foreign)
    return foreign


def _check_view(policy: Any, read: Policy) -> None:
    check_choice(f"{type(policy).__name__}.view", read.view, ("glimpse", "full"))


def _check_parameters(policy: Any) -> None:
    """Raise a TypeError unless a policy, or a function, takes the arguments it will be given."""
    extra = {"info": None} if getattr(policy, "privileged", False) else {}
    known = {"state": None, "episode_start": None, "deterministic": True}
    predicts = hasattr(policy, "predict")
    called = policy.predict if predicts else policy
    try:
        taken = signature(called)
    except (TypeError, ValueError):  # compiled code has no signature
        return
    try:
        taken.bind({}, **(known if predicts else {}), **extra)
    except TypeError as error:
        names = ["observation", *(known if predicts else {}), *extra]
        what = f"{type(policy).__name__}.predict" if predicts else "a policy's function"
        raise TypeError(
            f"{what} must take ({', '.join(names)}), by these names; it takes {taken}: {error}"
        ) from error
