"""A run analysed: its scores, what it did, its mistakes, costs and warnings."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from agents.report.findings import surest_mistakes, training_warnings, warnings_of
from agents.report.replays import Replay, replay
from agents.report.trace import Trace, Witness
from agents.scoring.costs import Costs, make_evaluated, measure_costs
from agents.scoring.run_scores import (
    at_level,
    evaluate_run,
    fits,
    policy_of,
    scored_level,
    trained_levels,
)
from glimpse_envs.episodes.description import Description, describe, task_of
from glimpse_envs.evaluation.record import MULTIPLES
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.task import Component

EXAMPLES = 4
"""Number of episodes of tapes and tables that are drawn, right or wrong."""


@dataclass(frozen=True)
class LevelScore:
    """Share of `episodes` of one length with success, or their mean return without such."""

    score: float
    episodes: int


@dataclass(frozen=True)
class Analysis:
    """The contents of a report on one run.

    Attributes:
        run: the run itself.
        evaluation: of all episodes; with levels that are not mixed, of the greatest trained.
        trace: of the same episodes.
        level: of all these episodes; None where they mix levels, or there are none.
        trained_to: the greatest trained level; None without levels.
        by_level: level -> score; empty without levels.
        answers: names of the answers, in order; empty where they are not one number.
        seen: what the environment says of itself.
        costs: of an episode; empty where they are not known.
        replays: of its most confident mistakes.
        examples: of the first episodes, where no picture is hidden.
        warnings: what looks wrong, a sentence each.
    """

    run: Run
    evaluation: Evaluation
    trace: Trace
    level: int | None
    trained_to: int | None
    by_level: dict[int, LevelScore]
    answers: tuple[str, ...]
    seen: Description
    costs: Costs
    replays: list[Replay]
    examples: list[Replay]
    warnings: list[str]


def analyse(run: Run, *, split: str, episodes: int | None, mistakes: int = 20) -> Analysis:
    """Play the episodes of a split with the policy of `run`, and find out what is shown.

    Args:
        run: an open run.
        split: "validation" or "test".
        episodes: to play, from the split's first on; None: all. With levels, this many at the
            scored level, over all trained levels mixed, and at each greater one.
        mistakes: to draw, at most.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: `episodes` is None where the environment has no fixed number of scenes.
    """
    levels, greatest = trained_levels(run), scored_level(run)
    changes: dict[str, Any] = {} if greatest is None else at_level(greatest)
    policy, _ = policy_of(run)
    witness = Witness(policy)
    played: dict[str, Any] = {"split": split, "episodes": episodes, "at_most": True}
    evaluation = evaluate_run(run, watcher=witness, **played, **changes)
    trace, by_level = witness.trace(), {}
    if levels is not None:
        mixed = (evaluation, trace) if greatest is None else _played_mixed(run, levels, played)
        by_level = _by_level(*mixed) | _beyond(run, levels[1], played)
    with closing(make_evaluated(evaluation, 1)) as env:
        seen, ours = describe(env), task_of(env) is not None
    answer = seen.components.get("answer")
    names = () if answer is None else answer_names(answer)
    warnings = warnings_of(evaluation, trace, names, answer is not None and answer.optional)
    in_memory = ours and seen.picture_view is None and seen.reading is not None
    firsts = [(k, np.nan) for k in range(min(EXAMPLES, evaluation.episodes))] if in_memory else []
    return Analysis(
        run=run,
        evaluation=evaluation,
        trace=trace,
        level=greatest,
        trained_to=None if levels is None else levels[1],
        by_level=by_level,
        answers=names,
        seen=seen,
        costs=measure_costs(policy, evaluation),
        replays=replay(policy, evaluation, surest_mistakes(evaluation, trace, mistakes)),
        examples=replay(policy, evaluation, firsts),
        warnings=training_warnings(run) + warnings,
    )


def answer_names(answer: Component) -> tuple[str, ...]:
    """The names of the answers; empty where an answer is not one number."""
    if not isinstance(answer.space, spaces.Discrete):
        return ()
    return answer.names or tuple(map(str, range(int(answer.space.n))))


def _played_mixed(
    run: Run, levels: tuple[int, int], played: dict[str, Any]
) -> tuple[Evaluation, Trace]:
    """Episodes that mix the trained levels."""
    witness = Witness(policy_of(run)[0])
    mixed: dict[str, Any] = {"min_length": levels[0], "length": levels[1]}
    return evaluate_run(run, watcher=witness, **played, **mixed), witness.trace()


def _by_level(mixed: Evaluation, trace: Trace) -> dict[int, LevelScore]:
    """Scores of the trained levels, of episodes that mix them."""
    scores, lengths, found = _scores(mixed), trace.lengths, {}
    for level in np.unique(lengths):
        those = lengths == level
        found[int(level)] = LevelScore(float(scores[those].mean()), int(those.sum()))
    return found


def _beyond(run: Run, greatest: int, played: dict[str, Any]) -> dict[int, LevelScore]:
    """Scores at the multiples of the greatest trained level that fit the policy."""
    found = {}
    for level in (multiple * greatest for multiple in MULTIPLES if multiple > 1):
        if not fits(run, at_level(level)):
            break
        scores = _scores(evaluate_run(run, **played, **at_level(level)))
        found[level] = LevelScore(float(scores.mean()), len(scores))
    return found


def _scores(evaluation: Evaluation) -> NDArray[Any]:
    return evaluation.returns if evaluation.successes is None else evaluation.successes
