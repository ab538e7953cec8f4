"""The tables of gradient variance: exponents, and what holds where the gradient is known."""

from collections.abc import Sequence
from typing import Any

from report.markdown import ReportError, table
from report.variance_record import NAMES, Slope, VarianceRecord, geometric_mean


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
        "Exponents in the number of looks in an episode, from 1 to "
        f"{max(record.data['scale']['budgets']) - 1}, where each look is rewarded by itself or "
        "all by one bit at the end, and in the number of dimensions of a single look.\n\n"
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
        f"Exponents in the number of episodes of an update ({setting}). Independent episodes give "
        "−1.\n\n"
        + table(("estimator", "variance"), lines)
        + f"\n\nLeave-one-out with {record.data['episodes']} episodes, by the number of copies of "
        "each scene among them, relative to the learned baseline with a scene for each episode. "
        "More copies make a better baseline but leave fewer scenes.\n\n"
        + table(("copies", "variance, relative to the learned baseline"), shares)
    )


def offset(record: VarianceRecord) -> str:
    """What an offset does to each estimator."""
    (setting,) = record.settings("offset")
    lines = []
    for estimator in list(NAMES)[:5]:
        curve = record.curve("offset", setting, estimator, "variance")
        least, most = curve[0.0], curve[max(curve)]
        slope = known(record.slope("offset", setting, estimator, "variance"))
        lines.append((NAMES[estimator], f"{least:.2g}", f"{most / least:,.0f}", str(slope)))
    far = max(record.curve("offset", setting, "none", "variance"))
    return (
        "A constant does not change which look is best. Without a baseline, the variance grows "
        "with the square of a large constant. A baseline removes as much of the constant as it "
        "predicts.\n\n"
        + table(("estimator", "variance", f"factor at {far:g} more", "exponent from 2 on"), lines)
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
        f"Scenes of {task['tiles']} tiles and episodes of {task['glimpses']} glimpses, so that the "
        "true gradient is a sum over all sequences of looks. It is that of the expected reward "
        "with respect to all weights (*all*), which includes the gradient of the answers by "
        "back-propagation, or to those of the look's head alone, which has no such part. "
        f"{task['scenes']} scenes stay fixed; an update has {task['scenes'] * task['copies']} "
        f"episodes. Means over {policies} policies with {task['updates']} updates each. Bias is "
        "|E g − g| / |g|; where it is within two standard errors of 0, a bound is given. With "
        "a fresh scene for each of these episodes, the noise-to-signal of the look's head would be "
        f"greater by {scenes:.2g}. Passes through the network and tiles read are those of one "
        "episode.\n\n" + table(heads, lines)
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


def known(slope: Slope | None) -> Slope:
    """An exponent that the page cannot do without.

    Raises:
        ReportError: it was not measured.
    """
    if slope is None:
        raise ReportError("the record lacks an exponent: measure again, with more seeds")
    return slope
