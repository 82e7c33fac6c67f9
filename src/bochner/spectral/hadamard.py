"""Matrices stored as Hadamard blocks and random signs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from bochner._base.arrays import Array, frozen_array, row_blocks
from bochner._base.registry import register

Signs = NDArray[np.int8]


@register
@dataclass(frozen=True, slots=True, eq=False)
class HadamardRows:
    r"""A matrix of Hadamard blocks, whose products cost :math:`O(\log d)` operations per row.

    .. math:: \omega = A\, [H S_q \cdots H S_1]\, C

    with one block in brackets for every ``D`` rows: ``H`` is the orthonormal Hadamard matrix of
    order ``D``, each :math:`S` a diagonal of ``signs`` (b, q, D); ``row_scale`` (m,) and
    ``column_scale`` (d,) are the diagonals of ``A`` and ``C``.
    """

    signs: Signs
    row_scale: Array
    column_scale: Array

    def __init__(self, signs: ArrayLike, row_scale: ArrayLike, column_scale: ArrayLike) -> None:
        object.__setattr__(self, "signs", _checked_signs(np.asarray(signs)))
        for name, value in (("row_scale", row_scale), ("column_scale", column_scale)):
            object.__setattr__(self, name, frozen_array(name, value, (np.size(value),)))
        n_blocks, _, order = self.signs.shape
        m, dim = self.shape
        if -(-m // order) != n_blocks or not 0 < dim <= order:
            raise ValueError(
                f"{n_blocks} blocks of order {order} have no {m} rows and {dim} columns."
            )

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        return HadamardRows, (self.signs, self.row_scale, self.column_scale)

    @classmethod
    def unit(cls, signs: Signs, m: int, dim: int) -> "HadamardRows":
        """Return ``m`` unit rows of ``dim`` entries, cut from Hadamard blocks with ``signs``."""
        rows = cls(signs, np.ones(m), np.ones(dim))
        squares = sum(np.einsum("ij,ij->j", part, part) for _, part in rows._columns())
        return cls(signs, 1.0 / np.sqrt(squares), rows.column_scale)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns, ``(m, d)``."""
        return len(self.row_scale), len(self.column_scale)

    def angles(self, X: Any) -> Array:
        """Return the inner products (n, m) of ``X`` (n, d), dense or CSR, with all rows."""
        # Imported here, because Numba takes half a second to import.
        from bochner.spectral.hadamard_loops import fill_angles

        _, n_rounds, order = self.signs.shape
        norm = math.pow(order, -0.5 * n_rounds)  # makes each of the rounds orthonormal
        is_sparse: bool = sparse.issparse(X)
        scaled = np.ascontiguousarray((X.toarray() if is_sparse else X) * self.column_scale)
        out = np.empty((scaled.shape[0], len(self.row_scale)))
        fill_angles(scaled, self.signs, self.row_scale * norm, out)
        return out

    def __mul__(self, factor: Array) -> "HadamardRows":
        """Return the matrix with each row multiplied by its entry of ``factor`` (m, 1)."""
        return HadamardRows(self.signs, self.row_scale * factor[:, 0], self.column_scale)

    def __truediv__(self, divisor: Array) -> "HadamardRows":
        """Return the matrix with columns divided by ``divisor``, a number or of shape (d,)."""
        return HadamardRows(self.signs, self.row_scale, self.column_scale / divisor)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        array = np.empty(self.shape, dtype=dtype)
        for columns, values in self._columns():
            array[:, columns] = values.T
        return array

    def _columns(self) -> Iterator[tuple[slice, Array]]:
        m, dim = self.shape
        for some in row_blocks(dim, 8 * m):
            yield some, self.angles(np.eye(some.stop - some.start, dim, some.start))


Matrix = Array | HadamardRows
"""Rows stored as numbers, or as Hadamard blocks."""


def _checked_signs(signs: NDArray[np.floating]) -> Signs:
    if signs.ndim != 3 or not signs.size or signs.shape[2] & (signs.shape[2] - 1):
        raise ValueError(f"signs must have shape (b, q, D), D a power of two, got {signs.shape}.")
    if not (np.abs(signs) == 1).all():
        raise ValueError("signs must be 1 and -1.")
    checked = signs.astype(np.int8)
    checked.flags.writeable = False
    return checked
