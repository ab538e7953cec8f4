"""On which pages the results of an environment stand."""

from __future__ import annotations

import json
from pathlib import Path

PAGES = {
    ".": "[pictures](../results.md)",
    "comparison": "[hard against soft](../comparison.md)",
    "scenes": "[scenes](../scenes.md)",
    "glyphs": "[glyphs](../glyphs.md)",
    "texts": "[texts](../texts.md)",
    "memory": "[memory](../memory.md)",
    "worlds": "[worlds](../worlds.md)",
    "leaderboard": "[leaderboard](../leaderboard.md)",
}
"""Folder of results -> the link to its page from those of environments."""


def result_pages(results: Path) -> dict[str, list[str]]:
    """Environment id -> the links to the pages of its records, in the order of `PAGES`. A file that
    is damaged, or no record, is left to the pages that read it."""
    found: dict[str, list[str]] = {}
    for folder, link in PAGES.items():
        ids = {_env_id(path) for path in (results / folder).glob("*.json")}
        for env_id in ids - {None}:
            found.setdefault(str(env_id), []).append(link)
    return found


def _env_id(path: Path) -> str | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    env_id = record.get("env_id") if isinstance(record, dict) else None
    return env_id if isinstance(env_id, str) else None
