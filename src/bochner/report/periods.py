"""Periods of a function of time, from its covariance by the lag."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import dct

from bochner._base.arrays import Array
from bochner.learned.dominant_periods import dominant_periods
from bochner.report.words import number

_SHORTEST_WINDOW = 64
"""Fewest lags of a window whose cosine transform is searched for peaks."""

_TURNS = 2.0
"""Fewest periods in the range of times: slower changes are trends, and no part of the spectrum."""

_LEAST_SHARE = 0.05
"""Least share of a period in the variance of the spectrum; a smaller one is hardly visible."""

_LEAST_SIZE = 0.1
"""Least variance of a period, relative to the squared error of predictions. The features of a cycle
fit to noise alone explain a few per cent of it in some hundred rows."""

_DAY, _WEEK, _YEAR = 1.0, 7.0, 365.25
"""Days of the periods that have names; four years have a day more."""

_NAMED = {_DAY: "1 day", _WEEK: "7 days", _YEAR: "1 year"}
"""Names of periods by their days."""

_PEAK = 2.5
"""Bins of a spectrum on each side of a peak that belong to it, as for a Hann window."""

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
    """Yield periods whose peaks stand out, the longest first.

    Prominent harmonics are attributed to their period. Sidebands of daily harmonics that are due to
    a weekly cycle are attributed to the week. The peak of a cycle that changes with time is broad,
    and is prominent in windows of fewer lags.
    """
    frequencies, energy = spectrum(lags, covariance)
    energy[frequencies < lowest(lags)] = 0.0
    peaks = [
        (_known(length, span) if is_date else length, span)
        for length, span in _peaks(lags, covariance)
    ]
    lengths = sorted((length for length, _ in peaks), reverse=True)
    variances: dict[float, float] = {}
    is_free = np.ones(len(energy), dtype=np.bool_)
    for length, span in peaks:
        near = np.abs(frequencies - 2.0 * np.pi / length) <= _PEAK * np.pi / span
        owner = _owner(length, span, lengths, is_date)
        variances[owner] = variances.get(owner, 0.0) + float(energy[near & is_free].sum())
        is_free &= ~near  # Broad peaks, which come last, may hold others
    least = max(_LEAST_SHARE * float(energy.sum()), _LEAST_SIZE * error)
    for length, variance in sorted(variances.items(), reverse=True):
        if variance > least:
            name = _NAMED.get(length, "") if is_date else ""
            yield NamedPeriod(name or _shown(length, is_date), length, float(np.sqrt(variance)))


def _known(length: float, span: float) -> float:
    """Return the period with a name that a length cannot be told from, or else the length."""
    return next((period for period in _NAMED if _are_same(length, period, span)), length)


def _owner(length: float, span: float, lengths: Sequence[float], is_date: bool) -> float:
    """Return the period that a peak is a harmonic or a sideband of, or else its own length."""
    if is_date and length not in _NAMED:
        if _DAY in lengths and _is_harmonic(length, _DAY, span):
            return _DAY
        tells_weeks = _SAME / (2.0 * span) < 0.25 / _WEEK  # A quarter of the sidebands' distance
        has_weeks = _DAY in lengths or _WEEK in lengths
        if tells_weeks and has_weeks and _is_harmonic(length, _WEEK, span):
            return _WEEK
    elif is_date:
        return length
    longer = (other for other in lengths if other > length and _is_harmonic(length, other, span))
    return next(longer, length)


def _peaks(lags: Array, covariance: Array) -> list[tuple[float, float]]:
    """Return lengths of periods that stand out and the lags by which they do, the longest first."""
    peaks: list[tuple[float, float]] = []
    count = len(lags)
    while count >= _SHORTEST_WINDOW:
        frequencies, energy = spectrum(lags[:count], covariance[:count])
        span, total = float(lags[count - 1]), max(float(energy.sum()), np.finfo(np.float64).tiny)
        least = _LEAST_SHARE * float(energy[frequencies >= lowest(lags[:count])].sum()) / total
        lines = dominant_periods(frequencies[None], energy[None] / total, span, least_share=least)
        for each in lines:
            if not any(_are_same(each.length, length, span) for length, _ in peaks):
                peaks.append((each.length, span))
        count //= 2
    return peaks


def _are_same(first: float, second: float, span: float) -> bool:
    return abs(1.0 / first - 1.0 / second) <= _SAME / (2.0 * span)


def _is_harmonic(length: float, longer: float, span: float) -> bool:
    turns = round(longer / length)
    return turns > 1 and _are_same(length, longer / turns, span)


def _shown(length: float, is_date: bool) -> str:
    """Return a length in a unit of a suitable size."""
    if not is_date:
        return number(length, 3)
    units: Sequence[tuple[float, str]] = ((2.0 * _YEAR, "years"), (2.0, "days"), (0.0, "hours"))
    days = {"years": _YEAR, "days": _DAY, "hours": _DAY / 24.0}
    unit = next(unit for least, unit in units if length >= least)
    return f"{number(length / days[unit], 3)} {unit}"
