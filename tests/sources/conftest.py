"""Sources are loaded afresh in each test, from folders of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from glimpse_envs.sources import forget


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget()  # what tests elsewhere have loaded
    yield
    forget()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty GLIMPSE_DATA, and an empty user's cache."""
    monkeypatch.setenv("GLIMPSE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"
