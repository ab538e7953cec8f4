"""Films of policies that see everything."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs.evaluation.films import film_episodes


class Still:
    """Sees the whole scene, and does the same at each step."""

    view = "full"

    def __init__(self, action: dict[str, Any]) -> None:
        self.action = action

    def predict(self, observation: dict[str, Any], *_: object, **__: object) -> tuple[Any, None]:
        rows = len(observation["scene"])
        return {name: np.repeat([value], rows, axis=0) for name, value in self.action.items()}, None


@pytest.mark.parametrize(
    ("env_id", "action", "steps"),
    [
        ("Glimpse/Catch-v0", {"act": 1}, 24),
        ("Glimpse/SearchGlyphs-v0", {"look": np.zeros(2, np.float32)}, 1),
        ("Glimpse/CenteredGlyphs-v0", {"answer": 3}, 1),
    ],
)
def test_it_is_filmed_whether_it_answers_or_not(
    env_id: str, action: dict[str, Any], steps: int
) -> None:
    films, scanpaths = film_episodes(Still(action), env_id, [0, 1])
    assert len(scanpaths) == 2
    assert all(len(frames) >= steps for frames in films)
