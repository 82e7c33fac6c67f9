"""Algorithm 1: its letter, its bound by draws, what updates gain, what the expansion does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from papers.digmm_transcription import Algorithm
from scipy import stats

from bochner.papers import digmm as digmm_taylor

N_DRAWS = 20_000
LIMIT = 4.5
SIZES = {"alone": np.ones(6, dtype=int), "groups": np.array([3, 1, 4, 2])}


def definite(rng, dim, *shape):
    root = rng.normal(size=(*shape, dim, dim + 2))
    return root @ root.swapaxes(-1, -2) / (dim + 2.0)


def some_prior(dim=2):
    rng = np.random.default_rng(10 + dim)
    return digmm_taylor.MeanFieldPrior(
        rng.normal(size=dim), definite(rng, dim), definite(rng, dim), dim + 1.7, 1.6
    )


def some_part(dim=2, n=5, noise=0.8):
    """Similarities of any sort: some of them are above one."""
    rng = np.random.default_rng(20 + dim)
    gram = rng.normal(0.3, 0.5, size=(n, n))
    gram = 0.5 * (gram + gram.T)
    np.fill_diagonal(gram, 1.0)
    gram[0, 1] = gram[1, 0] = 1.3
    return digmm_taylor.SignedData(rng.normal(size=(n, dim)), gram, noise)


def some_factors(sizes, dim=2, truncation=3, seed=0):
    rng = np.random.default_rng(30 + seed)
    labels = rng.dirichlet(np.ones(truncation), len(sizes))
    frequencies = digmm_taylor.FrequencyFactors(
        sizes, labels, rng.normal(size=(len(sizes), dim)), definite(rng, dim, len(sizes))
    )
    components = digmm_taylor.ComponentFactors(
        rng.uniform(0.5, 3.0, (truncation - 1, 2)),
        rng.normal(size=(truncation, dim)),
        definite(rng, dim, truncation),
        definite(rng, dim, truncation),
        rng.uniform(dim + 1.0, dim + 4.0, truncation),
    )
    return components, frequencies


def transcribed(part, prior, components, frequencies):
    """Return the paper's algorithm with every frequency of every group by itself."""
    algorithm = Algorithm(
        part.rows,
        part.gram,
        part.noise,
        prior.mean,
        prior.mean_precision,
        prior.scale,
        prior.dof,
        prior.concentration,
    )
    of_group = np.repeat(np.arange(len(frequencies.sizes)), frequencies.sizes)
    algorithm.start(
        frequencies.labels[of_group],
        frequencies.means[of_group],
        np.linalg.inv(frequencies.precisions)[of_group],
        components.means,
        components.mean_precisions,
        components.scales,
        components.dofs,
    )
    return algorithm, of_group


def assert_letter(sizes, dim=2, n_iter=4):
    part, prior = some_part(dim), some_prior(dim)
    components, frequencies = some_factors(sizes, dim)
    algorithm, of_group = transcribed(part, prior, components, frequencies)
    for _ in range(n_iter):
        last = frequencies
        components = digmm_taylor.updated_components(prior, components, frequencies)
        frequencies = digmm_taylor.updated_frequencies(components, frequencies, part.curvature())
        change = algorithm.iterate()
        for found, expected in (
            (components.sticks, np.column_stack((algorithm.a, algorithm.b))),
            (components.means, algorithm.m),
            (components.mean_precisions, algorithm.R),
            (components.scales, algorithm.W),
            (components.dofs, algorithm.nu),
            (frequencies.labels[of_group], algorithm.q),
            (frequencies.means[of_group], algorithm.w_mean),
            (frequencies.covariances[of_group], algorithm.w_cov),
        ):
            assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
        norm = np.linalg.norm((frequencies.labels - last.labels)[of_group])
        assert_allclose(norm, change, rtol=1e-8, atol=1e-12)


def bound(part, prior, components, frequencies):
    return digmm_taylor.prior_bound(prior, components, frequencies) + part.data_bound(frequencies)


def omegas(rng, frequencies, n):
    """Return draws (n, M, d) of all frequencies, those of a group one after the other."""
    of_group = np.repeat(np.arange(len(frequencies.sizes)), frequencies.sizes)
    roots = np.linalg.cholesky(frequencies.covariances)[of_group]
    noise = rng.standard_normal((n, len(of_group), frequencies.means.shape[1]))
    return frequencies.means[of_group] + np.einsum("mij,nmj->nmi", roots, noise), of_group


def assert_z(draws, expected):
    assert abs(draws.mean() - expected) < LIMIT * draws.std() / np.sqrt(len(draws))


def log_likelihood(part, omega):
    """Return the paper's log likelihood of frequencies (M, d), up to a constant."""
    deltas = part.rows[:, None] - part.rows[None]
    fitted = np.cos(deltas @ omega.T).mean(axis=2)
    squares = (part.gram - fitted) ** 2
    return -0.5 * (squares.sum() - np.trace(squares)) / part.noise**2


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_updates_are_those_of_the_appendix(sizes, dim):
    assert_letter(SIZES[sizes], dim)


def test_the_ascent_is_algorithm_1():
    """Starts, order, record and stop of the ascent, by the transcription from the same start."""
    part, prior, sizes = some_part(), some_prior(), np.array([2, 1, 3])
    frequencies, components = digmm_taylor.start(prior, sizes, np.random.default_rng(5))
    algorithm, of_group = transcribed(part, prior, components, frequencies)
    found = digmm_taylor.coordinate_ascent(part, prior, sizes, np.random.default_rng(5), 40, 1e-3)
    changes = [algorithm.iterate() for _ in found.changes]
    assert_allclose(found.changes, changes, rtol=1e-7, atol=1e-10)
    assert 1 < len(changes) < 40
    assert changes[-1] <= 1e-3 < min(changes[:-1])
    assert_allclose(found.frequencies.means[of_group], algorithm.w_mean, rtol=1e-9)
    assert_allclose(found.components.scales, algorithm.W, rtol=1e-9)
    short = digmm_taylor.coordinate_ascent(part, prior, sizes, np.random.default_rng(5), 3, 1e-12)
    assert_allclose(short.changes, changes[:3], rtol=1e-7)
    assert len(short.bounds) == 3


def test_the_expected_log_likelihood_is_that_of_draws():
    part, rng = some_part(), np.random.default_rng(1)
    _, frequencies = some_factors(SIZES["groups"])
    omega, _ = omegas(rng, frequencies, N_DRAWS)
    total = np.zeros(N_DRAWS)
    for i in range(len(part.rows)):
        for j in range(len(part.rows)):
            if i != j:
                average = np.cos(omega @ (part.rows[i] - part.rows[j])).mean(axis=1)
                total += stats.norm(average, part.noise).logpdf(part.gram[i, j])
    assert_z(total, part.data_bound(frequencies))


@pytest.mark.parametrize("m", [1, 4])
def test_the_likelihood_curves_upwards_where_the_update_curves_down(m, dim=3):
    """Its second derivatives at zero, by differences, are 2 / M times A, not -A."""
    part, step = (
        digmm_taylor.SignedData(some_part(dim).rows, np.minimum(some_part(dim).gram, 1.0), 0.7),
        1e-3,
    )
    found = np.empty((dim, dim))
    for i in range(dim):
        for j in range(dim):
            total = 0.0
            for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                omega = np.zeros((m, dim))
                omega[0] = step * (a * np.eye(dim)[i] + b * np.eye(dim)[j])
                total += a * b * log_likelihood(part, omega)
            found[i, j] = total / (4.0 * step**2)
    expected = 2.0 / m * part.curvature()
    assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
