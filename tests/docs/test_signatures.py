"""Signatures on the site are as people write them."""

import runpy

import pytest

from report.page import ROOT

SIGNATURES = runpy.run_path(str(ROOT / "docs" / "_ext" / "signatures.py"))

ARRAY = "~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[{}]]"
LIKE = (
    "_Buffer | _SupportsArray[dtype[Any]] | _NestedSequence[_SupportsArray[dtype[Any]]] | complex "
    "| bytes | str | _NestedSequence[complex | bytes | str]"
)
OPTION = "~tyro.Spec(nargs=*, metavar=[KEY=VALUE ...], check=~agents.<lambda>, action=None)"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"(a: {ARRAY.format('~numpy.float64')})", "(a: NDArray[~numpy.float64])"),
        ("(a: ndarray[tuple[Any, ...], dtype[_ScalarT]])", "(a: NDArray)"),
        (f"(a: tuple[{LIKE}, int])", "(a: tuple[ArrayLike, int])"),
        (f"(a: ~typing.Annotated[dict[str, int], {OPTION}] = <factory>)",
         "(a: dict[str, int] = ...)"),
        ("(a: Annotated[Annotated[int, X(1)] | None, Y] = 3)", "(a: int | None = 3)"),
        ("(a=<function ignore>, b=<function <lambda>>)", "(a=ignore, b=...)"),
        ("(a: type = <class 'm.K'>, b: Literal['<'] = '<') -> int",
         "(a: type = m.K, b: Literal['<'] = '<') -> int"),
    ],
)  # fmt: skip
def test_what_is_written_is_shown_shorter(written: str, shown: str) -> None:
    assert SIGNATURES["readable"](written) == shown
