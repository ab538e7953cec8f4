"""Looks at the cells that are seen: a choice among places that the glimpse itself shows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor

from agents.algorithms.reinforce import Reinforce
from agents.episodes.rollout import play_episodes
from agents.play.machines import outlook_of
from agents.policy.cells import Cells, CellsHead
from agents.policy.distributions import Categorical
from agents.policy.encoders import local_contrast
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.making import policy_from
from agents.policy.networks import NetworkConfig
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.outlook import Places
from tests.support.episodes import make_vector, view_of
from tests.support.reference import retina
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import tiny_config, tiny_network

SAMPLES = 20_000
CELLS = tiny_network(look_coordinates="cells")
TRANSLATED = "Glimpse/TranslatedGlyphs-v0"


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def cells(rows: int = 3, blocks: int = 5) -> Cells:
    logits = 2 * torch.randn(rows, blocks, generator=seeded(1), dtype=torch.float64)
    place = torch.rand(rows, 2, generator=seeded(2), dtype=torch.float64) - 0.5
    return Cells(logits, place, torch.rand(blocks, 2, generator=seeded(3), dtype=torch.float64))


def policy_for(env_id: str, network: NetworkConfig = CELLS, **env_kwargs: Any) -> GlimpsePolicy:
    torch.manual_seed(0)
    return policy_from(network, describe(gym.make(env_id, **env_kwargs)))


def test_numbers_of_blocks_have_the_chances_of_a_categorical() -> None:
    mine, theirs = cells(), Categorical(cells().logits)
    actions = torch.tensor([0, 4, 2])
    assert torch.equal(mine.log_prob(actions), theirs.log_prob(actions))
    assert torch.equal(mine.entropy(), theirs.entropy())
    assert torch.equal(mine.mode(), theirs.mode())


def test_blocks_are_drawn_by_their_chances() -> None:
    logits = torch.tensor([[0.0, 1.0, -2.0, -40.0, 0.5]]).expand(SAMPLES, 5)
    drawn = Cells(logits, torch.zeros(SAMPLES, 2), torch.zeros(5, 2)).sample(seeded())
    expected = logits[0].softmax(dim=-1)
    found = torch.bincount(drawn, minlength=5) / SAMPLES
    assert ((found - expected).abs() <= 4 * (expected * (1 - expected) / SAMPLES).sqrt()).all()


def test_a_rules_place_goes_to_the_environment_as_it_is_and_counts_as_the_nearest_block() -> None:
    choice = cells()
    number = torch.tensor([3, 0, 1])
    middles = choice.place + choice.offsets[number]
    near = choice.from_env((middles + 1e-4).numpy())
    torch.testing.assert_close(choice.to_env(near), (middles + 1e-4).clamp(-1.0, 1.0))
    assert torch.equal(choice.log_prob(near), choice.log_prob(number))
    torch.testing.assert_close(choice.to_env(number), middles.clamp(-1.0, 1.0))


def test_joined_rows_are_those_of_the_parts() -> None:
    whole = cells()
    first, rest = (
        Cells(whole.logits[part], whole.place[part], whole.offsets)
        for part in (slice(0, 1), slice(1, 3))
    )
    joined = Cells.joined([first, rest])
    for name in ("logits", "place", "offsets"):
        assert torch.equal(getattr(joined, name), getattr(whole, name))
    assert joined.reaches is None


def test_a_refined_look_goes_to_the_mean_of_the_likeliest_block_and_its_neighbours() -> None:
    """In closed form, of three blocks in a row, one far away and one of a finer scale."""
    offsets = torch.tensor([[-0.2, 0.0], [0.0, 0.0], [0.2, 0.0], [0.4, 0.0], [0.0, 0.1]])
    reaches = torch.tensor([[0.3, 0.3]] * 4 + [[0.15, 0.15]])
    shares = torch.tensor([[0.1, 0.4, 0.2, 0.2, 0.1], [0.1, 0.1, 0.2, 0.2, 0.4]])
    place = torch.tensor([[0.5, -0.5], [0.0, 0.9]])
    choice = Cells(shares.log(), place, offsets, reaches)
    near_wide = torch.tensor([(0.2 * 0.2 - 0.1 * 0.2) / 0.8, 0.1 * 0.1 / 0.8])
    near_fine = torch.tensor([0.0, 0.4 * 0.1 / 0.5])  # itself and the block in the middle alone
    expected = place + torch.stack([near_wide, near_fine])
    torch.testing.assert_close(choice.mode(), expected)
    torch.testing.assert_close(choice.to_env(choice.mode()), expected.clamp(-1.0, 1.0))
    assert torch.equal(choice.log_prob(choice.mode()), choice.log_prob(torch.tensor([1, 4])))
    joined = Cells.joined([choice, choice])
    torch.testing.assert_close(joined.mode(), expected.repeat(2, 1))


def test_a_refined_look_stays_where_a_single_place_can_be_looked_at() -> None:
    """The widest window is as wide as the scene, and must lie inside."""
    refined = replace(CELLS, refine_looks=True)
    kwargs = {"scene_size": 48, "inside": True}
    policy = policy_for("Glimpse/ClutteredGlyphs-v0", refined, **kwargs)
    env = make_vector("Glimpse/ClutteredGlyphs-v0", 4, **kwargs)
    observation, _ = env.reset(seed=0)
    actions, _ = policy.predict(observation, deterministic=True)
    np.testing.assert_array_equal(actions["look"], observation["location"])


def test_neighbours_are_around_a_block_and_within_it() -> None:
    head: Any = policy_for(TRANSLATED).heads["look"]
    sides = torch.tensor([4.0, 8.0, 16.0]) / 2 / 30  # of blocks of 2 x 2 cells, of 60 pixels
    for scale, side in enumerate(sides):
        number = 36 * scale + 14  # inside its window
        away = (head.offsets - head.offsets[number]).abs().amax(dim=1)
        near = away < head.reaches[number, 0]
        assert near[away < 1.4 * side].all()
        assert not near[away > 1.6 * side].any()
        assert near[36 * scale : 36 * scale + 36].sum() == 9
        assert torch.equal(head.reaches[number, 0], head.reaches[number, 1])


def test_refined_looks_change_likeliest_looks_alone() -> None:
    env = gym.make(TRANSLATED)
    observation, _ = env.reset(seed=0)
    batch = {name: value[None] for name, value in observation.items()}
    policies = []
    for refined in (False, True):
        torch.manual_seed(0)
        network = replace(CELLS, refine_looks=refined)
        policies.append(policy_from(network, describe(env)))
    plain, refined_one = (policy.predict(batch, deterministic=True)[0] for policy in policies)
    assert (plain["look"] != refined_one["look"]).any()
    assert np.array_equal(plain["answer"], refined_one["answer"])
    plain, refined_one = (policy.predict(batch)[0] for policy in policies)
    assert np.array_equal(plain["look"], refined_one["look"])
    config = tiny_config(
        env_id=TRANSLATED, env_kwargs={}, network=replace(CELLS, refine_looks=True)
    )
    assert "looks at cells, refined" in Reinforce(config).model.name


@pytest.mark.parametrize(("block", "name"), [(1, ", one by one"), (2, ""), (3, ", 3 by as many")])
def test_the_model_is_named_for_its_blocks(block: int, name: str) -> None:
    network = replace(CELLS, look_block=block)
    learner = Reinforce(tiny_config(env_id=TRANSLATED, env_kwargs={}, network=network))
    learner.close()
    assert learner.model.name == f"Reinforce LSTM, looks at cells{name}"


def brightest(glimpse: Tensor, scale: int, side: int) -> int:
    """The number of the block of `side` x `side` cells that is brightest in one scale of a glimpse
    (K, g, g)."""
    size = glimpse.shape[-1] // side
    blocks = glimpse[scale].reshape(size, side, size, side).mean(dim=(1, 3))
    return scale * size**2 + int(blocks.argmax())


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("scale", [0, 1, 2])
@pytest.mark.parametrize("block", [1, 2, 3])
def test_a_look_at_the_brightest_block_goes_to_what_is_seen(
    block: int, scale: int, inside: bool
) -> None:
    """One white pixel in a black scene lies within half a block, and half of itself, of where the
    look goes."""
    envs = make_vector(TRANSLATED, 1, inside=inside)
    head: Any = policy_from(replace(CELLS, look_block=block), describe(envs)).heads["look"]
    view = view_of(envs)
    reach = block * view.window_sides[scale] / view.glimpse_size / 2 + 0.5
    side, rng = view.scene_shape[-1], np.random.default_rng(0)
    limits = view.space.to_pixels(np.array([[-1.0, -1.0], [1.0, 1.0]]))
    for location in rng.uniform(-1, 1, (40, 2)):
        gaze_x, gaze_y = gaze = view.space.to_pixels(location)
        apart = rng.uniform(-0.4, 0.4, 2) * view.window_sides[scale]
        x, y = np.clip(gaze + apart, 0, side - 1).astype(int)
        scene = np.zeros((side, side))
        scene[y, x] = 1.0
        glimpse = retina(scene[None], gaze_x, gaze_y, view.glimpse_size, 3)
        number = torch.tensor([brightest(torch.as_tensor(glimpse), scale, block)])
        choice = Cells(torch.zeros(1, 1), torch.as_tensor(location)[None], head.offsets)
        place = view.space.to_pixels(choice.to_env(number).numpy())
        assert (np.abs(place - np.clip([x + 0.5, y + 0.5], *limits)) <= reach).all()


def test_scales_that_show_the_same_are_judged_the_same() -> None:
    policy = policy_for(TRANSLATED)
    head: Any = policy.heads["look"]
    torch.nn.init.zeros_(head.known.weight), torch.nn.init.zeros_(head.known.bias)
    torch.nn.init.zeros_(head.brightness.weight), torch.nn.init.ones_(head.brightness.bias)
    glimpse = torch.rand(2, 1, 12, 12, generator=seeded()).expand(2, 3, 12, 12)
    core, location = torch.rand(2, 8), torch.zeros(2, 2)
    logits = head(core, {"glimpse": glimpse, "location": location}).logits.view(2, 3, -1)
    torch.testing.assert_close(logits[:, 0], logits[:, 2])
    assert logits[0, 0].std() > 0


@pytest.mark.parametrize(
    ("size", "block", "blocks"), [(12, 1, 12), (12, 2, 6), (12, 5, 3), (12, 20, 1), (13, 2, 7)]
)
def test_bright_blocks_attract_by_the_mean_contrast_of_their_cells(
    size: int, block: int, blocks: int
) -> None:
    policy = policy_for(TRANSLATED, replace(CELLS, look_block=block), glimpse_size=size)
    head: Any = policy.heads["look"]
    torch.nn.init.zeros_(head.logits.weight), torch.nn.init.zeros_(head.logits.bias)
    torch.nn.init.zeros_(head.brightness.weight), torch.nn.init.ones_(head.brightness.bias)
    glimpse = torch.rand(2, 3, size, size, generator=seeded())
    seen = {"glimpse": glimpse, "location": torch.zeros(2, 2)}
    expected = torch.nn.functional.adaptive_avg_pool2d(local_contrast(glimpse), blocks)
    torch.testing.assert_close(head(torch.rand(2, 8), seen).logits, expected.flatten(1))


def test_who_watches_sees_each_place_and_its_chance() -> None:
    env = gym.make(TRANSLATED)
    policy, (observation, _) = policy_for(TRANSLATED), env.reset(seed=0)
    batch = {name: value[None] for name, value in observation.items()}
    outlook = policy.outlook(batch, None, None)
    look = outlook.choices["look"]
    assert isinstance(look, Places)
    assert look.parts[0].sum() == pytest.approx(1.0)
    view = describe(env).picture_view
    told = outlook_of(outlook, env.unwrapped.task.picture(0, ""), view)["look"]  # type: ignore[attr-defined]
    assert len(told["places"]) == len(told["parts"][0]) == 3 * 6 * 6
    assert view is not None
    np.testing.assert_allclose(told["places"], view.space.to_pixels(look.places[0]))
    assert np.min(told["places"]) >= 0.0
    assert np.max(told["places"]) <= view.scene_shape[-1]


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        (TRANSLATED, {"look": "tiles"}),
        (TRANSLATED, {"look": "relative"}),
        (TRANSLATED, {"history": True}),
        (TRANSLATED, {"scales": 1}),
        ("Glimpse/Copy-v0", {}),
    ],
)
def test_looks_without_cells_keep_their_own_heads(env_id: str, kwargs: dict[str, Any]) -> None:
    assert not isinstance(policy_for(env_id, **kwargs).heads["look"], CellsHead)
    assert isinstance(policy_for(TRANSLATED).heads["look"], CellsHead)


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("inhibition", [False, True])
def test_a_process_without_rows_chooses_no_cells(block: int, inhibition: bool) -> None:
    network = tiny_network(
        look_coordinates="cells", look_block=block, inhibition_of_return=inhibition
    )
    policy = policy_for(TRANSLATED, network)
    spaces: Any = make_vector(TRANSLATED, 1).single_observation_space
    nothing = {name: np.zeros((0, *part.shape), part.dtype) for name, part in spaces.items()}
    decision, _ = policy(policy.as_tensors(nothing), policy.initial_state(0))
    cells = decision.heads["look"]
    assert isinstance(cells, Cells)
    assert cells.log_prob(cells.sample(seeded())).shape == (0,)


@pytest.mark.parametrize("gaze", ["random", "oracle"])
def test_a_rules_gaze_is_not_moved_to_a_cell(gaze: Any) -> None:
    config = tiny_config(env_id=TRANSLATED, network=CELLS, gaze=gaze)
    plain = tiny_config(env_id=TRANSLATED, gaze=gaze)
    played = []
    for one in (config, plain):
        learner = Reinforce(one)
        assert learner.model.name.endswith(f"{gaze} glimpses")
        played.append(play_episodes(learner.env, learner.policy, learner.choose))
        learner.close()
    for mine, other in zip(played[0].observations, played[1].observations, strict=True):
        np.testing.assert_allclose(mine["location"], other["location"], atol=1e-6)


@pytest.mark.parametrize("coordinates", ["cells", "log_move"])
def test_rows_that_stop_early_leave_the_looks_of_the_others_alone(coordinates: Any) -> None:
    network = tiny_network(look_coordinates=coordinates)
    config = tiny_config(env_kwargs={"budget": 6, "stop": True}, network=network)
    learner = Reinforce(config)
    metrics = [learner.update(0.0) for _ in range(4)]
    assert all(np.isfinite(one["loss/policy"]) for one in metrics)
    learner.close()


@pytest.mark.learning
def test_a_run_repeats_and_resumes(tmp_path: Path) -> None:
    assert_repeats_and_resumes(Reinforce, tiny_config(env_id=TRANSLATED, network=CELLS), tmp_path)


@pytest.mark.learning
def test_cells_learn_to_look_at_a_digit_far_away() -> None:
    """From a uniform first glimpse, in a scene that takes several looks to cross."""
    kwargs = {"scene_size": 200, "scales": 5, "budget": 4}
    network = tiny_network(look_coordinates="cells", glimpse_units=64, core_units=64, head_units=32,
                           what_units=64, detach_heads=False)  # fmt: skip
    config = tiny_config(env_id=TRANSLATED, env_kwargs=kwargs, network=network, batch_size=128,
                         episodes=128 * 150, learning_rate=4e-3, look_signal="probability",
                         curriculum="distance")  # fmt: skip
    learner = Reinforce(config)
    errors = [learner.update(step / 150)["error"] for step in range(150)]
    learner.close()
    assert np.mean(errors[-20:]) < 0.5
