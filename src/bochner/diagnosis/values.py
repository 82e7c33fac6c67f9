"""Exact values of a kernel or function, checked."""

from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner._numerics.limits import EIGENVALUE_ROUNDING, FUNCTION_ROUNDING
from bochner.kernels import Kernel

# Rounding errors of a kernel value that an eigenvalue must exceed to count as nonzero.
_ROUNDINGS = 100.0

# Rows that a function is evaluated on again, to see that each value depends on its pair only.
_N_PROBED = 3

# Relative difference between both evaluations that counts as rounding, in float32 or with
# another order of summation.
_SAME_VALUES = 1e-4


def kernel_name(kernel: Any) -> str:
    """Return a kernel's expression, or a function's name."""
    if isinstance(kernel, Kernel):
        return repr(kernel)
    name: str = getattr(kernel, "__qualname__", None) or repr(kernel)
    return name


def exact_gram(kernel: Any, rows: Array) -> tuple[Array, float]:
    """Return the Gram matrix (n, n), and the relative rounding error of its eigenvalues.

    That is 1e-10, or a hundred rounding errors of the kernel's number type if that is larger.
    Raises ``ValueError`` if the kernel does not return one finite real number for each pair of
    rows, or the number for a pair depends on other rows.
    """
    gram = _values(kernel, rows, rows)
    if not isinstance(kernel, Kernel):
        few = min(_N_PROBED, len(rows))
        part = _values(kernel, rows[:few], rows)
        if np.abs(part - gram[:few]).max() > _SAME_VALUES * np.abs(gram).max():
            raise ValueError(
                f"{kernel_name(kernel)} is not a function of pairs: its values for the same two "
                f"rows changed when other rows were left out. Expected k(X, Y) with entries "
                f"k(x_i, y_j)."
            )
    precision = np.finfo(gram.dtype).eps if gram.dtype.kind == "f" else 0.0
    return gram.astype(np.float64), max(EIGENVALUE_ROUNDING, _ROUNDINGS * float(precision))


def asymmetry(gram: Array) -> float:
    r"""Return :math:`\|K - K^\top\|_F / (2 \|K\|_F)`, the size of the asymmetric part; 0 to 1."""
    size = float(np.linalg.norm(gram)) or 1.0
    return 0.5 * float(np.linalg.norm(gram - gram.T)) / size


def is_symmetric(gram: Array) -> bool:
    """Whether a Gram matrix is symmetric up to rounding."""
    return bool(np.abs(gram - gram.T).max() <= FUNCTION_ROUNDING * np.abs(gram).max())


def _values(kernel: Any, X: Array, Y: Array) -> Any:
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
