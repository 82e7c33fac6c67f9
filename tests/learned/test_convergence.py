"""R-hat and effective sample size: against ArviZ, and against what they mean.

The chance that the z-tests reject a right implementation is at most ``FAMILY_ALPHA``, shared
evenly among their comparisons.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from bochner.learned.trace import effective_sample_size, split_rhat

FAMILY_ALPHA = 1e-3
PHIS = (0.3, 0.6, 0.9, -0.5)
CRITICAL = stats.norm.isf(FAMILY_ALPHA / len(PHIS) / 2)


def autoregression(rng, phi, n_chains, n_draws):
    """Stationary Gaussian chains of standard deviation 1 with correlation phi at lag 1."""
    steps = rng.normal(scale=np.sqrt(1.0 - phi**2), size=(n_chains, n_draws))
    steps[:, 0] /= np.sqrt(1.0 - phi**2)
    return lfilter([1.0], [1.0, -phi], steps, axis=1)


# From slow chains and noise of one number a chain.
CHANGED = {
    "slow": lambda slow, noise: slow,
    "shifted": lambda slow, noise: slow + noise,
    "scales": lambda slow, noise: slow * np.exp(noise),
    "heavy-tails": lambda slow, noise: stats.cauchy.ppf(stats.norm.cdf(slow)),
    "trend": lambda slow, noise: slow + np.linspace(0.0, 2.0, slow.shape[1]),
    "counts": lambda slow, noise: np.round(2.0 * slow),
    "two-values": lambda slow, noise: np.sign(slow),
}
CORRELATIONS = {"independent": 0.0, "sticky": 0.99, "antithetic": -0.7}
KINDS = (*CHANGED, *CORRELATIONS)


def made(kind, rng, n_chains, n_draws):
    chains = autoregression(rng, CORRELATIONS.get(kind, 0.8), n_chains, n_draws)
    change = CHANGED.get(kind, CHANGED["slow"])
    return change(chains, rng.normal(size=(n_chains, 1)))


@pytest.mark.parametrize("n_draws", [6, 25, 400, 1001])
@pytest.mark.parametrize("kind", KINDS)
def test_arviz_agrees(kind, n_draws):
    array_stats = pytest.importorskip("arviz_stats.base").array_stats
    rng = np.random.default_rng([KINDS.index(kind), n_draws])
    for n_chains in (2, 3, 4, 8):
        chains = made(kind, rng, n_chains, n_draws)
        rhat = array_stats.rhat(chains, chain_axis=0, draw_axis=1, method="rank")
        ess = array_stats.ess(chains, chain_axis=0, draw_axis=1, method="bulk")
        assert split_rhat(chains) == pytest.approx(float(rhat), rel=1e-8)
        assert effective_sample_size(chains) == pytest.approx(float(ess), rel=1e-8)


@pytest.mark.thorough_cases(but=r"-0\.5")
@pytest.mark.parametrize("phi", PHIS)
def test_effective_sample_size_tells_the_error_of_a_mean(phi):
    rng, n_seeds = np.random.default_rng(100 + int(10 * phi)), 600
    squares = np.empty(n_seeds)
    for seed in range(n_seeds):
        chains = autoregression(rng, phi, 4, 500)
        # Draws have unit variance, so the mean of ESS independent draws has variance 1 / ESS.
        squares[seed] = chains.mean() ** 2 * effective_sample_size(chains)
    z = (squares.mean() - 1.0) / (squares.std(ddof=1) / np.sqrt(n_seeds))
    assert abs(z) < CRITICAL


def test_infinite_when_chains_stand_still_apart():
    assert split_rhat(np.repeat([[1.0], [2.0]], 1000, axis=1)) == np.inf
    assert effective_sample_size(np.repeat([[1.0], [2.0]], 1000, axis=1)) < 3


@pytest.mark.parametrize(
    "chains",
    [
        np.full((3, 100), 0.1),
        np.where(np.eye(4, 50) > 0, np.nan, 1.0),
        np.where(np.eye(4, 50) > 0, -np.inf, 1.0),
        np.arange(6.0).reshape(2, 3),
        np.empty((0, 50)),
        np.empty((4, 0)),
    ],
    ids=["constant", "nan", "infinite", "three-draws", "no-chain", "no-draw"],
)
@pytest.mark.filterwarnings("error")
def test_nothing_can_be_said(chains):
    assert np.isnan(split_rhat(chains))
    assert np.isnan(effective_sample_size(chains))


@pytest.mark.parametrize("shape", [(10,), (2, 10, 3)])
@pytest.mark.parametrize("function", [split_rhat, effective_sample_size])
def test_two_dimensions_are_needed(function, shape):
    with pytest.raises(ValueError, match=r"\(n_chains, n_draws\), got"):
        function(np.zeros(shape))
