"""Exact values of kernels, and length scales of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import euclidean_distances

from bochner._base.arrays import Array, InputRows, LengthScale, spreads
from bochner.kernels import Kernel

_SUBSAMPLE = 1000
"""Rows for the median distance, half a million pairs: its standard error falls with the root of the
number of rows, while time and memory grow with the square."""

_MOST_COLUMNS = 100
"""Columns with separate length scales, as many as the evidence learns. Many columns are counts of
words, pixels or the like: of one unit, and rare ones would get the shortest scales."""

_EQUAL = 1e-7
"""Distance below which rows are equal, relative to the greatest: for sparse rows it is the root of
a difference of squares, whose rounding error is 1e-15."""

AnyKernel = Kernel | Callable[[Array, Array], Any]
"""A kernel, or a function ``k(X, Y)`` that returns Gram matrices."""

_ROUNDINGS = 100.0
"""Rounding errors of a kernel value up to which differences count as rounding."""


def kernel_name(kernel: AnyKernel) -> str:
    """Return a kernel's expression, or a function's name."""
    if isinstance(kernel, Kernel):
        return repr(kernel)
    name: str = getattr(kernel, "__qualname__", None) or repr(kernel)
    return name


def exact_values(kernel: AnyKernel, X: Array, Y: Array) -> NDArray[Any]:
    """Return the Gram matrix (n, n2) of real numbers; ``ValueError`` if the kernel returns none."""
    values = np.asarray(kernel(X, Y))
    name = kernel_name(kernel)
    if values.shape != (len(X), len(Y)):
        raise ValueError(
            f"{name} must return an array of shape {(len(X), len(Y))} for inputs with these "
            f"numbers of rows, got {values.shape}."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must return real numbers, got {values.dtype}.")
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0].tolist()
        raise ValueError(
            f"{name} returned {values[i, j]} for a pair of rows; "
            f"{np.count_nonzero(~finite)} of {values.size} values are not finite. "
            f"Scale the inputs, or define the kernel for these rows."
        )
    return values


def rounding_of(values: NDArray[Any], least: float) -> float:
    """Return a hundred rounding errors of the number type, but at least ``least``."""
    precision = np.finfo(values.dtype).eps if values.dtype.kind == "f" else 0.0
    return max(least, _ROUNDINGS * float(precision))


def is_symmetric(gram: Array, tolerance: float) -> bool:
    """Return whether a Gram matrix is symmetric up to a share of its greatest entry."""
    return bool(np.abs(gram - gram.T).max() <= tolerance * np.abs(gram).max())


def auto_length_scale(
    X: InputRows, rng: np.random.Generator, sample_weight: Array | None = None
) -> LengthScale:
    """Return length scales (d,) that do not depend on the units of the columns of ``X`` (n, d).

    They are standard deviations of the columns times the median distance between rows in these
    units. More than 100 columns share one length scale, the median distance.
    """
    if X.shape[1] > _MOST_COLUMNS:
        return median_distance(X, rng, sample_weight)
    if not (isinstance(X, np.ndarray) or issparse(X)):  # On a device: the host sees few rows
        rows = np.arange(X.shape[0])
        if len(rows) > _SUBSAMPLE:
            rows = np.sort(rng.choice(rows, _SUBSAMPLE, replace=False))
        sample_weight = None if sample_weight is None else sample_weight[rows]
        X = np.asarray(X[rows])
    deviations = spreads(X, np.ones(X.shape[0]) if sample_weight is None else sample_weight)
    scaled: Any = X @ sparse.diags_array(1.0 / deviations)
    scales = median_distance(scaled, rng, sample_weight) * deviations
    return tuple(scales.tolist())


def median_distance(
    X: InputRows, rng: np.random.Generator, sample_weight: Array | None = None
) -> float:
    """Return the median distance between distinct rows, one if all rows are equal.

    At most 1000 rows of ``X`` (n, d), dense or CSR, are used. A pair of rows counts with the
    product of its weights ``sample_weight`` (n,): integer weights are repetitions.
    """
    weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    rows = np.flatnonzero(weight > 0)
    if len(rows) > _SUBSAMPLE:
        rows = np.sort(rng.choice(rows, _SUBSAMPLE, replace=False))
    i, j = np.triu_indices(len(rows), k=1)
    sampled_rows = X[rows]
    distance = (
        euclidean_distances(sampled_rows)[i, j] if issparse(sampled_rows) else pdist(sampled_rows)
    )
    # Many equal rows would make the median zero.
    distinct = distance > _EQUAL * distance.max(initial=0.0)
    if not distinct.any():
        return 1.0
    distance, i, j = distance[distinct], i[distinct], j[distinct]
    order = np.argsort(distance)
    cumulated = np.cumsum((weight[rows][i] * weight[rows][j])[order])
    return float(distance[order][np.searchsorted(cumulated, cumulated[-1] / 2.0)])
