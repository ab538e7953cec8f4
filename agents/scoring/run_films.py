"""Films of runs on the first test episodes, one run alone or two side by side."""

from itertools import chain
from pathlib import Path
from typing import Any

from agents.scoring.run_scores import at_level, policy_of, scored_level
from glimpse_envs.episodes.display import FRAME_HEIGHT, RENDER_FPS
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.actions import Actions
from glimpse_envs.evaluation.films import film_episodes, side_by_side
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.evaluation.world_films import WORLD_FPS, Frames
from glimpse_envs.rendering import write_film


def film_run(
    run: Run,
    path: Path,
    episodes: int = 4,
    other: Run | None = None,
    reveal: str = "all",
    height: int = FRAME_HEIGHT,
    seed: int = 0,
    device: str = "cpu",
    actions: Actions | None = None,
    gaze: str | None = None,
    **changes: Any,
) -> None:
    """Film the first test episodes, as .mp4, .gif or .webp, at the level at which `run` is scored;
    third-party worlds as in `glimpse_envs.evaluation.world_films.film_world`.

    Args:
        run: to film.
        path: of the film.
        episodes: how many.
        other: another run, filmed to the right of it on the same episodes.
        reveal: what is shown, "all" that is hidden or what the agent has "seen" so far.
        height: of the frames, in pixels.
        seed: of clutter, places and first glimpses.
        device: of the models.
        actions: "likeliest" or "sampled"; None: `usual_actions`.
        gaze: of the runs that take looks, as in `agents.scoring.run_scores.evaluate_run`.
        **changes: arguments of the environment that differ from the training's; `length` or
            `min_length` among them set the level of the episodes.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: the two runs are of different environments, `height` is out of its range, or
            there is no such gaze.
    """
    shown: dict[str, Any] = {
        "reveal": reveal, "height": height, "seed": seed, "actions": actions,
    }  # fmt: skip
    run = run.with_pictures(changes.get("source"))
    greatest = scored_level(run)
    if greatest is not None and not changes.keys() & set(LEVEL_ARGUMENTS):
        changes |= at_level(greatest)
    films = _film(run, episodes, device, gaze, shown, changes)
    if other is not None:
        check_one_environment(run, other, "in one film")
        pairs = zip(films, _film(other, episodes, device, gaze, shown, changes), strict=True)
        films = [side_by_side(left, right) for left, right in pairs]
    world = task_class_of(run.config["config"]["env_id"]) is None
    write_film(chain.from_iterable(films), path, WORLD_FPS if world else RENDER_FPS)


def _film(
    run: Run,
    episodes: int,
    device: str,
    gaze: str | None,
    shown: dict[str, Any],
    changes: dict[str, Any],
) -> list[Frames]:
    """The films of one run; `shown` are further arguments of `film_episodes`."""
    policy, kwargs = policy_of(run, None, shown["seed"], device, **changes)
    if gaze is not None and policy.view != "full":
        policy, kwargs = policy_of(run, gaze, shown["seed"], device, **changes)
    env_id = run.config["config"]["env_id"]
    films, _ = film_episodes(policy, env_id, range(episodes), **shown, **kwargs)
    return films


def check_one_environment(run: Run, other: Run, which: str) -> None:
    """Raise a `ValueError` where two runs are of different environments; `which` says in words what
    they have in common, such as "in one film"."""
    ids = [each.config["config"]["env_id"] for each in (run, other)]
    if ids[0] != ids[1]:
        raise ValueError(f"runs {which} must be of one environment: {', '.join(ids)}")
