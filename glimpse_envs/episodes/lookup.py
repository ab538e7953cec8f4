"""Task classes by their names and by the ids of registered environments."""

import re
from collections.abc import Mapping
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, load_env_creator

from glimpse_envs.core.arguments import nearest_of, shown
from glimpse_envs.core.classes import check_by_keyword, find_class
from glimpse_envs.task import Task

_PLAIN_WRAPPERS = {
    "flat": "glimpse_envs.wrappers.FlatAction",
    "flat_observation": "gymnasium.wrappers.FlattenObservation",
}
"""The wrappers that give a wrapped world what an argument gives environments of the suite."""


def spec_of(env_id: str) -> EnvSpec:
    """Return Gymnasium's specification of an id. The module that an id may name, as in
    "package:Namespace/Name-v0", is imported first.

    Raises:
        TypeError: it is not a string, but an environment, say.
        gymnasium.error.Error: there is no such id, or its module or a dependency is missing.
    """
    if not isinstance(env_id, str):
        spec = getattr(env_id, "spec", None)
        hint = "" if spec is None else f": give {spec.id!r} and its arguments"
        raise TypeError(
            "env_id must be the id of a registered environment, such as "
            f"'Glimpse/ClutteredGlyphs-v0', not {shown(env_id)}{hint}"
        )
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            raise gym.error.UnregisteredEnv(
                f"{env_id}: its module {module} cannot be imported ({error}); the part before the "
                "colon must be a module that registers the environment"
            ) from error
    try:
        return gym.spec(name)
    except gym.error.Error as error:
        text = str(error)
        # Gymnasium names versions itself, and often what was meant or a package to install.
        if "?" in text or isinstance(error, gym.error.DeprecatedEnv | gym.error.VersionNotFound):
            raise
        nearest = _nearest_id(name)
        hint = "; python -m glimpse_envs lists those of this package"
        raise type(error)(
            text.rstrip(".") + (f". Did you mean {nearest!r}?" if nearest else hint)
        ) from error


def _nearest_id(name: str) -> str | None:
    """Return the newest registered id whose name is most like that of `name`, in the namespace of
    `name` where it has one; None where none is close."""
    namespace, slash, rest = name.rpartition("/")
    found: dict[str, EnvSpec] = {}
    for spec in gym.registry.values():
        if slash and spec.namespace != namespace:
            continue
        first = found.setdefault(spec.name.lower(), spec)
        if spec.namespace == first.namespace:
            found[spec.name.lower()] = spec  # versions are registered in turn
    nearest = nearest_of(re.sub(r"-v\d+$", "", rest).lower(), found)
    return None if nearest is None else found[nearest].id


def task_class_of(env_id: str) -> type[Task] | None:
    """Return the task class of a registered environment; None where it is not of this package.

    Raises:
        gymnasium.error.Error: there is no such id.
    """
    name = spec_of(env_id).kwargs.get("task")
    return None if name is None else load_task(name)


def arguments_of(env_id: str, env_kwargs: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names of the arguments that an environment takes, including those of the scene and
    the sensor named in `env_kwargs`; None where it is not of this package.

    Raises:
        ValueError: `env_kwargs` name a scene or a sensor that does not exist.
        gymnasium.error.Error: there is no such id.
    """
    task = task_class_of(env_id)
    if task is None:
        return None
    return frozenset(task.parameters({**spec_of(env_id).kwargs, **env_kwargs}))


def full_view(env_id: str, env_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the same environment with everything shown at once, without those
    that apply only to glimpses; what the id itself gives of these has the task's own value.

    Raises:
        ValueError: the environment is not of this package.
    """
    task = task_class_of(env_id)
    if task is None:
        raise ValueError(f"{env_id} has no full view: it is no environment of glimpses")
    of_id = {name: value for name, value in spec_of(env_id).kwargs.items() if name != "task"}
    every = {**of_id, **env_kwargs}
    kept, known = task.in_full_view(every), task.parameters(every)
    left = [name for name in of_id if name not in kept]
    usual = {name: known[name].default for name in left}
    given = {name: value for name, value in kept.items() if name in env_kwargs or name == "view"}
    return given | {n: value for n, value in usual.items() if value is not Parameter.empty}


def has_splits(env_id: str) -> bool:
    """Return whether a registered environment has a vector entry point of its own that takes
    `split`, as all of this package have.

    Raises:
        gymnasium.error.Error: there is no such id.
    """
    maker = spec_of(env_id).vector_entry_point
    if maker is None:
        return False
    taken = signature(load_env_creator(maker) if isinstance(maker, str) else maker).parameters
    return "split" in taken or any(p.kind is Parameter.VAR_KEYWORD for p in taken.values())


def load_task(name: str) -> type[Task]:
    """Return the task class named "module:Class".

    Raises:
        ValueError: it does not name a task, or names one that takes arguments by position.
    """
    task: type[Task] = find_class("task", name, Task, {})
    check_by_keyword("task", name, task)
    return task


def hint_of_batch(task: type[Task], argument: str, arguments: Mapping[str, Any]) -> str:
    """Return a hint on an `argument` that batches of `task` do not take; "" where there is none."""
    if argument != "max_episode_steps":
        return task.hint_of(argument, arguments)
    has_budget = "budget" in task.parameters(arguments)
    return _no_time_limit(f"budget={arguments[argument]!r} or " if has_budget else "")


def hint_of_world(argument: str, _: Mapping[str, Any]) -> str:
    """Return a hint on an `argument` that wrapped worlds, or batches of them, do not take; ""
    without one."""
    if argument == "max_episode_steps":
        return _no_time_limit()
    wrapper = _PLAIN_WRAPPERS.get(argument)
    if wrapper is None:
        return ""
    name = wrapper.rpartition(".")[2]
    return (
        f"wrap the environment in {wrapper}; for a batch give make_vec "
        f"vectorization_mode='sync', wrappers=[{name}]"
    )


def _no_time_limit(shorter: str = "") -> str:
    return (
        f"batches have no time limit of Gymnasium's; give {shorter}vectorization_mode='sync', "
        "whose single environments have one"
    )
