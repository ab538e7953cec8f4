"""Played episodes with the policy's decisions, and the sums that learners take over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from agents.policy.distributions import Distribution, OptionalAnswer
from agents.policy.glimpse_policy import Decision
from glimpse_envs.task import Component

Observation = dict[str, Tensor]

GIVEN = " given"
"""Suffix of the name of the choice whether to answer, for an optional component."""

# The fields of a trajectory by shape: (B,), (T, B), and T of name -> (B, ...).
_OF_EPISODES = ("success", "answer_reward", "levels", "cut", "last_values")
_OF_STEPS = ("targets", "rewards", "target_mask", "alive", "continuing", "stoppable")
_NAMED = ("observations", "actions")


@dataclass(frozen=True)
class Trajectory:
    """One episode of each of B rows, padded to the T steps of the longest; `alive` marks the steps.

    Args:
        components: the parts of the action.
        decisions: T decisions, with their gradients where they were kept.
        rows: the rows (b,) int64 of each decision, where others have ended; None: all B.
        observations: T observations, name -> (B, ...).
        actions: T actions, name -> (B, ...), as they were sampled.
        rewards: (T, B), 0 where not alive.
        answer_reward: (B,), the reward of a right answer in `target_mask`.
        levels: (B,) int64, 0 where the task has none.
        success: (B,) bool, at the end; None where the task has no success.
        targets: (T, B) int64, the right answers; None where the task has none.
        target_mask: (T, B) bool, where the answer is scored.
        alive: (T, B) bool.
        continuing: (T, B) bool, where the episode went on, so that the look was taken.
        stoppable: (T, B) bool, where stopping was a choice: all alive steps but the budget's last.
        cut: (B,) bool, the episodes that were truncated.
        last_values: (B,), the value after the end of truncated episodes; 0 elsewhere.
        last_observation: name -> (B, ...), the observation there; 0 elsewhere.
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
    continuing: Tensor
    stoppable: Tensor
    cut: Tensor
    last_values: Tensor
    last_observation: Observation

    @classmethod
    def joined(cls, parts: "Sequence[Trajectory]") -> "Trajectory":
        """The episodes of all `parts`, one after another, padded to the longest."""
        first = parts[0]
        if len(parts) == 1:
            return first
        sizes = [part.alive.shape[1] for part in parts]
        begins = [sum(sizes[:k]) for k in range(len(sizes))]
        longest = range(max(len(part.decisions) for part in parts))
        decisions, rows = [], []
        for t in longest:
            deciding = [k for k, part in enumerate(parts) if t < len(part.decisions)]
            decided = [parts[k].decisions[t] for k in deciding]
            decisions.append(
                Decision(
                    {
                        name: type(head).joined([decision.heads[name] for decision in decided])
                        for name, head in decided[0].heads.items()
                    },
                    torch.cat([decision.value for decision in decided]),
                )
            )
            own = [parts[k].rows[t] for k in deciding]
            everyone = len(deciding) == len(parts) and all(some is None for some in own)
            rows.append(None if everyone else _joined_rows(own, deciding, begins, sizes))
        changes: dict[str, Any] = {"decisions": decisions, "rows": rows}
        for name in _NAMED:
            columns = [getattr(part, name) for part in parts]
            # A part that has ended shows its last step again, which nobody reads.
            changes[name] = [
                _joined_parts([c[min(t, len(c) - 1)] for c in columns]) for t in longest
            ]
        changes["last_observation"] = _joined_parts([part.last_observation for part in parts])
        for name in _OF_EPISODES:
            values = [getattr(part, name) for part in parts]
            if any(value is not None for value in values):  # a part without any success has failed
                failed = [torch.zeros(size, dtype=torch.bool).to(first.alive) for size in sizes]
                changes[name] = torch.cat(
                    [none if v is None else v for v, none in zip(values, failed, strict=True)]
                )
        for name in _OF_STEPS:
            values = [getattr(part, name) for part in parts]
            if values[0] is None:
                continue
            padded = [F.pad(v, (0, 0, 0, len(longest) - len(v))) for v in values]
            changes[name] = torch.cat(padded, dim=1)
        return replace(first, **changes)

    @property
    def values(self) -> Tensor:
        """The baseline's values, (T, B), 0 of rows that had ended."""
        return self._padded([decision.value for decision in self.decisions])

    @property
    def taught(self) -> str | None:
        """The component that `targets` are of; None where there is none."""
        if self.targets is None:
            return None
        return next((name for name, part in self.components.items() if part.taught), None)

    def rewards_to_the_end(self, rewards: Tensor, discount: float) -> Tensor:
        """`rewards` (T, B), with the discounted `last_values` added at the end of each row.

        Without a discount these need not be finite: the limit is then the horizon.
        """
        if discount >= 1.0 or not self.last_values.any():
            return rewards
        return rewards + self.ends * (discount * self.last_values).to(rewards)

    @property
    def ends(self) -> Tensor:
        """The last step of each row, (T, B) bool."""
        return self.alive & ~self.continuing

    @property
    def cuts(self) -> Tensor:
        """The last step of each row that was truncated, (T, B) bool, after which its
        `last_observation` was seen."""
        return self.ends & self.cut

    @property
    def followed(self) -> Tensor:
        """The steps after which something was seen, (T, B) bool."""
        return self.continuing | self.cuts

    def of_rows(self, rows: Tensor, decisions: list[Decision]) -> "Trajectory":
        """The episodes of `rows` (b,), with other `decisions`."""
        changes: dict[str, Any] = {"decisions": decisions, "rows": [None] * len(decisions)}
        for name in _NAMED:
            changes[name] = [of_rows(step, rows) for step in getattr(self, name)]
        changes["last_observation"] = of_rows(self.last_observation, rows)
        for name in _OF_EPISODES:
            values = getattr(self, name)
            changes[name] = None if values is None else values[rows]
        for name in _OF_STEPS:
            values = getattr(self, name)
            changes[name] = None if values is None else values[:, rows]
        return replace(self, **changes)

    def log_likelihood(self) -> Tensor:
        """The log-probability (T, B) of the right answer, given that one is given; 0 without
        `targets`."""
        if self.taught is None or self.targets is None:
            return torch.zeros_like(self.rewards)
        heads = [decision.heads[self.taught] for decision in self.decisions]
        right = [_of(target, rows) for target, rows in zip(self.targets, self.rows, strict=True)]
        found = type(heads[0]).joined(heads).log_likelihood(torch.cat(right))
        return self._padded(torch.split(found, [len(target) for target in right]))

    def effective(self, *, looks_learned: bool, taught: bool) -> dict[str, Tensor]:
        """Where each choice that is learned by reward had an effect: name -> (T, B) bool.

        Args:
            looks_learned: whether looks are learned, not a scanner's.
            taught: whether taught components are learned by reward.
        """
        masks = {
            "always": self.alive,
            "continuing": self.continuing,
            "scored": self.target_mask,
            "stoppable": self.stoppable,
        }
        heads = self.decisions[0].heads
        effective, given = {}, {}
        for name, part in reversed(list(self.components.items())):
            if (taught or not part.taught) and (looks_learned or name != "look"):
                effective[name] = masks[part.effect]
            if isinstance(heads[name], OptionalAnswer):
                given[name + GIVEN] = self.alive
        return effective | given

    def rewarded_for_entropy(self, effective: dict[str, Tensor]) -> dict[str, Tensor]:
        """The choices in `effective` that an entropy bonus is paid for."""
        return {
            name: mask
            for name, mask in effective.items()
            if name not in self.components or self.components[name].entropy
        }

    def stack(self, name: str, quantity: str) -> Tensor:
        """Stack over time the `quantity` ("log_prob" or "entropy") of the choice `name`: (T, B)."""
        steps = zip(self.decisions, self.actions, self.rows, strict=True)
        choices = [(_choice(name, decision, action), rows) for decision, action, rows in steps]
        head = type(choices[0][0][0]).joined([head for (head, _), _ in choices])
        taken = [_of(chosen, rows) for (_, chosen), rows in choices]
        found = head.entropy() if quantity == "entropy" else head.log_prob(torch.cat(taken))
        return self._padded(torch.split(found, [len(chosen) for chosen in taken]))

    def taken(self, name: str) -> Tensor:
        """The actions of the component `name` as the environment took them, (T, B, ...), 0 of rows
        that had ended."""
        steps = zip(self.decisions, self.actions, self.rows, strict=True)
        with torch.no_grad():
            return self._padded(
                [d.heads[name].to_env(_of(action[name], rows)) for d, action, rows in steps]
            )

    def _padded(self, columns: Sequence[Tensor]) -> Tensor:
        """T columns (b, ...), each of its step's rows, as (T, B, ...), 0 elsewhere."""
        whole = []
        for column, rows in zip(columns, self.rows, strict=True):
            if rows is not None:
                whole_batch = column.new_zeros(self.alive.shape[1], *column.shape[1:])
                column = whole_batch.index_copy(0, rows, column)
            whole.append(column)
        return torch.stack(whole)

    def joint(self, quantity: str, effective: dict[str, Tensor]) -> Tensor:
        """The sum (T, B) of `quantity` over the choices of each step that had an effect."""
        total = torch.zeros_like(self.rewards)
        for name, mask in effective.items():
            total = total + self.stack(name, quantity) * mask
        return total

    def summary(self) -> dict[str, float]:
        """Means over the episodes: share without success (if the task has it), return, glimpses."""
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


def _joined_parts(parts: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def _joined_rows(
    own: Sequence[Tensor | None], which: Sequence[int], begins: Sequence[int], sizes: Sequence[int]
) -> Tensor:
    """The rows of the parts `which` that are decided on, `own` of each, among those of all."""
    device = next((rows.device for rows in own if rows is not None), None)
    ranges = [
        torch.arange(sizes[k], device=device) if rows is None else rows
        for k, rows in zip(which, own, strict=True)
    ]
    return torch.cat([rows + begins[k] for k, rows in zip(which, ranges, strict=True)])


def of_rows(named: dict[str, Tensor], rows: Tensor) -> dict[str, Tensor]:
    """The `rows` (b,) of each part, name -> (B, ...)."""
    return {name: values[rows] for name, values in named.items()}


def _of(values: Tensor, rows: Tensor | None) -> Tensor:
    return values if rows is None else values[rows]
