"""Which results the README's table shows: a few rows, the best of their kind."""

from __future__ import annotations

from collections.abc import Sequence

from glimpse_envs.evaluation.statistics import CLAIM_SEEDS
from report.controls import is_control, settings_but_gaze
from report.grouping import NEUTRAL_KWARGS
from report.groups import Group
from report.kinds import KINDS
from report.references.pictures import REFERENCES, Reference

MAIN_ID = "Glimpse/ClutteredMNIST-v0"
"""Whose soft, full-view and random-glimpse models the README shows with the agents."""


def readme_rows(groups: Sequence[Group]) -> list[tuple[Group, Reference | None]]:
    """The rows of the README: of `MAIN_ID` the best model of each kind and gaze, of the other
    environments the best agent that chooses its glimpses and has a reference. Of controls that of
    the agent shown comes first."""
    best: dict[tuple[str, int, str], tuple[Group, Reference | None]] = {}
    known = list(dict.fromkeys(reference.env_id for reference in REFERENCES))
    but_gaze = dict(zip(map(id, groups), settings_but_gaze(groups), strict=True))
    scored = [group for group in groups if group.has_success]
    models = sorted((group for group in scored if not is_control(group)), key=_choice)
    controls = [group for group in scored if is_control(group)]

    def enter(group: Group) -> None:
        fitting = [reference for reference in REFERENCES if reference.fits(group.first)]
        env_id, model = group.first.env_id, group.first.model
        main = env_id == MAIN_ID and group.first.env_kwargs.keys() <= NEUTRAL_KWARGS
        if main or (fitting and group.kind == "hard" and model.gaze == "learned"):
            key = env_id, KINDS.index(group.kind), model.gaze
            best.setdefault(key, (group, fitting[0] if fitting else None))

    for group in models:
        enter(group)
    shown = {but_gaze[id(group)] for group, _ in best.values()}
    for group in sorted(controls, key=lambda g: (but_gaze[id(g)] not in shown, *_choice(g))):
        enter(group)
    order = sorted(best, key=lambda key: (key[0] != MAIN_ID, _place(key[0], known), *key[1:]))
    return [best[key] for key in order]


def _choice(group: Group) -> tuple[float, ...]:
    """What has seeds enough for a claim comes first, then what did best on validation."""
    return group.seeds < CLAIM_SEEDS, group.choice


def _place(env_id: str, known: Sequence[str]) -> int:
    return known.index(env_id) if env_id in known else len(known)
