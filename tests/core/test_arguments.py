"""A bad kwarg is refused with its name, its value and what would be right."""

import re
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from glimpse_envs.core.arguments import keyword_parameters, naming_environment
from glimpse_envs.env import OF_BATCHES, OF_EVERY_TASK, GlimpseVectorEnv
from glimpse_envs.episodes.lookup import arguments_of
from glimpse_envs.suite import ATARI, MINIGRID
from glimpse_envs.tasks.pictures.classification import ImageClassification
from glimpse_envs.tasks.tape.machine import TapeMachine
from glimpse_envs.testing import assert_same, random_actions
from glimpse_envs.vision.scenes import SCENES
from tests.support.episodes import CENTRED, CIRCLE_SQUARE, CLUTTERED, make_single, make_vector

MOVING = "Glimpse/MovingDigitGlyphs-v0"
CHASE, LOOKUP = "Glimpse/PointerChase-v0", "Glimpse/DictionaryLookup-v0"
RECALL, COPY = "Glimpse/AssociativeRecall-v0", "Glimpse/Copy-v0"
CATCH = "Glimpse/Catch-v0"
HUGE = np.longdouble(2) ** 2000  # more than a float64 holds, on most machines

BAD: list[tuple[str, Any, str]] = [
    (
        "source",
        "mnists",
        "'mnists'.*one of glyphs, mnist, .*, folder:PATH, the name of a class as a string, "
        "'module:Class', or",
    ),
    ("source", "mnst", "source='mnst' must be .* included. Did you mean 'mnist'?"),
    ("scene", "moving_image", "'module:Class'. Did you mean 'moving_images'?"),
    ("source", 3, "source=3 must be one of glyphs"),
    ("source", None, "source=None must be one of glyphs"),
    ("source", "folder:", "must be one of.*folder:PATH"),
    ("sensor", "fovea", "must be 'retina'"),
    ("split", "dev", "must be one of 'train', 'validation', 'test'"),
    ("look", "absolute", "must be one of 'continuous', 'tiles', 'relative'"),
    ("reward", "sparse", "must be one of 'final', 'dense'"),
    ("view", "partial", "must be one of 'glimpse', 'full'"),
    ("autoreset_mode", "next_step", "must be one of.*NextStep.*SameStep.*Disabled"),
    ("render_mode", "ansi", "must be None or one of.*rgb_array.*human"),
    ("scene_size", 0, "must be an integer of at least 1"),
    ("scene_size", 27, "must be at least 28"),
    ("scene_size", 60.0, "must be an integer"),
    ("clutter", -1, "must be an integer of at least 0"),
    ("clutter_size", 0, "must be an integer of at least 1"),
    ("clutter_size", 29, "must be at most 28"),
    ("budget", 0, "must be an integer of at least 1"),
    ("budget", "8", "must be an integer"),
    ("budget", True, "must be an integer"),
    ("glimpse_size", 0, "must be an integer of at least 1"),
    ("glimpse_size", 8.5, "must be an integer"),
    ("scales", 0, "must be an integer of at least 1"),
    ("scales", 13, "must be at most 12"),
    ("inside", 1, "must be True or False"),
    ("inside", "yes", "must be True or False"),
    ("history", None, "must be True or False"),
    ("stop", 0, "must be True or False"),
    ("max_move", 0.0, "above 0 and at most 2"),
    ("max_move", 2.5, "above 0 and at most 2"),
    ("max_move", np.nan, "above 0 and at most 2"),
    ("max_move", "far", "above 0 and at most 2"),
    ("max_move", 0.1, "is the longest move of look='relative'; with look='continuous' it has no"),
    ("glimpse_cost", -0.1, "must be a number of at least 0"),
    ("glimpse_cost", np.nan, "must be a number of at least 0"),
    ("glimpse_cost", np.inf, "must be a number of at least 0"),
    ("glimpse_cost", "free", "must be a number of at least 0"),
    ("copies", 0, "integer of at least 1"),
    ("copies", 4, "multiple of copies=4"),
    ("copies", 1.5, "multiple of copies=1.5|integer"),
    ("source", np.zeros((100, 100)), r"source=array.{0,200}\.\.\. \(ndarray\) must be one of"),
    ("source", list(range(10_000)), r"source=.{0,200}\.\.\. \(list\) must be one of"),
    ("view", np.array(["full"] * 2), "must be one of 'glimpse', 'full'"),
    ("look", np.array(["tiles"] * 2), "must be one of 'continuous', 'tiles', 'relative'"),
    ("flat", np.array([1, 2]), "must be one of False, True, 'discrete'"),
    ("flat", 1, "must be one of False, True, 'discrete'"),
    ("scene_size", 2**32, "needs [0-9,]{20,} bytes"),
    ("glimpse_size", 2**40, "needs [0-9,]{20,} bytes"),
    ("budget", 10**13, r"needs 80,000,000,\d{3},\d{3} bytes"),
    ("clutter", 10**12, "needs 84,000,000,000,000 bytes"),
    ("glimpse_cost", HUGE, "must be a number of at least 0"),
    ("glimpse_cost", 10**400, "must be a number of at least 0"),
]


@pytest.mark.parametrize(("name", "value", "right"), BAD, ids=[f"{n}={v}"[:30] for n, v, _ in BAD])
def test_a_bad_kwarg_is_refused_with_what_would_be_right(name: str, value: Any, right: str) -> None:
    with pytest.raises(ValueError, match=right) as refusal:
        make_vector(CLUTTERED, 6, **{name: value})
    assert name in str(refusal.value)
    if name not in ("copies", "autoreset_mode", "render_mode"):  # Gymnasium warns of the last
        with pytest.raises(ValueError, match=right):
            make_single(CLUTTERED, **{name: value})


def test_a_search_refuses_a_view_of_another_type() -> None:
    for name in ("view", "look"):
        with pytest.raises(ValueError, match=f"{name}=array.* must be one of"):
            make_single("Glimpse/SearchGlyphs-v0", **{name: np.array(["full", "tiles"])})


def test_kwargs_which_do_not_go_together_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"clutter=3 must be 0, .*'circle_square' takes no clutter"
    ):
        make_vector(CIRCLE_SQUARE, 2, clutter=3)
    for source in ("mnist", "glyphs", "nonsense"):
        with pytest.raises(
            ValueError, match=f"source='{source}' must be None, .*'circle_square' takes no source"
        ):
            make_single(CIRCLE_SQUARE, source=source)
    assert make_vector(CENTRED, 2, scene="circle_square", source=None).num_envs == 2
    with pytest.raises(ValueError, match=r"48 pixels does not fit .* inside=False"):
        make_vector(CENTRED, 2, glimpse_size=12, scales=3, inside=True)
    kwargs: dict[str, Any]
    for kwargs in ({"stop": True}, {"history": True}, {"glimpse_cost": 0.1}):
        with pytest.raises(
            ValueError, match=r"view='full'.*leave first_glimpse, history, context, stop and"
        ):
            make_vector(CENTRED, 2, view="full", **kwargs)


def test_copies_need_a_batch_of_their_size() -> None:
    with pytest.raises(ValueError, match="num_envs=5 must be a multiple of copies=2"):
        make_vector(CENTRED, 5, copies=2)


def test_a_single_environment_refuses_what_only_batches_have() -> None:
    for kwargs in ({"copies": 1}, {"autoreset_mode": "NextStep"}):
        with pytest.raises(ValueError, match=f"{next(iter(kwargs))}: a single environment has"):
            make_single(CENTRED, **kwargs)
    with pytest.raises(ValueError, match="without vectorization_mode"):
        gym.make_vec(CENTRED, num_envs=2, vectorization_mode="sync", autoreset_mode="NextStep")


def test_an_unknown_kwarg_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"'glimpses'.*The arguments are scene, source, split"):
        make_vector(CENTRED, 2, glimpses=4)
    with pytest.raises(TypeError, match=r"argument 'buget': did you mean 'budget'\?"):
        make_single(CENTRED, buget=3)
    with pytest.raises(TypeError, match=r"argument 'stride'\. The arguments"):
        make_single(CENTRED, stride=3)  # which is not like inside
    with pytest.raises(
        TypeError,
        match=r"argument 'speed': scene='moving_images' has it, and not scene=",
    ):
        make_single(MOVING, scene="images")


def test_a_scene_that_cannot_be_imported_does_not_hide_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(SCENES, "elsewhere", "not_installed.scenes:Elsewhere")
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        make_single(CENTRED, foo=3)


@pytest.mark.parametrize(
    ("env_id", "cure"),
    [
        (CENTRED, "give budget=3 or vectorization_mode='sync'"),
        (COPY, "give vectorization_mode="),
        (ATARI, "give vectorization_mode="),
        (MINIGRID, "give vectorization_mode="),
    ],
)
def test_a_time_limit_of_a_batch_is_told_what_to_give_instead(env_id: str, cure: str) -> None:
    for of_others, package in ((ATARI, "ale_py"), (MINIGRID, "minigrid")):
        if env_id == of_others:
            pytest.importorskip(package)
    with pytest.raises(TypeError, match=f"'max_episode_steps': batches have no time .*; {cure}"):
        gym.make_vec(env_id, num_envs=2, max_episode_steps=3)
    env = gym.make_vec(env_id, num_envs=2, vectorization_mode="sync", max_episode_steps=3)
    assert env.num_envs == 2
    env.close()


def test_clutter_of_a_scene_that_has_none_has_no_size() -> None:
    with pytest.raises(
        ValueError, match=r"clutter_size=4 must be 8, also .*: scene='circle_square' takes no"
    ):
        make_single(CIRCLE_SQUARE, clutter_size=4)


def test_errors_that_are_no_arguments_keep_their_kind() -> None:
    with pytest.raises(TypeError, match="unsupported operand"), naming_environment(CENTRED):
        _ = 1 + "1"  # type: ignore[operator]
    with pytest.raises(ValueError, match=f"{CENTRED}: .*'foo'"), naming_environment(CENTRED):
        make_single(CENTRED, foo=3)


class _Needs(gym.Env):
    def __init__(self, size: int) -> None: ...


class _Plain(gym.Env): ...


@pytest.mark.parametrize(
    ("made", "kwargs", "reason"),
    [
        (_Needs, {}, "missing 1 required positional argument: 'size'$"),
        (_Needs, {"size": 2, "speed": 1}, "got an unexpected keyword argument 'speed'$"),
        (_Plain, {"size": 2}, "takes no arguments$"),
    ],
)
def test_arguments_of_somebody_elses_environment_are_told_in_a_sentence(
    made: type[gym.Env], kwargs: dict[str, Any], reason: str
) -> None:
    spec = EnvSpec("Mine-v0", entry_point=f"{__name__}:{made.__name__}")
    with pytest.raises(ValueError, match=f"^Mine-v0: .*{reason}"), naming_environment("Mine-v0"):
        gym.make(spec, **kwargs)


class _Sized(gym.Env):
    def __init__(self, size: int = 1) -> None:
        self.places = range(size)


def test_a_value_of_the_wrong_type_is_named_with_its_environment() -> None:
    spec = EnvSpec("Mine-v0", entry_point=f"{__name__}:_Sized")
    given: dict[str, Any] = {"size": "four"}
    wrong = (
        r"^Mine-v0 cannot be made with size='four': 'str' object cannot be interpreted as an "
        r"integer\. If these values .*, gymnasium\.make\('Mine-v0', size='four'\) in Python shows"
    )
    with (
        pytest.raises(ValueError, match=wrong) as caught,
        naming_environment("Mine-v0", given),
    ):
        gym.make(spec, **given)
    assert isinstance(caught.value.__cause__, TypeError), "its traceback is kept"
    with pytest.raises(TypeError, match="unsupported operand"), naming_environment("Mine-v0", {}):
        _ = 1 + "1"  # type: ignore[operator]


def test_numpys_numbers_are_taken() -> None:
    envs = make_vector(
        CENTRED, 2, budget=np.int64(3), scene_size=np.int32(40), glimpse_cost=np.float32(0.5)
    )
    np.testing.assert_allclose(envs.reset(seed=0)[0]["remaining"], 2 / 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        (CLUTTERED, {"scene_size": np.uint8(254), "budget": np.int8(100), "clutter": np.uint8(9)}),
        (CIRCLE_SQUARE, {"scene_size": np.uint8(130)}),
        ("Glimpse/PointerChase-v0", {"length": np.uint8(255), "cells": np.int16(32767)}),
        ("Glimpse/DictionaryLookup-v0", {"length": np.uint8(200), "cells": np.uint8(255)}),
        ("Glimpse/Copy-v0", {"length": np.uint8(255), "slack": np.float16(3.0)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_small_integers_of_numpy_do_not_wrap_around(env_id: str, kwargs: dict[str, Any]) -> None:
    plain = {name: value.item() for name, value in kwargs.items()}
    one, other = make_vector(env_id, 200, **plain), make_vector(env_id, 200, **kwargs)
    assert one.observation_space == other.observation_space
    rng = np.random.default_rng(0)
    assert_same(one.reset(seed=0), other.reset(seed=0))
    for _ in range(3):
        actions = random_actions(one, rng)
        assert_same(one.step(actions), other.step(actions))
    assert_same(one.state_dict(), other.state_dict())


@pytest.mark.parametrize("options", [5, "scene", [1], 0])
def test_options_that_are_no_dict_are_refused(options: Any) -> None:
    made: list[Any] = [make_single(CENTRED), make_vector(CENTRED, 2)]
    for env in made:
        with pytest.raises(ValueError, match=r"options=.* must be a dict of .*'scene'.*, or None"):
            env.reset(options=options)


def test_an_unknown_argument_is_answered_with_all_that_are_taken() -> None:
    own = {"render_mode", "render_height", "reveal", "flat", "flat_observation"}
    makers: list[tuple[Any, set[str]]] = [
        (partial(gym.make, CATCH), own),
        (partial(gym.make_vec, CATCH, num_envs=2), own | {"num_envs", "copies", "autoreset_mode"}),
    ]
    task = arguments_of(CATCH, {})
    assert task is not None
    for make, expected in makers:
        with pytest.raises(TypeError, match="The arguments are") as raised:
            make(max_episode_step=3)
        listed = re.search(r"The arguments are ((\w+, )*\w+)", str(raised.value))
        assert listed is not None
        assert set(listed[1].split(", ")) == expected | task
    taken = set(keyword_parameters(GlimpseVectorEnv.__init__)) | {"num_envs"}
    assert taken == {*OF_EVERY_TASK, *OF_BATCHES, "task"}


class SlowCopy(TapeMachine):
    """A task that takes an argument of its own and passes on the others."""

    def __init__(self, *, patience: float = 3.0, **rest: Any) -> None:
        super().__init__(slack=patience, **rest)


class NamedClassification(ImageClassification):
    """Its base class takes those of a scene and a sensor besides."""

    def __init__(self, *, name: str = "", **rest: Any) -> None:
        super().__init__(**rest)


def test_a_task_that_passes_on_its_arguments_takes_those_of_its_base_class() -> None:
    kwargs: dict[str, Any] = {"patience": 2, "length": 4, "view": "glimpse"}
    envs = GlimpseVectorEnv(2, task=f"{__name__}:SlowCopy", **kwargs)
    assert envs.task.levels == (1, 4)
    with pytest.raises(TypeError, match="argument 'lenght': did you mean 'length'"):
        GlimpseVectorEnv(2, task=f"{__name__}:SlowCopy", lenght=4)
    named = f"{__name__}:NamedClassification"
    moving: dict[str, Any] = {"scene": "moving_images", "speed": 1.0, "budget": 3}
    observation, _ = GlimpseVectorEnv(2, task=named, name="mine", **moving).reset(seed=0)
    assert observation["glimpse"].shape[0] == 2
    # What the base class itself is given by position or sets is no argument.
    with pytest.raises(TypeError, match="unexpected keyword argument 'full_budget'"):
        GlimpseVectorEnv(2, task=named, full_budget=2, **moving)
