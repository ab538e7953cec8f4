"""Drawings say what was put out, by whatever package drew the picture."""

from agents.report.drawings import output_of
from glimpse_envs.rendering import Strip, TapePicture


def test_the_answer_of_a_picture_without_an_output_tape_is_put_out() -> None:
    tapes = (Strip("boxes", ("", "o"), 0),)
    assert output_of(TapePicture(tapes, "")) == "nothing"
    assert output_of(TapePicture(tapes, "", answer="4")) == "4"
    output = Strip("output", ("1", "2", ""), None, good=(True, False))
    assert output_of(TapePicture((*tapes, output), "", answer="2")) == "1 2"
