"""What a learned gaze bought in each game, beside gazes by a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from glimpse_envs.evaluation.run_identity import settings_of_all
from glimpse_envs.evaluation.statistics import CLAIM_SEEDS, student_quantile
from report.grouping import differences
from report.groups import Group
from report.markdown import digits, listed

CONFIDENCE = 0.95


class Mean(NamedTuple):
    """A mean return, its standard error, and the degrees of freedom of the latter."""

    value: float
    error: float
    free: float


def mean_of(group: Group) -> Mean | None:
    """The mean return of one run, whose error is that over its episodes, or of several, over them;
    None where returns, or their interval, are not recorded."""
    if group.seeds == 1:
        scored = group.first.headline
        if scored.mean_return is None or scored.return_interval is None or scored.episodes < 2:
            return None
        return mean_of_episodes(scored.mean_return, scored.return_interval, scored.episodes)
    found = [record.headline.mean_return for record in group.records]
    returns = [one for one in found if one is not None]
    if len(returns) < len(found):
        return None
    return Mean(
        float(np.mean(returns)),
        float(np.std(returns, ddof=1)) / sqrt(len(returns)),
        len(returns) - 1,
    )


def mean_of_episodes(value: float, interval: tuple[float, float], episodes: int) -> Mean:
    """The mean return of at least two episodes, from its interval of 95 %."""
    free = episodes - 1
    low, high = interval
    return Mean(value, (high - low) / 2 / student_quantile(0.5 + CONFIDENCE / 2, free), free)


def difference(first: Mean, second: Mean) -> tuple[float, float]:
    """Welch's interval, of 95 %, of `first` less `second`."""
    squares = first.error**2, second.error**2
    between = first.value - second.value
    if not sum(squares):
        return between, between
    free = sum(squares) ** 2 / (squares[0] ** 2 / first.free + squares[1] ** 2 / second.free)
    half = student_quantile(0.5 + CONFIDENCE / 2, free) * sqrt(sum(squares))
    return between - half, between + half


def gaze_findings(games: Mapping[str, Mapping[str, Sequence[Group]]]) -> list[str]:
    """A paragraph on games, name -> gaze -> its groups. A learned gaze is compared with those that
    were trained and scored by the same settings; of learned ones with several settings none is told
    of, as none of these speaks for the gaze."""
    told, compared = [], []
    for game, by_gaze in sorted(games.items()):
        groups = [(gaze, group) for gaze, found in by_gaze.items() for group in found]
        keys = _settings_but_look([group for _, group in groups])
        learned_keys = [
            key for (gaze, _), key in zip(groups, keys, strict=True) if gaze == "learned"
        ]
        alike = [pair for pair, key in zip(groups, keys, strict=True) if key in learned_keys]
        means = {gaze: mean for gaze, g in alike if (mean := mean_of(g)) is not None}
        learned = means.pop("learned", None)
        if learned is None or not means or len(learned_keys) > 1:
            continue
        apart = {gaze: difference(learned, mean) for gaze, mean in sorted(means.items())}
        compared += [group for gaze, group in alike if gaze in apart or gaze == "learned"]
        clear = [
            f"{verb} than the {gaze} one by {digits(abs(learned.value - means[gaze].value))} "
            f"({digits(low)} to {digits(high)})"
            for gaze, (low, high) in apart.items()
            if (verb := "less" if high < 0 else "more" if low > 0 else None)
        ]
        unclear = [gaze for gaze, (low, high) in apart.items() if low <= 0 <= high]
        if clear:
            told.append(f"In {game} the learned gaze scored {listed(clear)}.")
        if unclear:
            where = "it" if clear else f"In {game} the learned gaze"
            other = f"the {listed(unclear)} one{'s' * (len(unclear) > 1)}"
            sentence = f"{where} is not told apart from {other}."
            told.append(sentence[0].upper() + sentence[1:])
    if not told:
        return []
    few = any(group.seeds < CLAIM_SEEDS for group in compared)
    limits = "Brackets hold Welch's intervals, of 95 %, of the difference"
    if any(group.seeds == 1 for group in compared):
        limits += (
            ", over the test episodes of one training each: how much trainings differ is not in "
            "them"
        )
    limits += "."
    if few:
        limits += f" Rows have fewer than {CLAIM_SEEDS} seeds, so no claim is made."
    return [" ".join([*told, limits])]


def several_settings(games: Mapping[str, Mapping[str, Sequence[Group]]]) -> list[str]:
    """How the rows of one game and gaze differ, games being name -> gaze -> its groups; nothing
    where there is one of each."""
    told = []
    for game, by_gaze in sorted(games.items()):
        for gaze, groups in sorted(by_gaze.items()):
            if len(groups) < 2:
                continue
            words = differences(_settings_but_look(groups), absent=True)
            rows = [
                f"{'no return' if (mean := group.mean_return) is None else digits(mean)} with "
                f"{listed(own)}"
                for group, own in zip(groups, words, strict=True)
            ]
            told.append(f"{game} {gaze}: {'; '.join(rows)}.")
    if not told:
        return []
    return [f"Gazes are compared where all other settings are equal. {' '.join(told)}"]


def _settings_but_look(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """What each group was trained on and by and how it was scored, without the rule that its gaze
    followed or SUGARL's reward."""
    found = settings_of_all(group.first for group in groups)
    every = [
        {
            **settings,
            **_under("env_kwargs", group.first.env_kwargs),
            "actions": group.first.headline.actions,
            "test_episodes": group.first.headline.episodes,
        }
        for group, settings in zip(groups, found, strict=True)
    ]
    left_out = ("env_kwargs.look", "sugarl_weight")
    return [{name: value for name, value in one.items() if name not in left_out} for one in every]


def _under(path: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{path}.{name}": value for name, value in entries.items()}
