"""Gaze without learning: still, at random, along a raster, or, as an oracle, at the target."""

from abc import ABC, abstractmethod
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_seed
from glimpse_envs.core.boxes import box_in_turn, places_at
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.scanpaths import latest_location

Observation = dict[str, NDArray]


class Scanner(ABC):
    """Chooses looks for any task whose looks are places, tiles or moves of one gaze.

    Args:
        env: a single or batched environment of such a task, with a `PictureView`.
        seed: random seed of the random scanner.

    Attributes:
        share: (k, n) where `env` is the k-th of n equal parts of a batch; random looks are then
            drawn for the rows of all.

    Raises:
        ValueError: there is no look to choose, the task has no picture view, or there is no such
            seed.
    """

    name: str
    privileged = False
    share: tuple[int, int] = (0, 1)

    def __init__(self, env: Any, seed: int = 0) -> None:
        seen = describe(env)
        if "look" not in seen.components:
            raise ValueError(
                f"gaze={self.name!r}: there is no look to choose, the actions are "
                f"{', '.join(seen.components)}"
            )
        view = seen.picture_view
        if view is None or seen.budget is None:
            raise ValueError(
                f"gaze={self.name!r} scans pictures, by places, tiles or moves of a gaze; here "
                "none is hidden: take gaze='learned', and in a world through a glimpse the "
                "argument look='random' or look='raster'"
            )
        self.others = [name for name in seen.components if name != "look"]
        self.view, self.budget = view, seen.budget
        check_seed(seed)
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
        """The next places, (B, 2) in [-1, 1]; the first `step` is 0."""

    def looks(self, observation: Observation, step: int, info: dict[str, Any]) -> NDArray:
        """The looks of all rows, as actions of the environment."""
        places = np.clip(self.places(observation, step, info), -1.0, 1.0)
        here = _here(observation) if self.view.look == "relative" else places
        looks = self.view.looks_at(places, here)
        return looks if self.view.look == "tiles" else looks.astype(np.float32)


def _here(observation: Observation) -> NDArray[np.float64]:
    """The present place (B, 2) of each row, the start of its next move."""
    place = latest_location(observation)
    if place is None:
        raise ValueError("a move needs an observation with a 'location' (x, y) to go from")
    return place.astype(np.float64)


class RandomScanner(Scanner):
    """Uniform over places or tiles; a relative look has the greatest length and any direction.

    The looks of an episode are drawn together, one row after another, so that the looks at a scene
    do not depend on how many scenes are scanned at once.
    """

    name = "random"

    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        if step == 0:
            self._drawn = self._draw(len(observation["remaining"]))
        drawn = self._drawn[:, step]
        return _here(observation) + drawn if self.view.look == "relative" else drawn

    def _draw(self, rows: int) -> NDArray[np.float64]:
        """The places, or moves, (rows, budget, 2) of an episode of each row."""
        part, parts = self.share
        size, own = (parts * rows, self.budget), slice(part * rows, (part + 1) * rows)
        if self.view.look == "relative":
            angle = self.random.uniform(0, 2 * np.pi, size)[own]
            return np.stack([np.cos(angle), np.sin(angle)], axis=-1) * self.view.max_move
        if self.view.look == "tiles":
            tiles = self.view.tile_locations  # (n, 2)
            return tiles[self.random.integers(len(tiles), size=size)[own]]
        return self.random.uniform(-1, 1, (*size, 2))[own]


class StaticScanner(Scanner):
    """The place of the first glimpse throughout."""

    name = "static"

    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        return _here(observation)


class RepeatedScanner(Scanner):
    """The looks of one episode that was scanned before.

    Args:
        env: see `Scanner`.
        path: (T, 2) `location` of its glimpses, the first included.
    """

    name = "repeated"

    def __init__(self, env: Any, path: NDArray[np.floating]) -> None:
        super().__init__(env)
        self.path = path.astype(np.float64)

    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        place = self.path[min(step + 1, len(self.path) - 1)]
        return np.broadcast_to(place, (len(observation["remaining"]), 2))


class RasterScanner(Scanner):
    """Rows of even steps, there and back, one place for each glimpse to be chosen."""

    name = "raster"

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
    """The middles of the boxes in `target_box`, from `info`, in turn."""

    name = "oracle"
    privileged = True

    def places(
        self, observation: Observation, step: int, info: dict[str, Any]
    ) -> NDArray[np.float64]:
        boxes = np.asarray(info["target_box"], np.float64)
        return places_at(box_in_turn(boxes, step, self.budget - 1))


SCANNERS: dict[str, type[Scanner]] = {
    scanner.name: scanner
    for scanner in (StaticScanner, RandomScanner, RasterScanner, OracleScanner)
}


class ScannedPolicy(Policy):
    """A scanner's looks with a model's answers (or, without a model, the answer 0, never stopping).

    Args:
        scanner: of the looks.
        model: anything with `predict`; its own looks are not used.
    """

    def __init__(self, scanner: Scanner, model: Any = None) -> None:
        self.scanner, self.model = scanner, model
        self.privileged = scanner.privileged

    @property
    def generator(self) -> Any:
        """What the model samples its answers with; None without one."""
        return getattr(self.model, "generator", None)

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
            others = {name: np.zeros(len(looks), np.int64) for name in self.scanner.others}
            return {"look": looks, **others}, (step + 1, None)
        action, model_state = self.model.predict(
            observation, model_state, episode_start, deterministic
        )
        return {**action, "look": looks}, (step + 1, model_state)
