"""Gaussians in place of frequencies: moments, groups, and kernels within stated bounds."""

from types import SimpleNamespace

import numpy as np
import pytest
from laws.group_laws import kernel_bound
from numpy.testing import assert_allclose

from bochner.learned.basis import Matched, TwoSpectraPrior
from bochner.learned.frequency_priors import Components, frequency_components
from bochner.learned.learned_kernel import mean_kernel


def some_frequencies(rng, m=400):
    """Sparse, over several octaves, some of them in a narrow line away from zero."""
    omega = rng.normal(size=(m, 3)) * np.exp(rng.normal(size=(m, 1)))
    omega[rng.random(omega.shape) < 0.5] = 0.0
    omega[: m // 4] = rng.choice([-1.0, 1.0], size=(m // 4, 1)) * [5.0, 0.0, 0.0]
    omega[: m // 4, 0] += 0.05 * rng.normal(size=m // 4)
    return omega


def kernel_of(part, lag):
    """Weighted sum of the real characteristic functions at lags (n, d)."""
    values = np.zeros(len(lag))
    for weight, mean, covariance in zip(part.weights, part.means, part.covariances, strict=True):
        quadratic = np.einsum("ni,ij,nj->n", lag, covariance, lag)
        values += weight * np.exp(-0.5 * quadratic) * np.cos(lag @ mean)
    return values


def test_the_kernel_is_that_of_the_frequencies_within_the_bound_of_its_groups():
    rng = np.random.default_rng(1)
    omega = some_frequencies(rng)
    lag = rng.normal(size=(200, 3)) * np.geomspace(0.01, 1.0, 200)[:, None]
    bound = kernel_bound(omega, lag)
    error = np.abs(kernel_of(frequency_components(omega), lag) - np.cos(lag @ omega.T).mean(axis=1))
    assert (error <= bound + 1e-12).all()
    assert np.count_nonzero(bound < 0.05) > 50


def test_a_line_keeps_its_place():
    rng = np.random.default_rng(2)
    omega = rng.choice([-1.0, 1.0], size=(300, 1)) * (6.0 + 0.01 * rng.normal(size=(300, 1)))
    part = frequency_components(omega)
    assert len(part.weights) == 1
    assert_allclose(np.abs(part.means), [[6.0]], rtol=1e-3)
    lag = np.linspace(0.0, 10.0, 50)[:, None]
    assert_allclose(kernel_of(part, lag), np.cos(lag @ omega.T).mean(axis=1), atol=0.01)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_the_mean_kernel_averages_the_draws_in_the_units_of_the_inputs(n_parts):
    rng = np.random.default_rng(5)
    scale = np.array([1e-3, 50.0])
    draws = []
    for _ in range(n_parts):
        root = rng.normal(size=(4, 2, 2))
        draws.append(
            Components(
                rng.dirichlet(np.ones(4)), rng.normal(size=(4, 2)), root @ root.swapaxes(1, 2)
            )
        )
    X = scale * rng.normal(size=(15, 2))
    kernel = mean_kernel(draws, scale)
    lag = (X[:, None] - X[None]).reshape(-1, 2) / scale
    expected = np.mean([kernel_of(part, lag) for part in draws], axis=0).reshape(15, 15)
    assert_allclose(kernel(X), expected, atol=1e-10)
    assert_allclose(kernel.diag(X), 1.0, rtol=1e-14)


def test_many_components_become_few_of_the_same_second_moments():
    """The lightest are merged: the kernel changes by no more than twice their weight."""
    rng = np.random.default_rng(6)
    weights = np.sort(rng.dirichlet(np.full(300, 0.05)))[::-1]
    weights = np.maximum(weights, 1e-12)
    weights /= weights.sum()
    root = rng.normal(size=(300, 2, 2))
    part = Components(weights, rng.normal(size=(300, 2)), root @ root.swapaxes(1, 2))
    kernel = mean_kernel([part], np.ones(2))
    assert len(kernel.weights) == 128
    lag = rng.normal(size=(100, 2))
    error = np.abs(kernel(lag, np.zeros((1, 2)))[:, 0] - kernel_of(part, lag))
    assert error.max() <= 2.0 * weights[127:].sum()
    before = part.covariances + part.means[:, :, None] * part.means[:, None, :]
    means = np.array(kernel.means)
    after = np.array(kernel.covariances) + means[:, :, None] * means[:, None, :]
    assert_allclose(
        np.einsum("q,qij->ij", np.array(kernel.weights), after),
        np.einsum("q,qij->ij", weights, before),
        rtol=1e-10,
    )


def test_frequencies_and_half_their_amplitudes_have_the_moments_of_the_sum():
    """For independent s and v, Cov(s + v / 2) = Cov(s) + Cov(v) / 4; means add likewise."""

    def law(seed, n_parts):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(n_parts, 2, 2))
        means = rng.normal(size=(n_parts, 2))
        return Components(rng.dirichlet(np.ones(n_parts)), means, root @ root.swapaxes(1, 2))

    def moments(part):
        mean = part.weights @ part.means
        second = part.covariances + part.means[:, :, None] * part.means[:, None, :]
        return mean, np.einsum("q,qij->ij", part.weights, second) - np.outer(mean, mean)

    s, v = law(0, 3), law(1, 2)
    parts = (SimpleNamespace(components=lambda part=part: part) for part in (s, v))
    mean, covariance = moments(TwoSpectraPrior(Matched(), *parts).components())
    assert_allclose(mean, moments(s)[0] + 0.5 * moments(v)[0], rtol=1e-12)
    assert_allclose(covariance, moments(s)[1] + 0.25 * moments(v)[1], rtol=1e-12)
