"""Kernels on encoded columns, and their fits to many rows on landmarks."""

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.linalg import cho_solve, lapack

from bochner._base.arrays import Array, Floats, as_array, jittered_cholesky, row_blocks, steps
from bochner._base.threads import in_order, single_threaded_blas
from bochner.kernels import Exponential, Gaussian, Kernel, Laplacian, Matern
from bochner.tables.kernel_loops import (
    Codes,
    Columns,
    add_kernel_products,
    add_residual_products,
    level_codes,
    scratch_of,
)
from bochner.tables.leave_one_out import LEAST_SINGLE, LearnedKernel, add_products_of_rows
from bochner.tables.observations import Chosen, Elsewhere, Rows
from bochner.tables.trees import TreeInputs, none

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
        ends = np.column_stack([end(axis=1, initial=0.0) for end in (numbers.min, numbers.max)])
        return Columns(is_absolute, numbers, ends, of_levels, self.steps.astype(dtype))

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
        matrix, scales = self.learned.matrix, as_array(self.learned.kernel.length_scale)
        if matrix is None:
            scales = np.broadcast_to(scales, len(self.columns))
            return as_array(X[:, self.columns[self.singles]] / scales[self.singles])
        return as_array((X[:, self.columns] @ matrix / scales)[:, self.singles])


def suffices_single(coef: Array, noise: Array) -> bool:
    """Return whether rounding of sums times ``coef`` (n, t) is small next to the noise (t,)."""
    size = _ROUNDING * np.linalg.norm(coef, axis=0)
    return bool((size <= _MOST_ROUNDED * noise).all())


_SAMPLED = 25
"""Rows of the sample per landmark: each step of conjugate gradients divides the error by five."""

_FEWEST_SAMPLES, _FEWEST_ROWS = 2, 100_000
"""Fewest rows that are solved by passes, in samples and in total: passes take two thirds of the
time of products, which for fewer rows take less than compilation."""

_TOLERANCE = 0.01
"""Error of the function over that of residuals, at which iterations end: 1e-4 of new errors."""

_DOUBLE_SUMS = 16.0
"""Factor of the noise to which rounding of kernel values is compared, as their sums are in double
precision: functions then differ by 2e-4 of the noise."""

_MOST_STEPS = 12
"""Most conjugate gradient steps: three suffice, unless the sample is unlike the latest rows."""

_ROWS_OF_A_BLOCK = 4096
"""Rows of a thread, in some tenths of a second; fixed, as other blocks are rounded otherwise."""

_TILE = 2048
"""Landmarks whose distances are summed together: with shorter tiles slices cost a quarter more."""

_ROWS_OF_A_TILE = 16
"""Rows whose kernel values at a tile of landmarks stay in the second cache."""

_ROWS_OF_PRODUCTS = 1024
"""Rows of the sample whose kernel values are in memory together: 33 MB for 4,000 landmarks."""


def sampled_rows(n_landmarks: ArrayLike) -> Array:
    """Return the size of the sample of rows that estimates the matrix of the coefficients."""
    return _SAMPLED * as_array(n_landmarks)


def has_passes(n_rows: int, n_landmarks: int) -> bool:
    """Return whether passes over the rows take less time than matrix products."""
    return n_rows >= max(_FEWEST_SAMPLES * _SAMPLED * n_landmarks, _FEWEST_ROWS)


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkSolution:
    """Coefficients of landmarks, and the matrices of their posterior."""

    coef: Array  # (m, t)
    lower: Array  # (m, m): Cholesky factor of the matrix of the coefficients, perhaps estimated
    of_variance: Array  # (v, v): Sums of products of kernel values at the first landmarks


@dataclass(frozen=True, slots=True, eq=False)
class _Passes:
    """Kernel values of rows at landmarks, computed anew in every pass."""

    kernel: LoopedKernel
    levels: Codes  # (n, b): Level codes of the rows
    rows: Rows  # With all encoded columns
    landmarks: Array  # (m, d)
    n_threads: int

    @classmethod
    def of(
        cls, learned: LearnedKernel, columns: Chosen, rows: Rows, landmarks: Array, n_threads: int
    ) -> "_Passes | None":
        """Return the passes, or ``None`` for a kernel without compiled loops."""
        dim = rows.X.shape[1]
        inputs = TreeInputs.of(np.arange(dim), rows.shared)
        blocks = Blocks.of(landmarks, inputs.starts, inputs.widths)
        if (levels := blocks.levels(rows.X)) is None:  # Levels of the landmarks differ elsewhere
            blocks, levels = (
                Blocks.of(landmarks, none(), none()),
                np.zeros((len(rows), 0), np.uint16),
            )
        kernel = LoopedKernel.of(learned, columns, dim, blocks)
        return None if kernel is None else cls(kernel, levels, rows, landmarks, n_threads)

    def columns(self, dtype: DTypeLike) -> Columns:
        """Return the landmarks for compiled loops."""
        # The landmarks are the first rows.
        return self.kernel.rows(self.landmarks, self.levels[: len(self.landmarks)], dtype)

    def sampled(self, n_rows: int, dtype: DTypeLike) -> tuple[Array, Array, Array]:
        """Estimate ``K^T W K`` (m, m), ``K^T W Y`` and squares (t,) of ``Y`` from some rows."""
        m, rows = len(self.landmarks), self.rows
        inner, cross = np.zeros((m, m), order="F"), np.zeros((m, rows.Y.shape[1]))
        squares = np.zeros(rows.Y.shape[1])
        share = (len(rows) - m) / (n_rows - m)
        columns = self.columns(dtype)
        parts = [(part, 1.0) for part in steps(m, _ROWS_OF_PRODUCTS)]
        parts += [
            (slice(m + part.start, m + part.stop), share)
            for part in steps(n_rows - m, _ROWS_OF_PRODUCTS)
        ]

        def values(entry: tuple[slice, float]) -> Array:
            part, _ = entry
            X = rows.X[part]
            arguments = self.kernel.arguments(X, self.levels[part], dtype)
            out, no_coef = np.empty((len(X), m), dtype), np.empty((0, m), dtype)
            memory = scratch_of(dtype, _TILE), np.empty((len(X), 0))
            add_kernel_products(columns, *arguments, no_coef, *memory, out, False)
            return out * np.sqrt(rows.weights[part, None])

        for (part, factor), K in in_order(values, parts, self.n_threads):
            add_products_of_rows(inner, K.T, factor)
            Y = np.sqrt(rows.weights[part, None]) * rows.Y[part]
            cross += factor * (K.T @ Y)
            squares += factor * np.sum(Y**2, axis=0)
        return inner, cross, squares

    def residual_products(
        self, coef: Array, targets: Array | None, dtype: DTypeLike
    ) -> tuple[Array, Array]:
        """Return ``K^T W (Y - K c)`` (m, t) and weighted sums of squares (t,) of ``Y - K c``."""
        m, rows, n_columns = len(self.landmarks), self.rows, coef.shape[1]
        columns, by_target = self.columns(dtype), np.array(coef.T, order="C")

        def part(block: slice) -> tuple[Array, Array]:
            X = rows.X[block]
            arguments = self.kernel.arguments(X, self.levels[block], dtype)
            Y = np.zeros((len(X), n_columns)) if targets is None else targets[block]
            observed = rows.weights[block], np.ascontiguousarray(Y)
            memory = scratch_of(dtype, _TILE), np.empty((_ROWS_OF_A_TILE, m), dtype)
            sums = np.zeros((n_columns, m)), np.zeros(n_columns)
            add_residual_products(columns, *arguments, by_target, *observed, *memory, *sums)
            return sums

        products, squares = np.zeros((n_columns, m)), np.zeros(n_columns)
        blocks = list(steps(len(rows), _ROWS_OF_A_BLOCK))
        with single_threaded_blas():
            for _, (of_products, of_squares) in in_order(part, blocks, self.n_threads):
                products += of_products
                squares += of_squares
        return products.T, squares


def solved_by_passes(
    learned: LearnedKernel,
    columns: Chosen,
    rows: Rows,
    sizes: tuple[int, int],
    n_threads: int,
    end: float = np.inf,
) -> LandmarkSolution | None:
    """Solve by passes over rows until ``end``; ``None`` for few rows or kernels without loops."""
    n_landmarks, n_of_variance = sizes
    if not has_passes(len(rows), max(sizes)):
        return None
    passes = _Passes.of(learned, columns, rows, rows.X[: max(sizes)], n_threads)
    if passes is None:
        return None
    dtype: DTypeLike = np.float32 if learned.alpha >= LEAST_SINGLE else np.float64
    inner, cross, squares = passes.sampled(int(sampled_rows(max(sizes))), dtype)
    of_variance = np.tril(inner[:n_of_variance, :n_of_variance])
    of_variance += np.tril(of_variance, -1).T
    passes = _Passes.of(learned, columns, rows, rows.X[:n_landmarks], n_threads)
    assert passes is not None
    inner, cross = inner[:n_landmarks, :n_landmarks], cross[:n_landmarks]
    landmarks = passes.landmarks[:, columns]
    prior = learned.alpha * learned(landmarks, landmarks)
    # The transpose, whose upper triangle is filled.
    inner += prior
    lower = jittered_cholesky(inner.T)
    del inner
    coef = cho_solve((lower, True), cross)
    # Excludes the constant target, which has hardly any noise.
    noise = np.sqrt(np.maximum(squares - np.sum(coef * cross, axis=0), 0.0) / len(rows))[:-1]
    if not suffices_single(coef[:, :-1], _DOUBLE_SUMS * noise):
        dtype = np.float64
    coef = _descended(coef, passes, prior, lower, dtype, end)
    return LandmarkSolution(coef, lower, of_variance)


def _descended(
    coef: Array, passes: _Passes, prior: Array, lower: Array, dtype: DTypeLike, end: float
) -> Array:
    """Return the coefficients (m, t) after conjugate gradient steps, separately for each target."""
    solve, began = partial(cho_solve, (lower, True)), perf_counter()
    products, squares = passes.residual_products(coef, passes.rows.Y, dtype)
    residuals = products - prior @ coef
    coef, direction = coef.copy(), np.zeros_like(coef)
    before, seconds = np.ones(coef.shape[1]), perf_counter() - began  # Of one pass over the rows
    for step in range(_MOST_STEPS):
        scaled = solve(residuals)
        # Approximates the weighted squared error of the function at the rows.
        remaining = np.sum(residuals * scaled, axis=0)
        is_late = perf_counter() + seconds > end
        if is_late or (remaining <= _TOLERANCE**2 * squares)[:-1].all():
            break
        direction = scaled + direction * (remaining / before if step else 0.0)
        before = np.where(remaining > 0.0, remaining, 1.0)
        change = prior @ direction - passes.residual_products(direction, None, dtype)[0]
        curvature = np.sum(direction * change, axis=0)
        length = remaining / np.where(curvature > 0.0, curvature, np.inf)
        coef += length * direction
        residuals -= length * change
    return coef


BLOCK_BYTES = 2**25
"""Bytes of a block of kernel values. Each thread holds two blocks; larger blocks are not faster."""


def solved_by_products(
    learned: LearnedKernel,
    columns: Chosen,
    rows: Rows,
    sizes: tuple[int, int],
    n_threads: int,
    elsewhere: Elsewhere | None,
) -> LandmarkSolution:
    """Solve for the coefficients by products of all kernel values; the last target is 1."""
    inputs, (n_landmarks, n_of_variance) = rows.columns(columns), sizes
    landmarks = inputs.X[: max(sizes)]
    inner, cross = summed_products(learned, inputs, landmarks, n_threads)
    if elsewhere is not None:
        total = elsewhere(partial(packed_products, learned, columns, landmarks))
        for sums, more in zip(
            (inner, cross), unpacked_products(total, len(landmarks)), strict=True
        ):
            sums += more
    # Copied before the noise is added in place.
    of_variance = inner[:n_of_variance, :n_of_variance].copy()
    inner, landmarks = inner[:n_landmarks, :n_landmarks], landmarks[:n_landmarks]
    inner += learned.alpha * learned(landmarks, landmarks)
    lower = jittered_cholesky(inner)
    return LandmarkSolution(cho_solve((lower, True), cross[:n_landmarks]), lower, of_variance)


def summed_products(
    kernel: LearnedKernel, rows: Rows, landmarks: Array, n_threads: int
) -> tuple[Array, Array]:
    """Return ``k(Z, X) W k(X, Z)`` (m, m) and ``k(Z, X) W Y`` (m, t) for landmarks ``Z``."""
    width = len(landmarks)
    inner, cross = np.zeros((width, width)), np.zeros((width, rows.Y.shape[1]))

    def values(block: slice) -> Array:
        return kernel(rows.X[block], landmarks) * np.sqrt(rows.weights[block, None])

    blocks = list(row_blocks(len(rows), 8 * width, block_bytes=BLOCK_BYTES))
    for block, K in in_order(values, blocks, n_threads):
        inner += K.T @ K
        cross += K.T @ (np.sqrt(rows.weights[block, None]) * rows.Y[block])
    return inner, cross


def packed_products(learned: LearnedKernel, columns: Chosen, landmarks: Array, rows: Rows) -> Array:
    """Return :func:`summed_products` packed into one array, without the lower triangle."""
    rows = replace(rows.columns(columns), Y=np.column_stack((rows.Y, np.ones(len(rows)))))
    inner, cross = summed_products(learned, rows, landmarks, 1)
    packed, _ = lapack.dtrttp(inner, uplo="U")
    return np.concatenate((packed, cross.ravel()))


def unpacked_products(packed: Array, width: int) -> tuple[Array, Array]:
    """Unpack the two matrices of :func:`packed_products` for ``width`` landmarks."""
    n_triangle = width * (width + 1) // 2
    upper, _ = lapack.dtpttr(width, packed[:n_triangle], uplo="U")
    # The packed triangle, mirrored.
    inner = np.triu(upper)
    inner += np.triu(upper, 1).T
    return inner, packed[n_triangle:].reshape(width, -1)
