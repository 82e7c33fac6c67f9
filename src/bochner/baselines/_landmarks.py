"""How rows become landmarks: uniformly, by ridge leverage scores, or by pivoting."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array

Rows = NDArray[np.intp]
Spectrum = Callable[[], tuple[Array, Array]]
Rule = Callable[[Spectrum, int, int, float | None, np.random.Generator], Rows]


def leverage_scores(eigenvalues: Array, vectors: Array, ridge: float) -> Array:
    r"""Return the ridge leverage scores of :math:`|K|`, of shape (n,).

    The diagonal of :math:`|K| (|K| + \lambda I)^{-1}`, where :math:`|K|` has the eigenvectors of
    ``K`` and the absolute values of its eigenvalues.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
    vectors : ndarray of shape (n, n)
        Orthonormal columns.
    ridge : float
        :math:`\lambda`, positive.
    """
    size = np.abs(eigenvalues)
    scores: Array = vectors**2 @ (size / (size + ridge))
    return scores


def tail_ridge(eigenvalues: Array, m: int) -> float:
    r"""Return :math:`\sum_{j > m} |\lambda_j| / m`, the customary ridge for ``m`` landmarks.

    At least rounding error, so that a Gram matrix of rank ``m`` has leverage scores.
    """
    size = np.sort(np.abs(eigenvalues))[::-1]
    rounding = len(size) * float(np.finfo(np.float64).eps * size[0])
    return max(float(size[m:].sum()) / m, rounding, float(np.finfo(np.float64).tiny))


def pivots(matrix: Array, m: int, rng: np.random.Generator) -> Rows:
    """Return the pivots of a randomly pivoted Cholesky factorisation, of shape (m,).

    Each is drawn in proportion to the diagonal of what the columns before have left. When they
    have left no more than rounding error, the rest are uniform over the other rows.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Positive semidefinite.
    m : int
        At most ``n``.
    rng : Generator

    References
    ----------
    Chen, Epperly, Tropp and Webber, "Randomly pivoted Cholesky", 2022, Algorithm 1.
    """
    n = len(matrix)
    left = np.diagonal(matrix).copy()
    exhausted = n * np.finfo(np.float64).eps * left.sum()
    chosen = np.empty(m, dtype=np.intp)
    factor = np.zeros((n, m))
    for i in range(m):
        if left.sum() <= exhausted:
            rest = np.setdiff1d(np.arange(n), chosen[:i])
            chosen[i:] = rng.choice(rest, size=m - i, replace=False)
            break
        pivot = chosen[i] = rng.choice(n, p=left / left.sum())
        column = matrix[:, pivot] - factor[:, :i] @ factor[pivot, :i]
        factor[:, i] = column / np.sqrt(column[pivot])
        left = np.maximum(left - factor[:, i] ** 2, 0.0)
        left[pivot] = 0.0
    return chosen


def _uniform(
    spectrum: Spectrum, n: int, m: int, ridge: float | None, rng: np.random.Generator
) -> Rows:
    return rng.choice(n, size=m, replace=False)


def _by_leverage(
    spectrum: Spectrum, n: int, m: int, ridge: float | None, rng: np.random.Generator
) -> Rows:
    eigenvalues, vectors = spectrum()
    ridge = tail_ridge(eigenvalues, m) if ridge is None else ridge
    scores = leverage_scores(eigenvalues, vectors, ridge)
    return rng.choice(n, size=m, replace=False, p=scores / scores.sum())


def _pivoted(
    spectrum: Spectrum, n: int, m: int, ridge: float | None, rng: np.random.Generator
) -> Rows:
    eigenvalues, vectors = spectrum()
    return pivots((vectors * np.abs(eigenvalues)) @ vectors.T, m, rng)


LANDMARKS: Mapping[str, Rule] = MappingProxyType(
    {"uniform": _uniform, "leverage": _by_leverage, "pivoted": _pivoted}
)
"""From the spectrum of a Gram matrix of ``n`` rows, ``m`` and a ridge to ``m`` different rows."""
