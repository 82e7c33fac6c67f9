"""Compiled transitions of the processes of series over one step, and derivatives by parameters.

The formulas are those of `bochner.series.components` and `bochner.series.trends`,
which handle arrays of steps. Here they handle one step and scalars, with derivatives.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import inner

LEVEL, SLOPE, LINE, WALK, VARIATION, REMAINDER, WAVES, INPUTS, SHIFTS = range(9)
"""Kinds of processes. Inputs and shifts of the level have no states: they are coefficients."""

_SMALL = 0.02
"""Decay over a step below which a power series gives the variance of an integrated slope."""


class Form(NamedTuple):
    """The P processes of a sum, with offsets of parameters and states, for steps of one length.

    ``constants`` (P, 3) are the prior variances of a level and a line, or the number of harmonics,
    the period and the standard deviation of its logarithm. ``rank`` is the rank of changes of the
    covariance: one, or three with a trend that does not begin in its stationary law.
    """

    kinds: NDArray[np.int64]
    constants: Array
    parameters: NDArray[np.int64]  # (P + 1,): Offset of each process, and the total
    states: NDArray[np.int64]  # (P + 1,)
    order: NDArray[np.int64]  # (s,): Position of each state in the arrays of `Entries`
    step: float
    rank: int


class Entries(NamedTuple):
    """Model entries that determine the evidence, or derivatives by them; see `state_loops`.

    ``own`` (s,) and ``other`` (s,) are the entries of ``F``, ``initial`` (s,) the diagonal of the
    initial covariance, ``trend`` (3,) the entries (0, 0), (1, 1) and (0, 1) of ``Q``, and
    ``scales`` (4,) the variances of the noise ``r``, of the slope of a line, of the effects of
    inputs and of shifts of the level.
    """

    own: Array
    other: Array
    initial: Array
    trend: Array
    scales: Array


UNKNOWN, LINE_SLOPE, INPUT, SHIFT = range(4)
"""Kinds of coefficients: an unknown value, with a flat prior; the slope of a line, the effect of an
input, and a shift of the level, with prior variances in `Entries.scales`."""

_LOG_TWO_PI = 1.8378770664093453  # log(2 pi), of normal densities

_inner = partial(inner, error_model="numpy")


@_inner()
def _integrated(x: float, decay: float) -> tuple[float, float]:
    """Return ``f = 2 x - 3 + 4 decay - decay**2``, and ``d log(f) / d log(x) - 3``."""
    if x < _SMALL:
        series = 2 / 3 - x * (1 / 2 - x * (7 / 30 - x * (1 / 12 - x * (31 / 1260))))
        slope = -x * (1 / 2 - x * (14 / 30 - x * (3 / 12 - x * (124 / 1260))))
        return x * x * x * series, slope / series
    value = 2.0 * x - 3.0 + 4.0 * decay - decay * decay
    return value, 2.0 * x * (1.0 - decay) * (1.0 - decay) / value - 3.0


@_inner()
def write_entries(form: Form, theta: Array, entries: Entries) -> None:
    """Write the model entries at parameters ``theta`` (k,)."""
    own, other, initial, constants = entries.own, entries.other, entries.initial, form.constants
    scales, dt = entries.scales, form.step
    for part in range(form.kinds.size):
        kind, p, first = form.kinds[part], form.parameters[part], form.states[part]
        if kind == SHIFTS:
            scales[SHIFT] = constants[part, 0]
        elif kind == INPUTS:
            scales[INPUT] = math.exp(2.0 * theta[p])
        elif kind >= VARIATION:
            turn, fall, _ = _wave(form, part, theta)
            size, memory = math.exp(2.0 * theta[p]), p + 1
            if kind == REMAINDER:
                memory = p + 2
                scales[0] = size / (1.0 + math.exp(theta[p + 1]))
                size /= 1.0 + math.exp(-theta[p + 1])
            decay = math.exp(-dt * math.exp(-theta[memory]))
            for i in range(form.states[part + 1] - first):
                place, h = form.order[first + i], i // 2 + 1.0
                sign = 1.0 - 2.0 * (i % 2)
                own[place] = decay * math.cos(h * turn)
                other[place] = sign * decay * math.sin(h * turn)
                initial[place] = size * math.exp(fall * math.log(h))
        else:
            place = form.order[first]
            own[place], initial[place] = 1.0, constants[part, 0]
            if kind != LEVEL:
                _write_slope(form, theta, entries)


@_inner()
def _wave(form: Form, part: int, theta: Array) -> tuple[float, float, int]:
    """Return the first harmonic's angle over a step, the exponent of variances, and a parameter.

    The parameter is the learned period, and zero if the period is known.
    """
    if form.kinds[part] != WAVES:
        return 0.0, 0.0, 0
    p, fall, period = form.parameters[part] + 2, 0.0, form.constants[part, 1]
    if form.constants[part, 0] > 1.0:
        fall = -2.0 * math.exp(theta[p])
        p += 1
    if form.constants[part, 2] > 0.0:
        return math.tau * form.step * math.exp(-theta[p]), fall, p
    return math.tau * form.step / period, fall, 0


@_inner()
def _write_slope(form: Form, theta: Array, entries: Entries) -> None:
    """Write the entries of the slope of a trend, which is the first process."""
    kind, place, slope, trend = form.kinds[0], form.order[0], form.order[1], entries.trend
    diffusion, dt = math.exp(theta[0]), form.step
    entries.own[slope], entries.initial[slope] = 1.0, form.constants[0, 1]
    if kind == WALK:
        entries.other[place] = dt
        trend[0] = diffusion * dt
        return
    rate = math.exp(theta[1])
    decay, loss, stationary = (
        math.exp(-rate * dt),
        -math.expm1(-rate * dt),
        diffusion / (2.0 * rate),
    )
    entries.own[slope], entries.other[place] = decay, loss / rate
    if kind == LINE:
        entries.scales[LINE_SLOPE] = form.constants[0, 1]
    entries.initial[slope] = stationary if kind == SLOPE else 0.0
    trend[0] = stationary / (rate * rate) * _integrated(rate * dt, decay)[0]
    trend[1] = stationary * loss * (1.0 + decay)
    trend[2] = stationary * loss * loss / rate


@_inner()
def add_chain_rule(
    form: Form, theta: Array, entries: Entries, slopes: Entries, gradient: Array
) -> None:
    """Add derivatives by parameters (k,) to ``gradient``, given derivatives by the entries."""
    own, other, scales = entries.own, entries.other, entries.scales
    for part in range(form.kinds.size):
        kind, p, first = form.kinds[part], form.parameters[part], form.states[part]
        if kind == INPUTS:
            gradient[p] += 2.0 * slopes.scales[INPUT] * scales[INPUT]
        elif kind in (SLOPE, LINE, WALK):
            _add_slope_of_slope(form, theta, entries, slopes, gradient)
        elif kind in (VARIATION, REMAINDER, WAVES):
            turn, fall, last = _wave(form, part, theta)
            of_size, of_memory, of_fall, of_angle = 0.0, 0.0, 0.0, 0.0
            for i in range(form.states[part + 1] - first):
                place, h = form.order[first + i], i // 2 + 1.0
                a, b = slopes.own[place], slopes.other[place]
                of_initial = slopes.initial[place] * entries.initial[place]
                of_size += of_initial
                of_memory += a * own[place] + b * other[place]
                of_fall += of_initial * math.log(h)
                of_angle += h * (1.0 - 2.0 * (i % 2)) * (a * other[place] - b * own[place])
            memory = p + 1
            if kind == REMAINDER:
                memory = p + 2
                noise, of_noise = 1.0 / (1.0 + math.exp(theta[p + 1])), slopes.scales[0] * scales[0]
                gradient[p + 1] += of_size * noise - of_noise * (1.0 - noise)
                of_size += of_noise
            gradient[p] += 2.0 * of_size
            gradient[memory] += of_memory * form.step * math.exp(-theta[memory])
            if fall != 0.0:
                gradient[p + 2] += of_fall * fall
            if last > 0:
                gradient[last] += of_angle * turn


@_inner()
def _add_slope_of_slope(
    form: Form, theta: Array, entries: Entries, slopes: Entries, gradient: Array
) -> None:
    """Add derivatives by the parameters of a trend, which is the first process."""
    kind, place, slope = form.kinds[0], form.order[0], form.order[1]
    a, b = entries.trend[0] * slopes.trend[0], entries.trend[1] * slopes.trend[1]
    c, d = entries.trend[2] * slopes.trend[2], 0.0
    if kind == SLOPE:
        d = entries.initial[slope] * slopes.initial[slope]
    gradient[0] += a + b + c + d
    if kind != WALK:
        x, decay = math.exp(theta[1]) * form.step, entries.own[slope]
        share = -x * decay / math.expm1(-x)  # d log(1 - decay) / d log(rate)
        gradient[1] += (
            (slopes.other[place] * entries.other[place] + 2.0 * c) * (share - 1.0)
            + b * (2.0 * share * decay / (1.0 + decay) - 1.0)
            + a * _integrated(x, decay)[1]
            - slopes.own[slope] * x * decay
            - d
        )


class Coefficients(NamedTuple):
    """Sufficient statistics and posterior of L coefficients with prior covariance :math:`D^2`.

    c and e are the filter's errors of the columns and of the values, and S is their variance. G is
    I + D A D; rows of I are zero for unknown values, whose prior is flat.
    """

    inner: Array  # (L, L): A, the sum of c c.T / S over times
    product: Array  # (L,): b, the sum of c e / S over times
    factor: Array  # (L, L): Lower Cholesky factor of G
    shrunk: Array  # (L, L): Inverse of G
    mean: Array  # (L,): V b
    cov: Array  # (L, L): V = D G^-1 D


@_inner()
def no_coefficients(count: int) -> Coefficients:
    """Return zero arrays for ``count`` coefficients."""
    square = (count, count)
    return Coefficients(
        np.zeros(square),
        np.zeros(count),
        np.zeros(square),
        np.zeros(square),
        np.zeros(count),
        np.zeros(square),
    )


@_inner()
def _deviation(kind: int, scales: Array) -> float:
    return 1.0 if kind == UNKNOWN else np.sqrt(scales[kind])


@_inner()
def posterior(some: Coefficients, kinds: NDArray[np.int64], scales: Array) -> float:
    """Write the coefficients' posterior, and return their contribution to the log evidence."""
    count, factor, shrunk = kinds.size, some.factor, some.shrunk
    added = 0.0
    for i in range(count):
        of_i = _deviation(kinds[i], scales)
        for j in range(i + 1):
            total = of_i * some.inner[i, j] * _deviation(kinds[j], scales)
            if i == j and kinds[i] != UNKNOWN:
                total += 1.0
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = total / factor[j, j]
            elif not total > 0.0:
                return np.nan
            else:
                factor[i, i] = np.sqrt(total)
        added -= np.log(factor[i, i])
        if kinds[i] == UNKNOWN:
            added += 0.5 * _LOG_TWO_PI
    for column in range(count):
        for i in range(column, count):
            total = 1.0 if i == column else 0.0
            for k in range(column, i):
                total -= factor[i, k] * shrunk[k, column]
            shrunk[i, column] = total / factor[i, i]
        for i in range(count - 1, -1, -1):
            total = shrunk[i, column] if i >= column else 0.0
            for k in range(i + 1, count):
                total -= factor[k, i] * shrunk[k, column]
            shrunk[i, column] = total / factor[i, i]
    for i in range(count):
        some.mean[i] = 0.0
        for j in range(count):
            between = _deviation(kinds[i], scales) * _deviation(kinds[j], scales)
            some.cov[i, j] = between * shrunk[i, j]
            some.mean[i] += some.cov[i, j] * some.product[j]
        added += 0.5 * some.mean[i] * some.product[i]
    return added


@_inner()
def add_slope_of_inputs(
    some: Coefficients, kinds: NDArray[np.int64], scales: Array, slopes: Array
) -> None:
    """Add the derivative of the log evidence by the prior variance of the inputs' effects."""
    variance = scales[INPUT]
    for i in range(kinds.size):
        if kinds[i] == INPUT:
            squares = some.mean[i] ** 2 / variance
            slopes[INPUT] += 0.5 * (squares - (1.0 - some.shrunk[i, i])) / variance
