"""Laws of a table whose variances are those of left-out residuals: boosted trees, and estimators.

Left-out predictions come from fits without a fold of the scored observations and their groups. The
variance of a new target is the variance of the left-out residuals.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bochner._base.arrays import Array, as_array
from bochner._base.threads import in_order, single_threaded_blas
from bochner.tables.distinct_rows import Chosen
from bochner.tables.kernel_laws import LeaveOneOutPredictions
from bochner.tables.observations import Observations, Scored
from bochner.tables.removal import fold_numbers
from bochner.tables.weights import variance_parts

_N_FOLDS = 4
"""Number of folds of the scored observations; each fold costs one more fit."""

_FEW_SCORED = 0.2
"""Share of scored observations up to which a single fit without all of them predicts them: it has
nearly as many rows as a fit to all observations."""

_NEGLIGIBLE = 0.01
"""Share of scored observations up to which the fit without them is the fit to all observations: a
hundredth fewer observations change errors by less than half a per cent of their excess."""


@dataclass(frozen=True, slots=True, eq=False)
class ResidualLaw(ABC):
    """A law of a table: means, and the variance of left-out residuals.

    The variance is ``signal`` times the sum of ``misfit`` and ``alpha`` over the target's weight.
    """

    name: str
    signal: Array  # (t,): Variance of left-out residuals at weight one
    misfit: float
    alpha: float

    @abstractmethod
    def mean(self, X: Array, rows: Array) -> Array:
        """Return means (n', t) of encoded rows (n', d)."""

    def variance(self, X: Array, rows: Array, weight: Array | float = 1.0) -> Array:
        """Return variances (n', t) of new targets at encoded rows (n', d)."""
        relative = np.broadcast_to(self.misfit + self.alpha / as_array(weight), len(X))
        return relative[:, None] * self.signal

    @property
    def noise(self) -> Array:
        """Variance (t,) of the noise of a target of weight one."""
        return self.alpha * self.signal

    def covariance(self, X: Array, rows: Array, weight: Array | float = 1.0) -> Array:
        """Return covariances (n', n', t) of new targets, :meth:`variance` on their diagonal."""
        cov = np.zeros((len(X), len(X), len(self.signal)))
        np.einsum("iit->it", cov)[:] = self.variance(X, rows, weight)
        return cov

    def with_variances(self, of_function: float, of_noise: float) -> Self:
        """Return the law with the variances of misfit and noise multiplied by factors."""
        alpha = of_noise / of_function * self.alpha
        return replace(self, signal=of_function * self.signal, alpha=alpha)


Fitted = TypeVar("Fitted", bound=ResidualLaw)


def n_fits(n_scored: int, n_samples: int) -> int:
    """Return the largest number of fits of a law whose left-out errors are known."""
    if n_scored <= _NEGLIGIBLE * n_samples:
        return 1
    return 2 if n_scored <= _FEW_SCORED * n_samples else 1 + _N_FOLDS


def with_left_out(
    fitted: Callable[[Chosen], Fitted],
    data: Observations,
    order: Chosen,
    scored: Scored,
    labels: NDArray[np.int64] | None,
    n_threads: int = 1,
    *,
    is_final: bool = True,
) -> tuple[Fitted, LeaveOneOutPredictions] | None:
    """Return the law of all observations, and its left-out means and variances.

    ``fitted`` returns a law of unit variances, fitted to some observations. Threads share the fits
    to all observations and to folds of them. ``labels`` (n,) are the indices of classes; ``None``
    for a regression. The result is ``None`` if a fold leaves fewer than two observations, or fewer
    than two of a class. Unless it ``is_final``, the law is one of a fold.
    """
    # Fits without a fold: all observations of the order except the removed ones.
    folds = [
        (np.setdiff1d(order, removed), places) for removed, places in _folds(data, order, scored)
    ]
    classes = np.zeros(len(data), dtype=np.int64) if labels is None else labels
    n_classes = int(classes.max()) + 1
    if min(np.bincount(classes[rows], minlength=n_classes).min() for rows, _ in folds) < 2:
        return None

    parts = [rows for rows, _ in folds]
    if is_final and len(scored.units) > _NEGLIGIBLE * len(order):
        parts = [np.sort(order), *parts]
    # Fits run in threads; a single fit has all threads.
    n_inner = n_threads if len(parts) == 1 else 1

    def law_of(rows: Chosen) -> Fitted:
        with threadpool_limits(n_inner, user_api="openmp"):
            return fitted(rows)

    with single_threaded_blas():
        laws = [law for _, law in in_order(law_of, parts, n_threads)]
    law, units = laws[0], scored.units
    means = np.empty((len(units), len(law.signal)))
    for of_fold, (_, places) in zip(laws[-len(folds) :], folds, strict=True):
        rows = data.X[units[places]]
        means[places] = of_fold.mean(rows, rows)
    if labels is not None:
        unknown = np.full(means.shape, np.nan)
        return law, LeaveOneOutPredictions(means, unknown, unknown)
    # Out-of-fold residuals give the variance of a new target.
    squares = (data.Y[units] - means) ** 2
    weights = scored.observed.weights
    signal = squares.mean(axis=0)
    relative = np.mean(squares / np.where(signal > 0.0, signal, 1.0), axis=1)
    # Equal weights do not distinguish misfit from noise: all variance counts as noise.
    misfit, alpha = 0.0, 1.0
    if np.ptp(weights):
        misfit, alpha = variance_parts(relative, np.ones(len(units)), 1.0 / weights)
    # The share of the noise falls with the weight, that of the misfit does not.
    variances = signal * (misfit + alpha / weights)[:, None]
    noise = np.broadcast_to(signal * alpha, means.shape)
    law = replace(law, signal=signal, misfit=float(misfit), alpha=float(alpha))
    return law, LeaveOneOutPredictions(means, variances, noise)


def _folds(data: Observations, order: Chosen, scored: Scored) -> Iterator[tuple[Chosen, Chosen]]:
    """Yield the observations that each fit leaves out, and their positions in ``scored``."""
    n_scored = len(scored.units)
    groups = None if data.groups is None else data.groups[scored.units]
    is_one_block = groups is not None and not np.ptp(groups)
    if is_one_block or n_scored <= _FEW_SCORED * len(order):
        yield scored.units, np.arange(n_scored)
        return
    folds = fold_numbers(groups, n_scored, _N_FOLDS)
    for fold in np.unique(folds):  # Few groups are fewer than the folds
        places = np.flatnonzero(folds == fold)
        yield scored.units[places], places
