"""What a look and a deal cost in scenes of a megapixel, beside one of 60 pixels, and their memory.

    python -m benchmarks.speed.large_scenes [--rows 64] [--repeats 8] [--record FOLDER]

The scenes are those of Megapixel MNIST of built-in glyphs, and a single glyph on 60 x 60 pixels;
the sensor is the same, seven scales of 12 x 12. Figures are CPU time of one thread, the best of the
repeats, in which both sizes take turns. Memory is what a fresh process holds more after all rows
were dealt twice and looked at.
"""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.options import options_parser, write_benchmark
from benchmarks.processes import Failure, side_by_side
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.core.keys import Keys
from glimpse_envs.evaluation.provenance import hardware
from glimpse_envs.vision.scenes.image_majority import ImageMajority
from glimpse_envs.vision.scenes.stage import Stage
from glimpse_envs.vision.sensors.retina import Retina

SIDES = (60, 1500)
SCALES = 7
LOOKS = 32


@dataclass(frozen=True)
class Size:
    """Costs of scenes of one size."""

    side: int
    """In pixels."""
    look_microseconds: float
    deal_microseconds: float
    writing_microseconds: float
    """To copy a scene's bytes."""
    mebibytes: float
    """Of all rows."""


class Rows:
    """So many rows, each with a scene of its own."""

    def __init__(self, side: int, rows: int) -> None:
        images, majority, strokes = (1, 1, 0) if side < 200 else (5, 3, 50)
        scene = ImageMajority(
            split="train",
            source="glyphs",
            scene_size=side,
            images=images,
            majority=majority,
            strokes=strokes,
        )
        sensor = Retina(scene.shape, glimpse_size=12, scales=SCALES)
        self.stage: Stage = scene.stage(sensor, rows, 1)
        self.every, self.episodes = np.arange(rows), np.zeros(rows, np.int64)
        nothing = np.zeros(rows, np.int64)
        self.keys = Keys(np.zeros(rows, np.uint64), self.every, self.episodes, nothing - 1, nothing)
        self.places = np.random.default_rng(0).uniform(0, side, (LOOKS, rows, 2))

    def deal(self) -> int:
        self.episodes += 1
        self.stage.draw(self.every, self.keys)
        return len(self.every)

    def look(self) -> int:
        for centres in self.places:
            self.stage.read(self.every, centres)
        return LOOKS * len(self.every)


def writing_burst(side: int, rows: int) -> Callable[[], int]:
    """Copies of the bytes of so many scenes."""
    pixels = np.ones((rows, side, side), np.uint8)
    copies = np.empty_like(pixels)

    def burst() -> int:
        copies[:] = pixels
        return rows

    return burst


def held_mebibytes(task: tuple[int, int]) -> float:
    """Memory of rows of scenes, (side, rows), in a process that has nothing else."""
    side, rows = task
    small = Rows(60, 1)
    small.deal()
    small.look()
    before = resident_mebibytes()
    batch = Rows(side, rows)
    for work in (batch.deal, batch.deal, batch.look):
        work()
    return resident_mebibytes() - before


def resident_mebibytes() -> float:
    """Memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(rows: int, repeats: int) -> list[Size]:
    """Both sizes."""
    batches = [Rows(side, rows) for side in SIDES]
    works: list[Callable[[], int]] = []
    for side, batch in zip(SIDES, batches, strict=True):
        works += [batch.deal, batch.look, writing_burst(side, rows)]
    rates = best_rates([Case(str(i), work) for i, work in enumerate(works)], repeats)
    costs = (1e6 / np.array(rates)).reshape(len(SIDES), 3).tolist()
    sizes = []
    tasks = [(side, rows) for side in SIDES]
    for (side, _), held in side_by_side(held_mebibytes, tasks, processes=1):
        if isinstance(held, Failure):
            raise RuntimeError(f"scenes of {side} pixels: {held.reason}")
        deal, look, write = costs[SIDES.index(side)]
        sizes.append(Size(side, look, deal, write, held))
    return sizes


def main() -> None:
    """The command line."""
    arguments = options_parser(__doc__, rows=64, repeats=8).parse_args()
    print(hardware())
    sizes = measure(arguments.rows, arguments.repeats)
    for size in sizes:
        print(size)
    print(
        f"a look: {sizes[1].look_microseconds / sizes[0].look_microseconds:.2f} times as expensive"
    )
    entries = {"rows": arguments.rows, "scales": SCALES, "scenes": [asdict(s) for s in sizes]}
    write_benchmark(arguments.record, "large_scenes", entries)


if __name__ == "__main__":
    main()
