"""Episodes of other packages' environments that may never end."""

import warnings

from gymnasium.vector import VectorEnv

from glimpse_envs.episodes.description import task_of
from glimpse_envs.wrappers.time_limits import max_steps_of

LONG, ENDLESS = 10_000, 200_000
"""Steps after which an episode is warned of, and after which it is taken for endless, where nothing
tells how long one may be. Games of Atari end after 108,000 frames."""


def check_ends(env: VectorEnv, steps: int) -> None:
    """Warn where an episode of `env` has taken `LONG` steps, and no time limit is known.

    Raises:
        ValueError: it has taken `ENDLESS` steps.
    """
    if steps not in (LONG, ENDLESS) or task_of(env) is not None:
        return
    singles = getattr(env.unwrapped, "envs", None)
    if max_steps_of(singles[0] if singles else env) is not None:
        return
    name = "the environment" if env.spec is None else env.spec.id
    message = (
        f"an episode of {name} has not ended after {steps:,} steps, and no time limit is known. If "
        "it never ends, register the environment with max_episode_steps=N, or let it truncate"
    )
    if steps == ENDLESS:
        raise ValueError(message)
    warnings.warn(message, stacklevel=2)
