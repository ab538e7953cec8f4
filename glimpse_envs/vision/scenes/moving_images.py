"""An image that drifts and bounces among pieces of other images, one frame per glimpse."""

import numpy as np

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_numbers
from glimpse_envs.core.arrays import Bytes, Floats, Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import (
    SCENE,
    below,
    fill_keyed_words,
    index_of,
    symmetric,
)
from glimpse_envs.core.threads import for_chunks
from glimpse_envs.task import rows_of
from glimpse_envs.vision.scenes.canvas import CanvasStage
from glimpse_envs.vision.scenes.images import ImageScene, add
from glimpse_envs.vision.scenes.scene import Hidden
from glimpse_envs.vision.sensors.sensor import Sensor


class MovingImages(Hidden):
    """An image of a source and pieces of others, all of which move, one frame a glimpse.

    There are one image and `clutter` square pieces of others of the split; where they meet their
    sum is clipped at white. Each starts at a uniform place wholly inside, moves by a constant
    number of pixels a frame, uniform in [-`speed`, `speed`] along each axis, and bounces off the
    sides.

    ## References

    The scene is this suite's, after the cluttered digits of Mnih et al., Recurrent Models of Visual
    Attention, NIPS 2014.

    Args:
        split: "train", "validation" or "test".
        source: the name of a source (see `glimpse_envs.sources`).
        scene_size: the scene's side in pixels, at least the image's.
        clutter: number of pieces.
        clutter_size: a piece's side in pixels, at most the image's.
        speed: the greatest move per frame along an axis, in pixels, >= 0.

    Raises:
        ValueError: the image does not fit into the scene, or a piece into the image.
    """

    moves = True

    def __init__(
        self,
        *,
        split: str,
        source: str,
        scene_size: int,
        clutter: int = 0,
        clutter_size: int = 8,
        speed: float = 4.0,
    ) -> None:
        check_numbers(0, speed=speed)
        still = ImageScene(
            split=split,
            source=source,
            scene_size=scene_size,
            clutter=clutter,
            clutter_size=clutter_size,
        )
        self.shape, self.fingerprint = still.shape, still.fingerprint
        self.question, self.answers = still.question, still.answers
        self.source, self.split, self._still = source, split, still
        self.clutter, self.clutter_size = int(clutter), int(clutter_size)
        self.speed = float(speed)

    @property
    def num_scenes(self) -> int | None:
        return self._still.num_scenes

    def stage(self, sensor: Sensor | None, num_envs: int, copies: int) -> "MovingStage":
        return MovingStage(self, sensor, num_envs, copies)


class MovingStage(CanvasStage):
    """The frames of a batch; moving images are drawn anew at each step.

    Args:
        images: the moving images.
        sensor: reads the glimpses; None if there are none.
        num_envs: rows.
        copies: rows in a group.
    """

    def __init__(
        self, images: MovingImages, sensor: Sensor | None, num_envs: int, copies: int
    ) -> None:
        super().__init__(np.arange(num_envs), images.shape, np.uint8, sensor)
        self._images, self._copies = images, copies
        self.boxes, self.labels = np.zeros((num_envs, 4)), np.zeros(num_envs, np.int64)
        sprites = 1 + images.clutter  # the image is the last
        # Index of an image, and row and column from which a piece is cut.
        self._cuts = np.zeros((num_envs, sprites, 3), np.int64)
        # Place (x, y) at the first frame, and pixels moved per frame.
        self._flights = np.zeros((num_envs, sprites, 4))
        self._places = np.zeros((num_envs, sprites, 2), np.int64)  # (x, y), as drawn

    def draw(self, groups: Ints, keys: Keys) -> Ints:
        images, rows = self._images, rows_of(groups, self._copies)
        examples = sources.load(images.source, images.split, images.fingerprint)

        def draw(chunk: Ints) -> None:
            _draw_flights(
                chunk,
                self._copies,
                keys.arrays,
                (examples.images, examples.labels),
                (images.shape[1], images.clutter_size, images.speed),
                (self._cuts, self._flights, self.labels),
            )
            self._canvas[chunk] = 0
            self._draw_frames(chunk, np.zeros_like(chunk))

        for_chunks(draw, rows)
        return rows

    def show(self, rows: Ints, steps: Ints) -> None:
        order = np.arange(len(rows))
        for_chunks(lambda chunk: self._draw_frames(rows[chunk], steps[chunk]), order)

    def _draw_frames(self, rows: Ints, steps: Ints) -> None:
        images = self._images
        examples = sources.load(images.source, images.split, images.fingerprint)
        what = (self._cuts, self._flights, self._places)
        piece = images.clutter_size
        _draw_frames(rows, steps, examples.images, what, piece, self._canvas, self.boxes)
        self._sum_scenes(rows)


@kernel
def _draw_flights(
    rows: Ints,
    copies: int,
    keys: KeyArrays,
    examples: tuple[Bytes, Ints],
    sizes: tuple[int, int, float],
    what: tuple[Ints, Floats, Ints],
) -> None:
    images, image_labels = examples
    size, piece, speed = sizes
    cuts, flights, labels = what
    count, _, h, w = images.shape
    sprites = cuts.shape[1]
    words = np.empty(7 * sprites, np.uint32)
    for row in rows:
        group = row // copies
        fill_keyed_words(words, group, keys, SCENE)
        for i in range(sprites):
            draws = words[7 * i : 7 * i + 7]
            whole = i == sprites - 1
            own = index_of(group, keys, draws[0], count)
            cuts[row, i, 0] = own if whole else below(draws[0], count)
            cuts[row, i, 1] = 0 if whole else below(draws[1], h - piece + 1)
            cuts[row, i, 2] = 0 if whole else below(draws[2], w - piece + 1)
            room_x, room_y = (size - w, size - h) if whole else (size - piece, size - piece)
            flights[row, i, 0] = (symmetric(draws[3]) + 1) / 2 * (room_x + 1)
            flights[row, i, 1] = (symmetric(draws[4]) + 1) / 2 * (room_y + 1)
            flights[row, i, 2] = speed * symmetric(draws[5])
            flights[row, i, 3] = speed * symmetric(draws[6])
        labels[row] = image_labels[cuts[row, sprites - 1, 0]]


@kernel
def _draw_frames(
    rows: Ints,
    steps: Ints,
    images: Bytes,
    what: tuple[Ints, Floats, Ints],
    piece: int,
    canvas: Bytes,
    boxes: Floats,
) -> None:
    """Draw the frames of `rows` (m,) at `steps` (m,) over those that were drawn last."""
    cuts, flights, places = what
    h, w = images.shape[2], images.shape[3]
    height, width = canvas.shape[2] - 2, canvas.shape[3] - 2
    sprites = cuts.shape[1]
    for n, row in enumerate(rows):
        for i in range(sprites):
            tall, wide = (h, w) if i == sprites - 1 else (piece, piece)
            x, y = places[row, i]
            canvas[row, :, 1 + y : 1 + y + tall, 1 + x : 1 + x + wide] = 0
        for i in range(sprites):
            tall, wide = (h, w) if i == sprites - 1 else (piece, piece)
            x = _bounced(flights[row, i, 0] + steps[n] * flights[row, i, 2], width - wide + 1)
            y = _bounced(flights[row, i, 1] + steps[n] * flights[row, i, 3], height - tall + 1)
            places[row, i, 0], places[row, i, 1] = x, y
            image, top, left = cuts[row, i]
            sprite = images[image, :, top : top + tall, left : left + wide]
            add(canvas[row, :, 1 + y : 1 + y + tall, 1 + x : 1 + x + wide], sprite)
        x, y = places[row, sprites - 1]
        boxes[row] = x, y, x + w, y + h


@kernel
def _bounced(place: float, room: int) -> int:
    """Return the whole place in [0, room) of what would be at `place` if nothing bounced."""
    folded = place % (2.0 * room)
    return min(int(min(folded, 2.0 * room - folded)), room - 1)
