"""Films and images are written whole or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import imageio.v2 as imageio
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from glimpse_envs.rendering import (
    write_film,
    write_png,
)


def test_a_png_keeps_every_pixel_in_rgb(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    path = write_png(image, tmp_path / "new" / "image.png")
    read = cv2.imread(str(path), cv2.IMREAD_COLOR)
    assert read is not None
    np.testing.assert_array_equal(read[..., ::-1], image)
    assert os.listdir(path.parent) == ["image.png"]


def moving_bars(count: int) -> Iterator[NDArray[np.uint8]]:
    for i in range(count):
        frame = np.zeros((64, 80, 3), np.uint8)
        frame[:, 8 * i : 8 * i + 8] = (255, 40, 40)
        yield frame


def frames_of(path: Path) -> list[NDArray[np.uint8]]:
    if path.suffix == ".gif":
        return list(np.asarray(imageio.mimread(path))[..., :3])
    film = cv2.VideoCapture(str(path))  # imageio's own reader leaves its pipes open
    frames = []
    while (read := film.read())[0]:
        frames.append(np.asarray(read[1], np.uint8)[..., ::-1])
    film.release()
    return frames


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_film_holds_every_frame_in_order(tmp_path: Path, suffix: str) -> None:
    path = write_film(moving_bars(6), tmp_path / f"film{suffix}", fps=4)
    frames = frames_of(path)
    assert len(frames) == 6
    for i, frame in enumerate(frames):
        assert frame.shape == (64, 80, 3)
        assert frame[32, 8 * i + 4, 0] > 180
        assert frame[32, (8 * i + 44) % 80, 0] < 60
    assert os.listdir(tmp_path) == [path.name]


def test_a_webp_film_is_lossless_and_keeps_its_pace(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (20, 30, 3), dtype=np.uint8) for _ in range(3)]
    with Image.open(write_film(frames, tmp_path / "film.webp", fps=4)) as film:
        assert (film.n_frames, film.info["loop"]) == (3, 0)
        for index, frame in enumerate(frames):
            film.seek(index)
            assert (np.asarray(film.convert("RGB")) == frame).all()
            assert film.info["duration"] == 250


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".webp"])
def test_a_film_that_fails_leaves_what_was_there_before(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"film{suffix}"
    path.write_bytes(b"the film before")

    def failing() -> Iterator[NDArray[np.uint8]]:
        yield from moving_bars(3)
        raise RuntimeError("the environment broke")

    with pytest.raises(RuntimeError, match="the environment broke"):
        write_film(failing(), path)
    assert path.read_bytes() == b"the film before"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("frames", "name", "message"),
    [
        ([], "film.mp4", "at least one frame"),
        ([np.zeros((8, 8, 3), np.uint8)], "film.avi", r"must end in \.mp4, \.gif or \.webp"),
        ([np.zeros((9, 8, 3), np.uint8)], "film.mp4", "must be even"),
        ([np.zeros((8, 8, 3), np.float32)], "film.gif", "uint8 RGB"),
        ([np.zeros((s, 8, 3), np.uint8) for s in (8, 10)], "film.gif", "frame 1 is"),
    ],
)
def test_a_film_refuses_bad_frames_and_leaves_no_file(
    tmp_path: Path, frames: list[NDArray[Any]], name: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        write_film(frames, tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_several_films_are_not_one(tmp_path: Path) -> None:
    films: Any = [list(moving_bars(2)), list(moving_bars(2))]
    with pytest.raises(TypeError, match=r"it is a list\. Of several films, all frames together"):
        write_film(films, tmp_path / "film.gif")
    assert os.listdir(tmp_path) == []
