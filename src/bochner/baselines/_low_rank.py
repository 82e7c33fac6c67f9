"""What low-rank approximations from landmarks share: values, tolerances and rows to try."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array

_PROBES = 500
_TOLERANCES = 10.0 ** np.arange(-1.0, -14.0, -1.0)


def kernel_values(kernel: Any, X: Array, Y: Array) -> Array:
    """Return the checked kernel values between rows, of shape (n, n2)."""
    if not callable(kernel):
        raise TypeError(f"kernel must be a Kernel, a name or a function k(X, Y), got {kernel!r}.")
    values = np.asarray(kernel(X, Y), dtype=np.float64)
    if values.shape != (len(X), len(Y)):
        raise ValueError(
            f"{kernel!r} must return an array of shape {(len(X), len(Y))} for that many rows on "
            f"its left and right, got {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{kernel!r} must be finite at every pair of inputs, and is not.")
    return values


def count_kept(values: Array, tol: float) -> int:
    """Return how many eigenvalues or singular values, sorted, exceed the relative tolerance."""
    size = np.abs(values)
    return int(np.count_nonzero(size > tol * size[0]))


def checked_tol(tol: Any) -> float | None:
    """Return the tolerance, or ``None`` for an automatic one."""
    if isinstance(tol, str) and tol == "auto":
        return None
    if isinstance(tol, bool) or not isinstance(tol, Real) or not 0.0 <= float(tol) < 1.0:
        raise ValueError(f"tol must be 'auto' or a number from 0 to below 1, got {tol!r}.")
    return float(tol)


def probe_rows(X: Array, landmarks: NDArray[np.intp], rng: np.random.Generator) -> Array:
    """Return rows to try the tolerance on, landmarks only if other rows are too few."""
    others = np.setdiff1d(np.arange(len(X)), landmarks)
    order = np.concatenate([rng.permutation(others), rng.permutation(landmarks)])
    probes: Array = X[order[:_PROBES]]
    return probes


def best_tol(exact: Array, left: Array, right: Array, values: Array) -> float:
    """Return the tolerance whose features are nearest to an exact Gram matrix.

    Parameters
    ----------
    exact : ndarray of shape (n, n2)
    left, right : ndarray of shapes (n, p) and (n2, p)
        Features whose products, summed, are the approximation; those that go first come last.
    values : ndarray of shape (p,)
        Their eigenvalues or singular values, from large to small in size.
    """
    errors = []
    rest, done = exact.copy(), 0
    for tol in _TOLERANCES:
        keep = count_kept(values, tol)
        rest -= left[:, done:keep] @ right[:, done:keep].T
        done = keep
        errors.append(float(np.linalg.norm(rest)))
    return float(_TOLERANCES[int(np.argmin(errors))])
