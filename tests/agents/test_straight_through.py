"""Forward a sampled tile, backward the relaxed one."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.algorithms.straight_through import (
    StraightThrough,
    StraightThroughConfig,
    episode_losses,
    gumbel_noise,
    tile_weights,
)
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import evaluate_run
from agents.train import train_agent
from glimpse_envs.evaluation.record import Model
from tests.support.marks import first_is_quick
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.sequences import SCENE, TILES, gradient, make_env, make_policy
from tests.support.tile_episodes import (
    REFUSED,
    REFUSED_TASKS,
    TILED,
    assert_close,
    enumerable_episodes,
    watched,
)
from tests.support.trainings import trained


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tiny_config(**changes: Any) -> StraightThroughConfig:
    """Twelve updates of eight episodes on built-in digits, seen through four tiles."""
    return StraightThroughConfig(**{**TILED, **changes})


# --- the sample -----------------------------------------------------------------------------------


def test_tiles_are_sampled_as_the_policy_says() -> None:
    rows, logits = 20_000, torch.tensor([0.3, -1.2, 2.0, 0.0])
    noise = gumbel_noise(logits.expand(rows, -1), seeded())
    weights = tile_weights(logits.expand(rows, -1), noise, temperature=3.0, hard=True)
    assert set(weights.flatten().tolist()) == {0.0, 1.0}
    assert (weights.sum(dim=1) == 1).all()
    chances = logits.softmax(dim=0)
    error = (chances * (1 - chances) / rows).sqrt()
    assert ((weights.mean(dim=0) - chances).abs() < 4 * error).all()


def test_gumbel_noise_has_gumbels_mean_and_deviation() -> None:
    noise = gumbel_noise(torch.empty(200_000), seeded())
    assert noise.mean().item() == pytest.approx(np.euler_gamma, abs=0.02)
    assert noise.std().item() == pytest.approx(math.pi / math.sqrt(6), abs=0.02)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_hard_weights_have_the_gradient_of_relaxed_ones(temperature: float) -> None:
    logits = torch.randn(5, 4, generator=seeded(), dtype=torch.float64).requires_grad_()
    noise, worth = gumbel_noise(logits, seeded(1)), torch.arange(4.0).double() ** 2
    hard, relaxed = (tile_weights(logits, noise, temperature, h) for h in (True, False))
    first, second = (torch.autograd.grad((w @ worth).sum(), logits)[0] for w in (hard, relaxed))
    assert torch.equal(first, second)
    # Of softmax(x / τ), the gradient of Σ y_a c_a is y_a (c_a - Σ y c) / τ.
    y = ((logits + noise) / temperature).softmax(dim=1)
    assert_close(first, (y * (worth - (y @ worth)[:, None]) / temperature).detach())


def test_relaxed_weights_tend_to_the_sample_when_cold_and_to_the_mean_when_hot() -> None:
    logits = torch.randn(50, 4, generator=seeded())
    noise = gumbel_noise(logits, seeded(1))
    sample = tile_weights(logits, noise, 1.0, hard=True)
    torch.testing.assert_close(tile_weights(logits, noise, 1e-5, hard=False), sample)
    even = torch.full_like(sample, 1 / 4)
    torch.testing.assert_close(tile_weights(logits, noise, 1e6, hard=False), even)


# --- episodes -------------------------------------------------------------------------------------


def test_what_is_shown_are_the_environments_glimpses_at_the_sampled_tiles() -> None:
    rows = 32
    policy, episodes = make_policy(TILED["network"]), enumerable_episodes(rows)
    with watched(policy) as observations:
        episode_losses(policy, episodes, 1.0, True, seeded())
    env = make_env(rows)
    expected, _ = env.reset(options=SCENE)
    tiles = [(o["location"][:, None] == episodes.locations).all(dim=2) for o in observations]
    assert all((found.sum(dim=1) == 1).all() for found in tiles)
    assert len(set(tiles[1].int().argmax(dim=1).tolist())) > 1, "rows should look at various tiles"
    for step, observation in enumerate(observations):
        if step:
            look = tiles[step].int().argmax(dim=1).numpy()
            expected, *_ = env.step({"look": look, "answer": 0 * look})
        for name, value in observation.items():
            assert torch.equal(value, torch.as_tensor(expected[name]).double()), (step, name)


def test_a_low_precision_does_not_blur_what_is_shown() -> None:
    learner = StraightThrough(tiny_config(precision="bfloat16"))
    episodes = learner.deal()
    with watched(learner.policy) as observations, torch.autocast("cpu", dtype=torch.bfloat16):
        episode_losses(learner.policy, episodes, 1.0, True, learner.generator)
    for observation in observations:
        alike = (observation["glimpse"][:, None] == episodes.glimpses).flatten(2).all(dim=2)
        assert alike.any(dim=1).all()


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_the_gradient_of_one_look_by_hand(temperature: float) -> None:
    """What is seen next is a constant, but for dL/dy_a, which is what tile a would have changed
    (dL/dglimpse g_a + dL/dlocation x_a), times the relaxed weights."""
    policy, episodes = make_policy(TILED["network"], budget=2), enumerable_episodes(budget=2)
    outcome = episode_losses(policy, episodes, temperature, True, seeded())
    found = gradient(outcome.losses["answer"].sum(), policy)

    start = episodes.shown(episodes.pick(episodes.first), taken=1)
    decision, state = policy(start, policy.initial_state(1))
    logits = decision.heads["look"].logits
    perturbed = logits + gumbel_noise(logits, seeded())
    seen = episodes.shown(episodes.pick(perturbed.argmax(dim=1)), taken=2)
    seen = {name: value.clone().requires_grad_() for name, value in seen.items()}
    last, _ = policy(seen, state)
    loss = -last.heads["answer"].log_prob(episodes.targets).sum()
    by_glimpse, by_location = torch.autograd.grad(
        loss, [seen["glimpse"], seen["location"]], retain_graph=True
    )
    worth = (by_glimpse[:, None] * episodes.glimpses).sum(dim=(2, 3, 4))
    worth = worth + by_location @ episodes.locations.T
    relaxed = (perturbed / temperature).softmax(dim=1)
    assert_close(found, gradient(loss + (worth * relaxed).sum(), policy))
    assert found.norm() > 0


@pytest.mark.parametrize(("reward", "pays"), [("final", [0, 0, 1]), ("dense", [1 / 3] * 3)])
def test_answers_count_by_what_they_pay(reward: str, pays: list[float]) -> None:
    policy, episodes = (
        make_policy(TILED["network"], reward=reward),
        enumerable_episodes(7, reward=reward),
    )
    with watched(policy) as observations:
        outcome = episode_losses(policy, episodes, 1.0, True, seeded())
    state, missed, entropy = policy.initial_state(7), torch.zeros(7), torch.zeros(7)
    for step, observation in enumerate(observations):
        decision, state = policy(observation, state)
        log_p = decision.heads["answer"].logits.log_softmax(dim=1)
        missed = missed - pays[step] * log_p.gather(1, episodes.targets[:, None])[:, 0]
        right = (log_p.argmax(dim=1) == episodes.targets).double()
        assert torch.equal(outcome.right[step], right)
        if step < 2:
            entropy = entropy + decision.heads["look"].entropy()
    torch.testing.assert_close(outcome.losses["answer"], missed)
    torch.testing.assert_close(outcome.losses["entropy"], entropy)


@pytest.mark.parametrize("hard", [True, False])
def test_the_look_is_learned_and_the_baseline_is_not(hard: bool) -> None:
    policy = make_policy(TILED["network"])
    losses = episode_losses(policy, enumerable_episodes(), 1.0, hard, seeded()).losses
    assert gradient(losses["answer"].sum(), policy, "heads.look", keep=True).any()
    assert not gradient(losses["answer"].sum(), policy, "baseline", keep=True).any()


def test_without_a_look_there_is_an_answer_still() -> None:
    policy, episodes = make_policy(TILED["network"], budget=1), enumerable_episodes(3, budget=1)
    outcome = episode_losses(policy, episodes, 1.0, True, seeded())
    assert outcome.right.shape == (1, 3)
    assert not outcome.losses["entropy"].any()
    assert gradient(outcome.losses["answer"].sum(), policy).any()


# --- the learner ----------------------------------------------------------------------------------


def test_first_tiles_are_uniform_and_shared_by_copies() -> None:
    learner = StraightThrough(tiny_config(batch_size=4000, copies=2))
    episodes = learner.deal()
    first, second = episodes.first.view(-1, 2).T
    assert torch.equal(first, second)
    assert torch.equal(*episodes.targets.view(-1, 2).T)
    counts = first.bincount(minlength=TILES)
    assert ((counts - 500).abs() < 4 * math.sqrt(2000 * 0.25 * 0.75)).all()
    glimpses = episodes.glimpses.view(-1, 2, *episodes.glimpses.shape[1:])
    assert torch.equal(glimpses[:, 0], glimpses[:, 1])


def test_the_temperature_falls_log_linearly() -> None:
    learner = StraightThrough(tiny_config(temperature=4.0, final_temperature=0.25))
    found = [learner.update(progress)["temperature"] for progress in (0.0, 0.25, 0.5, 1.0)]
    assert found == pytest.approx([4.0, 2.0, 1.0, 0.25])


def test_an_update_descends_the_weighted_sum() -> None:
    config = tiny_config(temperature=2.0, final_temperature=2.0, entropy_weight=0.05,
                         max_gradient_norm=1e9, hard=False)  # fmt: skip
    learner, twin = StraightThrough(config), StraightThrough(config)
    learner.update(progress=0.5)
    losses = episode_losses(twin.policy, twin.deal(), 2.0, False, twin.generator).losses
    expected = gradient((losses["answer"] - 0.05 * losses["entropy"]).mean(), twin.policy)
    grads = [
        torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten()
        for p in learner.policy.parameters()
        if p.requires_grad
    ]
    torch.testing.assert_close(torch.cat(grads), expected)


RUNS: dict[str, StraightThroughConfig] = {
    "hard": tiny_config(),
    "relaxed": tiny_config(hard=False, precision="bfloat16", entropy_weight=0.01),
    "dense": tiny_config(copies=4, env_kwargs={**tiny_config().env_kwargs, "reward": "dense"}),
}


@pytest.mark.learning
@pytest.mark.parametrize("name", first_is_quick(RUNS))
def test_equal_seeds_give_equal_runs_and_a_run_resumed_is_the_unbroken_run(
    name: str, tmp_path: Path
) -> None:
    assert_repeats_and_resumes(StraightThrough, RUNS[name], tmp_path)


@pytest.mark.learning
@pytest.mark.parametrize(
    ("hard", "name"),
    [
        (True, "Straight-through LSTM, trained on all tiles"),
        (False, "Concrete LSTM, trained on all tiles"),
    ],
)
def test_a_run_is_scored_one_glimpse_at_a_time(hard: bool, name: str, tmp_path: Path) -> None:
    config = tiny_config(hard=hard)
    run = train_agent("straight_through", config, tmp_path / "run", progress_bar=False)
    evaluation = evaluate_run(run, episodes=50)
    record = make_record(run, [evaluation])
    assert record.model == Model(name, sees="privileged")
    assert record.budget == len(record.headline.success_by_glimpse) == 3


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_another_task_than_the_one_that_is_scored_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    kwargs = {**tiny_config().env_kwargs, **changes}
    with pytest.raises(ValueError, match=f"^straight_through .*{message}"):
        trained(StraightThrough, tiny_config(env_kwargs=kwargs), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("name", "message"), REFUSED_TASKS)
def test_more_than_a_still_picture_that_is_answered_once_is_refused(
    name: str, message: str
) -> None:
    config = tiny_config(env_id=f"Glimpse/{name}-v0", env_kwargs={"look": "tiles"})
    with pytest.raises(ValueError, match=f"^straight_through reads all tiles .*{message}"):
        StraightThrough(config)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0.0}, "temperature=0.0 must be above 0"),
        ({"final_temperature": -1.0}, "final_temperature=-1.0 must be above 0"),
        ({"temperature": np.inf}, "temperature=inf must be above 0 and finite"),
        ({"entropy_weight": np.nan}, "entropy_weight=nan must be finite"),
    ],
)
def test_a_config_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StraightThrough(tiny_config(**changes))
