"""Frequencies selected from a pool of draws by their error on given rows."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from bochner._base.arrays import Array
from bochner.kernels import Kernel
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.frequencies import Frequencies

_POOL = 4
"""Draws in the pool for each frequency that is selected from it."""

_LAGS = 1_000
"""Pairs of rows at which errors are evaluated: as many as weights and more."""

_RIDGE = 1e-6
"""Added to the products of weights, relative to their diagonal: well above rounding."""

_NOISE = 0.01
"""Variance of the noise, relative to the kernel's, for which leverages are computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Draws (N, d), with mean products of their cosines at lags, (N, N), and with the kernel."""

    omega: Array
    products: Array
    target: Array


def pool(kernel: Kernel, X: Array, m: int, rng: np.random.Generator) -> Pool:
    """Return independent draws from the kernel's measure, and their cosines at lags of rows."""
    measure = spectral_measure(kernel, X.shape[1])
    omega = np.asarray(measure.sample(_POOL * m, rng, "iid").omega)
    left, right = rng.integers(len(X), size=(2, _LAGS))
    lags = X[left] - X[right]
    cosines = np.cos(lags @ omega.T)
    value = kernel(np.zeros((1, X.shape[1])), lags)[0]
    return Pool(omega, cosines.T @ cosines / _LAGS, cosines.T @ value / _LAGS)


def herded(drawn: Pool, m: int) -> Frequencies:
    """Return ``m`` frequencies of a pool, of equal weights, each the best after those before.

    The mean of cosines is nearest the kernel at the lags of the pool (kernel herding: Chen,
    Welling and Smola, 2010). As the choice depends on the rows, the estimate is biased.
    """
    chosen: list[int] = []
    total = np.zeros(len(drawn.target))
    diagonal = np.diagonal(drawn.products)
    for count in range(1, m + 1):
        loss = 2.0 * total + diagonal - 2.0 * count * drawn.target
        loss[chosen] = np.inf
        chosen.append(int(np.argmin(loss)))
        total += drawn.products[chosen[-1]]
    return Frequencies(drawn.omega[chosen], np.full(m, 1.0 / m))


def pursued(drawn: Pool, m: int) -> Frequencies:
    """Return ``m`` frequencies of a pool with least-squares weights, each the best next one.

    Greedy Bayesian quadrature: with the weights that are best for those selected, the squared
    error at the lags of the pool falls most. Weights may be negative and sum to anything, and the
    estimate is biased.
    """
    G = drawn.products + _RIDGE * np.diag(np.diagonal(drawn.products))
    left, gain = np.diagonal(G).copy(), drawn.target.copy()
    rows = np.zeros((m, len(G)))
    chosen: list[int] = []
    for step in range(m):
        score = np.where(left > 0.0, gain**2 / np.maximum(left, 1e-300), -1.0)
        score[chosen] = -1.0
        best = int(np.argmax(score))
        row = (G[best] - rows[:step, best] @ rows[:step]) / np.sqrt(left[best])
        gain -= row * (gain[best] / np.sqrt(left[best]))
        left -= row**2
        rows[step] = row
        chosen.append(best)
    factor = cho_factor(G[np.ix_(chosen, chosen)])
    return Frequencies(drawn.omega[chosen], cho_solve(factor, drawn.target[chosen]))


def by_leverage(kernel: Kernel, X: Array, m: int, rng: np.random.Generator) -> Frequencies:
    r"""Return frequencies of a pool, drawn with chances in proportion to their ridge leverage.

    The leverage of :math:`\omega` is :math:`z^* (K + \sigma^2 I)^{-1} z`, of the wave ``z`` at the
    rows (Avron et al., 2017; Bach, 2017). Importance weights leave the estimate unbiased; they do
    not sum to one.
    """
    omega = np.asarray(spectral_measure(kernel, X.shape[1]).sample(_POOL * m, rng, "iid").omega)
    scale = float(kernel(X[:1])[0, 0])
    lower = np.linalg.cholesky(kernel(X) + _NOISE * scale * np.eye(len(X)))
    angles = X @ omega.T
    waves = (solve_triangular(lower, wave(angles), lower=True) for wave in (np.cos, np.sin))
    leverage = np.sum([np.sum(wave**2, axis=0) for wave in waves], axis=0)
    chance = leverage / leverage.sum()
    # Strata of one uniform: each draw follows the chances.
    places = (np.arange(m) + rng.random(m)) / m
    chosen = np.minimum(np.searchsorted(np.cumsum(chance), places), len(chance) - 1)
    return Frequencies(omega[chosen], scale / (len(omega) * m * chance[chosen]))
