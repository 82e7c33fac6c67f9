"""Evidence and noise of ridge regressions with weights: normal densities of single observations."""

import numpy as np
import pytest
from flat_parameters import flat
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.base import clone

from bochner import KreinRidge, kernels
from bochner.features import FeatureSums
from bochner.features.chunks import Chunk
from bochner.linear.kernel_families import parameterised
from bochner.linear.kernel_selection import canonical
from bochner.linear.krein import KreinSpectrum, fit_krein
from bochner.linear.ridge_posterior import CheckedMap, best_alpha, centred_sums, fit_ridge
from bochner.linear.ridge_search import GramSearch

RNG = np.random.default_rng(5)
CELLS = RNG.normal(size=(6, 2))


def ratings(n=60, seed=0):
    """Numbers from one to five in six cells."""
    rng = np.random.default_rng(seed)
    cell = rng.integers(6, size=n)
    return CELLS[cell], np.clip(np.round(3.0 + CELLS[cell, 0] + rng.normal(size=n)), 1.0, 5.0)


def density(covariance, y, noise=None, fit_intercept=False):
    """Log density of targets at a noise variance, the best one by default, or of contrasts."""
    if fit_intercept:
        contrast = np.linalg.svd(np.ones((1, len(y))))[2][1:]
        covariance, y = contrast @ covariance @ contrast.T, contrast @ y
    noise = y @ np.linalg.solve(covariance, y) / len(y) if noise is None else noise
    return multivariate_normal(cov=noise * covariance).logpdf(y), noise


def merged(X, y):
    """Different rows, and how often each occurs."""
    table, counts = np.unique(np.column_stack((X, y)), axis=0, return_counts=True)
    return table[:, :-1], table[:, -1], counts.astype(float)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_counts_have_the_density_of_single_observations(fit_intercept):
    X, y = ratings()
    rows, targets, counts = merged(X, y)
    assert len(rows) < 31
    features = np.column_stack((np.sin(X), np.cos(X)))
    few = np.column_stack((np.sin(rows), np.cos(rows)))
    sums = FeatureSums.from_rows(few, targets[:, None], counts)
    found = fit_ridge(sums, 0.3, fit_intercept=fit_intercept)
    expected, noise = density(
        features @ features.T / 0.3 + np.eye(60), y, fit_intercept=fit_intercept
    )
    assert_allclose(found.log_evidence, expected, rtol=1e-9)
    assert_allclose(found.noise_variance, noise, rtol=1e-9)


def test_fractional_weights_have_the_density_of_their_noise():
    X, y = ratings()
    weight = RNG.uniform(0.1, 3.0, 60)
    Z = np.column_stack((np.sin(X), np.cos(X)))

    def dense(log_alpha):
        return density(Z @ Z.T / np.exp(log_alpha) + np.diag(1.0 / weight), y)

    sums = FeatureSums.from_rows(Z, y[:, None], weight)
    found = fit_ridge(sums, 0.3)
    assert_allclose((found.log_evidence, found.noise_variance[0]), dense(np.log(0.3)), rtol=1e-9)
    alpha, evidence = best_alpha(sums)
    best = minimize_scalar(lambda x: -dense(x)[0], bounds=(-8.0, 5.0), method="bounded")
    assert_allclose(alpha, np.exp(best.x), rtol=1e-3)
    assert_allclose(evidence, -best.fun, rtol=1e-8)


@pytest.mark.parametrize("factor", [0.3, 70.0])
def test_a_factor_of_fractional_weights_is_a_unit_of_the_noise(factor):
    X, y = ratings()
    weight = RNG.uniform(0.1, 3.0, 60)
    Z = np.column_stack((np.sin(X), np.cos(X)))
    one, other = (FeatureSums.from_rows(Z, y[:, None], f * weight) for f in (1.0, factor))
    (alpha, evidence), (other_alpha, other_evidence) = map(best_alpha, (one, other))
    assert_allclose(other_alpha, factor * alpha, rtol=1e-8)
    assert_allclose(other_evidence, evidence, rtol=1e-9)
    first, second = fit_ridge(one, alpha), fit_ridge(other, other_alpha)
    assert_allclose(second.coef, first.coef, rtol=1e-8)
    assert_allclose(second.noise_variance, factor * first.noise_variance, rtol=1e-8)


def test_alpha_of_noise_has_the_unit_of_weights():
    """Targets without any signal have the greatest alpha of the range, relative to features."""
    rng = np.random.default_rng(0)
    Z, weight = rng.normal(size=(60, 4)), rng.uniform(0.1, 3.0, 60)
    root = np.sqrt(weight)
    y = rng.normal(size=60)
    y -= Z @ np.linalg.lstsq(root[:, None] * Z, root * y)[0]
    alphas = [best_alpha(FeatureSums.from_rows(Z, y[:, None], f * weight))[0] for f in (1.0, 70.0)]
    assert_allclose(alphas[1], 70.0 * alphas[0], rtol=1e-6)
    assert alphas[0] > 1e4


@pytest.mark.parametrize("factor", [1.0, 0.3, 70.0])
def test_cross_validation_of_indefinite_kernels_counts_observations(factor):
    """The score divides by the number of rows, which no factor of their weights changes."""
    X, y = ratings()
    weight = factor * RNG.uniform(0.1, 3.0, 60)
    Z = np.column_stack((np.sin(X), np.cos(X)))
    signs = np.array([1.0, 1.0, -1.0, 1.0])
    sums = FeatureSums.from_rows(Z, y[:, None], weight)
    spectrum = KreinSpectrum.of(*centred_sums(sums, False)[:1], signs, sums.n_observations)
    alpha = 7.0 * factor
    root = np.sqrt(weight)[:, None]
    K = (root * Z * signs) @ (root * Z).T
    hat = np.linalg.solve((K + alpha * np.eye(60)).T, K.T).T
    residual = root[:, 0] * y - hat @ (root[:, 0] * y)
    values = np.linalg.eigvals(hat).real
    score = np.log(60.0 * residual @ residual) - 2.0 * np.log(60.0 - np.abs(values).sum())
    assert_allclose(spectrum.score(alpha), score, rtol=1e-8)
    unit = FeatureSums.from_rows(Z, y[:, None], weight / factor)
    chosen, plain = (fit_krein(each, signs, None) for each in (sums, unit))
    assert_allclose(chosen.alpha, factor * plain.alpha, rtol=1e-6)


@pytest.mark.parametrize("kind", ["counts", "fractions"])
def test_merged_rows_have_the_exact_evidence_of_single_observations(kind):
    X, y = ratings()
    single = np.array([0.5, 0.5, 1.7])[np.arange(60) % 3] if kind == "fractions" else np.ones(60)
    rows = canonical(Chunk(X, y[:, None], single))
    assert len(rows) < 55
    assert rows.units.n_observations == 60.0
    family = parameterised(kernels.Gaussian(0.8), rows, np.ones(2), np.random.default_rng(0))
    problem = GramSearch(family, rows, None, False)
    theta, alpha = family.origin + 0.2, 0.4
    value = problem.value(np.append(theta, np.log(alpha))) * 60.0 - problem.penalty(theta)[0]
    y = y / y.std() if kind == "counts" else y / np.sqrt(np.cov(y, aweights=single, ddof=0))
    covariance = family.kernel(theta)(X) / alpha + np.diag(1.0 / single)
    assert_allclose(-value, density(covariance, y)[0], atol=1e-5)


def test_whether_weights_are_counts_is_decided_by_all_chunks():
    """A fractional weight of the last chunk makes those of all chunks precisions."""
    X, y = ratings()
    whole = np.repeat([2.0, 3.0], 30)
    halves = [slice(0, 30), slice(30, 60)]
    for last, n_observations in ((3.0, 150.0), (3.5, 60.0)):
        weight = np.append(whole[:-1], last)
        parts = [(X[part], y[part], weight[part]) for part in halves]
        model = KreinRidge(kernels.Gaussian(1.0), 32, fit_intercept=True, random_state=0)
        together = model.fit(X, y, weight).noise_variance_
        assert_allclose(model.fit(parts).noise_variance_, together)
        model = clone(model)
        for one in parts:
            model.partial_fit(*one)
        assert model.sums_.n_observations == n_observations
        assert_allclose(model.noise_variance_, together)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_conjugate_gradients_have_the_noise_of_the_direct_solution(fit_intercept):
    X, y = ratings()
    weight = np.append(0.0, RNG.uniform(0.1, 3.0, 59))
    options = {"n_components": 32, "fit_intercept": fit_intercept, "random_state": 0}
    direct, iterative = (
        flat(KreinRidge, kernels.Gaussian(1.0), solver=solver, tol=1e-10, **options).fit(
            X, y, weight
        )
        for solver in ("cholesky", "cg")
    )
    # Without check features, the error of the features counts as noise.
    main = CheckedMap.of(direct.frequencies_, direct.checks_).main_columns
    ridge = fit_ridge(direct.sums_.at(main), 1.0, fit_intercept=fit_intercept)
    assert_allclose(iterative.noise_variance_, ridge.noise_variance[0], rtol=1e-6)
