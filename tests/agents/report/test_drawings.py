"""Drawings say what was put out, by whatever package drew the picture."""

import re

from agents.report.drawings import address_path, output_of
from glimpse_envs.rendering import Strip, TablePicture, TapePicture


def test_the_answer_of_a_picture_without_an_output_tape_is_put_out() -> None:
    tapes = (Strip("boxes", ("", "o"), 0),)
    assert output_of(TapePicture(tapes, "")) == "nothing"
    assert output_of(TapePicture(tapes, "", answer="4")) == "4"
    output = Strip("output", ("1", "2", ""), None, good=(True, False))
    assert output_of(TapePicture((*tapes, output), "", answer="2")) == "1 2"


def test_lines_of_a_text_have_room_at_the_left_and_are_cut_before_they_are_escaped() -> None:
    cells = ("mary travelled to the bathroom", f"{'a' * 28}<b>")
    picture = TablePicture(cells, (0, 1), (0, 1), frozenset(), "where is mary?", "", lines=True)
    drawn = address_path(picture, "a title")
    assert re.findall(r'class="cell"[^>]*>([^<]*)<', drawn) == [
        "0: mary travelled to the bathroom"[:32],
        f"1: {'a' * 28}&lt;",
    ]
    (begin,) = {float(x) for x in re.findall(r'class="row" d="M([\d.]+) ', drawn)}
    assert begin >= 5 * 32
