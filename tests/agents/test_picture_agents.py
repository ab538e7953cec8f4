"""Learners take searches, sequences and descriptions."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.look_rewards import drawn_ends, learning_signal
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.algorithms.returns import returns_to_go
from agents.episodes.playing import Choose
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from glimpse_envs.episodes.description import task_of
from tests.support.tiny import SMALL

SETTING: dict[str, Any] = {
    "env_id": "Glimpse/SearchGlyphs-v0",
    "env_kwargs": {"scene_size": 84, "images": 2, "budget": 4, "scales": 3},
    "batch_size": 40,
    "copies": 2,
    "precision": "float32",
    "network": SMALL,
}
SUMS = {
    "Glimpse/DigitSumGlyphs-v0": {},
    "Glimpse/DigitSequenceGlyphs-v0": {"min_length": 3, "length": 3},
}
"""Tasks with answers at the end, or after some looks each; read right, all rows end together."""
LEARNERS: dict[str, Any] = {
    "reinforce": lambda: Reinforce(ReinforceConfig(**SETTING)),
    "actor_critic": lambda: ActorCritic(ActorCriticConfig(**SETTING, epochs=2, minibatches=2)),
}


def paid(signal: Any, **changes: Any) -> ReinforceConfig:
    return ReinforceConfig(look_signal=signal, **changes)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_search_is_learned_by_reward_alone(name: str) -> None:
    learner = LEARNERS[name]()
    before = {key: value.clone() for key, value in learner.policy.state_dict().items()}
    metrics = learner.update(0.5)
    assert 0.0 <= metrics["error"] <= 1.0
    assert learner.description.taught == "stop"
    after = learner.policy.state_dict()
    for head in ("heads.look", "heads.stop", "glimpse_network.where.weight"):
        moved = [key for key in after if key.startswith(head) and key != "heads.look.log_std"]
        assert moved
        assert all(not torch.equal(after[key], before[key]) for key in moved), head
    learner.close()


def test_what_is_asked_reaches_looks_and_stops() -> None:
    learner = LEARNERS["reinforce"]()
    policy, env = learner.policy, learner.env
    observation = policy.as_tensors(env.reset(seed=0)[0])
    asked = observation["question"]
    others = observation | {"question": asked.roll(1, dims=1)}
    decisions = [
        policy(seen, policy.initial_state(len(asked)))[0] for seen in (observation, others)
    ]
    looks = [decision.heads["look"].mean for decision in decisions]
    stops = [decision.heads["stop"].logits for decision in decisions]
    assert (looks[0] != looks[1]).any(dim=1).all()
    assert (stops[0] != stops[1]).any(dim=1).all()
    learner.close()


@pytest.mark.parametrize("learner", [Reinforce, ActorCritic])
@pytest.mark.parametrize("name", ["DigitSequenceGlyphs", "DescribeSceneGlyphs"])
def test_digits_and_words_are_taught(name: str, learner: Any) -> None:
    kind = ReinforceConfig if learner is Reinforce else ActorCriticConfig
    config = kind(env_id=f"Glimpse/{name}-v0", batch_size=20, precision="float32", network=SMALL)
    taught = learner(config)
    answer = taught.policy.heads["answer"]
    before = {name: values.clone() for name, values in answer.named_parameters()}
    taught.update(0.5)
    assert taught.description.taught == "answer"
    same = [name for name, values in answer.named_parameters() if torch.equal(values, before[name])]
    assert not same
    taught.close()


def play(learner: Reinforce, choose: Choose | None = None) -> Trajectory:
    played = play_episodes(
        learner.envs,
        learner.policy,
        choose or learner.choose,
        precision=torch.float32,
        drop_ended=True,
        generator=learner.generator,
    )
    learner.close()
    return played


def test_looks_of_a_search_earn_the_probability_of_a_right_end() -> None:
    env_kwargs = {"scene_size": 60, "images": 1, "budget": 4}
    setting = SETTING | {"env_kwargs": env_kwargs, "batch_size": 200}
    played = play(Reinforce(ReinforceConfig(**setting)))
    likely = played.log_likelihood().detach()
    found = learning_signal(played, likely, paid("probability"))
    assert played.targets is not None
    there = played.alive & (played.targets == 1)
    assert there.any()
    assert (played.alive & ~there).any()
    for row in range(200):
        going, earned = 1.0, []
        for step in range(int(played.alive[:, row].sum())):
            right = float(likely[step, row].exp())
            stops = right if there[step, row] else 1.0 - right
            earned.append(going * stops if there[step, row] else 0.0)
            going *= 1.0 - stops
        assert found[: len(earned), row].tolist() == pytest.approx(earned, abs=1e-6)
        assert not found[len(earned) :, row].any()


def test_the_choice_that_ends_is_the_components_own() -> None:
    """Of a task whose choice 0 ends an episode, under another name."""
    setting = SETTING | {"env_kwargs": {"scene_size": 60, "images": 1, "budget": 4}}
    played = play(Reinforce(ReinforceConfig(**setting)))
    likely = played.log_likelihood().detach()
    assert played.targets is not None
    turned = replace(
        played,
        components={
            "look": played.components["look"],
            "leave": replace(played.components["stop"], ending=0),
        },
        actions=[{"look": a["look"], "leave": 1 - a["stop"]} for a in played.actions],
        targets=1 - played.targets,
    )
    expected = learning_signal(played, likely, paid("probability"))
    assert expected.any()
    assert torch.equal(learning_signal(turned, likely, paid("probability")), expected)


def test_to_linger_where_a_stop_is_likely_earns_no_more_than_to_stop() -> None:
    always = torch.ones(16, 2, dtype=torch.bool)
    right = torch.tensor([0.45, 0.0]).expand(16, 2)
    total = drawn_ends(right, always, always).sum(dim=0)
    torch.testing.assert_close(total, torch.tensor([1 - 0.55**16, 0.0]))


def test_a_stops_log_likelihood_is_refused_where_looks_would_earn_it() -> None:
    setting = SETTING | {"look_signal": "log_likelihood"}
    with pytest.raises(ValueError, match="keeping away from where an end is right"):
        Reinforce(ReinforceConfig(**setting))
    Reinforce(ReinforceConfig(**setting, answer_by="reward")).close()
    for env_id in ("Glimpse/Copy-v0", "Glimpse/AssociativeRecall-v0"):
        with pytest.raises(ValueError, match="would be paid for never answering in Glimpse/"):
            Reinforce(ReinforceConfig(env_id=env_id, look_signal="log_likelihood"))


@pytest.mark.parametrize("gain", [True, False])
def test_an_answer_that_ends_the_episode_is_not_given_early(gain: bool) -> None:
    changes = {"look_gain": gain, "early_answer_weight": 1.0}
    with pytest.raises(ValueError, match="the stop is taught, after every glimpse as it is"):
        Reinforce(ReinforceConfig(**SETTING | changes))


@pytest.mark.parametrize("signal", ["probability", "log_likelihood"])
@pytest.mark.parametrize(("env_id", "env_kwargs"), list(SUMS.items()))
def test_what_looks_gain_adds_up(env_id: str, env_kwargs: dict[str, Any], signal: Any) -> None:
    """From a glimpse on to what the answers are paid, less what the one that is due would be."""
    learner = Reinforce(ReinforceConfig(**SETTING | {"env_id": env_id, "env_kwargs": env_kwargs}))
    task = task_of(learner.env)
    assert task is not None

    def read(*known: Any) -> dict[str, Tensor]:
        """The learner's choice, with the right answer: it goes on to the next."""
        return learner.choose(*known) | {"answer": torch.from_numpy(task.oracle()["answer"])}

    played = play(learner, read)
    most = int(played.target_mask.sum(dim=0).max())
    assert (most > 1) == ("Sequence" in env_id), "answers that follow one another"
    likely = played.log_likelihood().detach()
    plain = returns_to_go(learning_signal(played, likely, paid(signal)), 1.0)
    shaped = learning_signal(played, likely, paid(signal, look_gain=True))
    due = played.answer_reward * (likely.exp() if signal == "probability" else likely)
    expected = torch.where(played.alive, plain - due, 0.0)
    torch.testing.assert_close(returns_to_go(shaped, 1.0), expected)
    afterwards = shaped[played.ends]  # nothing is looked at after the last answer
    torch.testing.assert_close(afterwards, torch.zeros_like(afterwards), rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("signal", ["probability", "log_likelihood"])
def test_looks_earn_by_every_word_of_a_description_that_is_paid_as_a_whole(signal: Any) -> None:
    setting = SETTING | {"env_id": "Glimpse/DescribeSceneGlyphs-v0", "env_kwargs": {}}
    played = play(Reinforce(ReinforceConfig(**setting)))
    likely = played.log_likelihood().detach()
    found = learning_signal(played, likely, paid(signal))
    assert not played.rewards.any(), "of words that are not learned yet"
    for row in range(SETTING["batch_size"]):
        asked = played.target_mask[:, row]
        earned = likely[asked, row].exp() if signal == "probability" else likely[asked, row]
        torch.testing.assert_close(found[asked, row], earned / asked.sum())
        assert not found[~asked, row].any()
    assert torch.equal(learning_signal(played, likely, paid("reward")), played.rewards)
