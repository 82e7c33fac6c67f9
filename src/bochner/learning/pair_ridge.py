r"""Ridge regression on pairs of rows, without their p² features.

For pairs :math:`(x_i, y_i)` with targets :math:`t_i` the model is bilinear in the features ``z``
of the left argument of a kernel and ``z'`` of the right one,

.. math:: f(x, y) = b + z(x)^\top A\, z'(y),

with the kernel itself among its values: :math:`A = S`, the signs of the features. It minimises

.. math:: \sum_i w_i (t_i - f(x_i, y_i))^2 + \alpha \min_c \|A - c S\|_F^2,

so that strong regularisation leaves the best multiple of the kernel, not zero. ``A`` absorbs any
rotation of ``z``, and with it the phases that make a kernel asymmetric: they would have no effect
in a model that shrinks to zero. For links between papers, predicted from their words, this model is
also better, and depends far less on ``alpha``.

As a Gaussian process it has the covariance :math:`(z(x) \cdot z(x')) (z'(y) \cdot z'(y'))` between
pairs, plus a multiple of the kernel and a constant with flat priors. Up to 2000 pairs are solved
for by their covariance matrix, more by conjugate gradients in ``A``.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve

from bochner._numerics.arrays import Array
from bochner._numerics.linalg import jittered_cholesky, pivoted_cholesky
from bochner.features.stats import FeatureSums
from bochner.learning.pair_system import PairFeatures, PairSystem
from bochner.learning.ridge import PointSolution, best_alpha
from bochner.registry import register

_DIRECT = 2000
"""Number of pairs up to which their covariance matrix is factorised, in 3e9 operations. At twice
it is eight times as many."""

_SUBSAMPLE = 1000
"""Number of pairs on which alpha is chosen, by an eigendecomposition of that order. Twice as many
take eight times as long; half of them choose from half the information."""


@register(shapes={"coef": "pp"})
@dataclass(frozen=True, slots=True, eq=False)
class PairSolution(PointSolution):
    """A bilinear function of left and right features, with ``coef`` (p, p) the matrix ``A``.

    ``n_iterations`` is the number of steps of conjugate gradients, zero for the direct solution.
    """

    coef: Array
    intercept: float
    alpha: float
    n_iterations: int

    @property
    def limitation(self) -> str:
        return "On pairs, weights are estimated without their covariance and evidence."

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

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Frequencies
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(2, 40, 1))
    >>> f = Frequencies(omega=[[1.0]], weight=[1.0], phase=[0.5])
    >>> solution = fit_pairs(PairFeatures.of(f, X, Y), 3.0 * np.diagonal(f.gram(X, Y)), 1.0)
    >>> bool(np.allclose(solution.coef, [[3.0, 0.0], [0.0, 3.0]]))
    True
    """
    weight = np.ones(len(targets)) if weight is None else weight
    rows = np.flatnonzero(weight > 0)
    if len(rows) <= _DIRECT:
        left, right = features.at(rows)
        flat = _flat(left, right, features.signature, fit_intercept)
        lower = jittered_cholesky(_covariance(left, right) + alpha * np.diag(1.0 / weight[rows]))
        solved = cho_solve((lower, True), np.column_stack([flat, targets[rows]]))
        level = np.linalg.lstsq(flat.T @ solved[:, :-1], flat.T @ solved[:, -1], rcond=None)[0]
        dual = solved[:, -1] - solved[:, :-1] @ level
        coef = (left * dual[:, None]).T @ right + level[0] * np.diag(features.signature)
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
    r"""Return the ``alpha`` of greatest evidence on at most 1000 of the pairs.

    The model is a Gaussian process of covariance :math:`(z(x) \cdot z(x')) (z'(y) \cdot z'(y'))`
    between pairs, plus a multiple of the kernel and a constant with flat priors. The covariance
    does not depend on the number of pairs, so that a subsample can choose for all of them. The
    evidence is that of the contrasts of targets which the flat priors leave alone. Parameters are
    those of :func:`fit_pairs`, and ``rng`` draws the subsample.
    """
    rows = np.arange(len(targets)) if weight is None else np.flatnonzero(weight > 0)
    if len(rows) > _SUBSAMPLE:
        rows = np.sort(rng.choice(rows, _SUBSAMPLE, replace=False))
    left, right = features.at(rows)
    # The rows of a factor of the covariance are features of the pairs, no more than there are.
    factor, _ = pivoted_cholesky(_covariance(left, right))
    flat = _flat(left, right, features.signature, fit_intercept)
    root = np.sqrt(np.ones(len(rows)) if weight is None else weight[rows])[:, None]
    basis = np.linalg.qr(root * flat)[0]
    contrasts = (
        values - basis @ (basis.T @ values)
        for values in (root * factor, root * targets[rows, None])
    )
    sums = FeatureSums.from_rows(*contrasts)
    degrees = max(float(np.sum(root**2)) - flat.shape[1], 1.0)
    return best_alpha(replace(sums, weight=degrees))[0]


def _covariance(left: Array, right: Array) -> Array:
    return (left @ left.T) * (right @ right.T)


def _flat(left: Array, right: Array, signature: Array, fit_intercept: bool) -> Array:
    """Return the columns with flat priors: the kernel's values and, if asked for, ones."""
    kernel = np.sum(left * signature * right, axis=1)
    return np.stack([kernel, *([np.ones(len(left))] * fit_intercept)], axis=1)
