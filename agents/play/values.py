"""What the value of a trained agent estimates, in words, by the config of its training."""

from typing import Any

from glimpse_envs.episodes.description import Description

COUNTED = {"probability": "their probability", "log_likelihood": "their log-likelihood"}
"""What right answers are paid by, by the `look_signal` of the training."""


def value_meaning(algorithm: str, config: dict[str, Any], description: Description) -> str | None:
    """Return what the value estimates: rewards of the training, which may differ from those of the
    environment; None where it was not trained.

    Args:
        algorithm: the learner's name.
        config: the learner's, as its run keeps it.
        description: of the environment.
    """
    if algorithm == "straight_through" or not _is_trained(config):
        return None
    signal, taught = _signal(config), description.taught
    meaning = "the return still to come"
    if signal is not None and taught is not None:
        if description.answer_reward == 0.0:  # paid as a whole, as a sentence is
            meaning += f", plus the mean over right {taught}s of {COUNTED[signal]}"
        else:
            meaning += f", with right {taught}s paid by {COUNTED[signal]}"
    if config.get("look_gain"):
        meaning += f", less what the present {taught} would earn"
    if config.get("discount", 1.0) < 1.0:
        meaning += f", discounted by {config['discount']:g} a step"
    if config.get("curiosity"):
        meaning += ", without the bonus for curiosity"
    if config.get("sugarl_weight"):
        meaning += ", less the costs of acts that the glimpses do not show"
    return meaning


def _is_trained(config: dict[str, Any]) -> bool:
    """Whether a policy's value is used, and has a loss with a weight."""
    if config.get("baseline", "learned") != "learned" or config.get("paths") == "all":
        return False
    return all(config.get(weight, 1.0) for weight in ("value_weight", "baseline_weight"))


def _signal(config: dict[str, Any]) -> str | None:
    """What right answers are paid by in place of their reward, a key of `COUNTED`; None for the
    reward itself."""
    if "objective" in config:  # the exact learner's
        return "log_likelihood" if config["objective"] == "marginal_likelihood" else "probability"
    signal = config.get("look_signal")
    return signal if signal in COUNTED and config.get("answer_by") == "label" else None
