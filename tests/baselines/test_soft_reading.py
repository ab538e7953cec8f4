"""What baselines read inside themselves is what the papers say, and what a hard agent would see."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from baselines.attention import attend
from baselines.pictures.full_view import FullView, FullViewConfig
from baselines.pictures.gaussian_window import GaussianWindow, GaussianWindowConfig
from baselines.pictures.reader import RecurrentReader
from baselines.pictures.soft_tiles import SoftTiles, SoftTilesConfig
from baselines.pictures.spatial_transformer import (
    WINDOW_PACE,
    SpatialTransformer,
    SpatialTransformerConfig,
)
from baselines.setting import Setting
from tests.support.episodes import CLUTTERED, make_vector
from tests.support.tiny import tiny_network

NETWORK = tiny_network()
SCENES = np.array([3, 8])


def setting_of(**env_kwargs: Any) -> Setting:
    return Setting.of(CLUTTERED, env_kwargs)


def scenes() -> Tensor:
    """Two scenes of the test split, (2, 1, 60, 60)."""
    env = make_vector(CLUTTERED, len(SCENES), split="test", view="full")
    observation, _ = env.reset(seed=0, options={"scene": SCENES})
    return torch.as_tensor(np.array(observation["scene"]))


def glimpses_at(locations: NDArray[Any], scene: int, **env_kwargs: Any) -> dict[str, Tensor]:
    """What the environment shows at each of n looks at one scene: `glimpse` (n, K C, g, g) and
    `location` (n, 2)."""
    n = len(locations)
    env = make_vector(CLUTTERED, n, split="test", **env_kwargs)
    env.reset(seed=0, options={"scene": np.full(n, scene)})
    action = {"look": locations, "answer": np.zeros(n, np.int64)}
    observation, *_ = env.step(action)
    return {name: torch.as_tensor(np.array(observation[name])) for name in ("glimpse", "location")}


def all_tiles(setting: Setting, scene: int, **env_kwargs: Any) -> dict[str, Tensor]:
    tiles = np.arange(len(setting.picture.view.tile_locations))
    return glimpses_at(tiles, scene, look="tiles", **env_kwargs)


def core_output(rows: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(rows, NETWORK.core_units, generator=generator)


def soft_tiles(setting: Setting, **changes: Any) -> SoftTiles:
    torch.manual_seed(0)
    return SoftTiles(setting, SoftTilesConfig(network=NETWORK, **changes)).eval()


# Soft tiles


@pytest.mark.parametrize("env_kwargs", [{}, {"inside": True, "scales": 2}], ids=str)
@torch.no_grad()
def test_all_weight_on_one_tile_shows_what_a_hard_agent_sees(env_kwargs: dict[str, Any]) -> None:
    setting = setting_of(**env_kwargs)
    model = soft_tiles(setting, attention="location")
    prepared, last = model.prepare(scenes()), model.look.logits[-1]  # type: ignore[index]
    expected = [all_tiles(setting, scene, **env_kwargs) for scene in SCENES]
    for tile in range(len(setting.picture.view.tile_locations)):
        last.weight.zero_()
        last.bias.copy_(1e4 * F.one_hot(torch.tensor(tile), len(last.bias)))
        seen = model.read(prepared, core_output(len(SCENES)))
        for row, hard in enumerate(expected):
            for name, values in hard.items():
                torch.testing.assert_close(seen[name][row], values[tile], atol=1e-5, rtol=0)


@torch.no_grad()
def test_soft_tiles_read_the_mean_of_hard_looks_by_the_same_head() -> None:
    setting, samples = setting_of(), 20_000
    model = soft_tiles(setting, attention="location")
    model.look.logits[-1].bias.normal_(generator=torch.Generator().manual_seed(1))  # type: ignore[index]
    core = core_output(1).expand(len(SCENES), -1)
    seen = model.read(model.prepare(scenes()), core)
    looks = model.look(core[:1].expand(samples, -1), {}).sample(torch.Generator().manual_seed(2))
    for row, scene in enumerate(SCENES):
        for name, values in all_tiles(setting, scene).items():
            drawn = values[looks]
            error = drawn.std(dim=0) / math.sqrt(samples)
            assert ((drawn.mean(dim=0) - seen[name][row]).abs() <= 5 * error + 1e-5).all()
            assert (seen[name][row] - values.mean(dim=0)).abs().max() > 0.02, "not all alike"


@pytest.mark.parametrize("score", ["additive", "cosine", "dot"])
@torch.no_grad()
def test_attention_by_content_weighs_what_the_tiles_show(score: Any) -> None:
    setting = setting_of()
    model = soft_tiles(setting, score=score, temperature=0.002, key_units=8)
    prepared, core = model.prepare(scenes()), core_output(len(SCENES))
    seen = model.read(prepared, core)
    values, keys = prepared
    assert keys is not None
    _, weights = attend(
        model.query(core), keys, values, score=model.score, temperature=0.002, need_weights=True
    )
    assert weights.amax(dim=1).min() > 1.5 / weights.shape[1], "not all alike"
    assert not torch.allclose(weights[0], weights[1]), "other scenes, other weights"
    for row, scene in enumerate(SCENES):
        for name, tiles in all_tiles(setting, scene).items():
            expected = torch.einsum("n,n...->...", weights[row], tiles)
            torch.testing.assert_close(seen[name][row], expected, atol=1e-4, rtol=0)


# The Gaussian window


def loop_of_draw(scene: NDArray[Any], where: NDArray[Any], g: int) -> NDArray[np.float64]:
    """DRAW's equations 19, 20 and 25 to 27, one pixel at a time: (C, g, g) of (C, H, W).

    `where` (5,): place in [-1, 1], stride and standard deviation in strides of a window as large as
    the longer side, and the logarithm of the intensity before it is squashed.
    """
    channels, height, width = scene.shape
    x, y, stride, deviation, intensity = where.astype(float)
    whole = (max(height, width) - 1) / (g - 1)
    centre_x, centre_y = (x + 1) / 2 * width, (y + 1) / 2 * height
    stride, deviation = stride * whole, deviation * whole

    def filters(centre: float, pixels: int) -> NDArray[np.float64]:
        bank = np.zeros((g, pixels))
        for i in range(g):
            mean = centre + (i + 1 - g / 2 - 0.5) * stride
            for a in range(pixels):
                bank[i, a] = math.exp(-((a + 0.5 - mean) ** 2) / (2 * deviation**2))
            bank[i] /= bank[i].sum()
        return bank

    across, down = filters(centre_x, width), filters(centre_y, height)
    read = [math.exp(math.tanh(intensity)) * down @ scene[c] @ across.T for c in range(channels)]
    return np.stack(read)


@torch.no_grad()
def test_draws_window_is_a_loop_over_its_equations() -> None:
    setting = setting_of(glimpse_size=5)
    view = replace(setting.picture.view, scene_shape=(2, 14, 21))
    setting = replace(setting, scene=replace(setting.picture, view=view))
    torch.manual_seed(0)
    model = GaussianWindow(setting, GaussianWindowConfig(network=NETWORK))
    last = model.look[-1]
    assert isinstance(last, nn.Linear)
    last.bias.normal_(std=8.0)
    scene = torch.rand(4, 2, 14, 21)
    last.weight.normal_(std=8.0)
    seen = model.read(scene, core_output(4))
    places = seen["location"]
    assert (places.std(dim=0) > 0.01).all(), "windows of all kinds"
    for row in range(4):
        expected = loop_of_draw(scene[row].double().numpy(), places[row].numpy(), g=5)
        np.testing.assert_allclose(seen["glimpse"][row], expected, atol=2e-5)


@pytest.mark.parametrize(("asked", "share"), [(None, 2.5 * 11 / 59), (0.3, 0.3), (0.9, 0.9)])
@torch.no_grad()
def test_draws_first_window_spans_a_share_of_the_scene(asked: float | None, share: float) -> None:
    model = GaussianWindow(setting_of(), GaussianWindowConfig(first_window=asked, network=NETWORK))
    last = model.look[-1]
    assert isinstance(last, nn.Linear)
    last.weight.zero_()
    last.bias.zero_()
    places = model.read(scenes(), core_output(2))["location"]
    assert places[:, :2].abs().max() == 0, "in the middle"
    assert places[:, 2].tolist() == pytest.approx([share, share], rel=1e-5)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, math.nan])
def test_a_first_window_that_cannot_be_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match=r"first_window=.* must be above 0 and below 1, or None"):
        GaussianWindow(setting_of(), GaussianWindowConfig(first_window=share, network=NETWORK))


@torch.no_grad()
def test_the_soft_retina_is_nearly_the_hard_one() -> None:
    setting = setting_of()
    model = GaussianWindow(setting, GaussianWindowConfig(window="retina", network=NETWORK))
    last = model.look[-1]
    assert isinstance(last, nn.Linear)
    last.weight.normal_(std=5.0, generator=torch.Generator().manual_seed(0))
    core = core_output(12)
    scene = scenes()[:1].expand(12, -1, -1, -1)
    seen = model.read(scene, core)
    assert seen["location"].std() > 0.2
    hard = glimpses_at(seen["location"].numpy(), int(SCENES[0]))
    torch.testing.assert_close(seen["location"], hard["location"])
    by_scale = [part["glimpse"].reshape(12, 3, -1) for part in (seen, hard)]
    for scale in range(3):
        soft, sharp = (part[:, scale].flatten() for part in by_scale)
        assert torch.corrcoef(torch.stack([soft, sharp]))[0, 1] > 0.9
        assert soft.mean().item() == pytest.approx(sharp.mean().item(), rel=0.1)


# The spatial transformer


READERS: dict[str, Callable[[Setting], RecurrentReader]] = {
    "draw": lambda setting: GaussianWindow(setting, GaussianWindowConfig(network=NETWORK)),
    "retina": lambda setting: GaussianWindow(
        setting, GaussianWindowConfig(window="retina", network=NETWORK)
    ),
    "location": lambda setting: soft_tiles(setting, attention="location"),
    "content": lambda setting: soft_tiles(setting, attention="content", score="dot"),
}


@pytest.mark.parametrize("kind", READERS)
def test_attention_is_how_much_each_pixel_moves_the_glimpse(kind: str) -> None:
    model = READERS[kind](setting_of(scales=1, budget=3)).eval()
    scene, core = scenes().requires_grad_(), core_output(2)
    prepared = model.prepare(scene)
    if isinstance(prepared, tuple):  # keys choose the weights: they are held fixed
        prepared = prepared[0], None if prepared[1] is None else prepared[1].detach()
    (slopes,) = torch.autograd.grad(model.read(prepared, core)["glimpse"].sum(), scene)
    slopes, weights = slopes[:, 0], model.weights(prepared, core)
    expected = slopes / slopes.sum(dim=(-2, -1), keepdim=True)
    shares = weights / weights.sum(dim=(-2, -1), keepdim=True)
    torch.testing.assert_close(shares, expected, atol=1e-6, rtol=1e-3)

    maps = model.attention({"scene": scene.detach().numpy()})
    assert maps.shape == (2, 3, 60, 60)
    assert maps.min() >= 0
    np.testing.assert_allclose(maps.sum(axis=(-2, -1)), 1.0, rtol=1e-4)


def transformer(**changes: Any) -> SpatialTransformer:
    torch.manual_seed(0)
    return SpatialTransformer(setting_of(), SpatialTransformerConfig(**changes)).eval()


@pytest.mark.parametrize("transform", ["affine", "attention"])
@torch.no_grad()
def test_the_identity_shows_the_whole_scene(transform: Any) -> None:
    model, scene = transformer(transform=transform, first_scale=1.0, size=60), scenes()
    theta = model.locate(scene)
    torch.testing.assert_close(theta, torch.eye(2, 3).expand(2, 2, 3))
    torch.testing.assert_close(model.cut_out(scene, theta), scene, atol=1e-5, rtol=0)
    smaller = transformer(transform=transform, size=28)
    resized = F.interpolate(scene, (28, 28), mode="bilinear", align_corners=False)
    torch.testing.assert_close(smaller.cut_out(scene, theta), resized, atol=1e-5, rtol=0)


@pytest.mark.parametrize("transform", ["affine", "attention"])
@torch.no_grad()
def test_a_new_window_is_in_the_middle_of_every_scene(transform: Any) -> None:
    theta = transformer(transform=transform, first_scale=0.5).locate(scenes())
    expected = torch.tensor([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    torch.testing.assert_close(theta, expected.expand(2, 2, 3))


def test_a_translation_moves_a_dot_and_what_is_outside_is_black() -> None:
    model = transformer(size=60)
    scene = torch.zeros(1, 1, 60, 60)
    scene[0, 0, 20, 40] = 1.0
    theta = torch.eye(2, 3)[None].clone()
    theta[0, 0, 2], theta[0, 1, 2] = 2 * 6 / 60, -2 * 3 / 60  # 6 pixels right, 3 up
    seen = model.cut_out(scene, theta)
    assert seen[0, 0].argmax() == 23 * 60 + 34
    assert seen.sum().item() == pytest.approx(1.0, abs=1e-4)
    beyond = model.cut_out(torch.ones(1, 1, 60, 60), theta)
    expected = torch.ones(60, 60)
    expected[:3], expected[:, -6:] = 0.0, 0.0
    torch.testing.assert_close(beyond[0, 0], expected, atol=1e-5, rtol=0)


@torch.no_grad()
def test_attention_zooms_alike_on_both_axes() -> None:
    """A scale of 1/2 around a place shows a quarter of the scene, enlarged twice."""
    model, scene = transformer(transform="attention", first_scale=1.0, size=60), scenes()
    last = model.localise[-1]
    assert isinstance(last, nn.Linear)
    last.bias.copy_(torch.tensor([-0.5, 0.5, -0.5]) / WINDOW_PACE)
    theta = model.locate(scene)
    expected = torch.tensor([[0.5, 0.0, 0.5], [0.0, 0.5, -0.5]])
    torch.testing.assert_close(theta, expected.expand(2, 2, 3))
    seen = model.cut_out(scene, theta)
    quarter = F.interpolate(scene[:, :, :30, 30:], scale_factor=2, mode="bilinear")
    # Beyond the quarter's edge the one sees more of the scene, the other its edge again.
    inner = (..., slice(1, -1), slice(1, -1))
    torch.testing.assert_close(seen[inner], quarter[inner], atol=1e-5, rtol=0)


def test_where_to_look_is_learned_from_the_answer() -> None:
    """Gradients reach the localisation network through the reading."""
    model = transformer(size=14)
    F.cross_entropy(model({"scene": scenes()}).logits[0], torch.tensor([1, 2])).backward()  # type: ignore[no-untyped-call]
    last = model.localise[-1]
    assert isinstance(last, nn.Linear)
    assert last.bias.grad is not None
    assert last.bias.grad.abs().min() > 0


# Full view


def test_the_convolutional_network_is_rams() -> None:
    """Mnih et al. 2014, section 4.1: 8 filters of 10 x 10 with stride 5, then 256 units."""
    model = FullView(setting_of(), FullViewConfig(kind="conv"))
    shapes = {name: tuple(value.shape) for name, value in model.layers.named_parameters()}
    places = 11 * 11  # of 60 x 60
    assert list(shapes.values()) == [
        (8, 1, 10, 10), (8,), (256, 8 * places), (256,), (10, 256), (10,)
    ]  # fmt: skip
    convolution = next(iter(model.layers.children()))
    assert isinstance(convolution, nn.Conv2d)
    assert convolution.stride == (5, 5)
    assert model({"scene": scenes()}).logits.shape == (1, 2, 10)
