"""Implicit attention: what an answer depends on, by its gradients.

The input Jacobian and Grad-CAM are Captum's. Captum lacks the sequential Jacobian, which weighs
each glimpse (Graves 2012, section 3.3), because it keeps only a layer's last call.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from captum.attr import LayerAttribution, LayerGradCam, Saliency
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.glimpse_policy import GlimpsePolicy
from baselines.pictures.full_view import FullView
from baselines.pictures.picture_model import PictureModel
from baselines.pictures.reader import RecurrentReader

Observation = dict[str, NDArray[np.float32]]


def input_jacobian(model: PictureModel, scene: Tensor, classes: Tensor) -> Tensor:
    """Effect of each pixel on the last answer (Simonyan et al. 2014, section 3.1).

    Args:
        model: any baseline of pictures, in eval mode.
        scene: (B, C, H, W) in [0, 1].
        classes: (B,) int64, the answer in question of each row.

    Returns:
        (B, H, W), the absolute slope of that answer's logit, the greatest over the channels.

    Raises:
        ValueError: the model is in training mode, or scenes and classes differ in number.
    """
    _check(model, scene, classes)
    pixels = scene.detach().clone().requires_grad_()
    slopes = Saliency(_last_logits(model)).attribute(pixels, target=classes)
    return slopes.detach().amax(dim=1)


def grad_cam(model: PictureModel, scene: Tensor, classes: Tensor) -> Tensor:
    """Places where the last convolutions favour an answer (Grad-CAM, Selvaraju et al. 2017, eq. 2).

    Arguments as of `input_jacobian`; the model is a convolutional `FullView`.

    Returns:
        (B, H, W), at least 0, a coarse map scaled up to the scene's size.

    Raises:
        ValueError: the model has no convolutions over the whole scene, or see `input_jacobian`.
    """
    _check(model, scene, classes)
    layer = _last_with_places(model, scene)
    if layer is None:
        raise ValueError(
            f"{model.model.name!r} has no convolutions over the whole scene for Grad-CAM: ask "
            "for the input Jacobian, or take a 'strong' or 'conv' full view"
        )
    method = LayerGradCam(_last_logits(model), layer)
    cells = method.attribute(scene, target=classes, relu_attributions=True)
    size = (scene.shape[2], scene.shape[3])
    return LayerAttribution.interpolate(cells, size, "bilinear")[:, 0].detach()


def has_places(model: PictureModel, scene: Tensor) -> bool:
    """Whether `grad_cam` takes `model` on `scene` (B, C, H, W)."""
    return _last_with_places(model, scene) is not None


def sequential_jacobian(model: RecurrentReader, scene: Tensor, classes: Tensor) -> Tensor:
    """Effect of each glimpse on the last answer, also through the later reads that it changed.

    Arguments as of `input_jacobian`.

    Returns:
        (B, T), the length of the slope of that answer's logit to each glimpse.

    Raises:
        ValueError: see `input_jacobian`.
    """
    _check(model, scene, classes)
    with _watched(model.glimpse_network) as glimpses:
        logits = _last_logits(model)(scene)
    return _lengths(logits, classes, glimpses)


def scanpath_jacobian(
    policy: GlimpsePolicy, observations: Sequence[Observation], classes: Tensor
) -> Tensor:
    """`sequential_jacobian` of an agent along the scanpath that it took.

    Args:
        policy: in eval mode.
        observations: T, name -> (B, ...), whose glimpses are (B, K C, g, g).
        classes: (B,) int64.

    Returns:
        (B, T), with all looks held fixed: no gradient flows through a hard look.

    Raises:
        ValueError: see `input_jacobian`.
    """
    _check(policy, observations[0]["glimpse"], classes)
    state = policy.initial_state(len(classes))
    with _watched(policy.glimpse_network) as glimpses:
        for observation in observations:
            decision, state = policy(policy.as_tensors(observation), state)
    answer: Any = decision.heads["answer"]
    return _lengths(answer.logits, classes, glimpses)


def _last_logits(model: PictureModel) -> Callable[[Tensor], Tensor]:
    """Map scenes (B, C, H, W) to the last answer's logits (B, n)."""
    return lambda scene: model({"scene": scene}).logits[-1]


def _last_with_places(model: PictureModel, scene: Tensor) -> nn.Module | None:
    """The last layer of a full view that tells one place from another, (B, C, h, w)."""
    last = None
    if isinstance(model, FullView):
        seen = scene
        for layer in model.layers.children():
            seen = layer(seen)
            last = layer if seen.ndim == 4 else last
    return last


@contextmanager
def _watched(network: GlimpseNetwork) -> Iterator[list[Tensor]]:
    """All glimpses that `network` is given within the context, each open to gradients."""
    glimpses: list[Tensor] = []

    def note(_: nn.Module, arguments: tuple[dict[str, Tensor]]) -> tuple[dict[str, Tensor]]:
        (observation,) = arguments
        seen = observation[network.what_key]
        if not seen.requires_grad:
            seen = seen.clone().requires_grad_()
        glimpses.append(seen)
        return ({**observation, network.what_key: seen},)

    with network.register_forward_pre_hook(note):
        yield glimpses


def _lengths(logits: Tensor, classes: Tensor, glimpses: list[Tensor]) -> Tensor:
    """(B, T): the lengths of the slopes of the logits (B, n) of `classes` (B,) to T glimpses."""
    chosen = logits.gather(1, classes[:, None]).sum()
    slopes = torch.autograd.grad(chosen, glimpses, materialize_grads=True)
    return torch.stack([slope.flatten(1).norm(dim=1) for slope in slopes], dim=1)


def _check(model: nn.Module, shown: Tensor | NDArray[Any], classes: Tensor) -> None:
    if model.training:
        raise ValueError("the model is in training mode: call its eval() first")
    if classes.shape != (len(shown),) or shown.ndim != 4:
        raise ValueError(
            f"{tuple(shown.shape)} pixels and {tuple(classes.shape)} classes do not fit: they are "
            "(B, C, H, W) and (B,)"
        )
