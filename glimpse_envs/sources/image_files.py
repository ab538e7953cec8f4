"""Image files of users, checked before they are read: anything may be called d.png."""

import os
import struct
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np

from glimpse_envs.core.arrays import Bytes
from glimpse_envs.sources.examples import SourceError

MOST_PIXELS = 2**26
"""The most pixels of one image, 8192 x 8192."""
_MOST_BYTES = 8 * MOST_PIXELS  # of a file: more than such an image takes uncompressed


def check_file(path: Path) -> int:
    """Return the size in bytes of an image file, without opening it.

    Raises:
        SourceError: it is not a file, its link is broken, it is too large, or its name is not text.
    """
    try:
        str(path).encode()
        found = path.stat()
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{os.fsencode(path)!r} has a name that is not UTF-8. Rename it."
        ) from error
    except OSError as error:
        raise SourceError(f"{path} cannot be read ({error.strerror}). Remove it.") from error
    if not S_ISREG(found.st_mode):
        raise SourceError(f"{path} is not a file: it is a folder or a device. Remove it.")
    if found.st_size > _MOST_BYTES:
        raise SourceError(
            f"{path} has {found.st_size:,} bytes; an image may have {_MOST_BYTES:,}. Remove it."
        )
    return found.st_size


def stamp_of(path: Path) -> tuple[int, int]:
    """Return the size in bytes and the modification time in nanoseconds of a file.

    Raises:
        SourceError: it has vanished.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise SourceError(f"{path} cannot be read ({error.strerror}).") from error
    return found.st_size, found.st_mtime_ns


def read_image(path: Path) -> Bytes:
    """Read one image as RGB, (h, w, 3).

    Raises:
        SourceError: the file is not an image, is damaged or too large, or, a PNG, has transparent
            pixels.
    """
    from glimpse_envs.core.opencv import cv2

    check_file(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read ({error.strerror}).") from error
    width, height = _size_in(content)
    if width * height > MOST_PIXELS:
        raise SourceError(
            f"{path} has {width}x{height} pixels, {width * height:,} in all; an image may have "
            f"{MOST_PIXELS:,}. Resize or remove it."
        )
    try:
        buffer = np.frombuffer(content, np.uint8)
        image = cv2.imdecode(buffer, cv2.IMREAD_COLOR) if content else None
    except cv2.error:
        image = None
    if image is None:
        raise SourceError(f"{path} is not an image that can be read. Replace or remove it.")
    if _has_alpha(content):
        whole: Any = cv2.imdecode(buffer, cv2.IMREAD_UNCHANGED)
        # A grey PNG names one grey that is transparent, and is read without it.
        if whole.ndim == 2 or (
            whole.shape[2] == 4 and whole[..., 3].min() < np.iinfo(whole.dtype).max
        ):
            raise SourceError(
                f"{path} has transparent pixels, whose colour is not what is seen. Put it on a "
                "background first."
            )
    return np.asarray(image[..., ::-1], np.uint8)


def _has_alpha(content: bytes) -> bool:
    """Return whether the header of a PNG says that it may have transparent pixels."""
    header = content[: content.find(b"IDAT")]
    is_png = header.startswith(b"\x89PNG\r\n\x1a\n")
    return is_png and (header[25:26] in (b"\x04", b"\x06") or b"tRNS" in header)


def resized(image: Bytes, side: int) -> Bytes:
    """Return an image (h, w, 3) resized to (side, side, 3), each cell the mean of its area."""
    from glimpse_envs.core.opencv import cv2

    wanted = cv2.resize(np.ascontiguousarray(image), (side, side), interpolation=cv2.INTER_AREA)
    return np.asarray(wanted, np.uint8)


def _size_in(content: bytes) -> tuple[int, int]:
    """Return the width and height in the header of a PNG, BMP or JPEG, or (0, 0)."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack_from(">II", content, 16)
        if content.startswith(b"BM"):
            width, height = struct.unpack_from("<ii", content, 18)
            return abs(width), abs(height)
        if content.startswith(b"\xff\xd8"):
            at = 2
            while True:  # from segment to segment, until one that begins a frame
                mark, length = struct.unpack_from(">HH", content, at)
                if 0xFFC0 <= mark <= 0xFFCF and mark not in (0xFFC4, 0xFFC8, 0xFFCC):
                    height, width = struct.unpack_from(">HH", content, at + 5)
                    return width, height
                at += 2 + max(2, length)
    except struct.error:  # cut short: the decoder will refuse it
        pass
    return 0, 0
