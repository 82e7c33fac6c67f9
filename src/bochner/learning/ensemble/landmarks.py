r"""Kernels as features of landmarks, chosen by leave-one-out errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh, lapack

from bochner._numerics.arrays import Array
from bochner._numerics.linalg import jittered_cholesky
from bochner._numerics.threads import in_order
from bochner.features.length_scales import median_distance
from bochner.kernels import Gaussian, Kernel, Laplacian, Matern
from bochner.learning.ensemble.length_scales import Learnable, with_length_scales
from bochner.registry import register

_SEARCH_ROWS = 800
"""Rows of the search, an eigendecomposition of whose Gram matrix takes 0.2 seconds of a core."""

_OCTAVES = (-2.0, 4.0)
"""Length scales searched, as powers of two of the median distance: far below, functions are noise
between rows; far above, the kernel's shape near zero is all that is left, whatever the scale."""

_LOG_ALPHA = np.log(10.0) * np.arange(-9.0, 0.6, 0.5)
"""Logarithms of the ratios of noise to signal that are tried for each kernel: two per decade, from
rounding to three times as much noise as signal."""

_AS_GOOD = 1.005
"""Errors up to half a per cent greater are as good, of which the most noise is chosen. Chance moves
the error of 800 rows by some five per cent, and too little noise makes intervals too narrow."""

_MOST_INPUTS = 40
"""Most encoded columns that get a length scale each: a step's time grows with them, and 150 take
half a minute of a core."""

Family = Callable[[float], Learnable]

ROUGH: tuple[Family, ...] = (Laplacian,)
"""A kernel whose functions have kinks along every input, as those of trees have steps."""

SMOOTH: tuple[Family, ...] = (Gaussian, lambda length: Matern(length, nu=2.5))
"""Kernels whose functions have derivatives."""


@register(shapes={"rows": "md", "whitener": "mm"})
@dataclass(frozen=True, slots=True, eq=False)
class LandmarkFeatures:
    r"""Features :math:`z(x) = L^{-1} k(Z, x)` of landmarks ``Z``, with :math:`L L^\top = k(Z, Z)`.

    Their products are the kernel's Nyström approximation, exact between landmarks. Where all rows
    are landmarks, ridge regression on them is Gaussian process regression.
    """

    kernel: Kernel
    rows: Array  # (m, d): Z
    whitener: Array  # (m, m): L^{-T}

    @classmethod
    def of(cls, kernel: Kernel, rows: Array) -> "LandmarkFeatures":
        """Return the features of the kernel with some rows (m, d) as landmarks."""
        lower = jittered_cholesky(kernel(rows, rows), 0.0)
        inverse, _ = lapack.dtrtri(lower, lower=1)
        return cls(kernel, rows, np.ascontiguousarray(inverse.T))

    def features(self, X: Array) -> Array:
        """Return the features (n, m) of rows (n, d)."""
        return self.kernel(X, self.rows) @ self.whitener

    def products(self, X: Array, coef: Array) -> Array:
        """Return ``features(X) @ coef`` (n, t) at the cost of the kernel's values alone."""
        return self.kernel(X, self.rows) @ (self.whitener @ coef)

    def lacking_variance(self, X: Array, Z: Array) -> Array:
        """Return ``k(x, x)`` less the squared norms of the features ``Z`` of rows (n, d)."""
        lacking: Array = np.maximum(self.kernel.diag(X) - np.sum(Z**2, axis=1), 0.0)
        return lacking


def best_kernel(
    families: Sequence[Family],
    encodings: Sequence[Array],
    y: Array,
    rng: Generator,
    n_threads: int = 1,
) -> tuple[Kernel, int, float]:
    """Return kernel, encoding and ratio of noise to signal of the least leave-one-out error.

    ``encodings`` are several encodings (n, d) of the same rows. For each family and encoding the
    length scale starts from the median distance and moves by octaves while errors fall; then each
    input gets its own. Errors, and
    not the evidence, choose the noise: rows that repeat with equal targets have no noise by
    evidence, and others no prediction.
    """
    rows = rng.permutation(len(y))[:_SEARCH_ROWS]
    y = y[rows] - y[rows].mean()
    trials = [(family, index) for family in families for index in range(len(encodings))]
    seeds = rng.spawn(len(trials))

    def search(trial: int) -> tuple[float, float, Kernel, int]:
        family, index = trials[trial]
        X = encodings[index][rows]
        median = median_distance(X, seeds[trial], None)
        errors: dict[float, tuple[float, float]] = {}

        def error(octave: float) -> tuple[float, float]:
            if octave not in errors:
                kernel = family(median * 2.0**octave)
                errors[octave] = leave_one_out_error(kernel(X, X), y)
            return errors[octave]

        best = 0.0
        for step in (1.0, -1.0):
            while _OCTAVES[0] <= best + step <= _OCTAVES[1] and error(best + step) < error(best):
                best += step
        kernel, (least, alpha) = family(median * 2.0**best), error(best)
        if X.shape[1] <= _MOST_INPUTS:
            kernel, alpha, least = with_length_scales(kernel, X, y, alpha, seeds[trial])
        return least, alpha, kernel, index

    found = [result for _, result in in_order(search, range(len(trials)), n_threads)]
    _, alpha, kernel, index = min(found, key=lambda result: result[0])
    return kernel, index, alpha


def leave_one_out_error(gram: Array, y: Array) -> tuple[float, float]:
    r"""Return the least mean square of leave-one-out residuals, and its ratio of noise to signal.

    The residual of a row is :math:`(A^{-1} y)_i / (A^{-1})_{ii}`, :math:`A = K + \alpha I`.
    """
    values, vectors = eigh(gram, driver="evd")
    values, rotated, squares = np.maximum(values, 0.0), vectors.T @ y, vectors**2
    errors = []
    for alpha in np.exp(_LOG_ALPHA):
        inverse = 1.0 / (values + alpha)
        residuals = (vectors @ (rotated * inverse)) / (squares @ inverse)
        errors.append((float(np.mean(residuals**2)), float(alpha)))
    least = min(errors)[0]
    return max(
        ((error, alpha) for error, alpha in errors if error <= _AS_GOOD * least), key=itemgetter(1)
    )
