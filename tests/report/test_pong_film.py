"""The film of Pong through a glimpse: the ball stays in sight."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from PIL import Image, ImageSequence

from report.figures.pong import draw_pong
from report.markdown import ReportError

PANE = slice(20, 115), slice(220, 315)
"""Rows and columns of the frame in which the fovea is shown by itself."""


def test_the_gaze_follows_the_ball(tmp_path: Path) -> None:
    pytest.importorskip("ale_py")
    draw_pong(tmp_path / "pong.webp")
    with Image.open(tmp_path / "pong.webp") as film:
        frames = [np.asarray(frame.convert("L"))[PANE] for frame in ImageSequence.Iterator(film)]
    middles = [pane[25:70, 25:70] for pane in frames]
    lit = [middle.max() > np.median(middle) + 50 for middle in middles]
    assert len(frames) > 50
    assert np.mean(lit) > 0.9


def test_without_the_game_the_film_of_before_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*_: object, **__: object) -> None:
        raise gymnasium.error.DependencyNotInstalled("no ale-py")

    monkeypatch.setattr(gymnasium, "make", make)
    film = tmp_path / "pong.webp"
    with pytest.raises(ReportError, match="no ale-py"):
        draw_pong(film)
    film.write_bytes(b"before")
    draw_pong(film)
    assert film.read_bytes() == b"before"
