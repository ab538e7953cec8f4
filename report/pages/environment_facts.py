"""What the pages of environments tell of each, from its row, its docstring and its live spaces."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium import spaces

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.description import Description, describe
from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.suite import Row
from report.chance import scored_chance
from report.pages.docstring import Docstring, read_task_docstring
from report.trained_runs import own_arguments


@dataclass(frozen=True)
class Environment:
    """What a page tells of one environment."""

    row: Row
    docstring: Docstring
    arguments: dict[str, Any]
    """All of the task's arguments, name -> value, whether the suite's or the default."""
    action_space: spaces.Dict
    observation_space: spaces.Dict
    described: Description
    """What agents know of it."""
    scored_chance: float
    """Chance in the test split, which is scored."""

    @property
    def name(self) -> str:
        return page_name(self.row)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the answers to a picture or a text; empty where there are none."""
        answer = self.described.components.get("answer")
        has_names = self.described.picture_view is not None or "text" in self.arguments
        return answer.names if answer is not None and has_names else ()

    @property
    def is_optional(self) -> bool:
        """Whether the answer 0 says nothing."""
        answer = self.described.components.get("answer")
        return answer is not None and answer.optional


def page_name(row: Row) -> str:
    """Return the name of a row's page and picture: "Glimpse/ClutteredMNIST-v0": ClutteredMNIST."""
    return row.id.rpartition("/")[2].rpartition("-v")[0]


def inspect_environment(row: Row) -> Environment:
    """What the page of `row` tells.

    Raises:
        ValueError, LookupError: a docstring that a page cannot be made of.
    """
    task = load_task(row.task)
    with closing(gymnasium.make_vec(row.id, num_envs=1)) as made:
        env = made.unwrapped
        assert isinstance(env, GlimpseVectorEnv)
        return Environment(
            row=row,
            docstring=read_task_docstring(task, row.kwargs),
            arguments=own_arguments(row),
            action_space=env.task.action_space,
            observation_space=env.task.observation_space,
            described=describe(env),
            scored_chance=scored_chance(row),
        )


def setting(environment: Environment) -> dict[str, str]:
    """The columns that tell environments apart: what is hidden, and how it is looked at."""
    arguments, space = environment.arguments, environment.action_space
    asked = next(name for name in ("answer", "act", "stop") if name in space.spaces)
    answers = space[asked]
    assert isinstance(answers, spaces.Discrete)
    if is_memory(environment):
        symbols = "words" if "text" in arguments else "symbols"
        how_often = "or nothing" if environment.is_optional else "always"
        return {
            "hidden": _hidden(arguments),
            "glimpse": f"`{environment.observation_space['glimpse'].shape}`",
            "look": f"{type(space['look']).__name__}, {_addressing(arguments)}",
            "budget": str(environment.described.budget),
            "answer": f"{answers.n - environment.is_optional} {symbols}, {how_often}",
        }
    when = {"final": ", last step", "dense": ", every step"}.get(arguments.get("reward", ""), "")
    if "looks_per_answer" in arguments:
        when = f", every {arguments['looks_per_answer']} glimpses"
    return {
        "scene": _scene(environment),
        "glimpse": _glimpse(environment),
        "look": _look(arguments, space),
        "budget": str(environment.described.budget),
        asked: "when to stop" if asked == "stop" else f"1 of {answers.n}{when}",
    }


def is_memory(environment: Environment) -> bool:
    """Whether what is hidden is a tape, a table or a text, not a picture."""
    return environment.described.picture_view is None


def _hidden(arguments: dict[str, Any]) -> str:
    if "text" in arguments:
        if "kind" in arguments:
            return f"{arguments['text']}, kind {arguments['kind']}"
        few, most = arguments["min_length"], arguments["length"]
        return f"{arguments['text']}, {few} to {most} statements"
    lengths = f"length {arguments['min_length']} to {arguments['length']}"
    cells = arguments.get("cells")
    return f"{arguments['program']}, {lengths}" if cells is None else f"{cells} cells, {lengths}"


def _addressing(arguments: dict[str, Any]) -> str:
    return "moves" if arguments["look"] == "moves" else "addresses"


def _scene(environment: Environment) -> str:
    arguments = environment.arguments
    clutter, piece = arguments.get("clutter"), arguments.get("clutter_size")
    view, scene = environment.described.picture_view, str(arguments.get("scene", "screen"))
    if "scene" not in arguments and "source" in arguments:
        scene = f"{arguments['source']}, {_how_many(arguments)}"
    assert view is not None
    _, height, width = view.scene_shape
    hidden = scene.rpartition(":")[2].replace("_", " ")
    if "images" in scene:
        hidden = hidden.replace("images", arguments["source"])
    text = f"{height}x{width} pixels, {hidden}"
    return f"{text}, {clutter} pieces of clutter of {piece}x{piece}" if clutter else text


def _how_many(arguments: dict[str, Any]) -> str:
    """How many images a scene of several has."""
    if "images" in arguments:
        return f"{arguments['images']} in all"
    if "length" in arguments:
        return f"{arguments['min_length']} to {arguments['length']} in a row"
    return "one or two"


def _glimpse(environment: Environment) -> str:
    arguments, leaf = environment.arguments, environment.observation_space["glimpse"]
    view = environment.described.picture_view
    assert view is not None
    inside = ", always inside the scene" if arguments["inside"] else ""
    if not view.window_sides:
        return f"{arguments['sensor'].rpartition(':')[2]}, `{leaf.shape}`{inside}"
    size, scales = view.glimpse_size, len(view.window_sides)
    assert leaf.shape is not None
    colour = " in colour" if leaf.shape[-3] == 3 * scales else ""
    return f"{size}x{size}{colour}, {scales} scale{'s' if scales > 1 else ''}{inside}"


def _look(arguments: dict[str, Any], space: spaces.Dict) -> str:
    if "look" not in arguments:
        return type(space["look"]).__name__
    look = str(arguments["look"])
    return f"{look}, by at most {arguments['max_move']:g}" if look == "relative" else look
