"""Similarities as the bound meets them, and where its ascents start."""

import numpy as np
import pytest

from bochner.learning.double_mixture.observed import observed
from bochner.learning.double_mixture.sketch import Sketch
from bochner.learning.double_mixture.starts import from_width

ROWS = np.random.default_rng(0).normal(size=(30, 3))


def rng():
    return np.random.default_rng(1)


def squares(rows):
    return np.sum((rows[:, None] - rows[None]) ** 2, axis=2)


@pytest.mark.parametrize("level", [0.0, 0.7, -2.0])
def test_sums_of_squares_are_those_of_all_similarities(level):
    gram = np.exp(-squares(ROWS)) + np.diag(rng().uniform(0.0, 3.0, len(ROWS)))
    data = observed(Sketch(ROWS, gram, 1.5), rng())
    upper = gram[np.triu_indices(len(ROWS))]
    found = data.counts @ (data.values - level / data.unit) ** 2 + data.spread
    assert found * data.unit**2 == pytest.approx(np.sum((upper - level) ** 2))
    assert data.total == len(upper)


def test_of_many_pairs_some_stand_for_all(monkeypatch):
    monkeypatch.setattr("bochner.learning.double_mixture.observed._MOST_PAIRS", 87)
    gram = np.exp(-squares(ROWS)) + np.diag(rng().uniform(0.0, 3.0, len(ROWS)))
    data = observed(Sketch(ROWS, gram, 1.5), rng())
    own = np.diagonal(gram) / data.unit
    share = 87 / 435
    assert data.total == pytest.approx(87 + share * 30)
    assert data.spread == pytest.approx(share * np.sum((own - own.mean()) ** 2))


def test_differences_are_in_the_span_and_in_typical_distances():
    inside = np.random.default_rng(2).normal(size=(20, 2))
    rows = inside @ np.linalg.qr(rng().normal(size=(5, 2)))[0].T + 3.0
    data = observed(Sketch(rows, np.exp(-squares(rows)), 2.0), rng())
    assert data.deltas.shape == (191, 2)
    lengths = np.sqrt(np.sum(data.deltas**2, axis=1))
    np.testing.assert_allclose(
        lengths[1:], np.sqrt(squares(inside)[np.triu_indices(20, k=1)]) / 2.0, rtol=1e-9
    )


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0])
def test_a_start_has_the_width_of_a_gaussian_kernel(width):
    gram = np.exp(-0.5 * width**2 * squares(ROWS))
    data = observed(Sketch(ROWS, gram, 1.0), rng())
    factor = from_width(rng(), data, np.array([1.0]), 3)[0]
    assert factor.weights[0] > 0.9
    np.testing.assert_allclose(factor.roots[0], width * np.eye(3), rtol=0.13)  # of a grid of 61
