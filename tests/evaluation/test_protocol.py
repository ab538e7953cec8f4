"""Evaluation plays each scene exactly once, and scores what the policy answered.

The environment here is a stand-in small enough to know every figure by hand, which keeps to the
contract of the real ones; of tapes, the real one.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from glimpse_envs.evaluation import counting, protocol
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.result import Evaluation, compare_table
from glimpse_envs.evaluation.statistics import student_interval, wilson_interval
from tests.support.episodes import CENTRED
from tests.support.hidden_number import ENV_ID, SCENES, HiddenNumber, LeftThenRight, registered


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    with registered():
        yield


def test_every_figure_is_as_counted_by_hand() -> None:
    policy = LeftThenRight()
    evaluation = evaluate(policy, ENV_ID, batch_size=4, seed=5)
    assert sorted(set(HiddenNumber.played)) == list(range(SCENES))
    # Even scenes are seen at once; of the odd ones, 5 hides a 0, which is the blind answer.
    assert evaluation.success_by_glimpse == (0.6, 1.0, 1.0)
    assert evaluation.success == 1.0
    assert evaluation.success_interval == wilson_interval(10, 10)
    assert evaluation.mean_return == 1.0
    assert evaluation.mean_glimpses == 3.0
    assert evaluation.successes is not None
    assert evaluation.successes.tolist() == [True] * SCENES
    assert (evaluation.episodes, evaluation.seed, evaluation.split) == (10, 5, "test")
    assert math.isnan(evaluation.normalised_score)
    assert evaluation.scanpaths is not None
    assert evaluation.scanpaths.share_on_target == 0.5
    assert evaluation.scanpaths.movement == pytest.approx(0.5)
    assert policy.deterministic == {True}


def test_correct_is_in_scene_order_and_each_scene_counts_once() -> None:
    def always_three(observation: Any) -> Any:
        rows = len(observation["glimpse"])
        return {"look": np.zeros((rows, 2), np.float32), "answer": np.full(rows, 3)}

    evaluation = evaluate(always_three, ENV_ID, batch_size=4)
    assert evaluation.successes is not None
    assert np.flatnonzero(evaluation.successes).tolist() == [3, 8]
    assert evaluation.success == evaluation.mean_return == 0.2
    assert evaluation.return_interval == pytest.approx(
        student_interval([float(k in (3, 8)) for k in range(SCENES)])
    )
    assert HiddenNumber.played == [*range(10), 9, 9]  # the last batch is filled up


@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("split", ["test", "train"])
def test_the_batch_size_changes_nothing(stop: bool, split: str) -> None:
    def play(batch_size: int) -> Evaluation:
        policy = LeftThenRight(stop)
        return evaluate(policy, ENV_ID, split=split, episodes=9, batch_size=batch_size, stop=stop)

    whole = play(1000)
    for batch_size in (1, 2, 4, 9):
        other = play(batch_size)
        assert other == whole
        np.testing.assert_array_equal(other.successes, whole.successes)


def test_of_large_scenes_fewer_are_played_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = []

    def blind(observation: Any) -> Any:
        rows.append(len(observation["remaining"]))
        return {"look": np.zeros((rows[-1], 2)), "answer": np.zeros(rows[-1], np.int64)}

    monkeypatch.setattr(counting, "SCENE_BYTES", 3 * 60 * 60 * 4 + 1)
    evaluate(blind, "Glimpse/ClutteredGlyphs-v0", episodes=7, budget=1)
    assert rows == [3, 3, 3]  # the last batch is filled up


def test_a_batch_has_no_more_rows_than_the_split_has_scenes() -> None:
    evaluate(LeftThenRight(), ENV_ID)
    assert len(HiddenNumber.played) == SCENES


def test_of_a_smaller_split_all_is_played_where_a_number_is_the_most() -> None:
    assert evaluate(LeftThenRight(), ENV_ID, episodes=11, at_most=True).episodes == SCENES
    assert evaluate(LeftThenRight(), ENV_ID, episodes=4, at_most=True).episodes == 4


def test_a_row_that_stops_keeps_its_answer_and_costs_no_more_glimpses() -> None:
    policy = LeftThenRight(stop=True)
    evaluation = evaluate(policy, ENV_ID, batch_size=5, stop=True, budget=4, glimpse_cost=0.5)
    assert evaluation.success_by_glimpse == (0.6, 1.0)
    assert evaluation.mean_glimpses == 1.5  # even scenes stop after the first, odd after the second
    assert evaluation.mean_return == 0.75
    assert evaluation.scanpaths is not None
    assert evaluation.scanpaths.share_on_target == 1.0
    assert policy.starts[0].all()
    assert policy.starts[1].tolist() == [True, False, True, False, True]


def test_the_train_split_plays_as_many_fresh_scenes_as_asked() -> None:
    evaluation = evaluate(
        LeftThenRight(), ENV_ID, split="train", episodes=50, batch_size=20, seed=1
    )
    first = HiddenNumber.played[:50]
    assert evaluation.successes is not None
    assert evaluation.episodes == len(evaluation.successes) == 50
    assert len(set(first)) > 40  # of 1000
    HiddenNumber.played.clear()
    evaluate(LeftThenRight(), ENV_ID, split="train", episodes=50, seed=2)
    assert len(set(first) & set(HiddenNumber.played)) < 10
    with pytest.raises(ValueError, match="say how many"):
        evaluate(LeftThenRight(), ENV_ID, split="train")


def test_a_privileged_policy_is_told_where_the_target_is() -> None:
    class Oracle(LeftThenRight):
        privileged = True

        def predict(self, *arguments: Any, **known: Any) -> tuple[Any, Any]:
            box = known.pop("info")["target_box"]
            action, memory = super().predict(*arguments, **known)
            return {**action, "look": (box[:, :2] + box[:, 2:]) / 2}, memory

    evaluation = evaluate(Oracle(), ENV_ID, batch_size=3)
    assert evaluation.scanpaths is not None
    assert evaluation.scanpaths.share_on_target == 1.0
    assert evaluation.success == 1.0


def test_a_view_without_glimpses_has_no_scanpaths() -> None:
    def read(observation: Any) -> Any:
        return {"answer": observation["scene"][:, 0].astype(np.int64)}

    evaluation = evaluate(read, ENV_ID, view="full")
    assert evaluation.scanpaths is None
    assert evaluation.success_by_glimpse == (1.0,)
    assert "looks" not in evaluation.summary()
    assert compare_table({"full view": evaluation}).splitlines()[1].startswith("full view")


@pytest.mark.parametrize("base", [Policy, object])
def test_a_policy_is_shown_the_view_that_it_declares_unless_another_is_asked_for(
    base: type,
) -> None:
    class Reader(base):  # type: ignore[misc]  # of either
        view = "full"

        def predict(self, observation: Any, state: Any = None, *_: Any, **__: Any) -> Any:
            assert list(observation) == ["scene"]
            return {"answer": observation["scene"][:, 0].astype(np.int64)}, None

    evaluation = evaluate(Reader(), ENV_ID)
    assert evaluation.success == 1.0
    assert evaluation.env_kwargs == {"view": "full"}
    with pytest.raises(AssertionError):
        evaluate(Reader(), ENV_ID, view="glimpses")
    Reader.view = "ful"
    with pytest.raises(ValueError, match=r"Reader\.view='ful' must be one of 'glimpse', 'full'"):
        evaluate(Reader(), ENV_ID)


class Rereader(Policy):
    """Reads the whole scene in several glimpses of its own, and answers 0 after each."""

    view = "full"

    def __init__(self, *shape: int) -> None:
        self._shape = shape

    def predict(self, observation: Any, state: Any = None, *_: Any, **__: Any) -> Any:
        return {"answer": np.zeros(len(observation["scene"]), np.int64)}, None

    def answers(self, observation: Any) -> Any:
        return np.zeros((len(observation["scene"]), *self._shape), np.int64)


def test_answers_inside_a_model_are_of_episodes_of_one_step() -> None:
    assert evaluate(Rereader(3), CENTRED, episodes=8).mean_glimpses == 3
    with pytest.raises(ValueError, match=r"`answers` must be \(n, T\), not of the shape \(8,\)"):
        evaluate(Rereader(), CENTRED, episodes=8)
    with pytest.raises(ValueError, match="here episodes take several steps"):
        evaluate(Rereader(3), "Glimpse/MovingDigitGlyphs-v0", episodes=8)


@pytest.mark.parametrize("declared", ["observation_space", "action_space"])
def test_one_space_that_a_policy_declares_must_fit(declared: str) -> None:
    class Other(Policy):
        def predict(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("is not asked")

    policy = Other()
    setattr(policy, declared, gym.spaces.Dict(other=gym.spaces.Discrete(2)))
    with pytest.raises(ValueError, match="the policy was trained on other spaces"):
        evaluate(policy, CENTRED, episodes=8)


def test_where_chance_is_the_ceiling_there_is_no_normalised_score() -> None:
    def still(observation: dict[str, Any]) -> dict[str, Any]:
        zeros = np.zeros(len(observation["remaining"]), np.int64)
        return {"look": zeros, "answer": zeros}

    score = evaluate(still, "Glimpse/Copy-v0", episodes=5, symbols=1)
    assert score.scale == (1.0, 1.0)
    assert math.isnan(score.normalised_score)
    assert "normalised" not in score.summary()


# --- what is printed -----------------------------------------------------------------------------


def test_the_summary_warns_of_a_fixed_path() -> None:
    evaluation = evaluate(LeftThenRight(), ENV_ID, budget=3)
    summary = evaluation.summary()
    assert f"{ENV_ID}, budget=3: 10 test episodes, seed 0" in summary
    assert "by glimpse        60.00 100.00 100.00" in summary
    assert "warning: The gaze follows one fixed path" in summary


def test_the_interval_of_a_return_is_printed_where_it_is_not_that_of_the_success() -> None:
    same = evaluate(LeftThenRight(), ENV_ID, budget=1)
    assert "chosen looks" not in same.summary(), "the first glimpse is not chosen"
    assert same.return_interval is not None
    assert same.return_interval[1] > 0.9, "it is kept"
    assert "\n  return            0.600\n" in same.summary()
    costly = evaluate(LeftThenRight(stop=True), ENV_ID, stop=True, budget=4, glimpse_cost=0.5)
    assert "\n  return            0.750, 95 % interval 0.561 to 0.939\n" in costly.summary()
    small = replace(costly, mean_return=0.0004, return_interval=(-0.0004, 0.0012))
    assert "\n  return            0.000, 95 % interval 0.000 to 0.001\n" in small.summary()


def test_the_table_is_aligned() -> None:
    good = evaluate(LeftThenRight(), ENV_ID)
    bad = evaluate(LeftThenRight(), ENV_ID, budget=1)
    lines = compare_table({"hard attention": good, "one glimpse": bad}).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split()[:3] == ["hard", "attention", "100.00"]
    assert lines[2].split()[:3] == ["one", "glimpse", "60.00"]


def test_what_does_not_exist_is_left_out_of_the_table() -> None:
    """Targets without a place, as in worlds, leave no share on target."""
    good = evaluate(LeftThenRight(), ENV_ID)
    assert good.scanpaths is not None
    placeless = replace(good, scanpaths=replace(good.scanpaths, share_on_target=np.nan))
    assert "nan" not in compare_table({"placeless": placeless})
    assert "on target" not in placeless.summary()


def wrapped(**env_kwargs: Any) -> gym.Env:
    return gym.wrappers.TransformReward(gym.make(CENTRED, **env_kwargs), float)


@pytest.mark.parametrize(
    ("entry_point", "kwargs"),
    [(wrapped, {}), ("glimpse_envs.single:GlimpseEnv", gym.spec(CENTRED).kwargs)],
)
def test_a_wrapped_environment_that_plays_another_split_is_refused(
    entry_point: Any, kwargs: dict[str, Any]
) -> None:
    gym.register("GlimpseTest/Wrapped-v0", entry_point=entry_point, kwargs=kwargs)
    rows: list[int] = []

    def answer(observation: Any) -> Any:
        rows.append(len(observation["remaining"]))
        return {"look": np.zeros((rows[-1], 2), np.float32), "answer": np.zeros(rows[-1], int)}

    try:
        for split in ("test", "validation"):
            with pytest.raises(ValueError, match=f"{split}' is asked for, and its .* 'train'"):
                evaluate(answer, "GlimpseTest/Wrapped-v0", split=split, episodes=8)
        assert not rows
        assert evaluate(answer, "GlimpseTest/Wrapped-v0", split="train", episodes=8).episodes == 8
    finally:
        del gym.registry["GlimpseTest/Wrapped-v0"]


def test_names_of_other_libraries_arguments_are_explained() -> None:
    with pytest.raises(ValueError, match=r"by name: evaluate\(policy, '.*', budget=3\)"):
        evaluate(LeftThenRight(), CENTRED, env_kwargs={"budget": 3})
    with pytest.raises(ValueError, match="the number of episodes is `episodes`"):
        evaluate(LeftThenRight(), CENTRED, n_eval_episodes=3)


def test_without_scipy_nothing_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'glimpse-envs\[evaluation\]'"):
        evaluate(LeftThenRight(), CENTRED)


def test_samples_are_the_same_each_time() -> None:
    class Guess:
        def predict(
            self, observation: dict[str, Any], *_: object, **__: object
        ) -> tuple[dict[str, Any], None]:
            rows = len(observation["remaining"])
            answer = torch.randint(10, (rows,)).numpy()
            return {"look": np.zeros((rows, 2), np.float32), "answer": answer}, None

    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    first, again, other = (
        evaluate(Guess(), CENTRED, episodes=200, deterministic=seed > 0, seed=seed)
        for seed in (1, 1, 0)
    )
    assert first.success == again.success != other.success
    assert torch.rand(1) == expected, "torch's own generator is left as it was"
