"""Posterior means on landmarks from products of the kernel values of all rows."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import cho_solve, lapack

from bochner._base.arrays import Array, row_blocks
from bochner._base.linalg import jittered_cholesky
from bochner._base.threads import in_order
from bochner.tables.distinct_rows import Chosen, Elsewhere, Rows
from bochner.tables.kernel_passes import LandmarkSolution
from bochner.tables.leave_one_out import LearnedKernel

BLOCK_BYTES = 2**25
"""Bytes of a block of kernel values. Each thread holds two blocks; larger blocks are not faster."""


def value_blocks(n_rows: int, width: int) -> list[slice]:
    """Return blocks of rows whose kernel values at ``width`` rows are in memory together."""
    return list(row_blocks(n_rows, 8 * width, block_bytes=BLOCK_BYTES))


def solved_by_products(
    learned: LearnedKernel,
    columns: Chosen,
    rows: Rows,
    sizes: tuple[int, int],
    n_threads: int,
    elsewhere: Elsewhere | None,
) -> LandmarkSolution:
    """Return the coefficients from products of all kernel values; the last target is one."""
    inputs, (n_landmarks, n_of_variance) = rows.columns(columns), sizes
    landmarks = inputs.X[: max(sizes)]
    inner, cross = summed_products(learned, inputs, landmarks, n_threads)
    if elsewhere is not None:
        total = elsewhere.total(partial(packed_products, learned, columns, landmarks))
        for sums, more in zip(
            (inner, cross), unpacked_products(total, len(landmarks)), strict=True
        ):
            sums += more
    # Before the noise is added in place.
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

    for block, K in in_order(values, value_blocks(len(rows), width), n_threads):
        inner += K.T @ K
        cross += K.T @ (np.sqrt(rows.weights[block, None]) * rows.Y[block])
    return inner, cross


def packed_products(learned: LearnedKernel, columns: Chosen, landmarks: Array, rows: Rows) -> Array:
    """Return :func:`summed_products` in one array, with the upper triangle of the matrix only.

    The last target is constant one. The array is half as large as the matrices, which matters when
    partitions of a table send their sums to each other.
    """
    rows = replace(rows.columns(columns), Y=np.column_stack((rows.Y, np.ones(len(rows)))))
    inner, cross = summed_products(learned, rows, landmarks, 1)
    packed, _ = lapack.dtrttp(inner, uplo="U")
    return np.concatenate((packed, cross.ravel()))


def unpacked_products(packed: Array, width: int) -> tuple[Array, Array]:
    """Return the two matrices that :func:`packed_products` has packed, for ``width`` landmarks."""
    n_triangle = width * (width + 1) // 2
    upper, _ = lapack.dtpttr(width, packed[:n_triangle], uplo="U")
    # The packed triangle, mirrored.
    inner = np.triu(upper)
    inner += np.triu(upper, 1).T
    return inner, packed[n_triangle:].reshape(width, -1)
