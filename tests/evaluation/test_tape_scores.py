"""A tape is right when all of it is, and scored so whatever the batch."""

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.protocol import evaluate

COPY = "Glimpse/Copy-v0"
TAPES: dict[str, Any] = {"symbols": 3, "length": 4}


class Copier:
    """Puts out what it reads and goes right; the last `lapses` symbols, which it foresees in
    `lengths`, it leaves out ("stop") or gets wrong ("err")."""

    privileged = True

    def __init__(self, lapses: int = 0, how: str = "stop") -> None:
        self.lapses, self.how = lapses, how

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
        info: Any = None,
    ) -> tuple[Any, Any]:
        assert episode_start is not None
        asked = np.where(episode_start, 0, 0 if state is None else state)
        symbol = observation["glimpse"].argmax(axis=1)
        lapses = (asked >= info["length"] - self.lapses) & (symbol > 0)
        wrong = 0 if self.how == "stop" else symbol % 3 + 1
        answer = np.where(lapses, wrong, symbol)
        return {"look": np.full(len(asked), 2), "answer": answer}, asked + 1


def lengths_of_scenes(scenes: int) -> NDArray[np.int64]:
    env = gymnasium.make_vec(COPY, num_envs=scenes, split="test", **TAPES)
    _, info = env.reset(seed=0, options={"scene": np.arange(scenes)})
    return np.array(info["length"])


def test_a_tape_is_right_when_all_of_it_is() -> None:
    lengths = lengths_of_scenes(40)
    assert set(lengths.tolist()) == {1, 2, 3, 4}
    evaluation = evaluate(Copier(), COPY, episodes=40, batch_size=40, **TAPES)
    assert np.all(evaluation.successes)
    assert evaluation.mean_return == pytest.approx(1.0)
    assert evaluation.glimpses.tolist() == lengths.tolist()
    by_step = [float((lengths <= step).mean()) for step in (1, 2, 3, 4)]
    assert evaluation.success_by_glimpse == pytest.approx(by_step)
    assert evaluation.scanpaths is None


@pytest.mark.parametrize("how", ["stop", "err"])
@pytest.mark.parametrize("lapses", [1, 2, 3])
def test_a_tape_that_is_left_half_way_is_wrong(how: str, lapses: int) -> None:
    """Every symbol that was put out before was right, and paid."""
    lengths = lengths_of_scenes(40)
    evaluation = evaluate(Copier(lapses, how), COPY, episodes=40, **TAPES)
    assert not np.any(evaluation.successes)
    assert evaluation.success == 0.0
    paid = np.maximum(lengths - lapses, 0) / lengths
    assert evaluation.mean_return == pytest.approx(paid.mean())
    budgets = 2 * lengths
    steps = budgets if how == "stop" else np.maximum(lengths - lapses, 0) + 1
    assert evaluation.glimpses.tolist() == steps.tolist()


def test_the_normalised_score_is_0_at_the_tasks_chance_and_1_at_its_ceiling() -> None:
    chance = describe(gymnasium.make(COPY, **TAPES)).chance
    assert 0.05 < chance < 0.4
    assert evaluate(Copier(), COPY, episodes=40, **TAPES).normalised_score == pytest.approx(1.0)
    evaluation = evaluate(Copier(lapses=1), COPY, episodes=40, **TAPES)
    expected = (evaluation.mean_return - chance) / (1.0 - chance)
    assert evaluation.normalised_score == pytest.approx(expected)


@pytest.mark.parametrize("lapses", [0, 1])
def test_the_batch_size_changes_nothing_of_tapes(lapses: int) -> None:
    whole = evaluate(Copier(lapses), COPY, episodes=30, **TAPES)
    for batch_size in (1, 7):
        other = evaluate(Copier(lapses), COPY, episodes=30, batch_size=batch_size, **TAPES)
        assert replace(other, success_by_glimpse=()) == replace(whole, success_by_glimpse=())
        assert other.success_by_glimpse == pytest.approx(whole.success_by_glimpse)
        np.testing.assert_array_equal(other.glimpses, whole.glimpses)


@pytest.mark.parametrize(("left_out", "right"), [(0, True), (1, False)])
def test_the_whole_answer_of_a_full_view_is_judged_as_one(left_out: int, right: bool) -> None:
    lengths = lengths_of_scenes(40)

    def read(observation: Any) -> Any:
        symbols = observation["scene"].argmax(axis=2)
        outputs = (symbols > 0).sum(axis=1, keepdims=True)
        return {"answer": np.where(np.arange(symbols.shape[1]) < outputs - left_out, symbols, 0)}

    evaluation = evaluate(read, COPY, episodes=40, view="full", **TAPES)
    assert np.all(evaluation.successes == right)
    assert evaluation.mean_return == pytest.approx(((lengths - left_out) / lengths).mean())
    assert evaluation.success_by_glimpse == (float(right),)
