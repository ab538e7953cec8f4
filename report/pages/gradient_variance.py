"""The page of gradient variance, drawn from the record of `benchmarks.variance`.

Its verdict is read off the fitted exponents, so that another measurement may give another.
"""

from functools import partial
from pathlib import Path

from report.figures.gradient_variance import draw_figure
from report.markdown import short_revision
from report.page import Places, Published
from report.pages.gradient_variance_tables import (
    decisions,
    enumerable,
    episodes,
    hidden_units,
    known,
    offset,
)
from report.variance_record import FILE_NAME, Slope, VarianceRecord

PAGE = "docs/gradient_variance.md"
FIGURE = "docs/gradient_variance.svg"

FLAT = 0.2
"""Exponents between this and its negative are called none; within this of 1, linear."""

LINEAR, NONE = "grows linearly", "does not grow"

_HEAD = """# The variance of REINFORCE's gradient

<!-- Drawn by `python -m report` from results/benchmarks; do not edit. -->"""

_METHOD = """## What was measured

A policy is held still and the gradient of what its looks earn is estimated many times over, its
answers held as they are. The variance is tr Cov of the gradient of one update of {episodes}
episodes, copies of a scene counted as episodes, by all parameters that a look's gradient reaches;
noise-to-signal divides it by the squared norm of the gradient itself, without bias. An exponent is
the slope of a straight line through logarithms, with a 95 % bootstrap interval over seeds; where
the gradient itself is not known to within half, there is no noise-to-signal.

- Policies: `agents.policy.glimpse_policy` with an LSTM of as many units as the heads' hidden
  layers, the glimpse network fixed; 64 units and 4 glimpses unless these are varied; Gaussian looks
  with a standard deviation of {look_std}. *Reward by place* pays 1 / looks for each look at the
  middle of a digit (`TranslatedGlyphs`): it depends on nothing else that the network computes, so
  that all widths play the same game from their first weights on. *One bit at the end* is 1 with
  that probability: another reward with the same gradient. *Reward by answer* is the probability of
  the right answer (`CenteredGlyphs`), after {trained_updates} updates of 128 episodes.
- Baselines: the learned one is trained alone, the policy still, until its error on held-out
  episodes has not fallen by 1 % for 5 passes; the moving average has settled; leave-one-out
  compares 4 copies of a scene; actor-critic is GAE with λ = {gae_lambda} and the learned baseline
  as its critic.
- Sampled units: a network with one hidden layer whose units are Bernoulli samples, and the same
  with deterministic ones, its answer sampled in both; the gradient is that of the weights into the
  hidden units.
- One look of D dimensions: a Gaussian whose mean is linear in the input, paid by its nearness to a
  target.

`python -m benchmarks.variance` ({hardware}, revision {revision})."""


def publish(places: Places) -> Published:
    """The page and the figure; nothing where there is no record."""
    path = places.benchmarks / FILE_NAME
    if not path.exists():
        return Published()
    record = VarianceRecord.read(path)
    return Published({PAGE: make_page(record)}, figures={FIGURE: partial(draw_figure, record)})


def make_page(record: VarianceRecord) -> str:
    """Return the Markdown page of a record."""
    revision = short_revision(record.data["revision"])
    blocks = [
        _HEAD,
        verdict(record),
        f"![Gradient variance]({Path(FIGURE).name})",
        "## Hidden units",
        hidden_units(record),
        "## Sampled decisions",
        decisions(record),
        "## Episodes",
        episodes(record),
        "## A constant added to the reward",
        offset(record),
        "## Where the gradient is known",
        enumerable(record),
        _METHOD.format(**{**record.data, "revision": revision}),
    ]
    return "\n\n".join(blocks) + "\n"


# --- the verdict ----------------------------------------------------------------------------------


def growth(slope: Slope) -> str:
    """What an exponent means, in words."""
    if abs(slope.value) <= FLAT:
        return NONE
    if slope.value < 0:
        return "falls"
    if abs(slope.value - 1) <= FLAT:
        return LINEAR
    return "grows more slowly than linearly" if slope.value < 1 else "grows faster than linearly"


def verdict(record: VarianceRecord) -> str:
    """The verdict on linear growth: confirmed, corrected or refuted, and what holds instead."""
    widths = {
        setting: known(record.slope("width", setting, "learned", "variance"))
        for setting in record.settings("width")
    }
    linear = [growth(slope) == LINEAR for slope in widths.values()]
    sampled = known(record.slope("units", "sampled", "learned", "variance"))
    corrected = "Corrected" if growth(sampled) == LINEAR else "Refuted"
    word = "Confirmed" if all(linear) else corrected
    return "\n".join(
        [
            "Does the variance grow linearly with the number of hidden units, as is often claimed? "
            f"**{word}.** Exponents with a learned baseline:\n",
            *(_of_toy(record, setting) for setting in record.settings("units")),
            *(_of_policy(record, setting, slope) for setting, slope in widths.items()),
            *(_of_looks(record, setting) for setting in record.settings("looks")),
            f"\n{_law(record, sum(linear))}",
        ]
    )


def _of_toy(record: VarianceRecord, setting: str) -> str:
    noise, ratio = _pair(record, "units", setting)
    return (
        f"- hidden units of a small network, {setting}: the variance {growth(noise)} ({noise}), "
        f"noise-to-signal {growth(ratio)} ({ratio})"
    )


def _of_policy(record: VarianceRecord, setting: str, noise: Slope) -> str:
    ratio = record.slope("width", setting, "learned", "noise_to_signal")
    growth_of_ratio = "is not known" if ratio is None else f"{growth(ratio)} ({ratio})"
    earned = record.curve("width", setting, "learned", "reward")
    least, most = min(earned), max(earned)
    return (
        f"- width of a policy ({setting}): the variance {growth(noise)} ({noise}), noise-to-signal "
        f"{growth_of_ratio}; it earns {earned[least]:.2g} with {least:g} units and "
        f"{earned[most]:.2g} with {most:g}"
    )


def _of_looks(record: VarianceRecord, setting: str) -> str:
    noise, ratio = _pair(record, "looks", setting)
    return (
        f"- looks ({setting}): the variance {growth(noise)} ({noise}), noise-to-signal "
        f"{growth(ratio)} ({ratio})"
    )


def _law(record: VarianceRecord, linear_widths: int) -> str:
    """What all of it comes to, where one law fits."""
    units = [growth(_pair(record, "units", setting)[1]) for setting in ("sampled", "deterministic")]
    at_once = {
        growth(_pair(record, "looks", setting)[1])
        for setting in record.settings("looks")
        if setting.endswith("at the end")
    }
    ratios = {
        setting: slope
        for setting in record.settings("width")
        if (slope := record.slope("width", setting, "learned", "noise_to_signal"))
    }
    alike = {growth(slope) for name, slope in ratios.items() if name.endswith("initialisation")}
    if units != [LINEAR, NONE] or at_once != {LINEAR} or alike != {NONE}:
        return "No one law fits these exponents: see the tables."
    trained = [str(slope) for name, slope in ratios.items() if name.endswith("training")]
    return (
        "So what REINFORCE's noise-to-signal grows with, linearly, is the number of sampled "
        "decisions that share one reward, be they hidden units or looks, and not the number of "
        "units that compute them: policies that look alike, as at initialisation, are as noisy "
        "whatever their width. Once trained, networks of different widths have learned different "
        f"things, and exponents in the width ({', '.join(trained)}) are of both together"
        f"{_with_training(record)}. "
        f"The variance alone is linear in the width of {linear_widths} of "
        f"{len(record.settings('width'))} policies, and says little by itself: where it grows, so "
        "may the gradient."
    )


def _with_training(record: VarianceRecord) -> str:
    """How noise-to-signal changes with training alone."""
    setting = "tiles, reward by answer, after a short training"
    ratios = record.curve("training", setting, "learned", "noise_to_signal")
    earned = record.curve("training", setting, "learned", "reward")
    first, last = min(ratios), max(ratios)
    return (
        f": at one width, 64, noise-to-signal goes from {ratios[first]:.2g} after "
        f"{first:g} updates (earning {earned[first]:.2g}) to {ratios[last]:.2g} after {last:g} "
        f"(earning {earned[last]:.2g})"
    )


def _pair(record: VarianceRecord, experiment: str, setting: str) -> tuple[Slope, Slope]:
    """The exponents of variance and noise-to-signal with a learned baseline."""
    noise = record.slope(experiment, setting, "learned", "variance")
    ratio = record.slope(experiment, setting, "learned", "noise_to_signal")
    if noise is None or ratio is None:
        raise ValueError(f"the record has no exponents of {experiment}, {setting}: measure again")
    return noise, ratio
