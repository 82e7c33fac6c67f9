"""The parameters of the spike-and-slab prior are drawn as their own prior and Bayes' rule say."""

import numpy as np
from learning.test_mixture_geweke import standard_errors
from scipy import stats

from bochner.learning.inference.sparse import SparseHyper, SparsePrior

# Shared evenly (Bonferroni) among the functions of each test.
FAMILY_ALPHA = 1e-3
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
        prior.inclusion,
        prior.inclusion**2,
        prior.weights,
        prior.weights**2,
        np.log(prior.scales),
        np.log(prior.scales) ** 2,
        np.tanh(prior.means / HYPER.scale[:, None]) ** 2,
        np.tanh(np.abs(prior.means) / prior.scales),
        np.tanh(prior.means[:, 0] * prior.means[:, 1]),
    )
    return np.concatenate([np.ravel(value) for value in values])


def forward(n):
    rng = np.random.default_rng(10)
    return np.array([hyper_functions(hyper_draw(rng)) for _ in range(n)])


def assert_same_means(first, first_error, second, second_error):
    z = (first.mean(axis=0) - second.mean(axis=0)) / np.hypot(first_error, second_error)
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))


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


def test_parameters_are_drawn_from_the_hyperprior():
    rng = np.random.default_rng(12)
    start, none = SparsePrior.start(HYPER), np.zeros((0, len(HYPER.scale)))
    drawn = np.array([hyper_functions(start.refresh(rng, none)) for _ in range(3000)])
    direct = forward(3000)
    errors = [a.std(axis=0) / np.sqrt(len(a)) for a in (drawn, direct)]
    assert_same_means(drawn, errors[0], direct, errors[1])
