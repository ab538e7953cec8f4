"""Display of a batch: frames of all rows, or a window with row 0."""

from typing import Any

import gymnasium as gym

from glimpse_envs.core.arrays import Bytes, Ints
from glimpse_envs.task import Task

RENDER_MODES = ("rgb_array", "human")
RENDER_FPS = 4


class Display:
    """Draws the rows of a task.

    Args:
        task: its pictures are drawn.
        mode: None, "rgb_array" or "human" (which shows row 0).

    Raises:
        ValueError: `mode` is not one of these.
    """

    def __init__(self, task: Task, mode: str | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise ValueError(f"render_mode={mode!r} must be None or one of {RENDER_MODES}")
        self._task, self._mode = task, mode
        self._window: Any = None

    def frames(self, taken: Ints) -> tuple[Bytes, ...] | None:
        """Return a frame (height, width, 3) uint8 RGB of every row; None but in "rgb_array" mode.

        Args:
            taken: (n,) glimpses taken by each row.
        """
        if self._mode is None:
            gym.logger.warn(
                "render() needs a render_mode, given when the environment is made, "
                "e.g. render_mode='rgb_array'"
            )
            return None
        if self._mode == "human":
            self.refresh(taken)
            return None
        return tuple(self._frame(row, taken) for row in range(len(taken)))

    def refresh(self, taken: Ints) -> None:
        """Show row 0 as it is now, in "human" mode."""
        if self._mode != "human":
            return
        if self._window is None:
            from glimpse_envs.rendering import Window

            self._window = Window("glimpse_envs", RENDER_FPS)
        self._window.show(self._frame(0, taken))

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _frame(self, row: int, taken: Ints) -> Bytes:
        from glimpse_envs.rendering import draw_frame

        caption = f"glimpse {taken[row]} of {self._task.budgets[row]}"
        return draw_frame(self._task.picture(row, caption))
