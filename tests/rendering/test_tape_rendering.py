"""Frames of tapes and tables show heads, cells, writes and verdicts, all in one size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.evaluation.films import film_episodes, write_showcase
from glimpse_envs.rendering import (
    AnyPicture,
    Strip,
    TablePicture,
    TapePicture,
    draw_frame,
    draw_scanpath,
)
from glimpse_envs.rendering.cells import lit
from glimpse_envs.rendering.palette import (
    CELL,
    MUTED,
    PRESENT,
    RELEVANT,
    RIGHT,
    SLOT,
    WRITTEN,
    WRONG,
    Colour,
)
from glimpse_envs.rendering.table_panel import shown_cells
from glimpse_envs.rendering.tape_panel import first_shown
from glimpse_envs.suite import SUITE
from report.figures.environments import oracle_action, play

COPY = "Glimpse/Copy-v0"
MEMORY_IDS = [row.id for row in SUITE.values() if "scene_size" not in row.kwargs]


def tapes(
    symbols: int = 6, head: int = 0, put_out: tuple[bool, ...] = (), target: str | None = "1"
) -> TapePicture:
    """A memory tape half written below an input tape, and an output tape."""
    cells = tuple(str(i + 1) for i in range(symbols))
    half = symbols // 2
    return TapePicture(
        strips=(
            Strip("input", cells, head),
            Strip("memory", cells[:half] + ("",) * 8, half, written=frozenset(range(half))),
            Strip("output", cells[: len(put_out)], None, good=put_out),
        ),
        caption=f"glimpse {head + 2} of 20",
        answer=str(len(put_out)) if put_out else None,
        target=target,
    )


def table(addresses: tuple[int, ...] = tuple(range(8)), **changes: Any) -> TablePicture:
    fields: dict[str, Any] = {
        "cells": tuple(f"k{address}:v3" if address != 2 else "" for address in addresses),
        "addresses": addresses,
        "path": addresses[:3],
        "written": frozenset(),
        "query": "key 3",
        "caption": "glimpse 3 of 16",
        "target": "7",
    }
    return TablePicture(**{**fields, **changes})


def where(image: NDArray[np.uint8], colour: Colour) -> NDArray[np.intp]:
    """(n, 2) the (row, column) of every pixel of exactly this colour."""
    return np.argwhere((image == np.array(colour, np.uint8)).all(axis=-1))


def count(image: NDArray[np.uint8], colour: Colour) -> int:
    return len(where(image, colour))


@pytest.mark.parametrize("height", [160, 261, 360])
def test_all_frames_of_tapes_and_tables_have_one_even_size(height: int) -> None:
    pictures: list[AnyPicture] = [
        tapes(),
        tapes(1),
        tapes(60, head=60, put_out=(True,) * 60, target=None),
        TapePicture((Strip("input", (), None),), ""),
        table(),
        table(tuple(range(0, 100_000, 1000))),
        table((5,), query="a question that is far longer than any frame is wide " * 3),
    ]
    shapes = {draw_frame(picture, height).shape for picture in pictures}
    assert len(shapes) == 1
    rows, columns, channels = shapes.pop()
    assert (rows, rows % 2, columns % 2, channels) == (height + height % 2, 0, 0, 3)


def test_the_head_marker_goes_right_by_one_cell_a_move() -> None:
    markers = [where(draw_frame(tapes(head=head)), PRESENT) for head in (-1, 0, 1, 6)]
    # The input tape is the first: the uppermost pixels are of its triangle.
    middles = [marker[marker[:, 0] < marker[:, 0].min() + 8][:, 1].mean() for marker in markers]
    pitch = middles[1] - middles[0]
    assert pitch > 20
    assert np.diff(middles) == pytest.approx([pitch, pitch, 5 * pitch], abs=1.0)


def test_written_cells_are_tinted_and_others_are_not() -> None:
    plain = TapePicture((Strip("memory", ("4", "5", ""), None),), "")
    written = TapePicture((Strip("memory", ("4", "5", ""), None, frozenset({0, 2})),), "")
    assert count(draw_frame(plain), lit(CELL, WRITTEN)) == 0
    frame = draw_frame(written)
    assert count(frame, lit(CELL, WRITTEN)) > 200, "a symbol"
    assert count(frame, lit(SLOT, WRITTEN)) > 200, "a blank, written too"
    assert count(frame, CELL) > 200, "what the agent found there"


def test_symbols_put_out_are_green_where_right_and_red_where_wrong() -> None:
    green, red = lit(CELL, RIGHT), lit(CELL, WRONG)
    one, two = (draw_frame(tapes(put_out=good)) for good in ((True, True), (True, False)))
    assert (count(one, red), count(two, red) > 200) == (0, True)
    assert count(one, green) == pytest.approx(2 * count(two, green), rel=0.1)
    assert where(two, green)[:, 1].max() < where(two, red)[:, 1].min()


@pytest.mark.parametrize(
    ("picture", "colour"),
    [
        (tapes(put_out=(True, True)), MUTED),
        (tapes(put_out=(True, False)), WRONG),
        (tapes(put_out=(True,) * 6, target=None), RIGHT),
        (tapes(target=None), MUTED),
        (table(), MUTED),
        (table(answer="7"), RIGHT),
        (table(answer="8"), WRONG),
        (table(answer="8", target=None), MUTED),
    ],
)
def test_a_scanpath_is_framed_by_the_verdict(
    picture: TapePicture | TablePicture, colour: Colour
) -> None:
    cell = draw_scanpath(picture, 100)
    assert cell.shape == (120, 100, 3)
    assert tuple(cell[0, 0]) == colour
    frame = draw_frame(picture)
    mark = frame[frame.shape[0] * 5 // 6 :, : frame.shape[1] // 2]
    assert count(mark, colour) > 20


def test_a_tape_longer_than_the_frame_is_shown_around_its_head() -> None:
    def first(head: int | None, cells: int = 100, good: int = 0) -> int:
        return first_shown(Strip("t", ("1",) * cells, head, good=(True,) * good), 24)

    assert [first(head) for head in (-1, 0, 11, 12, 50, 100)] == [-1, -1, -1, 0, 38, 77]
    assert first(5, cells=22) == first(21, cells=22) == -1
    assert first(None) == 77, "the end of what was put out"
    assert first(None, good=30) == 17, "what was put out last"
    for head in range(-1, 101):
        assert first(head) <= head < first(head) + 24


def test_dots_say_where_a_tape_goes_on() -> None:
    def dots(head: int) -> tuple[bool, bool]:
        frame = draw_frame(TapePicture((Strip("input", ("1",) * 60, head),), ""))
        columns = where(frame[150:200], MUTED)[:, 1]
        width = frame.shape[1]
        return bool((columns < width / 20).any()), bool((columns > width * 19 / 20).any())

    assert [dots(head) for head in (0, 30, 60)] == [(False, True), (True, True), (True, False)]


def test_a_table_marks_present_written_and_relevant_cells() -> None:
    base = draw_frame(table(path=()))
    assert count(base, PRESENT) == count(base, lit(CELL, WRITTEN)) == 0
    stars = count(base, RELEVANT)  # of the query's letters
    present = where(draw_frame(table(path=(0, 5))), PRESENT)
    # Of 4 x 2 cells, number 5 is the second of the second row.
    rows, columns, _ = base.shape
    assert rows * 0.35 < present[:, 0].min() < present[:, 0].max() < rows * 0.9
    assert columns * 0.24 < present[:, 1].min() < present[:, 1].max() < columns * 0.51
    assert count(draw_frame(table(written=frozenset({1}))), lit(CELL, WRITTEN)) > 2000
    assert count(draw_frame(table(path=(), relevant=frozenset({4}))), RELEVANT) > stars + 50


def test_of_a_big_table_the_present_the_relevant_and_the_latest_cells_are_shown() -> None:
    addresses = tuple(range(1000))
    path = (*range(900, 1000), 7)
    shown = shown_cells(table(addresses, path=path, relevant=frozenset({450})))
    assert shown == (7, 450, *range(922, 1000))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Strip("input", ("1",) * 3, 4), "input tape of 3 cells.* from -1 to 3; it is 4"),
        (lambda: Strip("memory", ("1",), 0, frozenset({0, 5})), r"there are no cells \[5\]"),
        (lambda: Strip("output", ("1",), None, good=(True, True)), "2 verdicts in `good`"),
        (lambda: TapePicture((), ""), "at least one strip"),
        (lambda: table(cells=("a",)), "1 cells and 8 addresses"),
        (lambda: table((), path=()), "at least one cell"),
        (lambda: table((3, 4, 3)), r"\[3\] stand more than once"),
        (lambda: table(path=(1, 9)), "present cell, 9, must be among"),
    ],
)
def test_a_picture_refuses_what_does_not_fit(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_frame_too_small_to_read_is_refused() -> None:
    for picture in (tapes(), table()):
        with pytest.raises(ValueError, match="from 160 to 4320 pixels; it is 20"):
            draw_frame(picture, height=20)


class Copier:
    """Puts out what is under the head and goes right."""

    def predict(
        self, observation: dict[str, NDArray[np.float32]], *_: object, **__: object
    ) -> tuple[dict[str, NDArray[np.int64]], None]:
        symbols = observation["glimpse"].argmax(axis=-1)
        return {"look": np.full(len(symbols), 2), "answer": symbols}, None


@pytest.mark.learning
def test_a_memory_run_is_filmed_to_the_last_symbol(tmp_path: Path) -> None:
    films, scanpaths = film_episodes(Copier(), COPY, range(4), min_length=3, length=9)
    shapes = {frame.shape for frames in films for frame in frames}
    assert len(shapes) == 1, "one film holds tapes of all lengths"
    for frames, scanpath in zip(films, scanpaths, strict=True):
        assert tuple(scanpath[0, 0]) == RIGHT
        greens = [count(frame, lit(CELL, RIGHT)) for frame in frames]
        assert greens[0] == 0
        assert (np.diff(greens[:-2]) > 200).all(), "a symbol a step"
    write_showcase(
        Copier(), COPY, tmp_path / "film.gif", tmp_path / "sheet.png",
        film_scenes=2, sheet_scenes=3,
    )  # fmt: skip
    assert (tmp_path / "film.gif").stat().st_size > 0


@pytest.mark.parametrize("env_id", MEMORY_IDS, indirect=True)
def test_the_film_of_every_tape_and_table_shows_the_way_to_the_ceiling(env_id: str) -> None:
    frames, total = play(SUITE[env_id], oracle_action)
    assert total == pytest.approx(1.0)
    frame = frames[4 * len(frames) // 5]
    assert count(frame, PRESENT) > 20, "a head, or the cell in view"
    assert max(count(frame, lit(CELL, colour)) for colour in (RIGHT, WRITTEN, PRESENT)) > 200
