"""Which runs are alike but for their seeds, and which groups of them may be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.run_identity import digest, settings_of_all
from glimpse_envs.suite import ATARI, MINIGRID, SUITE
from report.groups import Group
from report.kinds import KINDS
from report.markdown import setting
from report.runs import Run
from report.trained_runs import own_arguments_of

NEUTRAL_KWARGS = frozenset(
    {
        "budget",
        "split",
        "copies",
        "autoreset_mode",
        "render_mode",
        "render_height",
        "reveal",
        "reward",
        "history",
        "overhang",
    }
)
"""Arguments that change how an agent is trained or dealt scenes, not what the task is."""

# Entries of a config that stand in the record, too.
_RECORDED = frozenset({"env_id", "answer_by", "curriculum", "length"})
_LENGTHS = frozenset({"minutes", "episodes"})


@dataclass(frozen=True)
class Task:
    """Groups that may be compared: one table, one panel."""

    env_id: str
    env_kwargs: dict[str, Any]
    """What differs from the id's defaults in what is hidden and asked."""
    groups: tuple[Group, ...]
    """By kind, then by label."""


def group_runs(runs: Iterable[Run]) -> list[Group]:
    """Runs of the test split that have everything but seed and machine in common, together.

    The label of a group is the model's name, with the settings that tell it from others of the same
    task, model and budget; the length of its training, which has a column of its own, only where
    nothing else does.
    """
    alike: dict[str, dict[str, list[Run]]] = {}
    told: dict[str, dict[str, Any]] = {}
    scored = [run for run in runs if run.record.headline.split == "test"]
    for run, settings in zip(scored, _told_alike(scored, _settings(scored)), strict=True):
        variant = digest(settings)
        told[variant] = settings
        alike.setdefault(_row(run.record), {}).setdefault(variant, []).append(run)
    groups: list[Group] = []
    for key in sorted(alike):
        variants = list(alike[key].values())
        differing = _words_apart([told[variant] for variant in alike[key]])
        named = [
            Group(tuple(sorted(same, key=lambda run: run.record.seed)), _label(same[0], words))
            for same, words in zip(variants, differing, strict=True)
        ]
        groups += sorted(named, key=lambda group: group.label)
    return _told_apart(groups)


def _told_apart(groups: Sequence[Group]) -> list[Group]:
    """`groups` with labels that tell apart, of those with one label, a curriculum that used the
    targets' places in training, and numbers of episodes in the test."""

    def place(group: Group) -> tuple[str, str, str, str]:
        record = group.first
        kwargs = json.dumps(record.env_kwargs, sort_keys=True)
        return record.env_id, kwargs, group.budget, group.label

    known: dict[tuple[str, str, str, str], list[Group]] = {}
    for group in groups:
        known.setdefault(place(group), []).append(group)
    found = []
    for group in groups:
        twins, words = known[place(group)], []
        if group.curriculum == "distance" and any(t.curriculum != "distance" for t in twins):
            words.append("curriculum distance")
        scored = group.first.headline.episodes
        if any(twin.first.headline.episodes != scored for twin in twins):
            words.append(f"{scored:,} test episodes")
        found.append(replace(group, label=_label_with(group.label, words)))
    return found


def tasks_of(runs: Iterable[Run]) -> list[Task]:
    """The groups by what is asked, in the suite's order; an id's defaults come first.

    A label tells how the hidden thing is seen where that differs from the id's defaults, and the
    arguments that not all groups of the task share, too.
    """
    tasks: dict[str, list[Group]] = {}
    for group in group_runs(runs):
        tasks.setdefault(asked(group.first), []).append(group)
    found = []
    for key, groups in tasks.items():
        env_id, env_kwargs = json.loads(key)
        differing = differences([group.first.env_kwargs for group in groups])
        named = [
            replace(group, label=_label_with(group.label, sorted({*_seen(group), *words})))
            for group, words in zip(groups, differing, strict=True)
        ]
        named.sort(key=lambda group: (KINDS.index(group.kind), group.label, group.curriculum))
        found.append(Task(env_id, env_kwargs, tuple(named)))
    known = list(SUITE)

    def place(task: Task) -> tuple[int, str, int, str]:
        index = known.index(task.env_id) if task.env_id in known else len(known)
        return index, task.env_id, len(task.env_kwargs), json.dumps(task.env_kwargs, sort_keys=True)

    return sorted(found, key=place)


def differences(settings: Sequence[dict[str, Any]], *, absent: bool = False) -> list[list[str]]:
    """What each has that is not in all of the others, in words: ["core gru", "slack 2"].

    Args:
        settings: name -> value of each.
        absent: whether to name what one does not have: "no slack".
    """
    names = sorted(set().union(*settings))
    differing = [n for n in names if any(s.get(n) != settings[0].get(n) for s in settings)]
    return [[setting(n, s.get(n)) for n in differing if n in s or absent] for s in settings]


def _words_apart(settings: Sequence[dict[str, Any]]) -> list[list[str]]:
    """In words, how each group differs from the others: the length of its training only where
    nothing else tells it from another, and its limit of episodes beside its minutes only where
    these do not, either."""
    made = [{k: v for k, v in told.items() if k not in _LENGTHS} for told in settings]
    words = differences(made, absent=True)
    lengths = differences([_length_of(told) for told in settings])
    limits = differences([{k: v for k, v in told.items() if k in _LENGTHS} for told in settings])
    for longer in (lengths, limits):
        words = [
            [*own, *(word for word in length if word not in own)] if words.count(own) > 1 else own
            for own, length in zip(words, longer, strict=True)
        ]
    return words


def _length_of(told: dict[str, Any]) -> dict[str, Any]:
    """What a training was to last: its minutes, or, where it has none, its episodes."""
    bound = "minutes" if told.get("minutes") is not None else "episodes"
    return {bound: told[bound]} if bound in told else {}


def _row(record: Record) -> str:
    """What the cells of a table tell of a record."""
    task = [record.env_id, len(record.env_kwargs), record.env_kwargs]
    trained = [record.config.get("curriculum"), record.levels, record.headline.episodes]
    # In worlds of others the longest episode depends on the play.
    budget = None if record.env_id in (ATARI, MINIGRID) else record.budget
    actions = record.headline.actions
    return json.dumps([*task, *astuple(record.model), budget, actions, *trained], sort_keys=True)


def _seen(group: Group) -> list[str]:
    """How the hidden thing is seen, where that differs from the id's defaults, in words."""
    kwargs, own = group.first.env_kwargs, own_arguments_of(group.first.env_id)
    names = sorted(kwargs.keys() & (_view_arguments(group.first) - NEUTRAL_KWARGS))
    return [setting(name, kwargs[name]) for name in names if own.get(name) != kwargs[name]]


def _view_arguments(record: Record) -> frozenset[str]:
    task = task_class_of(record.env_id) if record.env_id in SUITE else None
    return frozenset() if task is None else task.view_arguments


def asked(record: Record) -> str:
    """What is hidden and asked of a record's run, as JSON: its environment's id, and the arguments
    that change it."""
    neutral = NEUTRAL_KWARGS | {*LEVEL_ARGUMENTS} | _view_arguments(record)
    kwargs = {k: v for k, v in record.env_kwargs.items() if k not in neutral}
    return json.dumps([record.env_id, kwargs], sort_keys=True)


def _settings(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What each config tells of how a model was made and trained that its record does not."""
    return [
        {
            name: value
            for name, value in settings.items()
            if name not in _RECORDED and not name.startswith("env_kwargs.")
        }
        for settings in settings_of_all(run.record for run in runs)
    ]


def _told_alike(runs: Sequence[Run], settings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """`settings`, but a run that was trained for a number of episodes has those of the runs that it
    repeats: those of other seeds that saw as many episodes in their minutes."""

    def key(run: Run, told: dict[str, Any], episodes: int) -> str:
        rest = {name: value for name, value in told.items() if name not in _LENGTHS}
        return digest([_row(run.record), rest, episodes])

    timed: dict[str, dict[int, dict[str, Any]]] = {}  # by seed
    for run, told in zip(runs, settings, strict=True):
        if "minutes" in told:
            timed.setdefault(key(run, told, run.record.episodes), {})[run.record.seed] = told
    alike = []
    for run, told in zip(runs, settings, strict=True):
        if "minutes" not in told and "episodes" in told:
            others = timed.get(key(run, told, told["episodes"]), {})
            # The same seed again, on another machine say, is no further seed.
            if others and run.record.seed not in others:
                *_, told = others.values()
        alike.append(told)
    return alike


def _label(run: Run, words: Sequence[str]) -> str:
    return _label_with(run.record.model.name, words)


def _label_with(label: str, words: Sequence[str]) -> str:
    """`label` with `words` in brackets, which may have others already."""
    if not words:
        return label
    begun = f"{label[:-1]}, " if label.endswith(")") else f"{label} ("
    return f"{begun}{', '.join(words)})"
