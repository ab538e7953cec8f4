"""Implicit and learned attention, side by side: `python -m baselines.saliency RUN --out map.png`.

On scenes of a fixed split: what a baseline's answers depend on (`baselines.saliency.attribution`)
and, with `--agent AGENT_RUN`, the scanpaths that an agent learned, on the same scenes.
"""

from collections.abc import Iterable
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor

from agents.policy.glimpse_policy import GlimpsePolicy
from agents.scoring.run_record import model_of
from agents.training.command_line import read_options, run_command
from baselines.model import Baseline
from baselines.pictures.picture_model import PictureModel
from baselines.pictures.reader import RecurrentReader
from baselines.saliency.attribution import (
    Observation,
    grad_cam,
    has_places,
    input_jacobian,
    scanpath_jacobian,
    sequential_jacobian,
)
from baselines.saliency.overlays import Cell, draw_attention, draw_bars, draw_label, draw_map
from glimpse_envs.episodes.description import task_of
from glimpse_envs.episodes.lookup import full_view
from glimpse_envs.evaluation.runs import Run, load_policy, open_run
from glimpse_envs.evaluation.trust import trust
from glimpse_envs.rendering import Picture, contact_sheet, draw_scanpath, write_png


@dataclass(frozen=True)
class SaliencyConfig:
    """Draw what the answers of a baseline that classifies pictures depend on, scene by scene."""

    run: Annotated[Path, tyro.conf.Positional]
    """Folder of the baseline's run."""
    out: Path
    """File of the picture, a .png."""
    agent: Path | None = None
    """Folder of an agent's run in the same environment, whose scanpaths are drawn below."""
    episodes: int = 8
    """Number of episodes to draw, in the split's order."""
    split: str = "test"
    """Split of the scenes: test or validation."""
    seed: int = 0
    """Random seed of clutter, places and first glimpses, as in agents.evaluate."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code the runs may import, such as my_tasks."""


@dataclass(frozen=True)
class Episode:
    """One scene played by a policy.

    Args:
        observations: T, name -> (1, ...).
        answer: the last answer.
        end: the picture after it.
    """

    observations: list[Observation]
    answer: int
    end: Picture


Row = tuple[tuple[str, ...], list[Cell]]
"""The label of a row of the sheet, and its cells, one for each scene."""


def draw_saliency(config: SaliencyConfig) -> NDArray[np.uint8]:
    """The contact sheet: one column for each scene, one row for each kind of map.

    Returns:
        (height, width, 3) uint8 RGB.

    Raises:
        RunError: a run is missing, damaged, or its policy cannot be read.
        ValueError: there is no scene to draw, a run is of the wrong kind, or the two runs see
            different scenes.
    """
    if config.episodes < 1:
        raise ValueError(f"episodes={config.episodes} must be at least 1")
    run = open_run(config.run)
    model = load_policy(run.folder)
    # The frame after the last answer is another than that which was answered.
    if not isinstance(model, PictureModel) or model.picture.answers > 1 or model.picture.moves:
        raise ValueError(
            f"{run.folder} is a run of {_name(run)}, which is no baseline that answers a picture "
            "by one class, once: give a run of such a baseline, as of baselines.train full_view on "
            "Glimpse/ClutteredGlyphs-v0, and an agent's with --agent"
        )
    trained = run.config["config"]
    seen = _play(run, model, config, **full_view(trained["env_id"], trained["env_kwargs"]))
    rows = _rows_of_model(model, seen)
    title = f"{trained['env_id']}, {config.split}: {model.model.name}"
    if config.agent is not None:
        agent = open_run(config.agent)
        rows += _rows_of_agent(agent, trained["env_id"], seen, config)
        title += f" and {_name(agent)}"
    cells = [cell for label, row in rows for cell in (draw_label(label), *row)]
    return contact_sheet(cells, config.episodes + 1, title)


def _rows_of_model(model: PictureModel, seen: list[Episode]) -> list[Row]:
    scene = torch.cat([torch.as_tensor(e.observations[0]["scene"]) for e in seen])
    classes = torch.tensor([episode.answer for episode in seen])
    rows: list[Row] = [((model.model.name, "its answers"), [draw_scanpath(e.end) for e in seen])]
    if isinstance(model, RecurrentReader):
        pairs = zip(seen, model.attention({"scene": scene.numpy()}).mean(axis=1), strict=True)
        read = [draw_attention(episode.end.scene, shares) for episode, shares in pairs]
        rows.append((("soft attention", "mean of its glimpses"), read))
    maps = {"input Jacobian": input_jacobian}
    if has_places(model, scene):
        maps["Grad-CAM"] = grad_cam
    for name, method in maps.items():
        pairs = zip(seen, method(model, scene, classes).numpy(), strict=True)
        cells = [draw_map(episode.end.scene, saliency) for episode, saliency in pairs]
        rows.append(((name, "of its answer"), cells))
    if isinstance(model, RecurrentReader):
        lengths = sequential_jacobian(model, scene, classes)
        rows.append((("sequential Jacobian", "of its answer"), _bars(lengths)))
    return rows


def _rows_of_agent(run: Run, env_id: str, seen: list[Episode], config: SaliencyConfig) -> list[Row]:
    """The rows of an agent's run on the scenes of `env_id` that the baseline has `seen`."""
    trained, name = run.config["config"], _name(run)
    policy = load_policy(run.folder)
    no_looks = ValueError(f"{run.folder} is a run of {name}, which learned no looks to draw")
    other_scenes = ValueError(
        f"{run.folder} sees other scenes than {config.run}: their env_id, and the env_kwargs of "
        "the scene, must be the same"
    )
    if isinstance(policy, Baseline) or trained.get("gaze", "learned") != "learned":
        raise no_looks
    if trained["env_id"] != env_id:
        raise other_scenes
    played = _play(run, policy, config, **trained["env_kwargs"])
    if not played[0].end.outlines:
        raise no_looks
    if any(
        not np.array_equal(mine.end.scene, theirs.end.scene)
        for mine, theirs in zip(seen, played, strict=True)
    ):
        raise other_scenes
    rows: list[Row] = [((name, "where it looked"), [draw_scanpath(e.end) for e in played])]
    if isinstance(policy, GlimpsePolicy) and not trained["env_kwargs"].get("history"):
        slopes = [
            scanpath_jacobian(policy, episode.observations, torch.tensor([episode.answer]))[0]
            for episode in played
        ]
        rows.append((("sequential Jacobian", "along its path"), _bars(slopes)))
    return rows


def _name(run: Run) -> str:
    """The name of the run's model."""
    return model_of(run).name


def _bars(lengths: Iterable[Tensor]) -> list[Cell]:
    """One cell for each scene's sequential Jacobian (T,)."""
    return [draw_bars(bars.numpy()) for bars in lengths]


def _play(run: Run, policy: Any, config: SaliencyConfig, **env_kwargs: Any) -> list[Episode]:
    """Play the scenes by the policy's likeliest actions."""
    env = gym.make(run.config["config"]["env_id"], split=config.split, **env_kwargs)
    with closing(env):
        return [_play_scene(env, policy, scene, config.seed) for scene in range(config.episodes)]


def _play_scene(env: gym.Env, policy: Any, scene: int, seed: int) -> Episode:
    observation, _ = env.reset(seed=seed, options={"scene": scene})
    observations: list[Observation] = []
    state, start, ended = None, np.ones(1, np.bool_), False
    while not ended:
        observations.append({name: np.array(value)[None] for name, value in observation.items()})
        action, state = policy.predict(observations[-1], state, start, True)
        start = np.zeros(1, np.bool_)
        taken = {name: value[0] for name, value in action.items()}
        observation, _, terminated, truncated, _ = env.step(taken)
        ended = terminated or truncated
    task = task_of(env)
    assert task is not None, "only ours have a full view"
    picture = task.picture(0, "")
    assert isinstance(picture, Picture)
    # A picture's path is the environment's own array, which the next scene overwrites.
    return Episode(observations, int(action["answer"][0]), deepcopy(picture))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(SaliencyConfig, arguments, prog="python -m baselines.saliency")

    def command() -> None:
        trust(*config.trust)
        print(f"drawn in {write_png(draw_saliency(config), config.out)}")

    run_command(command)


if __name__ == "__main__":
    main()
