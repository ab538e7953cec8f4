"""The best model of each kind on each task: the table with which a page of results begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glimpse_envs.evaluation.statistics import CLAIM_SEEDS
from report.chance import NEAR_CHANCE, blind_error, mark_of_chance, pays_for_success
from report.controls import is_control, random_control
from report.group_cells import score_cells
from report.grouping import Task
from report.groups import Group
from report.kinds import Kind
from report.markdown import UNKNOWN, environment, listed, table
from report.trained_runs import own_arguments_of

_AGENTS: tuple[Kind, ...] = ("hard",)
_SEE_ALL: tuple[Kind, ...] = ("addressed", "soft_to_hard", "soft", "full")

_EASED = ("budget", "context", "glimpse_size", "reward", "scales", "slack")
"""Arguments by which a task becomes easier, or is not played by the id's own glimpses alone."""

_HEADING = "## In short"
_FURTHER = f"then those with {CLAIM_SEEDS} or more seeds. All models and their costs stand below."
_CHOICE = (
    "The mean return stands where it is not the share of success, and may order models otherwise. "
    "Shown is the model of each kind that did best on validation scenes (of old runs without "
    "validation, on test scenes). Those with the environment's own budget, reward, glimpse size "
    "and scales, and without a coarse view of the whole, are preferred, then those given at least "
    f"the time of the agent, {_FURTHER} *Random glimpses*: an agent whose places are uniform, with "
    "as many glimpses, trained for about as long as the one that chooses, or longer; of several "
    f"the one that erred least. {NEAR_CHANCE}"
)
_MEMORY_CHOICE = (
    "Shown is the model of each kind with the greatest share of seeds that solved the task; where "
    "shares are equal, the one that did best on validation sequences (of old runs without "
    "validation, on test sequences), then the one that was trained for the least time. Those with "
    "the environment's own budget and reward are preferred, then those given at least the time of "
    f"the agent, {_FURTHER} Others may do better on sequences longer than those of training. "
    f"{NEAR_CHANCE}"
)
_LENGTHS = (
    "Lengths beyond the trained ones ask more of a key-value memory than of an agent: its keys are "
    "made from the bits of each cell's address, of which the higher ones never varied in training, "
    "while the agents on tapes move from cell to cell."
)

_IN_VIEW = (
    "On {} the agent works out the symbol that it answers from the present glimpse alone "
    "(`answer_in_view`)."
)
_REPEATS = {
    "symbols": "On {} it may also repeat the symbol in view as its answer (`direct_access`).",
    "all": "On {} it may also repeat the symbol in view as its answer, and the address in view as "
    "its next look, which is all that a step there needs (`direct_access`).",
}
_NO_SUCH_HELP = "The memories that see every cell have no such help."


def scenes_in_short(tasks: Sequence[Task]) -> list[str]:
    """Test errors of the agents that choose their glimpses, beside those with random glimpses and
    models that see every pixel."""
    error = "error % (95 % interval), runs"
    heads = (
        *("scenes", "chooses glimpses", error, "core-minutes", f"random glimpses: {error}"),
        *("sees every pixel", error, "core-minutes"),
    )
    shown = _table(tasks, heads, lambda group: (group.choice,), _error_cells, _random_cells)
    return [_HEADING, shown, _CHOICE]


def memory_in_short(tasks: Sequence[Task]) -> list[str]:
    """Seeds that solved the task, success at the trained length and at twice it, and the time that
    was used of that given: agents that see one cell a step, beside memories that see every cell."""
    each = ("solved", "success % at 1x", "at 2x", "core-minutes, of those given")
    heads = ("task", "sees one cell a step", *each, "sees every cell", *each)
    blocks = [_HEADING, _table(tasks, heads, _by_solved, _solved_cells), _MEMORY_CHOICE, _LENGTHS]
    helped = _helped_by_networks(tasks)
    return [*blocks, " ".join([*helped, _NO_SUCH_HELP])] if helped else blocks


def _helped_by_networks(tasks: Sequence[Task]) -> list[str]:
    """On which tasks the networks of the agents shown have something of the task built in."""
    helped: dict[str, list[str]] = {}
    for task in tasks:
        best = _best(task, _AGENTS, _by_solved)
        network = {} if best is None else best.first.config.get("network", {})
        sentences = [
            *([_IN_VIEW] if network.get("answer_in_view") else []),
            *([_REPEATS[access]] if (access := network.get("direct_access")) else []),
        ]
        for sentence in sentences:
            helped.setdefault(sentence, []).append(environment(task.env_id, task.env_kwargs))
    return [sentence.format(listed(names)) for sentence, names in helped.items()]


def _table(
    tasks: Sequence[Task],
    heads: Sequence[str],
    rank: Callable[[Group], tuple[float, ...]],
    cells: Callable[[Task, Group], list[str]],
    beside: Callable[[Task, Group | None], list[str]] = lambda task, agent: [],
) -> str:
    """A row a task: for agents and for models that see everything, the best one and its cells; and
    the cells `beside` the agent's."""
    rows = []
    for task in tasks:
        row = [environment(task.env_id, task.env_kwargs)]
        agent = _best(task, _AGENTS, rank)
        given = None if agent is None else agent.first.config.get("minutes")
        between = beside(task, agent)
        width = (len(heads) - 1 - len(between)) // 2
        for best, after in ((agent, between), (_best(task, _SEE_ALL, rank, given), [])):
            row += [UNKNOWN] * width if best is None else [_named(best), *cells(task, best)]
            row += after
        rows.append(row)
    return table(heads, rows)


def _best(
    task: Task,
    kinds: tuple[Kind, ...],
    rank: Callable[[Group], tuple[float, ...]],
    least: float | None = None,
) -> Group | None:
    """The best model of some kinds, of those given at least the `least` minutes if there are such;
    None where there is none."""

    def key(group: Group) -> tuple[Any, ...]:
        given = group.first.config.get("minutes")
        shorter = least is not None and given is not None and given < least
        return _is_eased(group), shorter, group.seeds < CLAIM_SEEDS, rank(group)

    groups = [group for group in task.groups if group.kind in kinds and not is_control(group)]
    return min(groups, key=key, default=None)


def _named(group: Group) -> str:
    """The label, and that a model of scenes that move has no memory, where that is so."""
    forgets = group.by_frames and not group.first.model.remembers_frames
    return f"{group.label}, without a memory of earlier frames" if forgets else group.label


def _error_cells(task: Task, group: Group) -> list[str]:
    error, interval = score_cells(group)
    if group.mean_return is None or pays_for_success(task.groups):
        after = mark_of_chance(group.interval[1], blind_error(group.first.env_id))
    else:
        after = f"; return {group.mean_return:.3f}"
    return [f"{error} ({interval}), {group.seeds}{after}", group.minutes_cell]


def _random_cells(task: Task, agent: Group | None) -> list[str]:
    control = None if agent is None else random_control(agent, task.groups)
    return [UNKNOWN if control is None else _error_cells(task, control)[0]]


def _is_eased(group: Group) -> bool:
    """Whether a group plays another game than its id's."""
    given, own = group.first.env_kwargs, own_arguments_of(group.first.env_id)
    return any(given.get(name, own.get(name)) != own.get(name) for name in _EASED)


def _by_solved(group: Group) -> tuple[float, ...]:
    """The share of seeds that solved it comes first, then validation, then time; the least is
    best."""
    return -group.solved / group.seeds, group.choice, group.core_minutes


def _solved_cells(task: Task, group: Group) -> list[str]:
    shares = [group.success_at(multiple) for multiple in (1, 2)]
    blind = blind_error(task.env_id) if pays_for_success(task.groups) else None
    told = [UNKNOWN if share is None else f"{100 * share:.1f}" for share in shares]
    told[0] += mark_of_chance(group.interval[1], blind)
    return [f"{group.solved} of {group.seeds}", *told, group.minutes_of_given_cell]
