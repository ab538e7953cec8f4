"""What differs between the trainings of agents and of models that see everything, but for what they
see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from report.groups import Group
from report.markdown import listed

_OPTIMIZERS = {"adam": "Adam", "muon": "Muon"}


def unequal_trainings(groups: Sequence[Group]) -> list[str]:
    """The sentences on optimizers, batches and curricula of both kinds; nothing where one kind is
    missing, or where both had the same."""
    agents = [group for group in groups if group.kind == "hard"]
    others = [group for group in groups if group.kind != "hard"]
    if not agents or not others:
        return []
    of_agents, of_others = _trained(agents), _trained(others)
    if of_agents == of_others:
        return []
    return [
        f"**Trainings** differ in more than what is seen. Agents: {of_agents}. Models that see "
        f"everything: {of_others}. How much of a difference in results comes from these is not "
        "measured."
    ]


def _trained(groups: Sequence[Group]) -> str:
    configs = [group.first.config for group in groups]
    optimizers = dict.fromkeys(str(config.get("optimizer", "adam")) for config in configs)
    named = [_OPTIMIZERS.get(name, name) for name in sorted(optimizers)]
    curricula = sorted({group.curriculum for group in groups})
    batches = _range(int(config["batch_size"]) for config in configs if "batch_size" in config)
    parts = [_or(named), *([f"batches of {batches}"] if batches else [])]
    return listed([*parts, f"lengths by the curriculum {_or([f'*{name}*' for name in curricula])}"])


def _range(values: Iterable[int]) -> str:
    found = sorted(values)
    if not found:
        return ""
    return f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def _or(names: Sequence[str]) -> str:
    return listed(names).replace(" and ", " or ")
