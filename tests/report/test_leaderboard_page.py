"""The leaderboard ranks learners by what their records say, and by nothing else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.tables.leaderboard import LEADERBOARD
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.strata import stratified_mean
from glimpse_envs.evaluation.suite import TASK_SETS
from glimpse_envs.suite import SUITE
from report.groups import FEW_SEEDS
from report.learners import LEARNERS, MINUTES
from report.page import ROOT, Places
from report.pages.leaderboard import PAGE, leaderboard_page, publish, scores_of
from tests.support.records import a_record

PICTURES = TASK_SETS["pictures"]
WORDS = str.maketrans("", "", "(),")


def a_run(learner: str, env_id: str, normalised: float | None, seed: int = 0) -> Record:
    (found,) = (each for each in LEARNERS if each.name == learner)
    record = a_record(
        env_id=env_id,
        algorithm=found.algorithms[SUITE[env_id].family],
        config={"minutes": MINUTES, **found.settings},
        seed=seed,
    )
    (score,) = record.scores
    return replace(record, scores=(replace(score, normalised=normalised),))


def test_every_row_of_the_table_is_of_one_learner_and_of_no_other() -> None:
    for row in LEADERBOARD.rows:
        config: Any = row.config(ROOT / "results" / LEADERBOARD.folder)
        settings = {name: getattr(config, name) for name in ("gaze", "epochs", "minibatches")
                    if hasattr(config, name)}  # fmt: skip
        record = a_record(
            env_id=row.env_id,
            algorithm=config.algorithm,
            config=settings | {"minutes": config.minutes},
        )
        (fitting,) = (learner for learner in LEARNERS if learner.fits(record))
        assert row.name.endswith(fitting.name.translate(WORDS).lower().replace(" ", "-"))
        shorter = replace(record, config={**record.config, "minutes": 1.0})
        assert not fitting.fits(shorter)
    families = {family for learner in LEARNERS for family in learner.algorithms}
    assert {SUITE[env_id].family for env_id in TASK_SETS["all"]} == families


def test_the_better_learner_comes_first_with_its_score_and_interval() -> None:
    runs = [a_run("A2C", task, 0.5, seed) for task in PICTURES for seed in range(3)]
    each = [0.6 + 0.04 * seed + 0.01 * k for k in range(len(PICTURES)) for seed in range(3)]
    good = [
        a_run("PPO", task, each[3 * k + seed], seed)
        for k, task in enumerate(PICTURES)
        for seed in range(3)
    ]
    text = leaderboard_page([*runs, *good])
    (section,) = (part for part in text.split("\n## ") if part.startswith("Pictures"))
    first, second = section.splitlines()[4:6]
    score = stratified_mean([each[k : k + 3] for k in range(0, len(each), 3)])
    assert first.startswith(f"| PPO | 7 of 7 | 3 | {score:.3f} | 0.6")
    assert second == "| A2C | 7 of 7 | 3 | 0.500 | 0.500 to 0.500 | 0.500 | 0 |"
    assert "## Memory" not in text
    assert FEW_SEEDS in text
    assert "| A2C | 7 of 17 | 3 | — | — | — | — |" in text


def test_tasks_that_are_nearly_done_are_counted_and_those_of_no_learner_named() -> None:
    levels = [0.95, 0.95, 0.91, 0.5, 0.1, 0.1, 0.0]
    runs = [a_run("A2C", task, level) for task, level in zip(PICTURES, levels, strict=True)]
    text = leaderboard_page([*runs, a_run("PPO", PICTURES[4], 0.3)])
    mean = sum(levels) / len(levels)
    assert (
        f"| A2C | 7 of 7 | 1 | {stratified_mean([[x] for x in levels]):.3f} | — | {mean:.3f} | 3"
        in text
    )
    far = " and ".join(task.removeprefix("Glimpse/") for task in PICTURES[5:])
    assert f"No learner passes 0.2 on {far}." in text


def test_a_learner_without_all_tasks_has_no_score() -> None:
    text = leaderboard_page([a_run("REINFORCE", PICTURES[0], 0.9)])
    assert "| REINFORCE | 1 of 7 | 1 | — | — |" in text
    assert "| REINFORCE | 1 of 17 | 1 | — | — |" in text
    assert "| CenteredMNIST-v0 | 0.90 |" in text


def test_controls_are_told_from_the_learned_gaze() -> None:
    control = a_run("REINFORCE, random glimpses", PICTURES[0], 0.2)
    learned, random = (
        learner
        for learner in LEARNERS
        if learner.name in ("REINFORCE", "REINFORCE, random glimpses")
    )
    assert scores_of(learned, [control]) == {}
    assert scores_of(random, [control]) == {PICTURES[0]: {0: 0.2}}
    kept = {name: value for name, value in control.config.items() if name != "gaze"}
    assert scores_of(learned, [replace(control, config=kept)]) == {PICTURES[0]: {0: 0.2}}


def test_learners_are_explained_that_have_runs_and_the_others_named() -> None:
    text = leaderboard_page([a_run("REINFORCE", PICTURES[0], 0.9)])
    assert "- **REINFORCE**:" in text
    assert "**A2C**" not in text
    assert "Not trained yet: A2C;" in text
    assert "library's settings" not in text
    assert "Controls replace" not in text
    names = ("REINFORCE, random glimpses", "RecurrentPPO (sb3-contrib)")
    text = leaderboard_page([a_run(name, PICTURES[0], 0.9) for name in names])
    assert "RecurrentPPO (sb3-contrib) has its library's settings" in text
    assert "On tapes and tables there is none to replace" in text


def test_seeds_count_that_all_tasks_have() -> None:
    first, *others = PICTURES
    runs = [a_run("A2C", task, 1.0, seed) for task in others for seed in (0, 1, 2)]
    lone = [a_run("A2C", first, 1.0, seed) for seed in (1, 1, 3)]
    assert "| A2C | 7 of 7 | 1 | 1.000 | — |" in leaderboard_page([*runs, *lone])
    assert "| A2C | 7 of 7 | 0 | — | — |" in leaderboard_page([*runs, lone[-1]])


def test_a_second_run_of_a_seed_by_other_settings_is_named(tmp_path: Path) -> None:
    run = a_run("A2C", PICTURES[0], 0.5)
    other = replace(run, config=run.config | {"learning_rate": 1.0})
    folder = tmp_path / "leaderboard"
    paths = sorted(write_record(each, folder) for each in (run, other))
    (problem,) = publish(Places(tmp_path, tmp_path)).problems
    assert problem.startswith(f"{paths[1]}: {paths[0].name} is of A2C on {PICTURES[0]} with seed 0")


def test_changed_tasks_and_tasks_of_others_do_not_count() -> None:
    changed = replace(a_run("A2C", PICTURES[0], 1.0), env_kwargs={"budget": 99})
    other = a_run("A2C", "Glimpse/ClutteredGlyphs-v0", 1.0)
    assert "Not measured yet" in leaderboard_page([changed, other])


def test_what_has_no_normalised_return_is_left_out() -> None:
    assert "Not measured yet" in leaderboard_page([a_run("A2C", PICTURES[0], None)])


def test_chance_has_no_sign() -> None:
    assert "| 0.00 |" in leaderboard_page([a_run("A2C", PICTURES[0], -0.001)])


def test_without_a_record_the_command_is_named(tmp_path: Any) -> None:
    (tmp_path / "leaderboard").mkdir()
    text = publish(Places(tmp_path, tmp_path)).texts[PAGE]
    assert "`python -m benchmarks.tables leaderboard`" in text
