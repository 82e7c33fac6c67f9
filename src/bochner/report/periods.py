"""Periods of a function of time, from its covariance by the lag."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import dct

from bochner._numerics.arrays import Array
from bochner.learning.periods import dominant_periods
from bochner.report.words import number

_SHORTEST_WINDOW = 64
"""Fewest lags of a window whose cosine transform is searched for peaks."""

_TURNS = 2.0
"""Fewest periods in the range of times: slower changes are trends, and no part of the spectrum."""

_LEAST_SHARE = 0.05
"""Least share of a period in the variance of the spectrum: less is hardly seen in a curve."""

_LEAST_SIZE = 0.1
"""Least variance of a period, relative to the squared error of predictions. The features of a cycle
fit to noise alone explain a few per cent of it in some hundred rows."""

_NAMED = {1.0: "1 day", 7.0: "7 days", 365.25: "1 year"}
"""Names of periods by their days."""

_PEAK = 2.5
"""Bins of a spectrum on each side of a peak that belong to it: those of a Hann window."""

_SAME = 1.5
"""Bins of a spectrum by which frequencies differ that cannot be told apart: the width of a peak."""


@dataclass(frozen=True, slots=True)
class NamedPeriod:
    """A period of predictions, and the standard deviation over time that it has."""

    name: str
    length: float
    std: float


def lowest(lags: Array) -> float:
    """Return the frequency of two periods in the range, half a bin lower."""
    return (2.0 * _TURNS - 0.5) * np.pi / float(lags[-1])


def spectrum(lags: Array, covariance: Array) -> tuple[Array, Array]:
    """Return angular frequencies, and the variance of each: a cosine transform in a Hann window."""
    window = 0.5 + 0.5 * np.cos(np.pi * lags / lags[-1])
    energy = np.maximum(dct(window * covariance, type=1), 0.0) / (len(lags) - 1)
    energy[[0, -1]] *= 0.5
    return np.pi * np.arange(len(lags)) / lags[-1], energy


def periods_of(
    lags: Array, covariance: Array, error: float, is_date: bool
) -> Iterator[NamedPeriod]:
    """Yield periods whose peaks stand out, the longest first, without their harmonics.

    Where a cycle changes with time, its peak is broad, and stands out in windows of fewer lags.
    """
    frequencies, energy = spectrum(lags, covariance)
    energy[frequencies < lowest(lags)] = 0.0
    least = max(_LEAST_SHARE * float(energy.sum()), _LEAST_SIZE * error)
    kept: list[float] = []
    for length, span in sorted(_peaks(lags, covariance), reverse=True):
        near = np.abs(frequencies - 2.0 * np.pi / length) <= _PEAK * np.pi / span
        variance = float(energy[near].sum())
        name = _name(length, span) if is_date else ""
        is_harmonic = any(_is_harmonic(length, longer, span) for longer in kept)
        if variance > least and (name or not is_harmonic):
            kept.append(length)
            yield NamedPeriod(name or _shown(length, is_date), length, float(np.sqrt(variance)))


def _peaks(lags: Array, covariance: Array) -> list[tuple[float, float]]:
    """Return the lengths of periods that stand out, and the longest lag by which they do."""
    found: list[tuple[float, float]] = []
    count = len(lags)
    while count >= _SHORTEST_WINDOW:
        frequencies, energy = spectrum(lags[:count], covariance[:count])
        span, total = float(lags[count - 1]), max(float(energy.sum()), np.finfo(np.float64).tiny)
        least = _LEAST_SHARE * float(energy[frequencies >= lowest(lags[:count])].sum()) / total
        lines = dominant_periods(frequencies[None], energy[None] / total, span, least_share=least)
        for each in lines:
            if not any(_are_same(each.length, known, span) for known, _ in found):
                found.append((each.length, span))
        count //= 2
    return found


def _are_same(one: float, two: float, span: float) -> bool:
    return abs(1.0 / one - 1.0 / two) <= _SAME / (2.0 * span)


def _is_harmonic(length: float, longer: float, span: float) -> bool:
    turns = round(longer / length)
    return turns > 1 and _are_same(length, longer / turns, span)


def _name(length: float, span: float) -> str:
    near = (name for days, name in _NAMED.items() if _are_same(length, days, span))
    return next(near, "")


def _shown(length: float, is_date: bool) -> str:
    """Return a length in a unit of a suitable size."""
    if not is_date:
        return number(length, 3)
    units: Sequence[tuple[float, str]] = ((2.0 * 365.25, "years"), (2.0, "days"), (0.0, "hours"))
    days = {"years": 365.25, "days": 1.0, "hours": 1.0 / 24.0}
    unit = next(unit for least, unit in units if length >= least)
    return f"{number(length / days[unit], 3)} {unit}"
