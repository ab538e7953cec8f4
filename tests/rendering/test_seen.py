"""Frames of the agent's eye show what was seen and nothing else."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import glimpse_envs
from glimpse_envs.rendering import Picture, Seen, TablePicture, TapePicture
from glimpse_envs.rendering.seen import SEEN_BLACK
from glimpse_envs.rendering.verdict import verdict_of
from glimpse_envs.vision.sensors.sensor import square
from tests.support.episodes import row_of

__all__ = ["glimpse_envs"]


def look_at(x: float, y: float, fine: float, coarse: float, scene: float = 0.0) -> Picture:
    """A glimpse of a 20 x 20 scene: a window of side 4 over one of side 8, each of one shade."""
    panels = [("4", np.full((1, 4, 4), fine)), ("8", np.full((1, 4, 4), coarse))]
    return Picture(
        scene=np.full((1, 20, 20), scene),
        path=np.array([(x, y)], np.float32),
        answer="1",
        target="2",
        outlines=[square(4), square(8)],
        panels=panels,
        window_sides=(4.0, 8.0),
        boxes=np.array([(0.0, 0.0, 2.0, 2.0)]),
    )


def shade(revealed: Any, row: int, column: int) -> float:
    return float((revealed.scene[0, row, column] - SEEN_BLACK) / (1 - SEEN_BLACK))


def test_windows_stay_lit_and_fine_ones_win() -> None:
    seen = Seen()
    seen.add(look_at(6, 6, fine=1.0, coarse=0.5))
    latest = look_at(9, 6, fine=0.8, coarse=0.2)
    seen.add(latest)
    revealed = seen.reveal(latest, ended=False)
    assert shade(revealed, 6, 5) == pytest.approx(1.0), "a fine window outlasts a later coarse one"
    assert shade(revealed, 6, 9) == pytest.approx(0.8)
    assert shade(revealed, 6, 2) == pytest.approx(0.5), "seen coarsely at the first glimpse alone"
    assert shade(revealed, 6, 12) == pytest.approx(0.2)
    assert isinstance(revealed, Picture)
    assert revealed.scene[0, 15, 15] == 0 < SEEN_BLACK


def test_the_latest_glimpse_wins_where_the_scene_moves() -> None:
    seen = Seen()
    seen.add(look_at(6, 6, fine=1.0, coarse=0.5, scene=0.1))
    latest = look_at(9, 6, fine=0.8, coarse=0.2, scene=0.3)
    seen.add(latest)
    revealed = seen.reveal(latest, ended=False)
    assert shade(revealed, 6, 6) == pytest.approx(0.2)
    assert shade(revealed, 6, 2) == pytest.approx(0.5), "not in view now, and lit still"


@pytest.mark.parametrize("name", ["DigitSequenceGlyphs", "DescribeSceneGlyphs"])
def test_a_target_of_several_parts_stands_in_no_frame_of_what_was_seen(name: str) -> None:
    env: Any = gymnasium.make(f"Glimpse/{name}-v0").unwrapped
    env.reset(seed=0)
    env.step({part: chosen[0] for part, chosen in env.task.oracle().items()})
    picture, seen = env.task.picture(0, "glimpse 2"), Seen()
    seen.add(picture)
    assert picture.target is None
    assert picture.line == f"glimpse 2, target {picture.pending}"
    assert isinstance(shown := seen.reveal(picture, ended=False), Picture)
    assert shown.line == "glimpse 2"


def test_what_is_asked_for_is_seen_from_the_start() -> None:
    env: Any = gymnasium.make("Glimpse/SearchGlyphs-v0").unwrapped
    observation, _ = env.reset(seed=0)
    picture, seen = env.task.picture(0, "glimpse 1"), Seen()
    seen.add(picture)
    assert isinstance(shown := seen.reveal(picture, ended=False), Picture)
    assert shown.line == f"Where is {observation['question'].argmax()}? glimpse 1"
    assert shown.target is None


def test_the_target_is_hidden_until_the_end() -> None:
    seen, picture = Seen(), look_at(6, 6, 1.0, 1.0)
    seen.add(picture)
    hidden, shown = seen.reveal(picture, False), seen.reveal(picture, True)
    assert isinstance(hidden, Picture)
    assert isinstance(shown, Picture)
    assert hidden.target is None
    assert len(hidden.boxes) == 0
    assert shown.target == "2"
    assert len(shown.boxes) == 1


def test_tapes_show_the_cells_that_heads_were_on() -> None:
    env = gymnasium.make("Glimpse/PrioritySort-v0", split="test")
    env.reset(seed=0, options={"scene": 0})
    task, seen = env.unwrapped.task, Seen()  # type: ignore[attr-defined]
    still = {"look": np.array([2, 1]), "answer": 0, "write": 0}
    action = still if env.action_space.contains(still) else {"look": 2, "answer": 0}
    for _ in range(3):
        seen.add(task.picture(0, ""))
        last = task.picture(0, "")
        env.step(action)
    revealed = seen.reveal(last, ended=False)
    assert isinstance(revealed, TapePicture)
    assert {strip.name: strip.seen for strip in revealed.strips if strip.name != "memory"} == {
        "input": frozenset({0, 1, 2}),
        "priority": frozenset({0, 1, 2}),
        "output": frozenset(),
    }
    assert revealed.target is None


@pytest.mark.parametrize("cells", [8, 1000])
def test_tables_show_the_cells_that_were_visited(cells: int) -> None:
    env = gymnasium.make("Glimpse/PointerChase-v0", split="test", cells=cells)
    env.reset(seed=0, options={"scene": 0})
    picture = env.unwrapped.task.picture(0, "")  # type: ignore[attr-defined]
    hidden = Seen().reveal(picture, ended=False)
    assert isinstance(hidden, TablePicture)
    texts = dict(zip(hidden.addresses, hidden.cells, strict=True))
    assert [address for address, text in texts.items() if text] == list(hidden.path)
    assert len(texts) == (8 if cells == 8 else 1), "the choice of cells would tell the answer"
    assert not hidden.relevant
    assert hidden.target is None


@pytest.mark.parametrize(
    "env_id", ["ClutteredGlyphs", "Catch", "ForwardReverse", "PrioritySort", "AssociativeRecall"]
)
def test_frames_of_the_eye_have_one_size_and_a_legend(env_id: str) -> None:
    envs = {
        reveal: gymnasium.make(
            f"Glimpse/{env_id}-v0", render_mode="rgb_array", split="test", reveal=reveal
        )
        for reveal in ("all", "seen")
    }
    shapes: dict[str, set[Any]] = {"all": set(), "seen": set()}
    for reveal, env in envs.items():
        for scene in (0, 1):
            env.reset(seed=0, options={"scene": scene})
            env.action_space.seed(0)
            for _ in range(3):
                shapes[reveal].add(np.asarray(env.render()).shape)
                if any(env.step(env.action_space.sample())[2:4]):
                    break
    (everything,), (eye,) = shapes["all"], shapes["seen"]
    assert eye[0] == everything[0] + 36
    assert eye[1:] == everything[1:]


def test_an_output_of_which_the_rest_is_hidden_is_not_called_whole() -> None:
    env = gymnasium.make("Glimpse/Copy-v0", length=3, min_length=3)
    env.reset(seed=0)
    task: Any = env.unwrapped.batch.task  # type: ignore[attr-defined]
    seen = Seen()
    verdicts: list[tuple[bool | None, bool | None]] = []
    ended = False
    while not ended:
        seen.add(task.picture(0, ""))
        ended = env.step(row_of(task.oracle(), 0))[2]
        picture = task.picture(0, "")
        verdicts.append((verdict_of(picture), verdict_of(seen.reveal(picture, ended))))
    assert verdicts == [(None, None), (None, None), (True, True)]


def test_a_new_episode_begins_in_the_dark() -> None:
    frames = []
    for scenes in ((0, 1), (1,)):
        env = gymnasium.make(
            "Glimpse/ClutteredGlyphs-v0", render_mode="rgb_array", split="test", reveal="seen"
        )
        for scene in scenes:
            env.reset(seed=0, options={"scene": scene})
        frames.append(np.asarray(env.render()))
    assert np.array_equal(frames[0], frames[1])


def test_a_loaded_state_shows_the_present_glimpse_alone() -> None:
    def make() -> Any:
        return gymnasium.make(
            "Glimpse/ClutteredGlyphs-v0", render_mode="rgb_array", split="test", reveal="seen"
        )

    env, other = make(), make()
    env.reset(seed=0, options={"scene": 0})
    state = env.unwrapped.state_dict()
    expected = np.asarray(env.render())
    other.reset(seed=0, options={"scene": 1})
    other.unwrapped.load_state_dict(state)
    assert np.array_equal(np.asarray(other.render()), expected)


def test_frames_have_the_height_that_is_asked_for() -> None:
    for reveal, height in (("all", 720), ("seen", 792)):
        options: dict[str, Any] = {"render_height": 720, "reveal": reveal}
        env = gymnasium.make("Glimpse/ClutteredGlyphs-v0", render_mode="rgb_array", **options)
        env.reset(seed=0)
        assert np.asarray(env.render()).shape[0] == height
    for wrong in (100, 5000, 720.0, 360.0):
        with pytest.raises(ValueError, match="must be an integer from 160 to 4320 pixels"):
            gymnasium.make("Glimpse/ClutteredGlyphs-v0", render_height=wrong)


def test_what_is_revealed_must_be_one_of_two() -> None:
    with pytest.raises(ValueError, match="reveal='nothing' must be one of"):
        gymnasium.make("Glimpse/ClutteredGlyphs-v0", reveal="nothing")


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        ("ClutteredGlyphs", {}),
        ("SearchGlyphs", {}),
        ("Copy", {}),
        ("DictionaryLookup", {}),
        ("AssociativeRecall", {}),  # its pictures show pairs, which are fewer than the cells
        ("PointerChase", {"cells": 100}),  # its pictures show some of the cells
    ],
)
def test_in_the_full_view_all_is_seen_but_the_target(env_id: str, kwargs: dict[str, Any]) -> None:
    env = gymnasium.make(
        f"Glimpse/{env_id}-v0", render_mode="rgb_array", view="full", reveal="seen", **kwargs
    )
    env.reset(seed=0)  # raised for tables of which some cells are drawn
    assert np.asarray(env.render()).any()
    picture = env.unwrapped.task.picture(0, "")  # type: ignore[attr-defined]
    hidden, shown = (Seen().reveal(picture, ended) for ended in (False, True))
    for name in ("scene", "strips", "cells", "addresses"):
        assert getattr(hidden, name, None) is getattr(picture, name, None)
    assert hidden.target is None
    assert shown.target == picture.target
    if isinstance(picture, TablePicture):
        assert isinstance(hidden, TablePicture)
        assert isinstance(shown, TablePicture)
        assert not hidden.relevant
        assert not hidden.unseen
        assert shown.relevant == picture.relevant
