"""Harmonizable mixtures: their double spectral integral, special cases and estimates."""

import numpy as np
import pytest
from laws.registry import DIMS, HARMONIZABLE_CASES, check_mean
from numpy.testing import assert_allclose

from bochner import KreinRidge, spectral_measure
from bochner.features.chunks import Chunk
from bochner.kernels import Gaussian, Harmonizable, LocallyStationary
from bochner.linear.kernel_families import parameterised
from bochner.linear.ridge_search import GramSearch

RNG = np.random.default_rng(0)
ROWS = np.random.default_rng(1).normal(size=(30, 2))
ALPHA = 1e-3 / (4 * len(HARMONIZABLE_CASES) * 30)


def test_it_is_the_integral_over_pairs_of_frequencies():
    """A correlated Gaussian for every pair of means, over a grid of both frequencies."""
    centre, rate, spread, mu = 0.7, 1.3, 0.8, np.array([0.5, 2.0])
    factors, phases = np.array([[1.0, 0.6], [0.3, 0.9]]), np.array([[0.2, -1.0], [0.0, 0.4]])
    kernel = Harmonizable([factors], [mu[:, None]], centre, rate, spread, [phases])
    step = np.arange(-9.0, 9.0, 0.06)
    one, other = np.meshgrid(step, step, indexing="ij")
    variance, covariance = spread**2 + rate**2 / 2.0, spread**2
    precision = np.linalg.inv([[variance, covariance], [covariance, variance]])
    square = precision[0, 0] * (one**2 + other**2) + 2.0 * precision[0, 1] * one * other
    density = np.exp(-0.5 * square) * np.sqrt(np.linalg.det(precision)) / (2.0 * np.pi) * 0.06**2
    L = factors * np.exp(1j * phases)
    for x, y in ((0.0, 0.4), (1.5, -0.3), (0.9, 0.9)):
        u, v = x - centre, y - centre
        plain = np.sum(density * np.exp(1j * (one * u - other * v)))
        B = np.einsum("lr,ls->rs", L, L.conj())
        means = np.sum(B * np.exp(1j * np.subtract.outer(mu * u, mu * v)))
        assert_allclose(kernel([[x]], [[y]])[0, 0], (plain * means).real, atol=1e-9)


@pytest.mark.parametrize("dim", DIMS)
def test_waves_whose_amplitudes_are_cosines_are_one(dim):
    s, v = RNG.normal(size=(2, 3, dim))
    weights, phases = np.array([1.0, 0.5, 2.0]), np.array([0.3, 5.0, -2.0])
    factors = np.sqrt(weights / 2.0)[:, None] * np.ones(2)
    pairs = np.stack([s + v / 2.0, s - v / 2.0], axis=1)
    kernel = Harmonizable(factors, pairs, phases=phases[:, None] * [1.0, -1.0])
    X = RNG.normal(size=(6, dim))
    waves = np.cos(X @ v.T / 2.0 + phases)[None] * [np.cos(X @ s.T), np.sin(X @ s.T)]
    exact = np.einsum("q,piq,pjq->ij", 2.0 * weights, waves, waves)
    assert_allclose(kernel(X), exact, atol=1e-12)
    # Finitely many frequencies have no error.
    assert_allclose(spectral_measure(kernel, dim).sample(12, 0).gram(X), exact, atol=1e-12)


def test_a_locally_stationary_kernel_of_gaussians_is_one():
    width, scale = 1.5, 0.8
    spread = np.sqrt(scale**-2 - width**-2 / 4.0)
    kernel = Harmonizable([1.0], [[0.0]], 0.3, 1.0 / width, spread)
    X = RNG.normal(size=(6, 1))
    assert_allclose(kernel(X), LocallyStationary(Gaussian(width), Gaussian(scale), 0.3)(X))


@pytest.mark.thorough_cases("iid|2d0|5d0|structured-1d0")
@pytest.mark.parametrize("case", HARMONIZABLE_CASES, ids=lambda case: f"{case.dim}d")
@pytest.mark.parametrize("scheme", ["iid", "orthogonal", "structured"])
def test_estimates_are_unbiased_and_positive_definite(case, scheme):
    X, measure = case.points(6), spectral_measure(case.kernel, case.dim)
    drawn = [measure.sample(16, rng, scheme) for rng in case.rng(scheme).spawn(40)]
    grams = np.array([f.gram(X) for f in drawn])
    assert drawn[0].is_symmetric
    assert np.linalg.eigvalsh(grams).min() > -1e-12 * np.abs(grams).max()
    check_mean(grams, case.kernel(X), ALPHA)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("case", HARMONIZABLE_CASES[:8:2], ids=lambda case: f"{case.dim}d")
def test_slopes_of_the_evidence_are_differences(case, fit_intercept):
    X, y = case.points(25), RNG.normal(size=(25, 2))
    rows = Chunk(X, y, RNG.uniform(0.5, 2.0, size=25))
    family = parameterised(case.kernel, rows, np.ones(case.dim), RNG)
    problem = GramSearch(family, rows, None, fit_intercept)
    point = problem.started(family.origin + 0.1 * RNG.normal(size=family.origin.size))
    found = problem.loss(point)[1]
    step = 1e-5 * np.eye(len(point))
    differences = [(problem.value(point + h) - problem.value(point - h)) / 2e-5 for h in step]
    assert_allclose(found, differences, atol=1e-5 * np.abs(found).max())


@pytest.mark.thorough
def test_evidence_finds_where_a_function_is_rough():
    """A chirp: its kernel falls sooner at the end than at the start, and is far more likely."""
    X = np.linspace(0.0, 1.0, 120)[:, None]
    y = np.sin(40.0 * X[:, 0] ** 3) + 0.05 * np.random.default_rng(0).normal(size=120)
    settings = {"alpha": "evidence", "length_scale": "evidence", "random_state": 0}
    model = KreinRidge(Harmonizable.covering(X, 3), 400, **settings).fit(X, y)
    stationary = KreinRidge("gaussian", 400, **settings).fit(X, y)
    assert model.log_evidence_ > stationary.log_evidence_ + 20.0

    def correlation(x):
        pair = [[x], [x + 0.05]]
        K = model.kernel_(pair)
        return K[0, 1] / np.sqrt(K[0, 0] * K[1, 1])

    assert correlation(0.1) > correlation(0.9) + 0.2


def test_windows_cover_the_rows():
    X = RNG.normal(size=(200, 2)) * [1.0, 100.0]
    kernel = Harmonizable.covering(X, 5, variance=2.0)
    values = kernel.diag(X)
    assert 0.5 < values.min() <= values.max() < 12.0
    # The last component, about the mean, has no window: it is what is left beyond all of them.
    assert [any(inverse) for inverse in kernel.inverse_widths] == [True] * 5 + [False]
    assert_allclose(kernel.centres[-1], X.mean(axis=0))
    assert_allclose(kernel.diag(1e4 * X), 1.0)
    with pytest.raises(ValueError, match="n_windows must be from 0 to 3"):
        Harmonizable.covering(X[:3], 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("X", "given", "error", "message"),
    [
        (ROWS, {"n_windows": 2.5}, TypeError, "n_windows must be an integer, got 2.5"),
        (ROWS, {"n_windows": "3"}, TypeError, "n_windows must be an integer, got '3'"),
        (ROWS, {"n_windows": True}, TypeError, "n_windows must be an integer"),
        (ROWS, {"n_windows": -1}, ValueError, "from 0 to 30, the number of distinct rows"),
        (ROWS, {"variance": -1.0}, ValueError, "variance must be positive"),
        (ROWS, {"random_state": "a"}, TypeError, "random_state must be a seed"),
        (0.1 + 0.0 * ROWS, {"n_windows": 3}, ValueError, "from 0 to 1, the number of distinct"),
        (1e-310 * ROWS, {"n_windows": 3}, ValueError, "from 0 to 1, the number of distinct"),
        (ROWS > 9.0, {"n_windows": 2}, ValueError, "from 0 to 1, the number of distinct"),
    ],
)
def test_windows_that_cannot_be(X, given, error, message):
    with pytest.raises(error, match=message):
        Harmonizable.covering(X, **given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), r"factors must have shape \(Q, R, P\) .* got \(0,\) and \(0,\)"),
        (([10**400], [[1.0]]), "factors must be numbers that float64 can hold"),
        (([1.0], [1.0]), r"factors must have shape \(Q, R, P\)"),
        (([1.0, 2.0], [[1.0]]), r"with Q = 1 components and P = 1"),
        (([1.0], [[1.0]], [[0.0, 1.0]]), r"centres must have shape \(1, 1\), got \(1, 2\)"),
        (([1.0], [[1.0]], 0.0, -1.0), "inverse_widths must not be negative"),
        (([np.nan], [[1.0]]), "factors must be finite"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Harmonizable(*arguments)
