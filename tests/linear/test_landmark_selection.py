"""Length scales that features of few frequencies cannot follow, against the exact evidence."""

import numpy as np
import pytest
from flat_parameters import flat
from scipy.stats import norm

from bochner import KreinRidge, kernels

pytestmark = pytest.mark.thorough

ROUGH = kernels.Gaussian((2.0, 0.05))


def drawn(kernel, n, seed):
    """Return rows of two inputs, and noisy values of a draw of the process."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    lower = np.linalg.cholesky(kernel(X) + 1e-8 * np.eye(n))
    return X, lower @ rng.normal(size=n) + 0.1 * rng.normal(size=n)


def exact(kernel, X, y):
    """Return the greatest log evidence of the kernel itself over noise, at unit variance."""
    values, vectors = np.linalg.eigh(kernel(X))
    deviations = np.sqrt(values.clip(0.0) + np.geomspace(1e-3, 1.0, 25)[:, None])
    return norm.logpdf(y @ vectors, scale=deviations).sum(axis=1).max()


def learned(X, y, landmarks, alpha="evidence"):
    options = {"alpha": alpha, "length_scale": "evidence", "scheme": "orthogonal"}
    model = flat(KreinRidge, "gaussian", 32, residual=landmarks, random_state=0, **options)
    return model.fit(X, y).kernel_


@pytest.mark.parametrize("alpha", ["evidence", 0.1])
def test_landmarks_show_shorter_scales(alpha):
    X, y = drawn(ROUGH, 400, 0)
    alone, helped = (learned(X, y, count, alpha) for count in (None, 200))
    assert helped.length_scale[1] < alone.length_scale[1]
    assert exact(helped, X, y) > exact(alone, X, y) + 50.0


def test_scales_that_features_follow_stay():
    X, y = drawn(kernels.Gaussian((2.0, 1.5)), 400, 0)
    assert learned(X, y, None) == learned(X, y, 100)
