"""One update: what is minimised, what schedules change, what is measured."""

import copy
from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig, episode_losses
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.heads import GaussianHead
from tests.support.episodes import CENTRED
from tests.support.sequences import gradient
from tests.support.tiny import tiny_config, tiny_network


@pytest.mark.parametrize(
    ("answer_by", "gaze", "signal"),
    [
        *product(("label", "reward"), ("learned", "random"), ("reward", "probability")),
        ("label", "learned", "gain"),
    ],
)
def test_an_update_descends_the_weighted_sum(answer_by: Any, gaze: Any, signal: Any) -> None:
    early: dict[str, Any] = {}
    if signal == "gain":
        signal, early = "probability", {"look_gain": True, "early_answer_weight": 0.4}
    config = tiny_config(
        answer_by=answer_by,
        gaze=gaze,
        look_signal=signal,
        **early,
        look_weight=0.3,
        baseline_weight=0.7,
        entropy_weight=0.05,
        max_gradient_norm=1e9,
    )
    learner, twin = Reinforce(config), Reinforce(config)
    learner.update(progress=0.5)
    losses = episode_losses(
        play_episodes(twin.env, twin.policy, twin.choose),
        config,
    )
    total = 0.3 * losses["policy"] + 0.7 * losses["baseline"] - 0.05 * losses["entropy"]
    total = total + losses["answer"] if answer_by == "label" else total
    if early:
        total = total + 0.4 * losses["early_answer"]
    expected = gradient(total.mean(), twin.policy)
    parameters = [p for p in learner.policy.parameters() if p.requires_grad]
    found = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    torch.testing.assert_close(torch.cat([g.flatten() for g in found]), expected)

    learned = {name for name, p in learner.policy.named_parameters() if p.grad is not None}
    assert any(name.startswith("heads.answer") for name in learned)
    assert any(name.startswith("heads.look") for name in learned) == (gaze == "learned")


@pytest.mark.parametrize(
    ("learner", "kind"), [(Reinforce, ReinforceConfig), (ActorCritic, ActorCriticConfig)]
)
def test_the_entropy_of_looks_is_paid_for_by_its_weight(learner: Any, kind: Any) -> None:
    """The bonus alone, as a price: looks, alike likely at first, are decided on."""
    network = tiny_network(look_coordinates="cells")
    setting: dict[str, Any] = {"look_weight": 0.0, "learning_rate": 1e-2, "precision": "float32"}
    env_id, entropies = "Glimpse/TranslatedGlyphs-v0", []
    for weight in (0.0, -100.0):
        config = kind(
            env_id=env_id, network=network, batch_size=16, entropy_weight=weight, **setting
        )
        taught = learner(config)
        before = taught.update(0.5)["loss/entropy"]
        for _ in range(20):
            after = taught.update(0.5)["loss/entropy"]
        entropies.append(after - before)
        taught.close()
    assert abs(entropies[0]) < 0.5 < 2.0 < -entropies[1]


def test_an_environment_that_stops_of_itself_is_learned_from() -> None:
    """Its rows end at different times though no argument says so."""
    spec = copy.deepcopy(gym.spec(CENTRED))
    spec.id, spec.kwargs = "GlimpseTest/Stopping-v0", {**spec.kwargs, "stop": True}
    gym.register(
        spec.id, spec.entry_point, vector_entry_point=spec.vector_entry_point, kwargs=spec.kwargs
    )
    try:
        learner = Reinforce(tiny_config(env_id=spec.id, env_kwargs={"budget": 4}))
        glimpses = learner.update(progress=0.5)["glimpses"]
    finally:
        gym.registry.pop(spec.id)
    assert 1 <= glimpses < 4


def test_a_gradient_is_shortened_to_its_greatest_norm() -> None:
    learner = Reinforce(tiny_config(max_gradient_norm=1e-3))
    norm = learner.update(progress=0.5)["gradient_norm"]
    grads = [p.grad.flatten() for p in learner.policy.parameters() if p.grad is not None]
    assert norm > 1e-2
    assert torch.cat(grads).norm().item() == pytest.approx(1e-3, rel=1e-3)


def test_a_scheduled_look_narrows_linearly() -> None:
    learner = Reinforce(tiny_config(final_look_std=0.05, network=tiny_network(look_std=0.25)))
    found = []
    for progress in (0.0, 0.5, 1.0):
        learner.update(progress)
        found.append(look_std(learner).tolist())
    np.testing.assert_allclose(found, [[0.25] * 2, [0.15] * 2, [0.05] * 2], rtol=1e-6)


@pytest.mark.parametrize("learn", [True, False])
def test_a_look_std_moves_only_where_it_is_learned(learn: bool) -> None:
    network = tiny_network(look_std=0.25, learn_look_std=learn)
    learner = Reinforce(tiny_config(network=network))
    before = look_std(learner)
    for _ in range(3):
        learner.update(progress=0.1)
    assert torch.equal(look_std(learner), before) is not learn


def look_std(learner: Reinforce) -> Tensor:
    head = learner.policy.heads["look"]
    assert isinstance(head, GaussianHead)
    return head.log_std.detach().exp()


def test_the_error_is_that_of_the_last_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Reinforce(tiny_config(batch_size=64))
    played: list[Trajectory] = []

    def remember(*arguments: Any, **options: Any) -> Trajectory:
        played.append(play_episodes(*arguments, **options))
        return played[-1]

    monkeypatch.setattr("agents.algorithms.reinforce.play_episodes", remember)
    metrics = learner.update(progress=0.5)
    targets = played[0].targets
    assert targets is not None
    right = played[0].actions[-1]["answer"] == targets[-1]
    assert metrics["error"] == pytest.approx(1 - right.float().mean().item())
    assert metrics["return"] == pytest.approx(right.float().mean().item())
    assert metrics["glimpses"] == 3.0


def test_copies_share_a_scene() -> None:
    learner = Reinforce(tiny_config(copies=4))
    trajectory = play_episodes(learner.env, learner.policy, learner.choose)
    assert trajectory.targets is not None
    groups = trajectory.targets[-1].view(2, 4)
    assert (groups == groups[:, :1]).all()
    looks = trajectory.actions[0]["look"].view(2, 4, 2)
    assert (looks != looks[:, :1]).any(dim=-1)[:, 1:].all(), "each copy looks for itself"


@pytest.mark.parametrize("gaze", ["static", "random", "raster", "oracle"])
def test_who_cannot_look_has_no_scanner(gaze: Any) -> None:
    with pytest.raises(ValueError, match=f"'{gaze}'.*no look"):
        Reinforce(tiny_config(gaze=gaze, env_kwargs={"view": "full"}))


def test_the_full_view_is_learned_from_too() -> None:
    learner = Reinforce(tiny_config(env_id=CENTRED, env_kwargs={"view": "full"}))
    metrics = learner.update(progress=0.5)
    assert metrics["glimpses"] == 1.0
    assert metrics["loss/policy"] == 0.0
