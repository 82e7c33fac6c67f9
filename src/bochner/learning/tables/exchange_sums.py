r"""Compiled sums of kernel values at mixed rows, whose groups of columns come from several rows.

The distance of a mixed row to a training row is a sum over groups of columns. Successive mixed rows
differ in few groups, so that only the terms of these groups are updated.
With a linear map :math:`A`, :math:`W = Z A A^\top` and an image :math:`a = A^\top x`, the exchange
of a column by :math:`\delta` changes the squared distance to the row ``z`` by the change of
:math:`|a|^2`, less :math:`2 \delta W_z`.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.compiling import compiled, inner
from bochner._numerics.wave_loops import LOOSE

Integers = NDArray[np.int64]

ABSOLUTE, SQUARED, MAPPED = 0, 1, 2
"""Kinds of distances: city-block, squared Euclidean, and squared Euclidean of linear images."""

_TILE = 512
"""Training rows whose distances are updated together: 100 columns of them fit the L2 cache."""

_CANCELLED = 1e-4
"""Share of the largest earlier squared distance below which a squared distance is recomputed: the
square root would have lost up to two of sixteen digits more than the square."""

_LOG2E = 1.4426950408889634
"""The number of powers of two in a power of e."""

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""The logarithm of two in two parts; products of the first part with exponents are exact."""

_SHIFTER = 6755399441055744.0
"""1.5 times 2 to the power of 52: a sum with it is rounded to an integer in its last bits."""

_SMALLEST = -708.0
"""Smallest exponent of a normal number in double precision."""


class Training(NamedTuple):
    """The training rows of a law: each group of columns as values or as codes of levels."""

    kind: int
    values: Array  # (c, m): Columns of the rows, or of W for MAPPED distances
    first_value: Integers  # (g + 1,): First column of each group
    codes: Integers  # (b, m): Places of the rows' levels
    first_code: Integers  # (g + 1,): First block of levels of each group
    first_level: Integers  # (b + 1,): First level of each block
    images: Array  # (k, m): Images of the rows, for MAPPED distances
    coef: Array  # (t, m)


class ExponentialProfile(NamedTuple):
    """A kernel as a function of a distance: (p0 + p1 u + p2 u²) exp(-u)."""

    factor: float  # u is the distance times the factor, or its root
    is_root: bool
    p0: float
    p1: float
    p2: float


class Mixed(NamedTuple):
    """Mixed rows: the row of a pool from which each takes each group."""

    sources: Integers  # (q, g)
    values: Array  # (r, c): Columns of the rows of the pool
    levels: Array  # (r, l): Distances of the rows of the pool to the levels of all blocks
    images: Array  # (q, k): Of MAPPED distances
    norms: Array  # (q,): Squared norms of the images


@inner(fastmath=LOOSE)
def _add_columns(
    kind: int, values: Array, new: Array, old: Array, first: int, start: int, sums: Array
) -> None:
    """Add the change of distances by columns whose entry is new instead of old."""
    for c in range(new.size):
        column = values[first + c, start : start + sums.size]
        a, b = new[c], old[c]
        if kind == ABSOLUTE:
            for k in range(sums.size):
                sums[k] += abs(a - column[k]) - abs(b - column[k])
        elif kind == SQUARED:
            for k in range(sums.size):
                sums[k] += (a - column[k]) * (a - column[k]) - (b - column[k]) * (b - column[k])
        else:
            step = 2.0 * (b - a)
            for k in range(sums.size):
                sums[k] += step * column[k]


@inner(fastmath=LOOSE)
def _add_levels(codes: Integers, distances: Array, sums: Array) -> None:
    for k in range(sums.size):
        sums[k] += distances[codes[k]]


@inner(fastmath=LOOSE)
def _exchange_levels(codes: Integers, new: Array, old: Array, sums: Array) -> None:
    for k in range(sums.size):
        sums[k] += new[codes[k]] - old[codes[k]]


@inner()
def _update(
    training: Training, mixed: Mixed, number: int, base: int, start: int, sums: Array
) -> None:
    """Update the distances of the mixed row ``base`` to the distances of row ``number``."""
    if training.kind == MAPPED:
        # |a - b|² = |a|² - 2 a b + |b|², of which only the first two terms change.
        change = mixed.norms[number] - mixed.norms[base]
        for k in range(sums.size):
            sums[k] += change
    for group in range(mixed.sources.shape[1]):
        new, old = mixed.sources[number, group], mixed.sources[base, group]
        # Groups from the same source row do not change the distance.
        if new == old:
            continue
        low, high = training.first_value[group], training.first_value[group + 1]
        if low < high:
            entries = mixed.values[new, low:high], mixed.values[old, low:high]
            _add_columns(training.kind, training.values, *entries, low, start, sums)
        for block in range(training.first_code[group], training.first_code[group + 1]):
            levels = slice(training.first_level[block], training.first_level[block + 1])
            codes = training.codes[block, start : start + sums.size]
            _exchange_levels(codes, mixed.levels[new, levels], mixed.levels[old, levels], sums)


@inner(fastmath=LOOSE)
def _add_distances(kind: int, column: Array, entry: float, sums: Array) -> None:
    if kind == ABSOLUTE:
        for k in range(sums.size):
            sums[k] += abs(entry - column[k])
    else:
        for k in range(sums.size):
            sums[k] += (entry - column[k]) * (entry - column[k])


@inner()
def _fill(training: Training, mixed: Mixed, number: int, start: int, sums: Array) -> None:
    """Write the distances of a mixed row to the training rows from ``start`` on."""
    stop = start + sums.size
    for k in range(sums.size):
        sums[k] = 0.0
    if training.kind == MAPPED:
        for c in range(training.images.shape[0]):
            column = training.images[c, start:stop]
            _add_distances(training.kind, column, mixed.images[number, c], sums)
        return
    for group in range(mixed.sources.shape[1]):
        source = mixed.sources[number, group]
        for c in range(training.first_value[group], training.first_value[group + 1]):
            column = training.values[c, start:stop]
            _add_distances(training.kind, column, mixed.values[source, c], sums)
        for block in range(training.first_code[group], training.first_code[group + 1]):
            levels = slice(training.first_level[block], training.first_level[block + 1])
            _add_levels(training.codes[block, start:stop], mixed.levels[source, levels], sums)


@inner(fastmath=LOOSE | {"reassoc"})
def _largest(sums: Array, largest: Array) -> float:
    """Raise the largest distances to the current ones; return the least excess over their share."""
    least = 0.0
    for k in range(sums.size):
        largest[k] = max(largest[k], sums[k])
        # A minimum instead of a branch, so that the loop is vectorised.
        least = min(least, sums[k] - _CANCELLED * largest[k])
    return least


@inner()
def _renew(
    training: Training, mixed: Mixed, number: int, start: int, sums: Array, largest: Array
) -> None:
    """Recompute the distances that are small relative to an earlier one, to undo cancellation."""
    for k in range(sums.size):
        if sums[k] < _CANCELLED * largest[k]:
            _fill(training, mixed, number, start + k, sums[k : k + 1])
            largest[k] = sums[k]


@inner(fastmath=LOOSE)
def _exponentials(values: Array, powers: Array, bits: Integers) -> None:
    """Replace non-positive numbers by their exponentials; ``bits`` is ``powers`` as integers."""
    for k in range(values.size):
        values[k] = max(values[k], _SMALLEST)
        powers[k] = values[k] * _LOG2E + _SHIFTER
    for k in range(values.size):
        n = powers[k] - _SHIFTER
        r = (values[k] - n * _LN2_HIGH) - n * _LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        values[k] = p * r + 1.0
    for k in range(values.size):
        bits[k] = (bits[k] << 52) + (1023 << 52)
    for k in range(values.size):
        values[k] *= powers[k]


@inner(fastmath=LOOSE)
def _arguments(profile: ExponentialProfile, sums: Array, arguments: Array, values: Array) -> None:
    """Write ``u`` of the profile, and minus ``u``."""
    factor = profile.factor
    if profile.is_root:
        for k in range(sums.size):
            arguments[k] = factor * np.sqrt(max(sums[k], 0.0))
    else:
        for k in range(sums.size):
            arguments[k] = factor * max(sums[k], 0.0)
    for k in range(sums.size):
        values[k] = -arguments[k]


@inner(fastmath=LOOSE)
def _times_polynomial(profile: ExponentialProfile, arguments: Array, values: Array) -> None:
    p0, p1, p2 = profile.p0, profile.p1, profile.p2
    for k in range(values.size):
        values[k] *= p0 + arguments[k] * (p1 + arguments[k] * p2)


@inner(fastmath=LOOSE | {"reassoc"})
def _product(values: Array, coef: Array) -> float:
    total = 0.0
    for k in range(values.size):
        total += values[k] * coef[k]
    return total


@inner()
def _bases(mixed: Mixed, sizes: Integers, base: Integers, is_equal: NDArray[np.bool_]) -> None:
    """Write the base row (q,) from which each mixed row is updated, and which rows equal it.

    The base is the last recomputed row or the preceding row, whichever differs in fewer
    columns. A recomputed row is its own base.
    """
    n_mixed, n_groups = mixed.sources.shape
    base[0], is_equal[0] = 0, False
    # The last recomputed row, the preceding row, and the number of columns.
    anchor, before, most = 0, 0, 0
    for group in range(n_groups):
        most += sizes[group]
    for number in range(1, n_mixed):
        of_anchor, of_before = 0, 0
        for group in range(n_groups):
            source = mixed.sources[number, group]
            of_anchor += sizes[group] * (source != mixed.sources[anchor, group])
            of_before += sizes[group] * (source != mixed.sources[before, group])
        base[number] = anchor if of_anchor <= of_before else before
        is_equal[number] = min(of_anchor, of_before) == 0
        if is_equal[number]:
            continue
        before = number
        # An update adds one term and subtracts one for each changed column.
        if 2 * min(of_anchor, of_before) >= most:
            base[number], anchor = number, number


class ExchangeMemory(NamedTuple):
    """Memory of :func:`add_kernel_sums`, which NumPy allocates sooner than compiled code."""

    room: Array  # (6, TILE)
    bits: Integers  # (TILE,): The last row of ``room`` as integers
    base: Integers  # (q,)
    is_equal: NDArray[np.bool_]  # (q,)

    @classmethod
    def of(cls, n_mixed: int) -> Self:
        """Allocate the memory for mixed rows."""
        room = np.empty((6, _TILE))
        bits = room[5].view(np.int64)
        return cls(room, bits, np.empty(n_mixed, np.int64), np.empty(n_mixed, np.bool_))


@compiled()
def add_kernel_sums(
    training: Training,
    profile: ExponentialProfile,
    mixed: Mixed,
    sizes: Integers,
    scratch: ExchangeMemory,
    out: Array,
) -> None:
    """Add sums (q, t) of kernel values times coefficients over the training rows.

    ``sizes`` (g,) are numbers of columns of groups; zero if the kernel does not use the group.
    """
    room, base, is_equal = scratch.room, scratch.base, scratch.is_equal
    _bases(mixed, sizes, base, is_equal)
    for start in range(0, training.coef.shape[1], _TILE):
        size = min(_TILE, training.coef.shape[1] - start)
        anchor, sums, largest = room[0, :size], room[1, :size], room[2, :size]
        arguments, values, powers = room[3, :size], room[4, :size], room[5, :size]
        bits = scratch.bits[:size]
        newest = 0
        for number in range(len(base)):
            if is_equal[number]:
                continue
            if base[number] == number:
                newest = number
                _fill(training, mixed, number, start, anchor)
            # Otherwise the base is the preceding row, whose distances are in ``sums``.
            if base[number] == newest:
                for k in range(size):
                    sums[k] = largest[k] = anchor[k]
            if base[number] != number:
                _update(training, mixed, number, base[number], start, sums)
                if training.kind == MAPPED:
                    # Updates add squared norms, so that rounding errors are relative to them.
                    for k in range(size):
                        largest[k] = max(largest[k], 2.0 * mixed.norms[number])
                if profile.is_root and _largest(sums, largest) < 0.0:
                    _renew(training, mixed, number, start, sums, largest)
            _arguments(profile, sums, arguments, values)
            _exponentials(values, powers, bits)
            if profile.p1 != 0.0:
                _times_polynomial(profile, arguments, values)
            for target in range(out.shape[1]):
                coef = training.coef[target, start : start + size]
                out[number, target] += _product(values, coef)
    for number in range(len(base)):
        if is_equal[number]:
            for target in range(out.shape[1]):
                out[number, target] = out[base[number], target]
