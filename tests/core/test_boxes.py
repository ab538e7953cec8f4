"""Target boxes of scenes with one target, with several, and with as many as there happen to be."""

import numpy as np
import pytest

from glimpse_envs.core.boxes import box_in_turn, in_any_box, in_boxes

NONE = (np.nan,) * 4
LEFT, RIGHT, TOP = (-1, -1, 0, 1), (0, -1, 1, 1), (-1, -1, 1, 0)


def test_a_place_is_on_target_in_any_of_its_boxes() -> None:
    places = np.array([(-0.5, 0.5), (0.5, 0.5), (0.5, -0.5), (0.5, 0.5)])
    one = np.array([LEFT, LEFT, RIGHT, TOP])
    assert in_any_box(places, one).tolist() == [True, False, True, False]
    several = np.array([(LEFT, NONE), (LEFT, TOP), (LEFT, TOP), (TOP, RIGHT)])
    assert in_any_box(places, several).tolist() == [True, False, True, True]
    each = [[True, False], [False, False], [False, True], [False, True]]
    assert in_boxes(places, several).tolist() == each


@pytest.mark.parametrize(
    ("present", "looks", "expected"),
    [
        (1, 4, [0, 0, 0, 0]),
        (2, 5, [0, 0, 0, 1, 1]),
        (3, 6, [0, 0, 1, 1, 2, 2]),
        (3, 2, [0, 1]),  # too few for all
        (0, 2, [0, 0]),
    ],
)
def test_looks_are_shared_out_over_boxes_in_their_order(
    present: int, looks: int, expected: list[int]
) -> None:
    boxes = np.arange(12.0).reshape(1, 3, 4)
    boxes[:, present:] = np.nan
    found = [box_in_turn(boxes, look, looks) for look in range(looks)]
    np.testing.assert_array_equal(np.concatenate(found), boxes[0, expected])


def test_rows_of_one_target_and_of_different_steps() -> None:
    one = np.array([LEFT, RIGHT], np.float64)
    np.testing.assert_array_equal(box_in_turn(one, 3, 4), one)
    two = np.array([(LEFT, RIGHT), (LEFT, RIGHT)], np.float64)
    np.testing.assert_array_equal(box_in_turn(two, np.array([0, 3]), 4), [LEFT, RIGHT])
