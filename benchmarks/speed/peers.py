"""Our nearest peer, ap_gym 0.7.0 (pip install --group peers), on its own setting.

Its setting is a 28x28 image, one 5x5 glimpse, 16 steps, moves of at most 0.2: its CircleSquare, and
its classification of MNIST. Its own MNIST comes over the network, so its environment is given our
built-in digits instead, which have the same size. Its batch ends together and resets itself by
`NextStep`; ours resets itself in the same step.
"""

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.suite import SUITE

ROWS = (64, 256, 1024)
"""Numbers of rows of which ap_gym is given the best."""


def circle_square(num_envs: int) -> VectorEnv:
    """ap_gym's CircleSquare.

    Raises:
        ImportError: ap_gym is not installed, or what it needs is not.
    """
    from ap_gym.envs.image import CircleSquareDataset

    return _classification(CircleSquareDataset(image_shape=(28, 28)), num_envs)


def digits(num_envs: int) -> VectorEnv:
    """ap_gym's image classification, on our built-in digits.

    Raises:
        ImportError: ap_gym is not installed, or what it needs is not.
    """
    from ap_gym.envs.image import ImageClassificationDataset

    examples = sources.load("glyphs", "train")

    class Digits(ImageClassificationDataset):  # type: ignore[misc]  # ap_gym has no types
        def _get_num_classes(self) -> int:
            return 10

        def _get_num_channels(self) -> int:
            return 1

        def _get_length(self) -> int:
            return len(examples)

        def _get_data_point_batch(
            self, idx: NDArray[np.int64]
        ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
            return examples.images[idx, 0], examples.labels[idx]

    return _classification(Digits(), num_envs)


def our_digits(num_envs: int) -> VectorEnv:
    """The same glimpses of the same digits by this package."""
    return ours("Glimpse/CircleSquare-v0", num_envs, scene="images", source="glyphs")


def ours(env_id: str, num_envs: int, **changes: Any) -> VectorEnv:
    """An environment of ours, with some of its arguments changed."""
    row = SUITE[env_id]
    arguments = {"autoreset_mode": "SameStep"} | row.kwargs | changes
    return GlimpseVectorEnv(num_envs, task=row.task, **arguments)


def _classification(dataset: Any, num_envs: int) -> VectorEnv:
    from ap_gym.envs.image import ImagePerceptionConfig
    from ap_gym.envs.image_classification import ImageClassificationVectorEnv

    return ImageClassificationVectorEnv(num_envs, ImagePerceptionConfig(dataset=dataset))
