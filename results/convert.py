"""Bring the records of the first two kinds over to the present one: `python results/convert.py`.

For use once; deleted after it.
"""

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym

import glimpse_envs  # noqa: F401  (registers the environments)
from glimpse_envs.evaluation.record import NTM_COPY, SOLVED, Model, Record, Score, Validation
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.statistics import wilson_interval

RESULTS = Path(__file__).parent

# What an old name begins with -> the algorithm.
ALGORITHMS = {
    "Reinforce": "reinforce",
    "A2C": "actor_critic",
    "PPO": "actor_critic",
    "Exact": "exact",
    "Straight-through": "straight_through",
    "Full view spatial": "spatial_transformer",
    "Full view LSTM": "lstm_memory",
    "Full view": "full_view",
    "Soft DRAW": "gaussian_window",
    "Soft retina": "gaussian_window",
    "Soft tiles": "soft_tiles",
    "Soft NTM": "ntm",
    "Soft key-value": "key_value_memory",
    "Hard key-value": "key_value_memory",
    "Soft-to-hard key-value": "key_value_memory",
}
KINDS = {
    **{f"Full view {kind}": kind for kind in ("conv", "dense", "strong", "spatial transformer")},
    "Soft DRAW": "DRAW",
    "Soft NTM": "NTM",
}
RENAMED = {"images": "episodes", "solve_at": "stop_at", "solve_every": "validate_every"}
NO_SHARE = "the share at the check that found it solved was not kept: the curve says 99 %"


def longest(table: dict[str, str], name: str) -> str:
    """The value of the longest key that `name` begins with; "" where there is none."""
    return table[max(fits, key=len)] if (fits := [k for k in table if name.startswith(k)]) else ""


def model_of(old: dict[str, Any]) -> Model:
    name, config = old["model"], old["config"]
    attention: Any = "hard"
    sees: Any = "glimpses"
    if name.startswith("Full view"):
        sees, attention = "everything", "none"
    elif name.startswith(("Soft", "Hard")):
        sees = "everything"
        if name.startswith("Soft-to-hard"):
            attention = "soft_to_hard"
        elif name.startswith("Soft"):
            attention = "soft"
    elif name.endswith("trained on all tiles"):
        sees = "privileged"
    assert (old["env_kwargs"].get("view") == "full") == (sees == "everything"), name
    return Model(
        name=name,
        sees=sees,
        learns_from=config.get("answer_by", "label"),
        attention=attention,
        gaze=config.get("looks", "learned"),
        reference_kind=longest(KINDS, name),
    )


def config_of(old: dict[str, Any], validation_episodes: int | None) -> dict[str, Any]:
    config = {RENAMED.get(name, name): value for name, value in old["config"].items()}
    if validation_episodes is not None:
        config["validation_episodes"] = validation_episodes
        config.setdefault("validate_every", 0)
    return config


def shared(old: dict[str, Any], validation_episodes: int | None) -> dict[str, Any]:
    model = model_of(old)
    return {
        "env_id": old["env_id"],
        "env_kwargs": {k: v for k, v in old["env_kwargs"].items() if k != "view"},
        "model": model,
        "algorithm": longest(ALGORITHMS, model.name),
        "command": "",
        "seed": old["seed"],
        "seconds": old["seconds"],
        "cores": old.get("cores", 1),
        "hardware": old["hardware"],
        "revision": old["revision"],
        "versions": {},
        "config": config_of(old, validation_episodes),
    }


def share(error_percent: float) -> float:
    """The share that is right where so many percent are wrong; its fourth decimal is kept."""
    return round(1 - error_percent / 100, 6)


def of_pictures(old: dict[str, Any]) -> Record:
    low, high = old["interval_percent"]
    curve = old.get("curve", [])
    score = Score(
        split=old["split"],
        episodes=old["scenes"],
        success=share(old["error_percent"]),
        success_interval=(share(high), share(low)),
        mean_return=None,
        return_interval=None,
        glimpses=None,
        success_by_glimpse=tuple(map(share, old["error_by_glimpse"])),
        costs=old.get("costs", {}),
        costs_by_glimpse={n: tuple(v) for n, v in old.get("costs_by_glimpse", {}).items()},
        successes=old["correct_hex"],
    )
    return Record(
        **shared(old, curve[0][3] if curve else None),
        budget=old["glimpses"],
        levels=None,
        episodes=old["images_seen"],
        scores=(score,),
        curve=tuple(Validation(s, n, share(e), None, scored) for s, n, e, scored in curve),
        notes=old["notes"],
    )


def of_memory(old: dict[str, Any]) -> Record:
    fields = shared(old, 1_000)
    with closing(gym.make(old["env_id"], **old["env_kwargs"])) as env:
        task: Any = env.unwrapped.task  # type: ignore[attr-defined]
        budget, levels = task.budget, (int(task.levels[0]), int(task.levels[1]))
    assert levels[1] == old["length"], (levels, old["length"])
    found = old["episodes_to_solve"]
    curve: tuple[Validation, ...] = ()
    if found is not None:
        curve = (Validation(round(60 * old["minutes_to_solve"], 3), found, SOLVED, None, 1_000),)
    notes = [old["notes"]] if old["notes"] else []
    notes += [NO_SHARE] if curve else []
    scores = []
    for length, right in old["accuracy_by_length"].items():
        count, headline = old["sequences"], int(length) == old["length"]
        low, high = wilson_interval(round(right * count), count)
        costs = {name: old[name] for name in ("cells_read", "multiply_adds") if headline}
        scores.append(
            Score(
                split="test",
                episodes=count,
                success=right,
                success_interval=(round(low, 6), round(high, 6)),
                mean_return=None,
                return_interval=None,
                glimpses=None,
                level=int(length),
                costs={name: value for name, value in costs.items() if value is not None},
            )
        )
    scores.sort(key=lambda score: (score.level != old["length"], score.level))
    return Record(
        **fields,
        budget=budget,
        levels=levels,
        episodes=old["episodes"],
        scores=tuple(scores),
        curve=curve,
        notes="; ".join(notes),
    )


def of_copy(old: dict[str, Any]) -> Record:
    config, count = old["config"], old["test_sequences"]
    scores = []
    for length, found in old["by_length"].items():
        low, high = wilson_interval(round(found["wholly"] * count), count)
        scores.append(
            Score(
                split="test",
                episodes=count,
                success=found["wholly"],
                success_interval=(round(low, 6), round(high, 6)),
                mean_return=None,
                return_interval=None,
                glimpses=None,
                level=int(length),
                costs={
                    "wrong_bits": found["wrong_bits"],
                    "wrong_bits_greatest": found["greatest"],
                },
            )
        )
    scores.sort(key=lambda score: (score.level != config["length"], score.level))
    return Record(
        env_id=NTM_COPY,
        env_kwargs={},
        model=Model("NTM LSTM", "everything", "label", "soft", reference_kind="NTM"),
        algorithm="ntm_copy",
        command="",
        seed=old["seed"],
        budget=1,
        levels=(config["min_length"], config["length"]),
        episodes=old["sequences"],
        seconds=old["seconds"],
        cores=1,
        hardware=old["hardware"],
        revision=old["revision"],
        versions={},
        config=config,
        scores=tuple(scores),
    )


def main() -> None:
    for folder in (RESULTS, RESULTS / "comparison", RESULTS / "memory"):
        for path in sorted(folder.glob("*.json")):
            old = json.loads(path.read_text())
            if "scores" in old or path.name == "scaling.json":
                continue
            if "task" in old:
                record = of_copy(old)
            elif "error_percent" in old:
                record = of_pictures(old)
            else:
                record = of_memory(old)
                if old["solved"] != (record.solved_after is not None):
                    print(f"{path.name}: solved is {old['solved']}, {record.solved_after}")
            path.unlink()
            written = write_record(record, folder)
            print(f"{re.sub('.*_', '', path.stem)} -> {written.name}")


if __name__ == "__main__":
    main()
