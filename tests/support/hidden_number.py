"""A stand-in for an environment, so small that every figure of its evaluation is known by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

ENV_ID = "GlimpseTest/HiddenNumber-v0"


SCENES = 10


NUMBERS = 5


class HiddenNumber(VectorEnv[Any, Any, Any]):
    """Scene k hides the number k mod 5 in its left half (even k) or right half (odd k).

    A glimpse in that half shows number + 1, any other shows 0; the first is in the left half.
    """

    played: list[int]  # every scene that the present test was dealt on reset, in order

    def __init__(
        self,
        num_envs: int,
        split: str = "test",
        autoreset_mode: str = "NextStep",
        budget: int = 3,
        stop: bool = False,
        glimpse_cost: float = 0.0,
        view: str = "glimpses",
    ) -> None:
        assert autoreset_mode == "SameStep"
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.num_envs = num_envs
        self.num_scenes = SCENES if split != "train" else None
        self.budget = budget if view == "glimpses" else 1
        self.stop = stop
        self.glimpse_cost = glimpse_cost
        self.view = view
        look = {"look": spaces.Box(-1, 1, (2,))} if view == "glimpses" else {}
        stops = {"stop": spaces.Discrete(2)} if stop else {}
        answer = {"answer": spaces.Discrete(NUMBERS)}
        self.single_observation_space = spaces.Dict(
            glimpse=spaces.Box(0, NUMBERS, (1,)), location=spaces.Box(-1, 1, (2,))
        )
        if view == "full":
            self.single_observation_space = spaces.Dict(scene=spaces.Box(0, NUMBERS, (1,)))
        self.single_action_space = spaces.Dict({**look, **answer, **stops})
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        if options is not None:
            self.scene = np.array(options["scene"])
        else:
            assert isinstance(seed, list)
            self.scene = np.array([s % 1000 for s in seed])
        assert self.scene.shape == (self.num_envs,)
        HiddenNumber.played += self.scene.tolist()
        self.elapsed = np.zeros(self.num_envs, np.int64)
        self.location = np.full((self.num_envs, 2), -0.5, np.float32)
        return self._observe(), {"target_box": self._boxes()}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        if not self.action_space.contains(actions):
            raise ValueError("bad action")
        target = self.scene % NUMBERS
        self.elapsed += 1
        ended = self.elapsed == self.budget
        if self.stop:
            ended |= actions["stop"] == 1
        right = actions["answer"] == target
        reward = np.where(ended & right, 1.0, 0.0)
        reward -= np.where(ended, 0.0, self.glimpse_cost)
        if self.view == "glimpses":
            self.location[:] = actions["look"]
        self.scene = np.where(ended, (self.scene + 1) % SCENES, self.scene)
        self.elapsed[ended] = 0
        self.location[ended] = -0.5
        # What belongs to rows that go on is poisoned in the rows that ended, and the reverse.
        info: dict[str, Any] = {
            "target_box": self._boxes(),
            "target": np.where(ended, -1, target),
            "success": right ^ ended,
        }
        if ended.any():
            final = {"target": np.where(ended, target, -1), "success": right ^ ~ended}
            info["final_info"] = final | {"_target": ended, "_success": ended}
        return self._observe(), reward, ended, np.zeros_like(ended), info

    def _boxes(self) -> NDArray[np.float32]:
        left = np.where(self.scene % 2 == 0, -1, 0)
        low, high = np.full(self.num_envs, -1), np.full(self.num_envs, 1)
        return np.stack([left, low, left + 1, high], axis=1).astype(np.float32)

    def _observe(self) -> dict[str, NDArray[np.float32]]:
        if self.view == "full":
            return {"scene": (self.scene % NUMBERS)[:, None].astype(np.float32)}
        seen = (self.location[:, 0] < 0) == (self.scene % 2 == 0)
        glimpse = np.where(seen, self.scene % NUMBERS + 1, 0)[:, None].astype(np.float32)
        return {"glimpse": glimpse, "location": self.location}  # its own array, reused


@contextmanager
def registered() -> Iterator[None]:
    """The environment by its id, of which nothing was played yet."""
    gymnasium.register(ENV_ID, vector_entry_point=lambda **kwargs: HiddenNumber(**kwargs))
    HiddenNumber.played = []
    try:
        yield
    finally:
        gymnasium.registry.pop(ENV_ID)


class LeftThenRight:
    """Looks right, then below; remembers what it saw, and until it saw the number answers 0."""

    def __init__(self, stop: bool = False) -> None:
        self.stop = stop
        self.starts: list[NDArray[np.bool_]] = []
        self.deterministic: set[bool] = set()

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        assert episode_start is not None
        self.starts.append(episode_start)
        self.deterministic.add(deterministic)
        seen = observation["glimpse"][:, 0].astype(np.int64)
        memory = seen if state is None else np.where(episode_start | (seen > 0), seen, state)
        height = np.where(observation["location"][:, 0] < 0, 0.0, 0.5)
        look = np.stack([np.full(len(seen), 0.5), height], axis=1).astype(np.float32)
        action = {"look": look, "answer": np.maximum(memory - 1, 0)}
        if self.stop:
            action["stop"] = (memory > 0).astype(np.int64)
        return action, memory
