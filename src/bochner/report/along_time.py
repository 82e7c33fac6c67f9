"""Analysis of a fitted table model along a time-like column: kernel and periods of predictions.

The kernel is the prior covariance of functions of time. It contains every cycle that the encoding
of dates offers, whether the targets follow that cycle or not. Periods are therefore computed from
predictions, for rows at all times with their other columns unchanged.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner.files.columns import Column, read_column
from bochner.report.periods import NamedPeriod, lowest, periods_of, spectrum
from bochner.tables.encodings import encode
from bochner.tables.ensemble import SoftmaxOfLaws, SumOfLaws
from bochner.tables.kernel_laws import KernelLaw

Kernel = Callable[[Array, Array], Array]

_DAY = 86_400_000_000
"""Microseconds of a day."""

_HOUR = 1.0 / 24.0
"""Step of time in days where hours matter."""

_MOST_STEPS, _STEPS = 20_000, 2048
"""Most times, the hours of the latest two years; and times where dates have no cycle."""

_MOST_PREDICTED, _ROWS = 6000, 5
"""Most times of predictions, of these every second, third or fourth hour, which tell the half of a
day; and background rows that are predicted at each: some seconds."""

_STARTS = 12
"""Times from which lags of the kernel are counted: it depends on the hour a little."""

_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
"""Its multiples fill an interval evenly, and fall on all hours and weekdays."""

_ROUNDING = 1e-10
"""Variance over time, relative to that of the kernel, that is rounding: a million times that of
float64 at one."""


@dataclass(frozen=True, slots=True, eq=False)
class AlongTime:
    """Kernel and spectrum of predictions of a model along a column.

    ``kernel`` (L,), one at lag zero, is the correlation of the model's functions between a row and
    the same row at another time, after removal of the mean over time, by ``lags`` (L,) in ``unit``.
    ``weights`` (M,) are the shares of ``frequencies`` (M,), in radians per unit, in the variance
    over time of predictions, without frequencies of trends.
    """

    column: str
    unit: str
    lags: Array
    kernel: Array
    frequencies: Array
    weights: Array
    periods: tuple[NamedPeriod, ...]


def along_time(
    model: BaseEstimator, column: Column, error: float, target: int = 0
) -> AlongTime | None:
    """Analyse the predictions of a table model along a column of dates or numbers.

    The range of times is that of the entries of ``column``. ``error`` is the mean squared error of
    predictions, to which periods are compared. The result is ``None`` if the entries or the model
    do not suffice, or if predictions do not depend on the column.
    """
    present = column.values[column.present] if column.present.any() else np.zeros(1)
    if not np.ptp(present) > 0.0:
        return None
    grid, lags = _grid(model, column)
    features, group = features_of(model, grid), model._dependence().groups[column.name]
    each = -(-len(lags) // _MOST_PREDICTED)
    covariance, apart = _covariance(model, features[::each], group, target), lags[::each]
    kernel = _kernel(model, _rows(model, features, group, 0), target)
    if covariance[0] <= 0.0 or kernel[0] <= 0.0:
        return None
    frequencies, energy = spectrum(apart, covariance)
    energy[frequencies < lowest(apart)] = 0.0
    weights = energy / max(float(energy.sum()), np.finfo(np.float64).tiny)
    periods = tuple(periods_of(apart, covariance, error, column.kind == "date"))
    unit = "days" if column.kind == "date" else ""
    kernel = kernel / kernel[0]
    return AlongTime(column.name, unit, lags, kernel, frequencies, weights, periods)


def _grid(model: object, column: Column) -> tuple[Column, Array]:
    """Return evenly spaced entries, the latest if there are too many, and their lags."""
    if column.kind == "date":
        times = column.times().astype(np.int64)
        span = float(np.ptp(times)) / _DAY
        step = _step(model, column.name, span)
        count = min(_MOST_STEPS, int(span / step)) + 1
        lags = as_array(step * np.arange(count))
        grid = (times.max() - np.rint(_DAY * lags[::-1]).astype(np.int64)).astype("M8[us]")
        return read_column(column.name, grid), lags
    values = as_array(column.values[column.present].astype(np.float64))
    grid = as_array(np.linspace(values.min(), values.max(), _STEPS))
    return read_column(column.name, grid), grid - grid[0]


def _step(model: BaseEstimator, name: str, span: float) -> float:
    """Return the days between times, so that the cycles of a column of dates show."""
    state = next(s for s in model.encoder_.columns_ if s["name"] == name)
    cycles = state.get("cycles", [])
    if "hour" in cycles:
        return _HOUR
    return 1.0 if cycles else span / _STEPS


def features_of(model: BaseEstimator, column: Column) -> Array:
    """Return the features (n, k) of entries of a column, in all encodings of a model."""
    parts = [
        encode(state, column)
        for encoder in model._encoders()
        for state in encoder.columns_
        if state["name"] == column.name
    ]
    return np.hstack(parts)


def _rows(model: BaseEstimator, features: Array, group: Any, number: int) -> Array:
    """Return a background row, encoded, with other features of a column."""
    rows: Array = np.tile(model.background_[number], (len(features), 1))
    rows[:, group] = features
    return rows


def _covariance(model: BaseEstimator, features: Array, group: object, target: int) -> Array:
    """Return the covariance (L,) over time of predictions of some rows, by the lag.

    Covariances of classes are summed.
    """
    dependence = model._dependence()
    total = np.zeros(len(features))
    count = min(_ROWS, len(model.background_))
    for place in range(count):
        values = dependence.predict(_rows(model, features, group, place))
        if not hasattr(model, "classes_"):
            values = values[:, [target]]
        total += sum(map(_autocovariance, values.T)) / count
    return total


def _autocovariance(values: Array) -> Array:
    """Return averages (L,) of products of deviations from the mean, by their distance."""
    centred, count = values - values.mean(), len(values)
    size = next_fast_len(2 * count, real=True)
    sums = irfft(np.abs(rfft(centred, size)) ** 2, size)[:count]
    return as_array(sums / (count - np.arange(count)))


def _kernel(model: BaseEstimator, rows: Array, target: int) -> Array:
    """Return the covariance (L,) of functions of a model at rows in time, by the lag."""
    count, used = len(rows), as_array(rows)
    starts = (_GOLDEN * np.arange(_STARTS) % 1.0 * count).astype(np.intp)
    starts = np.unique(np.append(starts, [0, count - 1]))
    apart = np.abs(np.arange(count) - starts[:, None]).ravel()
    total = np.zeros(count)
    for variance, kernel in _parts(model, target):
        covariances = kernel(used[starts], used).ravel()
        total += variance * _without_mean(np.bincount(apart, covariances) / np.bincount(apart))
    return total


def _without_mean(values: Array) -> Array:
    """Return a kernel (L,) less its mean over all pairs of times; zero if that is all there is."""
    count = len(values)
    pairs = 2.0 * (count - np.arange(count))
    pairs[0] = count
    centred: Array = values - pairs @ values / pairs.sum()
    return centred if centred[0] > _ROUNDING * abs(values[0]) else np.zeros(count)


def _parts(model: BaseEstimator, target: int) -> Iterator[tuple[float, Kernel]]:
    """Yield the kernels of a model, each one at equal rows, and their shares of its variance."""
    head = model.head_
    if not isinstance(head, SumOfLaws | SoftmaxOfLaws):
        yield 1.0, lambda X, Y: _normed(model.kernel_, X, Y)
        return
    weights = head.weights if isinstance(head, SumOfLaws) else head.softmax.weights
    weights_of_target = weights.reshape(len(weights), -1)
    weights_of_target = weights_of_target[:, target if weights_of_target.shape[1] > 1 else 0]
    # The laws of classes regress all of their indicators, whose signals are averaged.
    of_target = target if isinstance(head, SumOfLaws) else slice(None)
    kernels = [
        (float(share * np.mean(np.ravel(law.signal)[of_target])), law)
        for share, law in zip(weights_of_target, head.laws.members, strict=True)
        if isinstance(law, KernelLaw)
    ]
    total = sum(size for size, _ in kernels) or 1.0
    for size, law in kernels:
        yield size / total, partial(_of_law, law)


def _of_law(law: KernelLaw, X: Array, Y: Array) -> Array:
    return law.found(X[:, law.columns], Y[:, law.columns])


def _normed(kernel: Any, X: Array, Y: Array) -> Array:
    values = as_array(kernel(X, Y))
    sizes = [np.sqrt(np.maximum(np.abs(kernel.diag(Z)), np.finfo(np.float64).tiny)) for Z in (X, Y)]
    return as_array(values / np.outer(*sizes))
