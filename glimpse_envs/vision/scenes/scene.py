"""Interface of what picture tasks hide: scenes drawn from their own random streams, and worlds."""

from abc import ABC, abstractmethod

from numpy.typing import NDArray

from glimpse_envs.core.arrays import Floats, Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.vision.scenes.stage import Stage
from glimpse_envs.vision.sensors.sensor import Sensor


class Hidden(ABC):
    """Pictures that stand still or move, and what is asked of them.

    Attributes:
        shape: (C, H, W), C = 1 (grey) or 3 (colour).
        question: what is asked, in words, such as "Which digit is it?"; "" where nothing is.
        answers: the names of the answers, indexed by label.
        targets: most targets in a picture, at least 1.
        parts: numbers that label a picture, at least 1.
        fingerprint: of a user's own images; "" for other sources.
        moves: whether a picture changes from glimpse to glimpse.
    """

    shape: tuple[int, int, int]
    question: str = ""
    answers: tuple[str, ...] = ()
    targets: int = 1
    parts: int = 1
    fingerprint: str = ""
    moves: bool = False

    @property
    @abstractmethod
    def num_scenes(self) -> int | None:
        """Number of scenes in a fixed split; None where scenes are drawn for ever."""

    @property
    def chance(self) -> float:
        """Share of the most frequent answer among scenes, if all classes are equally frequent. In
        the sources here they nearly are: the most frequent of MNIST's test images has 0.1135."""
        return 1.0 / len(self.answers)

    @abstractmethod
    def stage(self, sensor: Sensor | None, num_envs: int, copies: int) -> Stage:
        """Return the stage that shows `num_envs` rows in groups of `copies` their pictures;
        `sensor` is None if no glimpses are read."""


class Scene(Hidden):
    """A distribution of pictures that stand still.

    The constructor takes `split` ("train", "validation" or "test") and its own arguments, all by
    keyword; `gymnasium.make` passes on those that it names.

    Attributes:
        dtype: of a canvas: uint8 (0 to 255) or float32 (0 to 1).
        pieces: the number of rectangles that a picture consists of, all else being black, so that
            only these are cleared and summed; 0 if anything may be drawn anywhere.
    """

    dtype: type
    pieces: int = 0

    def stage(self, sensor: Sensor | None, num_envs: int, copies: int) -> Stage:
        # Its kernel loads Numba, which whoever only describes a scene does without.
        from glimpse_envs.vision.scenes.canvas import StillStage

        return StillStage(self, sensor, num_envs, copies)

    @abstractmethod
    def draw(
        self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats
    ) -> Ints | None:
        """Draw the scenes `which` (m,) anew; called on several threads at once, each with scenes of
        its own.

        Args:
            which: indices into the arrays below; maybe none.
            keys: of all n scenes.
            canvas: (n, C, H + 2, W + 2), the picture within a border of zeros that stays zero.
                Scenes in `pieces` find it black, others as it was drawn last.
            labels: (n,) in [0, len(answers)); of a scene with `parts` > 1 (n, parts).
            boxes: (n, 4), the target's x0, y0, x1, y1 in pixels; of a scene with `targets` > 1
                (n, targets, 4), in the order in which to look at them, padded with NaN where a
                picture has fewer, or none.

        Returns:
            Of a scene in `pieces`, (m, pieces, 4) int64, each one's x0, y0, x1, y1 in pixels;
            what lies outside the picture is not counted.
        """
