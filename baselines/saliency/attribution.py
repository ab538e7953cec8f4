"""What an answer hangs on, by its gradients: implicit attention, which nobody chose.

Captum computes what it has: the input Jacobian and Grad-CAM. The sequential Jacobian, by which each
glimpse is weighed (Graves 2012, section 3.3), it has not, for it sees a layer's last call alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from captum.attr import LayerAttribution, LayerGradCam, Saliency
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.networks import GlimpseNetwork
from baselines.model import Baseline
from baselines.pictures.full_view import FullView
from baselines.pictures.reader import RecurrentReader

Observation = dict[str, NDArray[np.float32]]


def input_jacobian(model: Baseline, scene: Tensor, classes: Tensor) -> Tensor:
    """How much each pixel would move the last answer (Simonyan et al. 2014, section 3.1).

    Args:
        model: any baseline, in eval mode.
        scene: (B, C, H, W) in [0, 1].
        classes: (B,) int64, the answer of each row that is asked about.

    Returns:
        (B, H, W), the absolute slope of that answer's logit, the greatest over the channels.

    Raises:
        ValueError: the model is in training mode, or there is not one class a scene.
    """
    _check(model, scene, classes)
    pixels = scene.detach().clone().requires_grad_()
    slopes = Saliency(lambda seen: model(seen)[-1]).attribute(pixels, target=classes)
    return slopes.detach().amax(dim=1)


def grad_cam(model: Baseline, scene: Tensor, classes: Tensor) -> Tensor:
    """Where the last convolutions speak for an answer (Grad-CAM, Selvaraju et al. 2017, eq. 2).

    Arguments as of `input_jacobian`; the model is a convolutional `FullView`.

    Returns:
        (B, H, W), at least 0, of few cells, drawn out to the scene's size.

    Raises:
        ValueError: the model has no convolutions over the whole scene, or see `input_jacobian`.
    """
    _check(model, scene, classes)
    layer = _last_with_places(model, scene)
    if layer is None:
        raise ValueError(
            f"{model.model.name!r} has no convolutions over the whole scene, which Grad-CAM "
            "weighs: ask for the input Jacobian, or take a 'strong' or 'conv' full view"
        )
    method = LayerGradCam(lambda seen: model(seen)[-1], layer)
    cells = method.attribute(scene, target=classes, relu_attributions=True)
    size = (scene.shape[2], scene.shape[3])
    return LayerAttribution.interpolate(cells, size, "bilinear")[:, 0].detach()


def has_places(model: Baseline, scene: Tensor) -> bool:
    """Whether `grad_cam` can be asked of `model` about `scene` (B, C, H, W)."""
    return _last_with_places(model, scene) is not None


def sequential_jacobian(model: RecurrentReader, scene: Tensor, classes: Tensor) -> Tensor:
    """How much each glimpse moved the last answer, what was read later because of it included.

    Arguments as of `input_jacobian`.

    Returns:
        (B, T), the length of the slope of that answer's logit to each glimpse.

    Raises:
        ValueError: see `input_jacobian`.
    """
    _check(model, scene, classes)
    with _watched(model.glimpse_network) as glimpses:
        logits = model(scene)[-1]
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
        (B, T), for looks as they were: through a hard look no gradient flows.

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


def _last_with_places(model: Baseline, scene: Tensor) -> nn.Module | None:
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
    """The list of all glimpses that `network` is shown meanwhile, each open to gradients."""
    glimpses: list[Tensor] = []

    def note(_: nn.Module, arguments: tuple[dict[str, Tensor]]) -> tuple[dict[str, Tensor]]:
        (observation,) = arguments
        seen = observation[network.what_key]
        if not seen.requires_grad:
            seen = seen.clone().requires_grad_()
        glimpses.append(seen)
        return ({**observation, network.what_key: seen},)

    handle = network.register_forward_pre_hook(note)
    try:
        yield glimpses
    finally:
        handle.remove()


def _lengths(logits: Tensor, classes: Tensor, glimpses: list[Tensor]) -> Tensor:
    """(B, T): the lengths of the slopes of the logits (B, n) of `classes` (B,) to T glimpses."""
    chosen = logits.gather(1, classes[:, None]).sum()
    slopes = torch.autograd.grad(chosen, glimpses, materialize_grads=True)
    return torch.stack([slope.flatten(1).norm(dim=1) for slope in slopes], dim=1)


def _check(model: nn.Module, shown: Tensor | NDArray[Any], classes: Tensor) -> None:
    if model.training:
        raise ValueError("the model is in training mode: call its eval() before asking it why")
    if classes.shape != (len(shown),) or shown.ndim != 4:
        raise ValueError(
            f"{tuple(shown.shape)} pixels and {tuple(classes.shape)} classes do not fit: they are "
            "(B, C, H, W) and (B,)"
        )
