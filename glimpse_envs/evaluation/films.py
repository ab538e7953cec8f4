"""Films and contact sheets of a policy's scanpaths on scenes of a fixed split."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_choice
from glimpse_envs.episodes.description import task_of
from glimpse_envs.episodes.display import FRAME_HEIGHT, Display
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.actions import Actions, usual_actions
from glimpse_envs.evaluation.dealing import deal_one
from glimpse_envs.evaluation.fitting import check_id, check_spaces
from glimpse_envs.evaluation.moments import moments
from glimpse_envs.evaluation.policy import Observation, Policy, as_policy
from glimpse_envs.evaluation.sampling import samples_of
from glimpse_envs.evaluation.world_films import LAST, Frames, film_world
from glimpse_envs.rendering import (
    AnyPicture,
    Picture,
    contact_sheet,
    draw_frame,
    draw_scanpath,
    light_up,
    write_film,
    write_png,
)


def film_episodes(
    policy: Any,
    env_id: str,
    scenes: Sequence[int],
    *,
    seed: int = 0,
    reveal: str = "all",
    height: int = FRAME_HEIGHT,
    actions: Actions | None = None,
    **env_kwargs: Any,
) -> tuple[list[Frames], Frames]:
    """Film a policy on scenes of the test split; third-party worlds as in
    `glimpse_envs.evaluation.world_films.film_world`.

    For a model that takes soft glimpses inside itself, or reads softly before each of its answers,
    there is a frame for each of these: the scene, lit where it is read.

    Args:
        policy: as `glimpse_envs.evaluation.protocol.evaluate` takes it.
        env_id: of the environment.
        scenes: their numbers in the test split.
        seed: of clutter, places, first glimpses and samples.
        reveal: "all" that is hidden, or what the agent has "seen" so far, all else being black.
        height: of the frames, in pixels.
        actions: "likeliest" or "sampled"; None: `glimpse_envs.evaluation.actions.usual_actions`.
        **env_kwargs: of the environment, except `split`.

    Returns:
        The frames of each episode, all (height, width, 3) uint8, and one scanpath a scene, uint8
        too, for a contact sheet.

    Raises:
        ValueError: `reveal` or `actions` is not one of these, `height` is out of its range, a scene
            does not exist, `split` is given, or the policy was made for other spaces.
        TypeError: the policy chooses no actions, `scenes` are not several, or an argument of the
            environment is not known.
    """
    policy, actions = as_policy(policy), actions or usual_actions(env_id)
    check_choice("actions", actions, get_args(Actions))
    if not isinstance(scenes, Iterable):
        raise TypeError(f"scenes are numbers of scenes, such as range(4); they are {scenes!r}")
    if "split" in env_kwargs:
        raise ValueError(
            f"split={env_kwargs['split']!r}: films are of the test split; leave it out"
        )
    if task_class_of(env_id) is None:
        shown: dict[str, Any] = {"reveal": reveal, "height": height, "actions": actions}
        films = film_world(policy, env_id, scenes, seed=seed, **shown, **env_kwargs)
        return films, [film[-1] for film in films]
    if policy.view == "full":
        env_kwargs.setdefault("view", "full")
    check_id(env_id)
    with closing(gym.make(env_id, split="test", **env_kwargs)) as env:
        check_spaces(policy, env, env_id)
        filmed = [
            _film_scene(policy, env, scene, seed, reveal, height, actions) for scene in scenes
        ]
    return [film for film, _ in filmed], [scanpath for _, scanpath in filmed]


def _film_scene(
    policy: Policy,
    env: gym.Env,
    scene: int,
    seed: int,
    reveal: str,
    height: int,
    actions: Actions,
) -> tuple[Frames, NDArray[np.uint8]]:
    """The film of one scene, and its scanpath."""
    observation, info = deal_one(env, "test", seed, scene)
    task = task_of(env)
    assert task is not None
    answer = task.components.get("answer")
    names = answer.names if answer is not None and policy.view == "full" else ()
    display = Display(task, "rgb_array", reveal, height)
    frames: Frames = []
    read: Frames = []
    lit = partial(_lit, height=height, legend=reveal == "seen")
    first = {name: value[None] for name, value in observation.items()}
    inside = _inner_glimpses(policy, first, task.picture(0, ""), names, lit)
    maps = before = None
    with samples_of(policy, seed, scene):
        for moment in moments(policy, env, observation, info, actions):
            if maps is not None:
                caption = f"step {len(read) + 1}: every pixel is read"
                answered = _with_scene_of(before, task.picture(0, ""))
                read.append(lit(answered, maps[0, -1], caption))
            if moment.ended:
                break
            frames.append(_shown(display, len(frames) + 1, ended=False))
            if not inside:
                maps = policy.attention(moment.observation, moment.state, moment.episode_start)
                before = None if maps is None else deepcopy(task.picture(0, ""))
    frames += [_shown(display, len(frames), ended=True)] * LAST
    soft = inside or read
    film = [*soft, *soft[-1:] * LAST] if soft else frames
    return film, draw_scanpath(task.picture(0, ""))


def side_by_side(left: Frames, right: Frames) -> Frames:
    """Two films of one height as one; the shorter one stays on its last frame.

    Raises:
        ValueError: their heights differ.
    """
    if left[0].shape[0] != right[0].shape[0]:
        raise ValueError(f"films {left[0].shape[0]} and {right[0].shape[0]} pixels high differ")
    length = max(len(left), len(right))
    pairs = ([*film, *film[-1:] * (length - len(film))] for film in (left, right))
    return [np.hstack(pair) for pair in zip(*pairs, strict=True)]


def _shown(display: Display, taken: int, *, ended: bool) -> NDArray[np.uint8]:
    """The only row of a display, after so many glimpses."""
    (frame,) = display.frames(np.array([taken]), np.array([ended])) or ()
    return frame


def _inner_glimpses(
    policy: Policy,
    observation: Observation,
    picture: AnyPicture,
    names: Sequence[str],
    lit: Callable[..., NDArray[np.uint8]],
) -> Frames:
    """A frame for each soft glimpse that a model takes inside itself; none where it takes none."""
    answers = policy.answers(observation)
    maps = None if answers is None else policy.attention(observation)
    if maps is None or answers is None:
        return []
    frames = []
    for number, (shares, answer) in enumerate(zip(maps[0], answers[0], strict=True), 1):
        answered = replace(picture, answer=names[answer] if names else str(answer))
        caption = f"soft glimpse {number} of {len(maps[0])}: every pixel is read"
        frames.append(lit(answered, shares, caption))
    return frames


def _with_scene_of(before: AnyPicture | None, after: AnyPicture) -> AnyPicture:
    """The picture `after` a step, with the answer, over the scene `before` it, which was read and
    may have moved since."""
    if not isinstance(before, Picture) or not isinstance(after, Picture):
        return after
    return replace(after, scene=before.scene, boxes=before.boxes)


def _lit(
    picture: AnyPicture, shares: NDArray[np.float32], caption: str, height: int, legend: bool
) -> NDArray[np.uint8]:
    """A frame of the picture, lit where its pixels have greater `shares` (H, W)."""
    assert isinstance(picture, Picture), "attention is shared out over pixels"
    lit = replace(picture, scene=light_up(picture.scene, shares), caption=caption)
    return draw_frame(lit, height, legend)


def write_showcase(
    policy: Any,
    env_id: str,
    film: Path,
    sheet: Path,
    *,
    title: str = "",
    film_scenes: int = 12,
    sheet_scenes: int = 24,
    **env_kwargs: Any,
) -> None:
    """Write a film of test scenes, and a contact sheet of more.

    Args:
        policy, env_id, **env_kwargs: as of `film_episodes`.
        film: .mp4, .gif or .webp.
        sheet: .png.
        title: of the sheet.
        film_scenes, sheet_scenes: their numbers, from the first scene on.

    Raises:
        ValueError, TypeError: as of `film_episodes`; or a suffix is another.
    """
    scenes = range(max(film_scenes, sheet_scenes))
    films, scanpaths = film_episodes(policy, env_id, scenes, **env_kwargs)
    write_film(chain.from_iterable(films[:film_scenes]), film)
    write_png(contact_sheet(scanpaths[:sheet_scenes], columns=6, title=title), sheet)
