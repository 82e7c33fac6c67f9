"""Pictures of table models: what is drawn are the model's own numbers."""

import numpy as np
import pytest

from bochner import plot
from bochner.plot.effects import EffectDisplay


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


def test_a_curve_has_the_average_the_limits_and_quantiles_of_rows(regressor):
    rows = np.array([1.0, 2.0, 3.0])
    shown = {"average": 0.5, "limits": (-9.0, 9.0), "quantiles": {"width": rows}}
    axis = EffectDisplay(regressor.effect("width"), **shown).plot().ax_
    assert axis.get_ylim() == (-9.0, 9.0)
    assert any(np.all(np.equal(line.get_ydata(), 0.5)) for line in axis.lines)
    np.testing.assert_allclose(axis.lines[-1].get_xdata(), rows)
    found = regressor.effect("width", "height", n_values=6)
    axis = EffectDisplay(found, **shown).plot().ax_
    assert (1.0, 3.0) in (axis.get_xlim(), axis.get_ylim())


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
