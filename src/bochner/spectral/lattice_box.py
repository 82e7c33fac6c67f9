"""Boxes of lags: how far a function goes, and its values on a grid, tapered towards the faces."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfcinv

from bochner._numerics.arrays import Array, as_array, row_blocks

LagFunction = Callable[[Array], Any]

_GRID = {1: 2**15, 2: 2**10, 3: 2**7}
_SEARCH = {1: (4096, 4097), 2: (96, 129), 3: (24, 33)}  # lags a side, by size and by place
_SCALES = (1e-6, 1e6)
_ROOMS = (1.0, 2.0, 4.0, 8.0)  # of the taper, in units of what it must leave alone
_NARROW = 1e-3
_HEAVY = 0.02
_LAG_BYTES = 2**8


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Values (N,) * d of a tapered function on a grid over a box centred at the lag zero.

    ``N`` is even; the first face along each axis is at ``-half_width`` (d,). ``peak`` is the
    greatest absolute value within the data's lags, and ``taper_error`` bounds the cost of the taper
    there, both in units of the function.
    """

    values: Array
    half_width: Array
    peak: float
    taper_error: float


def boxes(function: LagFunction, within: Array, bounded: bool, tol: float) -> Iterator[Box]:
    """Yield boxes of growing room between ``within`` (d,), the greatest lags, and faces.

    ``bounded`` says that lags end there, and not the function. Boxes end where values are not
    finite.

    Raises
    ------
    ValueError
        If the function is zero, or not finite in the smallest box.
    """
    kept = _narrowed(function, within, tol) if bounded else within
    for room in _ROOMS:
        reach = (1.0 + room) * kept
        half_width: Array = np.maximum(reach, 0.5 * (within + reach))
        points = [_nodes(w, _GRID[len(within)]) for w in half_width]
        values = _on_grid(function, points, lenient=room > _ROOMS[0])
        if not np.isfinite(values).all():
            return
        inside = (np.flatnonzero(np.abs(p) <= w) for p, w in zip(points, within, strict=True))
        peak = float(np.abs(values[np.ix_(*inside)]).max())
        if peak == 0.0:
            raise ValueError("The function is zero wherever it was looked at: nothing to sample.")
        for axis, (nodes, length) in enumerate(zip(points, kept, strict=True)):
            values *= _along(_taper(nodes, length, room * length, tol), axis, len(points))
        yield Box(values, half_width, peak, peak * tol * (0.05 * len(within) + _NARROW))


def decay_lengths(function: LagFunction, dim: int, tol: float) -> Array:
    """Return how far ``function`` stays above ``tol`` times its maximum, along each input.

    Raises ``ValueError`` if it does not fall off, or too slowly to be absolutely integrable.
    """
    scales = np.geomspace(*_SCALES, 2 * _SEARCH[dim][0])
    points = np.concatenate([-scales[::-1], [0.0], scales])
    # Factors of a product may overflow far from where the product is negligible.
    values = np.nan_to_num(np.abs(_on_grid(function, [points] * dim, lenient=True)), posinf=0.0)
    lengths: Array = np.array([_extent(values, points, axis, tol) for axis in range(dim)])
    for axis in range(dim):
        values *= _along(np.gradient(points), axis, dim)
    far = np.abs(points) > 0.5 * _SCALES[1]
    for axis in range(dim):
        marginal = values.sum(axis=_others(axis, dim))
        if lengths[axis] >= 0.5 * _SCALES[1] or marginal[far].sum() > _HEAVY * marginal.sum():
            raise ValueError(
                f"The function does not fall off along input {axis}, or too slowly to be "
                f"absolutely integrable, as far as lags of {_SCALES[1]:g}; give reach, the "
                f"greatest lag of the data along each input, beyond which it will be tapered."
            )
    return lengths


def evaluate(function: LagFunction, lags: Array, *, lenient: bool = False) -> Array:
    """Return the values (n,) of ``function`` at ``lags`` (n, d), block by block, checked.

    Complex values raise ``TypeError``; another shape or, unless ``lenient``, values that are not
    finite raise ``ValueError``.
    """
    values: Array = np.empty(len(lags))
    for rows in row_blocks(len(lags), _LAG_BYTES):
        values[rows] = _checked_values(function, lags[rows], lenient)
    return values


def _checked_values(function: LagFunction, lags: Array, lenient: bool) -> Array:
    quiet = np.errstate(over="ignore", invalid="ignore") if lenient else nullcontext()
    with quiet:
        values: NDArray[Any] = np.asarray(function(lags))
    if values.shape != lags.shape[:-1]:
        raise ValueError(
            f"The function must map lags of shape {lags.shape} to values of shape "
            f"{lags.shape[:-1]}, got {values.shape}; let it reduce over the last axis."
        )
    if np.iscomplexobj(values):
        raise TypeError("The function must return real values, got complex ones.")
    if not (lenient or np.isfinite(values).all()):
        lag = lags[np.argmin(np.isfinite(values))]
        raise ValueError(
            f"The function must be finite, but at the lag {lag.tolist()} it is not. It is looked "
            f"at up to twice as far as lags reach, where any smooth continuation will do."
        )
    return as_array(values)


def _on_grid(function: LagFunction, points: list[Array], *, lenient: bool = False) -> Array:
    shape = tuple(len(p) for p in points)
    values: Array = np.empty(shape)
    flat = values.reshape(-1)
    for rows in row_blocks(flat.size, _LAG_BYTES):
        index = np.unravel_index(np.arange(rows.start, rows.stop), shape)
        lags = np.stack([p[i] for p, i in zip(points, index, strict=True)], axis=1)
        flat[rows] = _checked_values(function, lags, lenient)
    return values


def _narrowed(function: LagFunction, reach: Array, tol: float) -> Array:
    """Return ``reach``, or less where the function is negligible from some shorter lag on."""
    by_size, by_place = _SEARCH[len(reach)]
    sizes = np.geomspace(2.0**-12, 1.0, by_size)
    unit = np.unique(np.concatenate([-sizes, sizes, np.linspace(-1.0, 1.0, by_place)]))
    values = np.abs(_on_grid(function, [unit * r for r in reach]))
    lengths = [_extent(values, unit * r, i, _NARROW * tol) for i, r in enumerate(reach)]
    return np.minimum(lengths, reach)


def _extent(values: Array, points: Array, axis: int, tol: float) -> float:
    """Return the first size of lags beyond which no value exceeds ``tol`` of the greatest."""
    large = values.max(axis=_others(axis, values.ndim)) > tol * values.max()
    sizes = np.abs(points)
    beyond = sizes[sizes > sizes[large].max(initial=0.0)]
    return float(beyond.min(initial=sizes.max()))


def _taper(lags: Array, kept: float, room: float, tol: float) -> Array:
    """Return a smooth step, within tol/20 of one as far as ``kept`` and of zero beyond the room."""
    steepness = float(erfcinv(0.1 * tol))
    return 0.5 * erfc(steepness * ((np.abs(lags) - kept) / (0.5 * room) - 1.0))


def _nodes(half_width: float, size: int) -> Array:
    return half_width * (2.0 * np.arange(size) / size - 1.0)


def _along(vector: Array, axis: int, dim: int) -> Array:
    return vector.reshape([-1 if i == axis else 1 for i in range(dim)])


def _others(axis: int, dim: int) -> tuple[int, ...]:
    return tuple(i for i in range(dim) if i != axis)
