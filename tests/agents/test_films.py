"""Films and sheets show what a policy did."""

import inspect
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
import pytest
import torch

from agents.algorithms.reinforce import Reinforce
from agents.evaluate import main
from agents.scoring.run_scores import policy_of
from agents.scoring.scanners import OracleScanner, RasterScanner, ScannedPolicy
from glimpse_envs.evaluation import films
from glimpse_envs.evaluation.films import film_episodes, side_by_side, write_showcase
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.rendering.frame import layout_of
from tests.support import baselines
from tests.support.baselines import model_of
from tests.support.episodes import CENTRED, CLUTTERED, make_single
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


def count_frames(film: Path) -> int:
    reader = cv2.VideoCapture(str(film))  # imageio's own reader leaves its pipes open
    count = 0
    while reader.read()[0]:
        count += 1
    reader.release()
    return count


@pytest.mark.learning
def test_a_film_has_a_frame_a_glimpse_and_a_sheet_a_cell_a_scene(tmp_path: Path) -> None:
    policy = ScannedPolicy(RasterScanner(make_single(CENTRED, budget=3)))
    film, sheet = tmp_path / "film.mp4", tmp_path / "sheet.png"
    write_showcase(policy, CENTRED, film, sheet, film_scenes=2, sheet_scenes=7, budget=3)

    films, scanpaths = film_episodes(policy, CENTRED, range(7), budget=3)
    assert count_frames(film) == 2 * (3 + 3), "each glimpse, and the end for a while"
    reader = cv2.VideoCapture(str(film))
    _, frame = reader.read()
    reader.release()
    assert np.asarray(frame).shape == films[0][0].shape
    (small, *_), _ = film_episodes(policy, CENTRED, [0], budget=3, height=200)
    assert small[0].shape[0] == 200
    picture = cv2.imread(str(sheet))
    assert picture is not None
    height, width = scanpaths[0].shape[:2]
    assert picture.shape == (2 * (height + 12) + 12, 6 * (width + 12) + 12, 3)


def test_a_film_that_fails_closes_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    env = make_single(CENTRED, split="test")
    monkeypatch.setattr(env, "close", lambda: closed.append(True))
    monkeypatch.setattr("gymnasium.make", lambda *_, **__: env)
    with pytest.raises(ValueError, match="must lie between 0 and 9999"):
        film_episodes(ScannedPolicy(RasterScanner(env)), CENTRED, [10**9])
    assert closed == [True]


@pytest.mark.learning
def test_a_run_is_filmed_with_the_arguments_that_are_asked_for(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(env_kwargs={"budget": 3}), tmp_path / "run")
    for changes, glimpses in (([], 3), (["--env-kwargs", "budget=5"], 5)):
        film = tmp_path / f"{glimpses}.mp4"
        options = ["--episodes", "1", "--film", str(film), "--film-episodes", "2"]
        main([str(run.folder), *options, *changes])
        assert count_frames(film) == 2 * (glimpses + 3)


@pytest.mark.learning
def test_a_film_is_of_the_evaluations_seed_and_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path / "run")
    films: list[list[Any]] = []
    devices = []

    def noted(*arguments: Any, **options: Any) -> Any:
        devices.append(inspect.signature(policy_of).bind(*arguments, **options).arguments["device"])
        return policy_of(*arguments, **options)

    monkeypatch.setattr("agents.scoring.run_films.policy_of", noted)
    monkeypatch.setattr(
        "agents.scoring.run_films.write_film", lambda frames, *_: films.append([*frames])
    )
    for seed in ("0", "1", "1"):
        film = ["--film", str(tmp_path / "film.gif"), "--film-episodes", "1", "--seed", seed]
        main([str(run.folder), "--episodes", "2", *film, "--device", "cpu:0"])
    zero, one, again = (np.stack(film) for film in films)
    assert (zero != one).any()
    assert (one == again).all()
    assert devices == ["cpu:0"] * 3


def test_a_film_is_of_the_gaze_that_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = trained(Reinforce, tiny_config(gaze="random"), tmp_path / "run")
    filmed: list[Any] = []

    def noted(policy: Any, *_: Any, **__: Any) -> Any:
        filmed.append(policy)
        return [[np.zeros((2, 2, 3), np.uint8)]], []

    monkeypatch.setattr("agents.scoring.run_films.film_episodes", noted)
    for gaze in (["--gaze", "raster"], ["--gaze", "learned"], []):
        film = ["--film", str(tmp_path / "film.gif"), "--film-episodes", "1"]
        main([str(control.folder), "--episodes", "2", *film, *gaze])
    scanners = [getattr(policy, "scanner", None) for policy in filmed]
    assert [getattr(scanner, "name", None) for scanner in scanners] == ["raster", None, "random"]
    filmed.clear()
    whole = baselines.trained(baselines.tiny_config("dense"), "dense", tmp_path / "whole")
    beside = ["--gaze", "raster", "--film-with", str(whole.folder)]
    main([str(control.folder), "--episodes", "2", *film, *beside])
    assert [policy.view for policy in filmed] == ["glimpse", "full"]


def test_a_policy_that_stops_early_is_filmed_as_long_as_it_looks(tmp_path: Path) -> None:
    class Stopping:
        """Stops at once on scenes whose first glimpse was taken on the left."""

        def predict(
            self, observation: dict[str, np.ndarray], **_: object
        ) -> tuple[dict[str, np.ndarray], None]:
            left = (observation["location"][:, 0] < 0).astype(np.int64)
            look, answer = np.zeros((1, 2), np.float32), np.zeros(1, np.int64)
            return {"look": look, "answer": answer, "stop": left}, None

    films, _ = film_episodes(Stopping(), CENTRED, range(8), budget=4, stop=True)
    lengths = {len(frames) for frames in films}
    assert lengths == {1 + 3, 2 + 2 + 3}
    film = tmp_path / "film.mp4"
    write_showcase(
        Stopping(), CENTRED, film, tmp_path / "sheet.png",
        film_scenes=3, sheet_scenes=1, budget=4, stop=True,
    )  # fmt: skip
    assert count_frames(film) == sum(map(len, films[:3]))


def test_a_film_of_what_was_seen_stands_beside_one_of_a_soft_model() -> None:
    class Soft(Policy):
        """Reads everything, twice."""

        view: Literal["glimpse", "full"] = "full"

        def predict(self, observation: Any, *_: Any, **__: Any) -> tuple[Any, None]:
            return {"answer": np.zeros(len(observation["scene"]), np.int64)}, None

        def answers(self, observation: Any) -> Any:
            return np.zeros((len(observation["scene"]), 2), np.int64)

        def attention(self, observation: Any, *_: Any) -> Any:
            rows, _, *side = observation["scene"].shape
            return np.full((rows, 2, *side), 1 / np.prod(side), np.float32)

    hard = ScannedPolicy(OracleScanner(make_single(CLUTTERED)))
    whole, _ = film_episodes(hard, CLUTTERED, [0])
    (seen,), _ = film_episodes(hard, CLUTTERED, [0], reveal="seen")
    (soft,), _ = film_episodes(Soft(), CLUTTERED, [0], reveal="seen", view="full")
    assert (seen[0][: len(whole[0][0])] != whole[0][0]).any()
    assert len(side_by_side(seen, soft)) == len(seen)


def test_an_oracle_is_filmed_and_scenes_differ() -> None:
    policy = ScannedPolicy(OracleScanner(make_single(CLUTTERED)))
    films, scanpaths = film_episodes(policy, CLUTTERED, [0, 1])
    assert (films[0][0] != films[1][0]).any()
    assert (scanpaths[0] != scanpaths[1]).any()
    again, _ = film_episodes(policy, CLUTTERED, [1])
    np.testing.assert_array_equal(again[0][-1], films[1][-1])


class TwoCorners(Policy):
    """Reads the upper left corner, then the lower right one, and answers 1, then 2."""

    view = "full"

    def predict(
        self, observation: dict[str, np.ndarray], *_: object, **__: object
    ) -> tuple[dict[str, np.ndarray], None]:
        return {"answer": np.full(len(observation["scene"]), 2)}, None

    def answers(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        return np.tile([1, 2], (len(observation["scene"]), 1))

    def attention(self, observation: dict[str, np.ndarray], *_: object) -> np.ndarray:
        rows, _, height, width = observation["scene"].shape
        maps = np.zeros((rows, 2, height, width), np.float32)
        maps[:, 0, :8, :8] = maps[:, 1, -8:, -8:] = 1 / 64
        return maps


def test_what_cannot_be_filmed_is_refused() -> None:
    policy = ScannedPolicy(RasterScanner(make_single(CENTRED)))
    refused: dict[str, dict[str, Any]] = {
        "actions='smpled' must be one of": {"actions": "smpled"},
        "split='validation': films are of the test split": {"split": "validation"},
        "reveal='none' must be one of": {"reveal": "none"},
        "height must be an integer from 160 to 4320 pixels; it is 10": {"height": 10},
    }
    for message, arguments in refused.items():
        with pytest.raises(ValueError, match=message):
            film_episodes(policy, CENTRED, [0], **arguments)


def test_a_function_is_filmed_with_the_samples_of_its_generator() -> None:
    def guess(seen: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        shape = (len(seen["remaining"]), 2)
        looks = 2 * torch.rand(shape, generator=generator) - 1
        return {"look": looks.numpy(), "answer": np.zeros(shape[0], np.int64)}

    generator = torch.Generator()
    guess.generator = generator  # type: ignore[attr-defined]
    (first,), (again,) = (film_episodes(guess, CENTRED, [0])[0] for _ in range(2))
    assert all((one == two).all() for one, two in zip(first, again, strict=True))


def test_a_soft_model_is_filmed_where_it_reads() -> None:
    (frames,), _ = film_episodes(TwoCorners(), CENTRED, [0])
    assert len(frames) == 2 + 3
    layout = layout_of((28, 28), 0)
    top, left = layout.scene_top, layout.scene_left
    corner, far = (slice(2, 20), slice(2, 20)), (slice(-20, -2), slice(-20, -2))
    scenes = [f[top:, left:][: layout.scene_height, : layout.scene_width] for f in frames]
    light = [[scene[part].mean() for part in (corner, far)] for scene in scenes]
    assert light[0][0] > 10 > light[0][1]
    assert light[1][0] < 10 < light[1][1]
    assert (frames[0] != frames[1])[layout.text_top :].any(), "the answers differ"
    assert all((frame == frames[1]).all() for frame in frames[2:])


def test_a_soft_model_that_follows_a_scene_is_filmed_over_the_frame_that_it_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env_kwargs: dict[str, Any] = {"budget": 3, "scene_size": 36, "clutter": 0}
    env_id = "Glimpse/MovingDigitGlyphs-v0"
    model = model_of("draw", env_id=env_id, env_kwargs=env_kwargs)
    read, attention = [], model.attention

    def noting(observation: Any, *others: Any) -> Any:
        read.append(observation["scene"][0].copy())
        return attention(observation, *others)

    model.attention = noting
    shown: list[Any] = []

    def lit(scene: Any, shares: Any) -> Any:
        shown.append(scene)
        return scene

    monkeypatch.setattr(films, "light_up", lit)
    film_episodes(model, env_id, [0], view="full", **env_kwargs)
    assert len(shown) == len(read) == 3
    for mine, theirs in zip(shown, read, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_films_stand_side_by_side_and_the_shorter_waits() -> None:
    left = [np.full((4, 3, 3), number, np.uint8) for number in range(3)]
    right = [np.full((4, 5, 3), number, np.uint8) for number in (7, 8)]
    frames = side_by_side(left, right)
    assert [(frame.shape, frame[0, 0, 0], frame[0, -1, 0]) for frame in frames] == [
        ((4, 8, 3), 0, 7),
        ((4, 8, 3), 1, 8),
        ((4, 8, 3), 2, 8),
    ]
    with pytest.raises(ValueError, match="4 and 6 pixels high"):
        side_by_side(left, [np.zeros((6, 5, 3), np.uint8)])
