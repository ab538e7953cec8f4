"""Links to the papers and programs that the pages name."""

import pytest

from report.references.links import ADDRESSES, linked


@pytest.mark.parametrize("name", ADDRESSES)
def test_each_name_is_linked_once(name: str) -> None:
    assert linked(f"{name}, where told.") == f"[{name}]({ADDRESSES[name]}), where told."


def test_a_title_that_a_line_breaks_is_linked_and_other_text_is_not() -> None:
    text = "Graves et al., Neural Turing\nMachines, 2014; others."
    link = ADDRESSES["Neural Turing Machines"]
    assert linked(text) == f"Graves et al., [Neural Turing\nMachines]({link}), 2014; others."
    assert linked("nobody, 2014") == "nobody, 2014"
