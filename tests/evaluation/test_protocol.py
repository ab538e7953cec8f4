"""Evaluation plays each scene exactly once, and scores what the policy answered.

The environment here is a stand-in small enough to know every figure by hand, which keeps to the
contract of the real ones; of tapes, the real one.
"""

import math
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from glimpse_envs.evaluation import counting
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.result import Evaluation, compare_table
from glimpse_envs.evaluation.statistics import student_interval, wilson_interval

ENV_ID = "GlimpseTest/HiddenNumber-v0"
SCENES = 10
NUMBERS = 5


class HiddenNumber(VectorEnv[Any, Any, Any]):
    """Scene k hides the number k mod 5 in its left half (even k) or right half (odd k).

    A glimpse in that half shows number + 1, any other shows 0; the first is in the left half.
    """

    played: list[int]  # every scene that the present test was dealt on reset, in order

    def __init__(
        self,
        num_envs: int,
        split: str = "test",
        autoreset_mode: str = "NextStep",
        budget: int = 3,
        stop: bool = False,
        glimpse_cost: float = 0.0,
        view: str = "glimpses",
    ) -> None:
        assert autoreset_mode == "SameStep"
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.num_envs = num_envs
        self.num_scenes = SCENES if split != "train" else None
        self.budget = budget if view == "glimpses" else 1
        self.stop = stop
        self.glimpse_cost = glimpse_cost
        self.view = view
        look = {"look": spaces.Box(-1, 1, (2,))} if view == "glimpses" else {}
        stops = {"stop": spaces.Discrete(2)} if stop else {}
        answer = {"answer": spaces.Discrete(NUMBERS)}
        self.single_observation_space = spaces.Dict(
            glimpse=spaces.Box(0, NUMBERS, (1,)), location=spaces.Box(-1, 1, (2,))
        )
        if view == "full":
            self.single_observation_space = spaces.Dict(scene=spaces.Box(0, NUMBERS, (1,)))
        self.single_action_space = spaces.Dict({**look, **answer, **stops})
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        if options is not None:
            self.scene = np.array(options["scene"])
        else:
            assert isinstance(seed, list)
            self.scene = np.array([s % 1000 for s in seed])
        assert self.scene.shape == (self.num_envs,)
        HiddenNumber.played += self.scene.tolist()
        self.elapsed = np.zeros(self.num_envs, np.int64)
        self.location = np.full((self.num_envs, 2), -0.5, np.float32)
        return self._observe(), {"target_box": self._boxes()}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        if not self.action_space.contains(actions):
            raise ValueError("bad action")
        target = self.scene % NUMBERS
        self.elapsed += 1
        ended = self.elapsed == self.budget
        if self.stop:
            ended |= actions["stop"] == 1
        right = actions["answer"] == target
        reward = np.where(ended & right, 1.0, 0.0)
        reward -= np.where(ended, 0.0, self.glimpse_cost)
        if self.view == "glimpses":
            self.location[:] = actions["look"]
        self.scene = np.where(ended, (self.scene + 1) % SCENES, self.scene)
        self.elapsed[ended] = 0
        self.location[ended] = -0.5
        # What belongs to rows that go on is poisoned in the rows that ended, and the reverse.
        info: dict[str, Any] = {
            "target_box": self._boxes(),
            "target": np.where(ended, -1, target),
            "success": right ^ ended,
        }
        if ended.any():
            final = {"target": np.where(ended, target, -1), "success": right ^ ~ended}
            info["final_info"] = final | {"_target": ended, "_success": ended}
        return self._observe(), reward, ended, np.zeros_like(ended), info

    def _boxes(self) -> NDArray[np.float32]:
        left = np.where(self.scene % 2 == 0, -1, 0)
        low, high = np.full(self.num_envs, -1), np.full(self.num_envs, 1)
        return np.stack([left, low, left + 1, high], axis=1).astype(np.float32)

    def _observe(self) -> dict[str, NDArray[np.float32]]:
        if self.view == "full":
            return {"scene": (self.scene % NUMBERS)[:, None].astype(np.float32)}
        seen = (self.location[:, 0] < 0) == (self.scene % 2 == 0)
        glimpse = np.where(seen, self.scene % NUMBERS + 1, 0)[:, None].astype(np.float32)
        return {"glimpse": glimpse, "location": self.location}  # its own array, reused


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    gymnasium.register(ENV_ID, vector_entry_point=lambda **kwargs: HiddenNumber(**kwargs))
    monkeypatch.setattr(HiddenNumber, "played", [], raising=False)
    yield
    gymnasium.registry.pop(ENV_ID)


class LeftThenRight:
    """Looks right, then below; remembers what it saw, and until it saw the number answers 0."""

    def __init__(self, stop: bool = False) -> None:
        self.stop = stop
        self.starts: list[NDArray[np.bool_]] = []
        self.deterministic: set[bool] = set()

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        assert episode_start is not None
        self.starts.append(episode_start)
        self.deterministic.add(deterministic)
        seen = observation["glimpse"][:, 0].astype(np.int64)
        memory = seen if state is None else np.where(episode_start | (seen > 0), seen, state)
        height = np.where(observation["location"][:, 0] < 0, 0.0, 0.5)
        look = np.stack([np.full(len(seen), 0.5), height], axis=1).astype(np.float32)
        action = {"look": look, "answer": np.maximum(memory - 1, 0)}
        if self.stop:
            action["stop"] = (memory > 0).astype(np.int64)
        return action, memory


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


def test_a_policy_is_shown_the_view_that_it_declares_unless_another_is_asked_for() -> None:
    class Reader(Policy):
        view = "full"

        def predict(self, observation: Any, state: Any = None, *_: Any, **__: Any) -> Any:
            assert list(observation) == ["scene"]
            return {"answer": observation["scene"][:, 0].astype(np.int64)}, None

    evaluation = evaluate(Reader(), ENV_ID)
    assert evaluation.success == 1.0
    assert evaluation.env_kwargs == {"view": "full"}
    with pytest.raises(AssertionError):
        evaluate(Reader(), ENV_ID, view="glimpses")
    Reader.view = "ful"  # type: ignore[assignment]  # what is tested
    with pytest.raises(ValueError, match=r"Reader\.view='ful' must be one of 'glimpse', 'full'"):
        evaluate(Reader(), ENV_ID)


def test_what_does_not_fit_is_refused_by_name() -> None:
    policy = LeftThenRight()
    for message, arguments in {
        "episodes=0 must be an integer of at least 1": {"episodes": 0},
        r"episodes=2\.5 must be an integer": {"episodes": 2.5},
        "episodes is 11; the test split has 10": {"episodes": 11},
        "batch_size=0 must be an integer": {"batch_size": 0},
        r"seed=-1 must be an integer from 0 to 2\*\*64 - 1": {"seed": -1, "split": "train"},
        r"seed=0\.5 must be an integer": {"seed": 0.5},
        "copies": {"copies": 2},
        "autoreset_mode": {"autoreset_mode": "Disabled"},
    }.items():
        with pytest.raises(ValueError, match=message):
            evaluate(policy, ENV_ID, **arguments)  # type: ignore[arg-type]  # of many types
    with pytest.raises(TypeError, match="int is neither"):
        evaluate(3, ENV_ID)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(TypeError, match=r"the class LeftThenRight: .*such as LeftThenRight\("):
        evaluate(LeftThenRight, ENV_ID)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(ValueError, match="bad action"):
        evaluate(lambda observation: {"answer": np.full(10, 9)}, ENV_ID, batch_size=10)
    with pytest.raises(
        TypeError, match=r"must be the id of a registered environment.*HiddenNumber"
    ):
        evaluate(policy, HiddenNumber(2, autoreset_mode="SameStep"))  # type: ignore[arg-type]


def test_where_chance_is_the_ceiling_there_is_no_normalised_score() -> None:
    def still(observation: dict[str, Any]) -> dict[str, Any]:
        zeros = np.zeros(len(observation["remaining"]), np.int64)
        return {"look": zeros, "answer": zeros}

    score = evaluate(still, "Glimpse/Copy-v0", episodes=5, symbols=1)
    assert score.scale == (1.0, 1.0)
    assert math.isnan(score.normalised_score)
    assert "normalised" not in score.summary()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"look": 0, "answer": 0}, r"must return a tuple \(action, state\).* returned \{'look'"),
        (None, r"must return a tuple \(action, state\).* returned None"),
        ((None, None), "action must be a dict of the parts answer, look.* it is None"),
        (([{"answer": 0}] * 10, None), "must be a dict of the parts answer, look.* it is \\[{'ans"),
    ],
)
def test_what_is_no_action_is_named(
    returned: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LeftThenRight, "predict", lambda *_, **__: returned)
    with pytest.raises(TypeError, match=message):
        evaluate(LeftThenRight(), ENV_ID)


def test_a_slip_of_an_argument_of_evaluation_is_told_so() -> None:
    slip: Any
    for name, meant in (("episode", "episodes"), ("batchsize", "batch_size")):
        slip = {name: 3}
        message = f"argument '{name}': did you mean '{meant}'[?] evaluate itself takes split, epi"
        with pytest.raises(ValueError, match=message):
            evaluate(look_and_answer, "Glimpse/CenteredGlyphs-v0", **slip)
    with pytest.raises(ValueError, match=r"argument 'buget': did you mean 'budget'"):
        evaluate(look_and_answer, "Glimpse/CenteredGlyphs-v0", episodes=2, buget=3)


def look_and_answer(observation: dict[str, Any]) -> Any:
    rows = len(observation["remaining"])
    return np.zeros((rows, 2), np.float32), np.zeros(rows, np.int64)


def test_a_function_that_returns_a_tuple_is_told_of_the_dict() -> None:
    message = (
        r"is a tuple of 2; it must be a dict of the parts look, answer, name -> \(n, \.\.\.\):"
    )
    with pytest.raises(TypeError, match=message):
        evaluate(look_and_answer, "Glimpse/CenteredGlyphs-v0", episodes=4)


def test_a_tensor_with_a_gradient_is_to_be_detached() -> None:
    torch = pytest.importorskip("torch")

    def act(observation: dict[str, Any]) -> Any:
        look, answer = look_and_answer(observation)
        return {"look": torch.zeros(look.shape, requires_grad=True), "answer": answer}

    message = r"action\['look'\] is a tensor that requires a gradient: detach it.*no_grad"
    with pytest.raises(ValueError, match=message):
        evaluate(act, "Glimpse/CenteredGlyphs-v0", episodes=4)


class Stateless:
    def predict(self, observation: Any, deterministic: bool = False) -> Any:
        raise AssertionError("it is refused before it plays")


class Uninformed:
    privileged = True

    def predict(
        self, observation: Any, state: Any, episode_start: Any, deterministic: bool = False
    ) -> Any:
        raise AssertionError("it is refused before it plays")


class UninformedPolicy(Policy):
    privileged = True

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> Any:
        raise AssertionError("it is refused before it plays")


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Stateless(), r"Stateless.predict must take \(observation, state, episode_start, determin"),
        (
            Uninformed(),
            r"Uninformed.predict must take \(.* deterministic, info\), .* argument 'info'",
        ),
        (UninformedPolicy(), r"UninformedPolicy.predict must take \(.* deterministic, info\)"),
        (
            lambda: {},
            r"a policy's function must take \(observation\), by these names; it takes \(\)",
        ),
    ],
)
def test_what_takes_too_little_is_told_what_predict_is_given(policy: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        evaluate(policy, "Glimpse/CenteredGlyphs-v0", episodes=4)


# --- what is printed -----------------------------------------------------------------------------


def test_the_summary_warns_of_a_fixed_path() -> None:
    evaluation = evaluate(LeftThenRight(), ENV_ID, budget=3)
    summary = evaluation.summary()
    assert f"{ENV_ID}, budget=3: 10 test episodes, seed 0" in summary
    assert "by glimpse        60.00 100.00 100.00" in summary
    assert "warning: The gaze follows one fixed path" in summary


def test_the_table_is_aligned() -> None:
    good = evaluate(LeftThenRight(), ENV_ID)
    bad = evaluate(LeftThenRight(), ENV_ID, budget=1)
    lines = compare_table({"hard attention": good, "one glimpse": bad}).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split()[:3] == ["hard", "attention", "100.00"]
    assert lines[2].split()[:3] == ["one", "glimpse", "60.00"]
