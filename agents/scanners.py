"""Looking without learning: at random, along a raster, or, as an oracle, at the target."""

from abc import ABC, abstractmethod
from math import isqrt
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.geometry import project_to_disc

Observation = dict[str, NDArray]


class Scanner(ABC):
    """Chooses looks for any look space of classification tasks.

    Args:
        env: a single or batched environment of the suite; its spaces and tiles are read.
        seed: of the random scanner.
    """

    privileged = False

    def __init__(self, env: Any, seed: int = 0) -> None:
        task = env.unwrapped.task
        self.look_space: spaces.Space = task.action_space["look"]
        self.tiles: NDArray[np.float64] = task.tile_locations  # (n, 2)
        self.relative: bool = task.look_kind == "relative"
        self.max_move: float = task.max_move
        self.budget: int = task.budget
        self.random = np.random.default_rng(seed)

    def state_dict(self) -> dict[str, int]:
        """The state of the random stream."""
        state = self.random.bit_generator.state
        counters = {name: state[name] for name in ("has_uint32", "uinteger")}
        return {**state["state"], **counters}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Restore what `state_dict` returned."""
        self.random.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {name: state[name] for name in ("state", "inc")},
            "has_uint32": state["has_uint32"],
            "uinteger": state["uinteger"],
        }

    @abstractmethod
    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        """Where to look next, (B, 2) in [-1, 1]; `step` counts from 0."""

    def looks(self, observation: Observation, step: int, info: dict[str, Any]) -> NDArray:
        """The looks of all rows, as the environment takes them."""
        places = np.clip(self.places(observation, step, info), -1.0, 1.0)
        if isinstance(self.look_space, spaces.Discrete):
            distances = ((places[:, None] - self.tiles[None]) ** 2).sum(axis=-1)
            return distances.argmin(axis=1)
        if self.relative:
            moves = (places - observation["location"]) / self.max_move
            return project_to_disc(moves).astype(np.float32)
        return places.astype(np.float32)


class RandomScanner(Scanner):
    """Uniform over places or tiles; a relative look goes as far as it may, in any direction."""

    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        rows = len(observation["remaining"])
        if self.relative:
            angle = self.random.uniform(0, 2 * np.pi, rows)
            move = np.stack([np.cos(angle), np.sin(angle)], axis=1) * self.max_move
            return observation["location"] + move
        if isinstance(self.look_space, spaces.Discrete):
            return self.tiles[self.random.integers(len(self.tiles), size=rows)]
        return self.random.uniform(-1, 1, (rows, 2))


class RasterScanner(Scanner):
    """Rows of even steps, there and back, one place for each glimpse to be chosen."""

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        chosen = max(1, self.budget - 1)
        rows = isqrt(chosen)
        lines = []
        for row in range(rows):
            columns = (row + 1) * chosen // rows - row * chosen // rows
            x = (np.arange(columns) + 0.5) / columns * 2 - 1
            y = np.full(columns, (row + 0.5) / rows * 2 - 1)
            lines.append(np.stack([x if row % 2 == 0 else x[::-1], y], axis=-1))
        self.grid = np.concatenate(lines)  # (chosen, 2)

    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        place = self.grid[step % len(self.grid)]
        return np.broadcast_to(place, (len(observation["remaining"]), 2)).astype(np.float64)


class OracleScanner(Scanner):
    """Looks at the middle of `target_box`, which only `info` tells."""

    privileged = True

    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        box = np.asarray(info["target_box"], np.float64)
        return (box[:, :2] + box[:, 2:]) / 2


SCANNERS: dict[str, type[Scanner]] = {
    "random": RandomScanner,
    "raster": RasterScanner,
    "oracle": OracleScanner,
}


class ScannedPolicy:
    """A scanner's looks with a model's answers (or, without a model, the answer 0).

    Args:
        scanner: where to look.
        model: anything with `predict`; its looks are not used.
    """

    def __init__(self, scanner: Scanner, model: Any = None) -> None:
        self.scanner, self.model = scanner, model
        self.privileged = scanner.privileged

    def predict(
        self,
        observation: Observation,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
        info: dict[str, Any] | None = None,
    ) -> tuple[dict[str, NDArray], Any]:
        """Choose actions for a batch of observations; all rows are at the same step."""
        step, model_state = (0, None) if state is None else state
        looks = self.scanner.looks(observation, step, info or {})
        if self.model is None:
            answers = np.zeros(len(looks), np.int64)
            return {"look": looks, "answer": answers}, (step + 1, None)
        action, model_state = self.model.predict(
            observation, model_state, episode_start, deterministic
        )
        return {**action, "look": looks}, (step + 1, model_state)
