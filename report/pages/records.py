"""The pages of records, one for each page of results: with which command, versions and machine each
run was made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from glimpse_envs.evaluation.record import NTM_COPY, Record
from report.markdown import UNKNOWN, environment, short_revision, table
from report.page import README, Places, Published, page_of
from report.result_pages import RESULT_PAGES, ResultPage
from report.runs import Run, read_runs
from report.scaling import FILE_NAME

FOLDER = "docs/records"
PAGE = f"{FOLDER}/README.md"

HEADER = ("model", "seed", "record", "algorithm", "command", "versions", "made on")

_DRAWN = "<!-- Drawn by `python -m report` from results/; do not edit. -->"

_OF_PART = """The runs that [this page]({0}) is drawn from. What the columns tell is said with the
[records of all pages](README.md)."""

_HEAD = f"""# Records

{_DRAWN}

Every row of the tables of models is drawn from these files; speeds, costs, variances, trials and
analyses of mistakes have records of their own. The command repeats the training. If the
original command was not kept, or names a record that is no longer here, the command given starts
from the run's own record, which holds the seed and the configuration. A dash stands for versions of
libraries that were not recorded. A revision that ends in `+dirty`, or in the name of a prototype,
had uncommitted changes, so its commit alone may not reproduce the run. A budget in minutes is in
CPU minutes: a machine of another speed trains on more or fewer episodes in the same time, and gets
other numbers."""


def pointer(page: str) -> str:
    """The sentence that leads from a page of results, "docs/memory.md", to its records."""
    where = f"records/{Path(page).name}"
    return f"Commands, algorithms, versions and machines of all runs: [records]({where})."


def publish(places: Places) -> Published:
    """The pages. Records that could not be read are reported by the pages that draw them."""
    texts, rows = {}, []
    for part in RESULT_PAGES:
        runs, _ = read_runs(places.results / part.folder, other=(FILE_NAME,))
        if runs:
            name = f"{part.page}.md"
            texts[f"{FOLDER}/{name}"] = _of_part(part, runs, places)
            rows.append([f"[{part.heading}]({name})", f"[tables](../{name})", str(len(runs))])
    texts[PAGE] = page_of([_HEAD, table(("records", "drawn into", "runs"), rows)], "../")
    return Published(texts, owned=f"{FOLDER}/*")


def _of_part(part: ResultPage, runs: Sequence[Run], places: Places) -> str:
    page = f"{FOLDER}/{part.page}.md"
    by_environment: dict[str, list[list[str]]] = {}
    for run in runs:
        name = environment(run.record.env_id, run.record.env_kwargs)
        by_environment.setdefault(name, []).append(_row(run, places, page))
    blocks = [f"# Records: {part.heading}", _DRAWN, _OF_PART.format(f"../{part.page}.md")]
    for name, rows in by_environment.items():
        blocks += [f"## {name}", table(HEADER, rows)]
    return page_of(blocks, "../")


def _row(run: Run, places: Places, page: str) -> list[str]:
    record = run.record
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    return [
        record.model.name,
        str(record.seed),
        f"[{run.file.name}]({places.link(run.file, page)})",
        record.algorithm,
        f"`{command_of(run, places)}`",
        versions or UNKNOWN,
        f"{record.hardware}, revision {short_revision(record.revision)}",
    ]


def _command(record: Record) -> str:
    """The module of the command that trains a record's algorithm."""
    if "timesteps" in record.config:  # as all of Stable-Baselines3's learners have, and no others
        return "agents.sb3"
    # What sees everything from the first step on is a baseline, what takes glimpses an agent.
    return "baselines.train" if record.model.sees == "everything" else "agents.train"


def _is_there(command: str, places: Places) -> bool:
    """Whether the record that a command starts from, if any, is in the checkout."""
    named = re.search(r"--from-record[ =](\S+)", command)
    return named is None or (places.root / named[1]).is_file()


def command_of(run: Run, places: Places) -> str:
    """The command that begins a run again, as it can be typed at the root."""
    record = run.record
    if record.command.startswith("python -m ") and _is_there(record.command, places):
        return record.command
    if record.env_id == NTM_COPY:
        config, defaults = record.config, record.defaults
        changed = {name: config[name] for name in defaults if config[name] != defaults[name]}
        settings = {**changed, "seed": record.seed, "minutes": f"{config['minutes']:g}"}
        options = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}")
            for name, value in settings.items()
        ]
        command = " ".join(["python -m baselines.memories.ntm_copy", *options])
        cells = record.env_kwargs.get("cells")
        return command if cells is None else f"{command} --scored-cells {cells}"
    return f"python -m {_command(record)} --from-record {places.link(run.file, README)}"
