"""A run is scored on its own environment, whoever looks, and leaves a record."""

import re
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.evaluate import main
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.scoring.run_record import cores_of, learning_curve, make_record
from agents.scoring.run_scores import evaluate_run, score_run
from agents.scoring.seconds import seconds_per_episode
from agents.training.resuming import begin_run
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.records import read_records, unpack, write_record
from glimpse_envs.evaluation.runs import Run, load_policy
from glimpse_envs.evaluation.world_films import Frames
from tests.support.episodes import CENTRED, TRANSLATED
from tests.support.tiny import SMALL, tiny_config, tiny_network
from tests.support.trainings import trained

CONFIG = ReinforceConfig(
    env_id=CENTRED,
    env_kwargs={"budget": 3, "glimpse_size": 12},
    episodes=20_000,
    batch_size=100,
    learning_rate=3e-3,
    network=SMALL,
    seed=4,
)
SCENES = 300


pytestmark = pytest.mark.learning  # each test scores a run that it trains


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(Reinforce, CONFIG, tmp_path_factory.mktemp("runs") / "learned")


def test_the_score_does_not_depend_on_the_batch(run: Run) -> None:
    scores = [evaluate_run(run, episodes=SCENES, batch_size=size) for size in (SCENES, 70, 7)]
    for score in scores[1:]:
        np.testing.assert_array_equal(score.successes, scores[0].successes)
        assert score.success_by_glimpse == pytest.approx(scores[0].success_by_glimpse)
        assert score.mean_return == pytest.approx(scores[0].mean_return)


def test_a_score_is_that_of_the_last_answers_and_glimpses_help(run: Run) -> None:
    score = evaluate_run(run, episodes=SCENES)
    assert len(score.success_by_glimpse) == 3
    assert score.success is not None
    assert score.successes is not None
    assert score.success == score.success_by_glimpse[-1] == score.successes.mean()
    assert score.mean_glimpses == 3
    assert score.success_interval is not None
    low, high = score.success_interval
    assert low < score.success < high
    assert score.success > score.success_by_glimpse[0] + 0.1


def test_splits_and_seeds_are_other_scenes(run: Run) -> None:
    test = evaluate_run(run, episodes=SCENES)
    np.testing.assert_array_equal(
        test.successes, evaluate_run(str(run.folder), episodes=SCENES).successes
    )
    for other in (
        evaluate_run(run, episodes=SCENES, split="validation"),
        evaluate_run(run, episodes=SCENES, seed=1),
    ):
        assert other.successes is not None
        assert (other.successes != test.successes).any()
        assert other.mean_return == pytest.approx(test.mean_return, abs=0.15), "and alike"


def test_two_runs_are_compared_on_the_same_scenes(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(run.folder)
    played = ["--episodes", str(SCENES), "--env-kwargs", "budget=3"]
    weaker = trained(Reinforce, replace(CONFIG, episodes=200), tmp_path / "weaker")
    main([folder, "--against", str(weaker.folder), *played])
    text = capsys.readouterr().out
    difference = next(line for line in text.splitlines() if "difference" in line)
    scores = [evaluate_run(one, episodes=SCENES).successes for one in (run, weaker)]
    assert scores[0] is not None
    assert scores[1] is not None
    points = 100 * (scores[0].mean() - scores[1].mean())
    assert f"success {points:+.2f} points" in difference
    assert difference.endswith("(above 0)")
    other = trained(Reinforce, replace(CONFIG, env_id=TRANSLATED, episodes=100), tmp_path / "other")
    with pytest.raises(SystemExit):
        main([folder, "--against", str(other.folder), *played])
    assert "runs that are compared must be of one environment" in capsys.readouterr().err


def test_looks_are_overridden(run: Run) -> None:
    gazes = (None, "learned", "static", "random", "raster", "oracle")
    scores = {name: evaluate_run(run, episodes=SCENES, gaze=name) for name in gazes}
    np.testing.assert_array_equal(scores[None].successes, scores["learned"].successes)
    assert scores["learned"].mean_return > scores["random"].mean_return + 0.1
    oracle = scores["oracle"].scanpaths
    assert oracle is not None
    assert oracle.share_on_target == 1.0
    assert oracle.movement == pytest.approx(0.0, abs=1e-6)
    static = scores["static"].scanpaths
    assert static is not None
    assert static.movement == 0.0
    with pytest.raises(ValueError, match="gaze='sideways' must be one of learned, static, random"):
        evaluate_run(run, gaze="sideways")


@pytest.mark.parametrize("gaze", ["raster", "oracle"])
def test_a_control_is_recorded_with_the_costs_of_its_glimpses(gaze: Any, tmp_path: Path) -> None:
    """The oracle's looks need to be told where the target is, also while costs are measured."""
    control = trained(Reinforce, tiny_config(gaze=gaze), tmp_path)
    costs = make_record(control, score_run(control, episodes=20)).headline.costs
    assert {"values_delivered", "multiply_adds"} <= costs.keys()


def test_a_run_trained_with_random_looks_is_scored_with_them(tmp_path: Path) -> None:
    control = trained(Reinforce, replace(tiny_config(gaze="random")), tmp_path)
    score = evaluate_run(control, episodes=100)
    gaze = score.scanpaths
    assert gaze is not None
    assert gaze.coverage > 0.7
    again = evaluate_run(control, episodes=100, gaze="random")
    np.testing.assert_array_equal(score.successes, again.successes)
    model = Model("Reinforce LSTM, random glimpses", gaze="random")
    assert control.config["model"] == asdict(model)


def test_the_policy_of_a_run_is_its_last_checkpoint(run: Run) -> None:
    policy = load_policy(run.folder)
    assert isinstance(policy, GlimpsePolicy)
    assert not policy.training
    tensors, _ = run.load_checkpoint()
    for name, value in policy.state_dict().items():
        assert torch.equal(value, torch.as_tensor(np.array(tensors[f"policy/{name}"]))), name


def test_a_record_holds_what_was_measured(run: Run, tmp_path: Path) -> None:
    score = evaluate_run(run, episodes=SCENES)
    path = write_record(make_record(run, [score], notes="a test"), tmp_path)
    (record,), problems = read_records(tmp_path)
    assert path.parent == tmp_path
    assert not problems
    assert record.env_id == CENTRED
    assert record.env_kwargs == {"budget": 3, "glimpse_size": 12}
    assert record.model == Model("Reinforce LSTM")
    assert record.algorithm == "reinforce"
    assert record.command == run.config["command"]
    assert record.versions["torch"] == run.config["versions"]["torch"]
    assert record.seed == 4
    assert record.budget == 3
    assert record.levels is None
    assert record.episodes == 20_000
    assert record.seconds > 0
    assert record.config["batch_size"] == 100
    assert record.notes == "a test"
    found = record.headline
    assert (found.split, found.episodes, found.glimpses) == ("test", SCENES, 3.0)
    assert found.success == pytest.approx(score.success, abs=1e-6)
    assert found.success_interval == pytest.approx(score.success_interval, abs=1e-6)
    assert found.mean_return == pytest.approx(score.mean_return, abs=1e-6)
    assert found.return_interval == pytest.approx(score.return_interval, abs=1e-6)
    assert 0 < found.costs["seconds"] < 1
    np.testing.assert_array_equal(unpack(found.successes, SCENES), score.successes)


def test_an_episodes_seconds_are_of_model_and_environment_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = evaluate_run(run, episodes=SCENES)
    policy = load_policy(run.folder)
    before = torch.get_num_threads()
    quick = seconds_per_episode(policy, score)
    assert torch.get_num_threads() == before
    step = policy.predict

    def slow(*arguments: Any, **known: Any) -> Any:
        until = time.process_time() + 0.01
        while time.process_time() < until:
            pass
        return step(*arguments, **known)

    monkeypatch.setattr(policy, "predict", slow)
    assert 0.03 < seconds_per_episode(policy, score) < 0.03 + 4 * quick + 0.01, "three steps"


def test_the_command_records(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(run.folder), "--episodes", "50", "--record", str(tmp_path)])
    (record,), _ = read_records(tmp_path)
    printed = capsys.readouterr().out
    assert record.headline.episodes == 50
    assert record.headline.success is not None
    assert f"success           {100 * record.headline.success:.2f} %" in printed
    assert f"return            {record.headline.mean_return:.3f}\n" in printed
    assert f"recorded in {tmp_path}" in printed


def test_tapes_are_scored_at_multiples_of_the_greatest_length_by_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(
        env_id="Glimpse/Copy-v0", env_kwargs={"length": 2, "symbols": 3}, answer_by="reward"
    )
    run = trained(Reinforce, config, tmp_path / "run")
    main([str(run.folder), "--episodes", "30", "--record", str(tmp_path / "records")])
    (record,), problems = read_records(tmp_path / "records")
    assert problems == []
    assert [score.level for score in record.scores] == [2, 4, 8, 12]
    assert [score.episodes for score in record.scores] == [30] * 4
    assert record.levels == (1, 2)
    assert record.env_kwargs == {"length": 2, "symbols": 3}
    assert record.model == Model("Reinforce LSTM", learns_from="reward")
    assert set(record.headline.costs) == {"cells_read", "seconds"}
    assert record.at(2) == record.scores[1]
    printed = capsys.readouterr().out
    assert "length=12" in printed
    assert "note" not in printed
    longest = evaluate_run(run, episodes=30, length=12, min_length=12)
    assert record.scores[-1].mean_return == pytest.approx(longest.mean_return, abs=1e-6)


def test_lengths_for_which_there_is_no_room_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(
        env_id="Glimpse/DictionaryLookup-v0",
        env_kwargs={"cells": 8, "length": 2},
        answer_by="reward",
    )
    run = trained(Reinforce, config, tmp_path / "run")
    main([str(run.folder), "--episodes", "30"])
    printed = capsys.readouterr().out
    assert "length=8" in printed
    assert "note: there is no room for lengths of 12\n" in printed


def test_torchs_threads_are_those_of_before(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(episodes=8), tmp_path)
    torch.set_num_threads(2)
    try:
        evaluate_run(run, episodes=4)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_runs_of_two_greatest_lengths_are_compared_and_filmed_at_those_of_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = []
    for length in (2, 3):
        kwargs = {"length": length, "symbols": 3}
        config = tiny_config(env_id="Glimpse/Copy-v0", env_kwargs=kwargs, answer_by="reward")
        folders.append(str(trained(Reinforce, config, tmp_path / f"{length}").folder))
    filmed: list[tuple[int, int]] = []

    def film(*_: Any, **options: Any) -> tuple[list[Frames], Frames]:
        filmed.append((options["min_length"], options["length"]))
        return [[np.zeros((2, 2, 3), np.uint8)]], []

    monkeypatch.setattr("agents.scoring.run_films.film_episodes", film)
    pair = ["--film", str(tmp_path / "film.gif"), "--film-with", folders[1]]
    main([folders[0], "--against", folders[1], "--episodes", "20", *pair])
    mine, theirs = (re.findall(r" length=(\d+), ", text) for text in printed_halves(capsys))
    assert mine == theirs == ["2", "4", "8", "12"]
    assert filmed == [(2, 2), (2, 2)]


def printed_halves(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What `--against` printed of the first run and of the other."""
    return capsys.readouterr().out.split("\nagainst ")


def test_an_agent_of_the_full_view_says_that_it_sees_everything(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(env_kwargs={"view": "full"}), tmp_path)
    record = make_record(run, score_run(run, episodes=20))
    assert record.model == Model("Reinforce LSTM", "everything", attention="none")
    assert record.env_kwargs == {}
    assert record.budget == 1


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
        score = evaluate_run(
            trained(Reinforce, config, tmp_path / name), episodes=40, batch_size=25
        )
        assert score.episodes == 40
        assert (score.scanpaths is None) == (name == "full")
        assert 1 <= score.mean_glimpses <= 3


def test_a_history_is_diagnosed_as_its_glimpses_are(tmp_path: Path) -> None:
    gazes = []
    for history in (False, True):
        env_kwargs = {"budget": 3, "look": "relative", "history": history}
        run = trained(Reinforce, tiny_config(env_kwargs=env_kwargs), tmp_path / str(history))
        gazes.append(evaluate_run(run, episodes=40, gaze="oracle").scanpaths)
    assert gazes[1] is not None
    assert gazes[1] == gazes[0], "who looks is the same, whoever answers"


def test_arguments_differ_for_an_evaluation_and_not_for_a_record(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [str(run.folder), "--episodes", "20", "--device", "cpu", "--env-kwargs", "budget=5"]
    main(more)
    assert f"{CENTRED}, budget=5, glimpse_size=12: 20 test episodes" in capsys.readouterr().out
    for arguments, message in (
        ([*more, "--record", str(tmp_path / "records")], "arguments that the run was trained with"),
        ([str(run.folder), "--device", "foo"], "device='foo' cannot be used here"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "records").exists()


def test_the_cost_of_a_training_is_that_of_all_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained(Reinforce, tiny_config(threads=2), tmp_path / "one")
    monkeypatch.setattr("agents.training.resuming.processes", lambda: 3)
    split = begin_run(tmp_path / "split", tiny_config(threads=2), "a:B", Model("A"))
    for each, cores in ((run, 2), (split, 6)):
        each.append_metrics(
            96, {"seconds": 5.0, "validation/return": 0.0, "validation/episodes": 1}
        )
        assert cores_of(each) == cores
        assert learning_curve(each)[-1].core_seconds == 5.0 * cores
    assert make_record(run, score_run(run, episodes=20)).cores == 2


def test_one_length_is_scored_where_it_is_asked_for(tmp_path: Path) -> None:
    kwargs = {"length": 2, "symbols": 3}
    config = tiny_config(env_id="Glimpse/Copy-v0", env_kwargs=kwargs, answer_by="reward")
    run = trained(Reinforce, config, tmp_path)
    (score,) = score_run(run, episodes=20, length=5)
    assert score.env_kwargs["length"] == 5
    (score,) = score_run(run, episodes=20, min_length=2)
    assert (score.env_kwargs["min_length"], score.env_kwargs["length"]) == (2, 2)


def test_the_options_of_the_command_reach_the_score(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (score,) = score_run(run, episodes=5)
    asked: dict[str, Any] = {}

    def remember(run: Run, **options: Any) -> list[Any]:
        asked.update(options)
        return [score]

    monkeypatch.setattr("agents.evaluate.score_run", remember)
    wanted = {
        "seed": 7,
        "actions": "sampled",
        "gaze": "raster",
        "split": "validation",
        "episodes": 5,
        "batch_size": 3,
    }
    options = [(f"--{name.replace('_', '-')}", str(value)) for name, value in wanted.items()]
    main([str(run.folder), *(word for option in options for word in option)])
    assert {name: asked[name] for name in wanted} == wanted
