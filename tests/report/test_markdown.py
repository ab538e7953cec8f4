"""Numbers, revisions and marked blocks of the published pages."""

import pytest

from report.markdown import (
    ReportError,
    count,
    digits,
    replace_block,
    setting,
    short_revision,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0, "0"), (640, "640"), (999.4, "999"), (999.6, "1.0 k"), (1_728, "1.7 k")),
        *((9_949, "9.9 k"), (9_960, "10 k"), (62_464, "62 k"), (999_400, "999 k")),
        *((999_900, "1.0 M"), (4_000_000, "4.0 M"), (18e6, "18 M"), (1.25e9, "1.2 G")),
    ],
)
def test_a_count_has_at_least_two_digits(number: float, text: str) -> None:
    assert count(number) == text


@pytest.mark.parametrize(
    ("number", "most", "text"),
    [
        *((0.0, 3, "0"), (0.01234, 3, "0.0123"), (21.166, 3, "21.2"), (-20.44, 3, "-20.4")),
        *((999.7, 3, "1,000"), (1_234.5, 3, "1,234"), (-1_234.5, 3, "-1,234")),
        *((99.7, 2, "100"), (99.4, 2, "99"), (110.9, 2, "111"), (0.0896, 2, "0.09")),
    ],
)
def test_no_number_has_an_exponent(number: float, most: int, text: str) -> None:
    assert digits(number, most) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        *(("budget", 6, "6 glimpses"), ("look", "tiles", "look tiles"), ("scales", 4, "4 scales")),
        *(("place_noise", None, "no place noise"), ("network.skip", True, "skip")),
        *(("minutes", 10.0, "10 minutes"), ("stop_at", 0.99, "early stop at 0.99")),
        *(("stop_at", None, "no early stop"), ("learning_rate", 0.001, "learning rate 0.001")),
    ],
)
def test_a_setting_in_words(name: str, value: object, text: str) -> None:
    assert setting(name, value) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<!-- a:begin -->",
        "<!-- a:end --><!-- a:begin -->",
        2 * "<!-- a:begin -->\n<!-- a:end -->\n",
    ],
)
def test_missing_markers_are_an_error(text: str) -> None:
    with pytest.raises(ReportError, match="a:begin"):
        replace_block(text, "table", "a")


def test_only_the_block_is_replaced() -> None:
    text = "before\r\n<!-- a:begin -->\nold\n<!-- a:end -->\r\nafter"
    assert replace_block(text, "new", "a") == text.replace("old", "new")


def test_a_revision_is_short_and_tells_changes() -> None:
    assert short_revision("0123456789abcdef+changed") == "0123456789ab+changed"
