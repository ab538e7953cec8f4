"""The command that trains a run again."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from agents.training.checkpoints import leaves_of
from agents.training.resuming import BUDGETS, FREE
from glimpse_envs.evaluation.provenance import NOTEBOOK

_OF_SEVERAL_RUNS = "python -m benchmarks."
_ALWAYS = frozenset({"env_id", "seed", "precision"})  # the default precision is the machine's


def command_to_repeat(config: Mapping[str, Any]) -> str:
    """The command of a run's config.json. If that one trained other runs too, and so leaves out
    settings, began from a record, which may be gone, or was a notebook, a command for this run
    alone, with its settings. "" if none is known."""
    command = str(config.get("command", ""))
    of_others = (
        command.startswith(_OF_SEVERAL_RUNS) or "--from-record" in command or command == NOTEBOOK
    )
    return (command_of_settings(config) if of_others else None) or command


def command_of_settings(config: Mapping[str, Any]) -> str | None:
    """The command that trains a run with the settings of its config.json, for it alone; None where
    they, or the module that trains it, are not known."""
    if not {"policy", "algorithm", "config", "defaults"} <= config.keys():
        return None
    others = ":" in str(config["algorithm"])  # of another package, which any of the commands trains
    module = "agents.train" if others else _module_of(str(config["policy"]))
    return None if module is None else shlex.join(["python", "-m", module, *_options(config)])


def _module_of(policy: str) -> str | None:
    """The module of the command that trains such a policy; None for those of others."""
    if policy.startswith("agents.sb3."):
        return "agents.sb3"
    return {"agents": "agents.train", "baselines": "baselines.train"}.get(policy.partition(".")[0])


def _options(config: Mapping[str, Any]) -> Iterator[str]:
    """The algorithm, and an option for each setting that was not the default."""
    settings, defaults = dict(config["config"]), dict(config["defaults"])
    env_kwargs, usual_kwargs = (part.pop("env_kwargs", {}) for part in (settings, defaults))
    yield str(config["algorithm"])
    left_out = FREE
    if settings.get("minutes") is not None:  # in place of episodes, on this device and its threads
        left_out = (FREE - {"device", "threads"}) | (BUDGETS - {"minutes"})
    usual = leaves_of(defaults, ".")
    for path, value in leaves_of(settings, ".").items():
        default = path in usual and usual[path] == value
        if path in left_out or (default and path not in _ALWAYS):
            continue
        parent, dot, name = path.replace("_", "-").rpartition(".")
        if isinstance(value, bool):
            yield f"--{parent}{dot}{'' if value else 'no-'}{name}"
        else:
            yield f"--{parent}{dot}{name}"
            yield from map(str, value) if isinstance(value, list) else (str(value),)
    if env_kwargs != usual_kwargs:
        yield "--env-kwargs"
        yield from (f"{name}={_text(value)}" for name, value in env_kwargs.items())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
