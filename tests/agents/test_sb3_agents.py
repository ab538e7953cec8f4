"""Stable-Baselines3's learners solve what is easy, are scored as all are, and go on."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.preprocessing import preprocess_obs
from stable_baselines3.common.vec_env import VecMonitor
from tqdm import tqdm

import glimpse_envs
from agents.sb3 import __main__ as sb3
from agents.sb3.__main__ import SB3Policy
from agents.sb3.features import GlimpseFeatures
from agents.sb3.models import (
    A2CConfig,
    PPOConfig,
    RecurrentPPOConfig,
    SB3Config,
)
from agents.sb3.training import train
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import evaluate_run
from glimpse_envs.adapters.sb3 import GlimpseVecEnv, make_sb3_env
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.run_errors import CheckpointError, RunError
from glimpse_envs.evaluation.runs import Run, load_policy, open_run
from tests.support.episodes import CENTRED, make_vector, write_images
from tests.support.sb3 import small
from tests.support.trainings import Killed

# `VecMonitor` says so around whatever counts returns itself, and counts them again.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The environment is already wrapped with a `Monitor`"
)


@pytest.fixture(scope="module")
def corner(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two classes that only the top-left of four tiles tells apart. Who looks there is always
    right; who looks anywhere, 7 times out of 10: in both of two looks it is missed 9 times in 16.
    """
    images = np.full((8, 8, 8), 128, np.uint8)
    images[:4, :4, :4], images[4:, :4, :4] = 0, 255
    source = write_images(tmp_path_factory.mktemp("images"), images)
    return dict(source=source, scene_size=8, glimpse_size=4, budget=2, look="tiles")


SOLVED: dict[str, tuple[type[SB3Config], int, dict[str, Any]]] = {
    "a2c": (A2CConfig, 20_000, {}),
    "ppo": (PPOConfig, 8_000, {}),
    "ppo with a place": (PPOConfig, 10_000, {"look": "continuous"}),
    "recurrent_ppo": (RecurrentPPOConfig, 8_000, {}),
}


@pytest.mark.learning
@pytest.mark.parametrize(("kind", "timesteps", "changes"), SOLVED.values(), ids=SOLVED)
def test_where_to_look_and_what_to_answer_are_learned_from_reward(
    kind: type[SB3Config],
    timesteps: int,
    changes: dict[str, Any],
    corner: dict[str, Any],
    tmp_path: Path,
) -> None:
    config = small(kind, {**corner, **changes}, timesteps=timesteps)
    run = train(config, tmp_path / "run", progress_bar=False)
    score = evaluate_run(run, split="train", episodes=500)
    assert score.success is not None
    assert score.success > 0.95
    assert score.success_by_glimpse[0] < 0.8, "the first glimpse alone seldom tells"
    assert ("history" in run.config["config"]["env_kwargs"]) == (not kind.has_memory)


@pytest.mark.learning
@pytest.mark.parametrize("kind", [PPOConfig, RecurrentPPOConfig])
def test_words_are_read(kind: type[SB3Config], tmp_path: Path) -> None:
    config = small(kind, {"min_length": 1, "length": 2}, timesteps=64, env_id="Glimpse/Stories-v0")
    run = train(config, tmp_path / "run", progress_bar=False)
    assert evaluate_run(run, episodes=10).episodes == 10
    env = make_vector("Glimpse/Stories-v0", 4)
    observation, _ = env.reset(seed=0)
    space = env.single_observation_space
    assert isinstance(space, gym.spaces.Dict)
    extractor = GlimpseFeatures(space, config.network)
    tensors = {name: torch.as_tensor(part) for name, part in observation.items()}
    given = preprocess_obs(tensors, space)
    assert isinstance(given, dict)
    for name, words in extractor._words_of(given).items():
        np.testing.assert_array_equal(words.numpy(), observation[name])


@pytest.fixture(scope="module")
def run(corner: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = small(PPOConfig, corner, timesteps=2_048, seed=3)
    return train(config, tmp_path_factory.mktemp("runs") / "ppo", progress_bar=False)


def test_a_task_without_success_is_trained_by_its_return(tmp_path: Path) -> None:
    env_id = "GlimpseTest/SilentClock-v0"
    glimpse_envs.register(env_id, task="tests.support.hidden_clock:SilentClock")
    try:
        config = small(PPOConfig, {}, env_id=env_id, timesteps=512)
        lines = train(config, tmp_path / "run", progress_bar=False).read_metrics()
    finally:
        gym.registry.pop(env_id)
    assert "return" in lines[-1]
    assert "error" not in lines[-1]


@pytest.mark.learning
def test_a_run_is_scored_and_recorded_as_any_other(run: Run) -> None:
    policy = load_policy(run.folder)
    assert isinstance(policy, SB3Policy)
    scores = [evaluate_run(run, split="train", episodes=200, batch_size=size) for size in (200, 30)]
    np.testing.assert_array_equal(scores[0].successes, scores[1].successes)
    record = make_record(run, scores[:1])
    assert record.model == Model("SB3 PPO, history", learns_from="reward")
    assert record.algorithm == "ppo"
    assert record.episodes == 1_024
    assert record.budget == 2
    assert record.env_kwargs["history"] is True
    assert record.seed == 3
    assert record.cores == 1


@pytest.mark.learning
def test_the_policy_of_a_run_is_the_model_that_was_saved(run: Run) -> None:
    """Read from the checkpoint without unpickling, and by Stable-Baselines3 itself."""
    policy, model = load_policy(run.folder), PPO.load(run.folder / "model.zip")
    assert model.num_timesteps == 2_048
    assert isinstance(model.policy.features_extractor, GlimpseFeatures)
    kwargs = run.config["config"]["env_kwargs"]
    observation, _ = make_vector(CENTRED, 20, **kwargs).reset(seed=5)
    action, _ = policy.predict(observation, deterministic=True)
    flat, _ = model.predict(observation, deterministic=True)
    np.testing.assert_array_equal(action["look"], flat[:, 0])
    np.testing.assert_array_equal(action["answer"], flat[:, 1])
    venv = VecMonitor(make_sb3_env(CENTRED, 20, seed=5, **kwargs))
    ours: Any = policy
    by_ours = evaluate_policy(ours, venv, n_eval_episodes=100)
    venv.seed(5)
    assert evaluate_policy(model, venv, n_eval_episodes=100) == by_ours


@pytest.mark.learning
def test_a_run_leaves_metrics_and_events(run: Run) -> None:
    lines = run.read_metrics()
    assert [line["step"] for line in lines] == [1_280, 2_048], "the last, too"
    assert lines[0]["episodes"] == 640
    assert {"error", "return", "glimpses", "seconds", "train/value_loss"} <= lines[0].keys()
    assert lines[0]["glimpses"] == 2
    assert lines[0]["error"] == pytest.approx(1 - lines[0]["return"])
    assert list((run.folder / "tensorboard").glob("events.out.tfevents.*"))
    _, metadata = run.load_checkpoint()
    assert metadata["episodes"] == 1_024
    assert metadata["timesteps"] == 2_048


@pytest.mark.learning
def test_the_same_seed_gives_the_same_run(corner: dict[str, Any], tmp_path: Path) -> None:
    config = small(RecurrentPPOConfig, corner, timesteps=512, n_envs=16, minibatch_size=32)
    names = ("a", "b")
    tensors = [train(config, tmp_path / n, progress_bar=False).load_checkpoint()[0] for n in names]
    for name, value in tensors[0].items():
        np.testing.assert_array_equal(value, tensors[1][name], err_msg=name)
    other = train(replace(config, seed=1), tmp_path / "c", progress_bar=False).load_checkpoint()[0]
    assert any((other[name] != value).any() for name, value in tensors[0].items())


def test_a_killed_run_goes_on_from_its_model_with_other_scenes(
    corner: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(A2CConfig, corner, timesteps=2_560, log_every=1)
    append = Run.append_metrics

    def kill(run: Run, step: int, values: Any) -> None:
        append(run, step, values)
        if step >= 1_536:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Run, "append_metrics", kill)
        with pytest.raises(Killed):
            train(config, tmp_path, progress_bar=False)
    run = open_run(tmp_path)
    assert run.load_checkpoint()[1]["timesteps"] == 1_024
    assert run.read_metrics()[-1]["step"] == 1_536

    made: list[GlimpseVecEnv] = []

    def remembered(*args: Any, **kwargs: Any) -> GlimpseVecEnv:
        made.append(make_sb3_env(*args, **kwargs))
        return made[0]

    monkeypatch.setattr("agents.sb3.training.make_sb3_env", remembered)
    train(config, tmp_path, resume=True, progress_bar=False)
    steps = [line["step"] for line in run.read_metrics()]
    assert steps == [256 * (i + 1) for i in range(10)], "each step once"
    assert run.read_metrics()[-1]["episodes"] == 1_280
    seeds = made[0].batch.state_dict()["seeds"]
    assert config.seed not in seeds, "the scenes of the start do not come again"
    metadata = run.load_checkpoint()[1]
    assert (metadata["timesteps"], metadata["episodes"]) == (2_560, 1_280)
    before = run.load_checkpoint()[0]
    train(config, tmp_path, resume=True, progress_bar=False)
    after = run.load_checkpoint()[0]
    assert all((after[name] == value).all() for name, value in before.items()), "it is done"


def test_a_training_ends_when_its_minutes_are_over(
    corner: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = small(A2CConfig, corner, minutes=0.005)
    run = train(config, tmp_path, progress_bar=False)
    metadata = run.load_checkpoint()[1]
    assert 0.3 <= metadata["seconds"] < 30
    assert metadata["timesteps"] > 0
    begun: list[A2CConfig] = []
    again = train(config, tmp_path, resume=True, progress_bar=False, on_begin=begun.append)
    assert again.load_checkpoint()[1]["timesteps"] == metadata["timesteps"], "it is done"
    assert not begun
    assert f"{tmp_path} is trained in full" in capsys.readouterr().out
    longer = replace(config, minutes=metadata["seconds"] / 60 + 0.005)
    more = train(longer, tmp_path, resume=True, progress_bar=False)
    assert more.load_checkpoint()[1]["timesteps"] > metadata["timesteps"]


def test_a_resumed_run_unpickles_nothing(
    corner: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = small(A2CConfig, corner, timesteps=512)
    run = train(config, tmp_path, progress_bar=False)
    weights, _ = run.load_checkpoint()

    def refused(*arguments: Any) -> None:
        raise AssertionError("model.zip is unpickled")

    monkeypatch.setattr("cloudpickle.loads", refused)
    monkeypatch.setattr("pickle.loads", refused)
    resumed = train(replace(config, timesteps=768), tmp_path, resume=True, progress_bar=False)
    after, metadata = resumed.load_checkpoint()
    assert (metadata["timesteps"], metadata["updates"]) == (768, 3)
    assert any((after[name] != value).any() for name, value in weights.items())
    again = train(replace(config, timesteps=769), tmp_path, resume=True, progress_bar=False)
    assert again.load_checkpoint()[1]["timesteps"] == 1_024


def test_ctrl_c_saves(
    corner: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def interrupt(run: Run, step: int, values: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Run, "append_metrics", interrupt)
    config = small(A2CConfig, corner, timesteps=100_000)
    numbers: list[int] = []
    run = train(
        config,
        tmp_path,
        progress_bar=False,
        how_to_resume="--resume",
        on_interrupt=numbers.append,
    )
    assert numbers == [signal.SIGINT]
    # Two updates, and the step of all rows in which the third was left.
    assert "saved after 1344 timesteps; go on with --resume" in capsys.readouterr().out
    assert run.load_checkpoint()[1]["timesteps"] == 1_344


def test_a_damaged_model_or_another_config_is_refused(
    corner: dict[str, Any], tmp_path: Path
) -> None:
    config = small(A2CConfig, corner, timesteps=256)
    run = train(config, tmp_path, progress_bar=False)
    with pytest.raises(RunError, match="is a run already"):
        train(config, tmp_path, progress_bar=False)
    with pytest.raises(RunError, match=r"another config: gamma \(1.0, now 0.5\)"):
        train(replace(config, gamma=0.5), tmp_path, resume=True, progress_bar=False)
    path = run.folder / "model.zip"
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole.replace(whole[3_000:3_010], b"0123456789")):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"model\.zip is damaged"):
            train(replace(config, threads=2), tmp_path, resume=True, progress_bar=False)
    run.checkpoint_path.unlink()
    with pytest.raises(RunError, match="no checkpoint"):
        load_policy(tmp_path)


def test_the_bar_begins_after_the_plan_is_printed(
    corner: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def bar(**options: Any) -> Any:
        begun.append("bar")
        return tqdm(**options)

    monkeypatch.setattr("agents.sb3.training.tqdm", bar)
    config = small(A2CConfig, corner, timesteps=512)
    train(config, tmp_path, on_begin=lambda config: begun.append(config.env_id))
    assert begun == [config.env_id, "bar"]


def test_the_command_trains_and_goes_on(
    corner: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    pairs = [f"{name}={value}" for name, value in corner.items()]
    command = [
        "a2c", "--env-id", CENTRED, "--env-kwargs", *pairs, "--timesteps", "512",
        "--n-envs", "32", "--network.core-units", "8", "--run", str(folder),
    ]  # fmt: skip
    sb3.main(command)
    printed = capsys.readouterr().out
    assert f"the run is in {folder}" in printed
    assert f"a2c on {CENTRED} history=True " in printed
    config = json.loads((folder / "config.json").read_text())
    assert config["policy"] == "agents.sb3.__main__:SB3Policy"
    assert config["config"]["env_kwargs"] == {"history": True, **corner}
    sb3.main(["a2c", "--run", str(folder), "--resume", "--timesteps", "1024"])
    assert "timesteps was 512 and is 1024\n" in capsys.readouterr().out
    for arguments, says in (
        (command, "is a run already"),
        (["ppo", "--run", str(folder), "--resume"], "another algorithm: of a2c, not of ppo"),
        (["sarsa"], "algorithm 'sarsa' must be one of ppo, a2c, recurrent_ppo"),
        (["ppo", "--env-id", "CartPole-v1"], "'CartPole-v1' is made of no task of glimpses"),
        (["ppo", "--minibatch-size", "100"], "batch_size=100 must divide n_steps * n_envs = 2048"),
        (["ppo", "--minibatch-size", "1"], "a batch of 1 step has advantages without a spread"),
        (["a2c", "--n-envs", "1", "--n-steps", "1"], "a batch of 1 step has"),
        (["ppo", "--device", "cuda:99"], "device='cuda:99' cannot be used here"),
    ):
        with pytest.raises(SystemExit) as ended:
            sb3.main([*arguments])
        assert ended.value.code == 2
        assert says in capsys.readouterr().err
