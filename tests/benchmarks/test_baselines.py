"""Opponents of the papers' tables: each against the formula of its paper."""

import numpy as np
import pytest
from laws.registry import check_mean
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

from benchmarks.baselines import (
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


@pytest.mark.thorough
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
