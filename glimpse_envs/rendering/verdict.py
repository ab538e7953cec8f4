"""Verdict on the answer in a picture, as a flag and as text."""

from glimpse_envs.rendering.picture import Picture
from glimpse_envs.rendering.tape_picture import TablePicture, TapePicture

AnyPicture = Picture | TapePicture | TablePicture


def verdict_of(picture: AnyPicture) -> bool | None:
    """Return whether the answer is right; None while there is no answer or no target.

    On tapes the verdict is wrong after a wrong symbol, and right after a whole output without one.
    """
    if isinstance(picture, TapePicture):
        good = [right for strip in picture.strips for right in strip.good]
        if not all(good):
            return False
        return True if good and picture.target is None and not picture.hides_target else None
    if picture.answer is None or picture.target is None:
        return None
    return picture.answer == picture.target


def answer_and_target(picture: AnyPicture) -> tuple[str, str]:
    """Return two short lines of a frame, the answer and the target; "" for either without one."""
    answer, target = picture.answer, picture.target
    if isinstance(picture, TapePicture):
        answered = "nothing put out yet" if answer is None else f"put out {answer}"
        if target is None:
            return answered, ""
        return answered, f"target {target}" if verdict_of(picture) is False else f"next {target}"
    if answer is None and target is None:
        return "", ""
    answered = "no answer yet" if answer is None else f"answer {answer}"
    return answered, "" if target is None else f"target {target}"


def brief_verdict(picture: AnyPicture) -> str:
    """Return one line of a contact sheet's cell, such as "3", "5, not 3", "target 3" or ""."""
    answer, target, verdict = picture.answer, picture.target, verdict_of(picture)
    if verdict is False and target is not None:
        return f"{answer}, not {target}"
    if isinstance(picture, TapePicture):
        return "all right" if verdict else answer_and_target(picture)[1]
    if answer is None:
        return "" if target is None else f"target {target}"
    return answer
