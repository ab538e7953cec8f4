"""Parts of a batch that take turns play the episodes of the whole batch."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from agents.algorithms.actor_critic import ActorCritic
from agents.algorithms.policy_gradient import PolicyGradientLearner
from agents.algorithms.reinforce import Reinforce, episode_losses
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.glimpse_policy import Decision
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import PPO, tiny_actor_critic, tiny_config

TAPE: dict[str, Any] = {"env_id": "Glimpse/Copy-v0", "env_kwargs": {"length": 4}}
STOPS: dict[str, Any] = {"env_kwargs": {"budget": 4, "stop": True}}


def likeliest(
    decision: Decision, observation: Observation, info: dict[str, Any], step: int
) -> dict[str, Tensor]:
    return {name: head.mode() for name, head in decision.heads.items()}


def played(learner: PolicyGradientLearner) -> Trajectory:
    return play_episodes(
        learner.envs,
        learner.policy,
        likeliest,
        drop_ended=True,
        generator=learner.generator,
    )


@pytest.mark.parametrize("changes", [{}, STOPS, TAPE])
@pytest.mark.parametrize("parts", [2, 4])
def test_parts_play_the_episodes_of_the_whole(changes: dict[str, Any], parts: int) -> None:
    whole, split = (Reinforce(tiny_config(parts=n, **changes)) for n in (1, parts))
    for _ in range(3):
        one, other = played(whole), played(split)
        for name in ("rewards", "target_mask", "alive", "continuing", "levels"):
            assert torch.equal(getattr(one, name), getattr(other, name)), name
        assert one.targets is not None
        assert other.targets is not None
        assert torch.equal(one.targets[one.alive], other.targets[one.alive])
        for name, loss in episode_losses(one, tiny_config()).items():
            torch.testing.assert_close(episode_losses(other, tiny_config())[name], loss)
    whole.close()
    split.close()


@pytest.mark.learning
@pytest.mark.parametrize("changes", [{}, TAPE, TAPE | {"curriculum": "mixture"}])
def test_a_run_in_parts_repeats_and_resumes(changes: dict[str, Any], tmp_path: Path) -> None:
    assert_repeats_and_resumes(Reinforce, tiny_config(parts=2, **changes), tmp_path)


@pytest.mark.learning
def test_a_run_in_parts_is_replayed(tmp_path: Path) -> None:
    assert_repeats_and_resumes(ActorCritic, tiny_actor_critic(parts=2, **PPO), tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": 3}, "batch_size=8 must be a multiple of 3: it has parts=3, and copies=1"),
        ({"parts": 4, "copies": 4}, "batch_size=8 must be a multiple of 16"),
        ({"parts": 0}, "parts=0 must be at least 1"),
        ({"parts": 2, "gaze": "random"}, "parts=2 has no effect without gaze='learned'"),
    ],
)
def test_batches_without_such_parts_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Reinforce(tiny_config(**changes))
