"""Small runs of an agent and of a model with soft glimpses; pages in a browser."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.algorithms.reinforce import Reinforce
from glimpse_envs.evaluation.runs import Run
from tests.support import baselines
from tests.support.play_page import WIDE
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


@pytest.fixture(scope="session")
def hard_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(Reinforce, tiny_config(), tmp_path_factory.mktemp("runs") / "hard")


@pytest.fixture(scope="session")
def soft_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = tiny_config()
    soft = baselines.tiny_config("retina", env_id=config.env_id, env_kwargs=config.env_kwargs)
    return baselines.trained(soft, "retina", tmp_path_factory.mktemp("runs") / "soft")


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page in a browser profile of its own; its errors are the test's."""
    contexts, errors = [], []

    def open_one(url: str, viewport: dict[str, int] = WIDE) -> Any:
        context = browser.new_context(viewport=viewport)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert errors == []
