r"""The compiled loop of :mod:`bochner.learning.moves.replacement`.

It decides proposals one after another from small dense algebra on panels, without a return to
Python between two of them. Arrays have one row per feature: a panel of :math:`P` holds columns of
:math:`P` as rows, so that every inner loop runs along memory.
"""

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.compiling import compiled
from bochner._numerics.wave_loops import LOOSE


@compiled(fastmath=LOOSE | {"reassoc"})
def _dot(left: Array, right: Array) -> float:
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@compiled(fastmath=LOOSE)
def _add(factor: float, values: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] += factor * values[i]


@compiled(fastmath=LOOSE)
def inverted(matrix: Array, out: Array) -> float:
    """Write the inverse of a matrix (w, w) to ``out``; return the logarithm of its determinant.

    The matrix is symmetric up to rounding, and overwritten. The result is ``nan``, and ``out`` of
    no use, where it is not positive definite.
    """
    w = matrix.shape[0]
    log_determinant = 0.0
    # Lower Cholesky factor in place, from the mean of both triangles.
    for i in range(w):
        for j in range(i + 1):
            total = 0.5 * (matrix[i, j] + matrix[j, i])
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                if not total > 0.0:
                    return np.nan
                log_determinant += np.log(total)
                matrix[i, i] = np.sqrt(total)
            else:
                matrix[i, j] = total / matrix[j, j]
    # Its inverse, lower as well, one column after another.
    for j in range(w):
        matrix[j, j] = 1.0 / matrix[j, j]
        for i in range(j + 1, w):
            total = 0.0
            for k in range(j, i):
                total -= matrix[i, k] * matrix[k, j]
            matrix[i, j] = total / matrix[i, i]
    for i in range(w):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, w):
                total += matrix[k, i] * matrix[k, j]
            out[i, j] = total
            out[j, i] = total
    return log_determinant


@compiled()
def decide_exchanges(
    panel: Array,
    products: Array,
    within: Array,
    cross: Array,
    columns: NDArray[np.int64],
    gram: Array,
    target: Array,
    mean: Array,
    log_ratio: Array,
    log_uniform: Array,
    precision: float,
    square: float,
    noise: Array,
    reached: Array,
    factors: Array,
    scaled: Array,
    accepted: NDArray[np.bool_],
) -> None:
    r"""Decide proposals in turn and carry those accepted through sums, posterior and panels.

    With ``B`` units of ``w`` features each, at places ``columns`` (wB,) among ``p``:

    ``panel`` (2wB, p)
        For each unit ``w`` columns of :math:`P` as rows, then ``w`` of :math:`P C`.
    ``products`` (wB, p), ``within`` (wB, wB), ``cross`` (wB,)
        :math:`C^\top`, :math:`H` and the proposals' products with the targets.
    ``gram`` (p, p), ``target`` (p,), ``mean`` (p,)
        Sums over rows and posterior mean of the current features.
    ``log_ratio``, ``log_uniform`` (B,)
        Share of prior and proposal law in the acceptance ratio; the variates that decide.
    ``noise`` (3,)
        Coefficients ``(l, e, r)`` of the log likelihood of a residual ``s``,
        ``-l s - e log(r + s / 2)``, where ``s`` is ``square`` less what the features explain.
    ``reached`` (2,)
        What the features explain, and :math:`\log |A|`.
    ``factors``, ``scaled`` (2wB, p)
        Filled with rows whose outer products, summed, are the change of :math:`P`; zero before.
    ``accepted`` (B,)
        Set where a unit was accepted; false before.

    All but the inputs of the decisions are changed in place. A unit whose exchange rounding leaves
    without a positive definite matrix is refused.
    """
    n_units, p = log_ratio.size, mean.size
    w = columns.size // n_units
    old, new, block = np.empty((w, w)), np.empty((w, w)), np.empty((w, w))
    change, without = np.empty((w, p)), np.empty(p)
    remainder, weights = np.empty(w), np.empty(w)

    for unit in range(n_units):
        first, start = w * unit, 2 * w * unit
        places = columns[first : first + w]
        left = panel[start : start + w]

        # The state without the unit's features: S_old = P_jj^{-1} and the posterior mean.
        for a in range(w):
            for b in range(w):
                block[a, b] = left[a, places[b]]
        lost_determinant = inverted(block, old)
        if np.isnan(lost_determinant):
            continue
        without[:] = mean
        lost = 0.0
        for a in range(w):
            weights[a] = 0.0
            for b in range(w):
                weights[a] += old[a, b] * mean[places[b]]
            lost += weights[a] * mean[places[a]]
        for a in range(w):
            _add(-weights[a], left[a], without)
        for a in range(w):
            without[places[a]] = 0.0

        # T, the change of P C: products with the old features themselves cancel.
        for c in range(w):
            row = change[c]
            row[:] = panel[start + w + c]
            for a in range(w):
                factor = 0.0
                for b in range(w):
                    factor += old[a, b] * panel[start + w + c, places[b]]
                _add(-factor, left[a], row)
            for a in range(w):
                row[places[a]] = 0.0

        # The state with the proposal's features.
        gained = 0.0
        for a in range(w):
            own = products[first + a]
            remainder[a] = cross[first + a] - _dot(own, without)
            for c in range(w):
                block[a, c] = within[first + a, first + c] - _dot(own, change[c])
            block[a, a] += precision
        gained_determinant = inverted(block, new)
        if np.isnan(gained_determinant):
            continue
        for a in range(w):
            for b in range(w):
                gained += remainder[a] * new[a, b] * remainder[b]

        explained = reached[0] - lost + gained
        log_determinant = reached[1] + (lost_determinant + gained_determinant)
        before, after = max(square - reached[0], 0.0), max(square - explained, 0.0)
        ratio = -noise[0] * (after - before) - 0.5 * (log_determinant - reached[1])
        if noise[1] > 0.0:
            ratio -= noise[1] * np.log((noise[2] + 0.5 * after) / (noise[2] + 0.5 * before))
        if not log_uniform[unit] < ratio + log_ratio[unit]:
            continue

        accepted[unit] = True
        reached[0], reached[1] = explained, log_determinant
        for a in range(w):
            for later in range(first + w, columns.size):
                products[later, places[a]] = within[later, first + a]
            own = products[first + a]
            for b in range(w):
                own[places[b]] = within[first + a, first + b]
                change[a, places[b]] = -1.0 if a == b else 0.0
            target[places[a]] = cross[first + a]
        for a in range(w):
            for i in range(p):
                gram[places[a], i] = products[first + a, i]
                gram[i, places[a]] = products[first + a, i]
        mean[:] = without
        for a in range(w):
            factor = 0.0
            for b in range(w):
                factor += new[a, b] * remainder[b]
            _add(-factor, change[a], mean)
        for a in range(w):
            factors[start + a], factors[start + w + a] = left[a], change[a]
            for b in range(w):
                _add(-old[a, b], left[b], scaled[start + a])
                _add(new[a, b], change[b], scaled[start + w + a])

        # The panels of the proposals that are still to be decided.
        for later in range(unit + 1, n_units):
            for c in range(w):
                place, own = columns[w * later + c], products[w * later + c]
                column, product = panel[2 * w * later + c], panel[2 * w * later + w + c]
                for a in range(w):
                    # First all that reads these rows: `places` of them change with the rows.
                    weights[a] = product[places[a]]
                    remainder[a] = column[places[a]]
                for a in range(w):
                    _add(remainder[a], scaled[start + a], column)
                    _add(weights[a], scaled[start + a], product)
                    _add(change[a, place], scaled[start + w + a], column)
                    _add(_dot(change[a], own), scaled[start + w + a], product)
