"""Pixels of MiniGrid's worlds, from pictures of cells that are drawn once.

MiniGrid's own wrappers draw the same pixels cell by cell, and compute again what its agent sees.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np

from glimpse_envs.core.arrays import Bools, Bytes, Ints
from glimpse_envs.core.memory import check_memory

_UP = 3  # how MiniGrid's agent is turned in its own view


class _Cells:
    """Pictures of cells, drawn by MiniGrid when they are first needed.

    Args:
        side: of a cell in pixels.
    """

    def __init__(self, side: int) -> None:
        constants: Any = import_module("minigrid.core.constants")
        self._grid: Any = import_module("minigrid.core.grid").Grid
        self._decode: Any = import_module("minigrid.core.world_object").WorldObj.decode
        self._colors: dict[int, str] = constants.IDX_TO_COLOR
        self._unseen: int = constants.OBJECT_TO_IDX["unseen"]
        self.empty = (constants.OBJECT_TO_IDX["empty"], 0, 0)
        self._side = side
        # Object, colour, state, whether lit, and the agent: absent or turned in one of four ways.
        self._shape = (
            *(len(constants.OBJECT_TO_IDX), len(self._colors), len(constants.STATE_TO_IDX)),
            *(2, 5),
        )
        number = int(np.prod(self._shape))
        check_memory(3 * number * side * side, tile=side)
        self._pictures = np.zeros((number, side, side, 3), np.uint8)
        self._drawn = np.zeros(number, np.bool_)

    def seen(self, codes: Bytes) -> Bools:
        """The cells, of codes of what an agent sees, that it does see."""
        return codes[..., 0] != self._unseen

    def draw(self, codes: Bytes, lit: Bools, agent: tuple[int, int], turned: int) -> Bytes:
        """The pixels (H * side, W * side, 3) of a grid.

        Args:
            codes: MiniGrid's encoding (W, H, 3) of the cells.
            lit: (W, H), those that are highlighted.
            agent: its column and row.
            turned: its direction, as in MiniGrid.
        """
        agents = np.zeros(lit.shape, np.intp)
        agents[agent] = turned + 1
        parts = (codes[..., 0], codes[..., 1], codes[..., 2], lit, agents)
        kinds = np.ravel_multi_index(
            tuple(np.asarray(part, np.intp) for part in parts), self._shape
        )
        if not self._drawn[kinds].all():
            self._draw_missing(kinds)
        pixels = self._pictures[kinds.T].transpose(0, 2, 1, 3, 4)
        rows, _, columns, _, channels = pixels.shape
        return pixels.reshape(rows * self._side, columns * self._side, channels)

    def _draw_missing(self, kinds: Ints) -> None:
        for kind in np.unique(kinds[~self._drawn[kinds]]):
            *code, lit, agent = (int(part) for part in np.unravel_index(kind, self._shape))
            thing = self._decode(*code)
            if thing is not None:
                thing.color = self._colors[code[1]]  # goals are decoded as green
            turned = agent - 1 if agent else None
            self._pictures[kind] = self._grid.render_tile(thing, turned, bool(lit), self._side)
            self._drawn[kind] = True


_cells_of_side = lru_cache(_Cells)  # one for all worlds


class _Pixels(gym.ObservationWrapper):
    """A world of MiniGrid whose observations are pixels.

    Args:
        env: a world of MiniGrid.
        side: of a cell in pixels.
    """

    def __init__(self, env: gym.Env, side: int) -> None:
        super().__init__(env)
        self._cells = _cells_of_side(side)
        columns, rows = self._grid_size()
        self.observation_space = gym.spaces.Box(0, 255, (rows * side, columns * side, 3), np.uint8)

    @abstractmethod
    def _grid_size(self) -> tuple[int, int]:
        """The numbers of columns and rows of cells that are drawn."""


class AgentPixels(_Pixels):
    """What MiniGrid's agent sees in front of it, in pixels (7 * side, 7 * side, 3) uint8.

    Pixel by pixel what MiniGrid's `RGBImgPartialObsWrapper` draws.
    """

    def _grid_size(self) -> tuple[int, int]:
        columns, rows, _ = self.env.observation_space["image"].shape  # type: ignore[index]  # a Dict
        return columns, rows

    def observation(self, observation: dict[str, Any]) -> Bytes:
        codes = observation["image"]
        columns, rows, _ = codes.shape
        agent = (columns // 2, rows - 1)
        return self._cells.draw(codes, self._cells.seen(codes), agent, _UP)


class GridPixels(_Pixels):
    """A whole world, with what its agent sees highlighted, in pixels (H * side, W * side, 3) uint8.

    Pixel by pixel what MiniGrid's `RGBImgObsWrapper` draws.
    """

    def _grid_size(self) -> tuple[int, int]:
        world: Any = self.env.unwrapped
        return world.width, world.height

    def observation(self, observation: dict[str, Any]) -> Bytes:
        world: Any = self.env.unwrapped
        empty = self._cells.empty
        cells = [empty if thing is None else thing.encode() for thing in world.grid.grid]
        codes = np.array(cells, np.uint8).reshape(world.height, world.width, 3).transpose(1, 0, 2)
        lit = self._lit(observation["image"])
        return self._cells.draw(codes, lit, tuple(world.agent_pos), world.agent_dir)

    def _lit(self, codes: Bytes) -> Bools:
        """The cells (W, H) of the world that its agent sees."""
        world: Any = self.env.unwrapped
        lit = np.zeros((world.width, world.height), np.bool_)
        if not world.highlight:
            return lit
        size = world.agent_view_size
        columns, rows = np.nonzero(self._cells.seen(codes))
        ahead, right = np.asarray(world.dir_vec), np.asarray(world.right_vec)
        places = (
            np.asarray(world.agent_pos)
            + ahead * (size - 1 - rows)[:, None]
            + right * (columns - size // 2)[:, None]
        )
        inside = ((places >= 0) & (places < lit.shape)).all(axis=1)
        lit[tuple(places[inside].T)] = True
        return lit
