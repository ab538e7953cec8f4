"""Which row of a table a control's config equals but for its gaze."""

from __future__ import annotations

import json
from collections.abc import Sequence

from glimpse_envs.evaluation.record import Gaze
from glimpse_envs.evaluation.run_identity import settings_of_all
from report.grouping import asked
from report.groups import Group
from report.markdown import environment, listed

RULES: dict[Gaze, str] = {
    "static": "the first place is kept",
    "random": "places are uniform",
    "raster": "places follow a raster",
    "oracle": "places are the targets', which nobody tells the others",
}
"""Gaze that is not learned -> where it goes."""


SHORTER = 0.9
"""Of an agent's minutes, from which on a control was trained for as long."""


def about_control(gaze: Gaze) -> str:
    """What a control of a gaze is, for the lists of models."""
    return f"a control: {RULES[gaze]}, and only the rest is learned"


def controls_of(groups: Sequence[Group]) -> list[str]:
    """A sentence on each row whose gaze is not learned: which rows, if any, have all of its other
    settings."""
    keys = settings_but_gaze(groups)
    sentences = []
    for control, key in zip(groups, keys, strict=True):
        if not is_control(control):
            continue
        twins = [
            f"{group.label}, {group.error:.2f} %"
            for group, other in zip(groups, keys, strict=True)
            if other == key and group.first.model.gaze == "learned" and group.has_success
        ]
        place = environment(control.first.env_id, control.first.env_kwargs)
        found = f"that of {listed(twins)}, except for the gaze" if twins else "no other row's"
        sentences.append(f"{control.label} on {place}: its config is {found}")
    return sentences


def without_controls(groups: Sequence[Group]) -> list[str]:
    """The sentence on environments of pictures in which agents chose their glimpses and none had
    random ones for about as long; nothing where all have such a control."""
    learned: dict[str, list[Group]] = {}
    random: dict[str, list[Group]] = {}
    for group in (group for group in groups if group.kind == "hard"):
        found = {"learned": learned, "random": random}.get(group.first.model.gaze)
        if found is not None:
            found.setdefault(asked(group.first), []).append(group)
    lacking = [
        environment(*json.loads(task))
        for task, agents in learned.items()
        if not any(_for_as_long(control, agents) for control in random.get(task, ()))
    ]
    if not lacking:
        return []
    return [
        "**Controls**: agents with random glimpses are not trained yet, or not for as long, on "
        f"{listed(sorted(lacking))}. What choosing buys there is not measured."
    ]


def random_control(agent: Group, groups: Sequence[Group]) -> Group | None:
    """Of the groups with random glimpses, as many as the agent's, that were trained for about as
    long, the one that erred least; None where there is none."""
    found = [
        group
        for group in groups
        if group.kind == "hard"
        and group.first.model.gaze == "random"
        and group.budget == agent.budget
        and _for_as_long(group, [agent])
    ]
    return min(found, key=lambda group: group.error, default=None)


def _for_as_long(control: Group, agents: Sequence[Group]) -> bool:
    """Whether a control was trained for about the time, or the episodes, of the shortest agent."""
    minutes = min(agent.core_minutes for agent in agents)
    episodes = min(agent.first.episodes for agent in agents)
    return control.core_minutes >= SHORTER * minutes or control.first.episodes >= SHORTER * episodes


def is_control(group: Group) -> bool:
    """Whether the gaze follows a rule in place of being learned."""
    return group.first.model.gaze in RULES


def settings_but_gaze(groups: Sequence[Group]) -> list[str]:
    """The settings of each but for its gaze: equal texts are of a control and its agent."""
    told = settings_of_all(group.first for group in groups)
    return [_but_gaze(group, settings) for group, settings in zip(groups, told, strict=True)]


def _but_gaze(group: Group, settings: dict[str, object]) -> str:
    record = group.first
    rest = {name: value for name, value in settings.items() if name != "gaze"}
    return json.dumps(
        [record.algorithm, record.env_id, record.env_kwargs, record.budget, rest], sort_keys=True
    )
