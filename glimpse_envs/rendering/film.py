"""Files of frames: a PNG image, an MP4, GIF or WebP film. A file appears whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from glimpse_envs.core.arrays import Bytes
from glimpse_envs.core.files import replacing

SUFFIXES = (".mp4", ".gif", ".webp")


def write_png(image: Bytes, path: str | os.PathLike[str]) -> Path:
    """Write an image (height, width, 3) uint8 RGB; missing folders are made.

    Raises:
        ValueError: the array is not such an image, or the path does not end in .png.
    """
    from glimpse_envs.core.opencv import cv2

    target = Path(path)
    if target.suffix.lower() != ".png":
        raise ValueError(f"an image's path must end in .png; it is {target}")
    _check_image(image)
    _, encoded = cv2.imencode(".png", np.ascontiguousarray(image[..., ::-1]))
    with replacing(target) as temporary:
        temporary.write_bytes(encoded.tobytes())
    return target


def write_film(frames: Iterable[Bytes], path: str | os.PathLike[str], fps: float = 4) -> Path:
    """Write a film, H.264, GIF or lossless WebP by the path's suffix; missing folders are made.

    Args:
        frames: at least one, each (height, width, 3) uint8 RGB, all of one size; for .mp4 both
            sides must be even. They are taken one at a time.
        path: ends in .mp4, .gif or .webp.
        fps: frames per second. A GIF rounds a frame's time to hundredths of a second.

    Raises:
        ValueError: no frames, frames that differ in size or are not images, another suffix, or
            `fps` that is not positive. No file is left behind.
        ImportError: imageio, or for .mp4 imageio-ffmpeg, is not installed.
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ValueError(f"a film's path must end in .mp4, .gif or .webp; it is {target}")
    if not fps > 0:
        raise ValueError(f"fps must be positive; it is {fps}")
    with replacing(target) as temporary:
        checked = _checked(frames, even=target.suffix.lower() == ".mp4")
        # Bad frames raise before a writer opens.
        first = next(checked, None)
        if first is None:
            raise ValueError("a film needs at least one frame; it got none")
        # Not the writer's own `with`, which closes nothing after an error.
        with closing(_open_writer(temporary, fps)) as writer:
            writer.append_data(first)
            for frame in checked:
                writer.append_data(frame)
    return target


def _open_writer(path: Path, fps: float) -> Any:
    film = path.suffix.lower() == ".mp4"
    for module in ("imageio", "imageio_ffmpeg") if film else ("imageio",):
        if find_spec(module) is None:
            raise ImportError(f'{path.suffix} films need {module}: pip install "imageio[ffmpeg]"')
    import imageio.v2 as imageio

    if not film:
        lossless = {} if path.suffix.lower() == ".gif" else {"lossless": True, "method": 4}
        kind, pause = path.suffix[1:].upper(), round(1000 / fps)
        return imageio.get_writer(path, format=kind, mode="I", duration=pause, loop=0, **lossless)
    return imageio.get_writer(
        path,
        format="FFMPEG",
        mode="I",
        fps=fps,
        codec="libx264",
        pixelformat="yuv420p",
        quality=8,
        macro_block_size=2,
    )


def _checked(frames: Iterable[Bytes], even: bool) -> Iterator[Bytes]:
    shape: tuple[int, ...] | None = None
    for index, frame in enumerate(frames):
        _check_image(frame)
        shape = shape or frame.shape
        if frame.shape != shape:
            raise ValueError(
                f"all frames must have one size; frame {index} is {frame.shape[:2]}, the first "
                f"is {shape[:2]}"
            )
        if even and (shape[0] % 2 or shape[1] % 2):
            raise ValueError(f"an .mp4's height and width must be even; they are {shape[:2]}")
        yield frame


def _check_image(image: Bytes) -> None:
    if not isinstance(image, np.ndarray):
        raise TypeError(
            f"an image must be an array; it is a {type(image).__name__}. Of several films, all "
            "frames together are itertools.chain.from_iterable(films)"
        )
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise ValueError(
            f"an image must be (height, width, 3) uint8 RGB; it is {image.shape} {image.dtype}"
        )
