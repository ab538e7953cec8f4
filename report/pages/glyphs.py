"""Results on the tasks that need no files: what a few core-minutes give."""

from __future__ import annotations

from collections.abc import Sequence

from report.group_cells import hardware_of, score_cells
from report.grouping import Task, tasks_of
from report.groups import FEW_SEEDS, Group, interval_words
from report.how_made import meanings_blocks, training_blocks
from report.markdown import bullets, environment, table
from report.page import Places, Published, page_of
from report.pages.records import pointer
from report.runs import read_runs, record_links

PAGE = "docs/glyphs.md"
FOLDER = "glyphs"
TRAIN = "`python -m benchmarks.tables glyphs`"

HEADER = (
    "task", "model", "glimpses", "seeds", "error %", "95 % interval", "episodes", "core-minutes",
    "records",
)  # fmt: skip

_HEAD = f"""# Results on glyphs

<!-- Drawn by `python -m report` from results/glyphs; do not edit. -->

Each environment of MNIST digits also exists with built-in images of digits, *glyphs*, which need
no data files. They serve to try an idea, or to check an installation. The agents below were trained
for a few core-minutes ({TRAIN}), with the settings that the rows of
[pictures](results.md) and [scenes](scenes.md) had at that time, and half as many units. Glyphs are
not handwritten, so these errors cannot be compared with those."""

_COLUMNS = (
    "**Error**: percentage of test episodes without success; each test scene is played once.",
    f"**Interval**: of 95 %, {interval_words('scenes')}.",
    FEW_SEEDS,
)


def publish(places: Places) -> Published:
    """The page."""
    runs, problems = read_runs(places.results / FOLDER)
    return Published({PAGE: glyphs_page(tasks_of(runs), places)}, problems=problems)


def glyphs_page(tasks: Sequence[Task], places: Places) -> str:
    """The Markdown page: one table of all tasks."""
    groups = [group for task in tasks for group in task.groups]
    blocks = [_HEAD, "## How to read it", bullets(_COLUMNS), *meanings_blocks(groups)]
    blocks += [*training_blocks(groups), "## Tasks"]
    if tasks:
        rows = [_row(task, group, places) for task in tasks for group in task.groups]
        blocks += [table(HEADER, rows), hardware_of(groups), pointer(PAGE)]
    else:
        blocks.append(f"Not measured yet: {TRAIN}.")
    return page_of(blocks)


def _row(task: Task, group: Group, places: Places) -> list[str]:
    return [
        environment(task.env_id, task.env_kwargs),
        group.label,
        group.budget,
        str(group.seeds),
        *score_cells(group),
        group.episodes_cell,
        group.minutes_cell,
        record_links(group.runs, places, PAGE),
    ]
