"""Policies are scored in environments that nobody described, and runs on them reported."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.evaluate import main as evaluate_main
from agents.report.__main__ import main as report
from agents.scoring.run_scores import evaluate_run
from agents.train import main as train_main
from agents.train import train_agent
from glimpse_envs.episodes.description import ACT, OBSERVATION
from glimpse_envs.evaluation import counting, protocol
from glimpse_envs.evaluation.batches import make_batch
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.protocol import evaluate
from tests.support.pedals import DICTS, PLAIN, STEPS, pedals
from tests.support.tiny import SMALL


@pytest.fixture(autouse=True)
def _environments() -> Any:
    with pedals():
        yield


@pytest.mark.parametrize("env_id", [DICTS, PLAIN])
def test_an_environment_without_splits_is_evaluated(env_id: str) -> None:
    def press_what_is_shown(seen: dict[str, Any]) -> dict[str, Any]:
        plain = env_id == PLAIN
        shown = seen[OBSERVATION if plain else "glimpse"].argmax(axis=1)
        return {ACT: shown} if plain else {"pedal": shown, "other": np.zeros((len(shown), 2))}

    scores = [evaluate(press_what_is_shown, env_id, episodes=7, batch_size=n) for n in (3, 7)]
    for score in scores:
        assert score.returns.tolist() == [float(STEPS)] * 7
        assert score.glimpses.tolist() == [STEPS] * 7
        assert score.success is None
        assert f"\n  steps             {STEPS}.00" in score.summary()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"action": np.zeros(3, np.int64)}, "dict with the keys ['act'], not ['action']"),
        ({ACT: np.zeros(1, np.int64)}, "the action 'act' has the shape (1,); its first axis must"),
        (np.zeros(1, np.int64), "the action 'act' has the shape (1,); its first axis must"),
    ],
)
def test_actions_of_a_function_that_do_not_fit_are_named(action: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        evaluate(lambda seen: action, PLAIN, episodes=3)


def test_episodes_are_counted_before_environments_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def counted(env_id: str, num_envs: int, split: str, **env_kwargs: Any) -> Any:
        made.append(num_envs)
        return make_batch(env_id, num_envs, split, **env_kwargs)

    monkeypatch.setattr(counting, "make_batch", counted)
    monkeypatch.setattr(protocol, "make_batch", counted)
    with pytest.raises(ValueError, match=r"no fixed scenes: say how many .*--episodes 100"):
        evaluate(lambda seen: {ACT: np.zeros(len(seen[OBSERVATION]), np.int64)}, PLAIN)
    assert made == [1]


def test_the_command_that_training_prints_scores_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--env-id", PLAIN, "--episodes", "20", "--batch-size", "20"]
    train_main(["actor_critic", *options, "--run", str(tmp_path / "a run")])
    command = capsys.readouterr().out.partition("evaluate it: python -m agents.evaluate ")[2]
    assert command == f"'{tmp_path}/a run' --episodes 100\n"
    evaluate_main(shlex.split(command))
    assert "100 test episodes" in capsys.readouterr().out


def test_a_run_on_a_plain_environment_is_scored_and_reported(tmp_path: Path) -> None:
    config = ActorCriticConfig(env_id=PLAIN, episodes=40, batch_size=20, network=SMALL)
    run = train_agent("actor_critic", config, tmp_path / "run", progress_bar=False)
    assert evaluate_run(run, episodes=5).episodes == 5
    report([str(run.folder), "--episodes", "5"])
    assert (run.folder / "report.html").stat().st_size > 1000


def test_a_view_that_it_does_not_take_is_refused_by_name() -> None:
    class Reader(Policy):
        view = "full"

        def predict(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("nothing is played")

    with pytest.raises(ValueError, match=rf"^{PLAIN}: .*unexpected keyword argument 'view'$"):
        evaluate(Reader(), PLAIN, episodes=2)
