"""Episodes as they were played, with what was decided, and the sums that learners take of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from agents.policy.distributions import Distribution, OptionalAnswer
from agents.policy.glimpse_policy import Decision
from glimpse_envs.task import Component

Observation = dict[str, Tensor]

GIVEN = " given"
"""Ends the name of the choice whether an optional component says something."""


@dataclass(frozen=True)
class Trajectory:
    """One episode of each of B rows, T steps of the longest; what follows a row's end is not alive.

    Args:
        components: the parts of the action.
        decisions: T decisions, with their gradients where they were kept.
        rows: T times which rows they are of, (b,) int64, where the others have ended; None: all B.
        observations: T observations, name -> (B, ...), of which the decisions were made.
        actions: T actions, name -> (B, ...), as they were sampled.
        rewards: (T, B), 0 where not alive.
        answer_reward: (B,), what a right answer that counts earns.
        levels: (B,) int64, lengths of what is hidden, 0 where it has none.
        success: (B,) bool, whether all that was asked was done at the end; None where the
            environment has no such thing.
        targets: (T, B) int64, the right answers, where something is asked; else None.
        target_mask: (T, B) bool, where the answer is scored.
        alive: (T, B) bool.
        going_on: (T, B) bool, where the episode went on, so that the look was taken.
        stoppable: (T, B) bool, where stopping was a choice: all alive steps but the budget's last.
        last_values: (B,), the values of what follows an episode whose time was over; 0 elsewhere.
    """

    components: Mapping[str, Component]
    decisions: list[Decision]
    rows: list[Tensor | None]
    observations: list[Observation]
    actions: list[dict[str, Tensor]]
    rewards: Tensor
    answer_reward: Tensor
    levels: Tensor
    success: Tensor | None
    targets: Tensor | None
    target_mask: Tensor
    alive: Tensor
    going_on: Tensor
    stoppable: Tensor
    last_values: Tensor

    @property
    def values(self) -> Tensor:
        """The baseline's values, (T, B), 0 of rows that had ended."""
        return self._padded([decision.value for decision in self.decisions])

    @property
    def taught(self) -> str | None:
        """The component whose right choices are known; None where there is none."""
        if self.targets is None:
            return None
        return next((name for name, part in self.components.items() if part.taught), None)

    def rewards_to_the_end(self, rewards: Tensor, discount: float) -> Tensor:
        """`rewards` (T, B), to whose last, where time was over, the discounted value of what would
        have followed is added."""
        if not self.last_values.any():
            return rewards
        ends = self.alive & ~self.going_on
        return rewards + ends * (discount * self.last_values).to(rewards)

    def log_likelihood(self) -> Tensor:
        """The log-probability of the right choice at every step, if one is made, (T, B); 0 where
        none is known."""
        if self.taught is None or self.targets is None:
            return torch.zeros_like(self.rewards)
        steps = zip(self.decisions, self.targets, self.rows, strict=True)
        return self._padded(
            [d.heads[self.taught].log_likelihood(_of(t, rows)) for d, t, rows in steps]
        )

    def effective(self, *, looks: bool, taught: bool) -> dict[str, Tensor]:
        """Where a choice that is learned by reward had an effect: name -> (T, B) bool.

        Args:
            looks: whether looks are learned, not a scanner's.
            taught: whether what may be taught is learned by reward.
        """
        masks = {
            "always": self.alive,
            "going_on": self.going_on,
            "counted": self.target_mask,
            "stoppable": self.stoppable,
        }
        heads = self.decisions[0].heads
        effective, given = {}, {}
        for name, part in reversed(list(self.components.items())):
            if (taught or not part.taught) and (looks or name != "look"):
                effective[name] = masks[part.effect]
            if isinstance(heads[name], OptionalAnswer):
                given[name + GIVEN] = self.alive
        return effective | given

    def rewarded_for_entropy(self, effective: dict[str, Tensor]) -> dict[str, Tensor]:
        """Of the choices in `effective` those whose entropy a bonus is paid for."""
        return {
            name: mask
            for name, mask in effective.items()
            if name not in self.components or self.components[name].entropy
        }

    def stack(self, name: str, quantity: str) -> Tensor:
        """Stack over time the `quantity` ("log_prob" or "entropy") of the choice `name`: (T, B)."""
        columns = []
        for decision, action, rows in zip(self.decisions, self.actions, self.rows, strict=True):
            head, chosen = _choice(name, decision, action)
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
        """The `quantity` of each step's whole action: the sum over the choices of `effective`,
        where they had an effect; (T, B)."""
        total = torch.zeros_like(self.rewards)
        for name, mask in effective.items():
            total = total + self.stack(name, quantity) * mask
        return total

    def summary(self) -> dict[str, float]:
        """Means over the episodes: the share without success, where the environment has such a
        thing, the return, and the glimpses taken."""
        error = {}
        if self.success is not None:
            error["error"] = 1.0 - self.success.float().mean().item()
        return error | {
            "return": self.rewards.sum(dim=0).mean().item(),
            "glimpses": self.alive.float().sum(dim=0).mean().item(),
        }


def _choice(
    name: str, decision: Decision, action: dict[str, Tensor]
) -> tuple[Distribution, Tensor]:
    """The distribution of the choice `name`, and what was chosen."""
    part = name.removesuffix(GIVEN)
    head, chosen = decision.heads[part], action[part]
    if not isinstance(head, OptionalAnswer):
        return head, chosen
    if name.endswith(GIVEN):
        return head.given, (chosen != 0).long()[:, None]
    return head.which, (chosen - 1).clamp(min=0)


def _of(values: Tensor, rows: Tensor | None) -> Tensor:
    return values if rows is None else values[rows]
