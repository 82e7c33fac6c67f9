"""Compiled transitions of the processes of series over one step, and derivatives by parameters.

The formulas are those of `bochner.series.components` and `bochner.series.trends`,
which handle arrays of steps. Here they handle one step and scalars; complex-step differentiation
(a small imaginary part of one parameter) gives the derivatives.
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

_TINY = 1e-100  # Imaginary increment of a parameter: its square vanishes in float64 next to one
_SMALL = 0.02
"""Decay over a step below which a power series gives the variance of an integrated slope."""

_MOST_PARAMETERS = 4
"""Largest number of parameters of a process: waves with harmonics and a learned period."""


Numbers = NDArray[np.complex128]
"""Numbers whose imaginary parts are derivatives, in units of `_TINY`."""


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


@inner(error_model="numpy")
def _exp(x: complex) -> complex:
    value = math.exp(x.real)
    return complex(value, value * x.imag)


@inner(error_model="numpy")
def _loss(x: complex) -> complex:
    """Return ``1 - exp(-x)``."""
    return complex(-math.expm1(-x.real), math.exp(-x.real) * x.imag)


@inner(error_model="numpy")
def _integrated(x: complex, decay: complex) -> complex:
    if x.real < _SMALL:
        terms = 2 / 3 - x / 2 + 7 * x * x / 30 - x * x * x / 12 + 31 * x * x * x * x / 1260
        return x * x * x * terms
    return 2.0 * x - 3.0 + 4.0 * decay - decay * decay


@inner(error_model="numpy")
def _write_process(
    kind: int, constants: Array, theta: Numbers, dt: float, moves: Numbers, extra: Numbers
) -> None:
    """Write a process's ``own``, ``other``, ``initial`` to ``moves``, the rest to ``extra``."""
    for i in range(7):
        extra[i] = 0.0
    if kind <= WALK:
        moves[0, 0], moves[1, 0], moves[2, 0] = 1.0, 0.0, constants[0]
    if kind in (SLOPE, LINE):
        diffusion, rate = _exp(theta[0]), _exp(theta[1])
        x = rate * dt
        decay, loss = _exp(-x), _loss(x)
        moves[1, 0] = loss / rate
        moves[0, 1], moves[1, 1] = decay, 0.0
        moves[2, 1] = diffusion / (2.0 * rate) if kind == SLOPE else 0.0
        extra[0] = diffusion / (2.0 * rate * rate * rate) * _integrated(x, decay)
        extra[1] = diffusion * _loss(2.0 * x) / (2.0 * rate)
        extra[2] = diffusion * loss * loss / (2.0 * rate * rate)
        extra[4] = constants[1] if kind == LINE else 0.0
    elif kind == WALK:
        moves[1, 0] = dt
        moves[0, 1], moves[1, 1], moves[2, 1] = 1.0, 0.0, constants[1]
        extra[0] = _exp(theta[0]) * dt
    elif kind == VARIATION:
        moves[0, 0], moves[1, 0] = _exp(-dt * _exp(-theta[1])), 0.0
        moves[2, 0] = _exp(2.0 * theta[0])
    elif kind == REMAINDER:
        moves[0, 0], moves[1, 0] = _exp(-dt * _exp(-theta[2])), 0.0
        total = _exp(2.0 * theta[0])
        moves[2, 0] = total / (1.0 + _exp(-theta[1]))
        extra[3] = total / (1.0 + _exp(theta[1]))
    elif kind == INPUTS:
        extra[5] = _exp(2.0 * theta[0])
    elif kind == SHIFTS:
        extra[6] = constants[0]
    elif kind == WAVES:
        n_harmonics = int(constants[0])
        total, decay = _exp(2.0 * theta[0]), _exp(-dt * _exp(-theta[1]))
        turn = 2.0 * np.pi * dt / constants[1] + 0.0j
        fall = -2.0 * _exp(theta[2]) if n_harmonics > 1 else 0.0j
        if constants[2] > 0.0:
            turn = 2.0 * np.pi * dt * _exp(-theta[3 if n_harmonics > 1 else 2])
        for h in range(n_harmonics):
            angle = (h + 1.0) * turn
            cosine, sine = math.cos(angle.real), math.sin(angle.real)
            along = decay * complex(cosine, -sine * angle.imag)
            across = decay * complex(sine, cosine * angle.imag)
            variance = total * _exp(fall * math.log(h + 1.0))
            for i in range(2):
                moves[0, 2 * h + i], moves[2, 2 * h + i] = along, variance
                moves[1, 2 * h + i] = across if i == 0 else -across


@inner(error_model="numpy")
def _place(form: Form, part: int, theta: Array, near: Numbers) -> tuple[int, int, int]:
    """Copy a process's parameters to ``near``; return their number, start and stop of states."""
    first, count = form.parameters[part], form.parameters[part + 1] - form.parameters[part]
    for i in range(count):
        near[i] = theta[first + i]
    return count, form.states[part], form.states[part + 1]


@inner(error_model="numpy")
def write_entries(form: Form, theta: Array, entries: Entries) -> None:
    """Write the model entries at parameters ``theta`` (k,)."""
    near, extra = np.zeros(_MOST_PARAMETERS, np.complex128), np.zeros(7, np.complex128)
    moves = np.zeros((3, entries.own.size), np.complex128)
    for i in range(3):
        entries.trend[i] = 0.0
    for i in range(4):
        entries.scales[i] = 0.0
    for part in range(form.kinds.size):
        _, first, last = _place(form, part, theta, near)
        _write_process(form.kinds[part], form.constants[part], near, form.step, moves, extra)
        for i in range(last - first):
            place = form.order[first + i]
            entries.own[place] = moves[0, i].real
            entries.other[place] = moves[1, i].real
            entries.initial[place] = moves[2, i].real
        for i in range(3):
            entries.trend[i] += extra[i].real
        for i in range(4):
            entries.scales[i] += extra[3 + i].real


@inner(error_model="numpy")
def add_chain_rule(form: Form, theta: Array, slopes: Entries, gradient: Array) -> None:
    """Add derivatives by parameters (k,) to ``gradient``, given derivatives by the entries."""
    near, extra = np.zeros(_MOST_PARAMETERS, np.complex128), np.zeros(7, np.complex128)
    moves = np.zeros((3, slopes.own.size), np.complex128)
    for part in range(form.kinds.size):
        count, first, last = _place(form, part, theta, near)
        for parameter in range(count):
            near[parameter] += complex(0.0, _TINY)
            _write_process(form.kinds[part], form.constants[part], near, form.step, moves, extra)
            total = 0.0
            for i in range(last - first):
                place = form.order[first + i]
                total += slopes.own[place] * moves[0, i].imag
                total += slopes.other[place] * moves[1, i].imag
                total += slopes.initial[place] * moves[2, i].imag
            for i in range(3):
                total += slopes.trend[i] * extra[i].imag
            for i in range(4):
                total += slopes.scales[i] * extra[3 + i].imag
            gradient[form.parameters[part] + parameter] += total / _TINY
            near[parameter] = near[parameter].real


UNKNOWN, LINE_SLOPE, INPUT, SHIFT = range(4)
"""Kinds of coefficients: an unknown value, with a flat prior; the slope of a line, the effect of an
input, and a shift of the level, with prior variances in `Entries.scales`."""

_LOG_TWO_PI = 1.8378770664093453  # log(2 pi), of normal densities

_inner = partial(inner, error_model="numpy")


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
