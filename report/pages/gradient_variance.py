"""The page of gradient variance, drawn from its record: `python -m report.pages.gradient_variance`.

Its verdict is read off the fitted exponents, so that another measurement may give another.
"""

from collections.abc import Sequence
from typing import Any

from glimpse_envs.core.files import write_atomically
from report.figures.gradient_variance import draw_figure
from report.pages.tables import table
from report.places import DOCS
from report.variance_record import NAMES, RECORD, Slope, VarianceRecord, geometric_mean

PAGE = DOCS / "gradient_variance.md"
FIGURE = PAGE.with_suffix(".png")

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


def make_page(record: VarianceRecord) -> str:
    """Return the Markdown page of a record."""
    commit, plus, state = record.data["revision"].partition("+")
    revision = f"{commit[:12]}{plus}{state}"
    blocks = [
        _HEAD,
        verdict(record),
        f"![Gradient variance]({FIGURE.name})",
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
    """The saying beside what was measured: confirmed, corrected or refuted, and what holds."""
    widths = {
        setting: _known(record.slope("width", setting, "learned", "variance"))
        for setting in record.settings("width")
    }
    linear = [growth(slope) == LINEAR for slope in widths.values()]
    sampled = _known(record.slope("units", "sampled", "learned", "variance"))
    corrected = "Corrected" if growth(sampled) == LINEAR else "Refuted"
    word = "Confirmed" if all(linear) else corrected
    return "\n".join(
        [
            f"Does it grow linearly with the number of hidden units, as is said? **{word}.** "
            "Exponents with a learned baseline:\n",
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
    said = "is not known" if ratio is None else f"{growth(ratio)} ({ratio})"
    earned = record.curve("width", setting, "learned", "reward")
    least, most = min(earned), max(earned)
    return (
        f"- width of a policy ({setting}): the variance {growth(noise)} ({noise}), noise-to-signal "
        f"{said}; it earns {earned[least]:.2g} with {least:g} units and {earned[most]:.2g} with "
        f"{most:g}"
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


def _known(slope: Slope | None) -> Slope:
    if slope is None:
        raise ValueError("the record lacks an exponent: measure again, with more seeds")
    return slope


# --- the tables -----------------------------------------------------------------------------------


def hidden_units(record: VarianceRecord) -> str:
    """Exponents in the number of hidden units."""
    lines = []
    for setting in record.settings("width"):
        for estimator in ("none", "learned", "leave_one_out"):
            lines.append((setting, NAMES[estimator], *_slopes(record, "width", setting, estimator)))
    for setting in record.settings("units"):
        for estimator in ("none", "learned"):
            name = f"one hidden layer, {setting}"
            lines.append((name, NAMES[estimator], *_slopes(record, "units", setting, estimator)))
    return (
        "Exponents in the number of hidden units: of a policy's core and heads, and of a network "
        "with one hidden layer, sampled or deterministic.\n\n"
        + table(("network", "estimator", "variance", "per parameter", "noise-to-signal"), lines)
    )


def decisions(record: VarianceRecord) -> str:
    """Exponents in the number of looks and in the dimensions of one."""
    lines = [
        (name, NAMES[estimator], *_slopes(record, experiment, setting, estimator))
        for experiment, settings in (("looks", record.settings("looks")), ("dimensions", None))
        for setting in settings or record.settings("dimensions")
        for name in (f"looks: {setting}" if experiment == "looks" else "dimensions of one look",)
        for estimator in ("none", "learned")
    ]
    return (
        "Exponents in the number of looks an episode, 1 to "
        f"{max(record.data['scale']['budgets']) - 1}, each paid as it is taken or all together by "
        "one bit at the end, and in the dimensions of a single one.\n\n"
        + table(("decisions", "estimator", "variance", "per parameter", "noise-to-signal"), lines)
    )


def _slopes(record: VarianceRecord, experiment: str, setting: str, estimator: str) -> list[str]:
    slopes = [
        record.slope(experiment, setting, estimator, measure)
        for measure in ("variance", "per_parameter", "noise_to_signal")
    ]
    return [str(slope or "not known") for slope in slopes]


def episodes(record: VarianceRecord) -> str:
    """Exponents in the batch, and what copies of a scene are worth."""
    (setting,) = record.settings("batch")
    lines = [
        (name, str(slope))
        for estimator, name in NAMES.items()
        if (slope := record.slope("batch", setting, estimator, "variance"))
    ]
    copies = record.curve("copies", setting, "leave_one_out", "variance")
    base = record.curve("batch", setting, "learned", "variance")[record.data["episodes"]]
    shares = [(f"{x:g}", f"{value / base:.2f}") for x, value in copies.items()]
    return (
        f"Exponents in the episodes of an update ({setting}); independent episodes give −1.\n\n"
        + table(("estimator", "variance"), lines)
        + f"\n\nLeave-one-out at {record.data['episodes']} episodes, by the copies of a scene "
        "among them, beside the learned baseline with as many scenes as episodes: more copies make "
        "a better baseline of fewer scenes.\n\n"
        + table(("copies", "variance, of the learned baseline's"), shares)
    )


def offset(record: VarianceRecord) -> str:
    """What an offset does to each estimator."""
    (setting,) = record.settings("offset")
    lines = []
    for estimator in list(NAMES)[:5]:
        curve = record.curve("offset", setting, estimator, "variance")
        least, most = curve[0.0], curve[max(curve)]
        slope = _known(record.slope("offset", setting, estimator, "variance"))
        lines.append((NAMES[estimator], f"{least:.2g}", f"{most / least:,.0f}", str(slope)))
    far = max(record.curve("offset", setting, "none", "variance"))
    return (
        "A constant changes nothing about which look is best. Without a baseline the variance ends "
        "up growing with its square; the others lose what they do not foresee of it.\n\n"
        + table(("estimator", "variance", f"times, at {far:g} more", "exponent from 2 on"), lines)
    )


def enumerable(record: VarianceRecord) -> str:
    """Variance and bias where all sequences of looks can be followed."""
    task = record.data["enumerable"]
    lines = []
    for estimator, name in NAMES.items():
        cells = [name]
        for part in ("look", "all"):
            rows = record.enumerable(estimator, part)
            cells += [_ratio(rows), _bias(rows)]
        reads = task["tiles"] if estimator.startswith(("exact", "straight")) else task["glimpses"]
        lines.append((*cells, str(task["passes"][estimator]), str(reads)))
    scenes = geometric_mean(
        row["scenes"] / row["signal"] for row in record.enumerable("none", "look")
    )
    policies = len({row["seed"] for row in task["results"]})
    heads = (
        "estimator", "look's head: noise-to-signal", "bias", "all: noise-to-signal", "bias",
        "passes", "tiles read",
    )  # fmt: skip
    return (
        f"Digits of {task['tiles']} tiles and {task['glimpses']} glimpses, so that the gradient is "
        "a sum over all looks. Here it is the whole gradient of the expected reward, that of the "
        "answers by back-propagation included, whose noise all that sample looks share; the look's "
        f"head has none of it. {task['scenes']} scenes stay fixed, and an update has "
        f"{task['scenes'] * task['copies']} episodes; {task['updates']} updates for each of "
        f"{policies} policies, of which these are means. Bias is |E g − g| / |g|; where noise "
        "could explain it (two standard errors), only a bound is given. As many fresh scenes would "
        f"add {scenes:.2g} of noise-to-signal to the look's head. Passes through the network and "
        "tiles read are those of one episode.\n\n" + table(heads, lines)
    )


def _ratio(rows: Sequence[dict[str, Any]]) -> str:
    ratio = geometric_mean(row["variance"] / row["signal"] for row in rows)
    return f"{ratio:.2g}" if ratio else "0"


def _bias(rows: Sequence[dict[str, Any]]) -> str:
    """The root of the mean squared bias over the policies, or a bound."""
    square = sum(row["squared_bias"] for row in rows) / len(rows)
    error = sum(row["squared_bias_error"] ** 2 for row in rows) ** 0.5 / len(rows)
    if square == error == 0:
        return "0"
    if square <= 2 * error:
        return f"below {max(square + 2 * error, 0.0) ** 0.5:.2f}"
    return f"{square**0.5:.2f} ± {error / (2 * square**0.5):.1g}"


def is_stale() -> bool:
    """Whether the page is not what the record says; without a record nothing is."""
    if not RECORD.exists():
        return False
    fresh = make_page(VarianceRecord.read())
    return not PAGE.exists() or PAGE.read_text(encoding="utf-8") != fresh


def main() -> None:
    """Write the page and its figure."""
    record = VarianceRecord.read(RECORD)
    draw_figure(record, FIGURE)
    write_atomically(PAGE, make_page(record).encode())
    print(f"{PAGE}, {FIGURE}")


if __name__ == "__main__":
    main()
