"""Learners solve in seconds what is easy, and learn where to look."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from agents.algorithms.reinforce import Reinforce, ReinforceConfig, episode_losses
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from tests.support.episodes import CENTRED, TRANSLATED
from tests.support.tiny import SMALL


def learned_error(episodes: int, **changes: Any) -> float:
    """The mean error of the last tenth of a training."""
    config = ReinforceConfig(
        **{
            "episodes": episodes,
            "batch_size": 100,
            "learning_rate": 3e-3,
            "network": SMALL,
            **changes,
        }
    )
    learner, errors = Reinforce(config), []
    updates = episodes // config.batch_size
    for update in range(updates):
        errors.append(learner.update(update / updates)["error"])
    return float(np.mean(errors[-updates // 10 :]))


@pytest.mark.parametrize(
    ("answer_by", "episodes"), [("label", 10_000), ("reward", 50_000)], ids=["label", "reward"]
)
def test_what_one_glimpse_shows_is_soon_learned(answer_by: str, episodes: int) -> None:
    whole = {"glimpse_size": 28, "inside": True, "budget": 2}
    error = learned_error(episodes, env_id=CENTRED, env_kwargs=whole, answer_by=answer_by,
                          look_weight=1.0 if answer_by == "reward" else 0.1)  # fmt: skip
    assert error < 0.1


@pytest.mark.parametrize(
    "env_kwargs",
    [
        {"glimpse_size": 14, "budget": 2},
        {"glimpse_size": 10, "budget": 2, "look": "tiles"},
    ],
    ids=["continuous", "tiles"],
)
def test_where_to_look_is_learned(env_kwargs: dict[str, Any]) -> None:
    """One look at a digit in the middle: who chooses it errs less than who is led at random."""
    setting: dict[str, Any] = {"env_id": CENTRED, "env_kwargs": env_kwargs, "batch_size": 200}
    learned = learned_error(30_000, **setting)
    random = learned_error(30_000, looks="random", **setting)
    assert learned < random - 0.2


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
        loss = episode_losses(replace(trajectory, rewards=rewards))
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
