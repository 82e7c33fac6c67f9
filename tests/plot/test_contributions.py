"""Contributions to one prediction and to many: bars and points are the model's own numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bochner import plot
from bochner.files.columns import read_column
from bochner.plot.contribution_plots import entry_text
from bochner.tables.contributions import Contributions

RNG = np.random.default_rng(0)


def random_contributions(n, d, classes=None, scale=1.0):
    shape = (n, d) if classes is None else (n, d, len(classes))
    sizes = np.geomspace(1.0, 0.01, d).reshape(d, *[1] * (len(shape) - 2))
    values = scale * sizes * RNG.normal(size=shape)
    base = 2.0 if classes is None else np.arange(float(len(classes)))
    names = tuple(f"c{i}" for i in range(d))
    labels = None if classes is None else np.array(classes)
    return Contributions(names, base, values, 0.0 * values, base + values.sum(axis=1), labels)


def bars_of(axis):
    return [(bar.get_x(), bar.get_width()) for bar in axis.patches]


def texts_of(side):
    return [text.get_text() for text in side.get_yticklabels()]


@pytest.mark.parametrize("row", [0, 7, -1])
def test_bars_lead_from_the_average_to_the_prediction(regressor, test_rows, row):
    X, _ = test_rows
    known = regressor.contributions(X.iloc[[row]], random_state=0)
    display = plot.waterfall(regressor, X, row, random_state=0)
    assert display.base == known.base
    np.testing.assert_allclose(display.ends[-1], regressor.predict(X.iloc[[row]])[0])
    order = np.argsort(-np.abs(known.values[0]))
    np.testing.assert_allclose(display.steps, known.values[0, order])
    # Every bar begins where the one above ends.
    bars = bars_of(display.ax_)
    np.testing.assert_allclose([left for left, _ in bars], display.ends[:-1])
    np.testing.assert_allclose([left + width for left, width in bars], display.ends[1:])
    assert display.ax_.yaxis_inverted()
    assert [name.partition(" = ")[0] for name in display.names] == [X.columns[i] for i in order]
    entries = dict(name.split(" = ") for name in display.names)
    assert entries["kind"] == X["kind"].iloc[row]
    assert entries["day"] == str(X["day"].iloc[row].date())


@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_no_contribution_is_lost(n_columns, most, row):
    known = random_contributions(4, n_columns)
    steps = plot.waterfall(known, row=row, most=most)
    np.testing.assert_allclose(steps.ends[-1], known.prediction[row])
    X = RNG.normal(size=(4, n_columns))
    swarm = plot.beeswarm(known, X, most=most)
    np.testing.assert_allclose(swarm.values.sum(axis=1), known.values.sum(axis=1))
    assert swarm.share.sum() == pytest.approx(1.0)
    # One column more than the limit is shown, because it takes no more room than its number.
    n_single = n_columns if n_columns <= most + 1 else most
    for display in (steps, swarm):
        assert len(display.names) == n_single + (n_columns > n_single)
        if n_columns > n_single:
            assert display.names[-1] == f"{n_columns - n_single} more columns"


def test_points_are_the_contributions_to_all_predictions(regressor, test_rows):
    X = test_rows[0][:40]
    known = regressor.contributions(X, random_state=0)
    display = plot.beeswarm(regressor, X, random_state=0)
    size = np.abs(known.values).mean(axis=0)
    order = np.argsort(-size)
    assert display.names == [X.columns[i] for i in order]
    np.testing.assert_allclose(display.share, size[order] / size.sum())
    points = [part.get_offsets() for part in display.ax_.collections]
    for row, i in enumerate(order):
        of_row = np.vstack([part for part in points if len(part) and round(part[0, 1]) == row])
        np.testing.assert_allclose(np.sort(of_row[:, 0]), np.sort(known.values[:, i]))
        assert np.abs(of_row[:, 1] - row).max() <= 0.4
    (side,) = display.ax_.child_axes
    assert texts_of(side) == [f"{100.0 * share:.0f} %" for share in display.share]


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([123456.0, 1.0], "123,456"),
        ([-3.0, 1.0], "−3"),
        (["plain", "striped"], "plain"),
        ([None, 1.0], "missing"),
        (pd.to_datetime(["2020-03-01", "2020-04-01"]), "2020-03-01"),
        (pd.to_datetime(["2020-03-01 14:30", "2020-04-01 00:00"]), "2020-03-01 14:30"),
        (pd.to_datetime(["2020-07-01 14:30"]).tz_localize("Europe/Berlin"), "2020-07-01 14:30"),
    ],
)
def test_entries_are_written_as_people_write_them(entries, text):
    assert entry_text(read_column("x", pd.Series(entries)), 0) == text


REFUSED = [
    (lambda m, X: plot.waterfall(m), ValueError, "X must be a table"),
    (lambda m, X: plot.waterfall(m, X, len(X)), ValueError, "row must be a whole number below"),
    (lambda m, X: plot.waterfall(m, X, output="a"), ValueError, "output must be None"),
    (lambda m, X: plot.beeswarm(random_contributions(3, 4), X), ValueError, "3 and"),
    (lambda m, X: plot.beeswarm(object(), X), TypeError, "got object"),
]


@pytest.mark.parametrize(("draw", "error", "message"), REFUSED)
def test_what_cannot_be_explained_is_refused(regressor, test_rows, draw, error, message):
    with pytest.raises(error, match=message):
        draw(regressor, test_rows[0])
