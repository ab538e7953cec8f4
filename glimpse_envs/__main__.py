"""List the environments, or describe one: `python -m glimpse_envs Glimpse/ClutteredMNIST-v0`; or a
source of images: `python -m glimpse_envs folder:pictures`."""

import argparse
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.core.files import check_writable
from glimpse_envs.core.pairs import parse_pairs
from glimpse_envs.core.pipes import output_of_command
from glimpse_envs.episodes.description import Description, describe, task_of
from glimpse_envs.episodes.lookup import spec_of, task_class_of
from glimpse_envs.single import GlimpseEnv
from glimpse_envs.sources import Examples, SourceError, is_known, load
from glimpse_envs.sources.survey import survey, surveyed
from glimpse_envs.suite import ATARI, MINIGRID, SUITE
from glimpse_envs.task import Task

SEED, STEPS = 4, 4
"""Seed of the episode that is drawn, and the number of steps before the picture."""

ROWS, COLUMNS = 20, 12
"""Greatest numbers of classes of a source, and of images of each, that are drawn."""

Env = gym.Env[Any, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error of the user is printed as one line, with exit status 2."""
    parser = argparse.ArgumentParser(
        prog="python -m glimpse_envs",
        description="List the environments, or describe one, or a source of images, and write a "
        "picture of it.",
    )
    parser.add_argument(
        "name",
        nargs="?",
        metavar="ID|SOURCE",
        help="id of an environment to describe, or a source of images, such as folder:PATH; "
        "without it, all environments are listed",
    )
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="KEY=VALUE",
        help="arguments of the environment, such as budget=6",
    )
    parser.add_argument(
        "--out", type=Path, help="file of the picture, .png; without it, NAME.png in this folder"
    )
    given = parser.parse_args(arguments)
    try:
        if given.name is None:
            print("\n".join(listed()))
            return
        kwargs = parse_pairs(given.arguments)
        out = given.out or Path(f"{_stem(given.name)}.png")
        if out.suffix != ".png":
            raise ValueError(f"--out {out}: a picture's name must end in .png")
        check_writable("--out" if given.out else "the picture", out)
        if is_known(given.name) and not _is_registered(given.name):
            if kwargs:
                raise ValueError(f"{given.name} is a source, which takes no KEY=VALUE")
            found = survey(given.name)
            print("\n".join(surveyed(found)))
            print(f"\npicture: {draw_images(load(given.name, next(iter(found.counts))), out)}")
            return
        with closing(_make(given.name, kwargs)) as env:
            print("\n".join(described(env, given.name, kwargs)))
            print(f"\npicture: {draw(env, out)}")
    except BrokenPipeError:  # see `output_of_command`
        raise
    except (gym.error.Error, ImportError, OSError, SourceError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def listed() -> Iterator[str]:
    """A line for each environment: its id, its family, and its task."""
    width = max(map(len, (*SUITE, ATARI, MINIGRID)))
    for row in SUITE.values():
        yield f"{row.id:{width}}  {row.family:8}  {row.summary}"
    yield f"{ATARI:{width}}  {'atari':8}  Play an Atari game through a fovea (needs ale-py)."
    yield f"{MINIGRID:{width}}  {'minigrid':8}  Act in MiniGrid's worlds (needs minigrid)."


def described(env: Env, env_id: str, kwargs: dict[str, Any]) -> Iterator[str]:
    """Describe an environment line by line: summary, facts, actions, observations, arguments."""
    seen, task_class = describe(env), task_class_of(env_id)
    yield env_id
    if env_id in SUITE:
        yield f"  {SUITE[env_id].summary}"
    elif task_class is not None:
        yield f"  {_summary(task_class)}"
    yield from _facts(seen)
    yield "\nactions"
    for name, part in seen.components.items():
        yield f"  {name:12} {part.space}"
    yield from _flat(env.action_space, task_class)
    yield "\nobservations"
    for name, space in seen.observation_space.spaces.items():
        yield f"  {name:12} {space}"
    yield from _flat(env.observation_space, task_class)
    if task_class is None:
        return
    set_here = {**spec_of(env_id).kwargs, **kwargs}
    yield "\narguments, with their values here"
    meanings = _meanings((*task_class.__mro__, *task_class.parts(set_here)))
    for name, parameter in sorted(task_class.parameters(set_here).items()):
        value = set_here.get(name, parameter.default)
        yield f"  {f'{name}={value!r}':34} {meanings.get(name, '')}".rstrip()


def draw(env: Env, path: Path) -> Path:
    """Write a picture of an episode after a few steps, by the task's oracle if there is one."""
    from glimpse_envs.rendering import write_png

    env.reset(seed=SEED)
    env.action_space.seed(SEED)
    task = task_of(env)
    for _ in range(STEPS if task is None else min(STEPS, task.budget - 1)):
        action = env.action_space.sample()
        if task is not None:
            chosen = task.oracle()
            chosen |= {"stop": np.zeros(1, np.int64)} if "stop" in chosen else {}
            flat = (
                env.unwrapped.batch.flat_actions if isinstance(env.unwrapped, GlimpseEnv) else None
            )
            action = {name: part[0] for name, part in chosen.items()}
            action = action if flat is None else flat.encode(chosen)[0]
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    frame: Any = env.render()
    return write_png(frame, path)


def draw_images(examples: Examples, path: Path) -> Path:
    """Write a picture of the first images of each class, a row for a class."""
    from glimpse_envs.rendering import write_png
    from glimpse_envs.rendering.mosaic import mosaic

    kinds = np.unique(examples.labels)[:ROWS]
    rows = [examples.images[examples.labels == label][:COLUMNS] for label in kinds]
    return write_png(mosaic(rows), path)


def _stem(name: str) -> str:
    """The name of a picture's file: of an id or a source without what leads to it."""
    before = name.partition("?")[0]
    if before.startswith("folder:"):
        return Path(before.partition(":")[2]).resolve().name or "folder"
    return before.rpartition("/")[2].rpartition(":")[2]


def _is_registered(name: str) -> bool:
    """Whether `name` is an id without a version, "module:Name", as sources' classes are written."""
    module, _, env_id = name.partition(":")
    if not env_id or module == "folder":
        return False
    with suppress(ImportError, ValueError):  # told where it is made or surveyed
        import_module(module)
    return env_id in gym.registry


def _make(env_id: str, kwargs: dict[str, Any]) -> Env:
    unfit = {"id", "render_mode", "disable_env_checker", "flat", "flat_observation"} & kwargs.keys()
    if unfit:
        raise ValueError(f"{', '.join(sorted(unfit))} cannot be set here")
    spec_of(env_id)  # imports the module that an id names
    with naming_environment(env_id, kwargs):
        return gym.make(env_id, render_mode="rgb_array", disable_env_checker=True, **kwargs)


def _flat(space: spaces.Space, task_class: type[Task] | None) -> Iterator[str]:
    """The plain space of an id that has one in place of the task's Dict."""
    if task_class is not None and not isinstance(space, spaces.Dict):
        yield f"  {'as one':12} {space}"


def _facts(seen: Description) -> Iterator[str]:
    if seen.question:
        yield f"  question     {seen.question}"
    if seen.budget is not None:
        yield f"  budget       {seen.budget} glimpses"
    if seen.levels is not None:
        yield f"  length       {seen.levels[0]} to {seen.levels[1]}"
    if seen.chance == seen.chance:  # not NaN
        yield f"  return       chance {seen.chance:.3g}, ceiling {seen.ceiling:.3g}"


def _summary(documented: type) -> str:
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())


def _meanings(documented: Sequence[type]) -> dict[str, str]:
    """Return the meanings of the arguments in the docstrings of classes, name -> meaning."""
    found: dict[str, str] = {}
    for one in documented:
        _, _, text = (inspect.getdoc(one) or "").partition("Args:\n")
        entries = re.findall(r"^    (\w[\w, ]*): (.*(?:\n {8}.*)*)", text, re.MULTILINE)
        for names, meaning in entries:
            for name in names.split(", "):
                found.setdefault(name, " ".join(meaning.split()))
    return found


if __name__ == "__main__":
    with output_of_command():
        main()
