"""Landmarks that are predicted together are those of one pivot after the other."""

import numpy as np
import pytest

from bochner import kernels
from bochner.features.landmarks import greatest_pivots


def one_by_one(kernel, X, count):
    """Return the pivots of a Gram matrix by elimination of one row and column at a time."""
    remaining, chosen = kernel(X), []
    for _ in range(count):
        pivot = int(np.argmax(np.diagonal(remaining)))
        if remaining[pivot, pivot] <= 1e-8:
            break
        chosen.append(pivot)
        remaining = (
            remaining - np.outer(remaining[pivot], remaining[pivot]) / remaining[pivot, pivot]
        )
        remaining[pivot, pivot] = 0.0
    return chosen


# Pivots of one row, of few rows, and of so many that predictions go wrong and end early.
@pytest.mark.thorough_cases("2")
@pytest.mark.parametrize(("dim", "scale", "count"), [(1, 1.0, 5), (2, 0.2, 300), (20, 6.0, 400)])
@pytest.mark.parametrize("kernel", [kernels.Gaussian, lambda scale: kernels.Matern(scale, nu=1.5)])
def test_pivots_are_those_of_one_row_after_the_other(dim, scale, count, kernel):
    X = np.random.default_rng(0).normal(size=(900, dim))
    expected = one_by_one(kernel(scale), X, count)
    rows, lower = greatest_pivots(kernel(scale), X, count)
    np.testing.assert_array_equal(rows, X[expected])
    lower = np.tril(lower)  # As solvers with lower=True read it
    np.testing.assert_allclose(lower @ lower.T, kernel(scale)(rows), atol=1e-9)
