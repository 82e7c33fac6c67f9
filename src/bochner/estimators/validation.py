"""Checks of what users pass to estimators: sample weights, alpha, rows of the right argument."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight

from bochner._numerics.arrays import FLOATS, Array
from bochner._numerics.namespaces import on_device, to_numpy


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
    """Return rows of the right argument as a finite float array or CSR matrix.

    Raises
    ------
    ValueError
        If they are not finite rows of numbers, or have not ``dim`` columns (``None``: any).
    """
    rows = check_array(right, accept_sparse="csr", dtype=FLOATS, input_name=name)
    if dim is not None and rows.shape[1] != dim:
        raise ValueError(
            f"{name} has {rows.shape[1]} columns; the rows of the right argument had {dim} in fit."
        )
    return rows
