"""Learners solve in seconds what is easy, and learn where to look."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import agents.algorithms.actor_critic
from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.exact import OBJECTIVES, Exact, ExactConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig, episode_losses
from agents.algorithms.straight_through import StraightThrough, StraightThroughConfig
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from agents.training.config import TrainingConfig
from tests.support.episodes import CENTRED, TRANSLATED
from tests.support.tiny import PPO, SMALL, tiny_config
from tests.support.trainings import EASY, ONE_TILE, WHOLE, Learning, learned_error

pytestmark = pytest.mark.learning

TILES: dict[str, Any] = {**WHOLE, "look": "tiles"}
SOON: dict[str, tuple[Callable[[Any], Learning], Callable[..., TrainingConfig], dict[str, Any]]] = {
    "reinforce, label": (Reinforce, ReinforceConfig, {"episodes": 10_000}),
    "reinforce, reward": (
        Reinforce,
        ReinforceConfig,
        {"episodes": 50_000, "answer_by": "reward", "look_weight": 1.0},
    ),
    "a2c, label": (ActorCritic, ActorCriticConfig, {"episodes": 10_000}),
    "a2c, reward": (ActorCritic, ActorCriticConfig, {"episodes": 50_000, "answer_by": "reward"}),
    "ppo, label": (ActorCritic, ActorCriticConfig, {"episodes": 4_000, **PPO}),
    "ppo, reward": (
        ActorCritic,
        ActorCriticConfig,
        {"episodes": 15_000, "answer_by": "reward", "epochs": 4},
    ),
    **{
        f"exact, {objective}": (
            Exact,
            ExactConfig,
            {"episodes": 8_000, "objective": objective, "env_kwargs": TILES},
        )
        for objective in OBJECTIVES
    },
    **{
        f"straight_through, hard={hard}": (
            StraightThrough,
            StraightThroughConfig,
            {"episodes": 8_000, "hard": hard, "env_kwargs": TILES},
        )
        for hard in (True, False)
    },
}


@pytest.mark.parametrize("case", SOON)
def test_what_one_glimpse_shows_is_soon_learned(case: str) -> None:
    learner, kind, changes = SOON[case]
    assert learned_error(learner(kind(**{**EASY, "env_kwargs": WHOLE, **changes}))) < 0.1


def by_chance(**changes: Any) -> Learning:
    """REINFORCE whose looks are random."""
    return Reinforce(ReinforceConfig(**{**EASY, "gaze": "random", **changes}))


@pytest.mark.parametrize(
    "env_kwargs", [{"glimpse_size": 14, "budget": 2}, ONE_TILE], ids=["continuous", "tiles"]
)
def test_reinforce_learns_where_to_look(env_kwargs: dict[str, Any]) -> None:
    """One look at a digit in the middle: who chooses it errs less than who is led at random."""
    setting = {**EASY, "env_kwargs": env_kwargs, "batch_size": 200, "episodes": 30_000}
    learned = learned_error(Reinforce(ReinforceConfig(**setting)))
    assert learned < learned_error(by_chance(**setting)) - 0.2


@pytest.mark.parametrize(("images", "settings"), [(20_000, {}), (10_000, PPO)], ids=["a2c", "ppo"])
def test_actor_critics_learn_which_tile_to_look_at(images: int, settings: dict[str, Any]) -> None:
    """Who learns where errs less than who looks anywhere."""
    setting = {**EASY, "env_kwargs": ONE_TILE, "episodes": images, **settings}
    learned = learned_error(ActorCritic(ActorCriticConfig(**setting)))
    anywhere = learned_error(ActorCritic(ActorCriticConfig(**setting, look_weight=0.0)))
    assert learned < anywhere - 0.2


def test_who_reads_all_tiles_in_training_learns_which_to_look_at() -> None:
    setting: dict[str, Any] = {**EASY, "env_kwargs": ONE_TILE, "episodes": 15_000}
    random = learned_error(by_chance(**setting))
    assert learned_error(Exact(ExactConfig(**setting))) < random - 0.2
    assert learned_error(StraightThrough(StraightThroughConfig(**setting))) < random - 0.2


def test_looks_go_where_the_reward_is() -> None:
    """Looks alone, apart from answers: paid for being on target, they come to be on it."""
    learner = Reinforce(
        ReinforceConfig(
            env_id=TRANSLATED,
            env_kwargs={"budget": 2, "look": "tiles"},
            batch_size=200,
            network=SMALL,
        )
    )
    assert share_on_target(learner) < 0.4
    optimizer = torch.optim.Adam(learner.policy.parameters(), lr=5e-3)
    for _ in range(150):
        trajectory, on_target = look_once(learner)
        rewards = torch.zeros_like(trajectory.rewards)
        rewards[0] = torch.as_tensor(on_target)
        loss = episode_losses(replace(trajectory, rewards=rewards), tiny_config())
        optimizer.zero_grad()
        (loss["policy"] + loss["baseline"]).mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert share_on_target(learner) > 0.7


def share_on_target(learner: Reinforce) -> float:
    return float(look_once(learner)[1].mean())


def look_once(learner: Reinforce) -> tuple[Trajectory, NDArray[np.bool_]]:
    """An episode of every row, and whether its look went to a tile on the target."""
    boxes: list[NDArray[np.float32]] = []

    def choose(decision: Any, observation: Any, info: Any, step: int) -> dict[str, torch.Tensor]:
        boxes.append(info["target_box"])
        return learner.choose(decision, observation, info, step)

    trajectory = play_episodes(learner.env, learner.policy, choose)
    view = learner.description.picture_view
    assert view is not None
    place = view.tile_locations[trajectory.actions[0]["look"].numpy()]
    box = boxes[0]
    return trajectory, np.all((box[:, :2] <= place) & (place <= box[:, 2:]), axis=1)


@pytest.mark.parametrize(("updates", "settings"), [(150, {}), (60, PPO)], ids=["a2c", "ppo"])
def test_looks_go_where_they_are_paid(
    updates: int, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks alone, apart from answers: paid for being near a place, they come to be near it."""
    distances: list[float] = []

    def play_and_pay(*arguments: Any, **options: Any) -> Trajectory:
        played = play_episodes(*arguments, **options)
        away = (played.actions[0]["look"] - torch.tensor([0.5, -0.5])).norm(dim=1)  # (B,)
        distances.append(away.mean().item())
        return replace(played, rewards=torch.stack([-away, torch.zeros_like(away)]))

    monkeypatch.setattr(agents.algorithms.actor_critic, "play_episodes", play_and_pay)
    config = ActorCriticConfig(
        env_id=CENTRED, env_kwargs={"budget": 2}, look_signal="reward", look_weight=1.0,
        learning_rate=5e-3, network=SMALL, **settings,
    )  # fmt: skip
    learner = ActorCritic(config)
    for update in range(updates):
        learner.update(update / updates)
    assert distances[0] > 0.5
    assert distances[-1] < 0.25, "as near as a deviation of 0.15 on both axes lets them be"
