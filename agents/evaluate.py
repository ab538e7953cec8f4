"""Evaluate a run: `python -m agents.evaluate RUN`, and write its record with `--record results`.

The policy and the environment that a run names are imported. Code of packages that neither belong
to this project nor have registered with it is refused without --trust.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from agents.scoring.run_films import check_one_environment, film_run
from agents.scoring.run_record import PICTURES_REPLACED, check_recordable, make_record
from agents.scoring.run_scores import fits, score_run, scored_level
from agents.training.checks import check_counts, check_device
from agents.training.command_line import FOLDER, KEY_VALUE_PAIRS, read_options, run_command
from agents.training.host import keep_memory
from agents.training.resuming import setting_of
from glimpse_envs.core.arguments import check_seed
from glimpse_envs.core.files import check_writable
from glimpse_envs.episodes.display import FRAME_HEIGHT
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.evaluation.actions import Actions, usual_actions
from glimpse_envs.evaluation.differences import compare
from glimpse_envs.evaluation.protocol import SET_HERE
from glimpse_envs.evaluation.record import MULTIPLES, Record
from glimpse_envs.evaluation.records import read_record, recorded_in, write_record
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run, open_run
from glimpse_envs.evaluation.trust import trust
from glimpse_envs.rendering.film import SUFFIXES
from glimpse_envs.rendering.frame import check_height


@dataclass(frozen=True)
class EvaluateConfig:
    """Play every episode of a split once with a run's policy; print success or return."""

    run: Annotated[Path, tyro.conf.Positional, FOLDER]
    """Folder of the run."""
    env_kwargs: Annotated[dict[str, Any], KEY_VALUE_PAIRS] = field(default_factory=dict)
    """Arguments of the environment that differ from the training's, all after one option, such as
    budget=12; not with --record."""
    split: str = "test"
    """Split to play: test or validation; or train, with --episodes."""
    episodes: int | None = None
    """Number of episodes to play, in the split's order; None: the whole split, or 1,000 at each
    level of a tape, a table or a story. Worlds without fixed scenes, such as games, need it."""
    gaze: str | None = None
    """Choice of looks: learned (by the model), or static, random, raster or oracle (by a rule);
    None: as in training."""
    actions: Actions | None = None
    """Actions that are taken, in a film too: likeliest or sampled; None: sampled in Atari games and
    MiniGrid's worlds, where likeliest ones may lead in a circle, and else the likeliest. Models
    of the full view answer alike by both."""
    seed: int = 0
    """Random seed of clutter, places and first glimpses, in a film too."""
    batch_size: int = 1000
    """Number of episodes played at once; the result depends on it only if actions are sampled."""
    device: str = "cpu"
    """Torch device of the model, such as cpu, cuda or cuda:1."""
    record: Path | None = None
    """Folder to write the record to; None: no record is written. An earlier record of the run is
    replaced, unless it is of more episodes or of another split."""
    notes: str = ""
    """Text for the record, on how the setting differs from that of published results."""
    film: Path | None = None
    """File (.mp4, .gif or .webp) for a film of the first test episodes, played with --gaze and
    --env-kwargs."""
    film_episodes: int = 4
    """Number of episodes in the film."""
    film_height: int = FRAME_HEIGHT
    """Height of the film's frames in pixels, from 160 to 4,320; the legend of --reveal seen adds a
    tenth."""
    reveal: Literal["all", "seen"] = "all"
    """What the film shows: all that is hidden, or what the agent has seen so far."""
    against: Path | None = None
    """Folder of another run in the same environment, which is played on the same episodes; prints
    the difference of the scores and its interval."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code the run may import, such as my_tasks."""
    film_with: Path | None = None
    """Folder of another run in the same environment, filmed to the right of this one."""


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(EvaluateConfig, arguments, prog="python -m agents.evaluate")
    run_command(lambda: _evaluate(config))


def _evaluate(config: EvaluateConfig) -> None:
    trust(*config.trust)
    check_device(config.device)
    check_seed(config.seed)
    keep_memory()
    run = open_run(config.run)
    setting_of(run, "env_id", str)  # first of all, that there is a config to read
    source = config.env_kwargs.get("source")
    run = run.with_pictures(source)
    _check_film(config)
    if config.record is not None:
        _check_record(run, config, config.record)
    elif config.notes:
        raise ValueError(
            f"--notes {config.notes!r} is a text for a record: name its folder, too, as in "
            "--record results"
        )
    unfit = ({"at_most", "progress", "watcher"} | SET_HERE) & config.env_kwargs.keys()
    if unfit:
        raise ValueError(f"env_kwargs: {', '.join(sorted(unfit))} cannot be set here")
    own = {one.name for one in fields(config)} & config.env_kwargs.keys()
    if own:
        raise ValueError(
            f"give {', '.join(sorted(own))} as an option of its own, not in --env-kwargs"
        )
    other = None if config.film_with is None else open_run(config.film_with)
    against = None if config.against is None else open_run(config.against)
    if against is not None:
        check_one_environment(run, against, "that are compared")
    evaluations = _scored(run, config)
    print("\n".join(evaluation.summary() for evaluation in evaluations))
    longer = _unscored_lengths(run, config, evaluations)
    if longer:
        print(f"  note: {longer}")
    if run.pictures_replaced(source):
        print(f"  note: {PICTURES_REPLACED}")
    if against is not None:
        print(f"\nagainst {config.against}")
        for mine in evaluations:
            level = _level_of(run, mine)
            if level and not fits(against, level):
                break  # one of the two may be playable at fewer lengths
            theirs, *_ = _scored(against, config, **level)
            print(theirs.summary())
            if against.pictures_replaced(source):
                print(f"  note: {PICTURES_REPLACED}")
            print(f"  {'difference':17} {compare(mine, theirs)}")
    if config.record is not None:
        record = make_record(run, evaluations, config.notes)
        _check_replaced(record, config.record)
        path = write_record(record, config.record)
        print(f"recorded in {path}")
    if config.film is not None:
        film_run(
            run,
            config.film,
            config.film_episodes,
            other,
            config.reveal,
            config.film_height,
            config.seed,
            config.device,
            config.actions,
            config.gaze,
            **config.env_kwargs,
        )
        print(f"filmed in {config.film}")


def _level_of(run: Run, evaluation: Evaluation) -> dict[str, Any]:
    """The arguments that set the level of an evaluation of `run`; none where levels are mixed."""
    if scored_level(run) is None:
        return {}
    return {name: v for name, v in evaluation.env_kwargs.items() if name in LEVEL_ARGUMENTS}


def _scored(run: Run, config: EvaluateConfig, **level: Any) -> list[Evaluation]:
    """All scores of a run, or that at one `level`."""
    return score_run(
        run,
        split=config.split,
        episodes=config.episodes,
        gaze=config.gaze,
        actions=config.actions,
        seed=config.seed,
        batch_size=config.batch_size,
        progress=True,
        device=config.device,
        **{**config.env_kwargs, **level},
    )


def _unscored_lengths(
    run: Run, config: EvaluateConfig, evaluations: Sequence[Evaluation]
) -> str | None:
    """Say which multiples of the trained length were not scored, as the environment or the policy
    has no room for them; None where all were."""
    greatest = scored_level(run)
    if greatest is None or config.env_kwargs.keys() & set(LEVEL_ARGUMENTS):
        return None
    lacking = [str(greatest * multiple) for multiple in MULTIPLES[len(evaluations) :]]
    return f"there is no room for lengths of {', '.join(lacking)}" if lacking else None


def _check_record(run: Run, config: EvaluateConfig, folder: Path) -> None:
    """Raise a `ValueError` where the evaluation is not one that a record in `folder` can hold."""
    if config.gaze not in (None, run.config["config"].get("gaze", "learned")):
        raise ValueError("a record needs the looks that the run was trained with: leave out --gaze")
    if run.config.get("weights_only"):
        raise ValueError("a record needs a whole run; this folder holds the weights of one alone")
    usual = usual_actions(run.config["config"]["env_id"])
    if config.actions not in (None, usual):
        raise ValueError(
            f"a record holds the score by {usual} actions, on which records are compared: leave "
            f"out --actions {config.actions} or --record"
        )
    check_recordable(run)
    check_writable("--record", folder, folder=True)
    moved = config.env_kwargs.keys() == {"source"} and _trained_on_moved(run, config)
    if config.env_kwargs and not moved:
        raise ValueError(
            "a record needs the arguments that the run was trained with: leave out "
            "--env-kwargs or --record"
        )
    if config.split == "train":
        raise ValueError(
            "a record holds the score on scenes that were not trained on: leave out --split train "
            "or --record"
        )
    if config.seed != 0:
        raise ValueError(
            "a record holds the score with the evaluation's seed 0, on which records are compared: "
            f"leave out --seed {config.seed} or --record"
        )


def _trained_on_moved(run: Run, config: EvaluateConfig) -> bool:
    """Whether the run's pictures could not be read where they were, and those of `config`, from
    which it reads now, are the same."""
    return run.config != open_run(config.run).config and not run.pictures_replaced()


def _check_replaced(record: Record, folder: Path) -> None:
    """Raise a `ValueError` where `record` would replace one of more episodes or another split."""
    for path in recorded_in(folder, record):
        score, earlier = record.headline, read_record(path).headline
        if score.split != earlier.split:
            raise ValueError(
                f"{path} holds the run's {earlier.split} score, which one of {score.split} scenes "
                "would replace: record into another folder"
            )
        if score.episodes < earlier.episodes:
            raise ValueError(
                f"{path} holds the run's score of {earlier.episodes:,} episodes, which one of "
                f"{score.episodes:,} would replace: play as many, or record into another folder"
            )


def _check_film(config: EvaluateConfig) -> None:
    """Raise a `ValueError` for a film that cannot be written, or options of one where there is
    none."""
    if config.film is not None:
        if config.film.suffix.lower() not in SUFFIXES:
            raise ValueError(f"--film {config.film} must end in {', '.join(SUFFIXES)}")
        if not config.film.parent.is_dir():
            raise ValueError(
                f"--film {config.film}: there is no folder {config.film.parent}; make it, or name "
                "another"
            )
        check_writable("--film", config.film)
        check_counts(config, "film_episodes")
        check_height(config.film_height)
        return
    too = "name the file of the film, too, as in --film film.gif"
    if config.film_with is not None:
        raise ValueError(f"--film-with {config.film_with} is the second run of a film: {too}")
    for name in ("reveal", "film_episodes", "film_height"):
        value = getattr(config, name)
        if value != getattr(EvaluateConfig, name):
            raise ValueError(f"--{name.replace('_', '-')} {value} is an option of films: {too}")


if __name__ == "__main__":
    main()
