"""Fixtures that several test files share."""

import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from glimpse_envs import set_threads, sources
from glimpse_envs.sources.babi import load_questions
from glimpse_envs.sources.files import VARIABLE, user_cache
from glimpse_envs.suite import SUITE

PICTURES = [name for name, row in SUITE.items() if row.task.endswith(":ImageClassification")]
CHROMIUM = Path("/usr/bin/chromium")
CHROMIUM_ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
]
MEMORY = [name for name, row in SUITE.items() if row.family in ("tape", "table")]


@pytest.fixture(scope="session", autouse=True)
def float32_unless_asked() -> Iterator[None]:
    """precision="auto" is float32, so that what tests hold does not depend on the processor."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("agents.training.config", "agents.training.muon"):
            if find_spec("torch"):
                patch.setattr(import_module(module), "fastest_precision", lambda _="": "float32")
        yield


@pytest.fixture(params=SUITE)
def env_id(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each id of the suite in turn; those whose files are absent are skipped, not downloaded."""
    name: str = request.param
    _skip_without_files(name, monkeypatch)
    return name


@pytest.fixture(params=PICTURES)
def picture_id(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each id whose scenes are pictures to be classified."""
    _skip_without_files(request.param, monkeypatch)
    return request.param


@pytest.fixture(params=MEMORY)
def memory_id(request: pytest.FixtureRequest) -> str:
    """Each id whose scenes are tapes and tables."""
    return request.param


def _skip_without_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.environ.get(VARIABLE):
        monkeypatch.setenv(VARIABLE, str(user_cache()))
    kwargs = SUITE[name].kwargs
    try:
        if "source" in kwargs:
            sources.load(kwargs["source"], "train")
        if kwargs.get("text") == "babi":
            load_questions(1, "train")
    except sources.SourceError as error:
        pytest.skip(f"{name} needs files which are absent: {error}")


@pytest.fixture
def one_thread_after() -> Iterator[None]:
    """Give the environments one thread again after a test that asks for more."""
    yield
    set_threads(1)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium without a window; one a module, as its event loop runs while it is open."""
    api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("no chromium is installed")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_ARGUMENTS)
        yield found
        found.close()
