"""`check_task` finds tasks and scenes that do not keep to the rows which they are given."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys
from glimpse_envs.task import Arrays, Outcome, Rows, Task
from tests.support.parts.digit_sum import DigitSum
from tests.support.refusals import message_of, refused
from tests.support.tasks.falling_ball import FallingBall

SUM = "tests.support.parts:Tiny/DigitSum-v0"


class LooksEverywhere(FallingBall):
    """Moves the gazes of all rows."""

    def look(self, rows: Rows, actions: Arrays) -> None:
        self._eyes[:] = actions["look"]


class ActsEverywhere(FallingBall):
    """Moves the paddles of all rows."""

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        before = self._paddles[rows]
        self._paddles[:] = (self._paddles + actions["act"]) % 5
        self._paddles[rows] = before
        return super().act(rows, actions, last)


class PaysEverybody(FallingBall):
    """Returns the rewards of all rows."""

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        super().act(rows, actions, last)
        return Outcome(reward=np.zeros(len(self._balls)))


class ShowsEverything(FallingBall):
    """Returns the paddles of all rows."""

    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        paddles = np.eye(5, dtype=np.float32)[self._paddles]
        return super().observe(rows, remaining) | {"paddle": paddles}


class TellsEverything(FallingBall):
    """Returns the balls of all rows."""

    def info(self, rows: Rows) -> Arrays:
        return {"ball": self._balls}


class TellsTheFuture(FallingBall):
    """Returns an array of its own, which changes later, where it is asked for all rows."""

    def info(self, rows: Rows) -> Arrays:
        return {"ball": self._balls if len(rows) == len(self._balls) else self._balls[rows]}


class DealsEverywhere(FallingBall):
    """Moves all paddles back to the middle."""

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        self._paddles[:] = self._eyes[:] = 2


class DriftsAfterwards(FallingBall):
    """Lets all paddles drift once a part of the rows was dealt anew."""

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        self._drift = int(len(groups) < len(self._balls))

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        self._paddles[rows] = np.minimum(self._paddles[rows] + self._drift, 4)
        return super().act(rows, actions, last)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            LooksEverywhere,
            "LooksEverywhere.look must change its own rows alone; for rows [1",
        ),
        (ActsEverywhere, "ActsEverywhere.act must change its own rows alone"),
        (PaysEverybody, "reward has shape (7,), whose first number must be 3"),
        (ShowsEverything, "ShowsEverything.observe must return the observations of `rows` alone"),
        (TellsEverything, "TellsEverything.info must return the infos of `rows` alone"),
        (TellsTheFuture, "TellsTheFuture.info returns the same array as 'ball' at every call"),
        (DealsEverywhere, "DealsEverywhere.deal, must change its own rows alone"),
        (DriftsAfterwards, "Disabled, with resets in mid-episode, at step 2"),
    ],
)
def test_methods_that_leave_their_rows_are_named(task: type[Task], message: str) -> None:
    assert message in refused(task)


class FirstScenes(DigitSum):
    """Draws the first scenes in place of those asked for."""

    def draw(self, which: Any, keys: Any, canvas: Any, labels: Any, boxes: Any) -> None:
        super().draw(np.arange(len(which)), keys, canvas, labels, boxes)


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_scene_that_draws_only_the_first_ones_is_found(split: str) -> None:
    message = message_of(SUM, scene=f"{__name__}:FirstScenes", split=split)
    assert "rows 63 and 64 of 258, and the same two alone" in message
