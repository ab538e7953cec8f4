"""What the environments' render modes give."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo

from glimpse_envs.testing import random_actions
from tests.support.episodes import (
    CENTRED,
    CIRCLE_SQUARE,
    CLUTTERED,
    make_single,
    make_vector,
    row_of,
)


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        (CENTRED, {}),
        (CLUTTERED, {"scene_size": 61, "look": "tiles"}),
        (CIRCLE_SQUARE, {"history": True}),
        (CLUTTERED, {"view": "full"}),
    ],
    ids=["centred", "odd", "history", "full"],
)
def test_frames_have_one_even_shape(env_id: str, kwargs: dict[str, Any]) -> None:
    envs = make_vector(env_id, 2, render_mode="rgb_array", **kwargs)
    single = make_single(env_id, render_mode="rgb_array", **kwargs)
    rng = np.random.default_rng(0)
    envs.reset(seed=0)
    single.reset(seed=0)
    first = single.render()
    assert first is not None
    assert first.dtype == np.uint8
    assert [first.shape[0] % 2, first.shape[1] % 2, first.shape[2]] == [0, 0, 3]
    ended = False
    while not ended:
        actions = random_actions(envs, rng)
        envs.step(actions)
        ended = single.step(row_of(actions, 0))[2]
        frames, frame = envs.render(), single.render()
        assert frames is not None
        assert frame is not None
        assert {each.shape for each in (*frames, frame)} == {first.shape}
        if not ended:
            np.testing.assert_array_equal(frames[0], frame)
            assert (frames[0] != frames[1]).any()
    single.reset(seed=0)
    np.testing.assert_array_equal(single.render(), first)


def test_a_frame_changes_with_the_look_and_rendering_changes_nothing() -> None:
    env = make_single(CLUTTERED, render_mode="rgb_array")
    plain = make_single(CLUTTERED)
    env.reset(seed=0)
    plain.reset(seed=0)
    frames = []
    for look in ([0.0, 0.0], [0.9, -0.9], [-0.4, 0.4]):
        action: dict[str, Any] = {"look": np.array(look), "answer": 1}
        found, expected = env.step(action)[0], plain.step(action)[0]
        np.testing.assert_array_equal(found["glimpse"], expected["glimpse"])
        frames.append(np.asarray(env.render()).tobytes())
    assert len(set(frames)) == 3


@pytest.mark.learning
def test_record_video_writes_a_film(tmp_path: Path) -> None:
    env = RecordVideo(
        gym.make(CLUTTERED, render_mode="rgb_array", budget=3),
        str(tmp_path / "film"),
        disable_logger=True,
    )
    env.reset(seed=0)
    ended = False
    while not ended:
        ended = env.step({"look": np.zeros(2, np.float32), "answer": np.int64(0)})[2]
    env.close()  # type: ignore[no-untyped-call]  # Gymnasium has no type for it
    (film,) = tmp_path.glob("film/*.mp4")
    assert b"ftyp" in film.read_bytes()[:12]


@pytest.mark.parametrize("make", [make_single, lambda *_, **k: make_vector(CENTRED, 2, **k)])
def test_rendering_needs_a_mode_and_a_reset(make: Any) -> None:
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\) before render"):
        make(CENTRED, render_mode="rgb_array").render()
    env = make(CENTRED)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert env.render() is None
