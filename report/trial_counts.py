"""How many recorded trials chose the settings of agents, and of the models that see everything,
and on scenes of which sides."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from report.benchmark_records import read_benchmark
from report.markdown import listed, short
from report.trained_runs import own_arguments_of


def trial_counts(folder: Path) -> dict[str, tuple[int, int]]:
    """Environment id -> the recorded trials of agents, and of models that see everything."""
    found: dict[str, tuple[int, int]] = {}
    for path in sorted(folder.glob("trials*.json")):
        record = read_benchmark(path)
        if record is None:
            continue
        agents, others = found.get(record["env_id"], (0, 0))
        of_others = sum(trial["sees"] == "everything" for trial in record["trials"])
        of_agents = len(record["trials"]) - of_others
        found[record["env_id"]] = agents + of_agents, others + of_others
    return found


def sides_of_trials(folder: Path, word: str) -> tuple[list[int], list[int]]:
    """The sides in pixels of the scenes, in environments whose id has `word` in it, on which there
    are recorded trials of agents, and of models that see everything."""
    agents: set[int] = set()
    others: set[int] = set()
    for path in sorted(folder.glob("trials*.json")):
        record = read_benchmark(path)
        if record is None or word not in record["env_id"]:
            continue
        changes = record["row"]["env_kwargs"] if "row" in record else {}
        side = {**own_arguments_of(record["env_id"]), **changes}["scene_size"]
        for trial in record["trials"]:
            (others if trial["sees"] == "everything" else agents).add(side)
    return sorted(agents), sorted(others)


def how_settings_were_chosen(folder: Path, env_ids: Iterable[str]) -> list[str]:
    """What is said of the trials on `env_ids`, in their order, if there were any."""
    counts = trial_counts(folder)
    told = [
        f"{agents} and {others} on {short(env_id)}"
        for env_id in dict.fromkeys(env_ids)
        for agents, others in [counts.get(env_id, (0, 0))]
        if agents or others
    ]
    if not told:
        return []
    return [
        "**Settings** were chosen by short trainings ([trials](trials.md)), of agents and of "
        f"models that see everything: {listed(told)}; where there were none, they are the "
        "presets'. So an agent may be tuned better than what it stands beside."
    ]
