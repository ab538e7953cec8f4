"""Mistakes of several runs on the same scenes, counted by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from agents.report.analysis import answer_names
from agents.report.findings import chosen_of
from agents.report.trace import Witness
from agents.scoring.run_groups import group_runs
from agents.scoring.run_scores import evaluate_run, policy_of
from agents.training.resuming import setting_of
from benchmarks.mistakes.scenes import clutter_shares
from glimpse_envs.episodes.description import describe, describe_id
from glimpse_envs.evaluation.provenance import git_revision
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run
from report.mistakes import HardScene, Kind, Mistakes

CLUTTER_EDGES = (0.0, 0.01, 0.03, 0.06, 0.1)
"""Shares of a target's box; the first kind has no clutter at all, the last more than the last."""


@dataclass(frozen=True)
class Played:
    """What one run did on the scenes.

    Attributes:
        run: it.
        evaluation: its score.
        answers: (E,) the last one that was scored.
        looks: (E,) chosen glimpses whose middle lies on a target.
        visited: (E,) targets on which a glimpse lay, the dealt one too.
        most: number of targets that scenes have at most.
        targets: (E,) the right answers.
    """

    run: Run
    evaluation: Evaluation
    answers: NDArray[np.int64]
    looks: NDArray[np.int64]
    visited: NDArray[np.int64]
    most: int
    targets: NDArray[np.int64]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """(E,) episodes without success."""
        return self.answers != self.targets


def check_runs(runs: Sequence[Run]) -> None:
    """Refuse runs that cannot be compared, before anything is played.

    Raises:
        RunError: they differ in more than their seeds, or a seed comes twice; or their task does
            not hide targets at places and ask for one answer.
    """
    groups = group_runs(runs)
    if len(groups) > 1:
        recipes = ", ".join(group.name for group in groups)
        raise RunError(f"the runs must differ in their seeds alone; they are of {recipes}")
    seeds = [setting_of(run, "seed", int) for run in runs]
    if len(set(seeds)) < len(seeds):
        raise RunError(f"the runs must be of different seeds; they are of {seeds}")
    env_id, env_kwargs = setting_of(runs[0], "env_id", str), setting_of(runs[0], "env_kwargs", dict)
    with closing(gym.make(env_id, **env_kwargs)) as env:
        seen = describe(env)
        names = answer_names(seen.components["answer"]) if "answer" in seen.components else ()
        box: Any = None
        if names and seen.picture_view is not None:
            _, info = env.reset(seed=0)
            box = info.get("target_box")
        if box is None:
            raise RunError(
                f"{env_id} does not hide targets in a picture and ask for one answer of several: "
                "its mistakes cannot be counted by scene"
            )


def play(run: Run, split: str, episodes: int | None) -> Played:
    """Play the scenes of a split with the policy of `run`.

    Raises:
        RunError: the run cannot be read, or success is not that of one answer.
    """
    witness = Witness(policy_of(run)[0])
    evaluation = evaluate_run(run, split=split, episodes=episodes, watcher=witness)
    trace = witness.trace()
    rows, scored = np.arange(len(trace.alive)), trace.scored
    last = scored.shape[1] - 1 - scored[:, ::-1].argmax(axis=1)
    answers, targets = trace.answers[rows, last], trace.targets[rows, last]
    several = (scored & (trace.targets != targets[:, None])).any()
    right = answers == targets
    if several or evaluation.successes is None or (evaluation.successes != right).any():
        raise RunError(
            f"{run.folder}: success in {evaluation.env_id} is that of several answers: mistakes "
            "cannot be counted by the last"
        )
    chosen = chosen_of(evaluation)
    looks = (trace.on_target[:, : chosen.shape[1]] & chosen).sum(axis=1)
    return Played(run, evaluation, answers, looks, trace.visited, trace.lies_on.shape[2], targets)


def count_mistakes(played: Sequence[Played], hardest: int) -> Mistakes:
    """The record of `played`, of the same scenes, with at most so many of the hardest."""
    first = played[0]
    names = _names_of_answers(first.evaluation)
    wrong = np.stack([one.wrong for one in played])  # (R, E)
    looks, visited = (np.stack([getattr(one, n) for one in played]) for n in ("looks", "visited"))
    targets = np.broadcast_to(first.targets, wrong.shape)
    times = wrong.sum(axis=0)
    worst = np.argsort(-times, kind="stable")[:hardest]
    config = first.run.config
    return Mistakes(
        env_id=first.evaluation.env_id,
        env_kwargs=first.evaluation.env_kwargs,
        split=first.evaluation.split,
        model=config["model"]["name"],
        seeds=tuple(one.run.config["config"]["seed"] for one in played),
        images=round(fmean(one.run.load_checkpoint()[1]["episodes"] for one in played)),
        hardware=config["hardware"],
        revision=git_revision(),
        scenes=first.evaluation.episodes,
        wrong=tuple(int(count) for count in wrong.sum(axis=1)),
        wrong_in=tuple(int(n) for n in np.bincount(times, minlength=len(played) + 1)),
        by_looks=tuple(_counted(wrong, looks)),
        by_visits=tuple(_counted(wrong, visited)) if first.most > 1 else (),
        by_answer=tuple(_kinds(wrong, targets, names)),
        by_clutter=tuple(by_clutter(wrong, clutter_shares(first.evaluation))),
        hardest=tuple(
            HardScene(
                scene=int(scene),
                target=names[first.targets[scene]],
                answers=tuple(names[one.answers[scene]] for one in played),
            )
            for scene in worst
            if times[scene]
        ),
    )


def _names_of_answers(evaluation: Evaluation) -> tuple[str, ...]:
    described = describe_id(evaluation.env_id, evaluation.env_kwargs)
    return answer_names(described.components["answer"])


def by_clutter(wrong: NDArray[np.bool_], shares: NDArray[np.float64] | None) -> Iterator[Kind]:
    """Mistakes (R, E) by the share (E,) of the target's box that clutter changes; nothing where
    that is None."""
    if shares is None:
        return
    percent = [f"{100 * edge:g}" for edge in CLUTTER_EDGES]
    between = [f"up to {high} %" for high in percent[1:]]
    names = ["none", *between, f"more than {percent[-1]} %"]
    kinds = np.searchsorted(CLUTTER_EDGES, shares)  # left: an edge belongs to the kind below it
    yield from _kinds(wrong, np.broadcast_to(kinds, wrong.shape), names)


def _counted(wrong: NDArray[np.bool_], counts: NDArray[np.int64]) -> Iterator[Kind]:
    """Mistakes (R, E) by the `counts` (R, E)."""
    yield from _kinds(wrong, counts, [str(number) for number in range(counts.max() + 1)])


def _kinds(
    wrong: NDArray[np.bool_], kinds: NDArray[np.int64], names: Sequence[str]
) -> Iterator[Kind]:
    """Mistakes (R, E) by the kind (R, E) of episode, a number of `names`."""
    for number, name in enumerate(names):
        those = kinds == number
        if those.any():
            yield Kind(name, int(those.sum()), int(wrong[those].sum()))
