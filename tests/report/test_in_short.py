"""The tables with which pages of results begin: the best model of each kind, a row a task."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from glimpse_envs.evaluation.record import Record, Validation
from glimpse_envs.evaluation.statistics import CLAIM_SEEDS, wilson_interval
from report.grouping import tasks_of
from report.pages.in_short import memory_in_short, scenes_in_short
from tests.support.records import (
    EPISODES,
    FULL_CONV,
    FULL_STRONG,
    RANDOM,
    REINFORCE,
    SOFT_TILES,
    a_record,
    as_runs,
    memory_record,
)

PAIR, COPY = "Glimpse/DigitPair-v0", "Glimpse/Copy-v0"
MEGAPIXEL = "Glimpse/MegapixelMNIST-v0"


def rows_of(blocks: Sequence[str]) -> list[list[str]]:
    heading, table, *_ = blocks
    assert heading == "## In short"
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def of_model(name: str, **changes: Any) -> Record:
    return a_record(replace(REINFORCE, name=name), **changes)


def test_scenes_without_validation_have_the_lowest_error_of_each_kind() -> None:
    records = [
        of_model("better", env_id=PAIR, error=3.0),
        of_model("worse", env_id=PAIR, error=4.0),
        a_record(FULL_CONV, env_id=PAIR, error=9.0),
        a_record(FULL_STRONG, env_id=PAIR, error=2.0),
        a_record(SOFT_TILES, env_id="Glimpse/DigitSum-v0", error=5.0),
    ]
    pair, total = rows_of(scenes_in_short(tasks_of(as_runs(records))))
    low, high = (f"{100 * end:.2f}" for end in wilson_interval(300, EPISODES))
    assert pair[:3] == ["DigitPair-v0", "better", f"3.00 ({low} to {high}), 1"]
    assert (pair[5], pair[6][:6]) == ("Full view strong", "2.00 (")
    assert total[:6] == ["DigitSum-v0", "—", "—", "—", "—", SOFT_TILES.name]


def test_random_glimpses_stand_beside_chosen_ones_where_they_had_as_long() -> None:
    agent = of_model("agent", env_id=PAIR, error=3.0, seconds=1800.0)
    random = replace(RANDOM, name="random")
    brief = a_record(random, env_id=PAIR, error=40.0, seconds=600.0, episodes=agent.episodes // 3)
    fewer = a_record(random, env_id=PAIR, error=30.0, seconds=1800.0, budget=3)
    long = a_record(random, env_id=PAIR, error=50.0, seconds=1800.0, config={"batch_size": 7})
    better = a_record(replace(random, name="better"), env_id=PAIR, error=45.0, seconds=1800.0)
    for records, shown in (
        ([agent], "—"),
        ([agent, brief, fewer], "—"),
        ([agent, brief, long], "50.00 ("),
        ([agent, long, better], "45.00 ("),
        ([brief, long], "—"),
    ):
        ((_, _, _, _, control, *_),) = rows_of(scenes_in_short(tasks_of(as_runs(records))))
        assert control.startswith(shown)


def test_a_model_at_chance_is_marked() -> None:
    records = [of_model("guessing", env_id=MEGAPIXEL, error=90.0)]
    ((_, _, error, *_),) = rows_of(scenes_in_short(tasks_of(as_runs(records))))
    assert error.endswith("1 (near chance)")


def test_a_memory_at_chance_is_marked() -> None:
    chase = "Glimpse/PointerChase-v0"  # of 16 values
    guessing = memory_record(right=0.07, multiples=(1,), env_id=chase)
    ((_, _, _, once, twice, *_),) = rows_of(memory_in_short(tasks_of(as_runs([guessing]))))
    assert (once, twice) == ("7.0 (near chance)", "—")
    (score,) = guessing.scores
    able = replace(guessing, scores=(replace(score, success=0.2, mean_return=0.2),))
    ((_, _, _, once, *_),) = rows_of(memory_in_short(tasks_of(as_runs([able]))))
    assert once == "20.0"
    unable = replace(guessing, scores=(replace(score, success=0.0, mean_return=0.0),))
    ((_, _, _, once, *_),) = rows_of(memory_in_short(tasks_of(as_runs([unable]))))
    assert once == "0.0 (near chance)"


def test_what_the_networks_of_agents_have_built_in_is_told() -> None:
    def text(**network: Any) -> str:
        record = of_model("an agent", env_id=COPY, config={"network": network})
        return memory_in_short(tasks_of(as_runs([record])))[-1]

    assert text(answer_in_view=True).startswith("On Copy-v0 the agent works out the symbol")
    assert "On Copy-v0 it may also repeat the symbol in view" in text(direct_access="symbols")
    assert "the address in view as its next look" in text(direct_access="all")
    assert text(direct_access="all", answer_in_view=True).endswith("have no such help.")
    assert "such help" not in text(answer_in_view=False, direct_access=None)


def test_the_best_is_chosen_on_validation_and_its_test_error_is_told() -> None:
    def validated(success: float) -> tuple[Validation, ...]:
        return (Validation(6.0, 1_000, success, mean_return=success, scored=1_000),)

    records = [
        of_model("lucky", env_id=PAIR, error=1.0, curve=validated(0.97)),
        of_model("chosen", env_id=PAIR, error=2.0, curve=validated(0.98)),
    ]
    ((_, model, error, *_),) = rows_of(scenes_in_short(tasks_of(as_runs(records))))
    assert (model, error[:6]) == ("chosen", "2.00 (")


def test_many_seeds_are_preferred_to_a_better_single_run() -> None:
    records = [of_model("seeds", env_id=PAIR, error=4.0, seed=seed) for seed in range(CLAIM_SEEDS)]
    records.append(of_model("alone", env_id=PAIR, error=1.0))
    ((_, model, error, *_),) = rows_of(scenes_in_short(tasks_of(as_runs(records))))
    assert (model, error[:6], error[-3:]) == ("seeds", "4.00 (", f", {CLAIM_SEEDS}")


def test_glimpses_alone_are_preferred_to_a_view_of_the_whole() -> None:
    """And the label tells what plays another game, where nothing else does."""
    helped = of_model("helped", env_id=PAIR, error=1.0, env_kwargs={"context": True})
    alone = of_model("alone", env_id=PAIR, error=4.0)
    ((_, model, *_),) = rows_of(scenes_in_short(tasks_of(as_runs([helped, alone]))))
    assert model == "alone"
    ((_, model, *_),) = rows_of(scenes_in_short(tasks_of(as_runs([helped]))))
    assert model == "helped (context)"


@pytest.mark.parametrize("easier", [{"scales": 6}, {"glimpse_size": 16}, {"budget": 8}])
def test_the_ids_own_glimpses_are_preferred_to_wider_and_to_more(easier: dict[str, int]) -> None:
    wide = of_model("wide", env_id=PAIR, error=1.0, env_kwargs=easier)
    own = of_model("own", env_id=PAIR, error=4.0)
    ((_, model, *_),) = rows_of(scenes_in_short(tasks_of(as_runs([wide, own]))))
    assert model == "own"


def test_a_control_does_not_choose_its_glimpses() -> None:
    control = a_record(replace(REINFORCE, name="oracle", gaze="oracle"), env_id=PAIR, error=0.5)
    agent = of_model("agent", env_id=PAIR, error=4.0)
    ((_, model, *_),) = rows_of(scenes_in_short(tasks_of(as_runs([control, agent]))))
    assert model == "agent"


def test_how_a_model_was_chosen_is_told_as_it_was_chosen() -> None:
    solved = "greatest share of seeds that solved"
    assert any(solved in block for block in memory_in_short(()))
    assert not any(solved in block for block in scenes_in_short(()))
    assert any("did best on validation scenes" in block for block in scenes_in_short(()))


def test_memories_have_the_most_solved_seeds_of_each_kind() -> None:
    solved = (Validation(6.0, 1_000, 1.0, mean_return=1.0, scored=1_000),)
    records = [
        *(of_model("solves", env_id=COPY, seed=seed, curve=solved) for seed in range(2)),
        of_model("solves half", env_id=COPY, curve=solved),
        of_model("solves half", env_id=COPY, seed=1),
        a_record(SOFT_TILES, env_id=COPY),
    ]
    ((task, *cells),) = rows_of(memory_in_short(tasks_of(as_runs(records))))
    assert task == "Copy-v0"
    assert cells[:4] == ["solves", "2 of 2", "—", "—"]
    assert float(cells[4]) == pytest.approx(records[0].seconds * records[0].cores / 60, abs=0.05)
    assert cells[5:9] == [SOFT_TILES.name, "0 of 1", "—", "—"]


def test_the_time_that_was_used_stands_beside_that_given() -> None:
    record = a_record(env_id=COPY, config={"minutes": 25.0})
    ((_, *cells),) = rows_of(memory_in_short(tasks_of(as_runs([record]))))
    assert cells[4] == "10 of 25"


def test_what_had_the_agents_time_is_preferred_to_more_seeds() -> None:
    agent = of_model("agent", env_id=PAIR, error=1.0, config={"minutes": 10})
    short = [
        a_record(FULL_STRONG, env_id=PAIR, error=3.0, seed=seed, config={"minutes": 1})
        for seed in range(CLAIM_SEEDS)
    ]
    long = a_record(FULL_CONV, env_id=PAIR, error=9.0, config={"minutes": 10})
    ((*_, model, _, _),) = rows_of(scenes_in_short(tasks_of(as_runs([agent, *short, long]))))
    assert model == FULL_CONV.name
    ((*_, model, _, _),) = rows_of(scenes_in_short(tasks_of(as_runs([agent, *short]))))
    assert model.startswith(FULL_STRONG.name)


def test_a_full_view_that_forgets_earlier_frames_is_named_so() -> None:
    record = a_record(FULL_STRONG, env_id="Glimpse/MovingDigit-v0", error=3.0)
    ((*_, model, _, _),) = rows_of(scenes_in_short(tasks_of(as_runs([record]))))
    assert model == f"{FULL_STRONG.name}, without a memory of earlier frames"
