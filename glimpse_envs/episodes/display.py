"""Display of a batch: frames of all rows, or a window with row 0."""

from typing import TYPE_CHECKING, Any

import gymnasium as gym

from glimpse_envs.core.arguments import check_choice, shown
from glimpse_envs.core.arrays import Bools, Bytes, Ints
from glimpse_envs.task import Task

if TYPE_CHECKING:
    from glimpse_envs.rendering import Seen

RENDER_MODES = ("rgb_array", "human")
RENDER_FPS = 4
FRAME_HEIGHT = 360
"""Height of a frame, in pixels."""
REVEALS = ("all", "seen")


class Display:
    """Draws the rows of a task.

    Args:
        task: its pictures are drawn.
        mode: None, "rgb_array" or "human" (which shows row 0).
        reveal: "all" that is hidden; or "seen", what the agent has seen so far, all else being
            black and the target left out until the end.
        height: of the frames, in pixels, from 160 to 4,320; the legend of "seen" adds a tenth.

    Attributes:
        seen: row -> what was seen in its episode, with `reveal="seen"`.

    Raises:
        ValueError: `mode` or `reveal` is not one of these, or `height` is out of its range.
    """

    def __init__(
        self, task: Task, mode: str | None, reveal: str = "all", height: int = FRAME_HEIGHT
    ) -> None:
        if mode is not None and not (isinstance(mode, str) and mode in RENDER_MODES):
            raise ValueError(f"render_mode={shown(mode)} must be None or one of {RENDER_MODES}")
        check_choice("reveal", reveal, REVEALS)
        if type(height) is not int or height != FRAME_HEIGHT:
            from glimpse_envs.rendering.frame import check_height

            check_height(height)
        self._task, self._mode, self._reveal, self._height = task, mode, reveal, height
        self._window: Any = None
        self.seen: dict[int, Seen] = {}

    def frames(self, taken: Ints, ended: Bools) -> tuple[Bytes, ...] | None:
        """Return a frame (height, width, 3) uint8 RGB of every row; None unless in
        "rgb_array" mode.

        Args:
            taken: (n,) glimpses taken by each row.
            ended: (n,) whether its episode has ended.
        """
        if self._mode is None:
            gym.logger.warn(
                "render() needs a render_mode, given when the environment is made, "
                "e.g. render_mode='rgb_array'"
            )
            return None
        if self._mode == "human":
            self.refresh(taken, ended)
            return None
        return tuple(self._frame(row, taken, ended) for row in range(len(taken)))

    def refresh(self, taken: Ints, ended: Bools) -> None:
        """Note what was seen, and show row 0 as it is now in "human" mode."""
        if self._mode is not None and self._reveal == "seen":
            for row in range(len(taken)):
                if taken[row] == 1:
                    self.seen.pop(row, None)
                self._memory(row).add(self._task.picture(row, ""))
        if self._mode != "human":
            return
        if self._window is None:
            from glimpse_envs.rendering import Window

            self._window = Window("glimpse_envs", RENDER_FPS)
        self._window.show(self._frame(0, taken, ended))

    def forget(self) -> None:
        """Forget what was seen so far, because another episode was loaded."""
        self.seen.clear()

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _memory(self, row: int) -> "Seen":
        from glimpse_envs.rendering import Seen

        return self.seen.setdefault(row, Seen())

    def _frame(self, row: int, taken: Ints, ended: Bools) -> Bytes:
        from glimpse_envs.rendering import draw_frame

        picture = self._task.picture(row, f"glimpse {taken[row]} of {self._task.budgets[row]}")
        if self._reveal == "all":
            return draw_frame(picture, self._height)
        memory = self._memory(row)
        memory.add(picture)  # after loading a state, the present glimpse alone
        return draw_frame(memory.reveal(picture, bool(ended[row])), self._height, legend=True)
