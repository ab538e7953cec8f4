"""A class that is named wrongly is refused with the name that would be right."""

from functools import partial
from typing import Any

import gymnasium as gym
import pytest

from glimpse_envs.core.classes import find_class
from glimpse_envs.suite import register
from glimpse_envs.task import Task
from glimpse_envs.tasks.tape.machine import TapeMachine
from glimpse_envs.vision.scenes import register_scene
from glimpse_envs.vision.scenes.images import ImageScene
from glimpse_envs.vision.sensors.retina import Retina
from tests.support.episodes import CENTRED, make_single, make_vector


def test_a_class_is_asked_for_where_there_are_no_names() -> None:
    right = "the name of a class as a string, 'module:Class'"
    with pytest.raises(ValueError, match=rf"task='my_tasks\.find' must be {right}$"):
        find_class("task", "my_tasks.find", Task, {})


def test_a_class_in_place_of_its_name_is_answered_with_its_name() -> None:
    class Inner(ImageScene):
        """Not at the top level of a module."""

    own, images = f"{TapeMachine.__module__}:TapeMachine", f"{ImageScene.__module__}:ImageScene"
    scene: Any = ImageScene
    task: Any = TapeMachine
    for make, message in (
        (partial(make_single, CENTRED, scene=scene), f"Did you mean '{images}'"),
        (partial(make_vector, CENTRED, 1, sensor=Retina), "Did you mean '.*retina:Retina'"),
        (partial(make_single, CENTRED, source=task), f"Did you mean '{own}'"),
        (partial(make_single, CENTRED, scene=Inner), "move it to the top level of its module"),
        (partial(register_scene, "mine", scene), f"Did you mean '{images}'"),
        (partial(register, "Mine/Tape-v0", task=task), f"Did you mean '{own}'"),
    ):
        with pytest.raises(ValueError, match=f"a class as a string, 'module:Class'.*{message}"):
            make()
    assert "Mine/Tape-v0" not in gym.registry


def test_a_class_of_a_module_that_is_not_there_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"scene='my_taks:Maze': there is no module my_taks$"):
        find_class("scene", "my_taks:Maze", Task, {"cluttered": "glimpse_envs:Scene"})


def test_an_abstract_class_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^text='.*:Text' is abstract, it lacks allocate, deal, lengths"
    ):
        make_single("Glimpse/Stories-v0", text="glimpse_envs.tasks.text.text:Text")
