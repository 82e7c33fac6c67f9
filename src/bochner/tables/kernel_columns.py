"""Kernels on encoded columns as compiled loops compute them: numbers, and codes of levels."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from bochner._base.arrays import Array, Floats, as_array
from bochner.kernels import Exponential, Gaussian, Kernel, Laplacian, Matern
from bochner.tables.kernel_loops import Codes, Columns, level_codes
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import Chosen

_ROUNDING = 2.0**-24
"""Relative rounding error of single precision."""

_MOST_ROUNDED = 6e-5
"""Largest estimated rounding error of a mean in single precision, relative to the deviation of the
noise: errors were up to sixteen times the estimate, 1e-3 of the noise."""

_LARGEST_ARGUMENTS = {4: 38.0, 8: 80.0}
"""Argument of a profile up to which values fall, by the bytes of a number: they are negligible
there, and products of two are normal. Subnormal numbers take a hundred times as long."""

_MOST_LEVELS = 2**16
"""Largest number of levels of a block: their codes have two bytes."""


class Blocks(NamedTuple):
    """Blocks of one-hot columns, and the codes of the training rows' levels in each block."""

    starts: Chosen  # (b,)
    widths: Chosen  # (b,)
    codes: Codes  # (n, b)
    twin: Chosen  # (b,): First block with the same levels in all rows, such as another encoding

    @classmethod
    def of(cls, rows: Array, starts: Chosen, widths: Chosen) -> "Blocks":
        """Return the blocks, from first columns and widths, that are one-hot in all rows (n, d)."""
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
        """Return level codes (n', b) of new rows; ``None`` unless one-hot, with equal twins."""
        # Twins share level codes in training rows; the codes must agree in new rows, too.
        codes = _codes(X, self.starts, self.widths)
        if codes is None or not np.array_equal(codes, codes[:, self.twin]):
            return None
        return codes


def _codes(X: Array, starts: Chosen, widths: Chosen) -> Codes | None:
    codes = np.zeros((len(X), len(starts)), dtype=np.uint16)
    return codes if level_codes(np.ascontiguousarray(X), starts, widths, codes) else None


class ExponentialProfile(NamedTuple):
    """A kernel as a function of a distance: (p0 + p1 u + p2 u²) exp(-u)."""

    factor: float  # u = factor * distance, or its square root
    is_root: bool
    p0: float = 1.0
    p1: float = 0.0
    p2: float = 0.0


def profile_of(kernel: Kernel) -> ExponentialProfile | None:
    """Return a kernel as a function of its distance, ``None`` if it has no closed form."""
    if isinstance(kernel, Laplacian | Gaussian):
        return ExponentialProfile(1.0 if isinstance(kernel, Laplacian) else 0.5, is_root=False)
    if isinstance(kernel, Exponential):
        return ExponentialProfile(1.0, is_root=True)
    if isinstance(kernel, Matern) and kernel.nu in (0.5, 1.5, 2.5):
        p1, p2 = float(kernel.nu > 0.5), (kernel.nu > 1.5) / 3.0
        return ExponentialProfile(float(np.sqrt(2.0 * kernel.nu)), True, p1=p1, p2=p2)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class LoopedKernel:
    """A kernel of some encoded columns, split into numbers and blocks of levels."""

    learned: LearnedKernel
    columns: Chosen  # (d',): Indices of the encoded columns
    profile: ExponentialProfile
    singles: Chosen  # (c,): Positions of the numeric columns among the kernel's columns
    used: Chosen  # (b,): Indices of the blocks of levels
    steps: Array  # (b,): Distance of two levels of each block

    @classmethod
    def of(
        cls, learned: LearnedKernel, columns: Chosen, dim: int, blocks: Blocks
    ) -> "LoopedKernel | None":
        """Prepare a kernel on rows of ``dim`` encoded columns; None if it has no closed form."""
        profile = profile_of(learned.kernel)
        if profile is None:
            return None
        place = np.full(dim, -1)
        place[columns] = np.arange(len(columns))
        scales = np.broadcast_to(as_array(learned.kernel.length_scale), len(columns))
        steps: dict[int, float] = {}  # Columns by block index
        is_single = np.ones(len(columns), dtype=bool)
        # Two levels of a block have a constant distance only if its columns share a length scale.
        for number, (start, width) in enumerate(zip(blocks.starts, blocks.widths, strict=True)):
            positions = place[start : start + width]
            if learned.matrix is not None or positions.min() < 0 or np.ptp(scales[positions]):
                continue
            is_single[positions] = False
            scale, twin = float(scales[positions[0]]), int(blocks.twin[number])
            step = 2.0 / scale if isinstance(learned.kernel, Laplacian) else 2.0 / scale**2
            steps[twin] = steps.get(twin, 0.0) + step
        used = np.array(list(steps), dtype=np.int64)
        singles = np.flatnonzero(is_single)
        return cls(learned, columns, profile, singles, used, np.array(list(steps.values())))

    def rows(self, X: Array, codes: Codes, dtype: DTypeLike) -> Columns:
        """Return training rows (n, d) with level codes (n, b) as columns for compiled loops."""
        is_absolute = isinstance(self.learned.kernel, Laplacian)
        of_levels = np.ascontiguousarray(codes[:, self.used].T)
        numbers = np.array(self._numbers(X).T, dtype, order="C")
        return Columns(is_absolute, numbers, of_levels, self.steps.astype(dtype))

    def arguments(
        self, X: Array, levels: Codes, dtype: DTypeLike
    ) -> tuple[bool, Floats, Floats, Codes]:
        """Return the profile and new rows in the types and precision of the compiled loops."""
        profile = self.profile
        most = _LARGEST_ARGUMENTS[np.dtype(dtype).itemsize]
        numbers = np.array((profile.factor, profile.p0, profile.p1, profile.p2, most), dtype)
        rows = np.array(self._numbers(X), dtype, order="C")
        return profile.is_root, numbers, rows, np.ascontiguousarray(levels[:, self.used])

    def _numbers(self, X: Array) -> Array:
        """Return the numeric columns (n, c) of rows after the linear map, over length scales."""
        images, matrix = X[:, self.columns], self.learned.matrix
        images = images if matrix is None else images @ matrix
        scaled: Array = images / as_array(self.learned.kernel.length_scale)
        return scaled[:, self.singles]


def suffices_single(coef: Array, noise: Array) -> bool:
    """Return whether rounding of sums times ``coef`` (n, t) is small next to the noise (t,)."""
    size = _ROUNDING * np.linalg.norm(coef, axis=0)
    return bool((size <= _MOST_ROUNDED * noise).all())
