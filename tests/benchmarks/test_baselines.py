"""Opponents of the papers' tables: each against the formula of its paper."""

import numpy as np
import pytest
from laws.registry import check_mean
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

from benchmarks.baselines import (
    ALaCarteRegressor,
    MultipleKernelFeatures,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedRandomProjection,
    TensorSketch,
)
from benchmarks.baselines.mixture_evidence import MixtureEvidence
from benchmarks.baselines.mixture_frequencies import MixtureFrequencies, descend
from benchmarks.baselines.random_frequency_classifier import PenalisedLoss
from bochner import kernels

ALPHA = 1e-3
"""Chance that one test, over all of its pairs, rejects a right implementation."""

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 6, 3)) * 0.7
SPHERE_X, SPHERE_Y = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (X, Y))
ROWS = RNG.normal(size=(60, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 5.0]
TARGETS = np.sin(2.0 * ROWS[:, 0]) + ROWS[:, 1] / 20.0


def slopes(function, theta, step=1e-5):
    """Central differences, with an error of the order of 1e-7 of the largest third derivative."""
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + h) - function(theta - h)) / (2 * step) for h in steps])


def factor_of(entries, dim, full):
    """The factor of a component from its entries: lower triangular, or diagonal."""
    if not full:
        return np.diag(entries)
    M = np.zeros((dim, dim))
    M[np.tril_indices(dim)] = entries
    return M


# Features of polynomial kernels

POSITIVE = [kernels.Polynomial(2, offset=1.5), kernels.SphericalPolynomial(3, a=2.5)]
SIGNED = [kernels.Polynomial(2, -0.5), [0.3, -1.0, 0.0, 0.5]]


def rows_for(kernel):
    return (SPHERE_X, SPHERE_Y) if isinstance(kernel, kernels.SphericalPolynomial) else (X, Y)


def products(make, kernel, n_components=40, n_seeds=300):
    """Signed products of the features of pairs, of shape (seeds, pairs, features)."""
    left, right = rows_for(kernel)
    values = []
    for seed in range(n_seeds):
        features = make(kernel, n_components, random_state=seed).fit(left)
        values.append(features.transform(left) * features.signature_ * features.transform(right))
    return np.array(values)


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        *((make, k) for make in (TensorizedRandomProjection, TensorSketch) for k in POSITIVE),
        *((RandomMaclaurin, k) for k in (*POSITIVE, *SIGNED)),
    ],
)
def test_features_of_polynomials_are_unbiased(make, kernel):
    left, right = rows_for(kernel)
    exact = (
        np.polynomial.polynomial.polyval(np.einsum("ij,ij->i", left, right), kernel)
        if isinstance(kernel, list)
        else np.diagonal(kernel(left, right))
    )
    check_mean(products(make, kernel).sum(axis=2), exact, ALPHA / len(X))


# Spherical random features


def test_spherical_features_are_unbiased_for_their_profile():
    dim, n_seeds, m = 5, 12, 400
    left, right = (
        rows / np.linalg.norm(rows, axis=1)[:, None]
        for rows in np.random.default_rng(0).normal(size=(2, 12, dim))
    )
    distance = np.linalg.norm(left - right, axis=1)
    error = variance = 0.0
    for seed in range(n_seeds):
        features = SphericalRandomFeatures(
            kernels.NTK(), n_components=2 * m, n_starts=1, n_gaussians=3, random_state=seed
        ).fit(left)
        mean, twice = features.profile(distance), features.profile(2.0 * distance)
        mass = features.profile([0.0])[0]
        error = error + np.diagonal(features.gram(left, right)) - mean
        # One pair of features is mass * cos(omega . delta).
        variance = variance + (0.5 * mass * (mass + twice) - mean**2) / m
    z = error / np.sqrt(variance)
    assert np.abs(z).max() < norm.isf(ALPHA / (2 * len(z)))


# Several kernels


def bank(lag):
    """Kernels at lags in units of the inputs, stacked first."""
    scaled = [lag / ROWS.std(axis=0) / scale for scale in (0.5, 1.0, 3.0)]
    return np.array(
        [np.exp(-np.abs(u).sum(axis=-1)) for u in scaled]
        + [np.exp(-0.5 * (u**2).sum(axis=-1)) for u in scaled]
        + [np.prod(1.0 / (1.0 + u**2), axis=-1) for u in scaled]
    )


def several_kernels(y, **parameters):
    parameters = {"n_components": 150, "random_state": 0} | parameters
    return MultipleKernelFeatures(length_scales=(0.5, 1.0, 3.0), **parameters).fit(ROWS, y)


def test_features_of_several_kernels_are_unbiased_with_the_known_variance():
    lag = ROWS[:8] - ROWS[8:16]
    estimates = []
    for seed in range(200):
        features = several_kernels(TARGETS, random_state=seed)
        products = features.transform(ROWS[:8]) * features.transform(ROWS[8:16])
        estimates.append(products.sum(axis=1))
    weights = features.weights_[:, None]
    one, two = bank(lag), bank(2.0 * lag)
    variance = np.sum(weights**2 * (1 + two - 2 * one**2) / (2 * features.counts_[:, None]), axis=0)
    error = np.array(estimates) - np.sum(weights * one, axis=0)
    z = error.mean(axis=0) / np.sqrt(variance / len(error))
    assert np.abs(z).max() < norm.isf(ALPHA / (2 * len(z)))


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_weights_minimise_the_loss_of_centred_alignment(kind):
    labels = np.digitize(TARGETS, [4.5, 5.5])
    y, targets = {
        "numbers": (7.0 * TARGETS - 3.0, ((TARGETS - TARGETS.mean()) / TARGETS.std())[:, None]),
        "labels": (np.array(["a", "b", "c"])[labels], np.eye(3)[labels]),
    }[kind]
    weights = several_kernels(y).weights_
    centring = np.eye(len(ROWS)) - 1.0 / len(ROWS)
    grams = np.array([centring @ K @ centring for K in bank(ROWS[:, None] - ROWS[None])])
    goal = centring @ targets @ targets.T @ centring

    def loss(w):
        rest = np.tensordot(w, grams, 1) - goal
        return np.sum(rest**2), 2.0 * np.tensordot(grams, rest, 2)

    options = {"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-9}
    best = minimize(
        loss, np.ones(9), jac=True, bounds=[(0.0, None)] * 9, method="L-BFGS-B", options=options
    )
    # The minimum is flat along some directions: compare losses.
    assert loss(weights * best.x.sum())[0] <= best.fun * (1.0 + 1e-6)
    assert_allclose(weights.sum(), 1.0)
    assert weights.min() >= 0.0


# A la carte


@pytest.mark.parametrize("full", [True, False], ids=["full", "diagonal"])
def test_the_evidence_and_its_gradient_are_those_of_a_dense_normal_density(full):
    rng = np.random.default_rng(4)
    mixture = MixtureFrequencies.draw(rng, 7, 3, 2, full)
    evidence = MixtureEvidence(mixture, rng.normal(size=(25, 3)), rng.normal(size=25))
    theta = evidence.start(rng, 1)
    theta += 0.2 * rng.normal(size=len(theta))

    def dense(at):
        nu, noise, rest = at[:2], np.exp(at[2]), at[3:]
        entries, means = rest[:-6].reshape(2, -1), rest[-6:].reshape(2, 3)
        lag = evidence.X[:, None] - evidence.X[None]
        K = noise * np.eye(25)
        for j, k in enumerate(mixture.component):
            omega = factor_of(entries[k], 3, full) @ mixture.base[j] + means[k]
            share = nu[k] ** 2 / np.count_nonzero(mixture.component == k)
            K += share * np.cos(lag @ omega)
        return multivariate_normal(np.zeros(25), K).logpdf(evidence.y)

    value, gradient = evidence(theta)
    assert_allclose(value, dense(theta), rtol=1e-10)
    expected = slopes(dense, theta)
    assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_the_fitted_model_is_a_gaussian_process_in_units_of_the_data():
    y, new = 30.0 + 4.0 * TARGETS, ROWS[:20] + 0.01
    model = ALaCarteRegressor(60, n_mixture=3, max_iter=30, random_state=0).fit(ROWS, y)
    K = model.frequencies_.gram(ROWS) + model.noise_variance_ * np.eye(len(ROWS))
    density = multivariate_normal(np.full(len(ROWS), y.mean()), K).logpdf(y)
    assert_allclose(model.log_evidence_, density, rtol=1e-6)
    across = model.frequencies_.gram(new, ROWS)
    mean, std = model.predict(new, return_std=True)
    assert_allclose(mean, y.mean() + across @ np.linalg.solve(K, y - y.mean()), rtol=1e-6)
    prior = np.diagonal(model.frequencies_.gram(new)) + model.noise_variance_
    variance = prior - np.sum(across * np.linalg.solve(K, across.T).T, axis=1)
    assert_allclose(std, np.sqrt(variance), rtol=1e-5)


# Random frequencies of a classifier


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_objective_and_its_gradient_are_those_of_the_printed_formula(n_classes):
    rng = np.random.default_rng(3)
    m, dim, q = 7, 3, 2
    mixture = MixtureFrequencies.draw(rng, m, dim, q, True)
    label = rng.integers(n_classes, size=20)
    target = label[:, None].astype(float) if n_classes == 2 else np.eye(n_classes)[label]
    loss = PenalisedLoss(mixture, rng.normal(size=(20, dim)), target, 0.7)
    theta = loss.start(rng)
    theta = theta + 0.3 * rng.normal(size=len(theta))

    def printed(at):
        n_eta = target.shape[1]
        beta, rest = at[: n_eta * 2 * m].reshape(n_eta, 2, m), at[n_eta * 2 * m :]
        zeroth, nu, rest = rest[:n_eta], rest[n_eta : n_eta + q], rest[n_eta + q :]
        entries, mu = rest[: len(rest) - q * dim].reshape(q, -1), rest[-q * dim :].reshape(q, dim)
        total = 0.0
        for x, y in zip(loss.X, label, strict=True):
            eta = zeroth.copy()
            for j, k in enumerate(mixture.component):
                zeta = x @ factor_of(entries[k], dim, True) @ mixture.base[j] + x @ mu[k]
                eta += nu[k] ** 2 * (beta[:, 0, j] * np.cos(zeta) + beta[:, 1, j] * np.sin(zeta))
            binary = n_eta == 1
            total += np.log1p(np.exp(eta[0])) - y * eta[0] if binary else 0.0
            total += 0.0 if binary else np.log(np.sum(np.exp(eta))) - eta[y]
        return total + 0.5 * 0.7 * (np.sum(beta**2) + np.sum(zeroth**2))

    value, gradient = loss(theta)
    assert_allclose(value, printed(theta), rtol=1e-12)
    expected = slopes(printed, theta)
    assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    descended, least, _ = descend(loss, len(loss.target), theta, 50, 1e-9)
    assert least * 20 < value
    assert_allclose(least * 20, printed(descended), rtol=1e-9)
