"""Every mark of a picture is where its number is: dots, bars, whiskers, curves and counts."""

import numpy as np
import pytest

from bochner.plot.class_errors import ConfusionDisplay, RocDisplay
from bochner.plot.rankings import ComparisonDisplay, SharesDisplay

RNG = np.random.default_rng(0)
NAMES = [f"column {letter}" for letter in "abcdefg"]


def dots(axis):
    """Return the places of all markers."""
    lines = [line for line in axis.lines if line.get_marker() not in ("None", "")]
    return np.concatenate([line.get_xydata() for line in lines])


def segments(axis):
    """Return both ends of all segments, such as whiskers."""
    found = [
        each for c in axis.collections if hasattr(c, "get_segments") for each in c.get_segments()
    ]
    return [segment[[0, -1]] for segment in found]


def bars(axis):
    """Return the left end, the right end and the middle height of all bars."""
    return [
        (b.get_x(), b.get_x() + b.get_width(), b.get_y() + 0.5 * b.get_height())
        for b in axis.patches
    ]


def same(found, expected):
    """Assert that marks are the expected ones, in any order."""
    found, expected = (
        np.array(sorted(np.ravel(each).tolist() for each in marks)) for marks in (found, expected)
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)


def of_comparison():
    values, errors = RNG.uniform(1.0, 2.0, 5), RNG.uniform(0.1, 0.3, 5)
    display = ComparisonDisplay(NAMES[:5], values, errors).plot()
    rows = np.arange(5.0)
    same(dots(display.ax_), zip(values, rows, strict=True))
    ends = [((v - e, row), (v + e, row)) for v, e, row in zip(values, errors, rows, strict=True)]
    same(segments(display.ax_), ends)
    return display


def of_shares():
    share, error = RNG.uniform(0.1, 0.5, 7), RNG.uniform(0.01, 0.05, 7)
    display = SharesDisplay.largest(NAMES, share, error, most=5).plot()
    order = np.argsort(-share)
    assert list(display.names) == [NAMES[i] for i in order[:4]]
    shown = [(100.0 * share[i], 100.0 * error[i], float(row)) for row, i in enumerate(order[:4])]
    same(bars(display.ax_), [(0.0, value, row) for value, _, row in shown])
    same(segments(display.ax_), [((v - e, row), (v + e, row)) for v, e, row in shown])
    last = display.ax_.get_yticklabels()[-1].get_text()
    rest = f"{100.0 * share[order[4:]].sum():.2g}"
    assert last == f"3 more, together ≤ {rest} %"
    return display


def of_confusion():
    """Counts that are no symmetric matrix: a row of the picture is an observed class."""
    y, said = RNG.integers(0, 4, 400), RNG.integers(0, 4, 400)
    said = np.where(said == 2, 1, said)
    display = ConfusionDisplay.from_predictions(y, said).plot()
    counts = {(j, i): np.sum((y == i) & (said == j)) for i in range(4) for j in range(4)}
    assert {t.get_position(): int(t.get_text()) for t in display.ax_.texts} == counts
    (image,) = display.ax_.images
    sizes = np.bincount(y)
    shares = [[counts[j, i] / sizes[i] for j in range(4)] for i in range(4)]
    np.testing.assert_allclose(image.get_array(), shares)
    axis = display.ax_
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("predicted class", "observed class")
    return display


def of_roc():
    """A point of a curve is the shares of both kinds of rows above a threshold."""
    rank = RNG.permutation(40) / 40.0
    y = np.where(rank + 0.4 * RNG.normal(size=40) > 0.5, "yes", "no")
    both = np.column_stack([1.0 - rank, rank])
    display = RocDisplay.from_probabilities(y, both, ["no", "yes"]).plot()
    curve = display.ax_.lines[1].get_xydata()
    above = [rank >= threshold for threshold in [2.0, *np.sort(rank)[::-1]]]
    points = [[np.mean(up[y == name]) for name in ("no", "yes")] for up in above]
    assert {tuple(p) for p in curve.round(9)} <= {tuple(p) for p in np.round(points, 9)}
    assert np.trapezoid(curve[:, 1], curve[:, 0]) > 0.5  # Better than chance
    return display


DRAWN = {
    ComparisonDisplay: of_comparison,
    SharesDisplay: of_shares,
    ConfusionDisplay: of_confusion,
    RocDisplay: of_roc,
}


@pytest.mark.parametrize("kind", DRAWN, ids=lambda kind: kind.__name__)
def test_marks_are_where_their_numbers_are(kind):
    assert isinstance(DRAWN[kind](), kind)
