"""Checks of what users pass to estimators: weights, alpha, rows, and the kernel's symmetry."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight

from bochner._numerics.arrays import FLOATS, Array
from bochner._numerics.namespaces import on_device, to_numpy
from bochner.features.length_scales import AnyKernel
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel

_WHY = (
    "This model uses the features of one argument only. Phases cancel in their products, and it "
    "would learn with another kernel"
)
_ASSOCIATED = "; or associated=True, which learns with Z Z' as it is"


def checked_weight(sample_weight: Any, X: Any) -> Array | None:
    """Return weights of shape (n,), or ``None``; refuse negative ones and all zeros."""
    if sample_weight is None:
        return None
    # Weights stay on the host. The check uses nothing but the number of rows, so that rows on a
    # device need not be copied.
    rows = np.broadcast_to(0.0, X.shape) if on_device(X) else X
    weight: Array = _check_sample_weight(
        to_numpy(sample_weight), rows, dtype=np.float64, ensure_non_negative=True
    )
    return weight


def checked_alpha(alpha: Any) -> float | None:
    """Return ``alpha`` as a positive float, or ``None`` for ``"evidence"``."""
    if isinstance(alpha, str) and alpha == "evidence":
        return None
    if isinstance(alpha, Real) and np.isfinite(float(alpha)) and float(alpha) > 0.0:
        return float(alpha)
    raise ValueError(f"alpha must be a positive number or 'evidence', got {alpha!r}.")


def checked_right(right: Any, name: str = "right", *, dim: int | None = None) -> Any:
    """Return rows of the right argument as a finite float array or CSR matrix of ``dim`` columns.

    ``None`` accepts any number of columns.
    """
    rows = check_array(right, accept_sparse="csr", dtype=FLOATS, input_name=name)
    if dim is not None and rows.shape[1] != dim:
        raise ValueError(
            f"{name} has {rows.shape[1]} columns; the rows of the right argument had {dim} in fit."
        )
    return rows


def refuse_asymmetric(kernel: AnyKernel, *, associated: bool = True) -> None:
    """Raise ``ValueError`` for a kernel object that is asymmetric; functions pass.

    ``associated`` is whether the model has the parameter of that name, which the message suggests.
    """
    if not isinstance(kernel, Kernel) or kernel.is_symmetric:
        return
    raise ValueError(
        f"{kernel!r} is asymmetric: k(x, y) and k(y, x) may differ. {_WHY}. Use "
        f"AsymmetricKernelRidge(kernel); or kernel.symmetrised, if the order of the arguments does "
        f"not matter (a Stationary whose function is even says so with symmetric=True)"
        f"{_ASSOCIATED if associated else ''}."
    )


def refuse_two_sided(kernel: AnyKernel, frequencies: Frequencies) -> None:
    """Raise ``ValueError`` if the left and right features of the kernel differ."""
    if frequencies.is_symmetric:
        return
    if isinstance(kernel, Kernel):
        raise ValueError(
            f"{kernel!r} has different features for its two arguments. {_WHY}. Use "
            f"AsymmetricKernelRidge(kernel), or fit weights to its values alone: "
            f"kernel.__call__ with weights='least_squares'{_ASSOCIATED}."
        )
    raise ValueError(
        f"The function {kernel!r} is not symmetric on these data. {_WHY}. Use "
        f"AsymmetricKernelRidge(kernel, weights='least_squares'); or a function that returns "
        f"(kernel(X, Y) + kernel(Y, X).T) / 2, if the order of the arguments does not matter"
        f"{_ASSOCIATED}."
    )
