"""The pages of results: from which folder each is drawn, and on which an environment stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class ResultPage(NamedTuple):
    """What the records of one folder are drawn into."""

    folder: str
    """Of records, in the folder of results."""
    page: str
    """Its file in docs/, without its ending."""
    heading: str


RESULT_PAGES = (
    ResultPage(".", "results", "Pictures"),
    ResultPage("comparison", "comparison", "Hard against soft"),
    ResultPage("memory", "memory", "Memory"),
    ResultPage("texts", "texts", "Texts"),
    ResultPage("scenes", "scenes", "Scenes"),
    ResultPage("glyphs", "glyphs", "Glyphs"),
    ResultPage("worlds", "worlds", "Worlds that move"),
    ResultPage("leaderboard", "leaderboard", "Leaderboard"),
)


def result_pages(results: Path) -> dict[str, list[str]]:
    """Environment id -> links to the pages of its records from the pages of environments, in the
    order of `RESULT_PAGES`. A file that is damaged, or no record, is left to the pages that read
    it."""
    found: dict[str, list[str]] = {}
    for part in RESULT_PAGES:
        ids = {_env_id(path) for path in (results / part.folder).glob("*.json")}
        for env_id in ids - {None}:
            link = f"[{part.heading.lower()}](../{part.page}.md)"
            found.setdefault(str(env_id), []).append(link)
    return found


def _env_id(path: Path) -> str | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    env_id = record.get("env_id") if isinstance(record, dict) else None
    return env_id if isinstance(env_id, str) else None
