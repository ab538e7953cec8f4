"""Records of speeds, costs, trials and variances, JSON objects that the benchmarks write."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from report.markdown import ReportError, short_revision


class Entries(dict[str, Any]):
    """A JSON object of a record; to ask for an entry that it lacks is an error of its file.

    Args:
        path: of the file.
        entries: name -> value.
    """

    def __init__(self, path: Path, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self.path = path

    def __missing__(self, name: str) -> Any:
        raise ReportError(f"{self.path}: lacks {name}: measure it anew, or remove the file")


def read_benchmark(path: Path) -> Entries | None:
    """The record at `path`; None where there is none.

    Raises:
        ReportError: it holds no JSON object; the message names the file.
    """
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"), object_hook=partial(Entries, path))
    except ValueError as error:
        raise ReportError(f"{path}: is not JSON: {error}") from error
    if not isinstance(found, Entries):
        raise ReportError(f"{path}: holds a JSON {type(found).__name__}; a record is an object")
    return found


def with_short_revision(record: dict[str, Any]) -> ChainMap[str, Any]:
    """The entries of a record for a text with their names in braces."""
    return ChainMap({"revision": short_revision(record["revision"])}, record)
