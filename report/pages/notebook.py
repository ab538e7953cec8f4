"""The notebook of "One scene from end to end", with the text and the code of its page."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from glimpse_envs.suite import SUITE
from report.figures.environments import draw_windows
from report.page import Places, Published

SOURCE = "docs/one_scene.md"
NOTEBOOK = "examples/one_scene.ipynb"
PICTURE = "docs/one_scene.png"
ENV_ID, SCENE = "Glimpse/TranslatedGlyphs-v0", 7
"""Of the page's code."""
_CODE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([\w/]+\.(?:md|gif|png|svg|webp))")


def publish(places: Places) -> Published:
    """The notebook, without outputs, and the picture of its scene."""
    text = places.host(SOURCE).read_text(encoding="utf-8")
    return Published(
        {NOTEBOOK: json.dumps(notebook(text), indent=1, ensure_ascii=False) + "\n"},
        figures={PICTURE: partial(draw_windows, SUITE[ENV_ID], 300, scene=SCENE)},
        figures_follow_texts=False,
    )


def notebook(page: str) -> dict[str, Any]:
    """A notebook of format 4.5: a cell for each block of Python, and for the text between two."""
    parts = _CODE.split(_LINK.sub(r"](../docs/\1", page))
    cells = [
        _cell(number, "code" if number % 2 else "markdown", part.strip("\n"))
        for number, part in enumerate(parts)
        if part.strip()
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    if kind == "code":
        cell = {**cell, "execution_count": None, "outputs": []}
    return {**cell, "source": text.splitlines(keepends=True)}
