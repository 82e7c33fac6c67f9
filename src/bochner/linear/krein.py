r"""Ridge regression in the Krein space of an indefinite kernel, from sums over rows.

The weights :math:`(Z^\top Z + \alpha J)^{-1} Z^\top y` of features ``Z`` (n, p) whose signs are the
diagonal of :math:`J` do not exist at the poles, where :math:`-\alpha` is an eigenvalue of
:math:`K = Z J Z^\top`: there :math:`Z^\top Z + \alpha J` is singular.

Sources: Oglic and Gärtner, "Learning in reproducing kernel Krein spaces", 2018. Liu, Shi, Huang,
Yang and Suykens, "Analysis of regularized least squares in reproducing kernel Krein spaces", 2021.
Golub, Heath and Wahba, "Generalized cross-validation as a method for choosing a good ridge
parameter", 1979.
"""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgWarning, eigh, solve, solve_triangular
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from bochner._base.arrays import Array, pivoted_cholesky
from bochner._base.registry import register
from bochner._base.warn import warn_user
from bochner.features.row_sums import FeatureSums
from bochner.linear.ridge_posterior import (
    LOG_ALPHA,
    LinearFunction,
    PointSolution,
    centred_sums,
    origin,
    residual_squares,
)

NO_LIKELIHOOD = (
    "An indefinite kernel is not the covariance of a Gaussian process, and has no likelihood. Use "
    "associated=True, which learns in the associated Hilbert space."
)
_SINGULAR = 1e-6
"""Relative distance from a pole below which the system counts as singular: at this distance a
component of the targets is multiplied by a million."""
_CLOSE = 0.1
"""Relative distance from a pole below which a given alpha has a warning: a component of the targets
is multiplied by ten or more. With truncated distances, R² on new rows was between -134 and -1.6
at distances from 0.01 to 0.1, and 0.86 to 0.88 with alpha="evidence"."""
_CLEAR = np.log(1.1)
"""Distance that chosen values of log alpha keep from poles: there the component of the targets
along the eigenvector of the pole is multiplied by about ten."""
_NARROW = np.log(1.01)
"""Half of the least distance in log alpha of two poles between which values are used: midway, a
component is multiplied by about a hundred."""
_STEP = np.log(10.0) / 20.0
"""Step of the grid of log alpha, so short that gaps between poles contain points."""


@register(shapes={"coef": "pt", "intercept": "t", "poles": "q"})
@dataclass(frozen=True, slots=True, eq=False)
class KreinSolution(LinearFunction, PointSolution):
    """The stationary point of the objective: weights (p, t), intercepts (t,) and alpha."""

    coef: Array
    intercept: Array
    alpha: float
    poles: Array  # (q,): Values of alpha without a solution, ascending

    limitation: ClassVar[str] = NO_LIKELIHOOD


def fit_krein(
    sums: FeatureSums, signature: Array, alpha: float | None, *, fit_intercept: bool = False
) -> KreinSolution:
    """Return the stationary point from feature sums and the signs (p,) of the features.

    ``alpha=None`` minimises the generalised cross-validation score. At and near a pole,
    :meth:`KreinSpectrum.clear_alpha` is used, with a warning. An intercept is not penalised.
    """
    p = len(sums.gram)
    if np.shape(signature) != (p,) or not np.isin(signature, (-1.0, 1.0)).all():
        raise ValueError(
            f"signature must hold a sign, 1 or -1, for each of {p} features, got {signature!r:.60}."
        )
    signature = np.asarray(signature, dtype=np.float64)
    centred, degrees = centred_sums(sums, fit_intercept)
    spectrum = KreinSpectrum.of(centred, signature, degrees)
    if alpha is None:
        alpha = spectrum.best_alpha()
    elif spectrum.is_pole(alpha):
        clear = spectrum.clear_alpha(alpha)
        warn_user(
            f"alpha = {alpha:.10g} is a pole: the Gram matrix has an eigenvalue of -alpha, up to "
            f"rounding, and Z'Z + alpha J is singular. alpha = {clear:.10g} is used instead. "
            f"Choose another alpha, alpha='evidence', or associated=True, which has no poles.",
            RuntimeWarning,
        )
        alpha = clear
    elif (distance := spectrum.distance(alpha)) < _CLOSE:
        warn_user(
            f"alpha = {alpha:.10g} is within {distance:.1g} of a pole, relative to alpha: the Gram "
            f"matrix has an eigenvalue close to -alpha, and predictions may be useless. Use "
            f"alpha='evidence', which avoids poles, or associated=True, which has none. The "
            f"nearest alpha away from poles is {spectrum.clear_alpha(alpha):.10g}.",
            RuntimeWarning,
        )
    coef = _solved(_system(centred.gram, signature, alpha), centred.cross, alpha)
    mean_features, mean_targets = origin(sums, centred)
    intercept = mean_targets - mean_features @ coef
    return KreinSolution(coef, intercept, float(alpha), spectrum.poles)


def _solved(system: Array, cross: Array, alpha: float) -> Array:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LinAlgWarning)
        coef: Array = solve(system, cross, assume_a="sym")
    if any(issubclass(warning.category, LinAlgWarning) for warning in caught):
        warn_user(
            f"The linear system is ill-conditioned at alpha = {alpha:.3g}: digits of the "
            f"coefficients are lost. Increase alpha, or bring the weights of the rows closer "
            f"together.",
            ConvergenceWarning,
        )
    return coef


@dataclass(frozen=True, slots=True, eq=False)
class KreinSpectrum:
    r"""The spectrum of the signed Gram matrix, from which ``alpha`` is chosen.

    With :math:`Z^\top Z = L L^\top` the nonzero eigenvalues of :math:`K = Z J Z^\top` are the
    eigenvalues of the symmetric matrix :math:`L^\top J L`, whose size does not depend on the number
    of rows.
    """

    values: Array  # (r,): Eigenvalues, ascending, where r is the numerical rank of Z
    squares: Array  # (r, t): Squares of the targets' components along the eigenvectors
    sums: FeatureSums  # Centred with an intercept
    degrees: float  # Degrees of freedom

    @classmethod
    def of(cls, sums: FeatureSums, signature: Array, degrees: float) -> "KreinSpectrum":
        """Return the spectrum, from one pivoted Cholesky factor and one eigendecomposition."""
        # Pivoting reveals the rank: features of repeated rows are linearly dependent.
        lower, pivots = pivoted_cholesky(sums.gram)
        components = solve_triangular(lower[pivots], sums.cross[pivots], lower=True)
        values, vectors = eigh((lower.T * signature) @ lower)
        return cls(values, (vectors.T @ components) ** 2, sums, degrees)

    @property
    def poles(self) -> Array:
        """Values of ``alpha`` without a solution, ascending, of shape (q,)."""
        return -self.values[self.values < 0.0][::-1]

    def is_pole(self, alpha: float) -> bool:
        """Return whether ``alpha`` is a pole, up to a relative distance of 1e-6 or rounding."""
        reach = max(_SINGULAR * alpha, self._rounding)
        return bool(np.any(np.abs(self.values + alpha) < reach))

    def distance(self, alpha: float) -> float:
        """Return the distance of ``alpha`` from the nearest pole, relative to ``alpha``."""
        return float(np.min(np.abs(self.poles / alpha - 1.0), initial=np.inf))

    def clear_alpha(self, alpha: float) -> float:
        """Return the value nearest to ``alpha``, by ratio, that is 10 % or more from all poles."""
        return float(np.exp(_nearest(np.log(alpha), *self._clear_intervals())))

    def score(self, alpha: float) -> float:
        r"""Return the log of the generalised cross-validation score, averaged over targets.

        With :math:`h_i = \lambda_i / (\lambda_i + \alpha)` it is
        :math:`n \|y - H y\|^2 / (n - \sum_i |h_i|)^2`; an intercept takes one more of ``n`` in the
        denominator. Without negative eigenvalues this is the score of Golub, Heath and Wahba. The
        score is infinite where :math:`\sum_i |h_i|` exceeds the degrees of freedom.
        """
        return self._score_and_slope(alpha)[0]

    def best_alpha(self) -> float:
        """Return the ``alpha`` of smallest cross-validation score that is not close to a pole."""
        low, high = self._clear_intervals()
        grid = np.unique([_nearest(point, low, high) for point in self._grid()])
        scores = [self.score(alpha) for alpha in np.exp(grid)]
        # Reversed, so that the largest of equally good values of alpha is chosen.
        best = len(grid) - 1 - int(np.argmin(scores[::-1]))
        interval = int(np.argmin(np.abs(np.clip(grid[best], low, high) - grid[best])))
        left = max(low[interval], grid[max(best - 1, 0)])
        right = min(high[interval], grid[min(best + 1, len(grid) - 1)])
        log_alpha = grid[best]
        if self._slope(left) < 0.0 < self._slope(right):
            log_alpha = brentq(self._slope, left, right, xtol=1e-13)
        return float(np.exp(log_alpha))

    def _score_and_slope(self, alpha: float) -> tuple[float, float]:
        """Return the score and its derivative with respect to log alpha."""
        # Eigenvalues of the hat matrix, which may be negative or exceed one.
        hat = self.values / (self.values + alpha)
        square = self.sums.square
        # |y - H y|² = |y|² - sum of h (2 - h) times squared components.
        residual = residual_squares(square, (hat * (2.0 - hat)) @ self.squares)
        remaining = self.degrees - float(np.sum(np.abs(hat)))
        if remaining <= 0.0:
            return np.inf, np.nan
        score = float(np.mean(np.log(self.sums.n_observations * residual))) - 2.0 * float(
            np.log(remaining)
        )
        growth = 2.0 * (hat * (1.0 - hat) ** 2) @ self.squares
        gain = float(np.sum(np.abs(hat) * (1.0 - hat)))
        return score, float(np.mean(growth / residual)) - 2.0 * gain / remaining

    def _slope(self, log_alpha: float) -> float:
        return self._score_and_slope(float(np.exp(log_alpha)))[1]

    @property
    def _rounding(self) -> float:
        """Rounding error of the eigenvalues."""
        double = np.finfo(np.float64)
        return max(10.0 * float(double.eps * np.trace(self.sums.gram)), float(double.tiny))

    def _grid(self) -> Array:
        scale = float(np.trace(self.sums.gram)) / self.sums.n_observations
        scale = max(scale, np.finfo(np.float64).tiny)
        lowest, highest = np.log(scale) + np.array(LOG_ALPHA)
        if len(self.poles):
            highest = max(highest, np.log(10.0 * self.poles[-1]))
        return np.arange(lowest, highest + _STEP, _STEP)

    def _clear_intervals(self) -> tuple[Array, Array]:
        """Return the ends of the intervals of log alpha that are far enough from all poles."""
        tiny = float(np.finfo(np.float64).tiny)
        poles = -self.values[self.values < self._rounding][::-1]
        low = np.append(-np.inf, np.log(poles + self._rounding))
        high = np.append(np.log(np.maximum(poles - self._rounding, tiny)), np.inf)
        half = (high - low) / 2.0
        wide = (half >= _NARROW) & (high > np.log(tiny))
        margin = np.minimum(half, _CLEAR)[wide]
        return low[wide] + margin, high[wide] - margin


def _system(gram: Array, signature: Array, alpha: float) -> Array:
    return gram + alpha * np.diag(signature)


def _nearest(point: float, low: Array, high: Array) -> float:
    """Return the value nearest to ``point`` in the union of the intervals [``low``, ``high``]."""
    clipped = np.clip(point, low, high)
    return float(clipped[np.argmin(np.abs(clipped - point))])
