"""`check_task` draws frames, and takes scenes with fewer targets than others."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs.task import Task
from glimpse_envs.testing.contract import check_spaces
from tests.support.parts.digit_sum import DigitSum
from tests.support.parts.log_polar import LogPolar
from tests.support.refusals import message_of, refused
from tests.support.tasks.falling_ball import FallingBall

SUM = "tests.support.parts:Tiny/DigitSum-v0"


class OneTarget(DigitSum):
    """Gives one digit's place alone, and pads with NaN."""

    def draw(self, which: Any, keys: Any, canvas: Any, labels: Any, boxes: Any) -> None:
        super().draw(which, keys, canvas, labels, boxes)
        boxes[which, 1] = np.nan


def test_targets_may_be_padded_with_nan() -> None:
    check_spaces(SUM, {"scene": f"{__name__}:OneTarget"})


class ComesAndGoes(OneTarget):
    """Has a second target, in the middle of the scene, at every other deal, whatever the seed."""

    deals = 0

    def draw(self, which: Any, keys: Any, canvas: Any, labels: Any, boxes: Any) -> None:
        super().draw(which, keys, canvas, labels, boxes)
        self.deals += 1
        if self.deals % 2:
            boxes[which, 1] = 30


def test_a_target_that_comes_and_goes_with_equal_seeds_is_found() -> None:
    message = message_of(SUM, scene=f"{__name__}:ComesAndGoes")
    assert "a second episode with the same seed and action[0][1]['target_box']" in message


class Bare(LogPolar):
    """Draws a glimpse without a label."""

    def panels(self, glimpse: Any) -> Any:
        return super().panels(glimpse)[0][1]


class Unlabelled(LogPolar):
    """Draws pictures without labels."""

    def panels(self, glimpse: Any) -> Any:
        return [picture for _, picture in super().panels(glimpse)]


class Flat(LogPolar):
    """Draws a picture without channels."""

    def panels(self, glimpse: Any) -> Any:
        return [(label, picture[0]) for label, picture in super().panels(glimpse)]


class Failing(LogPolar):
    """Draws glimpses of another shape than it reads."""

    def panels(self, glimpse: Any) -> Any:
        return super().panels(glimpse[:, :2])


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        ("Bare", "Bare.panels returns an array of shape (1, 49, 49); it must return a list of"),
        ("Unlabelled", "Unlabelled.panels returns a list with an array of shape (1, 49, 49)"),
        ("Flat", "as the picture of '48 px', an array of shape (49, 49); it must return a list"),
        ("Failing", "Failing.panels fails with a glimpse of shape (1, 5, 12): IndexError"),
    ],
)
def test_a_sensor_whose_panels_cannot_be_drawn_is_named(sensor: str, message: str) -> None:
    assert message in message_of(SUM, sensor=f"{__name__}:{sensor}")


class Blank(FallingBall):
    """Has no picture."""

    def picture(self, row: int, caption: str) -> Any:
        return None


class Startled(FallingBall):
    """Cannot be drawn once it has moved."""

    def picture(self, row: int, caption: str) -> Any:
        if self._paddles[row] != 2:
            raise KeyError("paddle")
        return super().picture(row, caption)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            Blank,
            "Blank.picture returns None after a reset; it must return a Picture, a TapePicture",
        ),
        (Startled, "the frame after a step cannot be drawn from Startled.picture: KeyError"),
    ],
)
def test_a_task_that_cannot_be_drawn_is_named(task: type[Task], message: str) -> None:
    assert message in refused(task)
