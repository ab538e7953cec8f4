"""Messages by which `check_task` refuses broken tasks, scenes and sensors of tests."""

from typing import Any

import pytest

from glimpse_envs.suite import register
from glimpse_envs.task import Task
from glimpse_envs.testing import check_task


def refused(broken: type[Task]) -> str:
    """Return the message by which `check_task` refuses a task."""
    env_id = f"Broken/{broken.__name__}-v0"
    register(env_id, task=f"{broken.__module__}:{broken.__name__}")
    return message_of(env_id)


def message_of(env_id: str, **kwargs: Any) -> str:
    """Return the message by which `check_task` refuses an environment."""
    with pytest.raises(AssertionError) as caught:
        check_task(env_id, **kwargs)
    return str(caught.value)
