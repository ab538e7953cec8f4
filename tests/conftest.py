"""Fixtures that several test files share."""

import os
from collections.abc import Iterator

import pytest

from glimpse_envs import set_threads, sources
from glimpse_envs.sources.files import VARIABLE, user_cache
from glimpse_envs.suite import SUITE


@pytest.fixture(params=SUITE)
def env_id(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each id of the suite in turn; those whose files are absent are skipped, not downloaded."""
    if not os.environ.get(VARIABLE):
        monkeypatch.setenv(VARIABLE, str(user_cache()))
    name: str = request.param
    source = SUITE[name].kwargs["source"]
    if source != "circle_square":
        try:
            sources.load(source, "train")
        except sources.SourceError as error:
            pytest.skip(f"{name} needs files which are absent: {error}")
    return name


@pytest.fixture
def one_thread_after() -> Iterator[None]:
    """Give the environments one thread again after a test that asks for more."""
    yield
    set_threads(1)
