"""Which row of a table a control's config equals but for its gaze."""

from __future__ import annotations

import json
from collections.abc import Sequence

from glimpse_envs.evaluation.records import settings_of_all
from report.groups import Group
from report.markdown import environment, listed

_SCANNERS = ("random", "raster", "oracle")


def controls_of(groups: Sequence[Group]) -> list[str]:
    """A sentence on each row whose gaze is not learned: which rows, if any, have all of its other
    settings."""
    told = settings_of_all(group.first for group in groups)
    keys = [_but_gaze(group, settings) for group, settings in zip(groups, told, strict=True)]
    sentences = []
    for control, key in zip(groups, keys, strict=True):
        if control.first.model.gaze not in _SCANNERS:
            continue
        twins = [
            f"{group.label}, {group.error:.2f} %"
            for group, other in zip(groups, keys, strict=True)
            if other == key and group.first.model.gaze == "learned" and group.has_success
        ]
        place = environment(control.first.env_id, control.first.env_kwargs)
        found = f"but for the gaze that of {listed(twins)}" if twins else "no other row's"
        sentences.append(f"{control.label} on {place}: its config is {found}")
    return sentences


def _but_gaze(group: Group, settings: dict[str, object]) -> str:
    record = group.first
    rest = {name: value for name, value in settings.items() if name != "gaze"}
    return json.dumps(
        [record.algorithm, record.env_id, record.env_kwargs, record.budget, rest], sort_keys=True
    )
