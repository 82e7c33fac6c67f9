"""Choosing length scales by the evidence of sampled features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bochner import kernels, spectral_measure
from bochner.features import feature_sums
from bochner.learning.ridge import best_alpha, fit_ridge
from bochner.learning.selection import EvidenceProblem, select_length_scale

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(25, 2)), RNG.normal(size=(25, 1))


def a_problem(**parameters):
    return EvidenceProblem(X, Y, None, 12, **parameters).subsampled(np.random.default_rng(0))


@pytest.mark.parametrize("alpha", [None, 0.7])
def test_the_evidence_is_the_dense_one(alpha):
    problem, kernel = a_problem(alpha=alpha), kernels.Matern(0.8)
    frequencies = spectral_measure(kernel, 2).sample(12, problem.seed, problem.scheme)
    sums = feature_sums(frequencies, X, Y)
    chosen = best_alpha(sums)[0] if alpha is None else alpha
    noise = fit_ridge(sums, chosen).noise_variance[0]
    covariance = noise * (frequencies.gram(X) / chosen + np.eye(25))
    expected = multivariate_normal(cov=covariance).logpdf(Y[:, 0])
    assert_allclose(problem.log_evidence(kernel), expected, rtol=1e-8)


def test_the_selected_length_scale_is_the_best_of_its_grid():
    problem = a_problem()
    chosen = select_length_scale(kernels.Gaussian, problem, np.random.default_rng(0))
    for factor in (2.0**-0.5, 2.0**0.5):
        other = kernels.Gaussian(factor * chosen.length_scale)
        assert problem.log_evidence(other) <= problem.log_evidence(chosen)


def test_subsamples_are_rows_of_positive_weight():
    rows = np.arange(5000.0)[:, None]
    weight = (np.arange(5000) % 2).astype(float)
    problem = EvidenceProblem(rows, rows, weight, 1000).subsampled(np.random.default_rng(0))
    assert problem.X.shape == (2000, 1)
    assert problem.n_frequencies == 256
    assert (problem.weight == 1.0).all()
    assert len(np.unique(problem.X)) == 2000
    assert_allclose(problem.X, problem.Y)
