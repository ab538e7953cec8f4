"""Whether a policy is scored by its likeliest actions or by samples of them."""

from __future__ import annotations

from typing import Literal

from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.suite import ATARI, MINIGRID

Actions = Literal["likeliest", "sampled"]


def usual_actions(env_id: str) -> Actions:
    """How `agents` score, film and show policies of an environment unless told otherwise.

    In games and grids likeliest actions may lead in a circle for ever, so that they are sampled, as
    RL Baselines3 Zoo does there; elsewhere the likeliest are taken.
    """
    return "sampled" if spec_of(env_id).id in (ATARI, MINIGRID) else "likeliest"
