"""Minimisation of smooth functions by L-BFGS-B."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from bochner._base.arrays import Array, as_array

Loss = Callable[[Array], tuple[float, Array]]
"""A function of a point (k,) that returns the loss there and its gradient (k,)."""

_RELATIVE_DECREASE = 1e7 * float(np.finfo(np.float64).eps)
"""SciPy's default: a step whose relative decrease of the loss is less ends the descent."""

_SLOPE = 1e-5  # SciPy's default: the descent ends where no projected derivative is greater
_CORRECTIONS = 10
"""SciPy's default number of corrections that L-BFGS keeps."""

MANY_CORRECTIONS = 20
"""Corrections for mixtures, twice SciPy's default: memory is proportional to it."""


class Minimum(NamedTuple):
    """The result of a minimisation."""

    point: Array
    loss: float
    n_steps: int


def minimised(
    loss: Loss,
    start: Array,
    *,
    n_steps: int,
    bounds: object = None,
    decrease: float = _RELATIVE_DECREASE,
    slope: float = _SLOPE,
    n_corrections: int = _CORRECTIONS,
    visit: Callable[[Array, float], None] | None = None,
) -> Minimum:
    """Minimise a loss from ``start`` (k,) by L-BFGS-B, until steps or slopes are small."""

    def after_step(intermediate_result: OptimizeResult) -> None:
        if visit is not None:
            visit(intermediate_result.x.copy(), float(intermediate_result.fun))

    limits = {"maxiter": n_steps, "ftol": decrease, "gtol": slope, "maxcor": n_corrections}
    options: dict[str, Any] = {"jac": True, "bounds": bounds, "options": limits}
    end = minimize(loss, start, method="L-BFGS-B", callback=after_step, **options)
    return Minimum(as_array(end.x), float(end.fun), int(end.nit))
