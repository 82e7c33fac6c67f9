"""Convergence of chains: R-hat and effective sample size.

Both are computed from normal scores of the ranks of the draws, so they are invariant under any
increasing function of the draws, and finite where the draws have no variance.

Sources: Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and
localization: an improved R-hat for assessing convergence of MCMC", 2021, sections 3 and 4. Geyer,
"Practical Markov chain Monte Carlo", 1992, section 3.3.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from bochner._base.arrays import Array, as_array

_FEWEST_DRAWS = 4
"""Two draws in each half of a chain: the fewest that have a variance."""


def split_rhat(chains: ArrayLike) -> float:
    r"""Return the rank-normalised split R-hat of chains (n_chains, n_draws).

    Every chain is cut into two halves of :math:`n` draws. With :math:`B` equal to :math:`n` times
    the variance of the means of the halves, and :math:`W` the mean variance within them,

    .. math:: \hat R = \sqrt{(n - 1 + B / W) / n}.

    The result is the greater of this for the normal scores of the draws (location) and of their
    distances from the median (scale). Values above 1.01 mean that the chains disagree. The result
    is ``nan`` if a draw is not finite, all draws are equal, or a chain has fewer than four, and
    ``inf`` if every half of a chain is constant and they differ. Raises ``ValueError`` if
    ``chains`` does not have two dimensions.
    """
    halves = _halves(chains)
    if halves is None:
        return float("nan")
    folded: Array = np.abs(halves - np.median(halves))
    return float(np.fmax(_rhat(halves), _rhat(folded)))


def effective_sample_size(chains: ArrayLike) -> float:
    r"""Return the bulk effective sample size of chains (n_chains, n_draws).

    This is :math:`S / \tau` for :math:`S` draws, :math:`\tau = 1 + 2 \sum_t \rho_t`. The
    autocorrelations :math:`\rho_t` of the normal scores in the halves of the chains count
    disagreement between halves as correlation. Their sum is truncated by Geyer's initial monotone
    sequence. The result may exceed :math:`S`, up to :math:`S \log_{10} S`, if successive draws are
    negatively correlated. It is ``nan``, or an error is raised, in the same cases as in
    :func:`split_rhat`.
    """
    halves = _halves(chains)
    if halves is None:
        return float("nan")
    scores = _normal_scores(halves)
    time = max(_autocorrelation_time(_autocorrelations(scores)), 1.0 / np.log10(scores.size))
    return float(scores.size / time)


def _halves(chains: ArrayLike) -> Array | None:
    """Return the halves of the chains without a middle draw, ``None`` if R-hat is undefined."""
    array = as_array(chains)
    if array.ndim != 2:
        raise ValueError(
            f"chains must have shape (n_chains, n_draws), got {array.shape}; give one quantity at "
            f"a time, and a single chain as chain[None]."
        )
    n_chains, n_draws = array.shape
    if not n_chains or n_draws < _FEWEST_DRAWS or not np.isfinite(array).all():
        return None
    half = n_draws // 2
    halves: Array = np.concatenate([array[:, :half], array[:, n_draws - half :]])
    return halves if np.ptp(halves) > 0.0 else None


def _normal_scores(draws: Array) -> Array:
    """Return normal quantiles of the ranks among all draws; equal draws share a rank."""
    # Blom's approximation of expected normal order statistics, as in the source.
    ranks = as_array(rankdata(draws, axis=None)).reshape(draws.shape)
    return ndtri((ranks - 0.375) / (draws.size + 0.25))


def _rhat(draws: Array) -> float:
    if not np.ptp(draws, axis=1).any():
        return float("inf" if np.ptp(draws) > 0.0 else "nan")
    scores, n = _normal_scores(draws), draws.shape[1]
    between = n * scores.mean(axis=1).var(ddof=1)
    within = scores.var(axis=1, ddof=1).mean()
    return float(np.sqrt((n - 1 + between / within) / n))


def _autocorrelations(chains: Array) -> Array:
    """Return the autocorrelations of chains at lags from 0 to n_draws - 1, of shape (n_draws,)."""
    n_chains, n = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    # Padding to twice the length makes the circular convolution a linear one.
    spectrum = rfft(centred, next_fast_len(2 * n, real=True), axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    covariance = as_array(irfft(power, next_fast_len(2 * n, real=True)))[:n] / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (chains.mean(axis=1).var(ddof=1) if n_chains > 1 else 0.0)
    rho: Array = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    return rho


def _autocorrelation_time(rho: Array) -> float:
    """Return the sum over all lags of both signs, by Geyer's initial monotone sequence."""
    n_pairs = max(1, (len(rho) - 1) // 2)
    pairs = rho[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    end = int(np.argmax(pairs <= 0.0)) if (pairs <= 0.0).any() else n_pairs - 1
    # A negative pair ends the sum, but its even lag still counts, which keeps antithetic chains
    # from seeming too good.
    last = float(rho[2 * end])
    if pairs[end] < 0.0:
        last = max(last, 0.0)
    return -1.0 + 2.0 * float(np.minimum.accumulate(pairs[:end]).sum()) + last
