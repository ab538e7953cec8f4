"""A window on the screen, for human rendering."""

import os
import subprocess
import sys
from functools import cache
from typing import Final

import numpy as np

from glimpse_envs.core.arrays import Bytes

CURE: Final = (
    "use render_mode='rgb_array' where there is none, or set SDL_VIDEODRIVER=dummy to show nothing"
)
UNSEEN: Final = ("dummy", "offscreen")
"""Values of SDL_VIDEODRIVER with which Gymnasium's own environments do not need a display."""
PROBE: Final = "import cv2; cv2.namedWindow('probe'); cv2.destroyAllWindows()"


NO_WINDOWS: Final = (
    "human rendering needs an OpenCV that opens windows, and this one cannot: install "
    f"opencv-python instead of opencv-python-headless, or {CURE}"
)


class Window:
    """Shows frames, one after the other, in a window of its own.

    With SDL_VIDEODRIVER=dummy or offscreen, with which Gymnasium's own environments run without a
    display, no window is opened, nothing is shown and `show` does not wait.

    Args:
        title: the window's title, which identifies it: windows with equal titles are one.
        fps: frames per second; `show` waits accordingly.

    Raises:
        RuntimeError: there is no display, or this OpenCV cannot open windows.
    """

    def __init__(self, title: str = "glimpse", fps: float = 4) -> None:
        if not fps > 0:
            raise ValueError(f"fps must be positive; it is {fps}")
        self._is_unseen = os.environ.get("SDL_VIDEODRIVER") in UNSEEN
        if not self._is_unseen:
            _require_display()
        self.title = title
        self._wait = max(1, round(1000 / fps))
        self._is_open = False

    def show(self, frame: Bytes) -> None:
        """Show a frame, (height, width, 3) uint8 RGB, and wait as long as it lasts.

        Raises:
            RuntimeError: this OpenCV cannot show windows.
        """
        if self._is_unseen:
            return
        from glimpse_envs.core.opencv import cv2

        try:
            cv2.imshow(self.title, np.ascontiguousarray(frame[..., ::-1]))
        except cv2.error as error:
            raise RuntimeError(NO_WINDOWS) from error
        self._is_open = True
        cv2.waitKey(self._wait)

    def close(self) -> None:
        """Close the window; closing it twice does nothing."""
        if self._is_open:
            from glimpse_envs.core.opencv import cv2

            self._is_open = False
            # The user may have closed it already.
            if cv2.getWindowProperty(self.title, cv2.WND_PROP_VISIBLE) > 0:
                cv2.destroyWindow(self.title)
            cv2.waitKey(1)


def _require_display() -> None:
    if not sys.platform.startswith("linux"):
        return
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise RuntimeError(
            "human rendering needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set: "
            f"{CURE}"
        )
    if not _can_open_a_window():
        shown = {name: os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")}
        raise RuntimeError(
            f"human rendering needs a display that OpenCV can open, and it cannot open {shown} "
            "(a headless OpenCV opens none; OpenCV's own wheels speak X11 only, not Wayland "
            f"alone): {CURE}"
        )


@cache
def _can_open_a_window() -> bool:
    """Try it in a separate process: OpenCV 5 aborts the process if it cannot."""
    probe = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False)
    return probe.returncode == 0
