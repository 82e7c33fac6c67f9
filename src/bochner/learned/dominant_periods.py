"""Dominant periods in a learned spectrum."""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array

_FEWEST_TURNS = 2.0
"""Smallest number of periods in the range of the rows: a single period looks like a trend."""
_CONTRAST = 4.0
"""Least ratio of the mean energy per bin of a peak to the mean energy of surrounding bins."""
_NEIGHBOURS = 6
"""Number of bins on each side that are the surroundings of a peak, which has three bins."""


@dataclass(frozen=True, slots=True)
class SpectralLine:
    """A line of a spectrum: its length in units of the input, and its share of the variance."""

    length: float
    share: float


def wave_energy(coef: Array, n_frequencies: int) -> Array:
    """Return the share (S, m) of each frequency in its draw's variance.

    ``coef`` (S, p) holds the weights of cosines and sines in turn, then of other columns.
    """
    waves = coef[:, : 2 * n_frequencies].reshape(len(coef), n_frequencies, 2)
    energy: Array = np.sum(waves**2, axis=2)
    energy /= np.maximum(energy.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return energy


def dominant_periods(
    omega: Array, energy: Array, span: float, *, least_share: float = 0.02, count: int = 4
) -> list[SpectralLine]:
    r"""Return at most ``count`` lines of a spectrum along one input, the strongest first.

    Rows over a range ``span`` of :math:`T` resolve frequencies that are :math:`2\pi/T` apart. A
    line is a peak of the energy at this resolution with at least two periods in the range, a share
    of ``least_share`` or more, and an energy well above its surroundings. The broad spectra of
    smooth functions have no lines. ``omega`` (S, m) are the angular frequencies of each draw and
    ``energy`` (S, m) their shares of the variance of the draw.
    """
    size, weight = np.abs(omega).ravel(), energy.ravel() / len(energy)
    if not span > 0.0:
        return []
    # Numbers of periods in the range; bins are half a period wide.
    cycles = size * span / (2.0 * np.pi)
    bins = np.rint(2.0 * cycles).astype(np.int64)
    places, which = np.unique(bins, return_inverse=True)
    mass = np.bincount(which, weights=weight)
    lines: list[SpectralLine] = []
    is_used = np.zeros(len(size), dtype=np.bool_)
    for place in places[np.argsort(-mass, kind="stable")]:
        if len(lines) == count:
            break
        peak = (np.abs(bins - place) <= 1) & ~is_used
        share = float(weight[peak].sum())
        is_weak = share < max(least_share, np.finfo(np.float64).tiny)
        if place < 2.0 * _FEWEST_TURNS or is_weak or is_used[bins == place].any():
            continue
        near = np.abs(bins - place)
        around = float(weight[(near > 1) & (near <= _NEIGHBOURS)].sum()) / (2 * _NEIGHBOURS - 2)
        is_used |= near <= 2
        if share / 3.0 >= _CONTRAST * around:
            centre = float(weight[peak] @ size[peak]) / share
            lines.append(SpectralLine(2.0 * np.pi / centre, share))
    return sorted(lines, key=lambda period: -period.share)
