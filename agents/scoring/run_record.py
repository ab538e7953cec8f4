"""The record of a run: its training, its scores and the costs of its episodes."""

from dataclasses import asdict
from math import isnan
from typing import Any

from agents.scoring.costs import Costs, measure_costs
from agents.scoring.run_scores import policy_of, scored_level, trained_levels
from agents.scoring.seconds import seconds_per_episode
from agents.training.continuing import trainers_of
from glimpse_envs.episodes.description import describe_id
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.evaluation.from_json import FieldError, from_json
from glimpse_envs.evaluation.provenance import git_revision
from glimpse_envs.evaluation.record import Model, Record, Score, Validation
from glimpse_envs.evaluation.records import pack
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run

# Decimals of shares and returns.
DECIMALS = 6

PICTURES_REPLACED = "pictures were added, removed or replaced since the training began"


def make_record(run: Run, evaluations: list[Evaluation], notes: str = "") -> Record:
    """The record of a run and of its `agents.scoring.run_scores.score_run`; measures the costs of
    the headline's episodes.

    Raises:
        RunError: the run's policy or checkpoint cannot be read, or it lacks an entry that a record
            needs.
    """
    check_recordable(run)
    config, headline = run.config["config"], evaluations[0]
    trainers = trainers_of(run)
    others = [one["revision"] for one in trainers if one["revision"] != trainers[0]["revision"]]
    on_gpu = [one["device"] for one in trainers if str(one["device"]).startswith("cuda")]
    if on_gpu:  # it is not the time of a core alone then
        config = {**config, "device": on_gpu[0]}
    has_level = scored_level(run) is not None
    policy, _ = policy_of(run)
    measured = measure_costs(policy, headline)
    seconds = {"seconds": round(seconds_per_episode(policy, headline), 8)}
    first = Costs({**measured.per_episode, **seconds}, measured.by_glimpse)
    costs = [first, *[Costs()] * (len(evaluations) - 1)]
    _, metadata = run.load_checkpoint()
    lacking = [name for name in ("episodes", "seconds") if name not in metadata]
    if lacking:
        raise RunError(
            f"{run.checkpoint_path}: its metadata lack {' and '.join(lacking)} of the training, "
            "which a record needs: save it again with them, as in "
            'run.save_checkpoint(tensors, {"episodes": 0, "seconds": 0.0})'
        )
    return Record(
        env_id=headline.env_id,
        env_kwargs=_trained_kwargs(headline, has_level, config["env_kwargs"]),
        model=model_of(run),
        algorithm=run.config["algorithm"],
        command=run.config["command"],
        seed=run.config["seed"],
        budget=_budget(headline),
        levels=trained_levels(run),
        episodes=metadata["episodes"],
        seconds=round(metadata["seconds"], 1),
        cores=cores_of(run),
        hardware="; ".join(dict.fromkeys(one["hardware"] for one in trainers)),
        revision=git_revision() if run.config["revision"] == "unknown" else run.config["revision"],
        versions=run.config["versions"],
        config=config,
        scores=tuple(
            score_of(evaluation, cost, has_level)
            for evaluation, cost in zip(evaluations, costs, strict=True)
        ),
        defaults=run.config.get("defaults", {}),
        curve=learning_curve(run),
        notes="; ".join(
            filter(None, (notes, PICTURES_REPLACED if run.pictures_replaced() else ""))
        ),
        resumed=tuple(dict.fromkeys(others)),
    )


def check_recordable(run: Run) -> None:
    """Raise a `RunError` where a run, such as one made by hand, lacks what a record needs."""
    _check_entry(run, "algorithm", str, "a name such as 'by hand'")
    _check_entry(run, "seed", int, "the random seed of its training, or 0")
    model_of(run)


def _check_entry(run: Run, name: str, kind: type, right: str) -> None:
    """Raise a `RunError` unless the entry `name` of config.json is a `kind`; for the message,
    `right` says what it is."""
    value = run.config.get(name)
    if type(value) is not kind:
        found = f"{name} is {value!r:.80}" if name in run.config else f"it lacks {name}"
        raise RunError(
            f"{run.config_path}: {found}, and a record needs {right}: make the run again with it "
            "(create_run)"
        )


def score_of(evaluation: Evaluation, costs: Costs, has_level: bool = False) -> Score:
    """The score of an evaluation; `has_level` where all its episodes are of one level."""
    by_glimpse = () if has_level else evaluation.success_by_glimpse
    success = None if evaluation.success is None else round(evaluation.success, DECIMALS)
    normalised = evaluation.normalised_score
    return Score(
        split=evaluation.split,
        episodes=evaluation.episodes,
        success=success,
        success_interval=_rounded(evaluation.success_interval),
        mean_return=round(evaluation.mean_return, DECIMALS),
        return_interval=_rounded(evaluation.return_interval),
        glimpses=round(evaluation.mean_glimpses, 3),
        level=evaluation.env_kwargs["length"] if has_level else None,
        success_by_glimpse=tuple(round(share, DECIMALS) for share in by_glimpse),
        costs=costs.per_episode,
        costs_by_glimpse=costs.by_glimpse,
        normalised=None if isnan(normalised) else round(normalised, DECIMALS),
        successes="" if evaluation.successes is None else pack(evaluation.successes),
        actions=evaluation.actions,
    )


def cores_of(run: Run) -> int:
    """The number of cores that a run kept busy: the threads of all its processes, the most where it
    was resumed with others."""
    return max(one["threads"] * one["processes"] for one in trainers_of(run))


def learning_curve(run: Run) -> tuple[Validation, ...]:
    """The validations among a run's metrics."""
    cores = cores_of(run)
    return tuple(
        Validation(
            core_seconds=round(line["seconds"] * cores, 2),
            episodes=int(line["step"]),
            success=line.get("validation/success"),
            mean_return=line["validation/return"],
            scored=int(line["validation/episodes"]),
        )
        for line in run.read_metrics()
        if "validation/episodes" in line
    )


def model_of(run: Run) -> Model:
    """The run's description of its model.

    Raises:
        RunError: it has none, or one with a value that no record can hold.
    """
    model = run.config.get("model")
    if not isinstance(model, dict):
        raise RunError(
            f"{run.folder}/config.json has model {model!r}; it must be an object such as "
            f"{asdict(Model('Reinforce LSTM'))}: change it, or train again"
        )
    try:
        return from_json(Model, model)
    except FieldError as error:
        raise RunError(
            f"{run.config_path}: of the model, {error}. Make the run again with asdict(Model(...)) "
            "of glimpse_envs.evaluation.record"
        ) from error


def _budget(evaluation: Evaluation) -> int:
    """The budget of the environment, or the number of glimpses that a model takes internally."""
    budget = describe_id(evaluation.env_id, evaluation.env_kwargs).budget or 0
    return max(budget, int(evaluation.glimpses.max()))


def _trained_kwargs(
    evaluation: Evaluation, has_level: bool, trained: dict[str, Any]
) -> dict[str, Any]:
    """The environment's arguments in training, without `view`."""
    kwargs = dict(evaluation.env_kwargs)
    kwargs.pop("view", None)
    if has_level:
        for name in LEVEL_ARGUMENTS:
            kwargs.pop(name)
            if name in trained:
                kwargs[name] = trained[name]
    return kwargs


def _rounded(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    if interval is None:
        return None
    return round(interval[0], DECIMALS), round(interval[1], DECIMALS)
