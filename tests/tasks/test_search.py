"""Search: scenes by their definition, stops that pay, and levels by enumeration and simulation."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs import sources
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.lookup import full_view
from glimpse_envs.sources import from_arrays
from glimpse_envs.suite import SUITE, register
from glimpse_envs.tasks.pictures.search import Search
from glimpse_envs.testing import Actions, check_task, first_returns
from glimpse_envs.vision.scenes.places import room_for, side_for
from tests.support.episodes import make_single, make_vector

SEARCH = "Glimpse/SearchGlyphs-v0"
SIZE, SIDE, IMAGES = 240, 28, 12
SMALL: dict[str, Any] = dict(scene_size=100, images=2, glimpse_size=4, scales=1)


def in_pixels(boxes: Any, size: int = SIZE) -> Any:
    return np.rint((np.asarray(boxes, np.float64) + 1) / 2 * size).astype(int)


@pytest.mark.parametrize("split", ["train", "validation"])
def test_the_asked_class_occurs_once_among_images_that_lie_apart(split: str) -> None:
    rows = 60
    envs = make_vector(SEARCH, rows, view="full", split=split)
    observation, info = envs.reset(seed=3)
    examples = sources.load("glyphs", split)
    by_pixels = {image.tobytes(): int(label) for image, label in zip(
        examples.images[:, 0], examples.labels, strict=True)}  # fmt: skip
    scenes = np.rint(observation["scene"][:, 0] * 255).astype(np.uint8)
    asked = observation["question"].argmax(axis=1)
    assert (observation["question"].sum(axis=1) == 1).all()
    for n, scene in enumerate(scenes):
        x0, y0, x1, y1 = in_pixels(info["target_box"][n])
        assert (x1 - x0, y1 - y0) == (SIDE, SIDE)
        assert by_pixels[scene[y0:y1, x0:x1].tobytes()] == asked[n]
        if split == "validation":
            np.testing.assert_array_equal(scene[y0:y1, x0:x1], examples.images[n, 0])
    # All twelve are found by their pixels, box by box.
    known = np.unique([int(image.astype(np.int64).sum()) for image in examples.images[:, 0]])
    for scene, label in zip(scenes[:5], asked, strict=False):
        sums = np.pad(scene.astype(np.int64).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        inside = sums[SIDE:, SIDE:] - sums[:-SIDE, SIDE:] - sums[SIDE:, :-SIDE]
        found = [
            (y, x, by_pixels[pixels])
            for y, x in np.argwhere(np.isin(inside + sums[:-SIDE, :-SIDE], known))
            if (pixels := scene[y : y + SIDE, x : x + SIDE].tobytes()) in by_pixels
        ]
        assert len(found) == IMAGES
        assert [one for *_, one in found].count(label) == 1
        corners = np.array([(y, x) for y, x, _ in found])
        apart = np.abs(corners[:, None] - corners[None]).max(axis=2)
        assert apart[~np.eye(IMAGES, dtype=bool)].min() >= SIDE


def test_all_others_are_of_all_other_classes_alike() -> None:
    """Drawn by class: sums of the pixels of scenes say so, for classes of one image each."""
    images = np.zeros((4, 1, 3, 3), np.uint8)
    images[:, 0, 1, 1] = [1, 10, 50, 200]
    from_arrays("four_dots", train=(images, np.arange(4)))
    envs = make_vector(SEARCH, 2000, view="full", source="four_dots", scene_size=13, images=3)
    observation, _ = envs.reset(seed=0)
    asked = observation["question"].argmax(axis=1)
    scenes = np.rint(observation["scene"] * 255).astype(int).reshape(len(asked), -1)
    counts = np.stack([(scenes == value).sum(axis=1) for value in (1, 10, 50, 200)], axis=1)
    assert (counts.sum(axis=1) == 3).all()
    assert (counts[np.arange(len(asked)), asked] == 1).all()
    others = counts - np.eye(4, dtype=int)[asked]
    assert others.mean(axis=0) == pytest.approx(0.5, abs=0.07)


def test_a_crowded_scene_is_filled_to_its_guarantee() -> None:
    """The last image has one place in a hundred or so; every one is free of the others."""
    images = np.full((2, 1, 4, 4), 255, np.uint8)
    from_arrays("two_squares", train=(images, np.arange(2)))
    envs = make_vector(SEARCH, 500, view="full", source="two_squares", scene_size=17, images=4)
    observation, _ = envs.reset(seed=0)
    assert (observation["scene"].sum(axis=(1, 2, 3)) == 4 * 16).all()


def test_the_target_lies_uniformly() -> None:
    _, info = make_vector(SEARCH, 4000, **SMALL).reset(seed=1)
    boxes = in_pixels(info["target_box"], 100)
    for places in boxes[:, 0], boxes[:, 1]:
        assert places.min() >= 0
        assert places.max() <= 100 - SIDE
        tenths = np.bincount(places * 10 // (100 - SIDE + 1), minlength=10)
        assert np.abs(tenths - 400).max() < 5 * np.sqrt(400)


def test_it_pays_to_stop_on_the_target_and_nowhere_else() -> None:
    rows = 400
    envs = make_vector(SEARCH, rows, **SMALL, autoreset_mode="Disabled")
    _, info = envs.reset(seed=2)
    box = info["target_box"].astype(np.float64)
    rng = np.random.default_rng(0)
    looks = box[:, :2] + rng.uniform(-0.5, 1.5, (rows, 2)) * (box[:, 2:] - box[:, :2])
    looks = np.clip(looks, -1, 1)
    go = {"look": looks, "stop": np.zeros(rows, np.int64)}
    observation, reward, terminated, _, info = envs.step(go)
    first = info["target"]  # of the first glimpse, at a uniform place
    assert 0 < first.mean() < 0.3
    assert not reward.any()
    assert not info["success"].any()
    assert not terminated.any()
    # The look of the step that stops is not taken.
    stop = {"look": np.zeros((rows, 2)), "stop": np.ones(rows, np.int64)}
    after, reward, terminated, truncated, info = envs.step(stop)
    np.testing.assert_array_equal(after["location"], observation["location"])
    within = ((box[:, :2] <= looks) & (looks < box[:, 2:])).all(axis=1)
    assert 0.1 < within.mean() < 0.5
    np.testing.assert_array_equal(reward, within)
    np.testing.assert_array_equal(info["success"], within)
    np.testing.assert_array_equal(info["target"], within, "which is when to stop")
    assert info["target_mask"].all()
    assert terminated.all()
    assert not truncated.any()


def test_who_never_stops_gets_nothing_and_the_last_action_may_stop() -> None:
    envs = make_vector(SEARCH, 20, autoreset_mode="Disabled", budget=3)
    for stops in (0, 1):
        envs.reset(seed=2)
        for step in range(3):
            actions = envs.task.oracle()
            last = np.full(20, stops if step == 2 else 0)
            observation, reward, terminated, _, _ = envs.step(actions | {"stop": last})
            assert terminated.all() == (step == 2)
        assert reward.sum() == 20 * stops
        assert not observation["remaining"].any()


def test_the_class_is_asked_for_in_every_observation_and_copy() -> None:
    envs = make_vector(SEARCH, 6, copies=2, autoreset_mode="Disabled")
    first, _ = envs.reset(seed=5)
    asked = first["question"]
    np.testing.assert_array_equal(asked[::2], asked[1::2])
    for _ in range(3):
        go = {"look": np.zeros((6, 2)), "stop": np.zeros(6, np.int64)}
        np.testing.assert_array_equal(envs.step(go)[0]["question"], asked)


# --- levels --------------------------------------------------------------------------------------


def simulated(rows: int, kwargs: dict[str, Any], place: tuple[float, float]) -> float:
    """The mean return of the blind policy that looks at `place` and stops."""
    envs = make_vector(SEARCH, rows, **kwargs)
    envs.reset(seed=11)
    looks, steps = np.tile(place, (rows, 1)), np.zeros(rows, np.int64)

    def act() -> Actions:
        steps[:] += 1
        return {"look": looks, "stop": (steps > 1).astype(np.int64)}

    return float(first_returns(envs, act).mean())


def test_chance_is_what_the_best_fixed_place_returns() -> None:
    assert Search().chance == pytest.approx((28 / 213) ** 2)
    rows, chance = 4000, Search(**SMALL).chance
    assert chance == pytest.approx((28 / 73) ** 2)
    error = np.sqrt(chance / rows)
    assert abs(simulated(rows, SMALL, (0.1, -0.2)) - chance) < 4 * error
    assert simulated(rows, SMALL, (-0.9, 0.0)) < chance - 4 * error


@pytest.mark.parametrize("cost", [0.0, 0.004, 0.02, 0.3, 1.5])
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"inside": True},
        {"look": "tiles"},
        {"look": "tiles", "glimpse_size": 40},
        {"budget": 1},
    ],
)
def test_chance_and_ceiling_by_enumeration(kwargs: dict[str, Any], cost: float) -> None:
    """Every place of the target, every place of the first glimpse (where these are places, a fine
    grid of them), and what is best there: to stop, or to look once more."""
    size = 45
    given: dict[str, Any] = dict(images=1, scene_size=size, scales=1, glimpse_cost=cost)
    task = Search(**given | dict(look="continuous") | kwargs)
    view = task.picture_view
    assert isinstance(view, PictureView)
    corners = np.arange(size - SIDE + 1)
    fine = np.linspace(-1, 1, 2 * 720 + 1)[1::2]  # middles of a grid
    ends = np.array([-1.0, 1.0])
    lines = fine
    if view.look == "tiles":
        lines = np.unique(view.tile_locations[:, 0])

    def held(locations: Any) -> Any:
        """Whether each gaze on a line lies on a target at each place: (gazes, places)."""
        gazes = view.space.to_pixels(np.stack([locations, locations], axis=1))[:, :1]
        return (corners <= gazes) & (gazes < corners + SIDE)

    inside = held(lines)
    chances = np.outer(inside.mean(axis=1), inside.mean(axis=1))
    reached = held(np.append(lines, ends) if view.look != "tiles" else lines).any(axis=0).mean()
    looks = kwargs.get("budget") != 1
    elsewhere = chances.max() - cost if looks else 0.0
    chance = np.maximum(chances, elsewhere).mean()
    at_once, reached = chances.mean(), reached**2
    ceiling = at_once + (reached - at_once) * (max(1 - cost, 0) if looks else 0)
    assert task.chance == pytest.approx(chance, rel=2e-3)
    assert task.ceiling == pytest.approx(ceiling, rel=2e-3)
    assert task.chance <= task.ceiling + 1e-12


@pytest.mark.learning
@pytest.mark.parametrize(
    "kwargs",
    [
        {"look": "tiles"},
        {"look": "relative"},
        {"inside": True, "scales": 3, "glimpse_size": 12},
        {"history": True},
        {"view": "full"},
        {"view": "full", "look": "tiles"},
        {"split": "test"},
    ],
)
def test_other_arguments_keep_the_contract(kwargs: dict[str, Any]) -> None:
    check_task(SEARCH, **SMALL | kwargs)


def test_the_oracle_collects_the_ceiling_where_looks_cost() -> None:
    rows = 1500
    for look in ("continuous", "tiles"):
        envs = make_vector(SEARCH, rows, glimpse_cost=0.4, look=look, **SMALL)
        envs.reset(seed=8)
        returns = first_returns(envs, envs.task.oracle)
        error = returns.std() / np.sqrt(rows)
        assert abs(returns.mean() - envs.task.ceiling) < 4 * error
        assert envs.task.ceiling < 0.7


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (
            {"images": 16},
            "images=16 of 28x28 .* scene_size=240: choose images of at most 15, or a scene_size of",
        ),
        ({"scene_size": 27, "images": 1}, "in scene_size=27: choose a scene_size of at least 28"),
        ({"images": 10**15}, "images=1000000000000000 of 28x28 .* at most 15, or a scene_size of"),
        ({"images": 0}, "images=0 must be an integer of at least 1"),
        ({"view": "full", "look": "relative"}, "view='full' points at a place"),
        ({"split": "dev"}, "split"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(SEARCH, 1, **kwargs)


@pytest.mark.parametrize("move", [{}, {"max_move": 0.3}])
def test_the_full_view_of_a_search_by_moves_points_at_locations(move: dict[str, float]) -> None:
    env_id = "Glimpse/SearchGlyphs-v0"
    kwargs = full_view(env_id, {**SMALL, "look": "relative", **move, "glimpse_cost": 0.1})
    assert kwargs == {**SMALL, "view": "full"}
    assert make_single(env_id, **kwargs).task.num_scenes is None
    assert full_view(env_id, {"look": "tiles"}) == {"look": "tiles", "view": "full"}


def test_what_is_offered_in_a_refusal_fits() -> None:
    with pytest.raises(ValueError, match="at least 241"):
        make_vector(SEARCH, 1, images=16)
    make_vector(SEARCH, 2, images=16, scene_size=241).reset(seed=0)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (28, 28), (3, 11), (9, 2)])
def test_the_smallest_side_for_images_has_room_for_them(shape: tuple[int, int]) -> None:
    for images in (*range(1, 60), 10**6, 10**15):
        side = side_for(images, *shape)
        assert room_for(side, *shape) >= images
        assert room_for(side - 1, *shape) < images


def test_a_class_without_images_is_named() -> None:
    train = np.zeros((4, 1, 4, 4), np.uint8), np.array([0, 0, 1, 1])
    from_arrays("no_third", train=train, class_names=("a", "b", "c"))
    envs = make_vector(SEARCH, 1, source="no_third", scene_size=60, images=2)
    with pytest.raises(sources.SourceError, match="no image of the class 'c'"):
        envs.reset(seed=0)


def test_the_full_view_leaves_out_what_the_id_gives_of_glimpses() -> None:
    row, env_id = SUITE["Glimpse/SearchGlyphs-v0"], "Tests/SearchByMoves-v0"
    register(env_id, task=row.task, **row.kwargs, look="relative", glimpse_cost=0.1)
    try:
        kwargs = full_view(env_id, SMALL)
        assert kwargs == {**SMALL, "view": "full", "look": "continuous", "glimpse_cost": 0.0}
        make_single(env_id, **kwargs).reset(seed=0)
    finally:
        del gym.registry[env_id]
