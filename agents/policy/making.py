"""The making of a policy for an environment, and what a config asks of the environment."""

from agents.policy.cells import CellsHead
from agents.policy.glimpse_counts import check_countable
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.heads import GaussianHead
from agents.policy.networks import NetworkConfig
from agents.training.checks import check_unused
from glimpse_envs.episodes.description import ACT, Description


def policy_from(config: NetworkConfig, env: Description) -> GlimpsePolicy:
    """The untrained policy for an environment.

    Raises:
        ValueError: `config` does not fit the environment.
    """
    if config.count_glimpses:
        check_countable(env)
    view = env.picture_view
    places = view is not None and view.look == "continuous"
    if config.look_coordinates == "log_move" and not places:
        raise ValueError(
            "look_coordinates='log_move' turns moves into places: it needs the picture of a "
            "task of this package, with look='continuous'"
        )
    if config.look_coordinates == "log_move" and env.observation_space["location"].shape != (2,):
        raise ValueError(
            "look_coordinates='log_move' moves from the present location, and history=True "
            "shows all: leave history out, which a core does not need"
        )
    policy = GlimpsePolicy(env.observation_space, env.components, config, view)
    if config.direct_access is not None and not policy.repeaters:
        raise ValueError(
            f"direct_access={config.direct_access!r}: nothing that is observed here can be "
            "repeated by an action; leave it out"
        )
    learned_by_core = [n for n, part in env.components.items() if part.taught or n == ACT]
    if config.detach_heads and not learned_by_core:
        raise ValueError(
            "detach_heads leaves the core to answers and acts, and there are neither among "
            f"{', '.join(env.components)}: nothing would train it; leave it out"
        )
    if "look" in policy.heads and isinstance(policy.heads["look"], CellsHead):
        check_unused(config, "look_coordinates='scene' or 'log_move'", "look_std", "learn_look_std")
    elif not any(isinstance(head, GaussianHead) for head in policy.heads.values()):
        # A preset's look_std may come with any look.
        check_unused(config, "a look or act drawn from a Gaussian", "learn_look_std")
    return policy
