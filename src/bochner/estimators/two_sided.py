"""What estimators on kernels of two different arguments share."""

from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, stacked_rows
from bochner.features.approximation import Approximation, Recipe, approximate
from bochner.features.length_scales import AnyKernel, resolve_kernel
from bochner.features.parameters import generators


def approximation(
    kernel: AnyKernel | str,
    length_scale: Any,
    recipe: Recipe,
    random_state: Any,
    X: Any,
    right: Any,
    weight: Array | None = None,
) -> tuple[AnyKernel, Approximation, np.random.Generator]:
    """Return the kernel that the parameters mean, its frequencies, and a generator to go on with.

    Parameters
    ----------
    kernel, length_scale, recipe, random_state
        Parameters of an estimator.
    X : ndarray or CSR matrix of shape (n, d)
    right : ndarray or CSR matrix of shape (n2, d2) or None
        Rows of the right argument; ``None`` means ``X``. The median distance of a kernel given by
        name is then that of all rows together.
    weight : ndarray of shape (n,), default=None
        Rows of no weight are not looked at. With ``right``, of pairs of rows.
    """
    kernel_rng, draw_rng, data_rng, further_rng = generators(random_state, 4)
    all_rows, all_weights = X, weight
    if right is not None and right.shape[1] == X.shape[1]:
        all_rows = stacked_rows(X, right)
        all_weights = None if weight is None else np.tile(weight, 2)
    found = resolve_kernel(kernel, length_scale, all_rows, kernel_rng, all_weights)
    if weight is not None:
        X, right = (None if rows is None else rows[weight > 0] for rows in (X, right))
    return found, approximate(found, X, recipe, draw_rng, data_rng, right=right), further_rng
