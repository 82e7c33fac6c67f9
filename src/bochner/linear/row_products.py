"""Products of features with themselves and with targets, in passes over the rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bochner._base import limits
from bochner._base.arrays import Array, Floats, Scratch, steps
from bochner._base.threads import in_order, single_threaded_blas
from bochner.features.chunks import Chunk
from bochner.features.residual import ResidualFeatures
from bochner.features.targets import Targets
from bochner.spectral.frequencies import Frequencies


@dataclass(frozen=True, slots=True)
class PrecomputedFeatures:
    """The identity map, for rows that are precomputed features."""

    n_features: int

    def features(self, X: Any, dtype: Any = None, out: Floats | None = None) -> Floats:
        """Return the rows, which are features."""
        rows: Floats = X
        return rows


FeatureMap = Frequencies | ResidualFeatures | PrecomputedFeatures
"""A map from rows to features."""


def target_products(
    chunks: Iterable[Chunk], features: FeatureMap, dtype: DTypeLike, targets: Targets
) -> Array:
    r"""Return :math:`[Z, Y, 1]^\top W [Y, 1]`, of shape (p + t + 1, t + 1)."""

    def products(Z: Floats, rows: Chunk) -> Floats:
        columns = np.column_stack((targets(rows.y), np.ones(len(rows))))
        weighted = columns if rows.weight is None else columns * rows.weight[:, None]
        return np.vstack((Z.T @ weighted.astype(Z.dtype, copy=False), columns.T @ weighted))

    return _summed(chunks, features, dtype, products)


def normal_products(
    chunks: Iterable[Chunk], features: FeatureMap, dtype: DTypeLike, V: Array, shift: Array
) -> Array:
    r"""Return :math:`Z^\top W (Z V - 1 s^\top)`, of shape (p, t), in one pass over the rows.

    If the ``shift`` ``s`` (t,) is the mean of the features times ``V``, features are centred.
    """
    narrow, origin = V.astype(dtype), shift.astype(dtype)

    def products(Z: Floats, rows: Chunk) -> Floats:
        fit = Z @ narrow
        fit -= origin
        if rows.weight is not None:
            fit *= rows.weight[:, None].astype(fit.dtype, copy=False)
        return Z.T @ fit

    return _summed(chunks, features, dtype, products)


def _summed(
    chunks: Iterable[Chunk],
    features: FeatureMap,
    dtype: Any,
    function: Callable[[Floats, Chunk], Floats],
) -> Array:
    """Return the sum over blocks of rows, in float64, of a function of their features."""
    p = features.n_features
    scratch = Scratch()
    total: Array | None = None
    with single_threaded_blas() as n_threads:
        for chunk in chunks:

            def block(rows: slice, chunk: Chunk = chunk) -> Floats:
                part = chunk[rows]
                out = scratch.block(len(part), p, dtype)
                return function(features.features(part.X, dtype, out), part)

            step = max(16, limits.CACHE_BLOCK_BYTES // (p * np.dtype(dtype).itemsize))
            for _, part in in_order(block, list(steps(len(chunk), step)), n_threads):
                total = part.astype(np.float64) if total is None else np.add(total, part, out=total)
    if total is None:
        raise ValueError("There are no rows to sum over.")
    return total
