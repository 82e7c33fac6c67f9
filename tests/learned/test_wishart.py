"""The conjugate laws of the mixture: densities by quadrature, posteriors by Bayes' rule, draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import gammaln

from bochner.learned.dirichlet_mixture import GammaPrior, NormalInverseWishart

# Shared evenly (Bonferroni) among the comparisons of each test of draws.
FAMILY_ALPHA = 1e-3
DIMS = (1, 2, 5)


def law(dim):
    rng = np.random.default_rng(dim)
    root = rng.normal(size=(dim, dim + 2))
    return NormalInverseWishart(rng.normal(size=dim), 0.4, root @ root.T, dim + 0.7)


def log_joint(prior, mean, covariance):
    """The density of a normal inverse Wishart law by SciPy."""
    return stats.invwishart(prior.dof, prior.scale).logpdf(covariance) + (
        stats.multivariate_normal(prior.mean, covariance / prior.strength).logpdf(mean)
    )


@pytest.mark.parametrize("dim", [*DIMS, 30])
def test_the_marginal_is_a_multivariate_t(dim):
    prior = law(dim)
    omega = 2.0 * np.random.default_rng(0).normal(size=(20, dim))
    dof = prior.dof - dim + 1.0
    shape = prior.scale * (prior.strength + 1.0) / (prior.strength * dof)
    expected = stats.multivariate_t(prior.mean, shape, dof).logpdf(omega)
    assert_allclose(prior.log_marginal(omega), expected, rtol=1e-9)


@pytest.mark.parametrize("dim", DIMS)
def test_the_posterior_is_that_of_bayes(dim):
    """Likelihood times prior over posterior is one number, the product of marginals in turn."""
    prior, rng = law(dim), np.random.default_rng(1)
    omega = rng.normal(size=(6, dim)) + 1.0
    posterior = prior.posterior(omega)
    evidence = sum(
        float(prior.posterior(omega[:j]).log_marginal(omega[j : j + 1])[0]) for j in range(6)
    )
    ratios = []
    for _ in range(20):
        root = rng.normal(size=(dim, dim + 3))
        covariance, mean = root @ root.T, rng.normal(size=dim)
        likelihood = stats.multivariate_normal(mean, covariance).logpdf(omega).sum()
        joint = likelihood + log_joint(prior, mean, covariance)
        ratios.append(joint - log_joint(posterior, mean, covariance))
    assert_allclose(ratios, np.full(20, evidence), rtol=1e-8)


@pytest.mark.parametrize("dim", DIMS)
def test_draws_follow_their_laws(dim, n=4000):
    r"""Quadratic forms of draws follow their chi-square laws.

    For fixed x, :math:`x^\top \Sigma^{-1} x / x^\top \Psi^{-1} x` has :math:`\nu` degrees of
    freedom, :math:`x^\top \Psi x / x^\top \Sigma x` has :math:`\nu - d + 1`, and the squared
    length of :math:`\sqrt\kappa \Sigma^{-1/2} (\mu - m)` has ``d``.
    """
    prior, rng = law(dim), np.random.default_rng(2)
    draws = [prior.sample(rng) for _ in range(n)]
    shifts = np.array([mean for mean, _ in draws]) - prior.mean
    covariances = np.array([covariance for _, covariance in draws])
    precisions = np.linalg.inv(covariances)
    lengths = prior.strength * np.einsum("ni,nij,nj->n", shifts, precisions, shifts)
    p_values = [stats.kstest(lengths, stats.chi2(dim).cdf).pvalue]
    for x in (np.eye(dim)[0], np.eye(dim)[-1], np.ones(dim)):
        inner = x @ precisions @ x / (x @ np.linalg.solve(prior.scale, x))
        outer = x @ prior.scale @ x / (x @ covariances @ x)
        along = (shifts @ x) / np.sqrt(x @ covariances @ x / prior.strength)
        p_values += [
            stats.kstest(inner, stats.chi2(prior.dof).cdf).pvalue,
            stats.kstest(outer, stats.chi2(prior.dof - dim + 1.0).cdf).pvalue,
            stats.kstest(along, stats.norm.cdf).pvalue,
        ]
    assert min(p_values) > FAMILY_ALPHA / (len(p_values) * len(DIMS))


def test_the_concentration_follows_its_posterior(n=4000):
    """Draws from the posterior by its inverse, after some updates, are still draws from it."""
    prior, n_components, m = GammaPrior(1.5, 0.8), 3, 12
    grid = np.exp(np.linspace(-12.0, 5.0, 200_001))
    # In the law of the partition, only alpha^K Gamma(alpha) / Gamma(alpha + m) depends on alpha.
    density = grid * np.exp(
        stats.gamma(prior.shape, scale=1.0 / prior.rate).logpdf(grid)
        + n_components * np.log(grid)
        + gammaln(grid)
        - gammaln(grid + m)
    )
    cumulative = np.cumsum(density) / np.sum(density)
    rng = np.random.default_rng(3)
    draws = np.interp(rng.random(n), cumulative, grid)
    for _ in range(10):
        draws = [prior.sample_given(rng, draw, n_components, m) for draw in draws]
    ks = stats.kstest(draws, lambda x: np.interp(x, grid, cumulative))
    assert ks.pvalue > FAMILY_ALPHA


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": np.array([[1.0, 0.5], [0.0, 1.0]])}, "symmetric"),
        ({"scale": np.array([[1.0, 2.0], [2.0, 1.0]])}, "least eigenvalue is -1"),
    ],
    ids=["symmetric", "definite"],
)
def test_what_is_no_law_is_refused(change, message):
    fields = {"mean": np.zeros(2), "strength": 1.0, "scale": np.eye(2), "dof": 3.0}
    with pytest.raises(ValueError, match=message):
        NormalInverseWishart(**(fields | change))
