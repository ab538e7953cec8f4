"""The table of results holds like against like, and its figure names every line and mark."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from matplotlib.figure import Figure

from agents.algorithms.reinforce import ReinforceConfig
from agents.policy.networks import NetworkConfig
from glimpse_envs.evaluation.record import Model, Record
from glimpse_envs.evaluation.statistics import CLAIM_EPISODES, CLAIM_SEEDS
from report.figures import results as figure_of_results
from report.grouping import group_runs
from report.markdown import bullets
from report.page import Places
from report.pages.other_settings import apart
from report.pages.results import headline, results_page
from report.pages.settings import RAM_SETTINGS, differences_from_ram
from report.references.pictures import REFERENCES
from tests.support.figures import catch_figure, named_lines, overlapping_texts, points_of
from tests.support.records import (
    FULL_CONV,
    FULL_DENSE,
    FULL_STRONG,
    RANDOM,
    REINFORCE,
    SOFT_DRAW,
    SOFT_TILES,
    a_record,
    as_runs,
)

OVERHANG = {"budget": 7, "overhang": 2}
CLUTTERED, LARGE = "Glimpse/ClutteredMNIST-v0", "Glimpse/ClutteredMNISTLarge-v0"


def on_mnist(model: Model = REINFORCE, error: float = 3.0, **changes: Any) -> Record:
    fields: dict[str, Any] = {"env_id": CLUTTERED, "episodes": 4_000_000, "seconds": 1800.0}
    return a_record(model, error, **fields | changes)


def block(*records: Record) -> str:
    return results_page(group_runs(as_runs(records)), Places())


def test_other_settings_stand_apart_and_nothing_is_lost() -> None:
    many = [on_mnist(seed=seed, error=2.0) for seed in range(5)]
    single = on_mnist(error=1.0, config={"batch_size": 7})
    shifted = on_mnist(error=0.5, env_kwargs={"overhang": 2})
    others = [
        on_mnist(Model("A2C LSTM"), error=7.0, algorithm="actor_critic"),
        on_mnist(error=4.0, env_kwargs={"budget": 6}, budget=6),
        on_mnist(RANDOM, error=9.0),
        on_mnist(FULL_CONV, error=8.0),
    ]
    groups = group_runs(as_runs([*many, single, shifted, *others]))
    kept, rest = apart(groups)
    assert [group.error for group in rest] == pytest.approx([1.0, 0.5])
    assert sorted(run.file for g in kept + rest for run in g.runs) == sorted(
        run.file for g in groups for run in g.runs
    )
    page = results_page(kept, Places(), rest)
    main, other = section(page, "ClutteredMNIST-v0"), section(page, "Other settings")
    assert row_of(main, "| 2.00 |")[0] == "Reinforce LSTM", "no word tells it from what is apart"
    assert row_of(other, "| 1.00 |")[1] == "Reinforce LSTM (other setting)"
    assert row_of(other, "| 0.50 |")[1] == "Reinforce LSTM (other setting), overhang 2"
    assert [len(found) for found in apart(group_runs(as_runs(others)))] == [4, 0]
    assert "Other settings" not in block(*others)


def section(page: str, name: str) -> str:
    (found,) = (part for part in page.split("\n## ") if part.startswith(f"{name}\n"))
    return found


def row_of(text: str, *words: str) -> list[str]:
    """The cells of the one table row that holds all the words."""
    rows = [line for line in text.splitlines() if line[:1] == "|" and all(w in line for w in words)]
    assert len(rows) == 1, rows
    return [cell.strip() for cell in rows[0].strip("|").split(" | ")]


def test_a_control_names_the_row_that_differs_in_its_gaze_alone() -> None:
    def config(gaze: str, rate: float = 0.001) -> dict[str, Any]:
        return {"batch_size": 128, "learning_rate": rate, "gaze": gaze}

    control = on_mnist(RANDOM, 12.0, config=config("random"))
    slow = on_mnist(error=3.0, config=config("learned"))
    fast = on_mnist(error=2.0, config=config("learned", 0.005))
    found = (
        "its config is that of Reinforce LSTM (learning rate 0.001), 3.00 %, except for the gaze"
    )
    assert f"on ClutteredMNIST-v0: {found}\n" in block(control, slow, fast)
    assert "its config is no other row's" in block(control, fast)


def test_rows_above_their_paper_tell_their_training() -> None:
    conv = on_mnist(FULL_CONV, 12.0, config={"batch_size": 128, "learning_rate": 0.001})
    told = "12.00 % against 8.09 %: 4.0 M scenes in 30 core-minutes, batch size 128, learning rate"
    assert f"- Full view conv on ClutteredMNIST-v0, {told} 0.001" in block(conv)
    heading = "## Errors above the paper's"
    assert heading in block(conv)
    assert heading not in block(on_mnist(FULL_CONV, 3.0))


def test_a_row_tells_score_and_cost_and_links_to_its_records() -> None:
    text = section(block(on_mnist(), on_mnist(seed=1)), "ClutteredMNIST-v0")
    cells = row_of(text, "| Reinforce LSTM |")
    assert cells[:4] == ["Reinforce LSTM", "8", "2", "3.00"]
    assert cells[5:7] == ["4.04 (under, no claim)", "2.63 (above, no claim)"]
    assert cells[7:9] == ["4.0 M", "30"]
    assert cells[9] == "[0](../results/a.json) [1](../results/a.json)"


@pytest.mark.parametrize(
    ("seeds", "episodes", "env_id", "paper"),
    [
        (CLAIM_SEEDS, CLAIM_EPISODES, CLUTTERED, "4.04 (under)"),
        (CLAIM_SEEDS - 1, CLAIM_EPISODES, CLUTTERED, "4.04 (under, no claim)"),
        (CLAIM_SEEDS, 1_000, CLUTTERED, "4.04 (under, no claim)"),
        (CLAIM_SEEDS, CLAIM_EPISODES, LARGE, "8.11† (under, no claim)"),
    ],
)
def test_a_comparison_is_a_claim_by_seeds_scenes_and_a_number_that_was_checked(
    seeds: int, episodes: int, env_id: str, paper: str
) -> None:
    score = {"episodes": episodes, "successes": ""}
    records = [on_mnist(seed=seed, env_id=env_id, score=score, error=2.0) for seed in range(seeds)]
    assert row_of(block(*records), "| Reinforce LSTM |")[5] == paper


def test_a_claim_from_short_trainings_needs_ten_seeds() -> None:
    for seeds, paper in ((CLAIM_SEEDS, "4.04 (under, no claim)"), (10, "4.04 (under)")):
        records = [on_mnist(seed=seed, seconds=180.0, error=2.0) for seed in range(seeds)]
        assert row_of(block(*records), "| Reinforce LSTM |")[5] == paper


def test_training_that_knew_the_target_is_told_beside_the_claim() -> None:
    near = [a_record(config={"curriculum": "distance"}, seed=seed) for seed in range(5)]
    assert "curriculum `distance`" in block(*near)
    assert "curriculum `distance`" not in block(a_record())


def test_arguments_of_the_environment_stand_with_the_model() -> None:
    text = block(on_mnist(env_id="Glimpse/CenteredMNIST-v0", budget=7, env_kwargs=OVERHANG))
    assert row_of(text, "| Reinforce LSTM, overhang 2 |")[1] == "7"


def test_claims_come_first_then_the_lowest_error() -> None:
    claims = [on_mnist(error=4.0, seed=seed) for seed in range(CLAIM_SEEDS)]
    alone = [on_mnist(error=error, config={"batch_size": int(error)}) for error in (3.0, 2.0)]
    text = section(block(*alone, *claims), "ClutteredMNIST-v0")
    rows = [line for line in text.splitlines() if line.startswith("| Reinforce LSTM")]
    assert [row.split(" | ")[3] for row in rows] == ["4.00", "2.00", "3.00"]


def test_references_without_a_run_say_so() -> None:
    text = block()
    assert text.count("not measured yet") == len(REFERENCES)
    large = row_of(section(text, "ClutteredMNISTLarge-v0"), "learned")
    assert large[5:7] == ["8.11†", "5.90"]
    assert "† from memory" in text


def test_like_is_compared_with_like() -> None:
    text = block(
        on_mnist(RANDOM, 16.0),
        on_mnist(Model("oracle", gaze="oracle")),
        on_mnist(Model("privileged model", "privileged")),
        on_mnist(Model("easy"), env_kwargs={"clutter": 2}),
        on_mnist(Model("same"), env_kwargs={"clutter": 4, "budget": 8, "reward": "dense"}),
    )
    text = section(text, "ClutteredMNIST-v0")
    assert row_of(text, "random glimpses |")[5:7] == ["14.40 (above, no claim)", "—"]
    for name in ("oracle", "privileged model", "easy, clutter 2"):
        assert row_of(text, f"| {name} |")[5:7] == ["—", "—"]
    assert row_of(text, "| same,")[5] == "4.04 (under, no claim)"


@pytest.mark.parametrize(
    ("model", "env_id", "row"),
    [
        (SOFT_DRAW, LARGE, ["8", "3.36 (under, no claim)", "—"]),
        (SOFT_TILES, LARGE, ["8", "—", "—"]),
        (FULL_STRONG, LARGE, ["whole", "—", "0.92 (above, no claim)"]),
        (FULL_CONV, CLUTTERED, ["whole", "8.09 (under, no claim)", "—"]),
        (FULL_DENSE, CLUTTERED, ["whole", "11.96 (under, no claim)", "—"]),
        (FULL_STRONG, CLUTTERED, ["whole", "—", "—"]),
        (SOFT_DRAW, CLUTTERED, ["8", "—", "—"]),
    ],
)
def test_soft_and_full_views_stand_beside_their_own_references(
    model: Model, env_id: str, row: Sequence[str]
) -> None:
    cells = row_of(block(on_mnist(model, env_id=env_id)), f"| {model.name} |")
    assert [cells[1], *cells[5:7]] == row


def test_what_has_no_reference_stands_with_its_environment() -> None:
    text = section(block(on_mnist(), on_mnist(SOFT_TILES)), "ClutteredMNIST-v0")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert "Soft tiles LSTM" in rows[-1]


def test_a_task_without_success_is_told_by_its_return() -> None:
    score = {"success": None, "success_interval": None, "success_by_glimpse": (), "successes": ""}
    text = block(on_mnist(env_id="Mine-v0", score={**score, "mean_return": 21.5}))
    assert row_of(section(text, "Mine-v0"), "Reinforce")[3:5] == ["return 21.5", "—"]


def test_the_table_stays_a_table() -> None:
    text = block(on_mnist(Model("a|b"), notes="first\nsecond"))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {11}
    assert "\n- a|b on ClutteredMNIST-v0: first second" in text


def test_cores_count_in_the_cost() -> None:
    assert row_of(block(on_mnist(cores=2)), "Reinforce")[8] == "60"


def test_footnotes_are_lists_that_say_each_thing_once() -> None:
    lines = block(
        on_mnist(notes="by the label"),
        on_mnist(seed=1, notes="by the label"),
        on_mnist(env_id="Glimpse/CIFAR10-v0", notes="by the label"),
        on_mnist(SOFT_TILES, notes="by back-propagation"),
    ).splitlines()
    assert lines.count("- Reinforce LSTM on CIFAR10-v0 and ClutteredMNIST-v0: by the label") == 1
    assert "- Soft tiles LSTM on ClutteredMNIST-v0: by back-propagation" in lines
    listed = lines[lines.index("## Sources") :]
    sources = [line for line in listed if line.startswith("- ") and " with " in line]
    assert len(sources) == len({reference.source for reference in REFERENCES})
    assert any(line.endswith("ClutteredMNIST-v0 with 8, 6 and 4 glimpses") for line in sources)
    assert bullets(["a\nb", "c", "a\nb"]) == "- a b\n- c"


def test_footnotes_tell_apart_the_arguments_of_an_environment() -> None:
    centred = "Glimpse/CenteredMNIST-v0"
    shifted = on_mnist(env_id=centred, budget=7, env_kwargs=OVERHANG, notes="on shifted digits")
    plain = on_mnist(env_id=centred, budget=7, env_kwargs={"budget": 7}, notes="as they are")
    text = block(shifted, plain)
    assert "\n- Reinforce LSTM on CenteredMNIST-v0 (7 glimpses, overhang 2): on shifted" in text
    assert "\n- Reinforce LSTM on CenteredMNIST-v0 (7 glimpses): as they are" in text


def test_the_episodes_of_seeds_span_the_least_to_the_greatest() -> None:
    records = [on_mnist(seed=seed, episodes=n * 10**6) for seed, n in enumerate((3, 2, 4, 3))]
    assert row_of(block(*records), "| Reinforce LSTM |")[7] == "2.0 M to 4.0 M"


def test_agents_differ_from_ram_as_their_configs_do() -> None:
    network = {"core": "lstm", "core_units": 128, "look_coordinates": "cells"}
    config = {"network": network, "optimizer": "muon", "batch_size": 1024, "answer_by": "label"}
    text = block(on_mnist(config=config), on_mnist(config=config, seed=1))
    difference = (
        "- Reinforce LSTM on ClutteredMNIST-v0: the core has 128 units of the kind LSTM, not 256 "
        "rectifiers; a look is one of the cells that are seen, not a place drawn from a Gaussian; "
        "Muon learns from 1,024 scenes an update, each drawn afresh, not SGD from 20; as in RAM, "
        "answers learn from the label"
    )
    assert text.count(difference) == 1
    noted = block(on_mnist(config=config, notes="another setting"))
    assert "- Reinforce LSTM on ClutteredMNIST-v0: another setting\n" in noted
    assert noted.count(difference) == 1, "a note is seldom all of it"
    assert "rectifiers" not in block(on_mnist(SOFT_TILES, config=config, algorithm="soft_tiles"))


# The README's rows


def test_the_readme_has_the_best_of_each_kind() -> None:
    records = [
        on_mnist(error=5.0),
        on_mnist(error=3.0, config={"episodes": 2}),
        on_mnist(error=1.0, env_kwargs={"clutter": 2}),
        *(on_mnist(model) for model in (RANDOM, SOFT_DRAW, SOFT_TILES, FULL_CONV, FULL_STRONG)),
        *(on_mnist(env_id=env_id) for env_id in dict.fromkeys(r.env_id for r in REFERENCES)),
        on_mnist(SOFT_DRAW, env_id=LARGE),
    ]
    text = headline(group_runs(as_runs(records)))
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) == 4 + 2, "of two other environments eight glimpses have a published error"
    assert row_of(text, CLUTTERED[8:] + " ", "| Reinforce LSTM |")[4] == "3.00"
    assert [row.split(" | ")[1] for row in rows[:4]].count("Reinforce LSTM") == 1
    assert "random glimpses" in rows[1]
    assert "Soft" in rows[2]
    assert "Full view" in rows[3]
    assert all("Reinforce LSTM |" in row for row in rows[4:])


def test_the_readme_prefers_a_claim_to_a_better_single_run() -> None:
    claim = [on_mnist(error=3.0, seed=seed) for seed in range(CLAIM_SEEDS)]
    text = headline(group_runs(as_runs([*claim, on_mnist(error=2.0, config={"episodes": 2})])))
    assert row_of(text, "Reinforce")[3:5] == [str(CLAIM_SEEDS), "3.00"]


def test_the_readme_shows_the_control_of_the_agent_that_it_shows() -> None:
    settings = {"episodes": 2, "network": {"core_units": 8}}
    records = [
        on_mnist(error=3.0, config=settings),
        on_mnist(error=4.0),
        on_mnist(RANDOM, error=13.0, config=settings | {"gaze": "random"}),
        on_mnist(RANDOM, error=12.0, config={"gaze": "random"}),
    ]
    text = headline(group_runs(as_runs(records)))
    assert row_of(text, "| Reinforce LSTM |")[4] == "3.00"
    assert row_of(text, "random glimpses")[4] == "13.00"


# The figure


def draw(monkeypatch: pytest.MonkeyPatch, *records: Record) -> Figure:
    caught = catch_figure(monkeypatch, figure_of_results)
    figure_of_results.draw_results(group_runs(as_runs(records)), "unused.svg")
    return caught[0]


def test_published_errors_have_the_colour_of_what_they_are_held_against(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figure = draw(monkeypatch, on_mnist(), on_mnist(FULL_CONV))
    (panel,) = figure.axes
    named = named_lines(panel)
    hard, full = (named[name] for name in ("Reinforce LSTM, 8 glimpses", "Full view conv"))
    assert points_of(hard)[1][-1] == pytest.approx(3.0)
    assert points_of(full)[1] == pytest.approx([3.0, 3.0]), "a full view is a level line"
    assert {name.partition(",")[0] for name in list(named)[2:]} == {"paper", "best public"}
    marks = [line for line in panel.get_lines() if len(points_of(line)[0]) == 1]
    assert {(*points_of(mark)[1], mark.get_marker(), mark.get_color()) for mark in marks} == {
        (4.04, "x", hard.get_color()),
        (2.63, "*", hard.get_color()),
        (8.09, "x", full.get_color()),
    }, "and none of models that are not here"
    assert overlapping_texts(figure) == []


def test_published_errors_are_not_drawn_beside_another_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (panel,) = draw(monkeypatch, on_mnist(env_kwargs={"clutter": 2})).axes
    assert list(named_lines(panel)) == ["Reinforce LSTM (clutter 2), 8 glimpses"]


def test_more_than_five_lines_make_another_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    models = [REINFORCE, RANDOM, SOFT_DRAW, SOFT_TILES, FULL_CONV, FULL_STRONG]
    figure = draw(monkeypatch, *(on_mnist(model) for model in models))
    hard, others = figure.axes
    ours = [[name for name in named_lines(panel) if "LSTM" in name] for panel in (hard, others)]
    assert [len(names) for names in ours] == [2, 2]
    assert all(name.startswith("Reinforce") for name in ours[0])
    assert [panel.get_title(loc="left") for panel in (hard, others)] == [
        "ClutteredMNIST-v0, 1 of 2",
        "ClutteredMNIST-v0, 2 of 2",
    ]
    assert overlapping_texts(figure) == []


def test_of_a_model_in_several_settings_the_longest_training_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = on_mnist(error=2.0, episodes=1_000, config={"learning_rate": 0.1})
    (panel,) = draw(monkeypatch, short, on_mnist(error=3.0)).axes
    assert points_of(named_lines(panel)["Reinforce LSTM, 8 glimpses"])[1][-1] == pytest.approx(3.0)


def test_what_differs_from_ram_names_fields_that_there_are() -> None:
    kinds = ReinforceConfig, NetworkConfig
    fields = {field.name for kind in kinds for field in dataclasses.fields(kind)}
    assert set(RAM_SETTINGS) <= fields
    network = {field: value for field, (value, _) in RAM_SETTINGS.items()}
    rams = {"network": network, "look_gain": False, "look_signal": "reward"}
    assert differences_from_ram(rams) == ""
    assert "128 units join" in differences_from_ram({"network": network | {"glimpse_units": 128}})
    gained = differences_from_ram(rams | {"look_signal": "probability", "look_gain": True})
    assert gained.endswith(
        "with 0 or 1; what the answer would earn before a look is subtracted from its return"
    )
    old = differences_from_ram(rams | {"batch_size": 128})
    assert old == "the optimizer learns from 128 scenes an update, each drawn afresh, not from 20"
    explored = differences_from_ram({"entropy_weight": 0.003, "entropy_floor": 1.5})
    assert explored == (
        "a bonus for the entropy of choices is paid, with weight 0.003; up to 1.5 nats a choice"
    )
