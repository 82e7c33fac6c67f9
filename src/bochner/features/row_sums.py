"""Sums over rows from which linear models are fitted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from bochner._base import limits
from bochner._base.arrays import Array, Scratch, row_blocks
from bochner._base.registry import register
from bochner.features.chunks import Chunk, Numbers, Targets
from bochner.features.landmarks import FeatureMap
from bochner.spectral.frequencies import Frequencies

_NO_ROWS = "There are no rows to sum over."

_RECENT_ROWS = 16_384
"""Number of rows whose float32 products are added up before they are added to float64 sums."""


@register(shapes={"gram": "pp", "cross": "pt", "square": "t", "features": "p", "targets": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class FeatureSums:
    r"""Weighted sums over rows of ``p`` features ``z`` and ``t`` targets ``y``.

    Sums of disjoint sets of rows add, so chunks, batches and workers can be merged in any
    order and give the sums of all rows. All rows together decide whether weights are counts or
    precisions; see :class:`~bochner.features.chunks.Units`.

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
    n_fractional : int, default=0
        Number of rows whose weights are not integers.
    n_remembered : float, default=0.0
        Number of rows of positive weight; a row that is being forgotten counts as a fraction.
    log_weight : float, default=0.0
        Sum of logarithms of the weights of these rows.
    """

    gram: Array
    cross: Array
    square: Array
    features: Array
    targets: Array
    weight: float
    n_samples: int
    n_fractional: int = 0
    n_remembered: float = 0.0
    log_weight: float = 0.0

    @property
    def are_of_rows(self) -> bool:
        """Whether rows can have these sums: counts and sums of squares are not negative."""
        counts = self.weight > 0 and 0 <= self.n_fractional <= self.n_samples
        squares = np.append(self.square, np.diagonal(self.gram))
        return counts and self.n_samples > 0 and bool((squares >= 0.0).all())

    @property
    def n_observations(self) -> float:
        """Number of observations: the total weight if weights are counts, else the rows."""
        return self.n_remembered if self.n_fractional else self.weight

    @property
    def log_precision(self) -> float:
        """Sum of log precisions over observations; zero if weights are counts."""
        return self.log_weight if self.n_fractional else 0.0

    @classmethod
    def from_rows(cls, Z: Array, Y: Array, weight: Array | None = None) -> "FeatureSums":
        """Return the sums over the rows of ``Z`` (n, p) and ``Y`` (n, t), in float64."""
        Z = Z.astype(np.float64, copy=False)
        counted = _counted(Chunk(Z, Y, weight))
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
            **counted,
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

    def weighted(self, factor: float) -> "FeatureSums":
        """Return the sums of the same rows with all weights multiplied by ``factor``."""
        sums = {
            name: factor * getattr(self, name)
            for name in FeatureSums.__slots__
            if name not in ("n_samples", "n_fractional")
        }
        return FeatureSums(**sums, n_samples=self.n_samples, n_fractional=self.n_fractional)

    def centred(self) -> "FeatureSums":
        """Return the sums of features and targets minus their weighted means."""
        mean_z, mean_y = self.features / self.weight, self.targets / self.weight
        gram = self.gram.copy()
        for part in row_blocks(len(gram), 8 * len(gram)):
            gram[part] -= np.outer(self.weight * mean_z[part], mean_z)
        return replace(
            self,
            gram=gram,
            cross=self.cross - self.weight * np.outer(mean_z, mean_y),
            square=np.maximum(self.square - self.weight * mean_y**2, 0.0),
            features=np.zeros_like(self.features),
            targets=np.zeros_like(self.targets),
        )

    def at(self, columns: NDArray[np.intp]) -> "FeatureSums":
        """Return the sums of only the features with the indices ``columns``."""
        return replace(
            self,
            gram=self.gram[np.ix_(columns, columns)],
            cross=self.cross[columns],
            features=self.features[columns],
        )

    def thinned(self, step: int) -> "FeatureSums":
        """Return the sums for every ``step``-th frequency, with ``step`` times its weight."""
        half = len(self.gram) // 2
        places = np.concatenate([np.arange(start, start + half, step) for start in (0, half)])
        return replace(
            self,
            gram=step * self.gram[np.ix_(places, places)],
            cross=np.sqrt(step) * self.cross[places],
            features=np.sqrt(step) * self.features[places],
        )


def chunk_sums(
    chunks: Iterable[Chunk],
    feature_map: FeatureMap,
    targets: Targets,
    products: Callable[[Chunk], type[np.floating]] | None = None,
    block_bytes: int | None = None,
) -> FeatureSums:
    """Return the sums over all rows of all chunks; ``products`` gives the float type per chunk."""
    p, block_bytes = feature_map.n_features, block_bytes or limits.SUMS_BLOCK_BYTES
    total, scratch = RunningSums(p, targets.n_targets), Scratch()
    for chunk in chunks:
        dtype = np.dtype(np.float64 if products is None else products(chunk))
        for rows in row_blocks(len(chunk), p * dtype.itemsize, block_bytes=block_bytes):
            part = chunk[rows]
            out = scratch.block(len(part), p, dtype)
            total.add(feature_map.features(part.X, dtype, out), targets(part.y), part)
    return total.sums()


def feature_sums(
    frequencies: Frequencies, X: object, Y: Array, weight: Array | None = None
) -> FeatureSums:
    """Return the sums over rows from which a linear model on features is fitted.

    Memory holds one block of features (32 MiB) at a time, next to the ``p`` by ``p`` sums. Sums of
    disjoint sets of rows add up with ``+``.

    Rows ``X`` (n, d) are dense or CSR, ``Y`` (n, t) are targets, and weights (n,) are ones if
    ``None``; ``p`` is twice the number of frequencies.

    Examples
    --------
    Ridge regression on features:

    >>> import numpy as np
    >>> from bochner import FourierFeatures
    >>> from bochner.features import feature_sums
    >>> X = np.linspace(0.0, 6.0, 200)[:, None]
    >>> f = FourierFeatures("gaussian", 64, length_scale=1.0, random_state=0).fit(X).frequencies_
    >>> sums = feature_sums(f, X, np.sin(X))
    >>> coef = np.linalg.solve(sums.gram + 1e-3 * np.eye(64), sums.cross)
    >>> bool(np.abs(f.features(X) @ coef - np.sin(X)).max() < 0.05)
    True
    """
    targets = Numbers(np.zeros(Y.shape[1]))
    return chunk_sums([Chunk(X, Y, weight)], frequencies, targets)


def _counted(rows: Chunk) -> dict[str, Any]:
    """Return, by field name, the row counts that ``FeatureSums`` stores."""
    if rows.weight is None and rows.repeats is None:
        return {"n_samples": len(rows), "n_remembered": float(len(rows))}
    weights = rows.row_weights
    present = weights > 0.0
    repeats = np.ones(len(rows)) if rows.repeats is None else rows.repeats
    return {
        "n_samples": int(np.count_nonzero(present)),
        "n_fractional": rows.n_fractional,
        "n_remembered": float(repeats[present].sum()),
        "log_weight": float(repeats[present] @ np.log(weights[present])),
    }


class RunningSums:
    """Sums over ``p`` features and ``t`` targets, to which blocks of rows are added in place."""

    def __init__(self, p: int, t: int) -> None:
        # Only the lower triangle of the Gram matrix is computed, in Fortran order for LAPACK.
        self._gram = np.zeros((p, p), order="F")
        self._outer = np.zeros((p, t + 1))
        self._recent: Array | None = None
        self._n_recent = 0
        self._square, self._targets = np.zeros(t), np.zeros(t)
        self._weight = 0.0
        self._counted: dict[str, Any] = {"n_samples": 0}

    def add(self, Z: Any, Y: Array, rows: Chunk) -> None:
        r"""Add ``rows`` of features (n, p), which are overwritten, and of targets (n, t).

        Products have the type of the features and are added in float64. In float32 they take half
        the time, and the Gram matrix of ``n`` rows is off by some
        :math:`6 \cdot 10^{-8} \sqrt n\, k(0)` in the spectral norm: it may have negative
        eigenvalues of that size, which a ridge must outweigh.
        """
        n, weight = Z.shape[0], rows.weight
        root = np.ones((n, 1)) if weight is None else np.sqrt(weight)[:, None]
        if weight is not None:
            Z *= root.astype(Z.dtype, copy=False)
        Y = root * Y
        self._multiply(Z, np.hstack((Y, root)))
        self._square += np.sum(Y**2, axis=0)
        self._targets += root[:, 0] @ Y
        self._weight += float(n if weight is None else weight.sum())
        for name, number in _counted(rows).items():
            self._counted[name] = self._counted.get(name, 0) + number

    def sums(self) -> FeatureSums:
        """Return the sums and end the accumulation; ``ValueError`` if no rows were added."""
        if not self._counted["n_samples"]:
            raise ValueError(_NO_ROWS)
        gram, outer = self._products()
        totals = self._square, outer[:, -1], self._targets, self._weight
        return FeatureSums(gram, outer[:, :-1], *totals, **self._counted)

    def _multiply(self, Z: NDArray[Any], columns: Array) -> None:
        # All products use SciPy's BLAS, because its threads would compete with NumPy's for cores.
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
        """Add the float32 products accumulated so far to the float64 sums."""
        if self._recent is not None and self._n_recent:
            for part in row_blocks(len(self._gram), 8 * len(self._gram)):
                self._gram[part.start :, part] += self._recent[part.start :, part]
        self._n_recent = 0

    def _products(self) -> tuple[Array, Array]:
        self._settle()
        self._recent = None
        gram = self._gram
        for part in row_blocks(len(gram), 8 * len(gram)):
            corner = gram[part, part]
            gram[part, part] = np.tril(corner) + np.tril(corner, -1).T
            gram[part, part.stop :] = gram[part.stop :, part].T
        return gram.T, self._outer
