"""Evidence of components given moments: the chain of predictive densities, and its gradient."""

import numpy as np
import pytest
from learned.problems import component_law
from numpy.testing import assert_allclose
from scipy import stats

from bochner.learned.mixture_bound import ComponentPrior, component_evidence

DIMS = (1, 2, 5)
FAMILY_ALPHA = 1e-3
N_DRAWS = 3000


def some_prior(dim):
    return ComponentPrior(dim, stiffness=4.5, strength=0.3)


def chain(prior, scale, omega):
    """The log density of frequencies of one component, each given those before it."""
    law = component_law(prior, scale)
    return sum(
        float(law.posterior(omega[:j]).log_marginal(omega[j : j + 1])[0]) for j in range(len(omega))
    )


@pytest.mark.parametrize("dim", DIMS)
def test_the_evidence_is_the_chain_of_predictive_densities(dim):
    rng, prior = np.random.default_rng(dim), some_prior(dim)
    counts, scales = np.array([1, 4, 11]), np.array([0.2, 1.0, 3.0])
    points = [rng.normal(size=dim) + rng.normal(size=(n, dim)) for n in counts]
    means = np.array([omega.mean(axis=0) for omega in points])
    covariances = np.array(
        [
            np.cov(omega.T, bias=True).reshape(dim, dim) if len(omega) > 1 else np.zeros((dim, dim))
            for omega in points
        ]
    )
    found = component_evidence(prior, counts.astype(float), means, covariances, scales)
    expected = [chain(prior, *pair) for pair in zip(scales, points, strict=True)]
    assert_allclose(found.value, expected, rtol=1e-10)


def test_evidence_of_few_frequencies_by_integration():
    """In one dimension, of half a frequency with given moments, by a sum over a grid."""
    prior = ComponentPrior(1, stiffness=3.0, strength=0.5)
    count, mean, variance, scale = 0.5, 0.8, 0.3, 1.4
    sigma2 = np.exp(np.linspace(-9.0, 9.0, 2001))[:, None]
    unit = np.linspace(-9.0, 9.0, 1001)
    mu = unit * np.sqrt(sigma2 / prior.strength)
    law = stats.invgamma(0.5 * prior.dof, scale=0.5 * prior.stiffness * scale)
    density = law.pdf(sigma2) * sigma2 * stats.norm.pdf(unit)
    expected_log = (
        -0.5 * np.log(2.0 * np.pi * sigma2) - 0.5 * ((mean - mu) ** 2 + variance) / sigma2
    )
    total = np.sum(density * np.exp(count * expected_log)) * (18.0 / 2000.0) * (18.0 / 1000.0)
    moments = (np.array([[mean]]), np.array([[[variance]]]), np.array([scale]))
    found = component_evidence(prior, np.array([count]), *moments)
    assert_allclose(found.value, np.log(total), rtol=1e-8)


@pytest.mark.parametrize("stiffness", [2.0, 100.0])
def test_coordinates_in_a_subspace_have_a_law_of_the_same_stiffness(stiffness):
    """What is drawn in six coordinates has in two directions the law that is stated for two."""
    rng = np.random.default_rng(0)
    wide, narrow = (component_law(ComponentPrior(dim, stiffness), 0.7) for dim in (6, 2))
    basis = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    draws = [wide.sample(rng) for _ in range(N_DRAWS)]
    means = np.array([mean @ basis for mean, _ in draws])
    covariances = np.array([basis.T @ covariance @ basis for _, covariance in draws])
    precisions = np.linalg.inv(covariances)
    lengths = narrow.strength * np.einsum("ni,nij,nj->n", means, precisions, means)
    p_values = [stats.kstest(lengths, stats.chi2(2).cdf).pvalue]
    for x in (np.array([1.0, 0.0]), np.array([0.6, 0.8])):
        inner = x @ precisions @ x / (x @ np.linalg.solve(narrow.scale, x))
        outer = x @ narrow.scale @ x / (x @ covariances @ x)
        p_values.append(stats.kstest(inner, stats.chi2(narrow.dof).cdf).pvalue)
        p_values.append(stats.kstest(outer, stats.chi2(narrow.dof - 1.0).cdf).pvalue)
    assert min(p_values) > FAMILY_ALPHA / (2 * len(p_values))
