"""Moving images against frames drawn in plain NumPy."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import assert_same, random_actions
from glimpse_envs.vision.picture_task import PictureTask
from glimpse_envs.vision.scenes.moving_images import MovingStage
from tests.support.episodes import make_vector

MOVING = "Glimpse/MovingDigitGlyphs-v0"
SIZE, PIECE, SIDE, BUDGET = 100, 8, 28, 12


def stage_of(envs: GlimpseVectorEnv) -> MovingStage:
    assert isinstance(envs.task, PictureTask)
    assert isinstance(envs.task._stage, MovingStage)
    return envs.task._stage


def bounced(place: float, room: int) -> int:
    """The whole place in [0, room) of what would be at `place` without the sides."""
    folded = place % (2 * room)
    return min(int(folded if folded <= room else 2 * room - folded), room - 1)


def test_frames_are_those_of_images_that_drift_and_bounce() -> None:
    envs = make_vector(MOVING, 5, view="full", autoreset_mode="Disabled")
    observation, info = envs.reset(seed=2)
    stage = stage_of(envs)
    images: NDArray[np.int64] = sources.load("glyphs", "train").images[:, 0].astype(np.int64)
    moved = 0
    for step in range(BUDGET):
        for row in range(5):
            frame = np.zeros((SIZE, SIZE), np.int64)
            for i, (image, top, left) in enumerate(stage._cuts[row]):
                side = SIDE if i == len(stage._cuts[row]) - 1 else PIECE
                x, y = (
                    bounced(start + step * speed, SIZE - side + 1)
                    for start, speed in zip(
                        stage._flights[row, i, :2], stage._flights[row, i, 2:], strict=True
                    )
                )
                sprite = images[image, top : top + side, left : left + side]
                part = frame[y : y + side, x : x + side]
                part[:] = np.minimum(part + sprite, 255)
            np.testing.assert_array_equal(np.rint(observation["scene"][row, 0] * 255), frame)
            box = (info["target_box"][row] + 1) / 2 * SIZE
            np.testing.assert_allclose(box, (x, y, x + SIDE, y + SIDE), atol=1e-4)
        before = observation["scene"]
        observation, _, _, _, info = envs.step({"answer": np.zeros(5, np.int64)})
        moved += int((observation["scene"] != before).any())
    assert moved == BUDGET - 1, "in the last step nothing moves any more"


def test_speeds_lie_within_their_bound_and_still_images_are_possible() -> None:
    envs = make_vector(MOVING, 200, speed=2.5)
    envs.reset(seed=0)
    stage = stage_of(envs)
    speeds = np.abs(stage._flights[..., 2:])
    assert 2.4 < speeds.max() <= 2.5
    still = make_vector(MOVING, 3, speed=0, view="full", autoreset_mode="Disabled")
    first, _ = still.reset(seed=0)
    second, *_ = still.step({"answer": np.zeros(3, np.int64)})
    assert_same(second["scene"], first["scene"])


def test_a_history_keeps_what_was_seen_as_it_was_seen() -> None:
    envs, plain = (make_vector(MOVING, 4, history=each) for each in (True, False))
    rng = np.random.default_rng(0)
    (observation, _), (seen, _) = envs.reset(seed=5), plain.reset(seed=5)
    kept = [seen["glimpse"]]
    for _ in range(BUDGET - 1):
        actions = random_actions(envs, rng)
        observation, *_ = envs.step(actions)
        seen, *_ = plain.step(actions)
        kept.append(seen["glimpse"])
    np.testing.assert_array_equal(observation["glimpse"], np.stack(kept, axis=1))


def test_each_fixed_scene_is_its_own_image() -> None:
    envs = make_vector(MOVING, 6, split="test", autoreset_mode="Disabled")
    envs.reset(seed=0, options={"scene": np.arange(6)})
    stage = stage_of(envs)
    np.testing.assert_array_equal(stage._cuts[:, -1, 0], np.arange(6))
    labels = sources.load("glyphs", "test").labels[:6]
    np.testing.assert_array_equal(stage.labels, labels)
