"""Agents soon answer about short stories."""

from typing import Any

import pytest

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from tests.support.tiny import SMALL
from tests.support.trainings import learned_error

STORIES = "Glimpse/Stories-v0"
SHORT: dict[str, Any] = {"env_id": STORIES, "env_kwargs": {"length": 3}}


@pytest.mark.learning
@pytest.mark.parametrize(
    ("learner", "kind"), [(Reinforce, ReinforceConfig), (ActorCritic, ActorCriticConfig)]
)
def test_agents_read_back_until_they_know(learner: Any, kind: Any) -> None:
    config = kind(
        **SHORT,
        look_weight=1.0,
        entropy_weight=0.02,
        learning_rate=1e-2,
        batch_size=128,
        episodes=128 * 300,
        network=SMALL,
    )
    assert learned_error(learner(config)) < 0.15
