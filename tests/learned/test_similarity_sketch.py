"""The rows of a sketch, the similarities of their pairs, and a start from them."""

import numpy as np
import pytest

from bochner import SimilarityFeatures, kernels
from bochner.learned.exact_inference import from_width
from bochner.learned.mixture_inference import Sketch, observed, spread_rows

ROWS = np.random.default_rng(0).normal(size=(30, 3))


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("n", [2, 10, 25, 40, 100])
def test_rows_are_different_and_as_many_as_there_are(n):
    rows = rng().standard_normal((40, 3))
    chosen = spread_rows(rows, n, rng(1))
    assert len(chosen) == min(n, 40)
    assert len(set(chosen.tolist())) == len(chosen)


@pytest.mark.thorough
def test_the_next_row_is_drawn_by_its_squared_distance():
    # All but two rows are at zero, and those are hardly ever among the first ten of ten thousand.
    rows = np.zeros((10_000, 2))
    rows[7, 0], rows[8, 1] = 1.0, 3.0
    chosen = [spread_rows(rows, 11, rng(seed)) for seed in range(400)]
    last = np.array([one[-1] for one in chosen if not np.isin([7, 8], one[:10]).any()])
    assert np.isin(last, [7, 8]).all()
    share = 0.9  # 9 / (1 + 9)
    assert abs(np.mean(last == 8) - share) < 4.0 * np.sqrt(share * (1.0 - share) / len(last))


def test_what_is_learned_reaches_rows_far_from_the_rest():
    X = rng(3).normal(scale=0.1, size=(2_000, 4))
    X[1_700:1_703] += 2.0
    kernel = kernels.TL1(12.0)
    far, near = X[1_700:1_703], X[:200]
    map = SimilarityFeatures(kernel, n_sketch=40, random_state=0).fit(X)
    assert np.isin(map.sketch_indices_, np.arange(1_700, 1_703)).any()
    # Values are about four, which a sketch of random rows misses altogether.
    assert np.abs(map.kernel_(near, far) - kernel(near, far)).max() < 0.5


def squares(rows):
    return np.sum((rows[:, None] - rows[None]) ** 2, axis=2)


@pytest.mark.parametrize("level", [0.0, 0.7, -2.0])
def test_sums_of_squares_are_those_of_all_similarities(level):
    gram = np.exp(-squares(ROWS)) + np.diag(rng(1).uniform(0.0, 3.0, len(ROWS)))
    data = observed(Sketch(ROWS, gram, 1.5), rng(1))
    upper = gram[np.triu_indices(len(ROWS))]
    found = data.counts @ (data.values - level / data.unit) ** 2 + data.spread
    assert found * data.unit**2 == pytest.approx(np.sum((upper - level) ** 2))
    assert data.total == len(upper)


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0])
def test_a_start_has_the_width_of_a_gaussian_kernel(width):
    gram = np.exp(-0.5 * width**2 * squares(ROWS))
    data = observed(Sketch(ROWS, gram, 1.0), rng(1))
    factor = from_width(rng(1), data, np.array([1.0]), 3)[0]
    assert factor.weights[0] > 0.9
    np.testing.assert_allclose(factor.roots[0], width * np.eye(3), rtol=0.13)  # of a grid of 61


def test_self_similarities_have_the_share_of_the_pairs_that_are_drawn(monkeypatch):
    monkeypatch.setattr("bochner.learned.mixture_inference._MOST_PAIRS", 100)
    data = observed(Sketch(ROWS, np.eye(30), 1.0), rng())
    assert data.total == pytest.approx(100.0 + 100.0 * 30.0 / 435.0)
