"""Arguments on a command line."""

import pytest

from glimpse_envs.core.pairs import parse_pairs


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("x=4", 4),
        ("x=0.5", 0.5),
        ("x=tiles", "tiles"),
        ("x=true", True),
        ("x=False", False),
        ("x=folder:a=b", "folder:a=b"),
        ("x=", ""),
    ],
)
def test_pairs_are_read_as_what_they_look_like(pair: str, value: object) -> None:
    read = parse_pairs([pair])["x"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("pair", ["budget", "=4", ""])
def test_what_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(ValueError, match="should be KEY=VALUE"):
        parse_pairs([pair])


def test_a_key_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="budget is given twice: 3 and '4'"):
        parse_pairs(["budget=3", "look=tiles", "budget=4"])
