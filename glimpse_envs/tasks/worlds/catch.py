"""Catch: a ball falls, and a paddle waits for it, both seen only where the agent looks."""

from typing import TYPE_CHECKING, Unpack

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import check_choice, check_integers
from glimpse_envs.core.arrays import Bools, Float32s, Floats, Ints
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.threads import for_chunks
from glimpse_envs.sources import SPLITS
from glimpse_envs.task import Arrays, Component, Outcome, Rows, rows_of
from glimpse_envs.tasks.worlds.catch_kernels import column_of, draw_flights, read_screens
from glimpse_envs.vision.picture_task import Looking, PictureTask
from glimpse_envs.vision.scenes.scene import Hidden
from glimpse_envs.vision.scenes.stage import Stage
from glimpse_envs.vision.sensors.retina import Retina
from glimpse_envs.vision.sensors.sensor import Sensor

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture

_READ_TOGETHER = 1024  # rows read by one call of the kernel


class Screen(Hidden):
    """The screen: a ball of one pixel, and a paddle in the bottom row.

    Args:
        size: the screen's side in pixels.
        paddle: the paddle's width in pixels.
        split: "train", "validation" or "test".
    """

    moves = True

    def __init__(self, size: int, paddle: int, split: str) -> None:
        self.shape = (1, size, size)
        self.size, self.paddle, self.split = size, paddle, split

    @property
    def num_scenes(self) -> int | None:
        return num_scenes_of(self.split)

    def stage(self, sensor: Sensor | None, num_envs: int, copies: int) -> "CatchStage":
        return CatchStage(self, sensor, num_envs, copies)


class CatchStage(Stage):
    """The screens of a batch. Glimpses are computed from the places of ball and paddle; no screen
    is drawn.

    Attributes:
        flights: (num_envs, 2) float64, the column where the ball starts, and the columns that it
            moves per step.
        columns: (num_envs,) int64, the ball's present columns.
        paddles: (num_envs,) int64, the paddles' leftmost columns as shown.
        labels: zeros.
    """

    def __init__(self, screen: Screen, sensor: Sensor | None, num_envs: int, copies: int) -> None:
        self._screen, self._sensor, self._copies = screen, sensor, copies
        self._size, self._paddle = screen.size, screen.paddle
        self.scene_of = np.arange(num_envs)
        self.boxes, self.flights = np.zeros((num_envs, 4)), np.zeros((num_envs, 2))
        self.labels, self.columns, self.lines, self.paddles = np.zeros((4, num_envs), np.int64)

    def draw(self, groups: Ints, keys: Keys) -> Ints:
        rows = rows_of(groups, self._copies)
        draw_flights(rows, self._copies, keys.arrays, self._size, self.flights)
        self.paddles[rows] = (self._size - self._paddle) // 2
        self.show(rows, np.zeros_like(rows))
        return rows

    def show(self, rows: Ints, steps: Ints) -> None:
        columns = column_of(self.flights[rows, 0] + steps * self.flights[rows, 1], self._size)
        self.columns[rows], self.lines[rows] = columns, steps
        self.boxes[rows] = np.stack([columns, steps, columns + 1, steps + 1], axis=1)

    def landing(self) -> Ints:
        """Return the columns (num_envs,) in which the balls land."""
        return column_of(self.flights[:, 0] + (self._size - 1) * self.flights[:, 1], self._size)

    def read(self, rows: Ints, centres: Floats) -> Float32s:
        assert self._sensor is not None, "without a sensor nothing is read"
        glimpses = np.empty((len(rows), *self._sensor.glimpse_shape), np.float32)
        order = np.arange(len(rows))

        def read(chunk: Ints) -> None:
            read_screens(
                rows[chunk],
                centres,
                (self.columns, self.lines, self.paddles),
                (self._size, self._paddle),
                glimpses[chunk[0] : chunk[-1] + 1],
            )

        for_chunks(read, order, size=_READ_TOGETHER)
        return glimpses

    def whole(self, scenes: Ints) -> Float32s:
        shown = np.zeros((len(scenes), *self._screen.shape), np.float32)
        order = np.arange(len(scenes))
        shown[order, 0, self.lines[scenes], self.columns[scenes]] = 1.0
        for column in range(self._paddle):
            shown[order, 0, -1, self.paddles[scenes] + column] = 1.0
        return shown


class Catch(PictureTask):
    """Move a paddle under a falling ball, which is seen only where the agent looks.

    ## Description

    A ball of one pixel falls from the top of a black screen, one row a step, and bounces off the
    sides. A paddle lies in the bottom row. Nothing is asked: at every step the agent decides where
    to look next and whether to move the paddle, and is rewarded if the paddle lies under the ball
    at the end.

    It is the dynamic task of Recurrent Models of Visual Attention, section 4.2. The paper does not
    say where the ball starts and how fast it is. Here it starts in the top row, uniformly over the
    columns, and moves by a constant number of columns a step, uniform in [-1, 1].

    ## Action Space

    A `Dict`:

    - `look`: where to take the next glimpse. With `look="continuous"` a location (x, y) in [-1, 1],
      where (-1, -1) is the screen's top-left corner and (1, 1) its bottom-right corner; with
      `"tiles"` the number of a tile, row by row; with `"relative"` a move, projected into the unit
      disc and scaled by `max_move`. With `inside=True` [-1, 1] spans the places from which all of a
      glimpse lies in the screen, and a tile is seen from the nearest of them.
    - `act`: 0 moves the paddle one column to the left, 1 leaves it, 2 moves it to the right.

    ## Observation Space

    A `Dict` of float32:

    - `glimpse`, in [0, 1]: (K, g, g), scale by scale, finest first. Scale k shows a window of side
      g 2**k pixels; what lies outside the screen is 0.
    - `location` (2,): where the glimpse was taken.
    - `remaining` (1,): glimpses left / budget.
    - `context` (1, 12, 12), with `context=True`: the whole screen in area means, with the first
      glimpse, and zeros later. It is DRAM's context, which serves to choose looks, not acts.

    With `history=True`, `glimpse` (T, K, g, g) and `location` (T, 2) hold all glimpses so far, each
    as it was seen. With `view="full"` there is only `scene` (1, H, H), at each of the T steps.

    ## Rewards

    1 at the last step if the paddle then lies under the ball.

    ## Episode End

    The first glimpse is given by `reset`, at a uniformly random location, when the ball is in the
    top row. The last, the T-th, is taken when the ball is in the bottom row, so T is the screen's
    side in pixels. One more action moves the paddle, and the episode terminates.

    ## Information

    After a step:

    - `success`: whether the ball was caught.

    Always:

    - `target_box` (4,): x0, y0, x1, y1 of the ball in look coordinates.
    - `scene`, in a fixed split: the world's number.

    ## References

    Mnih et al., Recurrent Models of Visual Attention, NIPS 2014.

    ## Version History

    v0: initial version.

    Args:
        split: "train" draws new worlds without end; "validation" and "test" are 10,000 each.
        scene_size: the screen's side in pixels, which is T too.
        paddle: the paddle's width in pixels.
        glimpse_size: g, the side of a glimpse in cells.
        scales: K, each covering twice the side of the last; None: the fewest of which the widest is
            1.6 times as wide as the scene, and shows nearly all of it from any place.
        glimpse_cost: price of a glimpse, >= 0.
        **looking: inside, look, max_move, view, history and context, as of `PictureTask`.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
    """

    def __init__(
        self,
        *,
        split: str = "train",
        scene_size: int = 24,
        paddle: int = 2,
        glimpse_size: int = 6,
        scales: int | None = 3,
        glimpse_cost: float = 0.0,
        **looking: Unpack[Looking],
    ) -> None:
        check_choice("split", split, SPLITS)
        check_integers(2, scene_size=scene_size)
        check_integers(1, paddle=paddle)
        if paddle > scene_size:
            raise ValueError(f"paddle={paddle} must be at most scene_size={scene_size}")
        self._size, self._paddle = int(scene_size), int(paddle)
        screen = Screen(self._size, self._paddle, split)
        super().__init__(
            screen,
            sensor=Retina(screen.shape, glimpse_size=glimpse_size, scales=scales),
            budget=self._size,
            glimpse_cost=glimpse_cost,
            **looking,
        )
        self.budget_is_seen = True  # also in the full view: the ball is in the bottom row
        act = Component(spaces.Discrete(3), names=("left", "stay", "right"))
        self.components = self.components_with(act=act)

    @property
    def chance(self) -> float:
        """Mean return of any policy that sees nothing: the ball lands uniformly."""
        return self._paddle / self._size - self.glimpse_cost * (self.budget - 1)

    @property
    def ceiling(self) -> float:
        """Mean return of catching every ball: each of them can be reached."""
        return 1.0 - self.glimpse_cost * (self.budget - 1)

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        super().allocate(num_envs, copies, taken)
        self._paddles = np.zeros(num_envs, np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        rows = rows_of(groups, self._copies)
        self._paddles[rows] = self._catch.paddles[rows]

    @property
    def _catch(self) -> CatchStage:
        assert isinstance(self._stage, CatchStage)
        return self._stage

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        moved = self._paddles[rows] + actions["act"][rows] - 1
        paddles = self._paddles[rows] = np.clip(moved, 0, self._size - self._paddle)
        columns = self._catch.columns[rows]
        caught = last & (paddles <= columns) & (columns < paddles + self._paddle)
        return Outcome(caught.astype(np.float64), success=caught)

    def look(self, rows: Rows, actions: Arrays) -> None:
        self._catch.paddles[rows] = self._paddles[rows]
        super().look(rows, actions)

    def oracle(self) -> Arrays:
        landing = self._catch.landing()
        right = landing >= self._paddles + self._paddle
        left = landing < self._paddles
        return self._looks_at_target() | {"act": 1 + right - left}

    def state_arrays(self) -> Arrays:
        arrays = super().state_arrays()
        return arrays | {"paddles": self._paddles, "shown_paddles": self._catch.paddles}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        columns = (0, self._size - self._paddle)
        return super().state_bounds() | {"paddles": columns, "shown_paddles": columns}

    def picture(self, row: int, caption: str) -> "Picture":
        return self.picture_of(row, caption, answer=None, target=None)
