"""One number for a named set of tasks: the inter-quartile mean of normalised scores over tasks and
training seeds, with a stratified bootstrap interval.

Agarwal et al. (2021), "Deep reinforcement learning at the edge of the statistical precipice".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from glimpse_envs.core.arguments import check_choice, shown
from glimpse_envs.core.arrays import Floats
from glimpse_envs.evaluation.policy import Policy, Predicts, as_policy
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.result import Evaluation, aligned
from glimpse_envs.evaluation.strata import stratified_interval, stratified_mean

_PICTURES = (
    "Glimpse/CenteredMNIST-v0",
    "Glimpse/TranslatedMNIST-v0",
    "Glimpse/ClutteredMNIST-v0",
    "Glimpse/ClutteredMNISTLarge-v0",
    "Glimpse/FashionMNIST-v0",
    "Glimpse/CIFAR10-v0",
    "Glimpse/CircleSquare-v0",
)
_MEMORY = (
    "Glimpse/Copy-v0",
    "Glimpse/Reverse-v0",
    "Glimpse/RepeatCopy-v0",
    "Glimpse/DuplicatedInput-v0",
    "Glimpse/ForwardReverse-v0",
    "Glimpse/Addition-v0",
    "Glimpse/PrioritySort-v0",
    "Glimpse/AssociativeRecall-v0",
    "Glimpse/DictionaryLookup-v0",
    "Glimpse/PointerChase-v0",
)
TASK_SETS: dict[str, tuple[str, ...]] = {
    "pictures": _PICTURES,
    "memory": _MEMORY,
    "all": _PICTURES + _MEMORY,
}
"""Name -> the ids of a set. Sets are fixed, so that scores can be compared: a new id joins none.

No set has the ids with glyphs, the twins of those with MNIST; scenes of several objects, worlds and
texts have pages of their own. "all" is the union of the others.
"""

SHOWN_OTHERWISE = frozenset({"view", "look", "max_move", "history", "stop"})
"""Arguments that a policy may choose in a suite score. They change neither what is hidden and
asked, nor the budget and the costs."""

Maker = Callable[[str], Predicts | Callable[..., Any] | Sequence[Any]]


@dataclass(frozen=True)
class SuiteScore:
    """The scores of a learner on a set of tasks.

    Args:
        tasks: name -> evaluations, one per policy (training seed).
        score: inter-quartile mean of all normalised scores, each task having the same weight
            whatever the number of its policies; chance is 0 and the ceiling 1.
        interval: 95 % interval of that mean, by a bootstrap within each task: over its policies if
            every task has at least two, else over its episodes, so that it does not cover training
            seeds.
    """

    tasks: dict[str, tuple[Evaluation, ...]]
    score: float
    interval: tuple[float, float]

    @property
    def is_over_seeds(self) -> bool:
        """Whether the interval is over policies, so that training seeds count."""
        return all(len(scores) > 1 for scores in self.tasks.values())

    def summary(self) -> str:
        """A table of the tasks, and the score in the last line."""
        rows = [("", "policies", "episodes", "normalised", "return", "success %")]
        for env_id, scores in self.tasks.items():
            successes = [score.success for score in scores if score.success is not None]
            rows.append(
                (
                    env_id,
                    str(len(scores)),
                    f"{scores[0].episodes:,}",
                    f"{np.mean([score.normalised_score for score in scores]):.3f}",
                    f"{np.mean([score.mean_return for score in scores]):.3f}",
                    f"{100 * np.mean(successes):.2f}" if successes else "",
                )
            )
        low, high = self.interval
        over = (
            "over the policies of each task"
            if self.is_over_seeds
            else "over episodes alone: a task has one policy, so that training seeds do not count"
        )
        return (
            f"{aligned(rows)}\n"
            f"inter-quartile mean {self.score:.3f}, 95 % interval {low:.3f} to {high:.3f}, "
            f"{over}"
        )


def task_set(tasks: str | Sequence[str]) -> tuple[str, ...]:
    """The ids of a set named in `TASK_SETS`, or those listed.

    Raises:
        ValueError: no set has this name, or the list is empty or names an id twice.
    """
    if isinstance(tasks, str):
        if tasks not in TASK_SETS:
            if "/" in tasks or tasks in gym.registry:
                raise ValueError(f"tasks={tasks!r} is an id: give ids in a tuple, ({tasks!r},)")
            raise ValueError(f"tasks={tasks!r} must be one of {', '.join(TASK_SETS)}, or ids")
        return TASK_SETS[tasks]
    if not tasks or len(set(tasks)) < len(tasks):
        raise ValueError(f"tasks must be ids, each once; got {list(tasks)}")
    return tuple(tasks)


def score_suite(
    make_policies: Maker,
    tasks: str | Sequence[str] = "all",
    *,
    env_kwargs: Mapping[str, Mapping[str, Any]] | None = None,
    split: str = "test",
    episodes: int = 1000,
    seed: int = 0,
    batch_size: int = 1000,
) -> SuiteScore:
    """Play a learner's policies on every task of a set, at its standard budget, and score them.

    Args:
        make_policies: a function from an id to its policy, or to a list of policies, one per
            training seed; see `glimpse_envs.evaluation.protocol.evaluate` for their kinds.
        tasks: a name in `TASK_SETS`, or ids.
        env_kwargs: id -> arguments with which its policies see the task, of `SHOWN_OTHERWISE`. A
            policy with `view == "full"` is shown everything without being asked for it here.
        split: "test" or "validation".
        episodes: number of episodes to play of each task, the first ones.
        seed: of clutter, places and first glimpses.
        batch_size: rows played at once.

    Raises:
        TypeError: `make_policies` does not take an id, or does not return a policy.
        ValueError: `tasks` or `split` is not known, a split has fewer episodes, an argument would
            change a task, or a task of another package has no chance and ceiling.
    """
    check_split(split)
    ids, seen = task_set(tasks), env_kwargs or {}
    for env_id in ids:
        check_standard(env_id, seen.get(env_id, {}))
    found: dict[str, tuple[Evaluation, ...]] = {}
    for env_id in ids:
        policies = _made_by(make_policies, env_id)
        found[env_id] = tuple(
            evaluate(
                policy,
                env_id,
                split=split,
                episodes=episodes,
                seed=seed,
                batch_size=batch_size,
                **seen.get(env_id, {}),
            )
            for policy in policies
        )
    return combine(found)


def _made_by(make_policies: Maker, env_id: str) -> list[Policy]:
    """The policies of an id.

    Raises:
        TypeError: `make_policies` does not take an id, or does not return a policy.
        ValueError: it returns an empty list.
    """
    cure = (
        "make_policies must take an id and return its policy: where a policy serves every id, give "
        "lambda env_id: policy"
    )
    instance = not isinstance(make_policies, type) and hasattr(make_policies, "predict")
    if instance or not callable(make_policies):
        raise TypeError(f"{cure}, in place of {shown(make_policies)}")
    try:
        made: Any = make_policies(env_id)
    except (TypeError, AttributeError) as error:  # of a policy that was given an id
        raise TypeError(f"{cure}; called with {env_id!r} it raised: {error}") from error
    several = isinstance(made, Sequence) and not isinstance(made, str)
    try:
        policies = [as_policy(each) for each in (made if several else [made])]
    except TypeError as error:
        raise TypeError(f"{cure}; for {env_id!r} it returned {shown(made)}: {error}") from error
    if not policies:
        raise ValueError(f"{env_id} has no policy")
    return policies


def check_split(split: str) -> None:
    """Raise a ValueError unless `split` has fixed scenes."""
    check_choice("split", split, ("test", "validation"))


def check_standard(env_id: str, env_kwargs: Mapping[str, Any]) -> None:
    """Refuse arguments that change a task.

    Raises:
        ValueError: an argument is not in `SHOWN_OTHERWISE`.
    """
    changed = sorted(env_kwargs.keys() - SHOWN_OTHERWISE)
    if changed:
        raise ValueError(
            f"{env_id} with {', '.join(f'{name}={env_kwargs[name]!r}' for name in changed)} is "
            f"another task: a suite score allows {', '.join(sorted(SHOWN_OTHERWISE))} to differ"
        )


def combine(tasks: Mapping[str, Sequence[Evaluation]]) -> SuiteScore:
    """The score of evaluations that were already made, id -> one per policy.

    Raises:
        ValueError: there is none, or a normalised score is not known; or, where a task has a single
            policy, so that episodes are drawn, its policies played unlike numbers of them.
    """
    scores = {env_id: tuple(evaluations) for env_id, evaluations in tasks.items()}
    unknown = [
        env_id
        for env_id, evaluations in scores.items()
        if not evaluations or any(np.isnan(each.normalised_score) for each in evaluations)
    ]
    if unknown or not scores:
        raise ValueError(f"no normalised score is known of {', '.join(unknown) or 'no task'}")
    by_task = [np.array([each.normalised_score for each in row]) for row in scores.values()]
    strata: list[Floats] = by_task
    if min(map(len, by_task)) == 1:
        strata = [_normalised_episodes(env_id, row) for env_id, row in scores.items()]
    return SuiteScore(
        tasks=scores,
        score=stratified_mean(by_task),
        interval=stratified_interval(strata),
    )


def _normalised_episodes(env_id: str, evaluations: Sequence[Evaluation]) -> Floats:
    """(policies, episodes) normalised returns of each episode of a task."""
    played = sorted({each.episodes for each in evaluations})
    if len(played) > 1:
        raise ValueError(
            f"policies played {' and '.join(map(str, played))} episodes of {env_id}: they must all "
            "play as many, since one task has a single policy, so that episodes are drawn"
        )
    rows = []
    for each in evaluations:
        chance, ceiling = each.scale
        rows.append((each.returns - chance) / (ceiling - chance))
    return np.stack(rows)
