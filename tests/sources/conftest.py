"""Sources are loaded afresh in each test, from folders of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from glimpse_envs.sources import folder, load


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    _forget()  # what tests elsewhere have loaded
    yield
    _forget()


def _forget() -> None:
    load.cache_clear()
    folder.read_folder.cache_clear()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty GLIMPSE_DATA, and an empty user's cache."""
    monkeypatch.setenv("GLIMPSE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"
