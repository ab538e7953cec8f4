"""The page of gradient variance, drawn from the record of `benchmarks.variance`.

Its verdict is read off the fitted exponents, so that another measurement may give another.
"""

from collections import Counter
from functools import partial
from pathlib import Path

from report.benchmark_records import with_short_revision
from report.figures.gradient_variance import draw_figure
from report.markdown import ReportError, listed
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

NEAR = 0.2
"""An interval that lies within this of 0 or of 1 is near it."""

LINEAR, NONE = "grows about linearly", "hardly changes"
UNCERTAIN = "is not known well enough"

_RULE = (
    f"The words follow the 95 % intervals. *{NONE.capitalize()}* and *{LINEAR}*: the interval "
    f"lies within {NEAR} of 0, or of 1. *Falls*, *grows more slowly* and *grows faster*: it lies "
    "below 0, between 0 and 1, or above 1. Any other interval is too wide to tell."
)

_HEAD = """# The variance of REINFORCE's gradient

<!-- Drawn by `python -m report` from results/benchmarks; do not edit. -->"""

_METHOD = """## What was measured

The policy is frozen, and the gradient of the expected reward through its looks is estimated many
times; its answers do not learn.

- **Variance**: tr Cov of the gradient estimate of one update of {episodes} episodes (copies of a
  scene are episodes too), over all parameters that a look's gradient reaches.
- **Noise-to-signal**: the variance over the squared norm of the true gradient, estimated without
  bias. A place is left out where that norm is uncertain by more than half for any seed.
- **Seeds**: {policies} of each policy; of sampled units and of one look of D dimensions, {toys}.
- **Exponent**: the slope of a straight line fitted to logarithms, with Student's 95 % interval from
  the variance over seeds. 1 is linear growth, 0 is none.
- **Policies**: `agents.policy.glimpse_policy` with a fixed glimpse network. The LSTM and the heads'
  hidden layers have equally many units, 64 where the width is not varied; episodes have 4 glimpses
  where these are not varied; Gaussian looks have a standard deviation of {look_std}.
- **Rewards**: *reward by place* pays 1 / looks for each look at the middle of a digit
  (`TranslatedGlyphs`). It depends on the looks alone, so that policies of all widths have the same
  task from their initial weights on. *One bit at the end* is 1 with the probability that these
  rewards sum to, which has the same expected gradient. *Reward by answer* is the probability of
  the right answer (`CenteredGlyphs`), of policies trained for {trained_updates} updates of 128
  episodes.
- **Baselines**: the learned one is trained with the policy frozen, until its error on held-out
  episodes has not fallen by 1 % for 5 passes; the moving average has converged; leave-one-out
  compares 4 copies of a scene; actor-critic is GAE with λ = {gae_lambda} and the learned baseline
  as critic.
- **Sampled units**: a network with one hidden layer, whose units are Bernoulli samples or
  deterministic; its answer is sampled in both. The gradient is that of the weights into the hidden
  units.
- **One look of D dimensions**: a Gaussian whose mean is linear in the input. The reward falls with
  the distance to a target.

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
    seeds = {"policies": record.seeds("width"), "toys": record.seeds("units")}
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
        _METHOD.format_map(with_short_revision(record.data) | seeds),
    ]
    return "\n\n".join(blocks) + "\n"


# --- the verdict ----------------------------------------------------------------------------------


def growth(slope: Slope) -> str:
    """What an exponent means, in words."""
    for exponent, word in ((0, NONE), (1, LINEAR)):
        if exponent - NEAR <= slope.low and slope.high <= exponent + NEAR:
            return word
    if slope.high < 0:
        return "falls"
    if slope.low > 1:
        return "grows faster than linearly"
    if slope.low > 0 and slope.high < 1:
        return "grows more slowly than linearly"
    return UNCERTAIN


def _is_linear(slope: Slope) -> bool:
    return growth(slope) == LINEAR


def _is_none(slope: Slope) -> bool:
    return growth(slope) == NONE


def _answer(slope: Slope) -> str:
    """Whether growth is linear."""
    if _is_linear(slope):
        return "yes"
    return "unknown" if growth(slope) == UNCERTAIN else "no"


def verdict(record: VarianceRecord) -> str:
    """Whether growth is linear, and what holds instead."""
    widths = {
        setting: known(record.slope("width", setting, "learned", "variance"))
        for setting in record.settings("width")
    }
    linear = [_is_linear(slope) for slope in widths.values()]
    sampled = known(record.slope("units", "sampled", "learned", "variance"))
    policies = Counter(map(_answer, widths.values()))
    named = {
        answer: [
            *(["sampled units"] if _answer(sampled) == answer else []),
            *([f"{policies[answer]} of {len(widths)} policies"] if policies[answer] else []),
        ]
        for answer in ("yes", "no", "unknown")
    }
    given = {answer: of for answer, of in named.items() if of}
    if all(linear):
        told = "yes"
    elif len(given) == 1:
        (told,) = given
    else:
        told = "; ".join(f"{answer} for {listed(of)}" for answer, of in given.items())
    told = told[0].upper() + told[1:]
    return "\n".join(
        [
            "Does the variance grow linearly with the number of hidden units? "
            f"**{told}.** Below, the exponent with a learned baseline and its 95 % interval. "
            f"{_RULE} Of policies there are {record.seeds('width')} seeds, so no claim is made.\n",
            *(
                _growths(record, "units", setting, f"hidden units of a small network, {setting}")
                for setting in record.settings("units")
            ),
            *(_of_policy(record, setting, slope) for setting, slope in widths.items()),
            *(
                _growths(record, "looks", setting, f"looks ({setting})")
                for setting in record.settings("looks")
            ),
            f"\n{_law(record, sum(linear))}",
        ]
    )


def _growths(record: VarianceRecord, experiment: str, setting: str, name: str) -> str:
    noise, ratio = _pair(record, experiment, setting)
    return (
        f"- {name}: the variance {growth(noise)} ({noise}), noise-to-signal {growth(ratio)} "
        f"({ratio})"
    )


def _of_policy(record: VarianceRecord, setting: str, noise: Slope) -> str:
    ratio = record.slope("width", setting, "learned", "noise_to_signal")
    growth_of_ratio = "is not known" if ratio is None else f"{growth(ratio)} ({ratio})"
    earned = record.curve("width", setting, "learned", "reward")
    least, most = min(earned), max(earned)
    return (
        f"- width of a policy ({setting}): the variance {growth(noise)} ({noise}), noise-to-signal "
        f"{growth_of_ratio}; mean reward {earned[least]:.2g} with {least:g} units, "
        f"{earned[most]:.2g} with {most:g}"
    )


def _law(record: VarianceRecord, linear_widths: int) -> str:
    """What all of it comes to, where one law fits."""
    sampled, deterministic = (
        _pair(record, "units", setting)[1] for setting in ("sampled", "deterministic")
    )
    at_once = [
        _pair(record, "looks", setting)[1]
        for setting in record.settings("looks")
        if setting.endswith("at the end")
    ]
    ratios = {
        setting: slope
        for setting in record.settings("width")
        if (slope := record.slope("width", setting, "learned", "noise_to_signal"))
    }
    alike = [slope for name, slope in ratios.items() if name.endswith("initialisation")]
    proportional = [sampled, *at_once]
    if not all(map(_is_linear, proportional)) or not all(map(_is_none, [deterministic, *alike])):
        return "No one law fits these exponents: see the tables."
    trained = [str(slope) for name, slope in ratios.items() if name.endswith("training")]
    (of_look,) = record.settings("dimensions")
    dimensions = _pair(record, "dimensions", of_look)[1]
    return (
        "REINFORCE's noise-to-signal grows about linearly with the number of sampled "
        "decisions that share one reward, whether these are hidden units or looks; with the "
        f"dimensions of one look it {growth(dimensions)} ({dimensions}). It hardly "
        "changes with the number of deterministic units that compute the "
        "decisions: at initialisation, where policies of all widths look alike, all are about "
        "equally noisy. "
        "After training, policies of different widths have learned different things, so that "
        "exponents in the width "
        f"({', '.join(trained)}) mix the effects of width and of learning. "
        f"{_with_training(record)} "
        f"The variance alone is about linear in the width for {linear_widths} of "
        f"{len(record.settings('width'))} policies, but says little by itself: where it grows, the "
        "gradient may grow too."
    )


def _with_training(record: VarianceRecord) -> str:
    """How noise-to-signal changes with training alone."""
    setting = "tiles, reward by answer, after a short training"
    ratios = record.curve("training", setting, "learned", "noise_to_signal")
    earned = record.curve("training", setting, "learned", "reward")
    first, last = min(ratios), max(ratios)
    effect = "raises" if ratios[last] > ratios[first] else "lowers"
    return (
        f"Learning alone, at a width of 64, {effect} noise-to-signal from {ratios[first]:.2g} "
        f"after {first:g} updates (mean reward {earned[first]:.2g}) to {ratios[last]:.2g} after "
        f"{last:g} (mean reward {earned[last]:.2g})."
    )


def _pair(record: VarianceRecord, experiment: str, setting: str) -> tuple[Slope, Slope]:
    """The exponents of variance and noise-to-signal with a learned baseline."""
    noise = record.slope(experiment, setting, "learned", "variance")
    ratio = record.slope(experiment, setting, "learned", "noise_to_signal")
    if noise is None or ratio is None:
        raise ReportError(f"the record has no exponents of {experiment}, {setting}: measure again")
    return noise, ratio
