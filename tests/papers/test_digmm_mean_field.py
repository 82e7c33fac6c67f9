"""Divergences of the factors, by quadrature and by draws from scipy's laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import beta, multivariate_normal, wishart

from bochner.papers import digmm as published

PRIOR = published.MeanFieldPrior(
    mean=np.array([0.3, -1.0]),
    mean_precision=np.array([[2.0, 0.5], [0.5, 1.0]]),
    scale=np.array([[0.7, -0.2], [-0.2, 0.4]]),
    dof=3.5,
    concentration=1.7,
)
COMPONENTS = published.ComponentFactors(
    sticks=np.array([[2.0, 3.5]]),
    means=np.array([[0.0, 0.4], [1.0, -2.0]]),
    mean_precisions=np.array([[[3.0, 0.2], [0.2, 1.5]], [[1.0, -0.3], [-0.3, 0.8]]]),
    scales=np.array([[[0.5, 0.1], [0.1, 0.9]], [[0.3, 0.0], [0.0, 0.2]]]),
    dofs=np.array([5.0, 9.5]),
)


def test_sticks_by_quadrature():
    q, p = beta(*COMPONENTS.sticks[0]), beta(1.0, PRIOR.concentration)
    expected = quad(lambda v: q.pdf(v) * (q.logpdf(v) - p.logpdf(v)), 0.0, 1.0)[0]
    found = published.stick_divergence(COMPONENTS.sticks, PRIOR.concentration)
    assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("kind", ["means", "precisions"])
def test_means_and_precisions_by_draws(kind):
    rng, expected, variance = np.random.default_rng(0), 0.0, 0.0
    for t in range(2):
        if kind == "means":
            q = multivariate_normal(
                COMPONENTS.means[t], np.linalg.inv(COMPONENTS.mean_precisions[t])
            )
            p = multivariate_normal(PRIOR.mean, np.linalg.inv(PRIOR.mean_precision))
            draws = q.rvs(4_000, random_state=rng)
        else:
            q, p = (
                wishart(COMPONENTS.dofs[t], COMPONENTS.scales[t]),
                wishart(PRIOR.dof, PRIOR.scale),
            )
            draws = np.moveaxis(q.rvs(4_000, random_state=rng), 0, -1)
        ratios = q.logpdf(draws) - p.logpdf(draws)
        expected += np.mean(ratios)
        variance += np.var(ratios) / len(ratios)
    divergence = published.mean_divergence if kind == "means" else published.precision_divergence
    assert abs(divergence(PRIOR, COMPONENTS) - expected) < 4.0 * np.sqrt(variance)
    assert np.sqrt(variance) < 0.02 * expected
