"""The learner of exact sums: its runs, its metrics, and what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

import agents.algorithms.exact
from agents.algorithms.exact import (
    OBJECTIVES,
    Exact,
    ExactConfig,
    all_paths_losses,
    next_tile_losses,
)
from agents.algorithms.tile_learner import TileLosses
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import evaluate_run
from agents.train import train_agent
from glimpse_envs.evaluation.record import Model
from glimpse_envs.tasks.pictures.classification import ImageClassification
from tests.support.marks import first_is_quick
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.sequences import (
    gradient,
)
from tests.support.tile_episodes import REFUSED, REFUSED_TASKS, TILED
from tests.support.trainings import trained


def tiny_config(**changes: Any) -> ExactConfig:
    """Twelve updates of eight episodes on built-in digits, seen through four tiles."""
    return ExactConfig(**{**TILED, **changes})


RUNS: dict[str, ExactConfig] = {
    "next": tiny_config(),
    "all": tiny_config(paths="all", entropy_weight=0.01),
    "dense": tiny_config(
        objective="marginal_likelihood",
        env_kwargs={**tiny_config().env_kwargs, "reward": "dense"},
    ),
    "copies": tiny_config(copies=4, objective="expected_reward", precision="bfloat16"),
}


@pytest.mark.learning
@pytest.mark.parametrize("name", first_is_quick(RUNS))
def test_equal_seeds_give_equal_runs_and_a_run_resumed_is_the_unbroken_run(
    name: str, tmp_path: Path
) -> None:
    assert_repeats_and_resumes(Exact, RUNS[name], tmp_path)


@pytest.mark.learning
def test_a_run_is_scored_one_glimpse_at_a_time(tmp_path: Path) -> None:
    run = train_agent("exact", tiny_config(), tmp_path / "run", progress_bar=False)
    evaluation = evaluate_run(run, episodes=50)
    record = make_record(run, [evaluation])
    assert record.model == Model("Exact LSTM, trained on all tiles", sees="privileged")
    assert record.budget == len(record.headline.success_by_glimpse) == 3


def test_metrics_are_of_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    kwargs = {**tiny_config().env_kwargs, "reward": "dense"}
    learner = Exact(tiny_config(paths="all", batch_size=64, env_kwargs=kwargs))
    outcomes: list[TileLosses] = []

    def remember(*arguments: Any) -> TileLosses:
        outcomes.append(all_paths_losses(*arguments))
        return outcomes[-1]

    monkeypatch.setattr(agents.algorithms.exact, "all_paths_losses", remember)
    metrics = learner.update(progress=0.5)
    right = outcomes[0].right
    assert right.shape == (3, 64)
    assert metrics["error"] == pytest.approx(1 - right[-1].mean().item())
    assert metrics["return"] == pytest.approx(right.mean().item())
    assert metrics["glimpses"] == 3.0


def test_an_update_descends_the_weighted_sum() -> None:
    config = tiny_config(baseline_weight=0.7, entropy_weight=0.05, max_gradient_norm=1e9)
    learner, twin = Exact(config), Exact(config)
    learner.update(progress=0.5)
    losses = next_tile_losses(twin.policy, twin.deal(), OBJECTIVES["hybrid"], twin.generator).losses
    total = losses["objective"] + 0.7 * losses["baseline"] - 0.05 * losses["entropy"]
    expected = gradient(total.mean(), twin.policy)
    grads = [p.grad.flatten() for p in learner.policy.parameters() if p.grad is not None]
    torch.testing.assert_close(torch.cat(grads), expected)


def test_a_task_that_always_has_a_stop_is_refused_in_other_words(tmp_path: Path) -> None:
    config = tiny_config(env_id="Glimpse/SearchGlyphs-v0", env_kwargs={"look": "tiles"})
    with pytest.raises(ValueError, match="SearchGlyphs-v0 always has stop=True: choose another"):
        trained(Exact, config, tmp_path / "run")


def test_a_tape_is_refused_as_no_picture() -> None:
    with pytest.raises(ValueError, match="exact is for pictures, and Glimpse/Copy-v0 hides none"):
        Exact(tiny_config(env_id="Glimpse/Copy-v0", env_kwargs={}))


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_another_task_than_the_one_that_is_scored_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    kwargs = {**tiny_config().env_kwargs, **changes}
    with pytest.raises(ValueError, match=f"^exact .*{message}"):
        trained(Exact, tiny_config(env_kwargs=kwargs), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("name", "message"), REFUSED_TASKS)
def test_more_than_a_still_picture_that_is_answered_once_is_refused(
    name: str, message: str
) -> None:
    config = tiny_config(env_id=f"Glimpse/{name}-v0", env_kwargs={"look": "tiles"})
    with pytest.raises(ValueError, match=f"^exact reads all tiles .*{message}"):
        Exact(config)


def test_what_is_shown_beside_glimpses_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    question = spaces.Box(0.0, 1.0, (3,), np.float32)
    monkeypatch.setattr(ImageClassification, "_further_parts", lambda _: {"question": question})
    with pytest.raises(ValueError, match="but Glimpse/CenteredGlyphs-v0 also shows question"):
        Exact(tiny_config())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": "likelihood"}, "objective='likelihood' must be one of 'hybrid', "),
        ({"paths": "some"}, "paths='some' must be one of 'next', 'all'"),
        ({"paths": "all", "max_paths": 15}, r"4\*\*2 = 16 paths a scene, more than max_paths=15"),
        ({"max_paths": 0}, "max_paths=0 must be at least 1"),
        ({"baseline_weight": np.nan}, "baseline_weight=nan must be at least 0"),
        ({"paths": "all", "baseline_weight": 1.0}, "baseline_weight=1.0 has no effect without"),
        ({"max_paths": 17}, "max_paths=17 has no effect without paths='all'"),
        ({"entropy_weight": np.inf}, "entropy_weight=inf must be finite"),
    ],
)
def test_a_config_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Exact(tiny_config(**changes))


def test_as_many_paths_as_allowed_are_followed() -> None:
    assert Exact(tiny_config(paths="all", max_paths=16)).update(0.5)["glimpses"] == 3.0


def test_a_policy_that_is_nan_is_named() -> None:
    learner = Exact(tiny_config())
    with torch.no_grad():
        next(learner.policy.heads["look"].parameters()).fill_(np.nan)
    with pytest.raises(FloatingPointError, match="the policy's look is not finite"):
        learner.update(progress=0.5)
