"""What an episode costs, held against counts by hand and slow loops."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.making import policy_from
from agents.policy.networks import NetworkConfig
from agents.scoring.costs import (
    Costs,
    area_of_union,
    covered_on_average,
    make_evaluated,
    measure_costs,
)
from agents.scoring.multiply_adds import multiply_adds
from baselines.pictures.attention_sampling import AttentionSampling, AttentionSamplingConfig
from baselines.pictures.full_view import FullView, FullViewConfig
from baselines.pictures.gaussian_window import GaussianWindow, GaussianWindowConfig
from baselines.pictures.patch_selection import PatchSelection, PatchSelectionConfig
from baselines.pictures.picture_model import PictureModel
from baselines.pictures.soft_tiles import SoftTiles, SoftTilesConfig
from baselines.setting import Setting
from baselines.train import MODELS
from glimpse_envs.core.geometry import LookSpace
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.lookup import full_view
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.suite import register
from tests.support.episodes import CENTRED, CLUTTERED
from tests.support.tasks.falling_ball import FallingBall
from tests.support.tiny import tiny_network

SCENES = 60
SIZES = NetworkConfig(
    what_units=5, where_units=3, glimpse_units=7, core_units=6, head_units=4, core="gru"
)


# Pixels


def painted(rectangles: NDArray[np.float64], height: int, width: int) -> NDArray[np.int64]:
    """`area_of_union` of one row, (T,), by painting pixels."""
    canvas = np.zeros((height, width), bool)
    areas = []
    for (x0, y0), (x1, y1) in rectangles.astype(int):
        canvas[y0:y1, x0:x1] = True
        areas.append(canvas.sum())
    return np.array(areas)


def test_unions_are_those_of_painted_pixels() -> None:
    random = np.random.default_rng(0)
    corners = random.integers(0, (40, 30), size=(200, 6, 2, 2))
    rectangles = np.sort(corners, axis=2).astype(np.float64)  # some of them empty
    expected = [painted(row, height=30, width=40) for row in rectangles]
    np.testing.assert_array_equal(area_of_union(rectangles), expected)


def windows(height: int, width: int, *sides: float, margin: float = 0.0) -> PictureView:
    """Places of a grey picture, seen through windows of `sides`."""
    space = LookSpace(height, width, margin)
    return PictureView(
        scene_shape=(1, height, width),
        look="continuous",
        space=space,
        tile_locations=space.tile_centres(1),
        max_move=0.0,
        window_sides=sides,
        glimpse_size=1,
        outlines=(),
    )


def covered(
    view: PictureView, *places: tuple[float, float], taken: int | None = None
) -> list[float]:
    """Of one scene."""
    visited = np.arange(len(places)) < (len(places) if taken is None else taken)
    locations = np.array([places], np.float32)
    return covered_on_average(view, locations, visited[None]).tolist()


def test_windows_are_clipped_at_the_borders() -> None:
    assert covered(windows(20, 20, 8.0), (0.0, 0.0)) == [64]
    assert covered(windows(20, 20, 8.0), (-1.0, -1.0)) == [16]
    assert covered(windows(20, 20, 8.0), (1.0, 0.0)) == [32]
    assert covered(windows(10, 20, 30.0), (0.0, 0.0)) == [200], "no more than there is"


def test_a_pixel_partly_under_a_window_is_covered() -> None:
    # Half a pixel to the right of the middle: 9 columns are touched.
    assert covered(windows(20, 20, 8.0), (0.05, 0.0)) == [72]
    # As float32 tells it, 1/3 of 30 pixels is 10, give or take nothing.
    assert covered(windows(60, 60, 10.0), (1 / 3, 1 / 3)) == [100]


def test_what_was_seen_before_or_not_taken_adds_nothing() -> None:
    view = windows(20, 20, 8.0)
    assert covered(view, (0.0, 0.0), (0.0, 0.0), (0.6, 0.6)) == [64, 64, 64 + 64 - 4]
    assert covered(view, (0.0, 0.0), (0.6, 0.6), taken=1) == [64, 64]


def test_the_widest_window_holds_the_others_and_the_margin_counts() -> None:
    assert covered(windows(60, 60, 4.0, 8.0, 16.0), (0.3, 0.3)) == [256]
    assert covered(windows(60, 60, 16.0, margin=8.0), (1.0, 1.0)) == [256], "wholly inside"


# Episodes


def untrained(env_id: str = CENTRED, **env_kwargs: Any) -> tuple[GlimpsePolicy, Evaluation]:
    env = gym.make(env_id, **env_kwargs)
    torch.manual_seed(0)
    policy = policy_from(SIZES, describe(env))
    return policy.eval(), evaluate(policy, env_id, episodes=SCENES, **env_kwargs)


def network_by_hand(cells: int, look: int) -> int:
    """A glimpse of `SIZES`: what, where and join, core, answer, look and baseline."""
    encode = cells * 5 + 3 * 3 + (5 + 3) * 7
    heads = 6 * 10 + (6 * 4 + 4 * look) + (6 * 4 + 4)
    return encode + 3 * 6 * (7 + 6) + heads


def test_an_agent_by_hand() -> None:
    cells = 2 * 6 * 6
    policy, evaluation = untrained(budget=3, glimpse_size=6, scales=2)
    costs = measure_costs(policy, evaluation)
    each = network_by_hand(cells, look=2) + 4 * cells
    assert costs.by_glimpse["values_delivered"] == (cells, 2 * cells, 3 * cells)
    assert costs.by_glimpse["multiply_adds"] == (each, 2 * each, 3 * each)
    assert costs.per_episode["multiply_adds_reading"] == 3 * 4 * cells
    first, _, last = costs.by_glimpse["pixels_covered"]
    assert 6 * 6 < first < last <= 28 * 28
    assert costs.per_episode["pixels_covered"] == last


def test_scanpaths_cover_what_a_slow_loop_says() -> None:
    policy, evaluation = untrained(budget=3, glimpse_size=6, inside=True, look="relative")
    costs = measure_costs(policy, evaluation)
    assert evaluation.locations is not None
    areas = []
    for path in evaluation.locations:
        middles = 14 + path.astype(np.float64) * (14 - 3)
        low, high = np.floor(middles - 3 + 1e-3), np.ceil(middles + 3 - 1e-3)
        areas.append(painted(np.stack([low, high], axis=1), 28, 28))
    expected = np.mean(areas, axis=0)
    assert costs.by_glimpse["pixels_covered"] == pytest.approx(expected, abs=0.01)


class Stopping:
    """A policy that stops once it looks at the right half."""

    def __init__(self, policy: GlimpsePolicy) -> None:
        self.policy = policy

    def predict(self, observation: Any, *state: Any, **known: Any) -> Any:
        action, memory = self.policy.predict(observation, *state, **known)
        return {**action, "stop": (observation["location"][:, 0] > 0).astype(np.int64)}, memory


def test_glimpses_not_taken_cost_nothing() -> None:
    policy = Stopping(untrained(budget=4, stop=True)[0])
    evaluation = evaluate(policy, CENTRED, episodes=SCENES, budget=4, stop=True)
    stopped = evaluation.glimpses
    assert 1 < stopped.mean() < 4, "some stop before others"
    costs, cells = measure_costs(policy, evaluation), 8 * 8
    assert costs.per_episode["values_delivered"] == pytest.approx(cells * stopped.mean(), abs=0.01)
    each = network_by_hand(cells, look=2) + 6 * 4 + 4 * 2 + 4 * cells
    assert costs.per_episode["multiply_adds"] == pytest.approx(each * stopped.mean(), abs=0.01)
    shares = [(stopped > step).mean() for step in range(stopped.max())]
    expected = np.cumsum(shares) * cells
    assert costs.by_glimpse["values_delivered"] == pytest.approx(expected, abs=0.01)


class Growing:
    """A policy whose glimpse number t costs t products of 3 numbers a row."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray[Any]], int]:
        rows = len(observation["remaining"])
        for _ in range(state or 1):
            torch.ones(rows, 3) @ torch.ones(3, 1)
        action: dict[str, NDArray[Any]] = {
            "look": np.zeros((rows, 2), np.float32),
            "answer": np.zeros(rows, np.int64),
        }
        return action, (state or 1) + 1


def test_every_glimpse_costs_what_it_costs() -> None:
    evaluation = evaluate(Growing(), CENTRED, episodes=20, budget=3)
    costs = measure_costs(Growing(), evaluation)
    reading = 4 * 8 * 8
    expected = (3 + reading, 9 + 2 * reading, 18 + 3 * reading)
    assert costs.by_glimpse["multiply_adds"] == expected


class Dearer(Stopping):
    """A policy that spends 5 products on whether to stop, and 7 more where it does."""

    def predict(self, observation: Any, *state: Any, **known: Any) -> Any:
        action, memory = super().predict(observation, *state, **known)
        for stops in action["stop"]:
            torch.ones(1, 5 + 7 * stops) @ torch.ones(5 + 7 * stops, 1)
        return action, memory


def test_what_depends_on_the_scene_is_counted_until_its_episode_ends() -> None:
    policy = Dearer(untrained(budget=4, stop=True)[0])
    evaluation = evaluate(policy, CENTRED, episodes=12, budget=4, stop=True)
    steps, ends = evaluation.glimpses, evaluation.glimpses < 4
    assert ends.any()
    assert not ends.all()
    each = network_by_hand(8 * 8, look=2) + 6 * 4 + 4 * 2 + 4 * 8 * 8 + 5
    assert evaluation.locations is not None
    ends |= evaluation.locations[:, -1, 0] > 0  # stops that the spent budget has made needless
    expected = (each * steps + 7 * ends).mean()
    costs = measure_costs(policy, evaluation)
    assert costs.per_episode["multiply_adds"] == pytest.approx(expected, abs=0.01)


def test_an_agent_that_sees_all_reads_all() -> None:
    policy, evaluation = untrained(view="full")
    costs = measure_costs(policy, evaluation)
    assert costs.per_episode["values_delivered"] == costs.per_episode["pixels_covered"] == 28 * 28
    assert costs.per_episode["multiply_adds_reading"] == 0
    assert len(costs.by_glimpse["multiply_adds"]) == 1


def measured(model: Any, env_id: str, **env_kwargs: Any) -> Any:
    model.eval()
    kwargs = full_view(env_id, env_kwargs)
    return measure_costs(model, evaluate(model, env_id, episodes=20, **kwargs))


def test_a_dense_full_view_by_hand() -> None:
    config = FullViewConfig(env_id=CENTRED, kind="dense", units=16)
    costs = measured(FullView(Setting.of(CENTRED, {}), config), CENTRED)
    assert costs.per_episode == {
        "values_delivered": 784.0,
        "pixels_covered": 784.0,
        "multiply_adds": 784 * 16 + 16 * 16 + 16 * 10,
        "multiply_adds_reading": 0.0,
    }


def test_a_soft_window_by_hand() -> None:
    config = GaussianWindowConfig(env_id=CENTRED, network=SIZES)
    env_kwargs = {"budget": 3, "glimpse_size": 6}
    model = GaussianWindow(Setting.of(CENTRED, env_kwargs), config)
    costs = measured(model, CENTRED, **env_kwargs)
    # F_y X is 6 x 28 cells of 28 products, (F_y X) F_x' 6 x 6 cells of 28.
    reading = 6 * 28 * 28 + 6 * 6 * 28
    # Five numbers say where, and the remaining budget is the sixth; there is no baseline.
    encode = 36 * 5 + 6 * 3 + (5 + 3) * 7
    each = encode + 3 * 6 * (7 + 6) + 6 * 10 + (6 * 4 + 4 * 5) + reading
    assert costs.by_glimpse["values_delivered"] == (36, 72, 108)
    assert costs.by_glimpse["multiply_adds"] == (each, 2 * each, 3 * each)
    assert costs.per_episode["multiply_adds_reading"] == 3 * reading
    assert costs.by_glimpse["pixels_covered"] == (784.0,) * 3


def test_soft_tiles_pay_the_agents_price_for_each_tile_whatever_products_read_them() -> None:
    config = SoftTilesConfig(env_id=CENTRED, attention="location", network=SIZES)
    env_kwargs = {"budget": 3, "glimpse_size": 6}
    model = SoftTiles(Setting.of(CENTRED, env_kwargs), config)
    tiles = len(model.picture.view.tile_locations)
    costs = measured(model, CENTRED, **env_kwargs)
    # Each of three read-outs weighs all tiles, of 6 x 6 cells and a place.
    assert costs.per_episode["multiply_adds_reading"] == tiles * (4 * 36 + 3 * (36 + 2))
    first, second, third = costs.by_glimpse["multiply_adds"]
    assert third - second == second - first == first - tiles * 4 * 36


def test_attention_sampling_is_given_its_low_view_and_patches() -> None:
    config = AttentionSamplingConfig(env_id=CENTRED, low_scale=0.5, patches=3, patch_size=14)
    costs = measured(AttentionSampling(Setting.of(CENTRED, {}), config), CENTRED)
    assert costs.per_episode["values_delivered"] == 14 * 14 + 3 * 14 * 14
    assert costs.per_episode["pixels_covered"] == 784


def test_scenes_that_cost_unlike_are_counted_apart() -> None:
    """Patch selection encodes the patches that are not empty, and one that is."""
    env_kwargs = {"scene_size": 60, "clutter": 0}
    config = PatchSelectionConfig(env_id=CLUTTERED, patch_size=10, stride=10, kept=4, at_once=16)
    model = PatchSelection(Setting.of(CLUTTERED, env_kwargs), config).eval()
    kwargs = full_view(CLUTTERED, env_kwargs)
    evaluation = evaluate(model, CLUTTERED, episodes=8, **kwargs)
    spent = []
    with closing(make_evaluated(evaluation, rows=1)) as batch:
        for scene in range(8):
            observation, _ = deal(batch, "test", 0, np.array([scene]))
            with multiply_adds() as counter:
                model.predict(observation)
            spent.append(counter())
    assert len(set(spent)) > 1
    costs = measure_costs(model, evaluation).per_episode
    assert costs["multiply_adds"] == pytest.approx(np.mean(spent), abs=0.01)
    # Keys are made in the pool's own call and before it: they are layers in both.
    assert costs["multiply_adds_reading"] < 0.01 * costs["multiply_adds"]


def test_glimpses_that_recall_scores_are_read_too() -> None:
    network = replace(SIZES, recall_glimpses=3, recall_units=4)
    env = gym.make("Glimpse/Copy-v0", length=5, min_length=5)
    policy = policy_from(network, describe(env)).eval()
    score = evaluate(policy, "Glimpse/Copy-v0", episodes=SCENES, length=5, min_length=5)
    expected = [steps + sum(min(t, 3) for t in range(1, steps + 1)) for steps in score.glimpses]
    costs = measure_costs(policy, score)
    assert costs.per_episode == {"cells_read": pytest.approx(np.mean(expected), abs=1e-3)}


CORES = ("rnn", "gru", "lstm", "feedforward")
PICTURES = {name: model for name, model in MODELS.items() if issubclass(model, PictureModel)}
READ_BY_LAYERS = ("full_view", "attention_sampling", "patch_selection")
CONTROLLED = [n for n, m in PICTURES.items() if "network" in m.config_class.__dataclass_fields__]
MODELS_AND_CORES = [
    *[(name, {}) for name in PICTURES],
    *[(name, {"network": tiny_network(core=core)}) for name in CONTROLLED for core in CORES],
]


@pytest.mark.parametrize(("name", "changes"), MODELS_AND_CORES)
def test_nothing_that_a_baseline_runs_is_taken_for_nothing(
    name: str, changes: dict[str, Any]
) -> None:
    config = PICTURES[name].config_class(env_id=CLUTTERED, **changes)
    env_kwargs = {"budget": 2, "scene_size": 40, "clutter": 0}
    model = PICTURES[name](Setting.of(CLUTTERED, env_kwargs), config)
    missed = []

    def note(layer: nn.Module, seen: Any, given: Any) -> None:
        with multiply_adds() as alone:
            type(layer).forward(layer, *seen)
        if alone() == 0:
            missed.append(layer)

    weighty = (nn.Linear, nn.Conv2d, nn.RNNCellBase, nn.RNNBase)
    layers = [layer for layer in model.modules() if isinstance(layer, weighty)]
    for layer in layers:
        layer.register_forward_hook(note)
    costs = measured(model, CLUTTERED, **env_kwargs)
    assert layers
    assert not missed
    curve = costs.by_glimpse["multiply_adds"]
    assert 0 <= costs.per_episode["multiply_adds_reading"] < curve[-1]
    assert (costs.per_episode["multiply_adds_reading"] == 0) == (name in READ_BY_LAYERS)
    assert all(np.diff(curve) > 0)
    assert costs.per_episode["pixels_covered"] == 40 * 40


class Unpriced(FallingBall):
    """Does not say what reading costs."""

    reading = None  # type: ignore[assignment]  # its base has one


def test_a_task_that_does_not_say_what_reading_costs_has_none() -> None:
    register("Tiny/Unpriced-v0", task=f"{__name__}:Unpriced")
    env = gym.make_vec("Tiny/Unpriced-v0", num_envs=1)
    policy = policy_from(SIZES, describe(env))
    assert measure_costs(policy, evaluate(policy, "Tiny/Unpriced-v0", episodes=8)) == Costs()
