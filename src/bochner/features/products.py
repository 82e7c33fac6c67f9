"""Sums of products of features with themselves and with targets, where the features are."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from bochner._numerics.arrays import Array, as_array, row_blocks
from bochner._numerics.namespaces import like, namespace, retyped, to_numpy, widened

_RECENT_ROWS = 16_384
"""Rows whose products are added up in float32. The rounding error of such a sum grows with the root
of their number, to 128 spacings of float32 here; fewer rows cost more passes over the sums."""


class Products(ABC):
    """Sums over rows of features ``z`` (p of them) and some columns (c of them)."""

    @abstractmethod
    def add(self, Z: Any, columns: Array, root: Array | None) -> None:
        r"""Add the products of features ``Z`` (n, p) with themselves and with ``columns`` (n, c).

        Every row of ``Z``, which is overwritten, is multiplied by its entry of ``root`` (n, 1).
        Products have the type of the features and are added in float64. In float32 they take half
        the time, and the Gram matrix of ``n`` rows is off by some
        :math:`6 \cdot 10^{-8} \sqrt n\, k(0)` in the spectral norm: it may have negative
        eigenvalues of that size, which a ridge must outweigh.
        """

    @abstractmethod
    def sums(self) -> tuple[Array, Array]:
        """Return the sums (p, p) and (p, c), after which no rows can be added."""


class HostProducts(Products):
    """Products of NumPy arrays; those in float32 are added to float64 sums every 16,384 rows."""

    def __init__(self, p: int, c: int) -> None:
        # The lower triangle of the Gram matrix only, in the order of LAPACK.
        self._gram = np.zeros((p, p), order="F")
        self._outer = np.zeros((p, c))
        self._recent: NDArray[Any] | None = None
        self._n_recent = 0

    def add(self, Z: NDArray[Any], columns: Array, root: Array | None) -> None:
        if root is not None:
            Z *= root.astype(Z.dtype)
        # SciPy's BLAS for all products: its threads and those of NumPy's would compete for cores.
        product = blas.dgemm if Z.dtype == np.float64 else blas.sgemm
        self._outer += product(1.0, Z.T, columns.astype(Z.dtype))
        if Z.dtype == np.float64:
            blas.dsyrk(1.0, Z.T, beta=1.0, c=self._gram, lower=1, overwrite_c=1)
            return
        if self._recent is None:
            self._recent = np.zeros(self._gram.shape, np.float32, order="F")
        beta = 1.0 if self._n_recent else 0.0
        blas.ssyrk(1.0, Z.T, beta=beta, c=self._recent, lower=1, overwrite_c=1)
        self._n_recent += len(Z)
        if self._n_recent >= _RECENT_ROWS:
            self._settle()

    def _settle(self) -> None:
        """Add the products in float32 to the sums in float64."""
        if self._recent is not None and self._n_recent:
            for part in row_blocks(len(self._gram), 8 * len(self._gram)):
                self._gram[part.start :, part] += self._recent[part.start :, part]
        self._n_recent = 0

    def sums(self) -> tuple[Array, Array]:
        self._settle()
        self._recent = None
        gram = self._gram
        for part in row_blocks(len(gram), 8 * len(gram)):
            corner = gram[part, part]
            gram[part, part] = np.tril(corner) + np.tril(corner, -1).T
            gram[part, part.stop :] = gram[part.stop :, part].T
        return gram.T, self._outer


class DeviceProducts(Products):
    """Products of arrays on the device of ``Z``, copied to the host once, when all are added.

    On a device without float64 they are added in float32.
    """

    def __init__(self, p: int, c: int, Z: Any) -> None:
        xp, wide = namespace(Z), widened(Z[:0, :])
        self._gram = xp.zeros((p, p), dtype=wide.dtype, device=wide.device)
        self._outer = xp.zeros((p, c), dtype=wide.dtype, device=wide.device)

    def add(self, Z: Any, columns: Array, root: Array | None) -> None:
        if root is not None:
            Z *= like(root, Z)
        self._outer += retyped(Z.T @ like(columns, Z), self._outer.dtype)
        self._gram += retyped(Z.T @ Z, self._gram.dtype)

    def sums(self) -> tuple[Array, Array]:
        gram, outer = (as_array(to_numpy(one)) for one in (self._gram, self._outer))
        return 0.5 * (gram + gram.T), outer
