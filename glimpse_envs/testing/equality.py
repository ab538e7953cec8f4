"""Equality of observations, infos and results, to the bit."""

from typing import Any

import numpy as np


def assert_same(actual: Any, expected: Any, where: str = "it") -> None:
    """Assert that two nested structures of dicts, tuples, arrays and numbers are equal to the bit,
    where NaN equals NaN."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), where
        assert actual.keys() == expected.keys(), where
        for name in expected:
            assert_same(actual[name], expected[name], f"{where}[{name!r}]")
    elif isinstance(expected, tuple):
        assert isinstance(actual, tuple), where
        assert len(actual) == len(expected), where
        for i, (mine, other) in enumerate(zip(actual, expected, strict=True)):
            assert_same(mine, other, f"{where}[{i}]")
    elif isinstance(expected, np.ndarray) and expected.dtype == object:
        assert_same(tuple(actual), tuple(expected), where)
    elif isinstance(expected, np.ndarray):
        assert isinstance(actual, np.ndarray), where
        assert actual.dtype == expected.dtype, where
        np.testing.assert_array_equal(actual, expected, err_msg=where, strict=True)
    elif isinstance(expected, float | np.floating):
        np.testing.assert_array_equal(actual, expected, err_msg=where)  # NaN equals NaN
    else:
        assert actual == expected, where


def same(one: Any, other: Any) -> bool:
    """Return whether two nested structures are equal to the bit."""
    try:
        assert_same(one, other)
    except AssertionError:
        return False
    return True


def first_rows(values: Any, rows: int) -> Any:
    """Return the first rows of every array in nested dicts and tuples."""
    return rows_in(values, slice(rows))


def rows_in(values: Any, rows: Any) -> Any:
    """Return the rows that the index `rows` selects of every array in nested dicts and tuples."""
    if isinstance(values, dict):
        return {name: rows_in(value, rows) for name, value in values.items()}
    if isinstance(values, tuple):
        return tuple(rows_in(value, rows) for value in values)
    return values[rows]
