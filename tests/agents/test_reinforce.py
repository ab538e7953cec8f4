"""REINFORCE's gradient is the exact sum over all action sequences of a tiny task."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from agents.algorithms.reinforce import Reinforce, ReinforceConfig, episode_losses
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.glimpse_policy import GlimpsePolicy
from tests.support.episodes import CIRCLE_SQUARE
from tests.support.sequences import (
    CLASSES,
    REWARDS,
    SCENE,
    TASK,
    TOLERANCE,
    Exact,
    Sequences,
    assert_exact,
    enumerate_sequences,
    forced,
    gradient,
    make_env,
    make_policy,
    play_exactly,
    right_answer,
)
from tests.support.tiny import tiny_config, tiny_network


def set_baseline(policy: GlimpsePolicy, kind: str) -> None:
    last = policy.baseline[-1]
    assert isinstance(last, torch.nn.Linear)
    if kind != "learned":
        with torch.no_grad():
            last.weight.zero_()
            last.bias.fill_({"zero": 0.0, "constant": 3.7}[kind])


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("baseline", ["learned", "constant", "zero"])
def test_pure_reward_follows_the_gradient_of_the_expected_reward(
    reward: str, baseline: str
) -> None:
    kwargs = REWARDS[reward]
    policy = make_policy(tiny_network(detach_heads=False), **kwargs)
    set_baseline(policy, baseline)
    sequences = enumerate_sequences(CLASSES, **kwargs)
    exact = play_exactly(policy, sequences, greedy=False, **kwargs)
    expected = gradient(-(exact.probability * exact.reward).sum(), policy)

    env = make_env(len(exact.reward), **kwargs)
    trajectory = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    loss = episode_losses(trajectory, tiny_config(answer_by="reward"))["policy"]
    assert_exact(gradient((exact.probability.detach() * loss).sum(), policy), expected)


@pytest.mark.parametrize("reward", ["final", "dense", "stop"])
@pytest.mark.parametrize("baseline", ["learned", "constant", "zero"])
def test_the_hybrid_follows_the_gradient_of_the_expected_cross_entropy(
    reward: str, baseline: str
) -> None:
    # A price of glimpses would be part of what looks are rewarded with.
    kwargs = {**REWARDS[reward], "glimpse_cost": 0.0}
    policy = make_policy(tiny_network(detach_heads=False), **kwargs)
    set_baseline(policy, baseline)
    exact, losses = enumerated_hybrid(policy, "log_likelihood", **kwargs)
    expected = gradient((exact.probability * exact.cross_entropy).sum(), policy)
    total = losses["answer"] + losses["policy"]
    assert_exact(gradient((exact.probability.detach() * total).sum(), policy), expected)


@pytest.mark.parametrize("baseline", ["learned", "constant", "zero"])
def test_the_hybrid_stops_gradients_where_it_says(baseline: str) -> None:
    policy = make_policy(tiny_network(detach_heads=True))
    set_baseline(policy, baseline)
    exact, losses = enumerated_hybrid(policy, "log_likelihood")
    weight = exact.probability.detach()
    total = (weight * (losses["answer"] + losses["policy"])).sum()

    whole = (exact.probability * exact.cross_entropy).sum()
    assert_exact(
        gradient(total, policy, "heads.look", keep=True),
        gradient(whole, policy, "heads.look", keep=True),
    )
    by_the_answer = (weight * exact.cross_entropy).sum()
    for part in ("core", "glimpse_network", "heads.answer"):
        assert_exact(
            gradient(total, policy, part, keep=True),
            gradient(by_the_answer, policy, part, keep=True),
        )
    assert not gradient(total, policy, "baseline", keep=True).any()
    regression = (weight * losses["baseline"]).sum()
    assert gradient(regression, policy, "baseline", keep=True).any()
    assert not gradient(regression, policy, "core", keep=True).any()


@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize(
    ("signal", "gain"),
    [
        ("reward", False),
        ("probability", False),
        ("probability", True),
        ("log_likelihood", False),
        ("log_likelihood", True),
    ],
)
@pytest.mark.parametrize("reward", ["final", "dense"])
def test_looks_follow_what_they_are_rewarded_with(
    reward: str, signal: str, gain: bool, detach: bool
) -> None:
    """By its gain they are paid as much in expectation, whatever they are paid for."""
    kwargs = REWARDS[reward]
    policy = make_policy(tiny_network(detach_heads=detach), **kwargs)
    exact, losses = enumerated_hybrid(policy, signal, gain, **kwargs)
    earned = exact.reward if signal == "reward" else -exact.cross_entropy
    if signal == "probability":
        earned = exact_probability_of_the_target(policy, **kwargs)
    expected = gradient(-(exact.probability * earned.detach()).sum(), policy, "heads.look")
    found = gradient((exact.probability.detach() * losses["policy"]).sum(), policy, "heads.look")
    assert_exact(found, expected)


def enumerated_hybrid(
    policy: GlimpsePolicy, signal: str, gain: bool = False, **kwargs: Any
) -> tuple[Exact, dict[str, Tensor]]:
    """What is exact, and our losses, of every sequence with greedy answers."""
    sequences = enumerate_sequences(1, **kwargs)
    exact = play_exactly(policy, sequences, greedy=True, **kwargs)
    env = make_env(len(exact.reward), **kwargs)
    trajectory = play_episodes(env, policy, forced(sequences, greedy=True), options=SCENE)
    return exact, episode_losses(trajectory, tiny_config(look_signal=signal, look_gain=gain))


def exact_probability_of_the_target(policy: GlimpsePolicy, **kwargs: Any) -> Tensor:
    """The mean probability (N,) that each sequence of looks gives the right answer."""
    sequences, target = enumerate_sequences(1, **kwargs), right_answer(**kwargs)
    env = make_env(len(sequences.counted[0]), **kwargs)
    trajectory = play_episodes(env, policy, forced(sequences, greedy=True), options=SCENE)
    chances = torch.stack([d.heads["answer"].logits.softmax(-1) for d in trajectory.decisions])  # type: ignore[attr-defined]
    counted = sequences.counted
    return (chances[:, :, target] * counted).sum(dim=0) / counted.sum(dim=0)


def test_the_entropy_of_a_look_is_paid_up_to_its_floor() -> None:
    policy, sequences = make_policy(tiny_network()), enumerate_sequences(1)
    env = make_env(len(sequences.counted[0]))
    trajectory = play_episodes(env, policy, forced(sequences, greedy=True), options=SCENE)
    entropies = trajectory.stack("look", "entropy")[trajectory.continuing].detach()
    floor = entropies.median().item()
    assert entropies.min() < floor < entropies.max()

    def paid(floor: float | None) -> Tensor:
        losses = episode_losses(trajectory, tiny_config(entropy_floor=floor))
        torch.testing.assert_close(losses["entropy"].sum().detach(), entropies.sum())
        return losses["entropy" if floor is None else "entropy_paid"].sum()

    expected = torch.where(entropies < floor, entropies, floor).sum()
    torch.testing.assert_close(paid(floor).detach(), expected)
    assert torch.equal(paid(100.0), paid(None))
    looks, kept = "heads.look", True
    assert gradient(paid(floor), policy, looks, keep=kept).any()
    assert not gradient(paid(entropies.min().item() / 2), policy, looks, keep=kept).any()


@pytest.mark.learning
@pytest.mark.parametrize(
    ("answer_by", "kwargs"),
    [("reward", {}), ("label", {}), ("reward", REWARDS["dense_stop"])],
    ids=["reward", "label", "dense_stop"],
)
def test_a_sampled_mean_lies_within_four_standard_errors(
    answer_by: Any, kwargs: dict[str, Any]
) -> None:
    rows = 4000
    learner = Reinforce(
        ReinforceConfig(
            env_id=CIRCLE_SQUARE, env_kwargs={**TASK, **kwargs}, batch_size=1, answer_by=answer_by
        )
    )
    policy = make_policy(tiny_network(detach_heads=False), **kwargs)
    greedy = answer_by == "label"

    def per_sequence(trajectory: Trajectory) -> Tensor:
        losses = episode_losses(trajectory, tiny_config(answer_by=answer_by))
        return losses["policy"] + losses["answer"] if greedy else losses["policy"]

    sequences = enumerate_sequences(1 if greedy else CLASSES, **kwargs)
    chances = play_exactly(policy, sequences, greedy, **kwargs).probability.detach()[:, None]
    env = make_env(len(chances), **kwargs)
    losses = per_sequence(play_episodes(env, policy, forced(sequences, greedy), options=SCENE))
    gradients = torch.stack([gradient(loss, policy, keep=True) for loss in losses])  # (N, P)
    expected = (chances * gradients).sum(dim=0)
    variance = (chances * (gradients - expected) ** 2).sum(dim=0)

    env = make_env(rows, **kwargs)
    sampled = per_sequence(play_episodes(env, policy, learner.choose, options=SCENE)).mean()
    error = (gradient(sampled, policy) - expected).abs()
    assert (variance > 0).any()
    assert (error <= 4 * (variance / rows).sqrt() + TOLERANCE).all()


@pytest.mark.parametrize("reward", ["final", "stop"])
def test_what_has_no_effect_is_not_learned_from(reward: str) -> None:
    kwargs = REWARDS[reward]
    policy = make_policy(tiny_network(), **kwargs)
    sequences = enumerate_sequences(CLASSES, **kwargs)
    others = {
        name: torch.where(sequences.effective[name], values, 1)
        for name, values in sequences.actions.items()
    }
    changed = replace(sequences, actions=others)
    env = make_env(len(sequences.counted[0]), **kwargs)
    results = []
    for each in (sequences, changed):
        env.reset(seed=5)
        trajectory = play_episodes(env, policy, forced(each, greedy=False), options=SCENE)
        results.append(episode_losses(trajectory, tiny_config(answer_by="reward")))
    for name, values in results[0].items():
        assert torch.equal(values, results[1][name]), name


@pytest.mark.parametrize("signal", ["probability", "log_likelihood"])
def test_answers_learned_by_reward_are_paid_in_reward(signal: str) -> None:
    policy, sequences = make_policy(tiny_network()), enumerate_sequences(CLASSES)
    env = make_env(len(sequences.counted[0]))
    trajectory = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    losses = episode_losses(trajectory, tiny_config(answer_by="reward", look_signal=signal))
    expected = episode_losses(trajectory, tiny_config(answer_by="reward"))
    assert torch.equal(losses["policy"], expected["policy"])


def test_the_losses_by_hand() -> None:
    """One row, two steps, dense: each loss from the numbers that it is made of."""
    policy = make_policy(tiny_network(), reward="dense", budget=2)
    env, target = make_env(1, reward="dense", budget=2), right_answer()
    plan = {"look": torch.tensor([[2], [0]]), "answer": torch.tensor([[target], [1 - target]])}
    sequences = Sequences(plan, effective={}, counted=torch.ones(2, 1, dtype=torch.bool))
    trajectory = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    losses = {
        name: loss.item()
        for name, loss in episode_losses(trajectory, tiny_config(answer_by="reward")).items()
    }

    first, second = trajectory.decisions
    log = [{n: h.logits.log_softmax(-1)[0] for n, h in d.heads.items()} for d in (first, second)]  # type: ignore[attr-defined]
    advantages = [0.5 - first.value.item(), 0.0 - second.value.item()]
    assert losses["policy"] == pytest.approx(
        -(log[0]["look"][2] + log[0]["answer"][target]).item() * advantages[0]
        - log[1]["answer"][1 - target].item() * advantages[1]
    )
    spread = -(log[0]["look"].exp() * log[0]["look"]).sum().item()
    assert losses["entropy"] == pytest.approx(spread)  # of the one look that was taken
    right = [step["answer"][target].item() for step in log]
    assert losses["answer"] == pytest.approx(-sum(right) / 2)
    assert losses["baseline"] == pytest.approx(sum(a * a / 2 for a in advantages) / 2)


def test_a_baseline_of_ones_own_is_called_by_its_name() -> None:
    learner = Reinforce(replace(tiny_config(), baseline="mine"))  # type: ignore[arg-type]
    assert learner.model.name == "Reinforce LSTM, mine"
    learner.close()
