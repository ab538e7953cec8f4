"""Every baseline learns, survives kills and is scored as the agents are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.evaluate import main as evaluate_main
from agents.scoring.run_scores import evaluate_run, validate_run
from agents.training.loop import train
from baselines.learner import Batch, SupervisedLearner
from baselines.pictures.reader import RecurrentReader
from baselines.train import ALGORITHMS, MODELS, main
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.runs import load_policy, open_run
from tests.support.baselines import (
    BUDGET,
    CASES,
    DESCRIBED,
    KINDS,
    MEMORY_KINDS,
    POINTED,
    Changes,
    class_of,
    learner_of,
    model_of,
    small_config,
    tiny_config,
    trained,
)
from tests.support.episodes import CENTRED, CIRCLE_SQUARE
from tests.support.marks import first_is_quick
from tests.support.same_runs import assert_repeats_and_resumes, assert_same_run
from tests.support.tiny import tiny_network
from tests.support.trainings import Killed


def test_every_model_of_the_list_is_tested() -> None:
    assert {name for name, _ in KINDS.values()} == MODELS.keys()


@pytest.mark.learning
@pytest.mark.parametrize(("kind", "task"), CASES)
def test_what_is_easy_is_learned_in_seconds(kind: str, task: Changes) -> None:
    """A model that ignores the query gets one of six answers to a table wrong."""
    learner, errors = learner_of(kind, small_config(kind, **task)), [1.0] * 20
    for update in range(800):
        if np.mean(errors[-20:]) < 0.1:
            break
        errors.append(learner.update(update / 800)["error"])
    learner.close()
    assert np.mean(errors[20:23]) > 0.4
    assert np.mean(errors[-20:]) < 0.1


@pytest.mark.parametrize("kind", first_is_quick(KINDS))
def test_runs_repeat_and_resume(kind: str, tmp_path: Path) -> None:
    assert_repeats_and_resumes(ALGORITHMS[KINDS[kind][0]].make, tiny_config(kind), tmp_path)


class Mortal(SupervisedLearner):
    """Dies in its eleventh update, after the episodes were dealt."""

    updates = 0

    def deal(self) -> Batch:
        self.updates += 1
        batch = super().deal()
        if self.updates > 10:
            raise Killed
        return batch


@pytest.mark.parametrize("kind", ["draw", "hard"])
def test_a_killed_run_resumes_as_the_unbroken_one(kind: str, tmp_path: Path) -> None:
    config, model = tiny_config(kind), class_of(kind)
    with pytest.raises(Killed):
        train(lambda c: Mortal(c, model), config, tmp_path / "killed", progress_bar=False)
    assert open_run(tmp_path / "killed").load_checkpoint()[1]["updates"] == 8
    unbroken = trained(config, kind, tmp_path / "unbroken")
    assert_same_run(trained(config, kind, tmp_path / "killed", resume=True), unbroken)


@pytest.mark.learning
@pytest.mark.parametrize(("kind", "task"), CASES)
def test_a_run_is_scored_after_each_inner_glimpse(kind: str, task: Changes, tmp_path: Path) -> None:
    run = trained(tiny_config(kind, **task), kind, tmp_path)
    model = load_policy(tmp_path)
    assert isinstance(model, class_of(kind))
    assert not model.training
    score = evaluate_run(run, episodes=50, batch_size=20)
    glimpses = BUDGET if isinstance(model, RecurrentReader) else 1
    assert len(score.success_by_glimpse) == glimpses == score.mean_glimpses
    assert score.success == score.success_by_glimpse[-1]
    assert score.successes is not None
    assert score.success == score.successes.mean()
    assert score.scanpaths is None, "it sees everything, whatever it attends to"
    np.testing.assert_array_equal(evaluate_run(run, episodes=50).successes, score.successes)


@pytest.mark.parametrize("kind", MEMORY_KINDS)
def test_longer_tapes_are_answered_in_full(kind: str, tmp_path: Path) -> None:
    run = trained(tiny_config(kind, episodes=8), kind, tmp_path)
    assert evaluate_run(run, episodes=10, length=12, min_length=12).episodes == 10
    assert 0.0 <= validate_run(run)["validation/success"] <= 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_learns_in_the_precision_that_is_the_default_of_new_processors(
    kind: str,
) -> None:
    learner = learner_of(kind, tiny_config(kind, precision="bfloat16"))
    assert np.isfinite(learner.update(0.5)["gradient_norm"])
    learner.close()


def test_models_describe_themselves() -> None:
    """Name, attention and published model of each kind; all see everything and learn by label."""
    described = {
        "content": ("Soft tiles by content LSTM", "soft", ""),
        "location": ("Soft tiles LSTM", "soft", ""),
        "draw": ("Soft DRAW window LSTM", "soft", "DRAW"),
        "retina": ("Soft retina LSTM", "soft", ""),
        "affine": ("Full view spatial transformer", "none", "spatial transformer"),
        "attention": (
            "Full view spatial transformer, attention",
            "none",
            "spatial transformer",
        ),
        "captioner": ("Soft captioner LSTM", "soft", ""),
        "pointer": ("Soft pointer", "soft", ""),
        "strong": ("Full view strong", "none", "strong"),
        "conv": ("Full view conv", "none", "conv"),
        "dense": ("Full view dense", "none", "dense"),
        "sampling": ("Attention sampling", "hard", "attention sampling"),
        "selection": ("Patch selection", "soft", "IPS"),
        "lstm": ("Full view LSTM without memory", "none", ""),
        "ntm": ("Soft NTM LSTM", "soft", "NTM"),
        "soft": ("Soft key-value LSTM", "soft", ""),
        "hard": ("Hard key-value LSTM", "hard", ""),
        "soft_to_hard": ("Soft-to-hard key-value LSTM", "soft_to_hard", ""),
    }
    for kind in KINDS:
        name, attention, reference = described[kind]
        expected = Model(name, "everything", "label", attention, reference_kind=reference)  # type: ignore[arg-type]
        assert model_of(kind).model == expected


def test_a_learner_describes_its_model() -> None:
    learner = learner_of("hard", tiny_config("hard"))
    assert learner.model == learner.policy.model
    assert learner.model.name == "Hard key-value LSTM"


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
        ("draw", {"env_id": "Glimpse/Copy-v0", "env_kwargs": {}}, "Copy-v0 hides no picture"),
        ("affine", {"transform": "thin"}, "transform='thin' must be one of 'affine'"),
        ("affine", {"size": 0}, "size=0 must be at least 1"),
        ("affine", {"first_scale": 0.0}, "first_scale=0.0 must be above 0"),
        ("affine", DESCRIBED, "DescribeSceneGlyphs-v0 asks for a description, word by word"),
        (
            "affine",
            POINTED,
            "SearchGlyphs-v0 asks for a place and no answer; of the baselines pointer",
        ),
        (
            "pointer",
            {"env_id": CENTRED, "env_kwargs": {}},
            "does not ask for a place alone; Glimpse",
        ),
        ("pointer", {"key_units": 0}, "key_units=0 must be at least 1"),
        ("captioner", {"word_units": 0}, "word_units=0 must be at least 1"),
        ("captioner", {"doubly_stochastic": -1.0}, "doubly_stochastic=-1.0 must be at least 0"),
        ("captioner", {"env_id": CENTRED}, "CenteredGlyphs-v0 asks for no description"),
        (
            "captioner",
            {"env_id": "Glimpse/DigitSequenceGlyphs-v0"},
            "DigitSequenceGlyphs-v0 asks for no description of a picture",
        ),
        ("captioner", {"env_id": "Glimpse/Copy-v0"}, "Copy-v0 asks for no description"),
        ("strong", {"kind": "stronger"}, "kind='stronger' must be one of 'strong'"),
        ("strong", {"stages": 0}, "stages=0 must be at least 1"),
        ("strong", {"stages": 7}, "stages=7 must be at most"),
        (
            "conv",
            {"env_id": CIRCLE_SQUARE, "env_kwargs": {"scene_size": 9}},
            "kind='conv' has filters of 10x10; the scene has 9x9 pixels",
        ),
        ("dense", {"supervise": "some"}, "supervise='some' must be one of 'scored', 'all'"),
        ("dense", {"learning_rate": 0.0}, "learning_rate=0.0 must be above 0"),
        ("dense", {"env_kwargs": {"tiles": 4}}, "env_kwargs: tiles cannot be set here"),
        ("ntm", {"width": 0}, "width=0 must be at least 1"),
        ("soft", {"addressing": "random"}, "addressing='random' must be one of 'soft', 'hard'"),
        ("soft", {"key_units": 0}, "key_units=0 must be at least 1"),
        ("soft", {"temperature": 0.0}, "temperature=0.0 must be above 0"),
        ("soft", {"score": "sum"}, "score='sum' must be one of 'dot'"),
        ("soft", {"address_bits": 0}, "address_bits=0 must be at least 1"),
        ("soft", {"address_bits": 64}, "address_bits=64 must be at most 32"),
        ("lstm", {"env_id": CENTRED, "env_kwargs": {}}, "hides no tape, table or text"),
    ],
)
def test_a_bad_config_is_refused_by_name(
    kind: str, changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=named):
        trained(tiny_config(kind, **changes), kind, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.learning
def test_the_command_trains_and_the_agents_command_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    options = ["--env-id", CENTRED, "--episodes", "64", "--batch-size", "32", "--attention"]
    main(["soft_tiles", *options, "location", "--env-kwargs", "budget=3", "--run", folder])
    evaluate_main([folder, "--episodes", "20"])
    printed = capsys.readouterr().out
    assert f"evaluate it: python -m agents.evaluate {folder}" in printed
    line = next(line for line in printed.splitlines() if "by glimpse" in line)
    assert len(line.split()) == 2 + 3


def test_the_command_trains_on_tapes(tmp_path: Path) -> None:
    options = ["--env-kwargs", "length=1", "symbols=2", "--episodes", "4", "--batch-size", "2"]
    main(["lstm_memory", "--run", str(tmp_path / "run"), *options, "--network.core-units", "4"])
    assert load_policy(tmp_path / "run").model.name == "Full view LSTM without memory"


def test_an_unknown_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["hard_tiles"])
    assert ended.value.code == 2
    assert "'hard_tiles' must be one of soft_tiles, gaussian_window" in capsys.readouterr().err
