"""Checks of mixtures of Gaussians."""

import numpy as np

from bochner._base.arrays import Array
from bochner._base.limits import EIGENVALUE_ROUNDING


def check_mixture(weights: Array, means: Array, covariances: Array) -> None:
    """Raise ``ValueError`` unless Q weights, means (Q, d) and covariances make a mixture.

    Covariances are full (Q, d, d), diagonal (Q, d) or scalar (Q,).
    """
    if weights.ndim != 1 or means.ndim != 2 or len(weights) != len(means) or not means.size:
        raise ValueError(
            f"weights must have shape (Q,) and means (Q, d), got {weights.shape} and {means.shape}."
        )
    for name, array in (("weights", weights), ("means", means), ("covariances", covariances)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, got {array.tolist()}.")
    if (weights <= 0).any():
        raise ValueError(f"weights must be positive, got {weights.tolist()}.")
    q, d = means.shape
    if covariances.shape not in {(q,), (q, d), (q, d, d)}:
        raise ValueError(
            f"covariances must have shape (Q, d, d), (Q, d) or (Q,) with Q = {q} components and "
            f"d = {d} inputs as in means, got {covariances.shape}."
        )
    is_full = covariances.ndim == 3
    if is_full and not np.allclose(
        covariances, covariances.swapaxes(1, 2), rtol=EIGENVALUE_ROUNDING, atol=0
    ):
        raise ValueError("Full covariances must be symmetric matrices.")
    least = np.linalg.eigvalsh(covariances) if is_full else covariances
    if (least < -EIGENVALUE_ROUNDING * np.abs(covariances).max(initial=0.0)).any():
        raise ValueError("covariances must be positive semi-definite.")
