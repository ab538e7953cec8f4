"""A run is scored on its own environment, whoever looks, and leaves a record."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.evaluate import evaluate_run, main, make_record
from agents.policy.glimpse_policy import GlimpsePolicy
from glimpse_envs.evaluation.records import read_records, unpack_correct, write_record
from glimpse_envs.evaluation.runs import Run, RunError, load_policy
from tests.support.episodes import CENTRED
from tests.support.tiny import SMALL, tiny_config, tiny_network
from tests.support.trainings import trained

CONFIG = ReinforceConfig(
    env_id=CENTRED,
    env_kwargs={"budget": 3, "glimpse_size": 12},
    images=8_000,
    batch_size=100,
    learning_rate=3e-3,
    network=SMALL,
    seed=4,
)
SCENES = 300


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(Reinforce, CONFIG, tmp_path_factory.mktemp("runs") / "learned")


def test_the_score_does_not_depend_on_the_batch(run: Run) -> None:
    scores = [evaluate_run(run, scenes=SCENES, batch_size=size) for size in (SCENES, 70, 7)]
    for score in scores[1:]:
        np.testing.assert_array_equal(score.correct, scores[0].correct)
        assert score.accuracy_by_glimpse == pytest.approx(scores[0].accuracy_by_glimpse)
        assert score.mean_return == pytest.approx(scores[0].mean_return)


def test_a_score_is_that_of_the_last_answers_and_glimpses_help(run: Run) -> None:
    score = evaluate_run(run, scenes=SCENES)
    assert len(score.accuracy_by_glimpse) == 3
    assert score.accuracy == score.accuracy_by_glimpse[-1] == score.correct.mean()
    assert score.mean_glimpses == 3
    low, high = score.interval
    assert low < score.accuracy < high
    assert score.accuracy > score.accuracy_by_glimpse[0] + 0.1


def test_splits_and_seeds_are_other_scenes(run: Run) -> None:
    test = evaluate_run(run, scenes=SCENES)
    np.testing.assert_array_equal(test.correct, evaluate_run(run, scenes=SCENES).correct)
    for other in (
        evaluate_run(run, scenes=SCENES, split="validation"),
        evaluate_run(run, scenes=SCENES, seed=1),
    ):
        assert (other.correct != test.correct).any()
        assert abs(other.accuracy - test.accuracy) < 0.15, "and alike"


def test_looks_are_overridden(run: Run) -> None:
    looks = (None, "learned", "random", "raster", "oracle")
    scores = {name: evaluate_run(run, scenes=SCENES, looks=name) for name in looks}
    np.testing.assert_array_equal(scores[None].correct, scores["learned"].correct)
    assert scores["learned"].accuracy > scores["random"].accuracy + 0.1
    oracle = scores["oracle"].scanpaths
    assert oracle is not None
    assert oracle.share_on_target == 1.0
    assert oracle.movement == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(ValueError, match="looks='sideways' must be one of learned, random"):
        evaluate_run(run, looks="sideways")


def test_a_run_trained_with_random_looks_is_scored_with_them(tmp_path: Path) -> None:
    control = trained(Reinforce, replace(tiny_config(looks="random")), tmp_path)
    score = evaluate_run(control, scenes=100)
    gaze = score.scanpaths
    assert gaze is not None
    assert gaze.coverage > 0.7
    again = evaluate_run(control, scenes=100, looks="random")
    np.testing.assert_array_equal(score.correct, again.correct)
    assert control.config["model"] == "Reinforce LSTM, random glimpses"


def test_the_policy_of_a_run_is_its_last_checkpoint(run: Run) -> None:
    policy = load_policy(run.folder)
    assert isinstance(policy, GlimpsePolicy)
    assert not policy.training
    tensors, _ = run.load_checkpoint()
    for name, value in policy.state_dict().items():
        assert torch.equal(value, torch.as_tensor(np.array(tensors[f"policy/{name}"]))), name


def test_a_record_holds_what_was_measured(run: Run, tmp_path: Path) -> None:
    score = evaluate_run(run, scenes=SCENES)
    path = write_record(make_record(run, score, notes="a test"), tmp_path)
    (record,), problems = read_records(tmp_path)
    assert path.parent == tmp_path
    assert not problems
    assert record.env_id == CENTRED
    assert record.env_kwargs == {"budget": 3, "glimpse_size": 12}
    assert record.model == "Reinforce LSTM"
    assert record.seed == 4
    assert record.glimpses == 3
    assert record.error_percent == pytest.approx(score.error_percent, abs=1e-4)
    assert record.error_by_glimpse[-1] == record.error_percent
    assert record.interval_percent == pytest.approx(score.error_interval_percent, abs=1e-4)
    assert record.images_seen == CONFIG.images
    assert record.seconds > 0
    assert record.config["batch_size"] == 100
    assert record.split == "test"
    assert record.scenes == SCENES
    assert record.notes == "a test"
    np.testing.assert_array_equal(unpack_correct(record.correct_hex, SCENES), score.correct)


def test_the_command_records(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(run.folder), "--scenes", "50", "--record", str(tmp_path)])
    (record,), _ = read_records(tmp_path)
    printed = capsys.readouterr().out
    assert record.scenes == 50
    assert f"error             {record.error_percent:.2f} %" in printed
    assert f"recorded in {tmp_path}" in printed


def test_a_record_is_only_of_the_looks_trained_with(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(run.folder), "--scenes", "50", "--looks", "random", "--record", str(tmp_path)])
    assert ended.value.code == 2
    assert "the looks that the run was trained with" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_runs_of_any_kind_are_scored(tmp_path: Path) -> None:
    kinds = {
        "stop": tiny_config(env_kwargs={"budget": 3, "stop": True}),
        "tiles": tiny_config(env_kwargs={"budget": 3, "look": "tiles"}),
        "history": tiny_config(
            env_kwargs={"budget": 3, "history": True}, network=tiny_network(core="gru")
        ),
        "full": tiny_config(env_kwargs={"view": "full"}),
    }
    for name, config in kinds.items():
        score = evaluate_run(trained(Reinforce, config, tmp_path / name), scenes=40, batch_size=25)
        assert score.scenes == 40
        assert (score.scanpaths is None) == (name == "full")
        assert 1 <= score.mean_glimpses <= 3


def test_a_history_is_diagnosed_as_its_glimpses_are(tmp_path: Path) -> None:
    gazes = []
    for history in (False, True):
        env_kwargs = {"budget": 3, "look": "relative", "history": history}
        run = trained(Reinforce, tiny_config(env_kwargs=env_kwargs), tmp_path / str(history))
        gazes.append(evaluate_run(run, scenes=40, looks="oracle").scanpaths)
    assert gazes[1] is not None
    assert gazes[1] == gazes[0], "who looks is the same, whoever answers"


def test_a_view_without_looks_is_scanned_by_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(Reinforce, tiny_config(env_kwargs={"view": "full"}), tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), "--looks", "raster"])
    assert ended.value.code == 2
    assert "looks='raster': there is no look to choose" in capsys.readouterr().err


def test_a_run_without_a_checkpoint_cannot_be_scored(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path)
    run.checkpoint_path.unlink()
    with pytest.raises(RunError, match="no checkpoint"):
        evaluate_run(run)


def test_a_run_that_does_not_name_its_model_is_scored_but_not_recorded(run: Run) -> None:
    config = {name: value for name, value in run.config.items() if name != "model"}
    nameless = Run(run.folder, config)
    evaluation = evaluate_run(nameless, scenes=20)
    with pytest.raises(RunError, match="lacks 'model'"):
        make_record(nameless, evaluation)


def test_a_run_of_another_version_is_refused_by_name(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path)
    path = run.folder / "config.json"
    config = json.loads(path.read_text())
    network = config["config"]["network"]
    path.write_text(
        json.dumps({**config, "config": {**config["config"], "network": {**network, "wings": 2}}})
    )
    with pytest.raises(RunError, match="was made with wings, which NetworkConfig lacks"):
        load_policy(run.folder)
    path.write_text(
        json.dumps(
            {**config, "config": {**config["config"], "network": {**network, "core_units": 16}}}
        )
    )
    with pytest.raises(RunError, match="does not fit GlimpsePolicy as it is now"):
        load_policy(run.folder)
