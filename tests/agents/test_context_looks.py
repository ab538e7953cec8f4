"""A context, a coarse view of the whole scene, shows looks where to go, and the core nothing."""

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from agents.algorithms.reinforce import Reinforce
from agents.policy.cells import Cells, CellsHead
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.inhibition import CellInhibition
from agents.policy.making import policy_from
from agents.policy.networks import NetworkConfig
from agents.scoring.costs import measure_costs
from agents.scoring.counted_scenes import ALIKE
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.protocol import evaluate
from tests.support.episodes import make_vector
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import tiny_config, tiny_network

PAIRS, SEQUENCE = "Glimpse/DigitPairGlyphs-v0", "Glimpse/DigitSequenceGlyphs-v0"
ROWS, SIDE = 6, 12
CELLS = tiny_network(look_coordinates="cells", inhibition_of_return=True)


def make_policy(env: GlimpseVectorEnv, network: NetworkConfig = CELLS) -> GlimpsePolicy:
    torch.manual_seed(0)
    return policy_from(network, describe(env))


def look_head(policy: GlimpsePolicy) -> CellsHead:
    head = policy.heads["look"]
    assert isinstance(head, CellsHead)
    return head


def two_glimpses(policy: GlimpsePolicy, **changes: NDArray[np.float32]) -> list[Decision]:
    """The decisions on the first two glimpses; `changes` are to the first."""
    env = make_vector(PAIRS, ROWS, context=True)
    first, _ = env.reset(seed=0)
    looks = {"look": np.zeros((ROWS, 2), np.float32), "answer": np.zeros(ROWS, np.int64)}
    second, *_ = env.step(looks)
    assert not second["context"].any()
    state, decisions = policy.initial_state(ROWS), []
    for observation in ({**first, **changes}, second):
        decision, state = policy(policy.as_tensors(observation), state)
        decisions.append(decision)
    return decisions


def logits(decision: Decision, part: str) -> torch.Tensor:
    head: Any = decision.heads[part]
    return head.logits


def test_blocks_that_lie_fast_in_the_scene_do_not_move_with_the_gaze() -> None:
    """In closed form, of two blocks around the gaze and two of the context."""
    offsets = torch.tensor([[-0.1, 0.0], [0.1, 0.0], [-0.5, 0.5], [-0.4, 0.5]])
    place = torch.tensor([[0.3, -0.3], [-0.5, 0.5]])
    shares = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3]])
    reaches = torch.tensor([[0.05, 0.05]] * 2 + [[0.15, 0.15]] * 2)
    choice = Cells(shares.log(), place, offsets, reaches, fixed=2)
    expected = torch.tensor([[[0.2, -0.3], [0.4, -0.3], [-0.5, 0.5], [-0.4, 0.5]]])
    places = place[:, None] + choice.moves
    torch.testing.assert_close(places[:1], expected)
    assert torch.equal(choice.to_env(torch.tensor([1, 1])), place + offsets[1])
    torch.testing.assert_close(choice.to_env(torch.tensor([2, 3])), offsets[2:])
    mean = (0.3 * offsets[2] + 0.4 * offsets[3]) / 0.7
    torch.testing.assert_close(choice.mode()[0], mean)
    # Of the second row both blocks around the gaze lie near the context's likeliest one.
    mean = 0.2 * places[1, 0] + 0.1 * places[1, 1] + 0.4 * offsets[2]
    torch.testing.assert_close(choice.mode()[1], mean + 0.3 * offsets[3])
    near = choice.from_env(np.array([[-0.41, 0.5], [-0.59, 0.5]], np.float32))
    assert torch.equal(choice.log_prob(near), choice.log_prob(torch.tensor([3, 0])))
    assert Cells.joined([choice, choice]).fixed == 2


@pytest.mark.parametrize("env_id", [PAIRS, SEQUENCE])
def test_a_look_at_a_cell_of_the_context_goes_to_its_middle(env_id: str) -> None:
    env = make_vector(env_id, ROWS, context=True)
    view = env.task.picture_view
    assert view is not None
    head = look_head(make_policy(env))
    places = view.space.to_pixels(head.offsets[-(SIDE**2) :].double().numpy())
    _, height, width = view.scene_shape
    middles = [
        ((column + 0.5) * width / SIDE, (row + 0.5) * height / SIDE)
        for row in range(SIDE)
        for column in range(SIDE)
    ]
    np.testing.assert_allclose(places, middles, rtol=0, atol=1e-4)
    neighbours = (head.offsets[-(SIDE**2) :] - head.offsets[-14]).abs() < head.reaches[-14]
    assert neighbours.all(dim=1).sum() == 9


def test_looks_see_the_context_at_every_glimpse_and_the_core_never() -> None:
    policy = make_policy(make_vector(PAIRS, ROWS, context=True))
    other = np.random.default_rng(0).random((ROWS, 1, SIDE, SIDE), np.float32)
    as_it_is, changed = (two_glimpses(policy, **c) for c in ({}, {"context": other}))
    for one, two in zip(as_it_is, changed, strict=True):
        assert torch.equal(logits(one, "answer"), logits(two, "answer"))
        assert torch.equal(one.value, two.value)
        moved = logits(one, "look") != logits(two, "look")
        assert moved[:, -(SIDE**2) :].any(dim=1).all()
        assert not moved[:, : -(SIDE**2)].any()


def test_a_new_episode_forgets_the_context() -> None:
    env = make_vector(PAIRS, ROWS, context=True)
    policy = make_policy(env)
    seen, _ = env.reset(seed=0)
    _, state = policy.predict(seen)
    first = state[-2]
    assert first.any(dim=1).all()
    black = {**seen, "context": np.zeros_like(seen["context"])}
    _, state = policy.predict(black, state, np.arange(ROWS) < 2)
    assert not state[-2][:2].any()
    assert torch.equal(state[-2][2:], first[2:])


def test_a_context_is_read_once_an_episode() -> None:
    env = make_vector(PAIRS, ROWS, context=True)
    policy = make_policy(env)
    scores = look_head(policy).context
    assert scores is not None
    read: list[int] = []
    scores.features.register_forward_hook(lambda *_: read.append(1))
    costs = measure_costs(policy, evaluate(policy, PAIRS, episodes=4, context=True))
    assert len(read) == 1 + ALIKE, "once in those scored, and in each whose work is counted"
    glimpses = env.task.budget
    assert env.task.reading is not None
    of_glimpses = glimpses * env.task.reading.values
    assert costs.per_episode["values_delivered"] == of_glimpses + SIDE**2
    assert set(costs.by_glimpse["pixels_covered"]) == {100.0 * 100.0}


@pytest.mark.parametrize("network", [CELLS, tiny_network(core="dram", detach_heads=False)])
def test_a_model_that_sees_a_context_says_so(network: NetworkConfig) -> None:
    config = tiny_config(env_id=PAIRS, env_kwargs={"context": True}, network=network)
    with closing(Reinforce(config)) as learner:
        assert "context" in learner.model.name


@pytest.mark.parametrize(("wide", "spread"), [(False, 6.0), (True, 50 / 6)])
def test_visits_weigh_at_the_cells_of_the_context(wide: bool, spread: float) -> None:
    """The deviation is half the side of the finest window, 12 pixels, or, widened, of a cell."""
    scene_size = 200 if wide else 100
    env = make_vector(PAIRS, ROWS, context=True, scene_size=scene_size)
    network = tiny_network(
        look_coordinates="cells", inhibition_of_return=True, wide_inhibition=wide
    )
    policy = make_policy(env, network).double()
    inhibition, head = policy.inhibition, look_head(policy)
    assert isinstance(inhibition, CellInhibition)
    rng = torch.Generator().manual_seed(0)
    locations = 2 * torch.rand(3, ROWS, 2, generator=rng, dtype=torch.float64) - 1
    visits = inhibition.no_visits(ROWS)
    for location in locations:
        visits = inhibition.with_present(visits, {"location": location})
    core = torch.randn(ROWS, policy.core.units, generator=rng, dtype=torch.float64)
    added = inhibition(core, visits, {"location": locations[-1]})[:, -(SIDE**2) :]

    moves = (head.offsets[-(SIDE**2) :] - locations[:, :, None]) * scene_size / 2 / spread
    near = (-moves.square().sum(dim=-1) / 2).exp().sum(dim=0)  # (ROWS, cells)
    expected = inhibition.weights(core)[:, -1:] * near
    torch.testing.assert_close(added, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("network", "env_kwargs"),
    [
        (tiny_network(), {}),
        (CELLS, {"scales": 1}),
        (CELLS, {"look": "tiles"}),
        (CELLS, {"history": True}),
    ],
)
def test_where_looks_are_at_no_cells_a_context_is_refused(
    network: NetworkConfig, env_kwargs: dict[str, Any]
) -> None:
    env = make_vector(PAIRS, ROWS, context=True, **env_kwargs)
    with pytest.raises(ValueError, match=r"take core='dram', or look_coordinates='cells'"):
        make_policy(env, network)


@pytest.mark.learning
def test_a_run_with_a_context_repeats_and_resumes(tmp_path: Path) -> None:
    config = tiny_config(
        env_id=PAIRS,
        env_kwargs={"context": True, "budget": 3},
        network=tiny_network(
            look_coordinates="cells", inhibition_of_return=True, refine_looks=True
        ),
    )
    assert_repeats_and_resumes(Reinforce, config, tmp_path)
