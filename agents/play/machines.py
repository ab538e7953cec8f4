"""Episodes of trained models for the page, step by step, with the models' expectations."""

import math
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.play.boards import make_board
from agents.play.controls import names_of
from agents.play.frames import Json, frame_of
from agents.play.game import Setting
from agents.play.values import value_meaning
from agents.scoring.run_scores import policy_of
from agents.training.resuming import setting_of
from glimpse_envs.core.arrays import Floats
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.actions import usual_actions
from glimpse_envs.evaluation.moments import Moment, moments
from glimpse_envs.evaluation.outlook import Gaussian, Outlook, Places, Probabilities
from glimpse_envs.evaluation.runs import Run, open_run
from glimpse_envs.evaluation.sampling import samples_of
from glimpse_envs.evaluation.world_films import LONGEST
from glimpse_envs.rendering import AnyPicture, Picture, Seen, light_up

UNSEEN_ARGUMENTS = frozenset({"split", "render_mode", "render_height", "reveal", "view"})
"""Arguments that may differ between two players of the same scenes."""


class Machine:
    """The trained model of a run, on the scenes that people play.

    Args:
        run: an open run.
        setting: what is played.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: the run was trained on another environment.
    """

    def __init__(self, run: Run, setting: Setting) -> None:
        env_id, trained = setting_of(run, "env_id", str), setting_of(run, "env_kwargs", dict)
        self.name = run.folder.name
        here = [{k: v for k, v in kwargs.items() if k not in UNSEEN_ARGUMENTS}
                for kwargs in (trained, setting.env_kwargs)]  # fmt: skip
        if env_id != setting.env_id or here[0] != here[1]:
            raise ValueError(
                f"{run.folder} was trained on {env_id} with {trained}; what is played is "
                f"{setting.env_id} with {setting.env_kwargs}: give a run of the same environment, "
                "or its --env-kwargs"
            )
        self.policy, kwargs = policy_of(run, "learned")
        self._actions = usual_actions(env_id)
        self._board = make_board(env_id, kwargs, setting.split, setting.seed)
        with closing(setting.make()) as board:  # a full view has no places to look at
            self._view = board.view
        components = self._board.components
        self._names = {name: names_of(name, part) for name, part in components.items()}
        described = describe(self._board.env)
        algorithm = run.config.get("algorithm", "")  # of a policy of one's own
        self._value = value_meaning(algorithm, run.config["config"], described)

    def play(self, scene: int) -> Json:
        """Play a scene with `usual_actions`; return its frames, each with the outlook and the
        number of the moment that it shows, of which a soft model may read each several times.

        A scene is played alike each time. The episode of another environment is cut off after
        `LONGEST` steps: some never end.
        """
        with samples_of(self.policy, scene):
            return self._play(scene)

    def _play(self, scene: int) -> Json:
        board, seen = self._board, Seen()
        most = math.inf if board.fixed else LONGEST
        frames: list[Json] = []
        reads = moves = False
        first: NDArray[np.floating] | None = None
        begun = board.reset(scene)
        for number, moment in enumerate(moments(self.policy, board.env, *begun, self._actions)):
            if moment.ended or len(frames) >= most:
                break
            picture = board.picture()
            if isinstance(picture, Picture):
                first = picture.scene.copy() if first is None else first
                moves = moves or not np.array_equal(first, picture.scene)
            given = moment.observation, moment.state, moment.episode_start
            outlook, maps = self.policy.outlook(*given), self.policy.attention(*given)
            if maps is not None:
                shown = self._reading(moment, maps[0], outlook)
                reads = True
            else:
                outlook = outlook or self._belief(moment)
                shown = [self._frame(picture, seen, outlook)]
            frames += [frame | {"moment": number} for frame in shown]
        end = self._frame(board.picture(), seen, None) | {"moment": number}
        if reads:
            end["frame"]["image"] = frames[-1]["frame"]["image"]
            look = frames[-1].get("outlook", {}).get("look")
            if look is not None:  # where it has pointed
                end["outlook"] = {"value": None, "look": look}
        success = moment.info.get("is_success")
        return {
            "name": self.name,
            "names": self._names,
            "value": self._value,
            "frames": [*frames, end],
            "success": None if success is None else bool(success[0]),
            "return": moment.total,
            "whole": self.policy.view == "full",
            "soft": reads,
            "moves": moves,
            "cut": not moment.ended,
        }

    def _frame(self, picture: AnyPicture, seen: Seen, outlook: Outlook | None) -> Json:
        seen.add(picture)
        frame = frame_of(picture)
        whole = self.policy.view == "full"
        shown = {"frame": frame, "eye": frame if whole else frame_of(seen.reveal(picture, False))}
        if outlook is not None:
            shown["outlook"] = self._outlook_of(outlook, picture)
        return shown

    def _reading(
        self, moment: Moment, maps: NDArray[np.float32], outlook: Outlook | None
    ) -> list[Json]:
        """A frame for each of the soft glimpses, `maps` (T, H, W), that a model takes inside itself
        before it acts. What it believes stands with each where it is known, else with the last."""
        picture, names = self._board.picture(), self._names.get("answer")
        answers = self.policy.answers(moment.observation)
        beliefs = None if outlook else self.policy.beliefs(moment.observation)
        outlooks = [None] * (len(maps) - 1) + [outlook]
        if beliefs is not None:
            outlooks = [_answers(beliefs[:, step]) for step in range(len(maps))]
        frames = []
        for step, (shares, known) in enumerate(zip(maps, outlooks, strict=True)):
            shown = picture
            if answers is not None and names:
                shown = replace(picture, answer=names[answers[0, step]])
            frames.append(_lit(shown, shares))
            if known is not None:
                frames[-1]["outlook"] = self._outlook_of(known, picture)
        return frames

    def _belief(self, moment: Moment) -> Outlook | None:
        """What a model of the full view that takes no glimpses inside itself believes."""
        beliefs = self.policy.beliefs(moment.observation)
        return None if beliefs is None else _answers(beliefs[:, -1])

    def _outlook_of(self, outlook: Outlook, picture: AnyPicture) -> Json:
        found = outlook_of(outlook, picture, self._view)
        return found if self._value else found | {"value": None}


def _lit(picture: AnyPicture, shares: NDArray[np.float32]) -> Json:
    """A frame of the picture, lit where its pixels have greater `shares` (H, W)."""
    assert isinstance(picture, Picture), "attention is shared out over pixels"
    shown = frame_of(replace(picture, scene=light_up(picture.scene, shares)))
    return {"frame": shown, "eye": shown}


def _answers(shares: Floats) -> Outlook:
    """An outlook on the answer alone, (n, k)."""
    return Outlook({"answer": Probabilities((shares,))})


def outlook_of(outlook: Outlook, picture: AnyPicture, view: PictureView | None) -> Json:
    """What a model expects of its next action, as JSON; a look at a picture in pixels."""
    found: Json = {"value": None if outlook.value is None else float(outlook.value[0])}
    for name, choice in outlook.choices.items():
        if not isinstance(choice, Gaussian):
            found[name] = {"parts": [np.round(part[0], 5).tolist() for part in choice.parts]}
            if name == "look" and view is not None:
                places = choice.places[0] if isinstance(choice, Places) else view.tile_locations
                found[name]["places"] = view.space.to_pixels(places).tolist()
            continue
        mean, std = choice.mean[0], choice.std[0]
        if name != "look" or view is None:
            found[name] = {"mean": mean.tolist(), "std": std.tolist()}
            continue
        half = view.space.to_pixels(np.ones(2)) - view.space.to_pixels(np.zeros(2))
        origin = view.space.to_pixels(np.zeros(2))
        if view.look == "relative":
            assert isinstance(picture, Picture)
            half, origin = half * view.max_move, picture.path[-1].astype(np.float64)
        found[name] = {"mean": (origin + mean * half).tolist(), "std": (std * half).tolist()}
    return found


def published_run(setting: Setting, folder: Path) -> Path | None:
    """The first run of `folder` that was trained in `setting`; None where there is none."""
    for config in sorted(folder.glob("*/config.json")):
        run = open_run(config.parent)
        if (
            setting_of(run, "env_id", str) == setting.env_id
            and setting_of(run, "env_kwargs", dict) == setting.env_kwargs
        ):
            return config.parent
    return None
