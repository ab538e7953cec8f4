"""Policies, actions and arguments that do not fit an evaluation are named."""

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector.utils import batch_space

from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.protocol import evaluate
from tests.support.hidden_number import ENV_ID, HiddenNumber, LeftThenRight, registered


@pytest.fixture(autouse=True)
def _environment() -> Iterator[None]:
    with registered():
        yield


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
    with pytest.raises(TypeError, match=r"str is neither.* a run is .*load_policy\(FOLDER\)"):
        evaluate("runs/mine", ENV_ID)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(TypeError, match=r"the class LeftThenRight: .*such as LeftThenRight\("):
        evaluate(LeftThenRight, ENV_ID)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(ValueError, match="bad action"):
        evaluate(lambda observation: {"answer": np.full(10, 9)}, ENV_ID, batch_size=10)
    with pytest.raises(
        TypeError, match=r"must be the id of a registered environment.*HiddenNumber"
    ):
        evaluate(policy, HiddenNumber(2, autoreset_mode="SameStep"))  # type: ignore[arg-type]


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


def test_a_tensor_of_a_type_that_numpy_lacks_is_to_be_converted() -> None:
    torch = pytest.importorskip("torch")

    def act(observation: dict[str, Any]) -> Any:
        look, answer = look_and_answer(observation)
        return {"look": torch.zeros(look.shape, dtype=torch.bfloat16), "answer": answer}

    with pytest.raises(ValueError, match=r"action\['look'\] is a tensor of bfloat16.*float\(\)"):
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


CENTRED = "Glimpse/CenteredGlyphs-v0"
TRAINED: dict[str, Any] = {"look": "tiles", "history": True}


class Model:
    """Names its spaces, as models of Stable-Baselines3 do, and chooses the first of all choices."""

    def __init__(self, **arguments: Any) -> None:
        env = gym.make(CENTRED, **TRAINED, **arguments)
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> Any:
        rows = len(episode_start)
        return batch_space(self.action_space, rows).sample() * 0, None


PLAIN: list[dict[str, Any]] = [
    {"flat": True},
    {"flat": True, "flat_observation": True},
    {"flat": "discrete", "flat_observation": True},
]


@pytest.mark.parametrize("plain", PLAIN, ids=str)
def test_a_model_is_scored_with_the_arguments_of_its_training_alone(plain: dict[str, Any]) -> None:
    model = Model(**plain)
    assert evaluate(model, CENTRED, **TRAINED, episodes=3).episodes == 3
    for changes in ({"history": False}, {"look": "continuous"}, {"stop": True}, {"budget": 2}):
        with pytest.raises(ValueError, match="Give the arguments that the model was tr"):
            evaluate(model, CENTRED, **(TRAINED | changes), episodes=3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"history": False},
            r"observation\['glimpse'\] had shape \(6, 1, 8, 8\), and has \(1, 8, 8\) here",
        ),
        ({"context": True}, "had the parts glimpse, location, remaining, and has glimpse, loc.*te"),
        ({"stop": True}, r"action was MultiDiscrete\(\[16 10\]\), and is .*\[16 10  2\]\) here"),
        ({"look": "continuous"}, r"action was MultiDiscrete\(\[16 10\]\), and is Box"),
    ],
)
def test_the_part_that_a_model_was_not_trained_on_is_named(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(Model(flat=True), CENTRED, **(TRAINED | changes), episodes=3)
