"""What people have played, kept as a log, and scored like any policy in a record."""

import json
import os
import re
import shlex
import threading
import time
from contextlib import closing
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.play.game import GameError, Played, Setting
from agents.scoring.costs import Costs
from agents.scoring.run_record import score_of
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.metric_lines import drop_torn_line
from glimpse_envs.evaluation.policy import Action, Observation, Policy
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.provenance import git_revision, hardware, versions
from glimpse_envs.evaluation.record import HUMAN, Model, Record
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.run_identity import digest


class HumanLog:
    """The episodes that people have played in one setting, each scene once.

    The log is FOLDER/human/NAME.jsonl, a line an episode, with every action; the record of the
    scenes 0 ... n - 1 that have all been played is written into FOLDER.

    Args:
        folder: of records.
        setting: what is played.
        patience: seconds after which a scene that was dealt, and not played to its end, is dealt
            again.

    Raises:
        ValueError: the log is damaged, or the scenes are those of no fixed split.
        OSError: the folder cannot be made.
    """

    def __init__(self, folder: Path, setting: Setting, patience: float = 1800.0) -> None:
        with closing(setting.make()) as board:
            if not board.fixed:
                raise ValueError(
                    f"people's episodes of {setting.env_id} are not recorded: its worlds are dealt "
                    "by seeds, and records hold scenes of a fixed split"
                )
            self._scenes = board.scenes
        self.folder, self.setting, self._patience = folder, setting, patience
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", setting.env_id)
        self.path = folder / "human" / f"{name}_{digest(asdict(setting))}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self.played: dict[int, Played] = {}
        self._dealt: dict[int, float] = {}  # scene -> when
        for number, line in enumerate(self._lines(), 1):
            try:
                played = Played(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise ValueError(
                    f"{self.path}, line {number} is damaged ({error}): delete that line"
                ) from error
            self.played[played.scene] = played

    def _lines(self) -> list[str]:
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        return text.splitlines()[: text.count("\n")]  # a last line without its end was torn

    def next_scene(self) -> int:
        """Return the first scene that nobody has played or is playing, and mark it as dealt.

        Raises:
            GameError: there is none.
        """
        with self._lock:
            scene, now = 0, time.monotonic()
            while scene in self.played or now - self._dealt.get(scene, -inf) < self._patience:
                scene += 1
            if scene >= self._scenes:
                raise GameError(
                    f"each of the {self._scenes:,} scenes has been played, or is being played: "
                    "try again later, or play those of another --seed"
                )
            self._dealt[scene] = now
            return scene

    def give_back(self, scene: int) -> None:
        """Let a scene be dealt again after its game has ended without an episode."""
        with self._lock:
            self._dealt.pop(scene, None)

    def add(self, played: Played) -> Path | None:
        """Keep an episode, and return the record that was written; None where there is none yet."""
        with self._lock:
            self._dealt.pop(played.scene, None)
            if played.scene in self.played:
                return None
            self.played[played.scene] = played
            drop_torn_line(self.path)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(played)) + "\n")
                file.flush()
                os.fsync(file.fileno())
            return self._write_record()

    @property
    def scored(self) -> list[Played]:
        """The episodes of scenes 0 ... n - 1 that have all been played."""
        found: list[Played] = []
        while len(found) in self.played:
            found.append(self.played[len(found)])
        return found

    def evaluate(self) -> Evaluation:
        """Score what was played by playing it once more, by the protocol of all policies."""
        episodes = self.scored
        return evaluate(
            Replay([played.actions for played in episodes]),
            self.setting.env_id,
            split=self.setting.split,
            episodes=len(episodes),
            seed=self.setting.seed,
            **self.setting.env_kwargs,
        )

    def _write_record(self) -> Path | None:
        episodes = self.scored
        if len(episodes) < 2:  # of one there is no interval
            return None
        seconds = float(np.mean([played.seconds for played in episodes]))
        score = score_of(self.evaluate(), Costs({"seconds_played": round(seconds, 3)}))
        with closing(self.setting.make()) as board:
            budget = describe(board.env).budget or 1
        record = Record(
            env_id=self.setting.env_id,
            env_kwargs=dict(self.setting.env_kwargs),
            model=Model("Human", learns_from="reward", gaze="human"),
            algorithm=HUMAN,
            command=_command(self.setting, self.folder),
            seed=self.setting.seed,
            budget=budget,
            levels=None,
            episodes=0,
            seconds=0.0,
            cores=1,
            hardware=hardware(),
            revision=git_revision(),
            versions=versions(),
            config={"env_id": self.setting.env_id, "env_kwargs": self.setting.env_kwargs},
            scores=(score,),
            notes=f"people, {seconds:.1f} seconds an episode",
        )
        return write_record(record, self.folder)


def _command(setting: Setting, folder: Path) -> str:
    """The command that goes on with a log in `folder`."""
    words = ["python", "-m", "agents.play", setting.env_id]
    if setting.env_kwargs:
        pairs = (f"{name}={json.dumps(value)}" for name, value in setting.env_kwargs.items())
        words += ["--env-kwargs", *pairs]
    for option, value in (("split", setting.split), ("seed", setting.seed)):
        if value != getattr(Setting, option):
            words += [f"--{option}", str(value)]
    return shlex.join([*words, "--record", str(folder)])


class Replay(Policy):
    """A policy that repeats recorded actions.

    Args:
        episodes: the actions of each scene, from 0 on, name -> choice; other scenes are played
            like the last one.
    """

    privileged = True

    def __init__(self, episodes: list[tuple[dict[str, Any], ...]]) -> None:
        self._episodes = episodes

    def predict(
        self,
        observation: Observation,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
        info: dict[str, Any] | None = None,
    ) -> tuple[Action, Any]:
        step = 0 if state is None else state
        assert info is not None, "a privileged policy is given it"
        scenes = np.minimum(info["scene"], len(self._episodes) - 1)
        played = [self._episodes[scene] for scene in scenes.tolist()]
        rows = [actions[min(step, len(actions) - 1)] for actions in played]
        return {name: _stacked([row[name] for row in rows]) for name in rows[0]}, step + 1


def _stacked(choices: list[Any]) -> NDArray[Any]:
    array = np.asarray(choices)
    return array.astype(np.float32) if array.dtype.kind == "f" else array
