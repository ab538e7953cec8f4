"""Digests of episodes: what an environment shows, pays and tells under fixed seeds and actions."""

import hashlib
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.suite import SUITE

EPISODES = 3
ROWS = 6
SEED = 7

# Further arguments, for what the ids' defaults do not reach.
_PICTURES: dict[str, dict[str, Any]] = {
    "tiles": dict(look="tiles"),
    "relative": dict(look="relative", max_move=0.5),
    "stop": dict(stop=True, glimpse_cost=0.01),
    "history": dict(history=True, reward="dense"),
    "context": dict(context=True),
    "inside": dict(inside=True),
    "validation": dict(split="validation"),
    "full": dict(view="full"),
}
_MEMORY: dict[str, dict[str, Any]] = {
    "test": dict(split="test"),
    "full": dict(view="full"),
}
_LOOKS: dict[str, dict[str, Any]] = {
    "tiles": dict(look="tiles", history=True),
    "validation": dict(split="validation"),
    "full": dict(view="full"),
}
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "Glimpse/ClutteredGlyphs-v0": _PICTURES,
    "Glimpse/SearchGlyphs-v0": _LOOKS,
    "Glimpse/DigitSequenceGlyphs-v0": _LOOKS,
    "Glimpse/DescribeSceneGlyphs-v0": _LOOKS,
    "Glimpse/Reverse-v0": _MEMORY | {"memory": dict(memory=True)},
    "Glimpse/PrioritySort-v0": _MEMORY,
    "Glimpse/AssociativeRecall-v0": _MEMORY,
    "Glimpse/PointerChase-v0": _MEMORY | {"final": dict(reward="final", glimpse_cost=0.01)},
}


def cases() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every id, and some with other arguments: name -> (id, arguments)."""
    plain: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in SUITE}
    for name, variants in VARIANTS.items():
        plain |= {f"{name} {label}": (name, kwargs) for label, kwargs in variants.items()}
    return plain


def single_digests(env_id: str, kwargs: dict[str, Any]) -> dict[str, str]:
    """Digests of three episodes of the single environment."""
    env = gym.make(env_id, **kwargs)
    random = np.random.default_rng(SEED)
    seen = Digests()
    for episode in range(EPISODES):
        observation, info = env.reset(seed=SEED if episode == 0 else None)
        seen.add(observation, info)
        ended = False
        while not ended:
            action = {n: a[0] for n, a in _actions(env.action_space, random, 1).items()}
            observation, reward, terminated, truncated, info = env.step(action)
            seen.add(observation, info, reward, terminated, truncated)
            ended = terminated or truncated
    env.close()
    return seen.finished()


def batch_digests(
    env_id: str, kwargs: dict[str, Any], autoreset_mode: str, copies: int = 1
) -> dict[str, str]:
    """Digests of a batch, for as long as three of the longest episodes take."""
    env = gym.make_vec(
        env_id, num_envs=ROWS, autoreset_mode=autoreset_mode, copies=copies, **kwargs
    )
    random = np.random.default_rng(SEED)
    seen = Digests()
    seen.add(*env.reset(seed=SEED))
    task: Any = env.unwrapped.task  # type: ignore[attr-defined]
    for _ in range(EPISODES * task.budget):
        actions = _actions(env.single_action_space, random, ROWS)
        observation, reward, terminated, truncated, info = env.step(actions)
        seen.add(observation, info, reward, terminated, truncated)
    env.close()
    return seen.finished()


class Digests:
    """One digest each of observations, of rewards and ends, and of every entry of `info`."""

    def __init__(self) -> None:
        self._hashes: dict[str, Any] = {}

    def add(self, observation: Any, info: dict[str, Any], *outcome: Any) -> None:
        """Take in one step: the observation, `info`, and reward, terminated and truncated."""
        self._update("observation", observation)
        self._update("outcome", [np.asarray(part) for part in outcome])
        final = info.get("final_info", {})
        for prefix, entries in (("info/", info), ("final_info/", final)):
            for name, value in entries.items():
                if name not in ("final_info", "final_obs"):
                    self._update(prefix + name, value)
        if "final_obs" in info:
            self._update("final_obs", [o for o in info["final_obs"] if o is not None])

    def _update(self, name: str, value: Any) -> None:
        found = self._hashes.setdefault(name, hashlib.blake2b(digest_size=8))
        if isinstance(value, dict):
            for key in sorted(value):
                found.update(key.encode())
                found.update(np.ascontiguousarray(value[key]).tobytes())
        elif isinstance(value, list):
            for part in value:
                self._update(name, part)
        else:
            found.update(np.ascontiguousarray(value).tobytes())

    def finished(self) -> dict[str, str]:
        """Name -> hexadecimal digits, sorted by name."""
        return {name: found.hexdigest() for name, found in sorted(self._hashes.items())}


def _actions(
    space: spaces.Space, random: np.random.Generator, rows: int
) -> dict[str, NDArray[Any]]:
    """Random actions for a batch: name -> (rows, ...)."""
    assert isinstance(space, spaces.Dict)
    return {name: _leaf(leaf, random, rows) for name, leaf in space.spaces.items()}


def _leaf(space: spaces.Space, random: np.random.Generator, rows: int) -> NDArray[Any]:
    if isinstance(space, spaces.Box):
        return random.uniform(-1, 1, (rows, *space.shape)).astype(np.float32)
    if isinstance(space, spaces.Discrete):
        return space.start + random.integers(space.n, size=rows)
    if isinstance(space, spaces.MultiDiscrete):
        return random.integers(space.nvec, size=(rows, *space.shape))
    assert isinstance(space, spaces.MultiBinary)
    return random.integers(2, size=(rows, space.shape[0]))


def all_digests(env_id: str, kwargs: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Digests of the single environment, and of batches that reset themselves in both ways."""
    batches = {
        "SameStep": batch_digests(env_id, kwargs, "SameStep"),
        "NextStep": batch_digests(env_id, kwargs, "NextStep"),
        "copies": batch_digests(env_id, kwargs, "SameStep", copies=3),
    }
    return {"single": single_digests(env_id, kwargs)} | batches
