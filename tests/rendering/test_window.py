"""A window shows frames, or says why it cannot."""

import sys

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.rendering import (
    Window,
)


@pytest.fixture(autouse=True)
def a_window_is_to_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)


def test_a_window_without_a_display_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(
        RuntimeError, match=r"needs a display.*render_mode='rgb_array'.*SDL_VIDEODRIVER=dummy"
    ):
        Window()


def test_a_display_that_is_not_there_does_not_abort_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":4711")
    with pytest.raises(RuntimeError, match=r"cannot open.*:4711.*render_mode='rgb_array'"):
        Window()


@pytest.mark.parametrize("driver", ["dummy", "offscreen"])
def test_a_window_that_nobody_sees_needs_no_display(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", driver)
    monkeypatch.setattr(cv2, "imshow", lambda *_: pytest.fail("nothing is shown"))
    window = Window()
    window.show(np.zeros((4, 6, 3), np.uint8))
    window.close()


def test_a_window_shows_rgb_frames_as_opencv_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, NDArray[np.uint8]]] = []
    waits: list[int] = []
    monkeypatch.setattr(sys, "platform", "darwin")  # where no display needs to be looked for
    monkeypatch.setattr(cv2, "imshow", lambda title, image: shown.append((title, image)))
    monkeypatch.setattr(cv2, "waitKey", waits.append)
    window = Window("eye", fps=5)
    window.show(np.full((4, 6, 3), (255, 128, 0), np.uint8))
    assert shown[0][0] == "eye"
    assert tuple(shown[0][1][0, 0]) == (0, 128, 255)
    assert waits == [200]


def test_an_opencv_without_windows_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def imshow(title: str, image: NDArray[np.uint8]) -> None:
        raise cv2.error("The function is not implemented")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(cv2, "imshow", imshow)
    with pytest.raises(RuntimeError, match="instead of opencv-python-headless"):
        Window().show(np.zeros((4, 6, 3), np.uint8))
