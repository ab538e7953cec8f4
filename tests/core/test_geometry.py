"""Locations in [-1, 1] and places in pixels."""

import numpy as np
import pytest

from glimpse_envs.core.geometry import LookSpace, project_to_disc


@pytest.mark.parametrize(
    ("location", "place"),
    [((-1, -1), (0, 0)), ((1, -1), (40, 0)), ((-1, 1), (0, 20)), ((0, 0), (20, 10))],
)
def test_the_scenes_corners_are_the_looks_corners(
    location: tuple[float, float], place: tuple[float, float]
) -> None:
    space = LookSpace(height=20, width=40)
    assert space.to_pixels(np.array(location)).tolist() == list(place)


def test_a_margin_is_left_on_every_side() -> None:
    space = LookSpace(20, 40, margin=3.5)
    corners = space.to_pixels(np.array([[-1, -1], [1, 1]]))
    assert corners.tolist() == [[3.5, 3.5], [36.5, 16.5]]


@pytest.mark.parametrize("margin", [0.0, 2.5])
def test_places_are_locations_backwards_outside_the_scene_too(margin: float) -> None:
    space = LookSpace(13, 29, margin)
    locations = np.random.default_rng(0).uniform(-3, 3, (4, 5, 2))
    np.testing.assert_allclose(space.to_locations(space.to_pixels(locations)), locations)


def test_where_one_place_is_left_it_is_the_middle() -> None:
    space = LookSpace(10, 30, margin=5.0)
    places = space.to_pixels(np.array([[0.0, -1.0], [0.5, 1.0]]))
    assert places.tolist() == [[15.0, 5.0], [20.0, 5.0]]
    assert space.to_locations(places).tolist() == [[0.0, 0.0], [0.5, 0.0]]


def test_a_margin_wider_than_the_scene_is_refused() -> None:
    with pytest.raises(ValueError, match=r"11 pixels does not fit inside a scene of 10x30"):
        LookSpace(10, 30, margin=5.5)


@pytest.mark.parametrize(
    ("height", "width", "tile", "rows", "columns"),
    [(60, 60, 12, 5, 5), (28, 28, 8, 4, 4), (7, 20, 5, 2, 4), (5, 5, 8, 1, 1)],
)
def test_tiles_cover_the_scene_symmetrically_row_by_row(
    height: int, width: int, tile: int, rows: int, columns: int
) -> None:
    space = LookSpace(height, width)
    centres = space.tile_centres(tile)
    assert centres.shape == (rows * columns, 2)
    assert np.abs(centres).max() <= 1.0
    np.testing.assert_allclose(centres, -centres[::-1], atol=1e-12)
    grid = space.to_pixels(centres).reshape(rows, columns, 2)
    np.testing.assert_allclose(np.diff(grid[:, :, 0], axis=1), tile)
    np.testing.assert_allclose(np.diff(grid[:, :, 1], axis=0), tile)
    first, last = grid[0, 0] - tile / 2, grid[-1, -1] + tile / 2
    assert (first <= 0).all()
    assert (last >= [width, height]).all()


def test_a_tiles_centre_in_the_margin_moves_to_its_border() -> None:
    centres = LookSpace(28, 28, margin=8.0).tile_centres(8)
    assert np.abs(centres).max() == 1.0
    assert (np.abs(centres) == 1.0).sum() == 16


def test_moves_beyond_the_disc_are_shortened_and_others_left() -> None:
    moves = np.array([[0.0, 0.0], [0.6, 0.8], [0.3, -0.4], [3.0, 4.0], [-1.0, 1.0]])
    expected = np.array(
        [[0, 0], [0.6, 0.8], [0.3, -0.4], [0.6, 0.8], [-np.sqrt(0.5), np.sqrt(0.5)]]
    )
    np.testing.assert_allclose(project_to_disc(moves), expected, rtol=1e-12)
    batch = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
    assert np.linalg.norm(project_to_disc(batch), axis=-1).max() <= 1 + 1e-12
    assert project_to_disc(batch.astype(np.float32)).dtype == np.float64
