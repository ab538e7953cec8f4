"""Scenes and sensors of other packages that break a promise are refused, with the promise."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.vision.scenes.scene import Scene
from glimpse_envs.vision.sensors.sensor import Sensor, square
from tests.support.episodes import CLUTTERED


class Blank(Scene):
    """Pictures of nothing, which keep all promises."""

    answers: tuple[str, ...] = ("nothing", "still nothing")
    dtype: type = np.uint8
    shape: Any = (1, 20, 20)

    def __init__(self, *, split: str) -> None:
        self.split = split

    num_scenes = property(lambda self: num_scenes_of(self.split))

    def draw(self, which: Any, keys: Any, canvas: Any, labels: Any, boxes: Any) -> None:
        canvas[which], labels[which], boxes[which] = 0, 0, (0, 0, 4, 4)


class ByPosition(Blank):
    def __init__(self, split: str = "train", side: int = 4) -> None:
        super().__init__(split=split)


class ThreeLabels(Blank):
    parts = 3


class WithoutAnswers(Blank):
    answers = ()


class Double(Blank):
    dtype = np.float64


class WithoutChannels(Blank):
    shape: Any = (20, 20)


class WithoutTargets(Blank):
    targets = 0


class Mislabelled(Blank):
    def draw(self, which: Any, keys: Any, canvas: Any, labels: Any, boxes: Any) -> None:
        super().draw(which, keys, canvas, labels, boxes)
        labels[which] = 2


class Blind(Sensor):
    """Sees nothing, and keeps all promises."""

    glimpse_shape: Any = (1, 3, 3)
    outlines: Any = (square(3.0),)
    multiply_adds: Any = 0

    def __init__(self, shape: tuple[int, int, int], *, side: int = 3) -> None:
        self.shape = shape

    def read(self, *arrays: Any) -> None:
        arrays[-1][arrays[-2]] = 0.0


class SideByPosition(Blind):
    def __init__(self, shape: tuple[int, int, int], side: int = 3) -> None:
        super().__init__(shape, side=side)


class WithoutOutlines(Blind):
    outlines = ()


class Boxes(Blind):
    outlines = ((-2, -2, 2, 2),)


class OneOutline(Blind):
    outlines = square(3.0)


class OneNumber(Blind):
    glimpse_shape = ()


class Shapeless(Blind):
    def __init__(self) -> None:
        super().__init__((1, 20, 20))


class TwoWindows(Blind):
    window_sides = (3.0, 6.0)


def make(scene: str = "Blank", sensor: str = "Blind") -> gym.Env:
    kwargs: dict[str, Any] = {"clutter": 0, "source": None, "scene": f"{__name__}:{scene}"}
    return gym.make(CLUTTERED, **kwargs, sensor=f"{__name__}:{sensor}")


def test_those_that_keep_all_promises_are_taken() -> None:
    assert make().reset(seed=0)[0]["glimpse"].shape == (1, 3, 3)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"scene": "ByPosition"}, "takes split, side by position, and only arguments by keyword"),
        ({"scene": "WithoutAnswers"}, "it has no answers; it must name them"),
        ({"scene": "ThreeLabels"}, "it has 3 labels a picture; this task asks for one"),
        ({"scene": "Double"}, r"its dtype is .*float64.*; it must be np.uint8, .*, or np.float32"),
        ({"scene": "WithoutChannels"}, r"its shape is \(20, 20\); it must be \(C, H, W\)"),
        (
            {"sensor": "SideByPosition"},
            r"__init__ takes side by position.* as in \(self, shape, \*, side\)",
        ),
        ({"scene": "WithoutTargets"}, "its targets are 0; they must be .* at least 1"),
        ({"sensor": "WithoutOutlines"}, r"its outlines are \(\); .* at least one polygon"),
        ({"sensor": "Boxes"}, r"\(-2, -2, 2, 2\) is one of its outlines, .* corners \(n, 2\)"),
        ({"sensor": "OneOutline"}, "its outlines are array.*; they must be a tuple"),
        ({"sensor": "OneNumber"}, r"its glimpse_shape is \(\); it must be a tuple of at least one"),
        ({"sensor": "Shapeless"}, r"must take the scenes' shape \(C, H, W\) first"),
        ({"sensor": "TwoWindows"}, r"its 2 window_sides are .*shape \(2, g, g\), .* \(1, 3, 3\)"),
    ],
)
def test_a_broken_promise_is_named(parts: dict[str, str], message: str) -> None:
    (name,) = parts.values()
    with pytest.raises(ValueError, match=f"{name}': .*{message}"):
        make(**parts)


def test_a_label_of_no_answer_is_named() -> None:
    message = r"Mislabelled\.draw gave the label 2; labels must lie between 0 and 1"
    with pytest.raises(ValueError, match=message):
        make("Mislabelled").reset(seed=0)
