"""Sums over rows: all that linear heads need of the data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bochner._numerics import limits
from bochner._numerics.arrays import Array, row_blocks
from bochner._numerics.namespaces import on_device
from bochner._numerics.scratch import Scratch
from bochner.features.chunks import Chunk
from bochner.features.products import DeviceProducts, HostProducts, Products
from bochner.features.targets import Numbers, Targets
from bochner.frequencies import Frequencies
from bochner.registry import register


@register(shapes={"gram": "pp", "cross": "pt", "square": "t", "features": "p", "targets": "t"})
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
        return replace(
            self,
            gram=gram,
            cross=self.cross - self.weight * np.outer(mean_z, mean_y),
            square=np.maximum(self.square - self.weight * mean_y**2, 0.0),
            features=np.zeros_like(self.features),
            targets=np.zeros_like(self.targets),
        )


def chunk_sums(
    chunks: Iterable[Chunk],
    frequencies: Frequencies,
    targets: Targets,
    products: Callable[[Chunk], type[np.floating[Any]]] | None = None,
    block_bytes: int | None = None,
) -> FeatureSums:
    """Return the sums over all rows of all chunks.

    ``products`` maps a chunk to the type in which products of its features are computed, float64
    by default; ``block_bytes`` (32 MiB) limits the features that exist at a time.
    """
    p, block_bytes = 2 * frequencies.n_frequencies, block_bytes or limits.SUMS_BLOCK_BYTES
    total = RunningSums(p, targets.n_targets)
    scratch = Scratch()
    for chunk in chunks:
        dtype = np.dtype(np.float64 if products is None else products(chunk))
        features = frequencies.to_device_of(chunk.X)
        for rows in row_blocks(len(chunk), p * dtype.itemsize, block_bytes=block_bytes):
            part = chunk[rows]
            out = None if on_device(chunk.X) else scratch.block(len(part), p, dtype)
            total.add(features.features(part.X, dtype, out), targets(part.y), part.weight)
    return total.sums()


def feature_sums(
    frequencies: Frequencies, X: Any, Y: Array, weight: Array | None = None
) -> FeatureSums:
    """Return the sums over rows that a linear model on features needs, in blocks of rows.

    Memory holds one block of features (32 MiB) at a time, next to the ``p`` by ``p`` sums. Sums of
    disjoint sets of rows add up with ``+``.

    Parameters
    ----------
    frequencies : Frequencies
        The feature map, for example ``FourierFeatures().fit(X).frequencies_``; ``p`` is twice its
        number of frequencies.
    X : {ndarray, CSR matrix} of shape (n, d)
    Y : ndarray of shape (n, t)
    weight : ndarray of shape (n,), default=None
        Weights of the rows; ``None`` means one.

    Returns
    -------
    sums : FeatureSums

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


class RunningSums:
    """Sums over ``p`` features and ``t`` targets, to which blocks of rows are added in place."""

    def __init__(self, p: int, t: int) -> None:
        self._shape = p, t + 1
        self._products: Products | None = None
        self._square = np.zeros(t)
        self._targets = np.zeros(t)
        self._weight = 0.0
        self._n_samples = 0

    def add(self, Z: Any, Y: Array, weight: Array | None = None) -> None:
        """Add rows of features (n, p), which are overwritten, and of targets (n, t).

        Features on a device are multiplied there; see :class:`~bochner.features.products.Products`.
        """
        n = Z.shape[0]
        root = np.ones((n, 1)) if weight is None else np.sqrt(weight)[:, None]
        Y = root * Y
        self._made(Z).add(Z, np.hstack((Y, root)), None if weight is None else root)
        self._square += np.sum(Y**2, axis=0)
        self._targets += root[:, 0] @ Y
        self._weight += float(n if weight is None else weight.sum())
        self._n_samples += n if weight is None else int(np.count_nonzero(weight))

    def _made(self, Z: Any) -> Products:
        if self._products is None:
            self._products = (
                DeviceProducts(*self._shape, Z) if on_device(Z) else HostProducts(*self._shape)
            )
        elif on_device(Z) is not isinstance(self._products, DeviceProducts):
            raise ValueError("Chunks must be all NumPy arrays or sparse, or all on a device.")
        return self._products

    def sums(self) -> FeatureSums:
        """Return the sums, after which no rows can be added; ``ValueError`` without any rows."""
        if self._products is None or not self._n_samples:
            raise ValueError("There are no rows to sum over.")
        gram, outer = self._products.sums()
        totals = self._square, outer[:, -1], self._targets, self._weight, self._n_samples
        return FeatureSums(gram, outer[:, :-1], *totals)
