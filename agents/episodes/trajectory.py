"""Episodes as they were played, with what was decided, and the sums that learners take of it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.policy.distributions import Distribution, OptionalAnswer
from agents.policy.glimpse_policy import Decision

Observation = dict[str, Tensor]


@dataclass(frozen=True)
class Trajectory:
    """One episode of each of B rows, T steps of the longest; what follows a row's end is not alive.

    Args:
        decisions: T decisions, with their gradients where they were kept.
        rows: T times which rows they are of, (b,) int64, where the others have ended; None: all B.
        observations: T observations, name -> (B, ...), of which the decisions were made.
        actions: T actions, name -> (B, ...), as they were sampled.
        rewards: (T, B), 0 where not alive.
        answer_reward: (B,), what a right answer that counts earns.
        lengths: (B,) int64 of what is hidden, 0 where it has none.
        solved: (B,) bool, whether the last answer was right, or all that was asked.
        targets: (T, B) int64, the right answers.
        counted: (T, B) bool, where the answer counted.
        alive: (T, B) bool.
        looked: (T, B) bool, where the look was taken: all alive steps but an episode's last.
        stoppable: (T, B) bool, where stopping was a choice: all alive steps but the budget's last.
    """

    decisions: list[Decision]
    rows: list[Tensor | None]
    observations: list[Observation]
    actions: list[dict[str, Tensor]]
    rewards: Tensor
    answer_reward: Tensor
    lengths: Tensor
    solved: Tensor
    targets: Tensor
    counted: Tensor
    alive: Tensor
    looked: Tensor
    stoppable: Tensor

    @property
    def values(self) -> Tensor:
        """The baseline's values, (T, B), 0 of rows that were not asked for."""
        return self._padded([decision.value for decision in self.decisions])

    def log_likelihood(self) -> Tensor:
        """The log-probability of the right answer at every step, if one is given, (T, B)."""
        steps = zip(self.decisions, self.targets, self.rows, strict=True)
        return self._padded(
            [d.heads["answer"].log_likelihood(_of(target, rows)) for d, target, rows in steps]
        )

    def effective(self, *, looks: bool, answers: bool) -> dict[str, Tensor]:
        """Where a decision that is learned by reward had an effect: component -> (T, B) bool.

        A look that was ignored, what was written with it, an answer that did not count and a stop
        when the budget was spent had none. Stops, writes, and whether to answer where that is a
        choice ("answering") are always learned by reward, `looks` and `answers` where it is said.
        """
        heads = self.decisions[0].heads
        masks = {"stop": self.stoppable, "write": self.looked}
        if looks:
            masks["look"] = self.looked
        if answers:
            masks["answer"] = self.counted
        masks = {name: mask for name, mask in masks.items() if name in heads}
        if isinstance(heads.get("answer"), OptionalAnswer):
            masks["answering"] = self.alive
        return masks

    def stack(self, name: str, quantity: str) -> Tensor:
        """Stack over time the `quantity` ("log_prob" or "entropy") of component `name`: (T, B)."""
        columns = []
        for decision, action, rows in zip(self.decisions, self.actions, self.rows, strict=True):
            head, chosen = _component(name, decision, action)
            if quantity == "entropy":
                columns.append(head.entropy())
            else:
                columns.append(head.log_prob(_of(chosen, rows)))
        return self._padded(columns)

    def _padded(self, columns: list[Tensor]) -> Tensor:
        """T columns (b,), each of its step's rows, as (T, B), 0 elsewhere."""
        whole = []
        for column, rows in zip(columns, self.rows, strict=True):
            if rows is not None:
                column = column.new_zeros(self.alive.shape[1]).index_copy(0, rows, column)
            whole.append(column)
        return torch.stack(whole)

    def joint(self, quantity: str, effective: dict[str, Tensor]) -> Tensor:
        """The `quantity` of each step's whole action: the sum over the components of `effective`,
        where they had an effect; (T, B)."""
        total = torch.zeros_like(self.rewards)
        for name, mask in effective.items():
            total = total + self.stack(name, quantity) * mask
        return total

    def summary(self) -> dict[str, float]:
        """Means over the episodes: the share not solved, the return, and the glimpses taken."""
        return {
            "error": 1.0 - self.solved.float().mean().item(),
            "return": self.rewards.sum(dim=0).mean().item(),
            "glimpses": self.alive.float().sum(dim=0).mean().item(),
        }


def rewarded_for_entropy(effective: dict[str, Tensor]) -> dict[str, Tensor]:
    """Of the decisions in `effective` those whose entropy a bonus is paid for: not what is answered
    or written, which has many choices and earns late, so that a bonus would flatten it first."""
    return {name: mask for name, mask in effective.items() if name not in ("answer", "write")}


def _component(
    name: str, decision: Decision, action: dict[str, Tensor]
) -> tuple[Distribution, Tensor]:
    """The distribution of what `name` stands for, and what was chosen of it."""
    head = decision.heads["answer" if name == "answering" else name]
    chosen = action["answer" if name == "answering" else name]
    if not isinstance(head, OptionalAnswer):
        return head, chosen
    if name == "answering":
        return head.given, (chosen != 0).long()[:, None]
    return head.which, (chosen - 1).clamp(min=0)


def _of(values: Tensor, rows: Tensor | None) -> Tensor:
    return values if rows is None else values[rows]
