"""Changes of a table's row at equal core-minutes, judged on validation scenes: by the error, or by
the return where nothing else is scored.

    python -m benchmarks.row_trials scenes search-hard --minutes 5 \\
        --change "twice the units: network.core_units=256" \\
        --change "the same, batches of 256: network.core_units=256 batch_size=256"

The row as it is is trained first, then each change: words, a colon, and settings of the training,
of its network (network.) or of the environment (env.). The runs are kept; the same command goes on
with them. With --record the trials are added to those of the row's record, trials_ROW.json, which
the page of trials shows; the row, its minutes, seed and scenes and the machine must be those of its
trials. Several commands may add to it at once.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from agents.algorithms.algorithm import find_algorithm
from agents.scoring.run_record import model_of
from agents.training.command_line import run_command
from agents.training.config import RunConfig
from agents.training.resuming import config_from_json
from benchmarks.options import options_parser, write_benchmark
from benchmarks.tables.planning import TABLES, find_table
from benchmarks.tables.table import ALGORITHMS, Row
from benchmarks.trials import folder_name, trained_and_judged
from glimpse_envs.core.pairs import parse_pairs
from glimpse_envs.evaluation.provenance import hardware
from glimpse_envs.evaluation.result import Evaluation
from report.page import ROOT

AS_IT_IS = "the row as it is"
Changes = dict[str, Any]


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = options_parser(__doc__)
    parser.add_argument("table", help=f"{', '.join(TABLES)}, or module:NAME of another")
    parser.add_argument("row", help="its name")
    parser.add_argument("--change", action="append", default=[], help='"WORDS: SETTING=VALUE ..."')
    parser.add_argument("--minutes", type=float, default=10.0, help="core-minutes of a trial; 10")
    parser.add_argument("--seed", type=int, default=0, help="of all trials; 0")
    parser.add_argument("--scenes", type=int, default=2_000, help="of validation; 2000")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/trials"), help="folder of the runs; runs/trials"
    )
    options = parser.parse_args(arguments)
    row = row_named(options.table, options.row)
    budget = {"seed": options.seed, "minutes": options.minutes}
    records = ROOT / "results" / find_table(options.table).folder
    start = changed(row.config(records), budget)
    asked = [(AS_IT_IS, {}), *map(parse, options.change)]
    configs = [(words, changes, changed(start, changes)) for words, changes in asked]
    name = f"trials_{row.name}"
    for words, changes, config in configs:
        if is_recorded(earlier_record(options.record, name, start, options.scenes), words, changes):
            continue
        budget_name = f"{options.minutes:g}-minutes-seed{options.seed}"
        folder = options.out / f"{row.name}-{folder_name(words)}-{budget_name}"
        algorithm = find_algorithm(config.algorithm, ALGORITHMS)
        run, score = trained_and_judged(algorithm, config, folder, options.scenes)
        episodes = run.load_checkpoint()[1]["episodes"]
        ((measure, value),) = judged(score).items()
        shown = f"{value:.2%}" if measure == "error" else f"{value:.3g}"
        print(f"{words:60} {episodes:9,} episodes, {measure} {shown}", flush=True)
        with FileLock((options.record or options.out) / f"{name}.lock"):
            # Read again: another command may have added trials meanwhile, this one perhaps.
            record = earlier_record(options.record, name, start, options.scenes)
            if is_recorded(record, words, changes):
                continue
            trial = {"settings": words, "sees": model_of(run).sees, "episodes": episodes}
            record["trials"].append({**trial, measure: value, "note": "", "changes": changes})
            record["revisions"] = sorted({*record["revisions"], run.config["revision"]})
            write_benchmark(options.record, name, record)


def row_named(table: str, name: str) -> Row:
    """The row `name` of `table`.

    Raises:
        ValueError: there is no such table or row.
    """
    rows = {row.name: row for row in find_table(table).rows}
    if name not in rows:
        raise ValueError(f"the table {table} has no row {name!r}; its rows are {', '.join(rows)}")
    return rows[name]


def parse(change: str) -> tuple[str, Changes]:
    """Return the words and the settings, name -> value, of "WORDS: SETTING=VALUE ...".

    Raises:
        ValueError: it is none of this kind.
    """
    words, _, settings = change.rpartition(": ")
    if not words or not settings.strip():
        raise ValueError(
            f"--change {change!r} must be words, a colon, a space and settings, as in "
            '"twice the units: network.core_units=256"'
        )
    return words, parse_pairs(settings.split())


def changed(config: RunConfig, changes: Changes) -> RunConfig:
    """`config` with `changes`, whose names may begin with "network." or "env.".

    Raises:
        ValueError: the algorithm or its network has no such setting.
    """
    parts: dict[str, Changes] = {"": {}, "network": {}, "env": {}}
    for name, value in changes.items():
        part, _, own = name.rpartition(".")
        if part not in parts:
            raise ValueError(f"{name}: settings begin with network., with env., or with neither")
        parts[part][own] = value
    if parts["network"]:
        network: Any = getattr(config, "network", None)
        parts[""]["network"] = _replaced(network, parts["network"], "network of this algorithm")
    parts[""]["env_kwargs"] = {**config.env_kwargs, **parts["env"]}
    return _replaced(config, parts[""], f"algorithm {config.algorithm}")


def _replaced(config: Any, changes: Changes, whose: str) -> Any:
    unknown = [name for name in changes if not hasattr(config, name)]
    if unknown:
        raise ValueError(f"the {whose} has no setting {', '.join(unknown)}")
    return replace(config, **changes)


def judged(score: Evaluation) -> dict[str, float]:
    """By what a trial is judged: its error, a share, or, without success, its mean return."""
    if score.success is None:
        return {"return": score.mean_return}
    return {"error": 1 - score.success}


def earlier_record(folder: Path | None, name: str, start: RunConfig, scenes: int) -> Changes:
    """The entries of NAME.json in `folder` where there is one, else of a new record.

    Args:
        folder: of records; None: none is kept.
        name: of the record.
        start: the row as it is, with the trials' budget and seed.
        scenes: of validation.

    Raises:
        RunError: the record's row has options that the algorithm lacks.
        ValueError: the record's trials are of another row, as it has changed since, of another
            budget, or of another machine, which trains on more or fewer episodes in it.
    """
    row = json.loads(json.dumps(asdict(start)))
    setting = {key: row[key] for key in ("env_id", "minutes", "seed")}
    setting |= {"validation_episodes": scenes, "hardware": hardware(1), "row": row}
    path = None if folder is None else folder / f"{name}.json"
    if path is None or not path.exists():
        return {**setting, "noise": "small differences are noise", "trials": [], "revisions": []}
    found: Changes = json.loads(path.read_text(encoding="utf-8"))
    # With the defaults of options that came later.
    kept = config_from_json(type(start), found.get("row"), str(path), str(found.get("revision")))
    found["row"] = json.loads(json.dumps(asdict(kept)))
    for key, value in setting.items():
        if found.get(key) != value:
            raise ValueError(
                f"{path} holds trials of another {key}, {found.get(key)!r}, not {value!r}, which "
                "cannot be compared: try the same, or record elsewhere"
            )
    return {**setting, **{key: found[key] for key in ("trials", "revisions", "noise")}}


def is_recorded(record: Changes, words: str, changes: Changes) -> bool:
    """Whether `record` has a trial of these words.

    Raises:
        ValueError: it is of other changes.
    """
    for trial in record["trials"]:
        if trial["settings"] == words:
            if trial["changes"] != changes:
                raise ValueError(
                    f"{words!r} was tried with {trial['changes']}, not {changes}: take other words"
                )
            return True
    return False


if __name__ == "__main__":
    run_command(main)
