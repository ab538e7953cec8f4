"""Agents learn in pixel worlds of others, seen through a glimpse, and are scored by return."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.episodes.environments import make_training_env
from agents.evaluate import main as evaluate_main
from agents.report.__main__ import main as report_main
from agents.scoring.run_scores import evaluate_run, policy_of
from agents.train import main as train_main
from glimpse_envs.evaluation.films import film_episodes
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.world_films import LAST
from glimpse_envs.suite import ATARI
from glimpse_envs.wrappers import GlimpseVectorWrapper, GlimpseWrapper
from tests.support.episodes import CENTRED
from tests.support.pixel_world import PixelWorld
from tests.support.same_runs import metrics_of
from tests.support.tiny import SMALL
from tests.support.trainings import trained

pytestmark = pytest.mark.learning

ENV_ID = "GlimpseTest/Pixels-v0"


def make_single(
    split: str = "train", render_mode: str | None = None, fault: str = "", **options: Any
) -> GlimpseWrapper:
    return GlimpseWrapper(PixelWorld(fault=fault), glimpse_size=8, mask=True, **options)


def make_batch(
    num_envs: int,
    *,
    autoreset_mode: str = "NextStep",
    split: str = "train",
    fault: str = "",
    **options: Any,
) -> GlimpseVectorWrapper:
    make = partial(PixelWorld, fault=fault)
    worlds = SyncVectorEnv([make] * num_envs, autoreset_mode=AutoresetMode(autoreset_mode))
    return GlimpseVectorWrapper(worlds, glimpse_size=8, mask=True, **options)


@pytest.fixture(autouse=True)
def _world() -> Any:
    single, batch = (f"{__name__}:{maker.__name__}" for maker in (make_single, make_batch))
    gym.register(ENV_ID, entry_point=single, vector_entry_point=batch)
    yield
    gym.registry.pop(ENV_ID)


CONFIG = ReinforceConfig(
    env_id=ENV_ID,
    env_kwargs={"look": "tiles"},
    batch_size=32,
    episodes=32 * 60,
    learning_rate=1e-2,
    look_weight=1.0,
    network=SMALL,
    log_every=1,
)


def test_the_act_that_pays_is_learned() -> None:
    """Episodes of 3 to 6 steps, 4.5 on average, pay 0, 1 or 2 a step."""
    learner = Reinforce(CONFIG)
    returns = [learner.update(step / 60)["return"] for step in range(60)]
    learner.close()
    assert np.mean(returns[:3]) < 6
    assert np.mean(returns[-5:]) > 8


def test_a_run_is_scored_by_return_and_goes_on_with_new_episodes(tmp_path: Path) -> None:
    trained(Reinforce, CONFIG, tmp_path, stop_after=2)
    run = trained(Reinforce, CONFIG, tmp_path, resume=True, stop_after=4)
    lines = metrics_of(run)
    assert [line["new_episodes"] for line in lines if "new_episodes" in line] == [32]
    assert [line["step"] for line in lines] == [32, 64, 64, 96, 128]
    done = replace(CONFIG, episodes=128)
    assert metrics_of(trained(Reinforce, done, tmp_path / "done"))[-1]["step"] == 128
    again = trained(Reinforce, done, tmp_path / "done", resume=True)
    assert not any("new_episodes" in line for line in metrics_of(again)), "nothing is trained"
    score, other = (evaluate_run(run, episodes=10, batch_size=size) for size in (10, 4))
    assert score.success is None
    assert score.returns is not None
    np.testing.assert_array_equal(score.returns, other.returns)
    assert score.locations is not None
    assert "nan" not in score.summary()
    validation = evaluate_run(run, split="validation", episodes=10)
    assert not np.array_equal(validation.locations[:, 0], score.locations[:, 0])  # type: ignore[index]
    with pytest.raises(ValueError, match="no fixed scenes: say how many"):
        evaluate_run(run)


def test_a_run_is_recorded_by_its_return(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIG, tmp_path / "run", stop_after=1)
    evaluate_main([str(run.folder), "--episodes", "8", "--record", str(tmp_path)])
    (path,) = tmp_path.glob("*.json")
    score = read_record(path).headline
    assert (score.success, score.episodes) == (None, 8)
    assert score.mean_return is not None
    low, high = score.return_interval or (np.nan, np.nan)
    assert low < score.mean_return < high
    assert set(score.costs) == {"seconds"}


def test_a_film_shows_the_whole_frame_and_the_masked_view(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIG, tmp_path / "run", stop_after=1)
    film = tmp_path / "film.gif"
    evaluate_main([str(run.folder), "--episodes", "2", "--film", str(film), "--film-episodes", "2"])
    assert film.stat().st_size > 1000
    policy, kwargs = policy_of(run)
    films, sheet = film_episodes(policy, ENV_ID, range(3), **kwargs)
    steps = evaluate_run(run, episodes=3).glimpses
    assert [len(frames) for frames in films] == [1 + int(n) + LAST for n in steps]
    assert len(sheet) == 3
    (seen, *_), _ = film_episodes(policy, ENV_ID, [0], reveal="seen", **kwargs)
    assert seen[0].shape[0] > films[0][0].shape[0], "a legend tells what was not seen"


def test_a_long_episode_is_filmed_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glimpse_envs.evaluation.world_films.LONGEST", 3)
    run = trained(Reinforce, CONFIG, tmp_path, stop_after=1)
    policy, kwargs = policy_of(run)
    (frames,), _ = film_episodes(policy, ENV_ID, [0], **kwargs)
    assert len(frames) == 3 + LAST


def test_a_run_is_reported(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIG, tmp_path / "run", stop_after=2)
    page = tmp_path / "report.html"
    report_main([str(run.folder), "--episodes", "8", "--out", str(page)])
    assert "return" in page.read_text()


def test_a_world_that_breaks_in_a_training_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--batch-size", "4", "--episodes", "8", "--run", str(tmp_path)]
    kwargs = ["--env-kwargs", "look=tiles", "fault=raise"]
    with pytest.raises(SystemExit) as ended:
        train_main(["actor_critic", "--env-id", ENV_ID, *kwargs, *options])
    assert ended.value.code == 2
    assert "PixelWorld raised RuntimeError in step: the world broke" in capsys.readouterr().err


@pytest.mark.parametrize("look", ["static", "random", "raster"])
def test_acts_alone_are_learned_under_a_gaze_by_rule(look: str) -> None:
    config = replace(CONFIG, env_kwargs={"look": look})
    learner = Reinforce(config)
    assert set(learner.description.components) == {"act"}
    returns = [learner.update(step / 40)["return"] for step in range(40)]
    learner.close()
    assert np.mean(returns[-5:]) > np.mean(returns[:3]) + 1


def test_a_scanner_of_pictures_is_refused_with_what_to_take(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIG, tmp_path, stop_after=1)
    with pytest.raises(ValueError, match="argument look='random' or look='raster'"):
        evaluate_run(run, episodes=2, gaze="random")


def test_nothing_is_told_of_looks_that_were_not_chosen(tmp_path: Path) -> None:
    config = replace(CONFIG, env_kwargs={"look": "static"})
    score = evaluate_run(trained(Reinforce, config, tmp_path, stop_after=1), episodes=20)
    assert score.locations is not None
    assert "warning" not in score.summary()


def test_a_game_is_learned_from(tmp_path: Path) -> None:
    pytest.importorskip("ale_py")
    config = ActorCriticConfig(
        env_id=ATARI,
        env_kwargs={"game": "Breakout", "fovea": 20, "mask": True, "look": "corners"},
        batch_size=2,
        episodes=4,
        network=SMALL,
    )
    learner = ActorCritic(config)
    before = [part.detach().clone() for part in learner.policy.parameters()]
    assert np.isfinite(list(learner.update(0.5).values())).all()
    after = learner.policy.parameters()
    assert any((old != new).any() for old, new in zip(before, after, strict=True))
    learner.close()


def test_a_wrapped_environment_of_ours_is_refused_in_training() -> None:
    def wrapped(**env_kwargs: Any) -> gym.Env:
        return gym.wrappers.TransformReward(gym.make(CENTRED, **env_kwargs), float)

    gym.register("GlimpseTest/Wrapped-v0", entry_point=wrapped)
    try:
        with pytest.raises(ValueError, match="Wrapped-v0 wraps a single environment of this"):
            make_training_env(ReinforceConfig(env_id="GlimpseTest/Wrapped-v0"))
        with pytest.raises(ValueError, match="Wrapped-v0 wraps a single environment of this"):
            make_training_env(ReinforceConfig(env_id="GlimpseTest/Wrapped-v0", copies=2))
    finally:
        del gym.registry["GlimpseTest/Wrapped-v0"]
