"""Fourier series of functions of the lag on a box, with error estimates."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfcinv

from bochner._base.arrays import Array, as_array, row_blocks

LagFunction = Callable[[Array], Any]

# Number of grid nodes along each input, by the number of inputs.
_GRID = {1: 2**15, 2: 2**10, 3: 2**7}
_SEARCH = {1: (4096, 4097), 2: (96, 129), 3: (24, 33)}  # evaluated lags per side
_SCALES = (1e-6, 1e6)  # least and greatest lag at which decay is searched
_ROOMS = (1.0, 2.0, 4.0, 8.0)  # widths of the taper, relative to the untapered lags
_NARROW = 1e-3  # share of the tolerance that narrowing may cut off
_HEAVY = 0.02  # share of the integral in the outer half that counts as no decay
_LAG_BYTES = 2**8  # memory in bytes to evaluate one lag, for the size of blocks


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Values (N,) * d of a tapered function on a grid over a box centred at the lag zero.

    The first face is at ``-half_width`` (d,); ``taper_error`` bounds the error within the data's
    lags.
    """

    values: Array
    half_width: Array
    peak: float
    taper_error: float


def boxes(function: LagFunction, within: Array, bounded: bool, tol: float) -> Iterator[Box]:
    """Yield boxes of growing width around the greatest lags (d,), in which values are finite."""
    lengths = _narrowed(function, within, tol) if bounded else within
    for room in _ROOMS:
        reach = (1.0 + room) * lengths
        half_width: Array = np.maximum(reach, 0.5 * (within + reach))
        size = _GRID[len(within)]
        points = [w * (2.0 * np.arange(size) / size - 1.0) for w in half_width]
        values = _on_grid(function, points, lenient=room > _ROOMS[0])
        if not np.isfinite(values).all():
            return
        inside = (np.flatnonzero(np.abs(p) <= w) for p, w in zip(points, within, strict=True))
        peak = float(np.abs(values[np.ix_(*inside)]).max())
        if peak == 0.0:
            raise ValueError("The function is zero at all evaluated lags: expected another one.")
        for axis, (nodes, length) in enumerate(zip(points, lengths, strict=True)):
            taper = _taper(nodes, length, room * length, tol)
            values *= np.expand_dims(taper, _others(axis, len(points)))
        yield Box(values, half_width, peak, peak * tol * (0.05 * len(within) + _NARROW))


def decay_lengths(function: LagFunction, dim: int, tol: float) -> Array:
    """Return the lags (d,) beyond which a function is below ``tol`` times its maximum."""
    scales = np.geomspace(*_SCALES, 2 * _SEARCH[dim][0])
    points = np.concatenate([-scales[::-1], [0.0], scales])
    # Values may overflow at large lags, although the product of kernels is negligible there.
    values = np.nan_to_num(np.abs(_on_grid(function, [points] * dim, lenient=True)), posinf=0.0)
    lengths: Array = np.array([_extent(values, points, axis, tol) for axis in range(dim)])
    for axis in range(dim):
        values *= np.expand_dims(np.gradient(points), _others(axis, dim))
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


def evaluate(function: LagFunction, lags: Array) -> Array:
    """Return the function's values (n,) at ``lags`` (n, d), checked to be real and finite."""
    values: Array = np.empty(len(lags))
    for rows in row_blocks(len(lags), _LAG_BYTES):
        values[rows] = _checked_values(function, lags[rows], lenient=False)
    return values


def _checked_values(function: LagFunction, lags: Array, lenient: bool) -> Array:
    quiet = np.errstate(over="ignore", invalid="ignore") if lenient else nullcontext()
    with quiet:
        values: NDArray[np.generic] = np.asarray(function(lags))
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
            f"The function must be finite, but at the lag {lag.tolist()} it is not. It is "
            f"evaluated at up to twice the greatest lag of the data; continue it smoothly there."
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
    """Return ``reach`` (d,), shortened to the lags at which the function becomes negligible."""
    by_size, by_place = _SEARCH[len(reach)]
    sizes = np.geomspace(2.0**-12, 1.0, by_size)
    unit = np.unique(np.concatenate([-sizes, sizes, np.linspace(-1.0, 1.0, by_place)]))
    values = np.abs(_on_grid(function, [unit * r for r in reach]))
    lengths = [_extent(values, unit * r, i, _NARROW * tol) for i, r in enumerate(reach)]
    return np.minimum(lengths, reach)


def _extent(values: Array, points: Array, axis: int, tol: float) -> float:
    """Return the lag along ``axis`` beyond which values stay below ``tol`` times the greatest."""
    large = values.max(axis=_others(axis, values.ndim)) > tol * values.max()
    sizes = np.abs(points)
    beyond = sizes[sizes > sizes[large].max(initial=0.0)]
    return float(beyond.min(initial=sizes.max()))


def _taper(lags: Array, length: float, room: float, tol: float) -> Array:
    """Return a smooth step: about one up to ``length``, about zero beyond ``length + room``."""
    steepness = float(erfcinv(0.1 * tol))
    return 0.5 * erfc(steepness * ((np.abs(lags) - length) / (0.5 * room) - 1.0))


def _others(axis: int, dim: int) -> tuple[int, ...]:
    return tuple(i for i in range(dim) if i != axis)


Complex = NDArray[np.complex128]

# Number of check lags, by the number of inputs; half lie where the function is steepest.
_CHECKS = {1: 1024, 2: 1024, 3: 512}
_BAND = 0.875  # the outermost eighth of the frequencies shows the decay
_ERROR_PRICE = 5.0  # weight of the relative aliasing error in the cost of a box
_LEAST_GAIN = 0.98  # a larger box must lower the cost by 2 %


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    r"""A Fourier series :math:`\sum_n c_n \exp(i\, \omega_n \cdot \Delta)` on a lattice.

    ``coefficients`` (2 K_1 + 1, ..., 2 K_d + 1) have frequency zero in the middle; ``spacing`` (d,)
    is the distance of lattice points. Errors hold for :math:`|\Delta_i| \leq` ``reach[i]``: of grid
    and taper (``aliasing``), of omitted coefficients (``truncation``), and measured (``checked``).
    """

    coefficients: Complex
    spacing: Array
    reach: Array
    aliasing: float
    truncation: float
    checked: float
    peak: float

    @property
    def max_error(self) -> float:
        """The larger of the estimated and the observed absolute error."""
        return max(self.aliasing + self.truncation, self.checked)


def lattice_series(
    function: LagFunction, dim: int, reach: Array | None, tol: float, symmetric: bool
) -> Series:
    """Return the series of a function on a box; parameters as in ``lattice_measure``."""
    within = decay_lengths(function, dim, tol) if reach is None else reach
    box, spectrum, unpaired = _best_box(function, within, reach is not None, tol)
    aliasing = _beyond(spectrum) + box.taper_error
    if symmetric:
        spectrum = spectrum.real.astype(np.complex128)
    spectrum, dropped = _without_the_smallest(spectrum, 0.5 * tol * box.peak)
    spacing: Array = np.pi / box.half_width
    lags = _check_lags(box, within)
    exact = evaluate(function, lags)
    if symmetric:
        gap = float(np.abs(exact - evaluate(function, -lags)).max())
        if gap > 1e-6 * box.peak:
            raise ValueError(
                f"symmetric=True, but the function changes by up to {gap:.3g} as the lag changes "
                f"sign; leave symmetric=False."
            )
    checked = float(np.abs(series_values(spectrum, spacing, lags) - exact).max())
    return Series(spectrum, spacing, within, aliasing, unpaired + dropped, checked, box.peak)


def series_values(coefficients: Complex, spacing: Array, lags: Array) -> Array:
    """Return the values (n,) of a Fourier series at ``lags`` (n, d)."""
    dim = lags.shape[1]
    orders = [np.arange(size) - size // 2 for size in coefficients.shape]
    values: Array = np.empty(len(lags))
    row_bytes = 32 * max(coefficients.size // coefficients.shape[0], *coefficients.shape)
    for rows in row_blocks(len(lags), row_bytes):
        angles = (np.outer(lags[rows, i], spacing[i] * orders[i]) for i in range(dim))
        waves = [np.exp(1j * angle) for angle in angles]
        partial = np.tensordot(waves[0], coefficients, axes=1)
        for wave in waves[1:]:
            partial = np.einsum("nk,nk...->n...", wave, partial)
        values[rows] = partial.real
    return values


def _best_box(
    function: LagFunction, within: Array, bounded: bool, tol: float
) -> tuple[Box, Complex, float]:
    """Return the box of least total variation plus aliasing, with its transform."""
    best, least = None, np.inf
    for box in boxes(function, within, bounded, tol):
        spectrum, unpaired = _coefficients(box.values)
        cost = float(np.abs(spectrum).sum()) * (1.0 + _ERROR_PRICE * _beyond(spectrum) / box.peak)
        if cost < least:
            best = box, spectrum, unpaired
        if cost > _LEAST_GAIN * least:
            break
        least = cost
    assert best is not None  # `boxes` yields at least one box
    return best


def _coefficients(values: Array) -> tuple[Complex, float]:
    """Return the Fourier coefficients with an opposite, and the total size of the unpaired."""
    spectrum = np.fft.fftshift(np.fft.fftn(np.fft.ifftshift(values))) / values.size
    paired = spectrum[(slice(1, None),) * values.ndim]
    return paired, float(np.abs(spectrum).sum() - np.abs(paired).sum())


def _beyond(spectrum: Complex) -> float:
    """Return an estimate of twice the sum of coefficients beyond the grid, by its outer eighth."""
    halves = ((size // 2, int(_BAND * (size // 2))) for size in spectrum.shape)
    inner = tuple(slice(half - order, half + order + 1) for half, order in halves)
    outer = float(np.abs(spectrum).sum() - np.abs(spectrum[inner]).sum())
    return 2.0 * max(outer, 0.0) * _BAND / (1.0 - _BAND)


def _without_the_smallest(spectrum: Complex, budget: float) -> tuple[Complex, float]:
    """Drop the smallest coefficients, ``budget`` in total; return the cropped rest and the sum."""
    size = np.abs(spectrum)
    # A coefficient and its opposite are dropped together, even if rounding makes them differ.
    size = np.maximum(size, np.flip(size))
    ordered = np.sort(size, axis=None)
    count = int(np.searchsorted(np.cumsum(ordered), budget, side="right"))
    large = size >= ordered[min(count, size.size - 1)]
    middle = np.array(spectrum.shape) // 2
    order = np.abs(np.argwhere(large) - middle).max(axis=0)
    crop = tuple(slice(m - k, m + k + 1) for m, k in zip(middle, order, strict=True))
    return np.where(large, spectrum, 0.0)[crop], float(size[~large].sum())


def _check_lags(box: Box, within: Array) -> Array:
    """Return lags to measure the error at: random, of all sizes, and where values are steep."""
    dim, count = box.values.ndim, _CHECKS[box.values.ndim] // 4
    rng = np.random.default_rng(0)
    anywhere = rng.uniform(-1.0, 1.0, (count, dim)) * within
    sizes = rng.choice([-1.0, 1.0], (count, dim)) * 10.0 ** rng.uniform(-5.0, 0.0, (count, dim))
    step = 2.0 * box.half_width / np.array(box.values.shape)
    corners = np.concatenate([_steepest(box.values, axis, count) for axis in range(dim)])
    corners = rng.permutation(corners)[: 2 * count]
    # Near a jump the error is greatest close to a node.
    steep = (corners + rng.beta(0.1, 0.1, corners.shape)) * step - box.half_width
    return np.concatenate([anywhere, sizes * within, np.clip(steep, -within, within)])


def _steepest(values: Array, axis: int, count: int) -> Array:
    """Return the indices, of shape (count, d), of the greatest changes along an axis."""
    change = np.abs(np.diff(values, axis=axis))
    top = np.argpartition(change, -count, axis=None)[-count:]
    return np.stack(np.unravel_index(top, change.shape), axis=1)
