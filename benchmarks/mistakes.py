"""What the rest of the error is: scenes that several runs of one recipe get wrong.

    python -m benchmarks.mistakes runs/seed0 runs/seed1 ... [--record results/mistakes]

All runs play the same scenes. The record counts their mistakes by the number of looks at the
target, by the right answer and by the clutter over the target, and a sheet shows the scenes that
most of them get wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import gymnasium as gym
import numpy as np
import torch
import tyro
from numpy.typing import NDArray

from agents.report.analysis import answer_names
from agents.report.curves import group_runs
from agents.report.findings import chosen_of
from agents.report.trace import Trace, Witness
from agents.scoring.run_scores import evaluate_run, policy_of
from agents.training.command_line import run_command
from glimpse_envs.episodes.description import describe, task_of
from glimpse_envs.episodes.lookup import arguments_of
from glimpse_envs.evaluation.protocol import deal
from glimpse_envs.evaluation.provenance import git_revision
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run, RunError, open_run
from glimpse_envs.rendering import Picture, contact_sheet, write_png
from glimpse_envs.rendering.drawing import Canvas, blank, draw_boxes, draw_text, enlarge
from glimpse_envs.rendering.palette import BACKGROUND, TEXT
from report.mistakes import HardScene, Kind, Mistakes, write_mistakes

CLUTTER_EDGES = (0.0, 0.01, 0.03, 0.06, 0.1)
"""Shares of a target's box; the first kind has no clutter at all, the last more than the last."""
CHANGED = 0.1
"""Difference of brightness, in [0, 1], from which on clutter changes a pixel."""
CHUNK, CELL, COLUMNS = 500, 132, 8


@dataclass(frozen=True)
class MistakesConfig:
    """Find the scenes that several runs of one recipe get wrong."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of the runs, which differ in their seeds alone."""
    split: str = "validation"
    """Split to play: validation or test."""
    episodes: int | None = None
    """Number of the split's first scenes to play; all where it is not given."""
    hardest: int = 40
    """Number of scenes in the sheet."""
    record: Path | None = None
    """Folder of the record and the sheet, results/mistakes for the published ones; nothing is
    written without it."""


@dataclass(frozen=True)
class Played:
    """What one run did on the scenes.

    Attributes:
        run: it.
        evaluation: its score.
        answers: (E,) the last one that was scored.
        looks: (E,) chosen glimpses on the target.
        targets: (E,) the right answers.
    """

    run: Run
    evaluation: Evaluation
    answers: NDArray[np.int64]
    looks: NDArray[np.int64]
    targets: NDArray[np.int64]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """(E,) episodes without success."""
        assert self.evaluation.successes is not None
        return ~self.evaluation.successes


def play(run: Run, split: str, episodes: int | None) -> Played:
    """Play the scenes of a split with the policy of `run`.

    Raises:
        RunError: the run cannot be read, or its task has no one answer and places of targets.
    """
    witness = Witness(policy_of(run)[0])
    evaluation = evaluate_run(run, split=split, episodes=episodes, watcher=witness)
    trace = witness.trace()
    if evaluation.successes is None or evaluation.locations is None or not trace.scored.any():
        raise RunError(
            f"{run.folder}: {evaluation.env_id} has no looks at places, or no answer that is one "
            "of several classes: mistakes cannot be compared"
        )
    rows = np.arange(len(trace.alive))
    last = trace.alive.shape[1] - 1 - trace.scored[:, ::-1].argmax(axis=1)
    looks = _on_target(evaluation, trace).sum(axis=1)
    return Played(run, evaluation, trace.answers[rows, last], looks, trace.targets[rows, last])


def _on_target(evaluation: Evaluation, trace: Trace) -> NDArray[np.bool_]:
    """(E, T) whether a glimpse was chosen and its middle lies in the box of a target."""
    chosen = chosen_of(evaluation)
    steps = chosen.shape[1]
    with np.errstate(invalid="ignore"):  # NaN without a target is outside
        inside = np.abs(trace.offsets[:, :steps]) <= trace.boxes[:, :steps] / 2
    on_target: NDArray[np.bool_] = inside.all(axis=2) & chosen
    return on_target


def clutter_shares(evaluation: Evaluation) -> NDArray[np.float64] | None:
    """(E,) the share of each target's box that clutter changes; None where there is no clutter."""
    if "clutter" not in (arguments_of(evaluation.env_id, evaluation.env_kwargs) or ()):
        return None
    found = []
    for start in range(0, evaluation.episodes, CHUNK):
        indices = np.arange(start, min(start + CHUNK, evaluation.episodes))
        scenes, boxes = deal_scenes(evaluation, indices)
        plain, _ = deal_scenes(evaluation, indices, clutter=0)
        changed = (np.abs(scenes - plain) > CHANGED).any(axis=1)  # (n, H, W)
        for pixels, box in zip(changed, boxes, strict=True):
            x0, y0, x1, y1 = np.rint(box).astype(int)
            found.append(pixels[y0:y1, x0:x1].mean())
    return np.array(found)


def deal_scenes(
    evaluation: Evaluation, indices: NDArray[np.int64], **changes: Any
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The scenes (n, C, H, W) `indices` of an evaluation, in [0, 1], and the boxes (n, 4) of their
    targets, x0, y0, x1, y1 in pixels; `changes` are arguments of the environment."""
    kwargs = evaluation.env_kwargs | {"split": evaluation.split} | changes
    with closing(gym.make_vec(evaluation.env_id, num_envs=len(indices), **kwargs)) as env:
        _, info = deal(env, evaluation.split, evaluation.seed, indices)
        task, view = task_of(env), describe(env).picture_view
        assert task is not None
        assert view is not None
        pictures = [task.picture(row, "") for row in range(len(indices))]
        scenes = np.stack([picture.scene for picture in pictures if isinstance(picture, Picture)])
        corners = np.asarray(info["target_box"], np.float64).reshape(-1, 2)
        return scenes, view.space.to_pixels(corners).reshape(-1, 4)


def count_mistakes(played: Sequence[Played], hardest: int) -> Mistakes:
    """The record of `played`, of the same scenes.

    Raises:
        RunError: the runs differ in more than their seeds.
    """
    first = played[0]
    groups = group_runs([one.run for one in played])
    if len(groups) > 1:
        recipes = ", ".join(group.name for group in groups)
        raise RunError(f"the runs must differ in their seeds alone; they are of {recipes}")
    names = _names_of_answers(first.evaluation)
    wrong = np.stack([one.wrong for one in played])  # (R, E)
    looks = np.stack([one.looks for one in played])
    targets = np.broadcast_to(first.targets, wrong.shape)
    times = wrong.sum(axis=0)
    worst = np.argsort(-times, kind="stable")[:hardest]
    config = first.run.config
    return Mistakes(
        env_id=first.evaluation.env_id,
        env_kwargs=first.evaluation.env_kwargs,
        split=first.evaluation.split,
        model=config["model"]["name"],
        seeds=tuple(one.run.config["config"]["seed"] for one in played),
        images=round(fmean(one.run.load_checkpoint()[1]["episodes"] for one in played)),
        hardware=config["hardware"],
        revision=git_revision(),
        scenes=first.evaluation.episodes,
        wrong=tuple(int(count) for count in wrong.sum(axis=1)),
        wrong_in=tuple(int(n) for n in np.bincount(times, minlength=len(played) + 1)),
        by_looks=tuple(_kinds(wrong, looks, [str(n) for n in range(looks.max() + 1)])),
        by_answer=tuple(_kinds(wrong, targets, names)),
        by_clutter=tuple(_by_clutter(wrong, clutter_shares(first.evaluation))),
        hardest=tuple(
            HardScene(
                scene=int(scene),
                target=names[first.targets[scene]],
                answers=tuple(names[one.answers[scene]] for one in played),
            )
            for scene in worst
            if times[scene]
        ),
    )


def _names_of_answers(evaluation: Evaluation) -> tuple[str, ...]:
    with closing(gym.make(evaluation.env_id, **evaluation.env_kwargs)) as env:
        return answer_names(describe(env))


def _kinds(
    wrong: NDArray[np.bool_], kinds: NDArray[np.int64], names: Sequence[str]
) -> Iterator[Kind]:
    """Mistakes (R, E) by the kind (R, E) of episode, a number of `names`."""
    for number, name in enumerate(names):
        those = kinds == number
        if those.any():
            yield Kind(name, int(those.sum()), int(wrong[those].sum()))


def _by_clutter(wrong: NDArray[np.bool_], shares: NDArray[np.float64] | None) -> Iterator[Kind]:
    if shares is None:
        return
    percent = [f"{100 * edge:g}" for edge in CLUTTER_EDGES]
    between = [f"up to {high} %" for high in percent[1:]]
    names = ["none", *between, f"more than {percent[-1]} %"]
    kinds = np.searchsorted(CLUTTER_EDGES, shares)  # left: an edge belongs to the kind below it
    yield from _kinds(wrong, np.broadcast_to(kinds, wrong.shape), names)


def draw_sheet(mistakes: Mistakes, evaluation: Evaluation) -> Canvas:
    """The hardest scenes with the right answer and each run's, an (h, w, 3) uint8 RGB image."""
    indices = np.array([hard.scene for hard in mistakes.hardest])
    scenes, boxes = deal_scenes(evaluation, indices)
    cells = []
    for hard, scene, box in zip(mistakes.hardest, scenes, boxes, strict=True):
        cell = blank(CELL + 24, CELL, BACKGROUND)
        _, height, width = scene.shape
        zoom = CELL / max(height, width)
        picture = enlarge(scene, round(zoom * height), round(zoom * width))
        draw_boxes(picture, zoom * box[None], 1)
        cell[: len(picture), : picture.shape[1]] = picture
        text = f"{hard.target}: {', '.join(hard.answers)}"
        draw_text(cell, text, (4, CELL + 8), 10, TEXT, CELL - 8)
        cells.append(cell)
    return contact_sheet(cells, columns=COLUMNS)


def find_mistakes(config: MistakesConfig) -> Mistakes:
    """Play, count, print and record.

    Raises:
        RunError: a run cannot be read, or the runs cannot be compared.
        ValueError: an option cannot be.
    """
    if len(config.runs) < 2:
        raise ValueError(f"give at least two runs, such as runs/seed0 runs/seed1; {config.runs}")
    if config.hardest < 1:
        raise ValueError(f"hardest={config.hardest} must be at least 1")
    played = []
    for folder in dict.fromkeys(config.runs):
        print(f"playing {folder}", flush=True)
        played.append(play(open_run(folder), config.split, config.episodes))
    mistakes = count_mistakes(played, config.hardest)
    for times, scenes in enumerate(mistakes.wrong_in):
        print(f"wrong in {times} of {len(played)} runs: {scenes:,} scenes")
    if config.record is not None:
        name = record_name(mistakes)
        write_mistakes(mistakes, config.record / f"{name}.json")
        if mistakes.hardest:
            sheet = draw_sheet(mistakes, played[0].evaluation)
            write_png(sheet, config.record / f"{name}.png")
    return mistakes


def record_name(mistakes: Mistakes) -> str:
    """The file of a record, without its ending: the environment and its arguments."""
    arguments = "".join(f"-{name}-{value}" for name, value in sorted(mistakes.env_kwargs.items()))
    return (mistakes.env_id + arguments).replace("/", "-").replace(":", "-").replace(" ", "")


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = tyro.cli(
        MistakesConfig, args=arguments, prog="python -m benchmarks.mistakes", description=__doc__
    )
    run_command(lambda: find_mistakes(config))


if __name__ == "__main__":
    torch.set_flush_denormal(True)
    main()
