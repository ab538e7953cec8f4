"""Settings that stand apart, as another setting of their model has five seeds or more."""

import json
from collections.abc import Sequence
from dataclasses import replace

from glimpse_envs.evaluation.statistics import CLAIM_SEEDS
from report.grouping import NEUTRAL_KWARGS, group_runs
from report.groups import Group

_OTHER = "(other setting)"
OTHERS = (
    f"Models of which another setting, with as many glimpses, has {CLAIM_SEEDS} or more seeds "
    "above. These have fewer."
)


def apart(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """The groups without those of other settings, and these: another setting of the same algorithm,
    core, gaze and number of glimpses has five seeds or more, and they have fewer. Labels tell apart
    what stands in one table."""

    def model_of(group: Group) -> str:
        first = group.first
        kwargs = {name: v for name, v in first.env_kwargs.items() if name not in NEUTRAL_KWARGS}
        network = first.config.get("network")
        core = network.get("core") if isinstance(network, dict) else None
        model = (group.kind, first.algorithm, core, first.model.gaze, first.model.reference_kind)
        return json.dumps([first.env_id, kwargs, group.budget, *model], sort_keys=True)

    many = {model_of(group) for group in groups if group.seeds >= CLAIM_SEEDS}
    others = [g for g in groups if g.seeds < CLAIM_SEEDS and model_of(g) in many]
    main = group_runs(run for group in groups if group not in others for run in group.runs)
    again = group_runs(run for group in others for run in group.runs)
    again.sort(key=lambda group: (group.first.env_id, group.first.budget))
    return main, [replace(group, label=f"{group.label} {_OTHER}") for group in again]
