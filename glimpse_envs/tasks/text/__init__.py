"""Texts with questions, chosen by name. A new text is one file and one row of `TEXTS`."""

from glimpse_envs.core.classes import check_by_keyword, find_class
from glimpse_envs.tasks.text.text import Text

TEXTS: dict[str, str] = {
    "stories": "glimpse_envs.tasks.text.stories:Stories",
    "babi": "glimpse_envs.tasks.text.babi:Babi",
}
"""The one list of texts: name -> "module:Class"."""


def find_text(text: object) -> type[Text]:
    """Return the class of a text, by its name in `TEXTS` or as "module:Class".

    Raises:
        ValueError: there is no such text, or it takes arguments by position.
    """
    found: type[Text] = find_class("text", text, Text, TEXTS)
    check_by_keyword("text", text, found)
    return found
