"""Fourier series of functions of the lag on a box, with estimates of how far off they are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, row_blocks
from bochner.spectral.lattice_box import Box, LagFunction, boxes, decay_lengths, evaluate

Complex = NDArray[np.complex128]

_CHECKS = {1: 1024, 2: 1024, 3: 512}
_BAND = 0.875  # of the highest frequency along an input
_ERROR_PRICE = 5.0
_LEAST_GAIN = 0.98


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    r"""A trigonometric sum :math:`\sum_n c_n \exp(i\, \omega_n \cdot \Delta)` on a lattice.

    The ``coefficients`` :math:`c_n`, complex, of shape (2 K_1 + 1, ..., 2 K_d + 1), have that of
    frequency zero in the middle, and ``c[-n]`` is the conjugate of ``c[n]``; ``spacing`` (d,) is
    that of the lattice. The errors hold for :math:`|\Delta_i| \leq` ``reach[i]``, in units of the
    function: of grid and taper (``aliasing``), of coefficients left out (``truncation``), and the
    greatest that was seen (``checked``). ``peak`` is the greatest absolute value within reach.
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
        """The larger of the estimated and the observed error."""
        return max(self.aliasing + self.truncation, self.checked)


def lattice_series(
    function: LagFunction, dim: int, reach: Array | None, tol: float, symmetric: bool
) -> Series:
    """Return the series of ``function`` on a box, by the fast Fourier transform.

    See :func:`~bochner.spectral.lattice.lattice_measure`, also for the errors raised.
    """
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
        _check_symmetry(exact, evaluate(function, -lags), box.peak)
    checked = float(np.abs(series_values(spectrum, spacing, lags) - exact).max())
    return Series(spectrum, spacing, within, aliasing, unpaired + dropped, checked, box.peak)


def series_values(coefficients: Complex, spacing: Array, lags: Array) -> Array:
    """Return the values of a series at ``lags`` of shape (n, d), of shape (n,)."""
    dim = lags.shape[1]
    orders = [np.arange(size) - size // 2 for size in coefficients.shape]
    values: Array = np.empty(len(lags))
    row_bytes = 32 * max(coefficients.size // coefficients.shape[0], *coefficients.shape)
    for rows in row_blocks(len(lags), row_bytes):
        waves = [
            np.exp(1j * np.multiply.outer(lags[rows, i], spacing[i] * orders[i]))
            for i in range(dim)
        ]
        partial = np.tensordot(waves[0], coefficients, axes=1)
        for wave in waves[1:]:
            partial = np.einsum("nk,nk...->n...", wave, partial)
        values[rows] = partial.real
    return values


def _best_box(
    function: LagFunction, within: Array, bounded: bool, tol: float
) -> tuple[Box, Complex, float]:
    """Return the box of the least total variation and aliasing, and what it transforms to.

    A function cut short by the taper has a total variation above its own, the more so the less
    room the taper has; more room costs resolution.
    """
    best, least = None, np.inf
    for box in boxes(function, within, bounded, tol):
        spectrum, unpaired = _coefficients(box.values)
        cost = float(np.abs(spectrum).sum()) * (1.0 + _ERROR_PRICE * _beyond(spectrum) / box.peak)
        if cost < least:
            best = box, spectrum, unpaired
        if cost > _LEAST_GAIN * least:
            break
        least = cost
    assert best is not None  # the smallest box is always there
    return best


def _coefficients(values: Array) -> tuple[Complex, float]:
    """Return the coefficients that come in pairs, and the sum of the others' sizes."""
    spectrum = np.fft.fftshift(np.fft.fftn(np.fft.ifftshift(values))) / values.size
    paired = spectrum[(slice(1, None),) * values.ndim]
    return paired, float(np.abs(spectrum).sum() - np.abs(paired).sum())


def _beyond(spectrum: Complex) -> float:
    r"""Return an estimate of twice the sum of all coefficients that the grid does not resolve.

    Those enter as others and are missing as themselves. The sum over the outermost eighth of the
    frequencies along an input, where coefficients fall like :math:`n^{-2}`, as those of a kink do,
    is a seventh of the sum beyond; where they fall faster it is more.
    """
    inner = tuple(
        slice(size // 2 - order, size // 2 + order + 1)
        for size in spectrum.shape
        for order in [int(_BAND * (size // 2))]
    )
    outer = float(np.abs(spectrum).sum() - np.abs(spectrum[inner]).sum())
    return 2.0 * max(outer, 0.0) * _BAND / (1.0 - _BAND)


def _without_the_smallest(spectrum: Complex, budget: float) -> tuple[Complex, float]:
    """Return the spectrum without its smallest coefficients, cropped, and their total size."""
    size = np.abs(spectrum)
    # Both of a pair stay or go, although rounding lets their sizes differ.
    size = np.maximum(size, np.flip(size))
    ordered = np.sort(size, axis=None)
    count = int(np.searchsorted(np.cumsum(ordered), budget, side="right"))
    large = size >= ordered[min(count, size.size - 1)]
    middle = np.array(spectrum.shape) // 2
    order = np.abs(np.argwhere(large) - middle).max(axis=0)
    crop = tuple(slice(m - k, m + k + 1) for m, k in zip(middle, order, strict=True))
    return np.where(large, spectrum, 0.0)[crop], float(size[~large].sum())


def _check_lags(box: Box, within: Array) -> Array:
    """Return lags of the data: anywhere, of all sizes, and where the function changes most."""
    dim, count = box.values.ndim, _CHECKS[box.values.ndim] // 4
    rng = np.random.default_rng(0)
    anywhere = rng.uniform(-1.0, 1.0, (count, dim)) * within
    sizes = rng.choice([-1.0, 1.0], (count, dim)) * 10.0 ** rng.uniform(-5.0, 0.0, (count, dim))
    step = 2.0 * box.half_width / np.array(box.values.shape)
    corners = np.concatenate([_steepest(box.values, axis, count) for axis in range(dim)])
    corners = rng.permutation(corners)[: 2 * count]
    # Beside a jump the error is greatest where a node is nearest.
    steep = (corners + rng.beta(0.1, 0.1, corners.shape)) * step - box.half_width
    return np.concatenate([anywhere, sizes * within, np.clip(steep, -within, within)])


def _steepest(values: Array, axis: int, count: int) -> Array:
    """Return the indices, of shape (count, d), of the greatest changes along an axis."""
    change = np.abs(np.diff(values, axis=axis))
    top = np.argpartition(change, -count, axis=None)[-count:]
    return np.stack(np.unravel_index(top, change.shape), axis=1)


def _check_symmetry(values: Array, opposite: Array, peak: float) -> None:
    gap = float(np.abs(values - opposite).max())
    if gap > 1e-6 * peak:
        raise ValueError(
            f"symmetric=True, but the function changes by up to {gap:.3g} as the lag changes "
            f"sign; leave symmetric=False."
        )
