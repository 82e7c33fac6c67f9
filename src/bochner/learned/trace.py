"""Records of a sampler's iterations, R-hat and effective sample sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from bochner._base.arrays import Array, as_array, frozen_array
from bochner._base.registry import register

_FEWEST_DRAWS = 4
"""Fewest draws of a chain for R-hat: two in each half, because one draw has no variance."""


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
    """Return both halves of each chain, without a middle draw; ``None`` if R-hat is undefined."""
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
    """Return the normal quantiles of the draws' ranks among all draws; equal draws share a rank."""
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
    """Return the sum of autocorrelations at lags of both signs, by Geyer's monotone sequence."""
    n_pairs = max(1, (len(rho) - 1) // 2)
    pairs = rho[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    end = int(np.argmax(pairs <= 0.0)) if (pairs <= 0.0).any() else n_pairs - 1
    # A negative pair ends the sum, but its even lag still counts, which keeps antithetic chains
    # from seeming too good.
    last = float(rho[2 * end])
    if pairs[end] < 0.0:
        last = max(last, 0.0)
    return -1.0 + 2.0 * float(np.minimum.accumulate(pairs[:end]).sum()) + last


class Summary(NamedTuple):
    """Summary of the kept draws of one quantity over all chains.

    ``sd`` is the standard deviation (n - 1), ``rhat`` the result of :func:`split_rhat` and ``ess``
    that of :func:`effective_sample_size`.
    """

    mean: float
    sd: float
    rhat: float
    ess: float


@register
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Records of a sampler: one number per quantity, chain and iteration.

    Parameters
    ----------
    records : mapping of str to array-like of shape (n_chains, n_iterations)
        Arrays by name, which are copied and read-only. Usual names are ``log_evidence``,
        ``log_posterior``, ``acceptance_<move>`` (the share of accepted proposals of the move in the
        iteration), ``n_components``, ``step_size_<move>``, ``precision`` (of the weights, over
        the precision of the noise), ``noise_variance`` and ``seconds``. Other names are allowed.
    n_burn_in : int
        Number of burn-in iterations at the beginning of each chain.

    Raises
    ------
    ValueError, TypeError
        If there is no record, shapes differ or are not (n_chains, n_iterations), an entry is not
        finite, or ``n_burn_in`` is not an integer from zero to the number of iterations.

    Examples
    --------
    >>> trace = Trace({"log_evidence": [[-9.0, -3.0, -2.0], [-8.0, -2.0, -1.0]]}, n_burn_in=1)
    >>> trace.kept("log_evidence")
    array([[-3., -2.],
           [-2., -1.]])
    >>> trace.summary()["log_evidence"].mean
    -2.0
    """

    records: dict[str, Array]
    n_burn_in: int

    def __init__(self, records: Mapping[str, ArrayLike], n_burn_in: int) -> None:
        frozen = {name: _record(name, value) for name, value in records.items()}
        shapes = {name: array.shape for name, array in frozen.items()}
        if not frozen or len(set(shapes.values())) > 1:
            raise ValueError(
                f"records must be arrays of one shape (n_chains, n_iterations), at least one; "
                f"got {shapes}."
            )
        n_iterations = next(iter(shapes.values()))[1]
        n_burn_in = index(n_burn_in)
        if not 0 <= n_burn_in <= n_iterations:
            raise ValueError(
                f"n_burn_in must be from 0 to the number of iterations, {n_iterations}, got "
                f"{n_burn_in}."
            )
        object.__setattr__(self, "records", frozen)
        object.__setattr__(self, "n_burn_in", n_burn_in)

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(next(iter(self.records.values())))

    @property
    def n_iterations(self) -> int:
        """Number of iterations of a chain, burn-in included."""
        return int(next(iter(self.records.values())).shape[1])

    def kept(self, name: str) -> Array:
        """Return a record after burn-in, a read-only view of shape (n_chains, n_kept).

        Raises ``KeyError`` if there is no such record.
        """
        if name not in self.records:
            raise KeyError(f"There is no record {name!r:.60}; there are {', '.join(self.records)}.")
        return self.records[name][:, self.n_burn_in :]

    def summary(self) -> dict[str, Summary]:
        """Return mean, standard deviation, R-hat and effective sample size of each record.

        Burn-in is excluded. Entries are ``nan`` if there are too few draws.
        """
        return {name: _summary(self.kept(name)) for name in self.records}


def _record(name: str, value: ArrayLike) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim != 2 or not array.shape[0]:
        raise ValueError(
            f"The record {name!r:.60} must have shape (n_chains, n_iterations), got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"The record {name!r:.60} must be finite; for an iteration without proposals of a "
            f"move, record an acceptance of 0."
        )
    return frozen_array(name, array, None)


def _summary(draws: Array) -> Summary:
    return Summary(
        float(draws.mean()) if draws.size else float("nan"),
        float(draws.std(ddof=1)) if draws.size > 1 else float("nan"),
        split_rhat(draws),
        effective_sample_size(draws),
    )
