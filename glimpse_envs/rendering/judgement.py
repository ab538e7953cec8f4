"""What a picture says of right and wrong: its verdict, and that in words."""

from glimpse_envs.rendering.picture import Picture
from glimpse_envs.rendering.tape_picture import TablePicture, TapePicture

AnyPicture = Picture | TapePicture | TablePicture


def verdict_of(picture: AnyPicture) -> bool | None:
    """Whether what was asked has been answered rightly; None while that is open.

    On tapes one wrong symbol is wrong, and it is right once nothing is left to be put out.
    """
    if isinstance(picture, TapePicture):
        good = [right for strip in picture.strips for right in strip.good]
        if not all(good):
            return False
        return True if good and picture.target is None else None
    if picture.answer is None or picture.target is None:
        return None
    return picture.answer == picture.target


def judgement_lines(picture: AnyPicture) -> tuple[str, str]:
    """Two short lines of a frame: what the agent said, and what is right; both may be ""."""
    answer, target = picture.answer, picture.target
    if isinstance(picture, TapePicture):
        said = "nothing put out yet" if answer is None else f"put out {answer}"
        if target is None:
            return said, ""
        return said, f"target {target}" if verdict_of(picture) is False else f"next {target}"
    if answer is None and target is None:
        return "", ""
    said = "no answer yet" if answer is None else f"answer {answer}"
    return said, "" if target is None else f"target {target}"


def brief_judgement(picture: AnyPicture) -> str:
    """One line of a cell in a contact sheet: "3", "5, not 3", "target 3"; or ""."""
    answer, target, verdict = picture.answer, picture.target, verdict_of(picture)
    if verdict is False and target is not None:
        return f"{answer}, not {target}"
    if isinstance(picture, TapePicture):
        return "all right" if verdict else judgement_lines(picture)[1]
    if answer is None:
        return "" if target is None else f"target {target}"
    return answer
