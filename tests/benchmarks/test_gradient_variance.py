"""Gradient estimators stand in the order that theory gives them; what measures them is right."""

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from agents.algorithms.reinforce import MovingAverage, Reinforce, leave_one_out
from agents.training.loop import train
from benchmarks.variance.__main__ import group, main
from benchmarks.variance.enumerable import Enumerable, Measured, assess
from benchmarks.variance.estimators import (
    Baselines,
    count_parameters,
    episode_grams,
    update_gradients,
)
from benchmarks.variance.experiments import _draw_updates, _offset
from benchmarks.variance.frozen import Frozen, Setting
from benchmarks.variance.measuring import UPDATE, Point, grams_of, measure, play_scenes, prepare
from benchmarks.variance.noise import (
    Estimate,
    fit_slope,
    separate_noise,
    squared_mean,
    total_variance,
)
from benchmarks.variance.sampled_units import dimensions, hidden_units
from report.page import Places
from report.pages.gradient_variance import growth, make_page, verdict
from report.variance_record import FILE_NAME, Slope, VarianceRecord
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

# --- REINFORCE's baselines ------------------------------------------------------------------------


def test_leave_one_out_by_hand() -> None:
    """Two scenes of three copies, two steps."""
    returns = torch.tensor([[1.0, 2.0, 6.0, 0.0, 0.0, 3.0], [0.0, 2.0, 4.0, 1.0, 1.0, 1.0]])
    expected = [[4.0, 3.5, 1.5, 1.5, 1.5, 0.0], [3.0, 2.0, 1.0, 1.0, 1.0, 1.0]]
    assert leave_one_out(returns, copies=3).tolist() == expected


def test_the_moving_average_by_hand() -> None:
    average, batch = MovingAverage(), torch.tensor([[2.0, 4.0], [1.0, 1.0]])
    assert [average(batch).item() for _ in range(3)] == pytest.approx([0.0, 0.3, 0.57])
    assert average.value == pytest.approx(0.813)


@pytest.mark.learning
@pytest.mark.parametrize("baseline", ["none", "moving_average", "leave_one_out"])
def test_a_run_with_another_baseline_resumes(baseline: Any, tmp_path: Path) -> None:
    config = tiny_config(baseline=baseline, copies=4)
    unbroken = trained(Reinforce, config, tmp_path / "unbroken")
    for stop_after in (5, None):
        broken = train(
            Reinforce,
            config,
            tmp_path / "broken",
            resume=True,
            stop_after=stop_after,
            progress_bar=False,
        )
    (tensors, metadata), (wanted, numbers) = broken.load_checkpoint(), unbroken.load_checkpoint()
    assert metadata["numbers"] == numbers["numbers"]
    assert ("moving_average/value" in numbers["numbers"]) == (baseline == "moving_average")
    assert tensors.keys() == wanted.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor, wanted[name], err_msg=name)
    assert all("loss/baseline" not in line for line in unbroken.read_metrics())


def test_the_moving_average_is_part_of_the_state() -> None:
    config = tiny_config(baseline="moving_average")
    one, other = Reinforce(config), Reinforce(config)
    one.update(0.5)
    assert one.average.value > 0
    other.load_state_dict(one.state_dict())
    assert other.average.value == one.average.value


@pytest.mark.parametrize(
    ("baseline", "name"),
    [
        ("learned", "Reinforce LSTM"),
        ("none", "Reinforce LSTM, no baseline"),
        ("moving_average", "Reinforce LSTM, moving-average baseline"),
        ("leave_one_out", "Reinforce LSTM, leave-one-out baseline"),
    ],
)
def test_the_name_tells_the_baseline(baseline: Any, name: str) -> None:
    assert Reinforce(tiny_config(baseline=baseline, copies=2)).model.name == name


def test_leave_one_out_needs_copies() -> None:
    with pytest.raises(ValueError, match="needs copies of at least 2, not 1"):
        Reinforce(tiny_config(baseline="leave_one_out"))


# --- the order of the estimators, where the gradient is known -------------------------------------

UNBIASED = ("none", "moving_average", "learned", "leave_one_out", "exact")


@pytest.fixture(scope="module")
def of_the_look() -> dict[str, Measured]:
    """The gradient of the look's head, which no answer's noise reaches."""
    task = Enumerable()
    truth, estimates = task.truth(), task.estimates(100)
    chosen = task.of_the_look
    return {name: assess(found[:, chosen], truth[chosen]) for name, found in estimates.items()}


@pytest.mark.learning
def test_baselines_lower_the_variance(of_the_look: dict[str, Measured]) -> None:
    variance = {name: found.variance.value for name, found in of_the_look.items()}
    assert variance["none"] > 2 * variance["moving_average"]
    assert variance["moving_average"] >= variance["learned"]
    assert variance["none"] > 2 * variance["leave_one_out"]
    assert variance["learned"] > variance["actor_critic"]


@pytest.mark.learning
def test_exact_has_no_noise(of_the_look: dict[str, Measured]) -> None:
    found = of_the_look["exact"]
    assert found.variance.value == found.squared_bias.value == 0.0
    assert (
        0 < of_the_look["exact_next"].variance.value < of_the_look["leave_one_out"].variance.value
    )


@pytest.mark.learning
@pytest.mark.parametrize("name", UNBIASED)
def test_the_unbiased_are_so_within_their_errors(
    name: str, of_the_look: dict[str, Measured]
) -> None:
    bias = of_the_look[name].squared_bias
    assert abs(bias.value) <= 4 * bias.error


@pytest.mark.learning
@pytest.mark.parametrize("name", ["straight_through_1", "straight_through_0.5", "actor_critic"])
def test_the_biased_are_found_out(name: str, of_the_look: dict[str, Measured]) -> None:
    bias = of_the_look[name].squared_bias
    assert bias.value > 4 * bias.error


# --- what measures them ---------------------------------------------------------------------------


def test_inner_products_are_those_of_the_episodes_gradients() -> None:
    frozen = Frozen(Setting(look="continuous", width=8, budget=3))
    episodes = frozen.play(frozen.make_env(6, 2, seed=1), keep_gradient=True)
    baselines = Baselines(average=0.1, copies=2)
    advantages = baselines.advantages(episodes)["none"]

    def alone(row: int) -> Tensor:
        only = torch.zeros_like(advantages)
        only[:, row] = 6 * advantages[:, row]  # an update is a mean over 6 episodes
        return update_gradients(frozen.policy, episodes.played, [only])[0].double()

    gradients = torch.stack([alone(row) for row in range(6)])
    (grams,) = episode_grams(frozen.policy, episodes.played, [advantages])
    np.testing.assert_allclose(grams["all"], gradients @ gradients.T, rtol=1e-3, atol=1e-7)
    look = gradients[:, -count_parameters(frozen.policy, "look") :]
    np.testing.assert_allclose(grams["look"], look @ look.T, rtol=1e-3, atol=1e-7)
    assert np.trace(grams["look"]) > 0


def test_what_is_in_no_linear_layer_is_refused() -> None:
    frozen = Frozen(Setting(width=8, budget=2))
    frozen.policy.glimpse_network.join = torch.nn.Sequential(
        frozen.policy.glimpse_network.join, torch.nn.LayerNorm(64)
    )
    episodes = frozen.play(frozen.make_env(2, 1, seed=1))
    with pytest.raises(ValueError, match=r"join\.1\.bias.* set normalise=False"):
        episode_grams(frozen.policy, episodes.played, [episodes.signal])


def test_the_noise_of_scenes_is_told_from_that_of_actions() -> None:
    """Gradients with known variances: 5 numbers, of scenes 4 each, of actions 9 each."""
    generator = np.random.default_rng(0)
    scenes, copies, numbers = 150, 8, 5
    of_scene = 2.0 * generator.normal(size=(scenes, 1, numbers))
    gradients = 1.0 + of_scene + 3.0 * generator.normal(size=(scenes, copies, numbers))
    flat = gradients.reshape(-1, numbers)
    gram = flat @ flat.T
    one, four = (separate_noise(gram, scenes, episodes) for episodes in (1, 4))
    for found, expected in (
        (one.actions, 45.0),
        (one.scenes, 20.0),
        (one.total, 65.0),
        (four.actions, 45.0 / 4),
        (four.scenes, 20.0),
    ):
        assert abs(found.value - expected) < 4 * found.error
        assert found.error < 0.3 * expected
    means = gradients.mean(axis=1)
    assert squared_mean(means @ means.T).value == pytest.approx(5.0, rel=0.4)


def test_variance_and_squared_mean_by_hand() -> None:
    estimates = np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 3.0]])
    gram = estimates @ estimates.T
    assert total_variance(gram).value == pytest.approx(1.0 + 3.0)
    assert squared_mean(gram).value == pytest.approx((3 + 2 + 6) / 3)


def test_a_slope_is_the_exponent() -> None:
    x = [1.0, 2.0, 4.0, 1.0, 2.0, 4.0]
    slope = fit_slope(x, [3.0 * value**1.5 for value in x])
    assert (slope.value, slope.low, slope.high) == pytest.approx((1.5, 1.5, 1.5))
    noisy = fit_slope(x, [1.0, 2.0, 4.0, 2.0, 4.0, 8.0])
    assert noisy.value == pytest.approx(1.0)
    assert noisy.low < 1.0 < noisy.high
    with pytest.raises(ValueError, match="above 0"):
        fit_slope(x, [0.0, *x[1:]])
    with pytest.raises(ValueError, match="at least two x"):
        fit_slope([2.0, 2.0], [1.0, 3.0])
    with pytest.raises(ValueError, match="needs repeats"):
        fit_slope([1.0, 2.0], [1.0, 3.0])


@pytest.mark.parametrize(("places", "repeats"), [(6, 3), (5, 3), (3, 2), (7, 9)])
def test_the_interval_of_a_slope_holds_the_exponent_in_95_of_100_cases(
    places: int, repeats: int
) -> None:
    generator, cases = np.random.default_rng(0), 2000
    x = np.repeat(2.0 ** np.arange(places), repeats)
    noise = np.exp(0.3 * generator.normal(size=(cases, len(x))))
    slopes = [fit_slope(x.tolist(), (x**0.5 * of_case).tolist()) for of_case in noise]
    held = np.mean([slope.low <= 0.5 <= slope.high for slope in slopes])
    assert held == pytest.approx(0.95, abs=0.02)  # four standard errors


@pytest.mark.learning
def test_the_variance_of_an_update_is_that_of_updates_drawn_one_by_one() -> None:
    """Here from single episodes, a scene's copies apart; there from whole updates of `UPDATE`."""
    frozen, baselines = prepare(Setting("tiles", "place", width=8, budget=3), fit=256)
    signal = {part: Estimate(1.0, 0.1) for part in ("all", "look")}
    measured = measure("width", 8, frozen, baselines, play_scenes(frozen), signal)
    points = {p.estimator: p for p in measured if p.part == "all"}
    drawn = _draw_updates(frozen, baselines, UPDATE, updates=40)
    for estimator, gradients in drawn.items():
        variance = total_variance(grams_of(frozen, gradients)["all"])
        point = points[estimator]
        assert point.variance_error is not None
        error = math.hypot(variance.error, point.variance_error)
        assert abs(point.variance - variance.value) < 4 * error
        assert error < 0.4 * variance.value


def test_an_offset_is_added_once_to_each_episode() -> None:
    frozen = Frozen(Setting("tiles", "place", width=8, budget=3))
    episodes = frozen.play(frozen.make_env(16, 1, seed=1))
    moved = _offset(episodes, 2.5)
    torch.testing.assert_close(moved.signal.sum(dim=0), episodes.signal.sum(dim=0) + 2.5)


def test_sampled_units_are_noisier_the_more_there_are_and_others_are_not() -> None:
    few, many = (hidden_units(units, sampled=True, seed=0) for units in (32, 256))
    assert many.variance["learned"] > 6 * few.variance["learned"]
    few, many = (hidden_units(units, sampled=False, seed=0) for units in (32, 256))
    assert many.variance["learned"] < 2 * few.variance["learned"]


def test_a_look_of_more_dimensions_has_less_signal_for_its_noise() -> None:
    few, many = (dimensions(size, seed=0) for size in (4, 32))
    assert few.parameters * 8 == many.parameters
    assert many.variance["learned"] / many.signal > 3 * few.variance["learned"] / few.signal
    assert many.variance["none"] > 4 * few.variance["none"]


# --- the page -------------------------------------------------------------------------------------


def with_slopes(record: VarianceRecord, experiment: str, exponent: float) -> VarianceRecord:
    """The record as if everything in one experiment had grown with one exponent."""
    data = copy.deepcopy(record.data)
    for series in data["series"]:
        if series["experiment"] == experiment:
            series["slopes"] = {name: [exponent] * 3 for name in series["slopes"]}
    return VarianceRecord(data)


def points_at(x: float, *signals: float) -> list[Point]:
    """Of one estimator at `x`, a seed each, whose true gradient is known within 1."""
    shared: dict[str, Any] = {
        "variance": x,
        "signal_error": 1.0,
        "estimator": "learned",
        "part": "all",
    }
    return [
        Point("width", "a policy", x, seed, parameters=1, signal=signal, **shared)
        for seed, signal in enumerate(signals)
    ]


def test_places_where_a_seed_s_gradient_is_not_known_are_left_out() -> None:
    """To keep the seeds that are known there would be to keep the large gradients."""
    every = [*points_at(1.0, 4.0, 4.0), *points_at(2.0, 4.0, 4.0), *points_at(4.0, 40.0, 1.9)]
    (series,) = group(every)
    assert series.slopes()["noise_to_signal"].value == pytest.approx(1.0)
    assert series.slopes()["variance"].value == pytest.approx(1.0)
    columns = ["x", "variance", "signal", "signal_error"]
    rows = [[getattr(point, name) for name in columns] for point in every]
    told = {"experiment": "width", "setting": "a policy", "estimator": "learned", "part": "all"}
    record = VarianceRecord({"columns": columns, "series": [{**told, "points": rows}]})
    assert record.curve("width", "a policy", "learned", "noise_to_signal") == {1.0: 0.25, 2.0: 0.5}
    assert list(record.curve("width", "a policy", "learned", "variance")) == [1.0, 2.0, 4.0]


def test_the_seeds_of_a_place_are_those_that_were_measured() -> None:
    record = VarianceRecord.read(Places().benchmarks / FILE_NAME)
    measured = record.data["scale"]["seeds"]
    assert (record.seeds("width"), record.seeds("units")) == (measured, 3 * measured)
    assert f"there are {measured} seeds, so no claim" in verdict(record)


@pytest.mark.parametrize(
    ("slope", "words"),
    [
        (Slope(0.03, -0.01, 0.07), "hardly changes"),
        (Slope(0.11, 0.06, 0.17), "hardly changes"),
        (Slope(-0.19, -0.25, -0.12), "falls"),
        (Slope(-0.21, -0.27, -0.14), "falls"),
        (Slope(1.01, 0.52, 1.47), "is not known well enough"),
        (Slope(0.10, 0.00, 0.21), "is not known well enough"),
        (Slope(0.93, 0.89, 0.98), "grows about linearly"),
        (Slope(0.69, 0.44, 0.92), "grows more slowly than linearly"),
        (Slope(1.71, 1.68, 1.75), "grows faster than linearly"),
        (Slope(0.5, -0.2, 1.2), "is not known well enough"),
    ],
)
def test_words_of_growth_follow_the_interval(slope: Slope, words: str) -> None:
    assert growth(slope) == words


@pytest.mark.parametrize("effect", ["raises", "lowers"])
def test_the_effect_of_learning_is_told_as_it_was_measured(effect: str) -> None:
    data = copy.deepcopy(VarianceRecord.read(Places().benchmarks / FILE_NAME).data)
    x, variance = data["columns"].index("x"), data["columns"].index("variance")
    for series in data["series"]:
        if series["experiment"] == "training":
            for row in series["points"]:
                row[variance] = 1.0 + (row[x] if effect == "raises" else 1.0 / (1.0 + row[x]))
                row[data["columns"].index("signal")] = 1.0
                row[data["columns"].index("signal_error")] = 0.0
    assert f"{effect} noise-to-signal from" in verdict(VarianceRecord(data))


def test_the_verdict_follows_the_exponents() -> None:
    record = VarianceRecord.read(Places().benchmarks / FILE_NAME)
    assert "**Yes.**" in verdict(with_slopes(record, "width", 1.0))
    flat = with_slopes(record, "width", 0.0)
    assert "**Yes for sampled units; no for 4 of 4 policies.**" in verdict(
        with_slopes(flat, "units", 1.0)
    )
    assert "**No.**" in verdict(with_slopes(flat, "units", 0.0))
    assert "**No.**" in verdict(with_slopes(with_slopes(record, "width", 0.0), "units", 0.0))
    wide = copy.deepcopy(with_slopes(flat, "units", 1.0).data)
    one = next(series for series in wide["series"] if series["experiment"] == "width")
    for series in wide["series"]:
        if (series["experiment"], series["setting"]) == ("width", one["setting"]):
            series["slopes"] = {name: [1.0, 0.5, 1.5] for name in series["slopes"]}
    told = "**Yes for sampled units; no for 3 of 4 policies; unknown for 1 of 4 policies.**"
    assert told in verdict(VarianceRecord(wide))
    assert "No one law" in verdict(with_slopes(record, "looks", 0.0))
    assert "faster than linearly (1.50 [1.50, 1.50])" in make_page(
        with_slopes(record, "looks", 1.5)
    )


def test_a_rough_measurement_is_not_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--quick", "--record", str(tmp_path)])
    assert "leave --quick out" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
