"""The learner supervises the answers that count and credits sampled reads with later answers."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from agents.training.finiteness import EnvironmentNotFinite
from baselines.learner import Batch, SupervisedLearner, cross_entropies, read_losses
from baselines.model import Answers
from tests.support.baselines import COPY, RECALL, Changes, class_of, learner_of, tiny_config
from tests.support.episodes import CIRCLE_SQUARE


@pytest.mark.parametrize("kind", ["content", "draw"])
def test_all_answers_are_supervised_where_all_are_paid_or_it_is_asked(kind: str) -> None:
    """CircleSquare pays every answer; then the first answer alone reaches the loss too."""
    changes: Changes = {"env_id": CIRCLE_SQUARE, "env_kwargs": {"budget": 3}}
    counted = tiny_config(kind, supervise="scored")
    assert learner_of(kind, counted).first_scored == -1
    assert learner_of(kind, replace(counted, supervise="all")).first_scored == 0
    assert learner_of(kind, replace(counted, **changes)).first_scored == 0


@pytest.mark.parametrize("task", [COPY, RECALL], ids=["copy", "recall"])
def test_targets_are_those_of_what_is_shown(task: Changes) -> None:
    learner = learner_of("lstm", tiny_config("lstm", batch_size=64, **task))
    observation, targets, lengths = learner.deal()
    learner.close()
    scene = observation["scene"]
    if task is COPY:
        symbols = scene.argmax(dim=-1)  # (B, N)
        assert torch.equal(targets, symbols.T)
        assert lengths.tolist() == (symbols > 0).sum(dim=1).tolist()
        return
    asked = observation["query"].argmax(dim=1)
    keys, values = scene[..., :4].argmax(dim=-1), scene[..., 4:].argmax(dim=-1)
    row, pair = (keys == asked[:, None]).nonzero(as_tuple=True)
    assert torch.equal(row, torch.arange(64))
    assert torch.equal(targets[0], values[row, pair])


def test_one_target_is_that_of_every_answer() -> None:
    logits, target = torch.randn(3, 2, 4), torch.tensor([[1, 3]])
    expected = -logits.log_softmax(dim=-1)[:, torch.arange(2), target[0]]
    torch.testing.assert_close(cross_entropies(logits, target), expected)


def test_a_scene_that_is_not_finite_is_blamed_on_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = learner_of("lstm", tiny_config("lstm", batch_size=8, **RECALL))
    batch = learner.deal()
    batch.observation["scene"][3, 0, 0] = torch.nan
    monkeypatch.setattr(learner, "deal", lambda: batch)
    wrong = rf"{RECALL['env_id']}: observation\['scene'\] after a reset is nan; an environment"
    with pytest.raises(EnvironmentNotFinite, match=wrong):
        learner.update(0.0)
    learner.close()


def test_a_curriculum_records_successes() -> None:
    learner = learner_of("lstm", tiny_config("lstm", curriculum="threshold", batch_size=64))
    levels = learner.env.unwrapped.level_distribution  # type: ignore[attr-defined]
    success = torch.ones(64, dtype=torch.bool)
    for _ in range(10):
        learner.record_success(learner.deal().lengths, success)
    assert levels.present == 2
    lengths = {length for _ in range(3) for length in learner.deal().lengths.tolist()}
    learner.close()
    assert lengths == {1, 2}


class Answering(SupervisedLearner):
    """Of eight episodes of two answers, all are right but number `wrong` of the first episode."""

    wrong = 0

    def deal(self) -> Batch:
        batch = super().deal()
        targets = batch.targets.expand(2, -1)
        logits = F.one_hot(targets, self.policy.setting.num_answers).float()
        logits[self.wrong, 0] = logits[self.wrong, 0].roll(1)
        answers = Answers(logits.requires_grad_())
        self.policy.register_forward_hook(lambda *_: answers)
        return batch


@pytest.mark.parametrize(
    ("kind", "wrong", "error"),
    [("lstm", 0, 1 / 8), ("lstm", 1, 1 / 8), ("content", 0, 0.0), ("content", 1, 1 / 8)],
)
def test_success_needs_all_answers_to_a_tape_and_the_last_to_a_picture(
    kind: str, wrong: int, error: float
) -> None:
    learner = Answering(tiny_config(kind), class_of(kind))
    learner.wrong = wrong
    assert learner.update(0.0)["error"] == pytest.approx(error)
    learner.close()


def test_a_read_is_credited_with_what_is_answered_after_it() -> None:
    """Of a tape, reads 1 and 2 before answers 1 and 2, by hand."""
    log_probs = torch.tensor([[-1.0, -2.0], [-3.0, -1.0]], requires_grad=True)
    values = torch.tensor([[0.5, 0.0], [0.0, -0.5]], requires_grad=True)
    rewards = torch.tensor([[-1.0, -2.0], [-3.0, 0.0]])
    losses = read_losses(Answers(torch.zeros(2, 2, 3), log_probs, values), rewards)
    returns = torch.tensor([[-2.0, -1.0], [-1.5, 0.0]])  # sums to come, over two answers
    advantages = returns - values.detach()
    credit = advantages / (advantages.std() + 1e-3)
    torch.testing.assert_close(losses["read"], -(credit * log_probs).sum() / 2)
    torch.testing.assert_close(losses["baseline"], (returns - values).square().mean())
    (slope,) = torch.autograd.grad(losses["read"], log_probs)
    torch.testing.assert_close(slope, -credit / 2)
    (away,) = torch.autograd.grad(losses["read"], values, allow_unused=True, materialize_grads=True)
    assert (away == 0).all(), "the baseline does not learn from the reads' loss"


@pytest.mark.parametrize("reads", [1, 4])
def test_the_reads_of_one_table_are_not_scaled(reads: int) -> None:
    """They have one return, and values that hardly differ."""
    log_probs = torch.zeros(reads, 1, requires_grad=True)
    values = 0.01 + 0.001 * torch.arange(reads)[:, None]
    losses = read_losses(Answers(torch.zeros(1, 1, 3), log_probs, values), torch.tensor([[-2.3]]))
    (slope,) = torch.autograd.grad(losses["read"], log_probs)
    torch.testing.assert_close(slope, (2.3 + values) / 1.001)


def test_the_reads_of_one_table_with_several_answers_are_scaled() -> None:
    """They have returns of their own."""
    log_probs, values = torch.zeros(2, 1, requires_grad=True), torch.zeros(2, 1)
    rewards = torch.tensor([[-10.0], [-20.0]])
    losses = read_losses(Answers(torch.zeros(2, 1, 3), log_probs, values), rewards)
    (slope,) = torch.autograd.grad(losses["read"], log_probs)
    returns = torch.tensor([[-15.0], [-10.0]])
    torch.testing.assert_close(slope, -returns / (returns.std() + 1e-3))


def test_a_single_read_with_several_answers_is_not_scaled() -> None:
    log_probs, values = torch.zeros(1, 1, requires_grad=True), torch.zeros(1, 1)
    rewards = torch.tensor([[-10.0], [-20.0]])
    losses = read_losses(Answers(torch.zeros(2, 1, 3), log_probs, values), rewards)
    (slope,) = torch.autograd.grad(losses["read"], log_probs)
    torch.testing.assert_close(slope, torch.tensor([[10.0 / 1.001]]))


def test_every_read_of_a_table_is_credited_with_its_only_answer() -> None:
    log_probs, values = torch.zeros(3, 2, requires_grad=True), torch.zeros(3, 2)
    rewards = torch.tensor([[-1.0, -3.0]])
    losses = read_losses(Answers(torch.zeros(1, 2, 3), log_probs, values), rewards)
    (slope,) = torch.autograd.grad(losses["read"], log_probs)
    assert (slope == slope[0]).all()
    torch.testing.assert_close(losses["baseline"], torch.tensor(5.0))
