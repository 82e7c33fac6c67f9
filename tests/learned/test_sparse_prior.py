"""The spike-and-slab prior: its law, moves that keep it, its coordinates and its parameters."""

import numpy as np
import pytest
from laws.inference_laws import central_differences
from learned.test_dirichlet_mixture import standard_errors
from numpy.testing import assert_allclose
from scipy import stats

from bochner.learned import frequency_priors
from bochner.learned.frequency_priors import SparseHyper, SparsePrior

# Shared evenly (Bonferroni) among the functions of each test.
FAMILY_ALPHA = 1e-3
KINDS = SparsePrior.kinds


def some_prior():
    """Three inputs of unlike inclusion, two slabs each, of unlike means and scales."""
    hyper = SparseHyper(np.array([1.0, 2.0, 0.5]), n_slabs=2)
    return SparsePrior(
        hyper,
        inclusion=np.array([0.3, 0.6, 0.85]),
        weights=np.array([[0.7, 0.3], [0.2, 0.8], [0.9, 0.1]]),
        means=np.array([[0.0, 2.0], [1.5, -0.5], [0.4, 2.5]]),
        scales=np.array([[0.5, 1.0], [0.3, 2.0], [0.8, 1.0]]),
    )


def characteristic_function(prior, lag):
    """The kernel of the prior at a lag (d,), in closed form."""
    slab = np.sum(
        prior.weights
        * np.exp(-0.5 * (prior.scales * lag[:, None]) ** 2)
        * np.cos(prior.means * lag[:, None]),
        axis=1,
    )
    return float(np.prod(1.0 - prior.inclusion + prior.inclusion * slab))


# Along the axes, off them, near and far.
LAGS = np.array(
    [[0.7, 0.0, 0.0], [0.0, 0.0, 1.5], [0.3, -0.2, 0.4], [0.6, 0.5, -0.3], [1.5, 0.9, 2.0]]
)


def known_functions(omega):
    """Functions of frequencies (m, d), (m, q), whose means are known."""
    active = omega != 0.0
    pairs = [active[:, i] & active[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    return np.column_stack((np.cos(omega @ LAGS.T), np.sin(omega @ LAGS.T), active, *pairs))


def known_means(prior):
    cosines = [characteristic_function(prior, lag) for lag in LAGS]
    p = prior.inclusion
    pairs = (p[0] * p[1], p[0] * p[2], p[1] * p[2])
    return np.array([*cosines, *np.zeros(len(LAGS)), *p, *pairs])


def assert_means(values, expected):
    """The means of independent rows (n, q) are the expected ones."""
    error = values.std(axis=0) / np.sqrt(len(values))
    z = (values.mean(axis=0) - expected) / error
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))


def moved(rng, prior, omega):
    """Frequencies after one move each, the evidence being constant."""
    suggestion = prior.suggest(rng, omega, np.arange(len(omega)))
    accepted = np.log(rng.random(len(omega))) < suggestion.log_ratio
    return np.where(accepted[:, None], suggestion.omega, omega)


def only(patch, kind):
    if kind != "all":
        patch.setattr(frequency_priors, "_SHARES", (np.array(KINDS) == kind).astype(float))


ANY_KIND = pytest.mark.parametrize("kind", [*KINDS, "all"])


def test_the_law_has_the_kernel_of_an_analysis_of_variance(n=20_000):
    prior = some_prior()
    omega = prior.sample(np.random.default_rng(1), n)
    assert_means(known_functions(omega), known_means(prior))


@ANY_KIND
def test_moves_keep_the_law(kind, n=6000, n_moves=6):
    """Independent frequencies of the prior's law, moved some times, still have it."""
    prior, rng = some_prior(), np.random.default_rng(2)
    with pytest.MonkeyPatch.context() as patch:
        only(patch, kind)
        start = omega = prior.sample(rng, n)
        for _ in range(n_moves):
            omega = moved(rng, prior, omega)
    assert np.mean(np.any(omega != start, axis=1)) > 0.3
    assert_means(known_functions(omega), known_means(prior))


@ANY_KIND
def test_moves_are_reversible(kind, n=30_000):
    """A move and its way back are as frequent: E f(a) g(b) = E g(a) f(b) for a move a to b."""
    prior, rng = some_prior(), np.random.default_rng(3)
    with pytest.MonkeyPatch.context() as patch:
        only(patch, kind)
        start = prior.sample(rng, n)
        end = moved(rng, prior, start)
    f, g = (np.column_stack((a != 0.0, np.tanh(a), np.abs(a) < 0.5)) for a in (start, end))
    flow = [f[:, i] * g[:, j] - g[:, i] * f[:, j] for i in range(9) for j in range(i)]
    flow = np.column_stack([column for column in flow if np.any(column)])
    assert flow.shape[1] > 5
    assert_means(flow, 0.0)


def assert_pull(prior, rng, n_frequencies):
    """A pulled gradient is that of the composition with the coordinates, by differences."""
    omega = prior.sample(rng, n_frequencies)
    law, slope = prior.whitening(rng, omega), rng.normal(size=omega.shape)
    expected = central_differences(
        lambda xi: np.sum(slope * np.sin(law.colour(xi))), law.whiten(omega), 1e-6
    )
    assert_allclose(law.pull(slope * np.cos(omega)), expected, rtol=1e-6, atol=1e-8)


def test_a_pulled_gradient_is_that_of_the_composition():
    assert_pull(some_prior(), np.random.default_rng(16), 5)


HYPER = SparseHyper(
    np.array([1.0, 3.0]), inclusion=(2.0, 1.5), n_slabs=2, concentration=2.0, shape=2.5
)


def hyper_draw(rng):
    """Parameters drawn from their prior as it is written, one number after another."""
    inclusion = rng.beta(*HYPER.inclusion, size=2)
    weights = rng.dirichlet(np.full(2, HYPER.concentration / 2.0), size=2)
    scales, means = np.empty((2, 2)), np.empty((2, 2))
    for place in np.ndindex(2, 2):
        rate = HYPER.shape * HYPER.scale[place[0]] ** 2
        scales[place] = np.sqrt(rate / rng.standard_gamma(HYPER.shape))
        means[place] = scales[place] / np.sqrt(HYPER.mean_strength) * rng.normal()
    return SparsePrior(HYPER, inclusion, weights, means, scales)


def hyper_functions(prior):
    """Bounded functions of the parameters, and logarithms of scales, whose tails are light."""
    values = (
        prior.inclusion, prior.inclusion**2, prior.weights, prior.weights**2, np.log(prior.scales),
        np.log(prior.scales) ** 2, np.tanh(prior.means / HYPER.scale[:, None]) ** 2,
        np.tanh(np.abs(prior.means) / prior.scales), np.tanh(prior.means[:, 0] * prior.means[:, 1]),
    )  # fmt: skip
    return np.concatenate([np.ravel(value) for value in values])


def forward(n):
    rng = np.random.default_rng(10)
    return np.array([hyper_functions(hyper_draw(rng)) for _ in range(n)])


def assert_same_means(first, first_error, second, second_error):
    z = (first.mean(axis=0) - second.mean(axis=0)) / np.hypot(first_error, second_error)
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))


@pytest.mark.thorough
def test_refreshes_and_redraws_keep_the_hyperprior(n=6000, m=5):
    """Parameters given frequencies, frequencies given parameters: the prior's law stays."""
    rng = np.random.default_rng(11)
    prior, successive = hyper_draw(rng), []
    for _ in range(n):
        prior = prior.refresh(rng, prior.sample(rng, m))
        successive.append(hyper_functions(prior))
    chain, direct = np.array(successive), forward(n // 3)
    error = direct.std(axis=0) / np.sqrt(len(direct))
    assert_same_means(chain, standard_errors(chain), direct, error)
