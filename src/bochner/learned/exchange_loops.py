r"""The compiled loop of :mod:`bochner.learned.moves`, which accepts or rejects proposals.

It decides them one after another from small dense algebra on panels, without a return to Python
in between. Arrays have one row per feature: a panel of :math:`P` holds columns of :math:`P` as
rows, so that every inner loop runs along memory.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import compiled, inner
from bochner._base.vector_loops import LOOSE, add, copy, dot


@inner(fastmath=LOOSE)
def inverted(matrix: Array, out: Array) -> float:
    """Write the inverse of a matrix (w, w) to ``out``; return the logarithm of its determinant.

    The matrix is symmetric up to rounding, and is overwritten. If it is not positive definite, the
    result is ``nan`` and ``out`` is undefined.
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


class _Unit(NamedTuple):
    """Views of the proposal arrays for one unit of the basis."""

    places: NDArray[np.int64]  # (w,): Indices of the unit's features
    left: Array  # (w, p): These features' columns of P as rows
    propagated: Array  # (w, p): Columns of P C of the proposal
    products: Array  # (w, p): Rows of C' of the proposal
    within: Array  # (w, w): Block of H of the proposal
    cross: Array  # (w,): Products of the proposal with the targets


class _Room(NamedTuple):
    """Work arrays that are overwritten for each unit."""

    old: Array  # (w, w): Inverse of the old features' block of P
    new: Array  # (w, w): The proposal's block of P
    block: Array  # (w, w): Overwritten by inversions
    change: Array  # (w, p): Change of P C, the old features taken out
    without: Array  # (p,): Posterior mean without the old features
    remainder: Array  # (w,): Products of the features with this mean's residuals
    weights: Array  # (w,)


@inner()
def _unit(
    index: int,
    w: int,
    columns: NDArray[np.int64],
    panel: Array,
    products: Array,
    within: Array,
    cross: Array,
) -> _Unit:
    first, start = w * index, 2 * w * index
    features = slice(first, first + w)
    return _Unit(
        columns[features],
        panel[start : start + w],
        panel[start + w : start + 2 * w],
        products[features],
        within[features, features],
        cross[features],
    )


@inner()
def _take_out(unit: _Unit, mean: Array, room: _Room) -> tuple[float, float]:
    """Return the log determinant of the block of P of a unit's features, and the fit they lose.

    The log determinant is ``nan`` if rounding leaves no positive definite matrix.
    """
    places, left, old, without = unit.places, unit.left, room.old, room.without
    w, lost = places.size, 0.0
    for a in range(w):
        for b in range(w):
            room.block[a, b] = left[a, places[b]]
    log_determinant = inverted(room.block, old)
    if np.isnan(log_determinant):
        return log_determinant, lost
    copy(mean, without)
    for a in range(w):
        room.weights[a] = 0.0
        for b in range(w):
            room.weights[a] += old[a, b] * mean[places[b]]
        lost += room.weights[a] * mean[places[a]]
    for a in range(w):
        add(-room.weights[a], left[a], without)
    for a in range(w):
        without[places[a]] = 0.0
    return log_determinant, lost


@inner()
def _propagate(unit: _Unit, room: _Room) -> None:
    """Write the columns of P C of a proposal, with the old features taken out, to ``room``."""
    places, w = unit.places, unit.places.size
    for c in range(w):
        row = room.change[c]
        copy(unit.propagated[c], row)
        for a in range(w):
            factor = 0.0
            for b in range(w):
                factor += room.old[a, b] * unit.propagated[c, places[b]]
            add(-factor, unit.left[a], row)
        for a in range(w):
            row[places[a]] = 0.0


@inner()
def _put_in(unit: _Unit, precision: float, room: _Room) -> tuple[float, float]:
    """Return the log determinant of the proposal's block, or ``nan``, and the fit it gains."""
    w, gained = unit.places.size, 0.0
    for a in range(w):
        products = unit.products[a]
        room.remainder[a] = unit.cross[a] - dot(products, room.without)
        for c in range(w):
            room.block[a, c] = unit.within[a, c] - dot(products, room.change[c])
        room.block[a, a] += precision
    log_determinant = inverted(room.block, room.new)
    for a in range(w):
        for b in range(w):
            gained += room.remainder[a] * room.new[a, b] * room.remainder[b]
    return log_determinant, gained


@inner()
def _log_ratio(noise: Array, before: float, after: float, determinant: float) -> float:
    """Return the log ratio of the evidence after to that before; negative residuals are zero."""
    before, after = max(before, 0.0), max(after, 0.0)
    ratio = -noise[0] * (after - before) - 0.5 * determinant
    if noise[1] > 0.0:
        ratio -= noise[1] * np.log((noise[2] + 0.5 * after) / (noise[2] + 0.5 * before))
    return float(ratio)


@inner()
def _exchange(unit: _Unit, gram: Array, target: Array, mean: Array, room: _Room) -> None:
    """Update the sums over rows and the posterior mean in place for an accepted proposal."""
    places, w = unit.places, unit.places.size
    for a in range(w):
        products = unit.products[a]
        for b in range(w):
            products[places[b]] = unit.within[a, b]
            room.change[a, places[b]] = -1.0 if a == b else 0.0
        target[places[a]] = unit.cross[a]
    for a in range(w):
        for i in range(mean.size):
            gram[places[a], i] = unit.products[a, i]
            gram[i, places[a]] = unit.products[a, i]
    copy(room.without, mean)
    for a in range(w):
        factor = 0.0
        for b in range(w):
            factor += room.new[a, b] * room.remainder[b]
        add(-factor, room.change[a], mean)


@inner()
def _fill_factors(unit: _Unit, room: _Room, factors: Array, scaled: Array) -> None:
    """Write rows (2w, p) whose outer products are the change of P."""
    w = unit.places.size
    for a in range(w):
        copy(unit.left[a], factors[a])
        copy(room.change[a], factors[w + a])
        for b in range(w):
            add(-room.old[a, b], unit.left[b], scaled[a])
            add(room.new[a, b], room.change[b], scaled[w + a])


@inner()
def _carry(
    index: int,
    columns: NDArray[np.int64],
    panel: Array,
    products: Array,
    scaled: Array,
    room: _Room,
) -> None:
    """Update the panels of undecided proposals after a proposal is accepted."""
    w, change, weights, remainder = len(room.change), room.change, room.weights, room.remainder
    places = columns[w * index : w * (index + 1)]
    for later in range(index + 1, columns.size // w):
        for c in range(w):
            place, later_products = columns[w * later + c], products[w * later + c]
            column, product = panel[2 * w * later + c], panel[2 * w * later + w + c]
            for a in range(w):
                # Read these entries before the updates below, which change them.
                weights[a] = product[places[a]]
                remainder[a] = column[places[a]]
            for a in range(w):
                add(remainder[a], scaled[a], column)
                add(weights[a], scaled[a], product)
                add(change[a, place], scaled[w + a], column)
                add(dot(change[a], later_products), scaled[w + a], product)


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
    r"""Accept or reject proposals in turn; accepted ones update sums, posterior and panels.

    With ``B`` units of ``w`` features each, at places ``columns`` (wB,) among ``p``:

    ``panel`` (2wB, p)
        For each unit ``w`` columns of :math:`P` as rows, then ``w`` of :math:`P C`.
    ``products`` (wB, p), ``within`` (wB, wB), ``cross`` (wB,)
        :math:`C^\top`, :math:`H` and the proposals' products with the targets.
    ``gram`` (p, p), ``target`` (p,), ``mean`` (p,)
        Sums over rows and posterior mean of the current features.
    ``log_ratio``, ``log_uniform`` (B,)
        Prior and proposal terms of the log acceptance ratio; log uniform variates that decide.
    ``noise`` (3,)
        Coefficients ``(l, e, r)`` of the log likelihood of a residual ``s``,
        ``-l s - e log(r + s / 2)``, where ``s`` is ``square`` less the explained sum.
    ``reached`` (2,)
        Sum of squares that the features explain, and :math:`\log |A|`.
    ``factors``, ``scaled`` (2wB, p)
        Filled with rows whose outer products, summed, are the change of :math:`P`; zero before.
    ``accepted`` (B,)
        Set where a unit was accepted; false before.

    All arrays except the inputs of the decisions are changed in place. A unit is refused if
    rounding leaves its exchange without a positive definite matrix.
    """
    n_units, p = log_ratio.size, mean.size
    w = columns.size // n_units
    room = _Room(
        np.empty((w, w)), np.empty((w, w)), np.empty((w, w)),
        np.empty((w, p)), np.empty(p), np.empty(w), np.empty(w),
    )  # fmt: skip
    for index in range(n_units):
        unit = _unit(index, w, columns, panel, products, within, cross)
        lost_determinant, lost = _take_out(unit, mean, room)
        if np.isnan(lost_determinant):
            continue
        _propagate(unit, room)
        gained_determinant, gained = _put_in(unit, precision, room)
        if np.isnan(gained_determinant):
            continue
        explained = reached[0] - lost + gained
        log_determinant = reached[1] + (lost_determinant + gained_determinant)
        ratio = _log_ratio(
            noise, square - reached[0], square - explained, log_determinant - reached[1]
        )
        if not log_uniform[index] < ratio + log_ratio[index]:
            continue

        accepted[index] = True
        reached[0], reached[1] = explained, log_determinant
        rows = slice(2 * w * index, 2 * w * (index + 1))
        for a in range(w):
            for later in range(w * (index + 1), columns.size):
                products[later, unit.places[a]] = within[later, w * index + a]
        _exchange(unit, gram, target, mean, room)
        _fill_factors(unit, room, factors[rows], scaled[rows])
        _carry(index, columns, panel, products, scaled[rows], room)
