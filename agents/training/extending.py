"""Extends the budget of a resumed run."""

from dataclasses import asdict
from typing import Any

from agents.training.repeating import command_of_settings
from agents.training.resuming import BUDGETS
from glimpse_envs.evaluation.provenance import command_line
from glimpse_envs.evaluation.runs import Run


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
