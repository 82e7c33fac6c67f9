"""Pictures of table models: what is drawn are the model's own numbers."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from bochner import plot
from bochner._base.arrays import decimal_years
from bochner.plot.axis_texts import dates_of
from bochner.plot.class_errors import ConfusionDisplay
from bochner.plot.effects import EffectDisplay
from bochner.plot.regression_errors import ResidualsDisplay
from bochner.tables.sensitivity import Effect, VarianceShares


def shares(count):
    share = np.linspace(0.5, 0.01, count) ** 3
    return VarianceShares(tuple(f"c{i}" for i in range(count)), share, 0.1 * share)


def bars_of(display):
    return [bar.get_width() for bar in display.ax_.patches]


def rows_of(axis):
    return [text.get_text() for text in axis.get_yticklabels()]


def test_bars_are_the_importance_of_the_model(regressor):
    found = regressor.importance()
    display = plot.relevance(regressor)
    np.testing.assert_allclose(bars_of(display), 100.0 * found.share)
    assert rows_of(display.ax_) == list(found.columns)
    assert display.ax_.yaxis_inverted()  # The largest is on top
    (whiskers,) = display.ax_.collections
    half = [np.ptp(segment[:, 0]) / 2.0 for segment in whiskers.get_segments()]
    np.testing.assert_allclose(half, 100.0 * found.std_error)
    same = plot.relevance(found)
    np.testing.assert_array_equal(same.share, display.share)


def test_bars_of_pairs_are_the_interactions_of_the_model(regressor):
    found = regressor.interactions()
    display = plot.interactions(regressor)
    kept = found.share >= 0.005
    np.testing.assert_allclose(bars_of(display), 100.0 * found.share[kept])
    names = [" × ".join(pair) for pair, keep in zip(found.columns, kept, strict=True) if keep]
    assert rows_of(display.ax_) == names


@pytest.mark.parametrize(("count", "drawn", "rest"), [(3, 3, 0), (20, 20, 0), (60, 19, 41)])
def test_many_columns_end_in_a_line_of_the_others(count, drawn, rest):
    found = shares(count)
    display = plot.relevance(found)
    np.testing.assert_allclose(bars_of(display), 100.0 * found.share[:drawn])
    assert display.n_left_out == rest
    if rest:
        assert display.share_left_out == pytest.approx(sum(found.share[19:]))
        assert rows_of(display.ax_)[-1] == "41 more, together ≤ 43 %"


def lines_of(axis):
    return [line.get_xydata() for line in axis.lines if len(line.get_xdata()) > 2]


def test_numbers_have_a_line_a_band_and_a_level_of_missing_ones(regressor):
    found = regressor.effect("width")
    axis = plot.effect(regressor, "width").ax_
    (values,) = found.values
    present = np.isfinite(values)
    (line,) = lines_of(axis)
    np.testing.assert_allclose(line, np.column_stack([values, found.mean])[present])
    (missing,) = (line for line in axis.lines if len(line.get_xdata()) == 2)
    np.testing.assert_allclose(missing.get_ydata(), found.mean[~present].repeat(2))
    band = np.unique(axis.collections[0].get_paths()[0].vertices, axis=0)
    ends = [np.column_stack([values, part])[present] for part in (found.lower, found.upper)]
    for point in np.concatenate(ends):
        assert np.abs(band - point).max(axis=1).min() < 1e-9
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts == ["average", "missing"]


@pytest.mark.parametrize("days", [0.02, 0.08, 0.9, 1.9, 5.0, 40.0, 200.0, 583.0, 729.0, 4000.0])
@pytest.mark.filterwarnings("error")
def test_dates_of_any_range_have_ticks(days):
    start = np.datetime64("2011-01-01T01:07", "ms")
    times = start + (np.linspace(0.0, days, 9) * 86_400_000).astype("m8[ms]")
    for width in (1.4, 3.4, 6.9):
        axis = Figure(figsize=(width, 2.0), layout="constrained").subplots()
        display = ResidualsDisplay(np.zeros(9), times).plot(axis)
        assert 1 <= len(display.ax_.get_xticks()) <= 7


def test_decimal_years_are_times_to_the_millisecond():
    times = np.array(["2020-02-29T13:14:15.678", "1969-12-31T23:59:59", "2100-01-01"], "M8[ms]")
    apart = np.abs(dates_of(decimal_years(times)) - times).astype(np.int64)
    assert apart.max() <= 20  # A year has 3e10 ms, and a decimal year 1e12 digits


def test_levels_are_points_in_order_of_their_averages(regressor):
    found = regressor.effect("kind")
    axis = plot.effect(regressor, "kind").ax_
    order = np.argsort(-found.mean)
    assert rows_of(axis) == [found.values[0][i] for i in order]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("average prediction", "kind")
    (line,) = axis.lines
    np.testing.assert_allclose(line.get_xdata(), found.mean[order])
    segments = np.array(axis.collections[0].get_segments())[:, :, 0]
    np.testing.assert_allclose(segments, np.column_stack([found.lower, found.upper])[order])


def test_classes_have_a_curve_each(classifier):
    found = classifier.effect("height")
    axis = plot.effect(classifier, "height").ax_
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts == list(classifier.classes_)
    for line, mean in zip(lines_of(axis), found.mean.T, strict=True):
        np.testing.assert_allclose(line[:, 1], mean)
    assert axis.get_ylabel() == "average probability"


def test_of_many_classes_those_that_vary_most_are_drawn():
    rng, ranges = np.random.default_rng(0), np.arange(26) % 13
    mean = np.outer([0.0, 0.5, 1.0], ranges) + 0.01 * rng.random((3, 26))
    labels = np.array([chr(97 + i) for i in range(26)])
    made = Effect(("x",), (np.arange(3.0),), mean, mean, mean, labels)
    axis = EffectDisplay(made, label="average probability").plot().ax_
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts == ["k", "l", "m", "x", "y", "z"]


def test_few_levels_of_another_column_are_curves(regressor):
    found = regressor.effect("height", "kind")
    axis = plot.effect(regressor, "height", "kind").ax_
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts == list(found.values[1])
    for line, mean in zip(lines_of(axis), found.mean.T, strict=True):
        np.testing.assert_allclose(line[:, 1], mean)


def test_two_columns_of_numbers_are_a_map(regressor):
    found = regressor.effect("width", "height", n_values=6)
    axis = plot.effect(regressor, "width", "height", n_values=6).ax_
    present = np.isfinite(found.values[0])
    drawn = axis.collections[0].get_array().reshape(len(found.values[1]), -1)
    np.testing.assert_allclose(drawn, found.mean[present].T)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("width", "height")


def test_rare_classes_are_one_in_a_table_of_many():
    y = np.repeat(np.arange(40), np.arange(40, 0, -1))
    display = ConfusionDisplay.from_predictions(y, y)
    assert list(display.classes) == [*map(str, range(29)), "11 others"]
    np.testing.assert_array_equal(np.diag(display.counts)[:29], np.arange(40, 11, -1))
    assert display.counts.sum() == len(y)


def test_areas_are_shares_of_pairs_in_order(classifier, test_labels):
    X, y = test_labels
    display = plot.roc(classifier, X, y)
    probability = classifier.predict_proba(X)
    for k, name in enumerate(classifier.classes_):
        own, others = probability[y == name, k], probability[y != name, k]
        pairs = own[:, None] - others
        area = np.mean((pairs > 0.0) + 0.5 * (pairs == 0.0))
        assert display.areas[name] == pytest.approx(area)
        false, true = display.curves[name]
        assert np.trapezoid(true, false) == pytest.approx(area)
    for line, (false, true) in zip(display.ax_.lines[1:], display.curves.values(), strict=True):
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([false, true]))
