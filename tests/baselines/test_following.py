"""Soft readers follow a scene that moves, one soft glimpse of each frame, and remember it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

import baselines.model
from agents.scoring.costs import measure_costs
from agents.scoring.multiply_adds import multiply_adds
from agents.scoring.run_scores import evaluate_run
from baselines.pictures.reader import RecurrentReader
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.runs import load_policy
from tests.support.baselines import (
    PICTURE_KINDS,
    Changes,
    class_of,
    learner_of,
    model_of,
    small_config,
    tiny_config,
    trained,
)
from tests.support.episodes import make_vector

BUDGET, SIDE, CHOICES = 3, 36, 10
MOVING: Changes = {
    "env_id": "Glimpse/MovingDigitGlyphs-v0",
    "env_kwargs": {"budget": BUDGET, "scene_size": SIDE, "clutter": 0},
}
READERS = [kind for kind in PICTURE_KINDS if issubclass(class_of(kind), RecurrentReader)]
OTHERS = ["strong", "affine"]


def frames(rows: int) -> NDArray[np.float32]:
    """Of so many episodes of the test split, (T, rows, 1, H, W)."""
    envs = make_vector(MOVING["env_id"], rows, split="test", view="full", **MOVING["env_kwargs"])
    observation, _ = envs.reset(seed=0)
    shown = []
    for _ in range(BUDGET):
        shown.append(observation["scene"].copy())
        observation, *_ = envs.step({"answer": np.zeros(rows, np.int64)})
    return np.stack(shown)


def test_a_training_is_dealt_every_frame_and_its_answer() -> None:
    learner = learner_of("draw", tiny_config("draw", **MOVING))
    (observation, targets, _), (others, *_) = learner.deal(), learner.deal()
    learner.close()
    scene = observation["scene"]
    assert scene.shape == (8, BUDGET, 1, SIDE, SIDE)
    assert targets.shape == (BUDGET, 8)
    assert (targets == targets[0]).all(), "one digit an episode"
    assert not torch.equal(scene[:, 0], scene[:, 1]), "it moves"
    mass = scene.sum(dim=(2, 3, 4))
    torch.testing.assert_close(mass, mass[:, :1].expand_as(mass), msg="one digit in all frames")
    assert not torch.equal(scene, others["scene"])


@pytest.mark.parametrize("kind", READERS)
@torch.no_grad()
def test_frame_by_frame_it_answers_as_with_all_frames_at_once(kind: str) -> None:
    """Also where rows begin at different frames, as rows that reset themselves do."""
    model, shown = model_of(kind, **MOVING), frames(4)
    scene = model.as_tensors({"scene": shown.swapaxes(0, 1)})["scene"]
    whole = model(model.as_tensors({"scene": shown.swapaxes(0, 1)})).logits  # (T, 4, n)
    weights = [model.weights(seen, core) for seen, core, _ in model._glimpses(scene)]
    state, late = None, np.array([0, 0, 1, 1])
    for step in range(BUDGET + 1):
        number = step - late  # of the frame that each row is shown, from 0
        seen = {"scene": shown[number.clip(0, BUDGET - 1), np.arange(4)]}
        start = number == 0
        shares = model.outlook(seen, state, start).choices["answer"].parts[0]
        maps = model.attention(seen, state, start)
        action, state = model.predict(seen, state, start)
        assert maps.shape == (4, 1, SIDE, SIDE)
        for row in np.flatnonzero((number >= 0) & (number < BUDGET)):
            logits = whole[number[row], row]
            np.testing.assert_allclose(shares[row], logits.softmax(dim=0), rtol=1e-4)
            assert action["answer"][row] == logits.argmax()
            expected = weights[number[row]][row]
            np.testing.assert_allclose(maps[row, 0], expected / expected.sum(), rtol=1e-3)
    assert model.beliefs(seen) is None
    assert model.answers(seen) is None


@pytest.mark.parametrize("kind", READERS)
@torch.no_grad()
def test_an_answer_rests_on_earlier_frames(kind: str) -> None:
    model, shown = model_of(kind, **MOVING), frames(2)
    forgotten = shown.copy()
    forgotten[0] = 0.0
    with_first, without = (
        model(model.as_tensors({"scene": seen.swapaxes(0, 1)})).logits
        for seen in (shown, forgotten)
    )
    assert not torch.allclose(with_first[-1], without[-1])


@pytest.mark.parametrize("kind", OTHERS)
def test_models_without_a_memory_answer_each_frame_alone(kind: str) -> None:
    model, shown = model_of(kind, **MOVING), frames(2)
    assert not model.model.remembers_frames
    action, state = model.predict({"scene": shown[1]}, None, np.ones(2, np.bool_))
    assert state is None
    assert action["answer"].shape == (2,)
    learner = learner_of(kind, tiny_config(kind, **MOVING))
    assert learner.deal().observation["scene"].shape == (8, 1, SIDE, SIDE)
    learner.close()


def test_an_episode_costs_a_glimpse_a_frame() -> None:
    model: Any = model_of("draw", **MOVING)
    assert model.model.remembers_frames
    score = evaluate(model, MOVING["env_id"], episodes=20, **MOVING["env_kwargs"])
    costs = measure_costs(model, score)
    side = model.picture.glimpse_shape[-1]
    assert model.values_read == side**2
    assert costs.by_glimpse["values_delivered"] == tuple(n * side**2 for n in (1, 2, 3))
    with multiply_adds() as counter:
        model.predict({"scene": frames(1)[0]})
    assert costs.per_episode["multiply_adds"] == BUDGET * counter()


@pytest.mark.parametrize("supervise", ["scored", "all"])
@pytest.mark.parametrize("reward", ["dense", "final"])
def test_the_loss_is_of_the_answers_that_are_paid(reward: str, supervise: str) -> None:
    env_kwargs = {**MOVING["env_kwargs"], "reward": reward}
    changes: Changes = {**MOVING, "env_kwargs": env_kwargs, "supervise": supervise}
    learner: Any = learner_of("draw", tiny_config("draw", precision="float32", **changes))
    batch = learner.deal()
    learner.deal = lambda: batch
    with torch.no_grad():
        logits = learner.policy(batch.observation).logits
    losses = [F.cross_entropy(*one).item() for one in zip(logits, batch.targets, strict=True)]
    paid = losses if (reward, supervise) != ("final", "scored") else losses[-1:]
    assert learner.learn(0.5)["loss/answer"] == pytest.approx(np.mean(paid), rel=1e-5)
    learner.close()


@pytest.mark.parametrize("kind", READERS)
def test_large_batches_are_read_a_few_rows_at_a_time(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, shown = model_of(kind, **MOVING), frames(5)
    start = np.array([False, True, False, False, True])
    _, state = model.predict({"scene": shown[0]})
    given: list[int] = []
    prepare = model.prepare

    def noting(scene: torch.Tensor) -> Any:
        given.append(len(scene))
        return prepare(scene)

    model.prepare = noting
    played = []
    for most in (2**23, 2 * SIDE**2):
        monkeypatch.setattr(baselines.model, "AT_ONCE", most)
        action, after = model.predict({"scene": shown[1]}, state, start)
        maps = model.attention({"scene": shown[1]}, state, start)
        played.append((action["answer"], after.frames, maps, *map(np.asarray, after.core)))
    assert given == [5, 5, 2, 2, 1, 2, 2, 1]
    for whole, few in zip(*played, strict=True):
        np.testing.assert_allclose(whole, few, rtol=1e-4, atol=1e-6)


@torch.no_grad()
def test_beginnings_may_be_numbers() -> None:
    model, shown = model_of("draw", **MOVING), frames(2)
    _, state = model.predict({"scene": shown[0]})
    _, after = model.predict({"scene": shown[1]}, state, np.array([1, 0]))
    assert after.frames.tolist() == [1, 2]


@pytest.mark.learning
def test_a_moving_digit_is_learned_in_seconds(tmp_path: Path) -> None:
    config = small_config("draw", **MOVING, episodes=20_000)
    run = trained(config, "draw", tmp_path)
    score = evaluate_run(run, episodes=500)
    assert score.success is not None
    assert score.success > 3 / CHOICES
    again = evaluate(load_policy(tmp_path), MOVING["env_id"], episodes=500, **MOVING["env_kwargs"])
    np.testing.assert_array_equal(again.successes, score.successes)
