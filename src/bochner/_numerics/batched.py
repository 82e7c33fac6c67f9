"""Cholesky factors of many matrices at once, in any namespace.

Functions outside of the array API standard are taken from torch if it is the namespace, and are
replaced by solutions of general systems otherwise.
"""

from typing import Any

import numpy as np

from bochner._numerics.namespaces import namespace


def factored(matrices: Any) -> tuple[Any, Any]:
    """Return lower Cholesky factors (C, p, p), and which matrices are positive definite (C,).

    Matrices that are not positive definite get the factor of the identity.
    """
    xp = namespace(matrices)
    if hasattr(xp.linalg, "cholesky_ex"):
        lower, info = xp.linalg.cholesky_ex(matrices)
        definite = info == 0
    else:
        lower = xp.stack([_factor(matrices[index, ...]) for index in range(matrices.shape[0])])
        definite = xp.all(xp.isfinite(lower), axis=(1, 2))
    unit = xp.eye(matrices.shape[-1], dtype=matrices.dtype, device=matrices.device)
    return xp.where(definite[:, None, None], lower, unit[None, :, :]), definite


def inverse_of(lower: object) -> Any:
    """Return the inverses (C, p, p) of the matrices with these lower factors."""
    xp = namespace(lower)
    if hasattr(xp, "cholesky_inverse"):
        return xp.cholesky_inverse(lower)
    root = xp.linalg.inv(lower)
    return xp.matrix_transpose(root) @ root


def half_solved(lower: object, right: object) -> Any:
    """Return the solutions (C, p, k) of systems with lower factors (C, p, p)."""
    xp = namespace(lower)
    if hasattr(xp.linalg, "solve_triangular"):
        return xp.linalg.solve_triangular(lower, right, upper=False)
    return xp.linalg.solve(lower, right)


def log_determinants(lower: object) -> Any:
    """Return the logarithms (C,) of the determinants of the matrices with these lower factors."""
    xp = namespace(lower)
    return 2.0 * xp.sum(xp.log(xp.linalg.diagonal(lower)), axis=-1)


def _factor(matrix: Any) -> Any:
    """Return the lower factor of one matrix, filled with NaN where it has none."""
    xp = namespace(matrix)
    try:
        return xp.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return xp.full(matrix.shape, xp.nan, dtype=matrix.dtype, device=matrix.device)
