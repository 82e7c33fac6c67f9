"""The monoid of sums: all that linear heads need of the data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from bochner._numerics.arrays import Array, row_blocks
from bochner.features.chunks import Chunk
from bochner.features.targets import Numbers, Targets
from bochner.frequencies import Frequencies

_BLOCK_BYTES = 2**25
"""Of features that are multiplied with themselves at once."""

_RECENT_ROWS = 16_384
"""How many rows' products are added up in float32."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSums:
    r"""Weighted sums over rows of features ``z`` (p of them) and targets ``y`` (t of them).

    Sums of disjoint sets of rows add, so chunks, batches and workers can be merged in any
    order and give the sums of all rows. A row of weight ``w`` counts as ``w`` rows.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        :math:`\sum w z z^\top`.
    cross : ndarray of shape (p, t)
        :math:`\sum w z y^\top`.
    square : ndarray of shape (t,)
        :math:`\sum w y^2`.
    features : ndarray of shape (p,)
        :math:`\sum w z`.
    targets : ndarray of shape (t,)
        :math:`\sum w y`.
    weight : float
        :math:`\sum w`.
    n_samples : int
        Number of rows of positive weight.
    """

    gram: Array
    cross: Array
    square: Array
    features: Array
    targets: Array
    weight: float
    n_samples: int

    @classmethod
    def from_rows(cls, Z: Array, Y: Array, weight: Array | None = None) -> "FeatureSums":
        """Return the sums over the rows of ``Z`` (n, p) and ``Y`` (n, t), in float64."""
        Z = Z.astype(np.float64, copy=False)
        weight = np.ones(len(Z)) if weight is None else weight
        root = np.sqrt(weight)[:, None]
        weighted = root * Z
        targets = root * Y
        return cls(
            gram=weighted.T @ weighted,
            cross=weighted.T @ targets,
            square=np.sum(targets**2, axis=0),
            features=weight @ Z,
            targets=weight @ Y,
            weight=float(weight.sum()),
            n_samples=int(np.count_nonzero(weight)),
        )

    def __add__(self, other: "FeatureSums") -> "FeatureSums":
        if not isinstance(other, FeatureSums):
            return NotImplemented
        if self.cross.shape != other.cross.shape:
            raise ValueError(
                f"Sums over {self.cross.shape} features and targets cannot be added to sums over "
                f"{other.cross.shape}."
            )
        return FeatureSums(
            *(getattr(self, name) + getattr(other, name) for name in FeatureSums.__slots__)
        )

    def centred(self) -> "FeatureSums":
        """Return the sums about the weighted means of features and targets."""
        mean_z, mean_y = self.features / self.weight, self.targets / self.weight
        gram = self.gram.copy()
        for part in row_blocks(len(gram), 8 * len(gram)):
            gram[part] -= np.outer(self.weight * mean_z[part], mean_z)
        return FeatureSums(
            gram=gram,
            cross=self.cross - self.weight * np.outer(mean_z, mean_y),
            square=np.maximum(self.square - self.weight * mean_y**2, 0.0),
            features=np.zeros_like(self.features),
            targets=np.zeros_like(self.targets),
            weight=self.weight,
            n_samples=self.n_samples,
        )


def _in_double(n_rows: int) -> type[np.floating[Any]]:
    return np.float64


def chunk_sums(
    chunks: Iterable[Chunk],
    frequencies: Frequencies,
    targets: Targets,
    products: Callable[[int], type[np.floating[Any]]] = _in_double,
    block_bytes: int | None = None,
) -> FeatureSums:
    """Return the sums over all rows of all chunks.

    Parameters
    ----------
    chunks : iterable of Chunk
    frequencies : Frequencies
    targets : Targets
    products : callable, default=float64 for all
        Tells the type in which products of the features of so many rows are made; see
        :meth:`RunningSums.add`.
    block_bytes : int, default=32 MiB
        Of the features that exist at a time, beside the ``p`` by ``p`` sums.
    """
    p = 2 * frequencies.n_frequencies
    total = RunningSums(p, targets.n_targets)
    # Fresh memory for every block would be met page by page.
    memory = np.empty(0, dtype=np.byte)
    for chunk in chunks:
        dtype = np.dtype(products(len(chunk)))
        row_bytes = p * dtype.itemsize
        for rows in row_blocks(len(chunk), row_bytes, block_bytes=block_bytes or _BLOCK_BYTES):
            part = chunk[rows]
            if len(memory) < row_bytes * len(part):
                memory = np.empty(row_bytes * len(part), dtype=np.byte)
            out = memory[: row_bytes * len(part)].view(dtype).reshape(-1, p)
            Z = frequencies.features(part.X, dtype, out)
            total.add(Z, targets(part.y), part.weight)
    return total.sums()


def feature_sums(
    frequencies: Frequencies, X: Any, Y: Array, weight: Array | None = None
) -> FeatureSums:
    """Return the sums over all rows of ``X`` (n, d) and ``Y`` (n, t), in blocks of rows.

    Beside the ``p`` by ``p`` sums, no more than a block of features exists at a time.
    """
    targets = Numbers(np.zeros(Y.shape[1]))
    return chunk_sums([Chunk(X, Y, weight)], frequencies, targets)


class RunningSums:
    """Sums to which blocks of rows are added in place.

    Parameters
    ----------
    p, t : int
        Numbers of features and targets.
    """

    def __init__(self, p: int, t: int) -> None:
        # Of the Gram matrix the lower triangle only, in the order of LAPACK.
        self._gram = np.zeros((p, p), order="F")
        self._cross = np.zeros((p, t))
        self._square = np.zeros(t)
        self._features = np.zeros(p)
        self._targets = np.zeros(t)
        self._weight = 0.0
        self._n_samples = 0
        self._recent: NDArray[Any] | None = None
        self._n_recent = 0

    def add(self, Z: NDArray[Any], Y: Array, weight: Array | None = None) -> None:
        r"""Add rows of features (n, p), which are overwritten, and of targets (n, t).

        Products are made in the type of the features and, after some thousand rows, added in
        float64. In float32 they take half the time, and the Gram matrix of ``n`` rows is off by
        some :math:`6 \cdot 10^{-8} \sqrt n\, k(0)` in the spectral norm: it may have negative
        eigenvalues of that size, which a ridge must outweigh.
        """
        root = np.ones((len(Z), 1)) if weight is None else np.sqrt(weight)[:, None]
        if weight is not None:
            Z *= root.astype(Z.dtype)
        Y = root * Y
        columns = np.hstack((Y, root)).astype(Z.dtype)
        # All products by SciPy's library: its threads and those of NumPy's get in each other's way.
        product = blas.dgemm if Z.dtype == np.float64 else blas.sgemm
        outer = product(1.0, Z.T, columns)
        self._cross += outer[:, :-1]
        self._features += outer[:, -1]
        self._square += np.sum(Y**2, axis=0)
        self._targets += root[:, 0] @ Y
        self._weight += float(len(Z) if weight is None else weight.sum())
        self._n_samples += len(Z) if weight is None else int(np.count_nonzero(weight))
        if Z.dtype == np.float64:
            blas.dsyrk(1.0, Z.T, beta=1.0, c=self._gram, lower=1, overwrite_c=1)
        else:
            self._add_single(Z)

    def _add_single(self, Z: NDArray[np.float32]) -> None:
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

    def sums(self) -> FeatureSums:
        """Return the sums so far; no rows can be added any more.

        Raises
        ------
        ValueError
            If there were no rows.
        """
        if not self._n_samples:
            raise ValueError("There are no rows to sum over.")
        self._settle()
        self._recent = None
        gram = self._gram
        for part in row_blocks(len(gram), 8 * len(gram)):
            corner = gram[part, part]
            gram[part, part] = np.tril(corner) + np.tril(corner, -1).T
            gram[part, part.stop :] = gram[part.stop :, part].T
        return FeatureSums(
            gram.T,
            self._cross,
            self._square,
            self._features,
            self._targets,
            self._weight,
            self._n_samples,
        )
