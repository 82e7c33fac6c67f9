"""Exact fits to a part of many rows, where they are better than landmarks of all rows.

Landmarks average the noise of all rows, but represent functions of few landmarks only. An exact fit
to a part of the rows in the same time has several times as many. Which of them has smaller errors
depends on the noise and on how well the kernel suits the function; a comparison in a smaller size
tells.
"""

import numpy as np
from scipy.linalg import cho_solve

from bochner._base.arrays import Array
from bochner._base.linalg import jittered_cholesky
from bochner.tables.distinct_rows import Chosen, Rows
from bochner.tables.kernel_passes import sampled_rows
from bochner.tables.kernel_products import solved_by_products
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observation_roles import FitPlan

_DIVISOR = 4
"""Ratio of the sizes of a fit to those of the comparison, which takes less than a second. Its
operations are a sixty-fourth."""

_MOST_COMPARED = 2000
"""Most rows at which errors are compared: their ratio has a standard error of some per cent."""

_LEAST_GAIN = 0.93
"""Largest ratio of the errors in the smaller size with which the exact fit is chosen. In the full
size the ratio is up to a tenth larger, because more landmarks represent more of a function."""

_NEARLY_ALL, _LEAST_GAIN_OF_NEARLY_ALL = 1.25, 0.98
"""Largest ratio of the rows to those of a part that has nearly all rows, and the ratio of errors
with which such a part is chosen. It loses hardly any row, but predictions take four times as long
as those of landmarks."""


def is_part_better(learned: LearnedKernel, columns: Chosen, plan: FitPlan, n_threads: int) -> bool:
    """Return whether an exact fit to the part of the rows is expected to have smaller errors."""
    n_last = plan.n_scored_rows
    # Landmarks are rows of the part: laws of both kinds share the rows that are stored.
    if plan.n_part - n_last < plan.n_landmarks:
        return False
    n_landmarks = max(plan.n_landmarks // _DIVISOR, 1)
    n_rows = min((len(plan.rows) - n_last) // _DIVISOR, int(sampled_rows(n_landmarks)))
    n_exact = (plan.n_part - n_last) // _DIVISOR
    first = len(plan.rows) - n_last
    new = plan.rows.part(np.arange(first, min(first + _MOST_COMPARED, len(plan.rows))))
    new, known = new.columns(columns), plan.rows.part(np.arange(n_rows)).columns(columns)
    part, landmarks = known.part(np.arange(n_exact)), known.X[:n_landmarks]
    everything = np.arange(len(columns))
    sizes = n_landmarks, 0
    of_landmarks = solved_by_products(learned, everything, known, sizes, n_threads, None).coef
    gram = learned(part.X, part.X)
    gram[np.diag_indices(n_exact)] += learned.alpha / part.weights
    of_part = cho_solve((jittered_cholesky(gram), True), part.Y)
    error = _squares(learned(new.X, part.X) @ of_part, new)
    has_nearly_all = len(plan.rows) <= _NEARLY_ALL * plan.n_part
    gain = _LEAST_GAIN_OF_NEARLY_ALL if has_nearly_all else _LEAST_GAIN
    return error <= gain * _squares(learned(new.X, landmarks) @ of_landmarks, new)


def _squares(means: Array, rows: Rows) -> float:
    return float(np.sum(rows.weights[:, None] * (rows.Y - means) ** 2))
