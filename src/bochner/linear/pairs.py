r"""Ridge regression on pairs of rows, without their p² features.

For pairs :math:`(x_i, y_i)` with targets :math:`t_i` the model is bilinear in the features ``z``
of the left argument of a kernel and ``z'`` of the right one,

.. math:: f(x, y) = b + z(x)^\top A\, z'(y),

which is the kernel if :math:`A = S`, the signs of the features. It minimises

.. math:: \sum_i w_i (t_i - f(x_i, y_i))^2 + \alpha \min_c \|A - c S\|_F^2,

so that strong regularisation leaves the best multiple of the kernel, not zero. ``A`` absorbs any
rotation of ``z``, and with it the phases that make a kernel asymmetric. In a model that shrinks to
zero these phases would therefore have no effect. For links between papers, predicted from their
words, this model has smaller errors, too, and depends far less on ``alpha``.

As a Gaussian process it has the covariance :math:`(z(x) \cdot z(x')) (z'(y) \cdot z'(y'))` between
pairs, plus a multiple of the kernel and a constant with flat priors. Up to 2000 pairs are solved by
their covariance matrix, more pairs by conjugate gradients in the p² unknowns of ``A``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_solve, eigh
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from bochner._base import limits
from bochner._base.arrays import Array, Index, InputRows, row_blocks
from bochner._base.linalg import jittered_cholesky, pivoted_cholesky
from bochner._base.registry import register
from bochner._base.warn import warn_user
from bochner.features.stats import FeatureSums
from bochner.features.targets import Units
from bochner.linear.ridge_posterior import PointSolution, best_alpha
from bochner.spectral.frequencies import Frequencies

_DIRECT = 2000
"""Largest number of pairs whose covariance matrix is factorised, in 3e9 operations. Twice as many
pairs need eight times as many operations."""
_SUBSAMPLE = 1000
"""Number of pairs for the choice of alpha, by an eigendecomposition of this order. Twice as many
pairs take eight times as long; half as many have half of the information."""
_TOLERANCE = 1e-7
"""Relative residual at which steps end: predictions then have about six digits. The number of steps
is proportional to the number of digits."""
_MAX_ITERATIONS = 2000
"""Largest number of steps. A system that needs more is nearly singular: alpha is too small."""

Block = tuple[slice, Array, Array]
"""Indices of some pairs, their left features and their right features."""


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """The features of left rows ``X`` (n, d) and right rows ``Y`` (n, d2) in blocks of pairs."""

    frequencies: Frequencies
    X: Any
    Y: Any
    held: tuple[Block, ...] | None = None  # None: every pass recomputes the features

    @classmethod
    def of(cls, frequencies: Frequencies, X: InputRows, Y: InputRows) -> "PairFeatures":
        """Return the features of pairs, stored in memory if they take at most 256 MiB."""
        features = cls(frequencies, X, Y)
        if 32 * frequencies.n_frequencies * X.shape[0] > limits.CACHED_FEATURES_BYTES:
            return features
        return cls(frequencies, X, Y, tuple(features.blocks()))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks, in order."""
        if self.held is not None:
            yield from self.held
            return
        for rows in row_blocks(len(self), 16 * self.frequencies.n_frequencies):
            yield rows, *self.at(rows)

    def at(self, rows: slice | Index) -> tuple[Array, Array]:
        """Return left and right features of the chosen pairs, in float64."""
        left = self.frequencies.features(self.X[rows]).astype(np.float64, copy=False)
        right = self.frequencies.features_right(self.Y[rows]).astype(np.float64, copy=False)
        return left, right


@register(shapes={"coef": "pp"})
@dataclass(frozen=True, slots=True, eq=False)
class PairSolution(PointSolution):
    """A bilinear function of left and right features."""

    coef: Array  # (p, p): The matrix A
    intercept: float
    alpha: float
    n_iterations: int  # Steps of conjugate gradients, zero for the direct solution

    limitation: ClassVar[str] = (
        "On pairs, weights are estimated without their covariance and evidence."
    )

    def mean(self, left: Array, right: Array) -> Array:
        """Return predictions of shape (n,) for features of pairs, both of shape (n, p)."""
        values: Array = np.sum((left @ self.coef) * right, axis=1) + self.intercept
        return values


def fit_pairs(
    features: PairFeatures,
    targets: Array,
    alpha: float,
    *,
    weight: Array | None = None,
    fit_intercept: bool = False,
) -> PairSolution:
    """Return the bilinear function that minimises the regularised error on ``n`` pairs.

    ``targets`` and ``weight``, nonnegative and not all zero, have shape (n,); ``alpha`` is the
    ratio of the noise variance to the prior variance of a unit kernel; a constant is not penalised.
    Warns with a ``ConvergenceWarning`` if 2000 steps of conjugate gradients do not reach a relative
    residual of 1e-7.
    """
    weight = np.ones(len(targets)) if weight is None else weight
    rows = np.flatnonzero(weight > 0)
    if len(rows) <= _DIRECT:
        left, right = features.at(rows)
        flat = _flat(left, right, features.frequencies.signature, fit_intercept)
        lower = jittered_cholesky(_covariance(left, right) + alpha * np.diag(1.0 / weight[rows]))
        solved = cho_solve((lower, True), np.column_stack([flat, targets[rows]]))
        # Generalised least squares for the columns with flat priors.
        level = np.linalg.lstsq(flat.T @ solved[:, :-1], flat.T @ solved[:, -1], rcond=None)[0]
        dual = solved[:, -1] - solved[:, :-1] @ level
        coef = (left * dual[:, None]).T @ right + level[0] * np.diag(features.frequencies.signature)
        intercept = float(level[1]) if fit_intercept else 0.0
        return PairSolution(coef, intercept, float(alpha), 0)
    system = PairSystem.of(features, weight, alpha, fit_intercept)
    origin = float(weight @ targets) / float(weight.sum()) if fit_intercept else 0.0
    coef, n_iterations = system.solve(targets - origin)
    return PairSolution(coef, origin - system.mean_value(coef), float(alpha), n_iterations)


def best_pair_alpha(
    features: PairFeatures,
    targets: Array,
    rng: np.random.Generator,
    *,
    weight: Array | None = None,
    fit_intercept: bool = False,
) -> float:
    """Return the ``alpha`` of greatest evidence on at most 1000 of the pairs, which ``rng`` draws.

    The covariance does not depend on the number of pairs, so that the best alpha of a subsample
    suits all pairs. The evidence is the density of contrasts of targets: columns with flat priors
    are projected out.
    """
    rows = np.arange(len(targets)) if weight is None else np.flatnonzero(weight > 0)
    if len(rows) > _SUBSAMPLE:
        rows = np.sort(rng.choice(rows, _SUBSAMPLE, replace=False))
    left, right = features.at(rows)
    # Rows of a factor of the covariance are features of the pairs, at most as many as pairs.
    factor, _ = pivoted_cholesky(_covariance(left, right))
    flat = _flat(left, right, features.frequencies.signature, fit_intercept)
    root = np.sqrt(np.ones(len(rows)) if weight is None else weight[rows])[:, None]
    basis = np.linalg.qr(root * flat)[0]
    pair = root * factor, root * targets[rows, None]
    contrasts = (values - basis @ (basis.T @ values) for values in pair)
    sums = FeatureSums.from_rows(*contrasts)
    counts = Units.of(weight, len(targets)).counts[rows]
    degrees = max(float(counts.sum()) - flat.shape[1], 1.0)
    return best_alpha(replace(sums, weight=degrees))[0]


def _covariance(left: Array, right: Array) -> Array:
    return (left @ left.T) * (right @ right.T)


def _flat(left: Array, right: Array, signature: Array, fit_intercept: bool) -> Array:
    """Return the columns with flat priors: the kernel's values and, for an intercept, ones."""
    kernel = np.sum(left * signature * right, axis=1)
    return np.stack([kernel, *([np.ones(len(left))] * fit_intercept)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class PairSystem:
    r"""The equations for ``A``, as products with matrices of shape (p, p).

    They are :math:`\Phi^\top W \Phi\, a + \alpha P a = \Phi^\top W t`, where a row of
    :math:`\Phi` is :math:`z(x_i) \otimes z'(y_i)`, and ``P`` projects on the orthogonal complement
    of ``S``. A product takes :math:`4 n p^2` operations and the memory of one block of rows. If the
    two rows of a pair were independent, :math:`\Phi^\top W \Phi` would be a Kronecker product of
    two sums, up to a factor. This Kronecker product is the preconditioner, which saves nine of ten
    steps.
    """

    features: PairFeatures
    weight: Array  # (n,)
    alpha: float
    mean: Array  # (p, p): Mean of z z'^T over pairs, zero without an intercept
    bases: tuple[Array, Array]  # Eigenvectors of the sums of z z^T and of z' z'^T
    scales: Array  # Eigenvalues of the preconditioner in these bases

    @classmethod
    def of(
        cls, features: PairFeatures, weight: Array, alpha: float, fit_intercept: bool
    ) -> "PairSystem":
        """Return the equations for weights (n,), with or without an intercept."""
        p, total = len(features.frequencies.signature), float(weight.sum())
        left_gram, right_gram, mean = (np.zeros((p, p)) for _ in range(3))
        for rows, left, right in features.blocks():
            weighted = left * weight[rows, None]
            left_gram += weighted.T @ left
            right_gram += (right * weight[rows, None]).T @ right
            if fit_intercept:
                mean += weighted.T @ right / total
        left_values, left_basis = eigh(left_gram)
        right_values, right_basis = eigh(right_gram)
        products = np.outer(np.maximum(left_values, 0.0), np.maximum(right_values, 0.0))
        scales: Array = products / total + alpha
        return cls(features, weight, alpha, mean, (left_basis, right_basis), scales)

    def solve(self, targets: Array) -> tuple[Array, int]:
        """Return ``A`` and the number of steps, for targets (n,) centred if there is a constant."""
        steps: list[None] = []
        target = np.zeros(self.mean.shape)
        for rows, left, right in self.features.blocks():
            target += (left * (self.weight * targets)[rows, None]).T @ right
        solution, failed = cg(
            self._operator(self.product),
            target.ravel(),
            rtol=_TOLERANCE,
            maxiter=_MAX_ITERATIONS,
            M=self._operator(self.precondition),
            callback=lambda _: steps.append(None),
        )
        if failed:
            warn_user(
                f"Conjugate gradients did not converge in {_MAX_ITERATIONS} steps. Raise alpha, "
                f"which is {self.alpha:.3g}, or lower n_components.",
                ConvergenceWarning,
            )
        coef: Array = np.asarray(solution).reshape(self.mean.shape)
        return coef, len(steps)

    def _operator(self, function: Any) -> LinearOperator:
        size = self.mean.size
        return LinearOperator(
            (size, size),
            matvec=lambda a: function(a.reshape(self.mean.shape)).ravel(),
            dtype=np.float64,
        )

    def product(self, coef: Array) -> Array:
        """Return the left side of the equations."""
        signature = self.features.frequencies.signature
        along_kernel = np.diagonal(coef) @ signature / len(signature)
        total: Array = self.alpha * (coef - np.diag(along_kernel * signature))
        for rows, left, right in self.features.blocks():
            values = self.weight[rows] * np.sum((left @ coef) * right, axis=1)
            total += (left * values[:, None]).T @ right
        return total - float(self.weight.sum()) * self.mean_value(coef) * self.mean

    def precondition(self, coef: Array) -> Array:
        """Return an approximate solution of the equations."""
        left, right = self.bases
        return left @ ((left.T @ coef @ right) / self.scales) @ right.T

    def mean_value(self, coef: Array) -> float:
        """Return the mean over pairs of the function without its intercept, zero without one."""
        return float(np.sum(coef * self.mean))
