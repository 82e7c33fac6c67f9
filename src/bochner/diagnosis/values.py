"""Exact values of a kernel of any kind, checked."""

from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner._numerics.limits import EIGENVALUE_ROUNDING, FUNCTION_ROUNDING
from bochner.kernels import Kernel

_ROUNDINGS = 100.0
_PROBED_ROWS = 3
_SAME = 1e-4


def kernel_name(kernel: Any) -> str:
    """Return what a kernel is called: its expression, or a function's name."""
    if isinstance(kernel, Kernel):
        return repr(kernel)
    name: str = getattr(kernel, "__qualname__", None) or repr(kernel)
    return name


def exact_gram(kernel: Any, rows: Array) -> tuple[Array, float]:
    """Return the Gram matrix of rows, and what part of its greatest eigenvalue is rounding.

    Parameters
    ----------
    kernel : Kernel or callable
    rows : ndarray of shape (n, d)

    Returns
    -------
    gram : ndarray of shape (n, n)
    tolerance : float
        1e-10, or a hundred rounding errors of the numbers that the kernel returns, if coarser.

    Raises
    ------
    ValueError
        If the kernel does not return one finite real number for each pair of rows, or the number
        for a pair depends on the other rows.
    """
    gram = _values(kernel, rows, rows)
    if not isinstance(kernel, Kernel):
        few = min(_PROBED_ROWS, len(rows))
        part = _values(kernel, rows[:few], rows)
        if np.abs(part - gram[:few]).max() > _SAME * np.abs(gram).max():
            raise ValueError(
                f"{kernel_name(kernel)} is not a function of pairs: between the same two rows it "
                f"returned other numbers when other rows were left out. Expected k(X, Y) with "
                f"entries k(x_i, y_j)."
            )
    precision = np.finfo(gram.dtype).eps if gram.dtype.kind == "f" else 0.0
    return gram.astype(np.float64), max(EIGENVALUE_ROUNDING, _ROUNDINGS * float(precision))


def asymmetry(gram: Array) -> float:
    r"""Return :math:`\|K - K^\top\|_F / (2 \|K\|_F)`, the size of the asymmetric part; 0 to 1."""
    size = float(np.linalg.norm(gram)) or 1.0
    return 0.5 * float(np.linalg.norm(gram - gram.T)) / size


def is_symmetric(gram: Array) -> bool:
    """Whether a Gram matrix is as symmetric as features of a kernel ask for."""
    return bool(np.abs(gram - gram.T).max() <= FUNCTION_ROUNDING * np.abs(gram).max())


def _values(kernel: Any, X: Array, Y: Array) -> Any:
    values = np.asarray(kernel(X, Y))
    name = kernel_name(kernel)
    if values.shape != (len(X), len(Y)):
        raise ValueError(
            f"{name} must return an array of shape {(len(X), len(Y))} for as many rows on its left "
            f"and right, got {values.shape}."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must return real numbers, got {values.dtype}.")
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0].tolist()
        raise ValueError(
            f"{name} returned {values[i, j]} for a pair of rows, and is not finite for "
            f"{np.count_nonzero(~finite)} of {values.size} pairs; it must be finite for all. "
            f"Scale the inputs, or define the kernel there."
        )
    return values
