"""Policies are built from any environment's spaces, and remember, forget and learn as they say."""

import re
from itertools import product
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.policy.cores import LSTMCore, RectifierCore, make_core
from agents.policy.distributions import Categorical
from agents.policy.encoders import ATARI_SIDE, local_contrast
from agents.policy.gaussians import DiagonalGaussian
from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.heads import GaussianHead, make_head
from agents.policy.making import policy_from
from agents.policy.networks import GLIMPSE_NETWORKS, NetworkConfig
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.suite import SUITE
from glimpse_envs.task import Component
from tests.support.episodes import CENTRED, VARIANTS, make_vector
from tests.support.tiny import tiny_network

ROWS = 3
RECURRENT = ("rnn", "gru", "lstm")
CORES = (*RECURRENT, "feedforward")


def make_policy(env_id: str, env_kwargs: dict[str, Any], **network: Any) -> GlimpsePolicy:
    torch.manual_seed(0)
    env = gym.make(env_id, **env_kwargs)
    return policy_from(tiny_network(**network), describe(env))


def observations(env_id: str, env_kwargs: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """Noise of the right shape: (ROWS, ...) for each name."""
    space = gym.make(env_id, **env_kwargs).observation_space
    space.seed(seed)
    samples = [space.sample() for _ in range(ROWS)]
    return {name: np.stack([sample[name] for sample in samples]) for name in samples[0]}


SMALL = tuple(kind for kind in GLIMPSE_NETWORKS if kind != "atari")
"""Encoders that read glimpses of few pixels."""
CASES: dict[str, tuple[str, dict[str, Any]]] = {env_id: (env_id, {}) for env_id in SUITE} | VARIANTS


@pytest.mark.parametrize("case", CASES)
def test_every_environment_has_a_policy(case: str) -> None:
    env_id, env_kwargs = CASES[case]
    seen = observations(env_id, env_kwargs)
    env = make_vector(env_id, ROWS, **env_kwargs)
    pictures = "scene_size" in SUITE[env_id].kwargs  # what convolutions are for
    for core, glimpse_network in product(CORES, SMALL if pictures else ("dense",)):
        policy = make_policy(env_id, env_kwargs, core=core, glimpse_network=glimpse_network)
        state = None
        for deterministic in (True, False):
            action, state = policy.predict(seen, state, deterministic=deterministic)
            assert list(action) == list(env.task.action_space.spaces)
            for row in range(ROWS):  # Gymnasium's batches of bits are int8, ours any integers
                one = {name: values[row] for name, values in action.items()}
                assert env.single_action_space.contains(one)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("glimpse_network", SMALL)
@pytest.mark.parametrize("case", VARIANTS)
def test_every_part_learns(case: str, glimpse_network: str, core: str, normalise: bool) -> None:
    """After two glimpses a gradient reaches each parameter; only a fixed look's std has none."""
    env_id, env_kwargs = VARIANTS[case]
    # Units enough that no layer of rectifiers is silent by chance.
    many = dict(what_units=32, where_units=32, glimpse_units=32, core_units=32, head_units=32)
    policy = make_policy(
        env_id,
        env_kwargs,
        core=core,
        glimpse_network=glimpse_network,
        normalise=normalise,
        detach_heads=False,
        **many,
    )
    state = policy.initial_state(ROWS)
    for seed in range(2):
        tensors = policy.as_tensors(observations(env_id, env_kwargs, seed))
        decision, state = policy(tensors, state)
    total = decision.value.sum()
    for head in decision.heads.values():
        total = total + head.log_prob(head.sample()).sum()
    total.backward()
    silent = [n for n, p in policy.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == [n for n, _ in policy.named_parameters() if n.endswith("log_std")]


@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize("env_id", [i for i in SUITE if "scene_size" not in SUITE[i].kwargs])
def test_every_part_learns_that_repeats_or_skips(env_id: str, detach: bool) -> None:
    """Heads of moves, bits, writes and optional answers, and what they repeat."""
    torch.manual_seed(0)
    many = dict(what_units=32, where_units=32, glimpse_units=32, core_units=32, head_units=32)
    env = make_vector(env_id, ROWS)
    repeating = {name for name, part in env.task.components.items() if part.repeats}
    access: Any = "all" if repeating else None
    network = tiny_network(direct_access=access, skip=True, detach_heads=detach, **many)
    policy = policy_from(network, describe(env))
    assert set(policy.repeaters) == repeating
    state = policy.initial_state(ROWS)
    for seed in range(2):
        tensors = policy.as_tensors(observations(env_id, {}, seed))
        decision, state = policy(tensors, state)
    total = decision.value.sum()
    for head in decision.heads.values():
        total = total + head.log_prob(torch.ones_like(head.mode())).sum()
    total.backward()
    assert [n for n, p in policy.named_parameters() if p.grad is None or not p.grad.any()] == []


@pytest.mark.parametrize("case", VARIANTS)
def test_heads_speak_the_spaces(case: str) -> None:
    env_id, env_kwargs = VARIANTS[case]
    policy = make_policy(env_id, env_kwargs, look_std=0.3)
    tensors = policy.as_tensors(observations(env_id, env_kwargs))
    decision, _ = policy(tensors, policy.initial_state(ROWS))
    assert decision.value.shape == (ROWS,)
    action_space = make_vector(env_id, ROWS, **env_kwargs).task.action_space
    for name, space in action_space.spaces.items():
        head = decision.heads[name]
        if isinstance(space, spaces.Discrete):
            assert isinstance(head, Categorical)
            assert head.logits.shape == (ROWS, space.n)
        else:
            assert isinstance(head, DiagonalGaussian)
            assert head.mean.shape == (ROWS, 2)
            assert (head.mean.abs() < 1).all()
            torch.testing.assert_close(head.std.detach(), torch.full((2,), 0.3))


@pytest.mark.parametrize("detach", [True, False])
def test_looks_and_baseline_send_gradients_back_unless_detached(detach: bool) -> None:
    env_id, env_kwargs = VARIANTS["stop"]
    policy = make_policy(env_id, env_kwargs, detach_heads=detach)
    tensors = policy.as_tensors(observations(env_id, env_kwargs))
    decision, _ = policy(tensors, policy.initial_state(ROWS))
    apart = {name: decision.heads[name].log_prob(decision.heads[name].sample()).sum()
             for name in ("look", "stop")} | {"baseline": decision.value.sum()}  # fmt: skip
    below = [*policy.core.parameters(), *policy.glimpse_network.parameters()]
    for name, value in apart.items():
        assert reached(value, below) is not detach, name
    answer = decision.heads["answer"].log_prob(torch.zeros(ROWS, dtype=torch.int64)).sum()
    assert reached(answer, below)


def test_acts_teach_the_core_where_looks_do_not() -> None:
    """Else nothing would, in a world that asks nothing."""
    env_id = "Glimpse/Catch-v0"
    policy = make_policy(env_id, {}, detach_heads=True)
    tensors = policy.as_tensors(observations(env_id, {}))
    decision, _ = policy(tensors, policy.initial_state(ROWS))
    below = [*policy.core.parameters(), *policy.glimpse_network.parameters()]
    found = {
        name: reached(head.log_prob(head.sample()).sum(), below)
        for name, head in decision.heads.items()
    }
    assert found == {"look": False, "act": True}
    assert not reached(decision.value.sum(), below)


def reached(value: Tensor, parameters: list[nn.Parameter]) -> bool:
    grads = torch.autograd.grad(
        value, parameters, retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return any(bool(grad.any()) for grad in grads)


@pytest.mark.parametrize("core", RECURRENT)
def test_memory_is_emptied_where_an_episode_starts_and_only_there(core: str) -> None:
    env_id, env_kwargs = VARIANTS["continuous"]
    policy = make_policy(env_id, env_kwargs, core=core)
    first, second = observations(env_id, env_kwargs), observations(env_id, env_kwargs, seed=1)
    _, state = policy.predict(first, deterministic=True)
    start = np.array([False, True, False])
    mixed, _ = policy.predict(second, state, start, deterministic=True)
    going, _ = policy.predict(second, state, deterministic=True)
    fresh, _ = policy.predict(second, deterministic=True)
    assert (going["look"] != fresh["look"]).any(axis=1).all(), "what was seen is remembered"
    expected = np.where(start[:, None], fresh["look"], going["look"])
    np.testing.assert_array_equal(mixed["look"], expected)


def test_a_feedforward_core_remembers_nothing() -> None:
    env_id, env_kwargs = VARIANTS["continuous"]
    policy = make_policy(env_id, env_kwargs, core="feedforward")
    first, second = observations(env_id, env_kwargs), observations(env_id, env_kwargs, seed=1)
    _, state = policy.predict(first, deterministic=True)
    going, _ = policy.predict(second, state, deterministic=True)
    fresh, _ = policy.predict(second, deterministic=True)
    for name, part in fresh.items():
        np.testing.assert_array_equal(going[name], part)
    other, _ = policy.predict(first, deterministic=True)
    assert (other["look"] != fresh["look"]).any(), "what is in view is seen"


def test_a_first_state_that_is_learned_begins_every_episode() -> None:
    env_id, env_kwargs = VARIANTS["continuous"]
    policy = make_policy(env_id, env_kwargs, core="lstm")
    zeros = policy.core.initial_state
    policy.core.initial_state = lambda rows: tuple(part + 0.5 for part in zeros(rows))  # type: ignore[method-assign]
    seen = observations(env_id, env_kwargs)
    fresh, begun = policy.predict(seen, deterministic=True)
    again, state = policy.predict(seen, begun, np.array([True] * 3), deterministic=True)
    np.testing.assert_array_equal(again["look"], fresh["look"])
    assert all(map(torch.equal, state, begun))


def test_what_is_seen_and_where_both_matter() -> None:
    env_id, env_kwargs = VARIANTS["continuous"]
    policy = make_policy(env_id, env_kwargs, what_units=32, where_units=32, glimpse_units=32)
    seen, other = observations(env_id, env_kwargs), observations(env_id, env_kwargs, seed=1)
    usual, _ = policy.predict(seen, deterministic=True)
    for name in seen:
        changed, _ = policy.predict({**seen, name: other[name]}, deterministic=True)
        assert (changed["look"] != usual["look"]).any(axis=1).all(), name


def test_likeliest_actions_repeat_and_samples_vary() -> None:
    env_id, env_kwargs = VARIANTS["continuous"]
    policy, seen = make_policy(env_id, env_kwargs), observations(env_id, env_kwargs)
    looks = [policy.predict(seen, deterministic=d)[0]["look"] for d in (True, True, False, False)]
    np.testing.assert_array_equal(looks[0], looks[1])
    assert (looks[2] != looks[3]).all()


def test_a_policy_of_double_precision_decides_in_it() -> None:
    env_id, env_kwargs = VARIANTS["stop"]
    policy = make_policy(env_id, env_kwargs).double()
    tensors = policy.as_tensors(observations(env_id, env_kwargs))
    decision, state = policy(tensors, policy.initial_state(ROWS))
    assert {part.dtype for part in (decision.value, *state)} == {torch.float64}
    assert policy.predict(observations(env_id, env_kwargs))[0]["look"].shape == (ROWS, 2)


def test_the_lstm_is_torchs_lstm() -> None:
    torch.manual_seed(0)
    mine, theirs = LSTMCore(5, 4).double(), nn.LSTMCell(5, 4).double()
    mine_order = torch.arange(16).view(4, 4)[[0, 1, 3, 2]].flatten()  # theirs: write keep cell show
    with torch.no_grad():
        weights = mine.gates.weight[mine_order]
        theirs.weight_ih.copy_(weights[:, :5])
        theirs.weight_hh.copy_(weights[:, 5:])
        theirs.bias_ih.copy_(mine.gates.bias[mine_order])
        theirs.bias_hh.zero_()
    state = expected = mine.initial_state(ROWS)
    for seen in torch.randn(4, ROWS, 5, dtype=torch.float64):
        state, expected = mine(seen, state), theirs(seen, expected)
        torch.testing.assert_close(state, expected)


def test_the_rectifier_core_begins_by_remembering() -> None:
    core = RectifierCore(5, 4)
    with torch.no_grad():
        core.step.weight[:, :5] = 0
        core.step.bias.zero_()
    memory = torch.rand(ROWS, 4)
    torch.testing.assert_close(core(torch.rand(ROWS, 5), (memory,)), (memory,))


@pytest.mark.parametrize(
    ("core", "parts"), [("rnn", 1), ("gru", 1), ("lstm", 2), ("feedforward", 1)]
)
def test_memory_begins_empty(core: Any, parts: int) -> None:
    state = make_core(tiny_network(core=core), 5).initial_state(ROWS)
    assert len(state) == parts
    assert all(part.shape == (ROWS, 8) and not part.any() for part in state)


def test_a_space_without_a_head_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'look'.*MultiBinary\(\(2, 3\)\).*no head"):
        make_head("look", Component(spaces.MultiBinary((2, 3))), tiny_network())


def test_what_no_encoder_reads_is_refused_by_name() -> None:
    space = spaces.Dict(glimpse=spaces.Box(0, 1, (2,)), hint=spaces.Text(5))
    with pytest.raises(ValueError, match=r"observation\['hint'\] has the space Text"):
        GlimpseNetwork(space, tiny_network())


def test_words_are_looked_up_in_one_embedding_for_each_vocabulary() -> None:
    """Of a text and a question of the same words; what is a number stays a number."""
    space = spaces.Dict(
        glimpse=spaces.MultiDiscrete([7, 7]),
        question=spaces.Discrete(7),
        remaining=spaces.Box(0, 1, (1,)),
    )
    network = GlimpseNetwork(space, tiny_network(word_units=3))
    shapes = {n: tuple(p.shape) for n, p in network.embeddings.named_parameters()}
    assert shapes == {"7.weight": (7, 3)}
    seen = {
        "glimpse": torch.tensor([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]),
        "question": torch.tensor([3.0, 4.0, 3.0]),
        "remaining": torch.zeros(3, 1),
    }
    first, second, third = network(seen)
    assert not torch.equal(first, second), "the question matters"
    assert not torch.equal(first, third), "the order of the words matters"


@pytest.mark.parametrize("env_id", ["Glimpse/Copy-v0", "Glimpse/ForwardReverse-v0"])
@pytest.mark.parametrize("view", ["glimpse", "full"])
def test_what_is_for_pictures_is_refused_elsewhere(env_id: str, view: str) -> None:
    space = gym.make(env_id, view=view).observation_space
    assert isinstance(space, spaces.Dict)
    shape = space["scene" if view == "full" else "glimpse"].shape
    for network in (NetworkConfig(glimpse_network="conv"), NetworkConfig(contrast=True)):
        with pytest.raises(ValueError, match=rf"square pictures.* shape {re.escape(str(shape))}: "):
            GlimpseNetwork(space, network)


def test_convolutions_of_atari_read_glimpses_of_36_pixels_and_more() -> None:
    """Three layers of 32, 64 and 64 filters (Mnih et al. 2015), each of which learns."""
    network = NetworkConfig(glimpse_network="atari")
    for side in (ATARI_SIDE, 50, 84):
        space = spaces.Dict({"glimpse": spaces.Box(0.0, 1.0, (4, side, side), np.float32)})
        torch.manual_seed(0)
        encoder = GlimpseNetwork(space, network)
        encoder({"glimpse": torch.rand(3, 4, side, side)}).sum().backward()
        assert all(weight.grad is not None and weight.grad.any() for weight in encoder.parameters())
        filters = [part for part in encoder.modules() if isinstance(part, torch.nn.Conv2d)]
        assert [(f.out_channels, f.kernel_size, f.stride) for f in filters] == [
            (32, (8, 8), (4, 4)),
            (64, (4, 4), (2, 2)),
            (64, (3, 3), (1, 1)),
        ]
    small = spaces.Dict({"glimpse": spaces.Box(0.0, 1.0, (4, 35, 35), np.float32)})
    with pytest.raises(ValueError, match=r"'atari' needs glimpses of at least 36 pixels.* have 35"):
        GlimpseNetwork(small, network)


def test_local_contrast_forgets_brightness_and_its_range_and_keeps_shape() -> None:
    generator = torch.Generator().manual_seed(0)
    shape = torch.rand(3, 2, 5, 5, generator=generator)
    seen = local_contrast(shape)
    assert torch.allclose(local_contrast(0.2 + 0.5 * shape), seen, atol=5e-3)
    assert torch.allclose(seen.mean(dim=(-2, -1)), torch.zeros(3, 2), atol=1e-5)
    even = local_contrast(torch.full((1, 1, 4, 4), 0.7))
    assert torch.allclose(even, torch.zeros(1, 1, 4, 4), atol=1e-4)


def test_contrast_doubles_what_the_encoder_reads() -> None:
    env = gym.make_vec("Glimpse/CircleSquare-v0", num_envs=3)
    observation, _ = env.reset(seed=0)
    space = env.single_observation_space
    assert isinstance(space, spaces.Dict)
    network = GlimpseNetwork(space, NetworkConfig(contrast=True))
    tensors = {name: torch.as_tensor(value) for name, value in observation.items()}
    assert network(tensors).shape == (3, NetworkConfig().glimpse_units)
    assert network.what[1].in_features == 2 * 25  # type: ignore[index]


def test_a_policy_of_other_observations_is_told_so() -> None:
    env_id, env_kwargs = "Glimpse/CenteredGlyphs-v0", {"budget": 3}
    policy, seen = make_policy(env_id, env_kwargs), observations(env_id, env_kwargs)
    with pytest.raises(ValueError, match=r"'glimpse'\] had shape \(1, 8, 8\), and has \(1, 9, 9\)"):
        evaluate(policy, env_id, budget=3, glimpse_size=9, episodes=4)
    single = {name: part[0] for name, part in seen.items()}
    with pytest.raises(ValueError, match=r"of a single row: give \{name: part\[None\]\}"):
        policy.predict(single)
    with pytest.raises(ValueError, match="the observation has no part 'location'; it has glimpse"):
        policy.predict({"glimpse": seen["glimpse"]})
    wider = seen | {"location": np.zeros((ROWS, 3), np.float32)}
    with pytest.raises(ValueError, match=r"the shape \(B, \*\(2,\)\), and has \(\d+, 3\)$"):
        policy.predict(wider)


def test_a_deviation_is_refused_where_looks_go_to_cells_and_used_elsewhere() -> None:
    network = {"look_coordinates": "cells", "look_std": 0.3}
    with pytest.raises(ValueError, match=r"look_std=0.3 has no effect without look_coordinates="):
        make_policy("Glimpse/ClutteredGlyphs-v0", {}, **network)
    # Of one scale there are no cells to choose from.
    head = make_policy("Glimpse/CenteredGlyphs-v0", {}, **network).heads["look"]
    assert isinstance(head, GaussianHead)
    assert head.log_std.exp().tolist() == pytest.approx([0.3, 0.3])


def test_a_single_number_without_an_axis_is_refused() -> None:
    space = spaces.Dict(speed=spaces.Box(-1.0, 1.0, ()))
    with pytest.raises(ValueError, match=r"observation\['speed'\] has the space .*no encoder"):
        GlimpseNetwork(space, NetworkConfig())


def test_a_std_to_learn_needs_a_gaussian() -> None:
    for kwargs in ({"look": "tiles"}, {"view": "full"}):
        with pytest.raises(ValueError, match="learn_look_std=True has no effect without a look or"):
            make_policy(CENTRED, kwargs, learn_look_std=True)
    assert make_policy(CENTRED, {}, learn_look_std=True)
