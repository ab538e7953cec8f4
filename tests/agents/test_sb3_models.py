"""Models of Stable-Baselines3's learners: what they are made of, and which cannot be."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3.common.preprocessing import preprocess_obs

from agents.policy.networks import NetworkConfig
from agents.sb3.features import GlimpseFeatures
from agents.sb3.models import (
    CONFIGS,
    A2CConfig,
    PPOConfig,
    RecurrentPPOConfig,
    SB3Config,
    check_config,
    make_model,
    with_history,
)
from glimpse_envs.adapters.sb3 import make_sb3_env
from tests.support.episodes import CENTRED, make_vector
from tests.support.sb3 import SMALL, small

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "timesteps": ({"timesteps": 0}, "timesteps=0 must be at least 1"),
    "minutes": ({"minutes": 0.0}, "minutes=0.0 must be"),
    "rate": ({"learning_rate": -1.0}, "learning_rate=-1.0 must be above 0"),
    "gamma": ({"gamma": 1.5}, "gamma=1.5 must be at least 0 and at most 1"),
    "clip": ({"clip_range": 0.0}, "clip_range=0.0 must be above 0"),
    "core": ({"network": NetworkConfig(core="gru")}, "network.core='lstm' or none"),
    "units": ({"network": NetworkConfig(what_units=0)}, "what_units=0 must be at least 1"),
    "flat": ({"env_kwargs": {"flat": "discrete"}}, "env_kwargs: flat cannot be set here"),
    "flat observation": (
        {"env_kwargs": {"flat_observation": True}},
        "env_kwargs: flat_observation cannot be set here",
    ),
    "flat id": (
        {"env_id": "glimpse_envs.flat_ids:GlimpseDiscrete/CenteredGlyphs-v0"},
        "has flat actions or observations, which this command makes itself",
    ),
    "split": ({"env_kwargs": {"split": "test"}}, "env_kwargs: split cannot be set here"),
}


@pytest.mark.parametrize(("changes", "says"), BAD.values(), ids=BAD)
def test_what_cannot_be_trained_is_refused_by_name(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_config(PPOConfig(**changes))


def test_learners_without_memory_are_shown_all_glimpses_unless_told_otherwise() -> None:
    def given(kind: type[SB3Config], **env_kwargs: Any) -> Any:
        return with_history(kind(env_id=CENTRED, env_kwargs=env_kwargs)).env_kwargs.get("history")

    assert given(PPOConfig) is given(A2CConfig) is True
    assert given(PPOConfig, history=False) is False
    assert given(PPOConfig, view="full") is given(RecurrentPPOConfig) is None


def features(network: NetworkConfig = SMALL, **kwargs: Any) -> tuple[GlimpseFeatures, Any]:
    """The features of an environment, and observations of 3 rows after two of four glimpses."""
    torch.manual_seed(0)
    envs = make_vector(CENTRED, 3, budget=4, **kwargs)
    observation, _ = envs.reset(seed=0)
    if kwargs.get("view") != "full":
        look = np.array([[0.5, 0.5], [-0.5, 0.0], [0.0, 0.2]])
        observation = envs.step({"look": look, "answer": np.zeros(3, np.int64)})[0]
    space = envs.single_observation_space
    assert isinstance(space, spaces.Dict)
    tensors = {name: torch.as_tensor(value) for name, value in observation.items()}
    return GlimpseFeatures(space, network), tensors


def test_features_have_the_sizes_that_they_say() -> None:
    for kwargs, units in (({}, 16), ({"history": True}, 12), ({"view": "full"}, 16)):
        found, seen = features(replace(SMALL, core_units=12), **kwargs)
        assert found.features_dim == units
        assert found(seen).shape == (3, units)


@pytest.mark.parametrize("history", [False, True])
def test_a_context_is_refused_with_a_history_too(history: bool) -> None:
    with pytest.raises(ValueError, match="make the environment with context=False"):
        features(context=True, history=history)


def test_of_a_history_the_glimpses_taken_count_in_their_order() -> None:
    found, seen = features(history=True)
    expected = found(seen)

    noise = seen | {"glimpse": seen["glimpse"].clone()}
    noise["glimpse"][:, 2:] = 0.7  # not taken yet
    assert torch.equal(found(noise), expected)
    noise["glimpse"][:, 0] = 0.7
    assert (found(noise) != expected).any(dim=1).all(), "the first glimpse is remembered"
    swapped = seen | {key: seen[key][:, [1, 0, 2, 3]] for key in ("glimpse", "location")}
    assert (found(swapped) != expected).any(dim=1).all(), "and so is the order"


def test_what_is_asked_for_is_seen_beside_a_history() -> None:
    torch.manual_seed(0)
    envs = make_sb3_env("Glimpse/SearchGlyphs-v0", 2, history=True)
    space = envs.observation_space
    assert isinstance(space, spaces.Dict)
    found = GlimpseFeatures(space, SMALL)
    seen = {key: torch.as_tensor(part) for key, part in envs.reset().items()}
    before = preprocess_obs(seen, space)
    after = preprocess_obs(seen | {"question": (seen["question"] + 1) % 10}, space)
    assert (found(before) != found(after)).any(dim=1).all()
    envs.close()


def test_every_algorithm_fits_places_tiles_stops_and_full_views() -> None:
    for kind in CONFIGS.values():
        for env_kwargs in (
            {}, {"look": "tiles", "stop": True}, {"history": True}, {"view": "full"},
        ):  # fmt: skip
            config = small(kind, env_kwargs, n_envs=2, n_steps=4)
            if isinstance(config, PPOConfig):
                config = replace(config, minibatch_size=8)
            venv = make_sb3_env(CENTRED, 2, **env_kwargs)
            model = make_model(config, venv).learn(8)
            assert model.num_timesteps == 8


def test_a_model_says_what_it_sees() -> None:
    for kind in CONFIGS.values():
        glimpsed, whole = small(kind, {}).model, small(kind, {"view": "full"}).model
        assert (glimpsed.sees, glimpsed.attention) == ("glimpses", "hard")
        assert (whole.sees, whole.attention) == ("everything", "none")
        assert glimpsed.learns_from == whole.learns_from == "reward"


def test_a_look_std_that_is_not_learned_stays() -> None:
    network = replace(SMALL, learn_look_std=False)
    config = small(A2CConfig, {}, n_envs=2, network=network)
    model = make_model(config, make_sb3_env(CENTRED, 2)).learn(64)
    log_std = model.policy.log_std
    assert torch.allclose(log_std.exp(), torch.full((12,), 0.3))
