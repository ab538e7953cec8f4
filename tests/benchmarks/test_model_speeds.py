"""The speed of each model: all have a config, and what is measured of one adds up."""

from dataclasses import replace

import pytest

from baselines.pictures.picture_model import PictureModel
from baselines.train import MODELS
from benchmarks.speed.models import KNOWN, configs, measure


def test_every_model_of_pictures_is_measured() -> None:
    measured = {make().algorithm for make in configs("float32").values()}
    pictures = {name for name, model in MODELS.items() if issubclass(model, PictureModel)}
    assert measured >= pictures | {"captioner", "reinforce", "actor_critic", "exact"}
    assert measured <= KNOWN.keys()


@pytest.mark.learning
@pytest.mark.parametrize("name", ["full_dense", "reinforce"])
def test_a_models_arithmetic_is_counted_and_its_training_timed(name: str) -> None:
    config = replace(configs("float32")[name](), batch_size=16, optimizer="adam")
    speed, peak = measure(name, config, repeats=1, shortest=0.01)
    assert (speed.model, speed.batch_size) == (name, 16)
    assert speed.images_per_second > 0
    assert peak > 0
    assert speed.gigaflops == pytest.approx(speed.images_per_second * speed.megaflops / 1e3)
    if name == "full_dense":
        first, units, answers = 60 * 60 * 256, 256 * 256, 256 * 10
        # Forward, and backward by weights and by inputs, but for the scene.
        assert speed.megaflops == pytest.approx(2 * (3 * (units + answers) + 2 * first) / 1e6)
