"""Alpha from Cholesky factors, against that of an eigendecomposition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import kernels, spectral_measure
from bochner.features import feature_sums
from bochner.linear import ridge_posterior as ridge
from bochner.linear.ridge_posterior import best_alpha
from bochner.spectral.frequencies import Frequencies

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
Y = np.stack([np.sin(3.0 * X[:, 0]), X[:, 1]], axis=1) + 5.0 + 0.3 * RNG.normal(size=(200, 2))
FREQUENCIES = spectral_measure(kernels.Gaussian(0.8), 2).sample(50, 0)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("factor", [1.0, 1e6])
def test_it_is_that_of_the_eigendecomposition(fit_intercept, factor, monkeypatch):
    f = FREQUENCIES.with_weights(factor * FREQUENCIES.weight)
    sums = feature_sums(f, X, Y)
    alpha, value = best_alpha(sums, fit_intercept=fit_intercept)
    monkeypatch.setattr(ridge, "_MOST_EIGENVALUES", 30)
    found, near = best_alpha(sums, fit_intercept=fit_intercept)
    assert abs(np.log(found / alpha)) < 0.03
    assert near == pytest.approx(value, abs=0.01)


def test_a_part_that_explains_little_does_not_decide(monkeypatch):
    """Targets are a wave that thinning leaves out, whose noise is far less than its variance."""
    X = RNG.normal(size=(400, 1))
    f = Frequencies(np.linspace(0.5, 40.0, 50)[:, None], np.full(50, 0.02))
    y = f.features(X) @ np.eye(100)[:, [1]] + 1e-3 * RNG.normal(size=(400, 1))
    sums = feature_sums(f, X, y)
    alpha, value = best_alpha(sums)
    monkeypatch.setattr(ridge, "_MOST_EIGENVALUES", 30)
    found, near = best_alpha(sums)
    assert best_alpha(sums.thinned(4))[0] > 100.0 * alpha
    assert abs(np.log(found / alpha)) < 0.05
    assert near == pytest.approx(value, abs=0.01)


def test_thinned_sums_are_those_of_fewer_frequencies_of_more_weight():
    f = FREQUENCIES
    few = Frequencies(f.omega[::3], 3.0 * f.weight[::3])
    expected, found = feature_sums(few, X, Y), feature_sums(f, X, Y).thinned(3)
    for name in ("gram", "cross", "features", "square", "targets"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10, atol=1e-10)
