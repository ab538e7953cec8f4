"""What is wrong with an environment of another package is told by its name."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from agents import train
from glimpse_envs.evaluation.protocol import evaluate

TINY = ["--batch-size", "4", "--episodes", "8", "--validation-episodes", "0"]
WORLD = "Own/Walk-v0"


class Walk(gym.Env[Any, Any]):
    """Four steps to the right.

    Args:
        most: the greatest number of steps.
        spoilt: "observation" or "reward", which is NaN at the second step.
    """

    def __init__(self, most: int = 4, spoilt: str = "") -> None:
        self.observation_space = spaces.Box(-1, most + 1, (1,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.most, self.spoilt = most, spoilt

    def _seen(self) -> Any:
        wrong = self.spoilt == "observation" and self.taken == 2
        return np.full(1, np.nan if wrong else self.taken, np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.taken = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.taken += 1
        reward = np.nan if self.spoilt == "reward" and self.taken == 2 else float(action)
        return self._seen(), reward, self.taken == self.most, False, {}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym.envs.registration, "registry", dict(gym.registry))
    gym.register(WORLD, entry_point=f"{__name__}:Walk", disable_env_checker=True)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        train.main([*arguments, *TINY])
    return capsys.readouterr().err


def test_a_value_of_the_wrong_type_is_told_before_a_run_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["--run", str(tmp_path / "run")]
    said = refusal(capsys, "reinforce", "--env-id", WORLD, "--env-kwargs", "most=four", *folder)
    assert f"error: {WORLD} cannot be made with most='four': " in said
    assert f"gymnasium.make('{WORLD}', most='four') in Python shows where it failed" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("algorithm", ["reinforce", "actor_critic"])
@pytest.mark.parametrize(
    ("spoilt", "part"),
    [
        ("observation", "observation['observation'] after step 2"),
        ("reward", "the reward of step 2"),
    ],
)
def test_numbers_that_are_not_finite_are_not_blamed_on_the_learning_rate(
    algorithm: str, spoilt: str, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--env-kwargs", f"spoilt={spoilt}", "--run", str(tmp_path / "run")]
    said = refusal(capsys, algorithm, "--env-id", WORLD, *options)
    assert f"error: {WORLD}: {part} is nan; an environment must give finite numbers at" in said
    assert "at update 1 (0 episodes)" in said
    assert "mend the environment and start anew" in said
    assert "learning rate" not in said


def test_rewards_that_are_not_finite_have_no_score() -> None:
    def right(observation: dict[str, Any]) -> dict[str, Any]:
        return {"act": np.ones(len(observation["observation"]), np.int64)}

    assert evaluate(right, WORLD, episodes=3).mean_return == 4.0
    with pytest.raises(ValueError, match=f"{WORLD}: the return of episode 1 of 3 is nan; the"):
        evaluate(right, WORLD, episodes=3, spoilt="reward")
