"""What a resumed run keeps of the process that trains on: its budget, machine and code."""

from dataclasses import asdict
from typing import Any

from agents.training.distributed import processes
from agents.training.host import hardware_with
from agents.training.repeating import command_of_settings
from agents.training.resuming import BUDGETS
from glimpse_envs.evaluation.provenance import command_line, git_revision
from glimpse_envs.evaluation.runs import Run


def trained_on_here(run: Run, config: Any) -> Run:
    """`run`, which this process is about to train on with `config`: where machine or code are
    others than before, they are added to the run's "resumed"."""
    here = {
        "threads": config.threads,
        "processes": processes(),
        "device": config.device,
        "hardware": hardware_with(config.device),
        "revision": git_revision(),
    }
    if here == trainers_of(run)[-1]:
        return run
    return run.replace_config({**run.config, "resumed": [*run.config.get("resumed", ()), here]})


def trainers_of(run: Run) -> list[dict[str, Any]]:
    """The machines and the code that have trained a run, one after the other: the threads and the
    number of processes, the device, the hardware and the revision of each."""
    first = {name: run.config["config"].get(name) for name in ("threads", "device")}
    first |= {name: run.config.get(name) for name in ("hardware", "revision")}
    first["threads"] = first["threads"] or 1
    first["processes"] = int(run.config.get("processes", 1))
    return [first, *run.config.get("resumed", ())]


def extend_budget(run: Run, config: Any) -> Run:
    """Give `run` the greater budget of `config` and the command that trains so long; print what
    that changes."""
    saved, given = run.config["config"], asdict(config)
    greater = {name: given[name] for name in sorted(BUDGETS & given.keys())
               if given[name] != saved.get(name, given[name])}  # fmt: skip
    if not greater:
        return run
    # Stable-Baselines3's learners, whose length is in timesteps, have no schedules.
    stretched = (
        ""
        if "timesteps" in given
        else (
            ": the schedules of the learning rate, of validations and of all else that follows "
            "progress are stretched from here on"
        )
    )
    for name, value in greater.items():
        print(f"{name} was {saved[name]} and is {value}{stretched}")
    extended = {**run.config, "config": {**saved, **greater}}
    # The command of this process may name the run alone, and leave out its settings.
    command = command_of_settings(extended) or command_line()
    return run.replace_config({**extended, "command": command})
