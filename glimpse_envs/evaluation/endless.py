"""Episodes of other packages' environments that may never end."""

from gymnasium.vector import VectorEnv

from glimpse_envs.episodes.description import task_of
from glimpse_envs.wrappers.eye import max_steps_of

MOST_STEPS = 10_000
"""Steps after which an episode is taken for endless, where nothing tells how long one may be."""


def check_ends(env: VectorEnv, steps: int) -> None:
    """Raise a ValueError where an episode of `env` has taken `steps`, at least `MOST_STEPS`, and no
    time limit is known."""
    if steps < MOST_STEPS or task_of(env) is not None:
        return
    singles = getattr(env.unwrapped, "envs", None)
    if max_steps_of(singles[0] if singles else env) is not None:
        return
    name = "the environment" if env.spec is None else env.spec.id
    raise ValueError(
        f"an episode of {name} has not ended after {steps:,} steps, and no time limit is known: "
        "register it with max_episode_steps=N, or wrap it in gymnasium.wrappers.TimeLimit"
    )
