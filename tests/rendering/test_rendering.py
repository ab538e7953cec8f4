"""Frames show the right thing at the right place."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.rendering import (
    Picture,
    contact_sheet,
    draw_frame,
    draw_scanpath,
)
from glimpse_envs.rendering.frame import layout_of
from glimpse_envs.rendering.palette import (
    PRESENT,
    RIGHT,
    SCALES,
    TARGET,
    TEXT,
    WRONG,
    Colour,
    scale_colour,
)
from glimpse_envs.suite import SUITE
from glimpse_envs.vision.sensors.sensor import circle, square


def picture(
    path: Sequence[tuple[float, float]] = ((30.0, 30.0),),
    scene_shape: tuple[int, int, int] = (1, 60, 60),
    sides: tuple[float, ...] = (12.0, 24.0, 48.0),
    **changes: Any,
) -> Picture:
    """A black scene seen through black square windows, so that only what is drawn has colour."""
    black = np.zeros((scene_shape[0], 12, 12), np.float32)
    fields: dict[str, Any] = {
        "scene": np.zeros(scene_shape, np.float32),
        "path": np.array(path, np.float32),
        "outlines": [square(side) for side in sides],
        "panels": [(f"{side:g} px", black) for side in sides],
        "answer": "3",
        "target": "3",
        "caption": "glimpse 1 / 8",
    }
    return Picture(**{**fields, **changes})


def where(image: NDArray[np.uint8], colour: Colour) -> NDArray[np.intp]:
    """(n, 2) the (row, column) of every pixel of exactly this colour."""
    return np.argwhere((image == np.array(colour, np.uint8)).all(axis=-1))


def scene_panel(frame: NDArray[np.uint8], shown: Picture) -> tuple[NDArray[np.uint8], float]:
    """The frame's view of the scene, (height, width, 3), and its pixels a scene pixel."""
    _, rows, columns = shown.scene.shape
    layout = layout_of((rows, columns), len(shown.panels), frame.shape[0])
    top, left = layout.scene_top, layout.scene_left
    panel = frame[top : top + layout.scene_height, left : left + layout.scene_width]
    return panel, layout.zoom


@pytest.mark.parametrize("scene_shape", [(1, 60, 60), (3, 33, 31), (1, 28, 28), (1, 9, 400)])
@pytest.mark.parametrize("sides", [(), (8.0,), (5.0, 10.0, 20.0, 40.0, 80.0, 160.0)])
@pytest.mark.parametrize("height", [160, 361])
def test_frames_have_one_even_size_through_an_episode(
    scene_shape: tuple[int, int, int], sides: tuple[float, ...], height: int
) -> None:
    path = [(3.0, 8.0), (28.0, 1.5), (-4.0, 70.0), (5.0, 5.0)]
    answers = [None, "7", "a class with a very long name indeed, longer than any frame", "3"]
    frames = [
        draw_frame(
            picture(path[: t + 1], scene_shape, sides, answer=answers[t], caption="c" * 9 * t),
            height,
        )
        for t in range(len(path))
    ]
    assert len({frame.shape for frame in frames}) == 1
    assert frames[0].dtype == np.uint8
    assert frames[0].shape[0] == height + height % 2
    assert frames[0].shape[1] % 2 == 0


@pytest.mark.parametrize("point", [(45.25, 12.5), (8.0, 51.75)])
def test_the_present_fixation_is_drawn_at_x_across_and_y_down(point: tuple[float, float]) -> None:
    shown = picture([(30.0, 30.0), point])
    panel, zoom = scene_panel(draw_frame(shown), shown)
    row, column = where(panel, PRESENT).mean(axis=0) + 0.5
    assert (column / zoom, row / zoom) == pytest.approx(point, abs=0.2)


def test_scene_pixels_are_drawn_under_the_windows_that_read_them() -> None:
    scene = np.zeros((1, 60, 60), np.float32)
    scene[0, 10, 40] = 1.0  # row 10, column 40: centred on x = 40.5, y = 10.5
    shown = picture([(37.0, 13.0)], scene=scene, sides=(12.0,))
    panel, zoom = scene_panel(draw_frame(shown), shown)
    lit = np.argwhere(panel.min(axis=-1) > 100)
    assert lit.min(axis=0) / zoom == pytest.approx((10, 40), abs=1 / zoom)
    assert (lit.max(axis=0) + 1) / zoom == pytest.approx((11, 41), abs=1 / zoom)


def test_every_scale_is_outlined_in_its_own_colour_where_its_window_is() -> None:
    x, y = 36.0, 27.0
    shown = picture([(x, y)])
    panel, zoom = scene_panel(draw_frame(shown), shown)
    for scale, side in enumerate((12.0, 24.0)):
        outline = where(panel, SCALES[scale])
        top, left = outline.min(axis=0)
        bottom, right = outline.max(axis=0) + 1
        edges = [(x - side / 2), (y - side / 2), (x + side / 2), (y + side / 2)]
        found = [left / zoom, top / zoom, right / zoom, bottom / zoom]
        assert found == pytest.approx(edges, abs=1 / zoom)


def test_a_window_over_the_border_is_cut_off_and_not_moved() -> None:
    shown = picture([(2.0, 58.0)], sides=(12.0,))
    panel, zoom = scene_panel(draw_frame(shown), shown)
    outline = where(panel, SCALES[0])
    assert outline[:, 0].min() / zoom == pytest.approx(52, abs=1 / zoom)
    assert (outline[:, 1].max() + 1) / zoom == pytest.approx(8, abs=1 / zoom)
    # Neither the left edge nor the bottom one lies inside the scene.
    assert np.count_nonzero(outline[:, 1] == 0) < 5
    assert np.count_nonzero(outline[:, 0] == panel.shape[0] - 1) < 5


def test_the_scene_is_dimmed_only_where_no_window_reaches() -> None:
    shown = picture(
        [(15.0, 40.0)],
        scene=np.full((1, 60, 60), 0.8),
        sides=(12.0, 24.0),
    )
    panel, zoom = scene_panel(draw_frame(shown), shown)
    inside = panel[round(31 * zoom), round(6 * zoom)]
    outside = panel[round(6 * zoom), round(31 * zoom)]
    assert (inside == 204).all()
    assert (outside < 120).all()


def test_every_scale_of_the_suite_has_a_colour_of_its_own() -> None:
    scales = max(row.kwargs.get("scales", 1) for row in SUITE.values())
    assert len({scale_colour(scale) for scale in range(scales)}) == scales


def test_the_retina_shows_colour_glimpses_scale_by_scale() -> None:
    glimpse = np.zeros((2, 3, 4, 4), np.float32)
    glimpse[0, 0] = 1.0  # scale 0: red
    glimpse[1, 2] = 1.0  # scale 1: blue
    panels = [("8 px", glimpse[0]), ("16 px", glimpse[1])]
    shown = picture(scene_shape=(3, 32, 32), sides=(8.0, 16.0), panels=panels, target=None)
    frame = draw_frame(shown)
    red, blue = where(frame, (255, 0, 0)), where(frame, (0, 0, 255))
    assert len(red) == len(blue) > 1000
    assert red[:, 0].max() < blue[:, 0].min()  # the coarser scale stands below
    assert red[:, 1].min() == blue[:, 1].min()


def test_a_round_sensor_is_outlined_by_rings_and_lit_within_them() -> None:
    scene = np.full((1, 60, 60), 0.8)
    shown = picture([(30.0, 30.0)], scene=scene, outlines=[circle(5.0), circle(20.0)])
    panel, zoom = scene_panel(draw_frame(shown), shown)
    for scale, radius in enumerate((5.0, 20.0)):
        places = (where(panel, SCALES[scale]) + 0.5) / zoom - 30
        np.testing.assert_allclose(np.hypot(*places.T), radius, atol=4 / zoom)
    lit = (panel == 204).all(axis=-1)
    assert lit[round(30 * zoom), round(45 * zoom)]
    assert not lit[round(14 * zoom), round(14 * zoom)], "the corner of a square, not of a ring"


def test_every_target_box_is_drawn_but_those_of_nan() -> None:
    boxes = np.array([(5, 10, 15, 30), (40, 45, 50, 55), (np.nan,) * 4])
    shown = picture(boxes=boxes)
    panel, zoom = scene_panel(draw_frame(shown), shown)
    for left, top, right, bottom in boxes[:2]:
        for x, y in ((left, top), (right - 1 / zoom, bottom - 1 / zoom)):
            assert tuple(panel[round(y * zoom), round(x * zoom)]) == TARGET
    cells = [draw_scanpath(one) for one in (shown, picture())]
    assert len(where(cells[0], TARGET)) > len(where(cells[1], TARGET))


def test_a_full_view_shows_the_scene_alone() -> None:
    scene = np.full((1, 60, 60), 0.6, np.float32)
    shown = picture(scene=scene, sides=())
    panel, _ = scene_panel(draw_frame(shown), shown)
    assert (panel == 153).all()


def test_the_answer_is_marked_right_wrong_or_not_at_all() -> None:
    frames = [draw_frame(picture(answer=answer)) for answer in ("3", "5", None)]
    marks = [(len(where(f, RIGHT)) > 50, len(where(f, WRONG)) > 50) for f in frames]
    assert marks == [(True, False), (False, True), (False, False)]


def test_sentences_stand_one_below_the_other_and_numbers_side_by_side() -> None:
    sentence = "the digit 9 is on the bottom right ."
    layout = layout_of((60, 60), 3, height=720)
    middle = layout.margin + layout.text_width / 2
    for answer, target, is_below in ((sentence[:11], sentence, True), ("4", "3", False)):
        frame = draw_frame(picture(answer=answer, target=target), height=720)
        frame[:, : layout.margin + 2 * layout.text_size] = 0  # the mark
        answered, targeted = where(frame, WRONG), where(frame, TEXT)
        assert (targeted[:, 0].mean() > answered[:, 0].max()) == is_below
        assert (targeted[:, 1].min() < middle) == is_below


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scene": np.zeros((60, 60))}, r"\(60, 60\); it must be \(1, H, W\)"),
        ({"path": np.zeros((0, 2), np.float32)}, r"\(0, 2\); it must be \(t, 2\)"),
        ({"path": np.full((1, 2), np.nan, np.float32)}, "path must be finite"),
        ({"panels": [("a", np.zeros((2, 12, 12)))]}, r"'a' has shape \(2, 12, 12\); it must be"),
        ({"outlines": [np.zeros((4, 3))]}, r"outline has shape \(4, 3\); it must be \(n, 2\)"),
        ({"outlines": [np.full((4, 2), np.inf)]}, "must be .*finite"),
        ({"boxes": np.zeros(4)}, r"boxes has shape \(4,\); it must be \(n, 4\)"),
    ],
)
def test_a_picture_refuses_what_does_not_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        picture(**changes)


@pytest.mark.parametrize("height", [20, 100_000])
def test_a_frame_too_small_to_read_or_too_large_to_hold_is_refused(height: int) -> None:
    with pytest.raises(ValueError, match=f"from 160 to 4320 pixels; it is {height}"):
        draw_frame(picture(), height=height)


def test_a_scanpath_is_framed_by_its_verdict_and_ends_where_the_agent_looks() -> None:
    right = draw_scanpath(picture([(30.0, 30.0), (45.0, 15.0)]), 160)
    wrong = draw_scanpath(picture([(30.0, 30.0), (45.0, 15.0)], answer="5"), 160)
    assert tuple(right[0, 0]) == RIGHT
    assert tuple(wrong[0, 0]) == WRONG
    row, column = where(right, PRESENT).mean(axis=0) + 0.5
    assert (column, row) == pytest.approx((120, 40), abs=2)


def test_scanpath_cells_have_one_size_whatever_the_scene() -> None:
    shapes = [(1, 60, 60), (3, 32, 32), (1, 20, 90), (1, 500, 400)]
    cells = [draw_scanpath(picture(scene_shape=shape), 100) for shape in shapes]
    assert {cell.shape for cell in cells} == {(120, 100, 3)}


def test_a_contact_sheet_fills_row_by_row() -> None:
    cells = [np.full((20, 30, 3), 100 + i, np.uint8) for i in range(5)]
    sheet = contact_sheet(cells, columns=3, title="five")
    corners = [tuple(where(sheet, (100 + i,) * 3)[0]) for i in range(5)]
    tops, lefts = [int(c[0]) for c in corners], [int(c[1]) for c in corners]
    assert tops[0] == tops[1] == tops[2] < tops[3] == tops[4]
    assert lefts[0] == lefts[3] < lefts[1] == lefts[4] < lefts[2]
    assert all(len(where(sheet, (100 + i,) * 3)) == 600 for i in range(5))


def test_a_contact_sheet_refuses_what_it_cannot_lay_out() -> None:
    cell = np.zeros((20, 30, 3), np.uint8)
    with pytest.raises(ValueError, match="at least one cell"):
        contact_sheet([], 3)
    with pytest.raises(ValueError, match="columns must be at least 1; it is 0"):
        contact_sheet([cell], 0)
    with pytest.raises(ValueError, match="one shape"):
        contact_sheet([cell, cell[1:]], 2)


def test_importing_the_room_imports_nothing_heavy() -> None:
    code = (
        "import sys, glimpse_envs.rendering; "
        "print([m for m in ('cv2', 'imageio', 'PIL', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
