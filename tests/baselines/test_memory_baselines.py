"""Every baseline of tapes and tables learns, survives kills and is scored as the agents are."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from agents.evaluate import evaluate_run
from agents.scoring.memory_evaluation import solved_share
from baselines.memories.memory_learner import MemoryLearner
from baselines.memories.memory_model import Answers, MemoryConfig, MemorySetting
from baselines.train import ALGORITHMS, MEMORY_MODELS, main
from glimpse_envs.evaluation.runs import load_policy
from tests.support.marks import first_is_quick
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import tiny_network
from tests.support.trainings import trained

Changes = dict[str, Any]

KINDS: dict[str, tuple[str, Changes]] = {
    "lstm": ("lstm_memory", {}),
    "ntm": ("ntm", {"cells": 8, "width": 8}),
    "soft": ("key_value_memory", {"key_units": 16, "value_units": 16}),
    "hard": ("key_value_memory", {"addressing": "hard", "key_units": 16, "value_units": 16}),
    "soft_to_hard": (
        "key_value_memory",
        {"addressing": "soft_to_hard", "key_units": 16, "value_units": 16, "feed": False},
    ),
}
"""Every kind of every model: its name in `MEMORY_MODELS`, and its config's fields."""
COPY: Changes = {"env_id": "Glimpse/Copy-v0", "env_kwargs": {"length": 2, "symbols": 2}}
RECALL: Changes = {
    "env_id": "Glimpse/AssociativeRecall-v0",
    "env_kwargs": {"keys": 3, "values": 3, "cells": 2, "length": 2},
}


def small_config(kind: str, /, **changes: Any) -> MemoryConfig:
    """Networks of a few seconds' training."""
    name, fields = KINDS[kind]
    network = tiny_network(core_units=32)
    config = MEMORY_MODELS[name].config_class(
        batch_size=64, learning_rate=1e-2, network=network, **{**COPY, **fields}
    )
    return replace(config, **changes)


def tiny_config(kind: str, /, **changes: Any) -> MemoryConfig:
    """Twelve updates of eight tapes; lines and checkpoints alternate."""
    config = small_config(kind, images=96, batch_size=8, log_every=3, checkpoint_every=4)
    return replace(config, **{"network": tiny_network(), **changes})


def learner_of(kind: str, config: MemoryConfig) -> MemoryLearner:
    return MemoryLearner(config, MEMORY_MODELS[KINDS[kind][0]])


def test_every_model_of_the_list_is_tested() -> None:
    assert {name for name, _ in KINDS.values()} == MEMORY_MODELS.keys()


@pytest.mark.learning
@pytest.mark.parametrize("task", [COPY, RECALL], ids=["copy", "recall"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_easy_is_learned_in_seconds(kind: str, task: Changes) -> None:
    """Pairs of which the query is not heeded leave one error in six."""
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
    make = ALGORITHMS[KINDS[kind][0]].make
    assert_repeats_and_resumes(make, tiny_config(kind), tmp_path)


@pytest.mark.parametrize("task", [COPY, RECALL], ids=["copy", "recall"])
@pytest.mark.parametrize("kind", first_is_quick(KINDS))
def test_a_run_is_scored_on_tapes_and_tables_wholly_right(
    kind: str, task: Changes, tmp_path: Path
) -> None:
    make = ALGORITHMS[KINDS[kind][0]].make
    run = trained(make, tiny_config(kind, **task), tmp_path)
    model = load_policy(tmp_path)
    assert isinstance(model, MEMORY_MODELS[KINDS[kind][0]])
    assert not model.training
    assert run.config["model"] == model.title
    score = evaluate_run(run, scenes=50, batch_size=20)
    assert score.accuracy == score.correct.mean()
    np.testing.assert_array_equal(evaluate_run(run, scenes=50).correct, score.correct)
    assert 0.0 <= solved_share(run) <= 1.0


@pytest.mark.parametrize("kind", first_is_quick(KINDS))
def test_longer_tapes_are_answered_in_full(kind: str, tmp_path: Path) -> None:
    make = ALGORITHMS[KINDS[kind][0]].make
    run = trained(make, tiny_config(kind, images=8), tmp_path)
    score = evaluate_run(run, scenes=10, length=12, min_length=12)
    assert score.scenes == 10


@pytest.mark.parametrize(
    ("env_id", "kwargs", "expected"),
    [
        ("Copy", {"length": 4}, (4, 4, 1.0)),
        ("RepeatCopy", {"length": 4, "repeats": 3}, (5, 12, 3.0)),
        ("DuplicatedInput", {"length": 4, "duplicates": 2}, (8, 4, 0.5)),
        ("Addition", {"length": 4}, (8, 5, 0.5)),
        ("PrioritySort", {"length": 4}, (4, 4, 1.0)),
    ],
)
def test_settings_are_those_of_longer_tapes_too(
    env_id: str, kwargs: Changes, expected: tuple[int, int, float]
) -> None:
    env_id = f"Glimpse/{env_id}-v0"
    setting = MemorySetting.of(env_id, kwargs)
    assert (setting.cells, setting.outputs, setting.outputs_per_cell) == expected
    longer = MemorySetting.of(env_id, {**kwargs, "length": 24})
    assert setting.steps(longer.cells) == longer.outputs
    assert setting.answers == longer.answers


def test_a_table_is_answered_once_after_its_hops() -> None:
    kwargs: Changes = {"cells": 8, "length": 3}
    setting = MemorySetting.of("Glimpse/PointerChase-v0", kwargs)
    assert (setting.cells, setting.outputs, setting.hops, setting.answers) == (8, None, 4, 17)
    with gym.make("Glimpse/PointerChase-v0", view="full", **kwargs) as env:
        assert env.observation_space["query"].shape == (setting.query,)  # type: ignore[index]
        assert env.observation_space["scene"].shape == (8, setting.features)  # type: ignore[index]


def test_pictures_are_refused() -> None:
    with pytest.raises(ValueError, match="hides neither tape nor table"):
        MemorySetting.of("Glimpse/CenteredGlyphs-v0", {})


@pytest.mark.parametrize("task", [COPY, RECALL], ids=["copy", "recall"])
def test_targets_are_those_of_what_is_shown(task: Changes) -> None:
    learner = learner_of("lstm", tiny_config("lstm", batch_size=64, **task))
    observation, targets, lengths = learner.deal()
    learner.close()
    symbols = observation["scene"].argmax(dim=-1)  # (B, N)
    if task is COPY:
        assert torch.equal(targets, symbols.T)
        assert torch.equal(lengths, (symbols > 0).sum(dim=1))
        return
    asked = observation["query"].argmax(dim=1)
    pairs = observation["scene"]
    keys, values = pairs[..., :4].argmax(dim=-1), pairs[..., 4:].argmax(dim=-1)
    row, pair = (keys == asked[:, None]).nonzero(as_tuple=True)
    assert torch.equal(row, torch.arange(64))
    assert torch.equal(targets[0], values[row, pair])


@pytest.mark.learning
def test_a_curriculum_is_told_what_is_solved() -> None:
    config = tiny_config("lstm", curriculum="threshold", batch_size=64)
    learner = learner_of("lstm", config)
    levels = learner.env.unwrapped.level_distribution  # type: ignore[attr-defined]
    for _ in range(10):
        learner.deal()
        learner.record_solved(torch.ones(64, dtype=torch.int64), torch.ones(64, dtype=torch.bool))
    assert levels.present == 2
    lengths = torch.cat([learner.deal()[2] for _ in range(3)])
    learner.close()
    assert set(lengths.tolist()) == {1, 2}


class Answering(MemoryLearner):
    """Of eight tapes all is answered rightly but one symbol of the first."""

    def deal(self) -> tuple[dict[str, Tensor], Tensor, Tensor]:
        dealt = super().deal()
        logits = F.one_hot(dealt[1], 3).float()
        logits[1, 0] = logits[1, 0].roll(1)
        said = Answers(logits.requires_grad_())
        self.policy.register_forward_hook(lambda *_: said)
        return dealt


def test_the_whole_of_an_answer_must_be_right() -> None:
    learner = Answering(tiny_config("lstm"), MEMORY_MODELS["lstm_memory"])
    assert learner.update(0.0)["error"] == pytest.approx(1 / 8)
    learner.close()


def test_titles_tell_what_is_seen() -> None:
    titles = [learner_of(kind, tiny_config(kind)).name for kind in KINDS]
    assert titles == [
        "Full view LSTM without memory",
        "Soft NTM LSTM",
        "Soft key-value LSTM",
        "Hard key-value LSTM",
        "Soft-to-hard key-value LSTM",
    ]


def test_the_command_line_knows_them(tmp_path: Path) -> None:
    told = ["--env-kwargs", "length=1", "symbols=2", "--images", "4", "--batch-size", "2"]
    folder = tmp_path / "run"
    main(["lstm_memory", "--run", str(folder), *told, "--network.core-units", "4"])
    assert load_policy(folder).title == "Full view LSTM without memory"
