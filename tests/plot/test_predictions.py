"""Pictures of predictions: coverage, residuals and forecasts counted by hand."""

from statistics import mean, stdev
from types import SimpleNamespace

import numpy as np
import pytest
from plot.layout import faults
from scipy.special import ndtr

from bochner import Forecaster, plot
from bochner.comparison.outcomes import Score
from bochner.plot.class_errors import CalibrationDisplay, RocDisplay
from bochner.plot.regression_errors import PredictionsDisplay, ResidualsDisplay

RNG = np.random.default_rng(0)


class Normal:
    """A model whose law is known: zero mean and given standard deviations in the first column."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def predict(self, X, return_std=False):
        zero = np.zeros(len(X))
        return (zero, self.factor * np.asarray(X)[:, 0]) if return_std else zero


STD = RNG.uniform(0.5, 2.0, 20_000)
ROWS, TARGETS = STD[:, None], STD * RNG.normal(size=len(STD))


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_coverage_is_that_of_the_known_law(factor):
    levels = np.array([0.1, 0.5, 0.9])
    display = plot.calibration(Normal(factor), ROWS, TARGETS, levels=levels)
    # Normal quantiles of these levels, from a table.
    z = np.array([0.125661346855074, 0.674489750196082, 1.644853626951472])
    expected = 2.0 * ndtr(factor * z) - 1.0
    error = np.sqrt(expected * (1.0 - expected) / len(STD))
    assert (np.abs(display.observed - expected) < 4.0 * error).all()
    inside = (display.lower <= display.observed) & (display.observed <= display.upper)
    assert inside.all() == (factor == 1.0)
    line = display.ax_.lines[1].get_xydata()
    np.testing.assert_allclose(line, np.column_stack([levels, display.observed]))


@pytest.mark.thorough
def test_reliability_is_counted_by_hand(classifier, test_labels):
    X, y = test_labels
    display = plot.calibration(classifier, X, y)
    bins = {}
    for row, label in zip(classifier.predict_proba(X), y, strict=True):
        for probability, name in zip(row, classifier.classes_, strict=True):
            bins.setdefault(min(int(10 * probability), 9), []).append((probability, label == name))
    np.testing.assert_array_equal(display.counts, [len(bins.get(i, [])) for i in range(10)])
    kept = [bins[i] for i in sorted(bins) if len(bins[i]) >= 5]
    np.testing.assert_allclose(display.predicted, [mean(p for p, _ in part) for part in kept])
    np.testing.assert_allclose(display.observed, [mean(hit for _, hit in part) for part in kept])
    (above,) = display.ax_.child_axes
    assert [bar.get_height() for bar in above.patches] == display.counts.tolist()


@pytest.mark.thorough_cases(r"0\.5")
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_covered_and_missed_rows(regressor, test_rows, level):
    X, y = test_rows
    display = plot.predictions(regressor, X, y, level=level)
    lower, upper = regressor.predict_interval(X, level)
    covered = (lower <= y) & (y <= upper)
    np.testing.assert_array_equal(display.covered, covered)
    points = [
        line for line in display.ax_.lines if line.get_marker() == "o" and len(line.get_xdata())
    ]
    both = np.column_stack([y, regressor.predict(X)])
    for line, rows in zip(points, (covered, ~covered), strict=True):
        np.testing.assert_allclose(line.get_xydata(), both[rows])
    bars = [line.get_xydata() for line in display.ax_.lines if np.isnan(line.get_ydata()).any()]
    drawn = np.concatenate([bar.reshape(-1, 3, 2) for bar in bars])
    order = np.concatenate([np.flatnonzero(covered), np.flatnonzero(~covered)])
    np.testing.assert_allclose(drawn[:, 0], np.column_stack([y, lower])[order])
    np.testing.assert_allclose(drawn[:, 1], np.column_stack([y, upper])[order])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[0] == f"in {100 * level:g} % interval: {100 * covered.mean():.1f} %"


def test_residuals_are_in_standard_deviations_where_these_are_known(regressor, test_rows):
    X, y = test_rows
    prediction, std = regressor.predict(X, return_std=True)
    display = plot.residuals(regressor, X, y)
    np.testing.assert_allclose(display.residuals, (y - prediction) / std)
    np.testing.assert_allclose(display.against, prediction)
    plain = SimpleNamespace(predict=regressor.predict.__get__(regressor))
    plain.predict = lambda X: prediction
    raw = plot.residuals(plain, X, y, unit="m")
    np.testing.assert_allclose(raw.residuals, y - prediction)
    assert raw.ax_.get_ylabel() == "residual (m)"
    assert display.ax_.get_ylabel() == "residual / std"


def test_two_outliers_set_no_axis():
    """They are drawn at its edge and counted; residuals of one size have the whole axis."""
    rng = np.random.default_rng(0)
    errors, x = rng.normal(size=600), rng.normal(size=600)
    plain = ResidualsDisplay(errors, x)
    assert (plain.limits, plain.n_beyond) == ((None, None), 0)
    errors[[3, 77]] = -400.0, 90.0
    display = ResidualsDisplay(errors, x).plot()
    low, high = display.ax_.get_ylim()
    assert -6.0 < low < -2.5 < 2.5 < high < 6.0
    assert display.n_beyond == 2
    marks = {line.get_marker(): line for line in display.ax_.lines}
    assert marks["v"].get_xdata().tolist() == [x[3]]
    assert marks["^"].get_ydata().tolist() == [high]
    assert not faults(display.figure_)
    outlier = ResidualsDisplay(x, errors)  # The same numbers along the other axis
    assert outlier.n_beyond == 2
    assert outlier.plot().ax_.get_xlim() == (low, high)


def test_skewed_positive_numbers_have_a_logarithmic_axis():
    """Each decade of incomes has as much room, on the axis of residuals as on that of values."""
    rng = np.random.default_rng(0)
    sizes = np.exp(3.0 * rng.normal(size=400))
    assert ResidualsDisplay(rng.normal(size=400), sizes).plot().ax_.get_xscale() == "log"
    display = PredictionsDisplay(sizes, 1.1 * sizes, 0.9 * sizes, -sizes).plot()
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")
    assert PredictionsDisplay(sizes, sizes - 1.0).plot().ax_.get_xscale() == "linear"


def test_a_forecast_has_history_bands_and_what_was_held_out():
    times, rng = np.arange(1990.0, 2010.0), np.random.default_rng(0)
    model = Forecaster(random_state=0).fit(rng.normal(size=16), times=times[:16])
    truth = rng.normal(size=4)
    display = plot.forecast(model, times[16:], truth=truth, level=(0.5, 0.9))
    axis = display.ax_
    np.testing.assert_array_equal(axis.lines[1].get_xydata(), np.column_stack([times[16:], truth]))
    assert display.start == times[16]
    legend = [text.get_text() for text in axis.get_legend().get_texts()]
    for band, level in zip(axis.collections, (0.9, 0.5), strict=True):
        lower, upper = model.predict_interval(4, level)
        edge = band.get_paths()[0].vertices[:, 1]
        assert (edge.min(), edge.max()) == pytest.approx((lower.min(), upper.max()))
        assert f"{100 * level:g} % interval" in legend


def test_a_comparison_has_means_and_standard_errors():
    values = {"bochner": [1.0, 2.0, 4.0], "CatBoost": 2.5, "other": Score(0.5, 0.1)}
    display = plot.comparison({**values, "without": {"log_loss": 1.0}})
    assert display.methods == ["other", "bochner", "CatBoost"]
    own = values["bochner"]
    np.testing.assert_allclose(display.values, [0.5, mean(own), 2.5])
    np.testing.assert_allclose(display.std_error, [0.1, stdev(own) / 3**0.5, np.nan])
    by_metric = plot.comparison({"a": {"auc": 0.8}, "b": {"auc": 0.9}}, "auc")
    assert by_metric.methods == ["b", "a"]
    with pytest.raises(ValueError, match="No method has the metric 'mae': a"):
        plot.comparison({"a": {"auc": 0.8}}, "mae")


NAMED = Forecaster(find_cycle=False, random_state=0).fit(np.sin(np.arange(24.0)))
REFUSED = [
    (lambda: plot.predictions(Normal(), ROWS[:2], TARGETS[:2], level=1.0), "level must lie betw"),
    (lambda: plot.calibration(Normal(), ROWS, TARGETS, levels=[0.0, 0.5]), "levels must be betw"),
    (lambda: plot.predictions(Normal(), ROWS[:2], np.ones((2, 2))), "y has 2 targets: choose one"),
    (lambda: plot.residuals(Normal(), ROWS, TARGETS, "time"), "column must be one of x0, got"),
    (lambda: plot.forecast(NAMED, 12, truth=[1.0]), r"truth must have shape \(12,\)"),
    (lambda: RocDisplay.from_probabilities(["c"], [[1.0, 0.0]], ["a", "b"]), "has the class 'c'"),
]


@pytest.mark.parametrize(("draw", "message"), REFUSED)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


NO_MODEL = [
    lambda: plot.calibration(SimpleNamespace(predict=lambda X: X), [[1.0]], [1.0]),
    lambda: plot.roc(Normal(), [[1.0]], [1.0]),
    lambda: plot.relevance(Normal()),
    lambda: plot.effect(Normal(), "x"),
    lambda: plot.spectrum(Normal()),
]


@pytest.mark.parametrize("draw", NO_MODEL)
def test_models_that_lack_what_is_drawn_are_refused(draw):
    with pytest.raises(TypeError, match=r"Normal|SimpleNamespace"):
        draw()


def test_rows_without_an_entry_have_no_running_median_and_all_a_bar():
    x, y = RNG.normal(size=(2, 200))
    known = RNG.random(200) < 0.7
    found = ResidualsDisplay(y, np.where(known, x, np.nan)).windows()
    np.testing.assert_equal(found, ResidualsDisplay(y[known], x[known]).windows())
    p = np.append(RNG.uniform(0.0, 0.1, 990), np.full(10, 0.9))
    shares = CalibrationDisplay.from_probabilities(
        p > 0.5, np.column_stack([1.0 - p, p]), [False, True]
    )
    assert shares.counts.sum() == 1000
