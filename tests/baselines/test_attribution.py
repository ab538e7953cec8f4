"""Attributions agree with models that can be taken apart by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.core import Core, State
from agents.policy.making import policy_from
from baselines.model import Answers, BaselineConfig, Observation
from baselines.pictures.full_view import FullView, FullViewConfig, GreatestResponse
from baselines.pictures.picture_model import PictureModel
from baselines.pictures.reader import ReaderConfig, RecurrentReader
from baselines.saliency.attribution import (
    grad_cam,
    has_places,
    input_jacobian,
    scanpath_jacobian,
    sequential_jacobian,
)
from baselines.setting import Setting
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.record import Model
from tests.support.baselines import PICTURE_KINDS, model_of
from tests.support.episodes import CENTRED, make_single
from tests.support.tiny import tiny_network

B, T, G = 3, 3, 8
CLASSES = torch.tensor([2, 0, 3])
SETTING = Setting.of(CENTRED, {"budget": T})


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


SCENE = noise(B, 1, 28, 28)


class Linear(PictureModel):
    """Each logit is a weighted sum of the pixels; earlier answers have other weights."""

    model = Model("Full view linear")

    def __init__(self, channels: int) -> None:
        super().__init__(SETTING, BaselineConfig())
        self.weights = noise(T, 10, channels, 5, 7) - 0.5

    def forward(self, observation: Observation) -> Answers:
        return Answers(torch.einsum("tnchw,bchw->tbn", self.weights, observation["scene"]))


class Strips(RecurrentReader):
    """Reads a part of its own of the scene at each step: one below the other."""

    def __init__(self, core: str = "lstm") -> None:
        torch.manual_seed(0)
        config = ReaderConfig(network=tiny_network(core=core))
        glimpse = SETTING.picture.glimpse_space["glimpse"]
        super().__init__(SETTING, config, {"glimpse": glimpse}, "strips")
        self.eval()

    def prepare(self, scene: Tensor) -> list[Tensor]:
        return [scene[:, :, G * step : G * (step + 1), :G] for step in range(T)][::-1]

    def read(self, prepared: list[Tensor], core: Tensor) -> dict[str, Tensor]:
        return {"glimpse": prepared.pop()}

    def weights(self, prepared: list[Tensor], core: Tensor) -> Tensor:
        raise NotImplementedError


class Forgetful(Core):
    """Keeps nothing of what was seen before."""

    units = 8

    def initial_state(self, rows: int) -> State:
        return (torch.zeros(rows, self.units),)

    def forward(self, seen: Tensor, state: State) -> State:
        return (seen,)


# The input Jacobian


@pytest.mark.parametrize("channels", [1, 3])
def test_a_linear_models_input_jacobian_is_its_weights(channels: int) -> None:
    model = Linear(channels).eval()
    found = input_jacobian(model, noise(B, channels, 5, 7), CLASSES)
    torch.testing.assert_close(found, model.weights[-1, CLASSES].abs().amax(dim=1))


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_asking_leaves_the_model_and_the_scene_as_they_were(kind: str) -> None:
    model, scene = model_of(kind), SCENE.clone()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    found = input_jacobian(model, scene, CLASSES)
    assert found.shape == (B, 28, 28)
    assert found.isfinite().all()
    assert not found.requires_grad
    assert (found.flatten(1).amax(dim=1) > 0).all()
    torch.testing.assert_close(input_jacobian(model, scene[1:2], CLASSES[1:2])[0], found[1])
    assert not scene.requires_grad
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


# The sequential Jacobian


@pytest.mark.parametrize("core", ["rnn", "gru", "lstm"])
def test_glimpses_weigh_what_their_pixels_weigh(core: str) -> None:
    """Each glimpse is a part of the scene as it stands, so two ways must agree."""
    model = Strips(core)
    found = sequential_jacobian(model, SCENE, CLASSES)
    assert found.shape == (B, T)
    pixels = input_jacobian(model, SCENE, CLASSES)
    for step in range(T):
        strip = pixels[:, G * step : G * (step + 1), :G]
        torch.testing.assert_close(found[:, step], strip.flatten(1).norm(dim=1))
    assert (found > 0).all()


def test_a_reader_that_forgets_is_moved_by_its_last_glimpse_alone() -> None:
    model = Strips()
    model.core = Forgetful()
    found = sequential_jacobian(model, SCENE, CLASSES)
    assert (found[:, :-1] == 0).all()
    assert (found[:, -1] > 0).all()


@pytest.mark.parametrize("kind", ["content", "location", "draw", "retina"])
def test_every_glimpse_of_a_soft_reader_is_weighed(kind: str) -> None:
    found = sequential_jacobian(model_of(kind), SCENE, CLASSES)
    assert found.shape == (B, 2)
    assert (found > 0).all()


@pytest.mark.parametrize("counting", [False, True])
def test_an_agents_glimpses_are_weighed_along_its_path(counting: bool) -> None:
    torch.manual_seed(0)
    env = make_single(CENTRED, budget=T)
    network = replace(tiny_network(), count_glimpses=counting)
    policy = policy_from(network, describe(env)).eval()
    observations: list[dict[str, NDArray[np.float32]]] = [
        {
            "glimpse": noise(B, 1, G, G, seed=step).numpy(),
            "location": noise(B, 2, seed=step + 10).numpy(),
            "remaining": np.full((B, 1), 1 - (step + 1) / T, np.float32),
        }
        for step in range(T)
    ]
    found = scanpath_jacobian(policy, observations, CLASSES)
    shown = [policy.as_tensors(observation) for observation in observations]
    glimpses = [observation["glimpse"].requires_grad_() for observation in shown]
    state = policy.initial_state(B)
    for observation in shown:
        decision, state = policy(observation, state)
    answer: Any = decision.heads["answer"]
    slopes = torch.autograd.grad(answer.logits[range(B), CLASSES].sum(), glimpses)
    expected = torch.stack([slope.square().sum(dim=(1, 2, 3)).sqrt() for slope in slopes], dim=1)
    torch.testing.assert_close(found, expected)
    assert (found > 0).all()


# Grad-CAM


@pytest.mark.parametrize(("kind", "after"), [("conv", 2), ("strong", 5)])
def test_grad_cam_is_the_papers_equations(kind: Any, after: int) -> None:
    """Selvaraju et al. 2017, equations 1 and 2; `after`: layers up to the last with places."""
    torch.manual_seed(0)
    model = FullView(SETTING, FullViewConfig(kind=kind, channels=8)).eval()
    layers = list(model.layers.children())
    maps = nn.Sequential(*layers[:after])(SCENE).detach().requires_grad_()
    logits = nn.Sequential(*layers[after:])(maps)
    (slopes,) = torch.autograd.grad(logits[range(B), CLASSES].sum(), maps)
    weights = slopes.mean(dim=(2, 3), keepdim=True)
    cells = (weights * maps).sum(dim=1, keepdim=True).relu().detach()
    expected = F.interpolate(cells, (28, 28), mode="bilinear")[:, 0]
    torch.testing.assert_close(grad_cam(model, SCENE, CLASSES), expected)
    assert expected.max() > 0


@torch.no_grad()
def test_grad_cam_points_at_the_evidence() -> None:
    model = FullView(SETTING, FullViewConfig()).eval()
    spot, logits = nn.Conv2d(1, 1, 3, padding=1, bias=False), nn.Linear(1, 10)
    spot.weight.fill_(1.0)
    logits.weight.fill_(-1.0)
    logits.weight[4] = 1.0
    model.layers = nn.Sequential(spot, nn.ReLU(), GreatestResponse(), logits)
    scene = torch.zeros(2, 1, 28, 28)
    scene[0, 0, 7, 20], scene[1, 0, 25, 3] = 1.0, 1.0
    with torch.enable_grad():
        speaks, speaks_not = (grad_cam(model, scene, torch.full((2,), answer)) for answer in (4, 5))
    for row, (y, x) in enumerate([(7, 20), (25, 3)]):
        lit = speaks[row].nonzero().double().mean(dim=0)
        assert lit.tolist() == [y, x]
    assert (speaks_not == 0).all(), "only what speaks for the answer counts"


@pytest.mark.parametrize("kind", ["dense", "affine", "draw"])
def test_a_model_without_convolutions_over_the_scene_has_no_grad_cam(kind: str) -> None:
    model = model_of(kind)
    assert not has_places(model, SCENE)
    with pytest.raises(
        ValueError, match=f"'{model.model.name}' has no convolutions over the whole"
    ):
        grad_cam(model, SCENE, CLASSES)


@pytest.mark.parametrize("ask", [input_jacobian, grad_cam])
def test_what_cannot_be_asked_is_refused(ask: Any) -> None:
    model = model_of("conv")
    with pytest.raises(ValueError, match=r"\(3, 1, 28, 28\) pixels and \(2,\) classes do not fit"):
        ask(model, SCENE, CLASSES[:2])
    with pytest.raises(ValueError, match=r"call its eval\(\)"):
        ask(model.train(), SCENE, CLASSES)
