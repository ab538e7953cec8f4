"""Every baseline trains, survives kills and is scored as the agents are."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.evaluate import evaluate_run, make_record
from agents.evaluate import main as evaluate_main
from baselines.learner import SupervisedLearner
from baselines.model import BaselineConfig
from baselines.train import ALGORITHMS, MODELS, main
from glimpse_envs.evaluation.runs import load_policy, open_run
from tests.support.episodes import CENTRED, CIRCLE_SQUARE
from tests.support.marks import first_is_quick
from tests.support.same_runs import assert_same_run, metrics_of
from tests.support.tiny import SMALL, tiny_network
from tests.support.trainings import Killed, errors_of, trained

Changes = dict[str, Any]

KINDS: dict[str, tuple[str, Changes]] = {
    "content": ("soft_tiles", {"attention": "content", "key_units": 16, "network": SMALL}),
    "location": ("soft_tiles", {"attention": "location", "network": SMALL}),
    "draw": ("gaussian_window", {"window": "draw", "network": SMALL}),
    "retina": ("gaussian_window", {"window": "retina", "network": SMALL}),
    "affine": ("spatial_transformer", {"transform": "affine", "channels": 8, "size": 14}),
    "attention": ("spatial_transformer", {"transform": "attention", "channels": 8, "size": 14}),
    "strong": ("full_view", {"kind": "strong", "channels": 8}),
    "conv": ("full_view", {"kind": "conv"}),
    "dense": ("full_view", {"kind": "dense"}),
}
"""Every kind of every model: its name in `MODELS`, and its config's fields."""
BUDGET = 2


def small_config(kind: str, /, **changes: Any) -> BaselineConfig:
    """A big digit in the middle, seen through two glimpses; networks of a second's training."""
    name, fields = KINDS[kind]
    config = MODELS[name].config_class(
        env_id=CENTRED,
        env_kwargs={"budget": BUDGET, "glimpse_size": 14},
        batch_size=100,
        learning_rate=3e-3,
        **fields,
    )
    return replace(config, **changes)


def tiny_config(kind: str, /, **changes: Any) -> BaselineConfig:
    """Twelve updates of eight scenes; lines and checkpoints alternate."""
    config = small_config(kind, images=96, batch_size=8, log_every=3, checkpoint_every=4)
    tiny: Changes = {"network": tiny_network(detach_heads=False)}
    return replace(config, **{**(tiny if hasattr(config, "network") else {}), **changes})


def maker(kind: str) -> Any:
    """What makes the learner of a config of this kind."""
    return ALGORITHMS[KINDS[kind][0]].make


def test_every_model_of_the_list_is_tested() -> None:
    assert {name for name, _ in KINDS.values()} == MODELS.keys()


@pytest.mark.learning
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_easy_is_learned_in_a_second(kind: str) -> None:
    config = small_config(kind, images=6_000)
    errors = errors_of(SupervisedLearner(config, MODELS[KINDS[kind][0]]))
    assert np.mean(errors[:3]) > 0.6
    assert np.mean(errors[-6:]) < 0.2


@pytest.mark.parametrize("kind", first_is_quick(KINDS))
def test_equal_seeds_give_equal_runs_and_others_do_not(kind: str, tmp_path: Path) -> None:
    config = tiny_config(kind)
    one, two = (trained(maker(kind), config, tmp_path / folder) for folder in ("one", "two"))
    assert_same_run(one, two)
    other = trained(maker(kind), replace(config, seed=1), tmp_path / "other")
    assert metrics_of(other) != metrics_of(one)


class Mortal(SupervisedLearner):
    """Dies in its eleventh update, after the scenes were dealt."""

    updates = 0

    def deal(self) -> tuple[torch.Tensor, torch.Tensor]:
        self.updates += 1
        dealt = super().deal()
        if self.updates > 10:
            raise Killed
        return dealt


@pytest.mark.parametrize("kind", first_is_quick(KINDS))
def test_a_killed_run_resumes_as_the_unbroken_one(kind: str, tmp_path: Path) -> None:
    config, model = tiny_config(kind), MODELS[KINDS[kind][0]]
    with pytest.raises(Killed):
        trained(lambda c: Mortal(c, model), config, tmp_path / "killed")
    assert open_run(tmp_path / "killed").load_checkpoint()[1]["updates"] == 8
    unbroken = trained(maker(kind), config, tmp_path / "unbroken")
    assert_same_run(trained(maker(kind), config, tmp_path / "killed", resume=True), unbroken)


@pytest.mark.parametrize("kind", first_is_quick(KINDS))
def test_a_run_is_scored_after_each_inner_glimpse(kind: str, tmp_path: Path) -> None:
    run = trained(maker(kind), tiny_config(kind), tmp_path)
    model = load_policy(tmp_path)
    assert isinstance(model, MODELS[KINDS[kind][0]])
    assert not model.training
    score = evaluate_run(run, scenes=50, batch_size=20)
    record = make_record(run, score)
    glimpses = BUDGET if model.title.startswith("Soft") else 1
    assert len(record.error_by_glimpse) == glimpses == score.mean_glimpses
    assert score.accuracy == score.accuracy_by_glimpse[-1] == score.correct.mean()
    assert record.model == model.title
    assert score.scanpaths is None, "it sees everything, whatever it attends to"
    np.testing.assert_array_equal(evaluate_run(run, scenes=50).correct, score.correct)


def test_titles_tell_the_kinds_apart_and_that_they_see_everything(tmp_path: Path) -> None:
    titles = {
        SupervisedLearner(tiny_config(kind), MODELS[name]).name for kind, (name, _) in KINDS.items()
    }
    assert len(titles) == len(KINDS)
    assert all(title.startswith(("Soft ", "Full view ")) for title in titles)
    assert {"Soft tiles LSTM", "Soft tiles by content LSTM"} < titles
    assert "Full view spatial transformer" in titles


@pytest.mark.parametrize("kind", ["content", "draw"])
def test_all_answers_are_supervised_where_all_are_paid_or_it_is_asked(kind: str) -> None:
    """CircleSquare pays every answer; then the first answer alone reaches the loss too."""
    model = MODELS[KINDS[kind][0]]
    changes: Changes = {"env_id": CIRCLE_SQUARE, "env_kwargs": {"budget": 3}}
    counted = tiny_config(kind, supervise="counted")
    assert SupervisedLearner(counted, model).first_counted == -1
    assert SupervisedLearner(replace(counted, supervise="all"), model).first_counted == 0
    assert SupervisedLearner(replace(counted, **changes), model).first_counted == 0


@pytest.mark.parametrize(
    ("kind", "changes", "named"),
    [
        ("content", {"attention": "places"}, "attention='places' must be one of 'content', 'loc"),
        ("content", {"score": "dott"}, "score='dott' must be one of 'dot', 'scaled_dot'"),
        ("content", {"key_units": 0}, "key_units=0 must be at least 1"),
        ("content", {"temperature": 0.0}, "temperature=0.0 must be above 0"),
        ("location", {"network": tiny_network(core_units=0)}, "core_units=0 must be at least 1"),
        ("draw", {"window": "drawn"}, "window='drawn' must be one of 'draw', 'retina'"),
        ("draw", {"network": tiny_network(core="tape")}, "core='tape' must be one of 'rnn'"),
        ("affine", {"transform": "thin"}, "transform='thin' must be one of 'affine'"),
        ("affine", {"size": 0}, "size=0 must be at least 1"),
        ("affine", {"first_scale": 0.0}, "first_scale=0.0 must be above 0"),
        ("strong", {"kind": "stronger"}, "kind='stronger' must be one of 'strong'"),
        ("strong", {"stages": 0}, "stages=0 must be at least 1"),
        (
            "conv",
            {"env_id": CIRCLE_SQUARE, "env_kwargs": {"scene_size": 9}},
            "kind='conv' has filters of 10x10; the scene has 9x9 pixels",
        ),
        ("dense", {"supervise": "some"}, "supervise='some' must be one of 'counted', 'all'"),
        ("dense", {"learning_rate": 0.0}, "learning_rate=0.0 must be above 0"),
        ("dense", {"env_kwargs": {"tiles": 4}}, "env_kwargs: tiles cannot be set here"),
    ],
)
def test_a_bad_config_is_refused_by_name(
    kind: str, changes: Changes, named: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=named):
        trained(maker(kind), tiny_config(kind, **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command_trains_and_the_agents_command_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    options = ["--env-id", CENTRED, "--images", "64", "--batch-size", "32", "--attention"]
    main(["soft_tiles", *options, "location", "--env-kwargs", "budget=3", "--run", folder])
    evaluate_main([folder, "--scenes", "20"])
    printed = capsys.readouterr().out
    assert f"evaluate it: python -m agents.evaluate {folder}" in printed
    line = next(line for line in printed.splitlines() if "error by glimpse" in line)
    assert len(line.split()) == 3 + 3


def test_an_unknown_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["hard_tiles"])
    assert ended.value.code == 2
    assert "'hard_tiles' must be one of soft_tiles, gaussian_window" in capsys.readouterr().err
