r"""Compiled posterior of coefficients of known columns, given errors of values and of columns.

A value is a state's plus :math:`\sum_c \beta_c x_{tc}`. With the gains of a filter that does not
know the coefficients, the error of a predicted value is :math:`e_t - \sum_c \beta_c f_{tc}`, where
:math:`e` are the errors of the values and :math:`f` those of the columns. With variances
:math:`S_t`, sums :math:`A = \sum_t f_t f_t^\top / S_t` and :math:`b = \sum_t f_t e_t / S_t` and a
prior :math:`\beta_c \sim N(0, d_c^2)`, or a flat one, the coefficients have

.. math:: V = D G^{-1} D, \quad \bar\beta = V b, \quad G = J + D A D, \quad D = \mathrm{diag}(d),

where J has a one for each normal prior on its diagonal, and d is one for a flat one. Integrating
them out adds :math:`\tfrac12 (b^\top \bar\beta - \log |G|)` to the log evidence. A column that is
one at a single time and zero elsewhere, with a flat prior, makes the value at that time unknown.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import inner

UNKNOWN, LINE_SLOPE, INPUT, SHIFT = range(4)
"""Kinds of columns: an unknown value, with a flat prior; the slope of a line, the effect of an
input, and a shift of the level, whose prior variances are those of `Entries.scales`."""

_LOG_TWO_PI = 1.8378770664093453  # In the integral of a normal density

_inner = partial(inner, error_model="numpy")


class Coefficients(NamedTuple):
    """Sums over times and the posterior of L coefficients: symbols of the module's docstring."""

    inner: Array  # (L, L): A
    product: Array  # (L,): b
    factor: Array  # (L, L): Lower Cholesky factor of G
    shrunk: Array  # (L, L): Inverse of G
    mean: Array  # (L,)
    cov: Array  # (L, L): V


@_inner()
def no_coefficients(count: int) -> Coefficients:
    """Return arrays of zeros."""
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
    """Write the posterior, and return the addition to the log evidence.

    NaN if a sum is not positive definite by rounding errors.
    """
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
