"""Laws prepared for new rows: kernel values by compiled loops, in float32 if it suffices."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from bochner._numerics.arrays import Array, Floats, as_array
from bochner.kernels import Exponential, Gaussian, Kernel, Laplacian, Matern
from bochner.learning.tables.kernel_laws import KernelLaw
from bochner.learning.tables.kernel_loops import (
    Codes,
    Columns,
    add_kernel_products,
    level_codes,
    scratch_of,
)
from bochner.learning.tables.rows import Chosen

_ROUNDING = 2.0**-24
"""Relative rounding error of single precision."""

_MOST_ROUNDED = 6e-5
"""Largest estimated rounding error of a mean in single precision, relative to the standard
deviation of the noise. The estimate is 2^-24 times the norm of the coefficients. On six tables
errors were up to sixteen times the estimate: 1e-3 of the noise."""

_LEAST_SINGLE_ROWS = 2000
"""Rows of a law from which kernel values are computed in single precision. For fewer rows it saves
less than ten microseconds a prediction, and both precisions would be compiled at the first fit."""

_MOST_LEVELS = 2**16
"""Most levels of a block, whose numbers have two bytes."""


class Blocks(NamedTuple):
    """Blocks of one-hot columns, and the codes of the training rows' levels in each block."""

    starts: Chosen  # (b,)
    widths: Chosen  # (b,)
    codes: Codes  # (n, b)
    twin: Chosen  # (b,): First block with the same levels in all rows, such as another encoding

    @classmethod
    def of(cls, rows: Array, starts: Chosen, widths: Chosen) -> "Blocks":
        """Return the candidate blocks that are one-hot encoded in all rows (n, d)."""
        chosen = [
            number
            for number, (start, width) in enumerate(zip(starts, widths, strict=True))
            if 0 < width <= _MOST_LEVELS
            and 0 <= start <= rows.shape[1] - width
            and _codes(rows, starts[[number]], widths[[number]]) is not None
        ]
        starts, widths = starts[chosen], widths[chosen]
        codes = _codes(rows, starts, widths)
        assert codes is not None  # Each chosen block is one-hot
        first = np.unique(codes, axis=1, return_index=True, return_inverse=True)
        return cls(starts, widths, codes, first[1][np.ravel(first[2])] if len(starts) else starts)

    def levels(self, X: Array) -> Codes | None:
        """Return the levels (n', b) of new rows, or ``None`` if a block of some row is not one-hot.

        The result is ``None``, too, if blocks with equal levels in all training rows differ here.
        """
        # Twins share the codes of the training rows, which must hold for new rows, too.
        codes = _codes(X, self.starts, self.widths)
        if codes is None or not np.array_equal(codes, codes[:, self.twin]):
            return None
        return codes


def _codes(X: Array, starts: Chosen, widths: Chosen) -> Codes | None:
    codes = np.zeros((len(X), len(starts)), dtype=np.uint16)
    return codes if level_codes(np.ascontiguousarray(X), starts, widths, codes) else None


class ExponentialProfile(NamedTuple):
    """A kernel as a function of a distance: (p0 + p1 u + p2 u²) exp(-u)."""

    factor: float  # u is the distance times the factor, or its root
    is_root: bool
    p0: float
    p1: float
    p2: float


def profile_of(kernel: Kernel) -> ExponentialProfile | None:
    """Return a kernel as a function of its distance, ``None`` if it has no closed form."""
    if isinstance(kernel, Laplacian):
        return ExponentialProfile(1.0, False, 1.0, 0.0, 0.0)
    if isinstance(kernel, Gaussian):
        return ExponentialProfile(0.5, False, 1.0, 0.0, 0.0)
    if isinstance(kernel, Exponential):
        return ExponentialProfile(1.0, True, 1.0, 0.0, 0.0)
    if isinstance(kernel, Matern) and kernel.nu in (0.5, 1.5, 2.5):
        factor = float(np.sqrt(2.0 * kernel.nu))
        return ExponentialProfile(
            factor, True, 1.0, float(kernel.nu > 0.5), (kernel.nu > 1.5) / 3.0
        )
    return None


@dataclass(frozen=True, slots=True, eq=False)
class KernelSums:
    """A law whose training rows are stored as columns of numbers and of codes of levels."""

    law: KernelLaw
    profile: ExponentialProfile
    singles: Chosen  # (c,): Positions of the numeric columns among the law's columns
    used: Chosen  # (b,): Indices of the blocks of levels
    of_means: Columns
    of_variances: Columns  # Of the first rows
    factor: Floats  # The law's, in the precision of the kernel values

    @classmethod
    def of(cls, law: KernelLaw, rows: Array, blocks: Blocks) -> "KernelSums | None":
        """Return the sums of a law given its rows (n, d), if the kernel has a closed form."""
        profile = profile_of(law.found.kernel)
        if profile is None:
            return None
        place = np.full(rows.shape[1], -1)
        place[law.columns] = np.arange(len(law.columns))
        scales = np.broadcast_to(as_array(law.found.kernel.length_scale), len(law.columns))
        is_absolute = isinstance(law.found.kernel, Laplacian)
        steps: dict[int, float] = {}  # By the number of the block
        is_single = np.ones(len(law.columns), dtype=bool)
        # Two levels of a block have a constant distance only if its columns share a length scale.
        for number, (start, width) in enumerate(zip(blocks.starts, blocks.widths, strict=True)):
            positions = place[start : start + width]
            if law.found.matrix is not None or positions.min() < 0 or np.ptp(scales[positions]):
                continue
            is_single[positions] = False
            scale, twin = float(scales[positions[0]]), int(blocks.twin[number])
            step = 2.0 / scale if is_absolute else 2.0 / scale**2
            steps[twin] = steps.get(twin, 0.0) + step
        singles, chosen = np.flatnonzero(is_single), np.array(list(steps), dtype=np.int64)

        def columns(n_rows: int, dtype: DTypeLike) -> Columns:
            images = _images(law, rows[:n_rows])[:, singles]
            codes = np.ascontiguousarray(blocks.codes[:n_rows, chosen].T)
            of_levels = np.array(list(steps.values()), dtype=dtype)
            return Columns(is_absolute, np.array(images.T, dtype, order="C"), codes, of_levels)

        single: DTypeLike = np.float64 if len(law.coef) < _LEAST_SINGLE_ROWS else np.float32
        means = columns(len(law.coef), single if _is_single(law) else np.float64)
        factor = law.factor.astype(np.result_type(law.factor, single), copy=False)
        variances = columns(len(factor), factor.dtype)
        return cls(law, profile, singles, chosen, means, variances, factor)

    def mean(self, X: Array, levels: Codes) -> Array:
        """Return means (n', t) of encoded rows (n', d) with their levels of all blocks."""
        means = np.zeros((len(X), self.law.coef.shape[1]))
        arguments = self._loop_arguments(X, levels, self.of_means)
        dtype = arguments[2].dtype
        coef, memory = np.array(self.law.coef.T, dtype, order="C"), scratch_of(dtype)
        add_kernel_products(
            self.of_means, *arguments, coef, *memory, means, np.empty((len(X), 0), dtype)
        )
        return means

    def latent(self, X: Array, levels: Codes) -> Array:
        """Return variances (n',) of the function, relative to the signal's."""
        factor = self.factor
        dtype, n_landmarks = factor.dtype, len(factor)
        values, none = np.empty((len(X), n_landmarks), dtype), np.empty((0, n_landmarks), dtype)
        arguments = self._loop_arguments(X, levels, self.of_variances)
        means = np.empty((len(X), 0))
        add_kernel_products(self.of_variances, *arguments, none, *scratch_of(dtype), means, values)
        # Squares are summed in float64: the variance is a small difference from one.
        explained = np.sum((values @ factor) ** 2, axis=1, dtype=np.float64)
        return np.maximum(1.0 - explained, 0.0)

    def variance(self, X: Array, levels: Codes, weight: Array) -> Array:
        """Return variances (n', t) of new targets with a noise of ``weight`` (n',)."""
        noise = self.law.found.alpha / weight
        return as_array(self.law.signal * (noise + self.latent(X, levels))[:, None])

    def _loop_arguments(
        self, X: Array, levels: Codes, columns: Columns
    ) -> tuple[bool, Floats, Floats, Codes]:
        """Return the profile and the new rows in the types and precision of the compiled loops."""
        dtype, profile = columns.values.dtype, self.profile
        numbers = (profile.factor, profile.p0, profile.p1, profile.p2)
        images = np.array(_images(self.law, X)[:, self.singles], dtype, order="C")
        chosen = np.ascontiguousarray(levels[:, self.used])
        return profile.is_root, np.array(numbers, dtype), images, chosen


def _images(law: KernelLaw, X: Array) -> Array:
    """Return the images (n, d') of rows in length scales."""
    return as_array(law.found.mapped(X[:, law.columns]) / as_array(law.found.kernel.length_scale))


def _is_single(law: KernelLaw) -> bool:
    """Return whether single precision suffices for means: rounding is small next to the noise."""
    noise = np.sqrt(law.found.alpha * as_array(law.signal))
    size = _ROUNDING * np.linalg.norm(law.coef, axis=0)
    return bool((size <= _MOST_ROUNDED * noise).all())
