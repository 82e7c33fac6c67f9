"""The bound of two mixtures: its gradient, its expectations by draws, the evidence it is below."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from bochner.learned import exact_inference, mixture_bound
from bochner.learned.mixture_inference import PairSimilarities

BOTH, ONE = np.array([1.0, -1.0]), np.array([1.0])
N_DRAWS = 20_000
LIMIT = 4.5


def some_data(dim, n_pairs=9, seed=0):
    rng = np.random.default_rng(seed)
    deltas = np.concatenate((np.zeros((1, dim)), rng.normal(size=(n_pairs, dim))))
    square = np.sum(deltas**2, axis=1)
    values = (
        1.5 * np.exp(-0.4 * square)
        - 0.5 * np.exp(-0.1 * square)
        + 0.1 * rng.normal(size=len(deltas))
    )
    counts = np.append(4.5, rng.uniform(0.5, 2.0, n_pairs))
    return PairSimilarities(deltas, values, counts, 0.3, 1.0, np.eye(dim))


def some_factor(dim, truncation=3, seed=0):
    rng = np.random.default_rng(100 + seed)
    weights = rng.dirichlet(np.full(truncation, 2.0))
    roots = np.tril(0.4 * rng.normal(size=(truncation, dim, dim))) + 0.6 * np.eye(dim)
    return mixture_bound.Factor(
        weights, 0.7 * rng.normal(size=(truncation, dim)), roots, rng.normal(size=truncation)
    )


def some_problem(dim, signs, noise, truncation=3):
    prior = mixture_bound.ComponentPrior(dim, stiffness=6.0, strength=0.3)
    objective = mixture_bound.Objective(some_data(dim), signs, prior, 1.3, noise)
    return objective, tuple(some_factor(dim, truncation, seed) for seed in range(len(signs)))


def draws(rng, factor, n):
    """Return frequencies (n, d) of a factor's law."""
    labels = rng.choice(len(factor.weights), n, p=factor.weights)
    roots = np.linalg.cholesky(factor.covariances)
    noise = rng.standard_normal((n, factor.means.shape[1]))
    return factor.means[labels] + np.einsum("nij,nj->ni", roots[labels], noise)


def assert_gradient(dim, signs, noise):
    """By differences along everything that may move; weights keep their sum."""
    objective, factors = some_problem(dim, signs, noise)
    found = objective.bound(factors).gradients
    for index, (factor, gradient) in enumerate(zip(factors, found, strict=True)):
        for name in (field.name for field in fields(mixture_bound.Factor)):
            value, slopes = getattr(factor, name), getattr(gradient, name)
            along, expected = np.zeros_like(value), np.zeros_like(value)
            for place in np.ndindex(value.shape):
                if name == "roots" and place[1] < place[2]:
                    continue
                way = np.zeros_like(value)
                way[place] = 1.0
                if name == "weights":
                    way -= value
                ends = []
                for step in (1e-5, -1e-5):
                    changed = list(factors)
                    changed[index] = replace(factor, **{name: value + step * way})
                    ends.append(objective.bound(tuple(changed)).value)
                along[place], expected[place] = np.sum(slopes * way), (ends[0] - ends[1]) / 2e-5
            assert_allclose(along, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def expected_squares(objective, factors):
    """Return the expected squared error that the bound has, from its values at two noises."""
    one, two = (replace(objective, noise=noise).bound(factors) for noise in (0.5, 1.0))
    assert_allclose(one.masses, two.masses)
    total = objective.observed.total
    gap = one.value - two.value + 0.5 * total * np.log(0.5**2)
    return gap / (-0.5 * (1.0 / 0.5**2 - 1.0)), one.masses


def assert_squares(signs):
    objective, factors = some_problem(2, signs, None)
    data = objective.observed
    exact_values = sum(
        sign * mass * mixture_bound.ExpectedCosines(factor, data.deltas).kernel
        for sign, mass, factor in zip(signs, (1.5, 0.8), factors, strict=False)
    )
    data = replace(data, values=exact_values + 0.1 * data.values)
    objective = replace(objective, observed=data)
    found, masses = expected_squares(objective, factors)
    rng = np.random.default_rng(7)
    residual = np.tile(data.values, (N_DRAWS, 1))
    for sign, mass, factor in zip(signs, masses, factors, strict=True):
        waves = np.cos(draws(rng, factor, mixture_bound.N_LATENT * N_DRAWS) @ data.deltas.T)
        residual -= sign * mass * waves.reshape(N_DRAWS, mixture_bound.N_LATENT, -1).mean(axis=1)
    squares = residual**2 @ data.counts + data.spread
    assert masses.min() > 0.0
    assert abs(squares.mean() - found) < LIMIT * squares.std() / np.sqrt(N_DRAWS)


def log_joint_of_one_sign(objective, factor, omega):
    """Return log p of frequencies (..., M, d), labels, sticks and components summed out."""
    prior, scales = objective.prior, np.exp(factor.log_scales)
    truncation, m = len(scales), omega.shape[-2]
    terms = []
    for labels in np.ndindex(*[truncation] * m):
        counts = np.bincount(labels, minlength=truncation).astype(float)
        term = np.full(
            omega.shape[:-2], mixture_bound.stick_log_evidence(counts, objective.concentration)
        )
        for t in np.flatnonzero(counts):
            mine = omega[..., np.array(labels) == t, :].reshape(-1, int(counts[t]), prior.dim)
            term += evidence_of_points(prior, scales[t], mine).reshape(term.shape)
        terms.append(term)
    return np.logaddexp.reduce(terms) + mixture_bound.log_scale_prior(factor.log_scales)[0]


def evidence_of_points(prior, scale, points):
    """Return the log density (n,) of groups of frequencies (n, k, d), each of one component."""
    count = points.shape[1]
    means = points.mean(axis=1)
    centred = points - means[:, None]
    covariances = np.einsum("nki,nkj->nij", centred, centred) / count
    n = len(points)
    return mixture_bound.component_evidence(
        prior, np.full(n, float(count)), means, covariances, np.full(n, scale)
    ).value


def log_likelihood(objective, masses, omegas):
    """Return the log likelihood of frequencies (..., M, d) of each sign."""
    data, noise = objective.observed, objective.noise
    fitted = sum(
        sign * mass * np.cos(omega @ data.deltas.T).mean(axis=-2)
        for sign, mass, omega in zip(objective.signs, masses, omegas, strict=True)
    )
    squares = (data.values - fitted) ** 2 @ data.counts + data.spread
    return -0.5 * (data.total * np.log(2.0 * np.pi * noise**2) + squares / noise**2)


def log_evidence(objective, factors, masses, m):
    """Return the log evidence of one or two one-dimensional frequencies, by the trapezoidal rule.

    Frequencies are the hyperbolic sines of even steps, which reaches far into the tails.
    """
    axis = np.linspace(-9.0, 9.0, 241)
    points, log_weight = 0.3 * np.sinh(axis), np.log(0.3 * np.cosh(axis) * (axis[1] - axis[0]))
    grid = np.stack(np.meshgrid(*[points] * m * len(factors), indexing="ij"), axis=-1)[..., None]
    omegas = np.split(grid, len(factors), axis=-2)
    total = log_likelihood(objective, masses, omegas)
    for factor, omega in zip(factors, omegas, strict=True):
        total = total + log_joint_of_one_sign(objective, factor, omega)
    for weight in np.meshgrid(*[log_weight] * m * len(factors), indexing="ij"):
        total = total + weight
    return float(np.logaddexp.reduce(total, axis=None))


@pytest.mark.parametrize("latent", [7, 10_000])
@pytest.mark.parametrize("noise", [None, 0.3], ids=["learned", "given"])
@pytest.mark.parametrize("signs", [ONE, -ONE, BOTH], ids=["plus", "minus", "both"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_gradient_of_the_bound(dim, signs, noise, latent, monkeypatch):
    monkeypatch.setattr(mixture_bound, "N_LATENT", latent)
    assert_gradient(dim, signs, noise)


@pytest.mark.parametrize("dim", [1, 3])
def test_the_average_of_cosines_has_these_moments(dim):
    """Mean and variance of the average cosine of three frequencies, by draws of them."""
    rng, factor, deltas = np.random.default_rng(dim), some_factor(dim), some_data(dim).deltas[1:]
    omega = draws(rng, factor, 3 * N_DRAWS)
    averages = np.cos(omega @ deltas.T).reshape(N_DRAWS, 3, -1).mean(axis=1)
    waves = mixture_bound.ExpectedCosines(factor, deltas)
    variance = waves.variance * mixture_bound.N_LATENT / 3.0
    squares = (averages - waves.kernel) ** 2
    for drawn, expected in ((averages, waves.kernel), (squares, variance)):
        z = (drawn.mean(axis=0) - expected) / (drawn.std(axis=0) / np.sqrt(N_DRAWS))
        assert np.abs(z).max() < LIMIT


@pytest.mark.parametrize("signs", [ONE, BOTH], ids=["one", "both"])
def test_the_expected_squared_error_is_that_of_draws(signs, monkeypatch):
    monkeypatch.setattr(mixture_bound, "N_LATENT", 3)
    assert_squares(signs)


@pytest.mark.parametrize(
    ("m", "truncation", "signs"),
    [(1, 1, ONE), (2, 1, ONE), (2, 2, ONE), (1, 1, BOTH), (1, 2, BOTH)],
    ids=["one frequency", "two", "two of two parts", "one of either sign", "of two parts"],
)
@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_the_bound_is_below_the_evidence(monkeypatch, m, truncation, signs, noise):
    """The bound is below the evidence everywhere, and near it where it is greatest."""
    monkeypatch.setattr(mixture_bound, "N_LATENT", m)
    data = some_data(1, n_pairs=4)
    objective = mixture_bound.Objective(
        data, signs, mixture_bound.ComponentPrior(1, 6.0, 0.3), 1.3, noise
    )
    start = tuple(some_factor(1, truncation, seed) for seed in range(len(signs)))
    best = exact_inference._climbed(objective, start, 100, 1e-9).factors
    gaps = []
    for factors in (start, best):
        found = objective.bound(factors)
        gaps.append(log_evidence(objective, factors, found.masses, m) - found.value)
    assert gaps[0] > 0.0
    assert 0.0 < gaps[1] < 2.5 * m * len(signs)


@pytest.mark.parametrize("seed", range(30))
def test_masses_are_the_best_that_are_not_negative(seed):
    rng = np.random.default_rng(seed)
    data = replace(some_data(2, 30, seed), values=rng.normal(size=31) + rng.normal())
    n_signs = 1 + seed % 2
    kernels = rng.normal(size=(31, n_signs))
    if seed % 6 == 1:
        kernels[:, 1] = -kernels[:, 0] * rng.uniform(0.9, 1.1)
    if seed % 6 == 3:  # Either alone has a positive mass, the best two have not
        kernels[:, 1] = 0.5 * kernels[:, 0] + 0.1 * kernels[:, 1]
        data = replace(data, values=kernels @ [1.5, -0.4])
    variances = rng.uniform(0.0, 0.1, size=(31, n_signs)) * (seed % 4 > 1)
    root = np.sqrt(data.counts)
    design = np.concatenate((root[:, None] * kernels, np.diag(np.sqrt(data.counts @ variances))))
    target = np.append(root * data.values, np.zeros(n_signs))
    found = mixture_bound._best_masses(kernels, variances, data)
    assert found.min() >= 0.0
    least = nnls(design, target)[1]
    assert_allclose(np.linalg.norm(design @ found - target), least, rtol=1e-9)
