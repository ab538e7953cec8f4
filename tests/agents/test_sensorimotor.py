"""SUGARL's reward costs what the inverse model does not guess, and leaves the rest as it is."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.algorithms.actor_critic import ActorCritic
from agents.algorithms.estimates import estimate
from agents.algorithms.sensorimotor import Sensorimotor
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import tiny_actor_critic

CATCH: dict[str, Any] = {"env_id": "Glimpse/Catch-v0", "env_kwargs": {}}
CUT: dict[str, Any] = {"env_id": "CartPole-v1", "env_kwargs": {"max_episode_steps": 12}}


def make(**changes: Any) -> ActorCritic:
    torch.manual_seed(0)
    return ActorCritic(tiny_actor_critic(**{"sugarl_weight": 0.1, **changes}))


def played_by(learner: ActorCritic) -> tuple[Sensorimotor, Trajectory]:
    assert learner.sensorimotor is not None
    return learner.sensorimotor, play_episodes(learner.envs, learner.policy, learner.choose)


@pytest.mark.parametrize("task", [CATCH, CUT])
def test_a_penalty_is_the_probability_of_the_acts_that_were_not_taken(task: Any) -> None:
    with closing(make(**task, batch_size=16)) as learner:
        model, played = played_by(learner)
        found = model.penalties(played)
        steps, rows = found.shape
        for time in range(steps):
            for row in range(rows):
                after = played.last_observation
                if played.continuing[time, row]:
                    after = played.observations[time + 1]
                elif not played.cuts[time, row]:
                    assert found[time, row] == 0, "nothing is seen after it"
                    continue
                before = played.observations[time]
                codes = [
                    model.seen({name: part[row : row + 1] for name, part in seen.items()})
                    for seen in (before, after)
                ]
                guess = model.guess(torch.cat(codes, dim=1)).softmax(dim=1)
                right = guess[0, played.taken("act")[time, row].long()]
                assert found[time, row].item() == pytest.approx(1 - right.item(), abs=1e-5)
    assert played.cut.any() == (task is CUT)


def test_penalties_are_taken_from_the_rewards() -> None:
    """Monte-Carlo returns less those of a penalty of 1 a step."""
    with closing(make(**CATCH, gae_lambda=1.0)) as learner:
        _, played = played_by(learner)
        plain = estimate(played, learner.config)
        both = estimate(played, learner.config, penalties=played.alive.float())
    left = played.alive.flip(0).cumsum(0).flip(0)
    torch.testing.assert_close(both.returns, plain.returns - 0.1 * left * played.alive)
    torch.testing.assert_close(both.advantages, plain.advantages - 0.1 * left * played.alive)


def test_acts_that_show_are_guessed_and_others_are_not() -> None:
    """Where the act is written in the next observation, the penalty goes to 0."""
    with closing(make(**CATCH, batch_size=64)) as learner:
        model, played = played_by(learner)
        acts = played.taken("act")
        shown = []
        for time, seen in enumerate(played.observations):
            glimpse = torch.zeros_like(seen["glimpse"])
            if time:
                glimpse += acts[time - 1].view(-1, *[1] * (glimpse.dim() - 1))
            shown.append({**seen, "glimpse": glimpse})
        tell = replace(played, observations=shown)
        hide = replace(
            played,
            observations=[{n: torch.zeros_like(p) for n, p in seen.items()} for seen in shown],
        )
        for group in model.optimizer.param_groups:
            group["lr"] = 1e-2
        generator = torch.Generator().manual_seed(0)
        for _ in range(40):
            model.learn(tell, 2, generator)
        assert model.penalties(tell)[played.continuing].mean() < 0.1
        for _ in range(40):
            model.learn(hide, 2, generator)
        blind = model.penalties(hide)[played.continuing].mean()
    assert blind == pytest.approx(2 / 3, abs=0.1), "of three acts by an untrained policy"


def test_runs_repeat_and_resume(tmp_path: Path) -> None:
    assert_repeats_and_resumes(ActorCritic, tiny_actor_critic(**CATCH, sugarl_weight=0.1), tmp_path)


def test_what_has_no_act_is_refused() -> None:
    with pytest.raises(ValueError, match="sugarl_weight rewards looks that show what an act does"):
        make()
    with pytest.raises(ValueError, match=r"sugarl_weight=-0\.1 must be at least 0"):
        make(**CATCH, sugarl_weight=-0.1)


def test_its_name_says_so() -> None:
    with closing(make(**CATCH)) as learner:
        assert "SUGARL reward" in learner.model.name


def test_what_the_policy_counts_is_not_needed_to_guess() -> None:
    network = tiny_actor_critic().network
    learner = make(**CATCH, network=replace(network, count_glimpses=True))
    with closing(learner):
        assert np.isfinite(learner.update(0.0)["gradient_norm"])
