"""What tables and pages say of groups alike."""

from __future__ import annotations

from collections.abc import Iterable

from report.groups import Group
from report.markdown import UNKNOWN, digits


def score_cells(group: Group) -> tuple[str, str]:
    """Error and interval for a table, or the return where the task has no success."""
    if group.has_success:
        low, high = group.interval
        return f"{group.error:.2f}", f"{low:.2f} to {high:.2f}"
    found = group.mean_return
    return (UNKNOWN if found is None else f"return {digits(found)}"), UNKNOWN


def hardware_of(groups: Iterable[Group]) -> str:
    """The line that names the machines."""
    machines = dict.fromkeys(record.hardware for group in groups for record in group.records)
    return f"Hardware: {'; '.join(machines)}."
