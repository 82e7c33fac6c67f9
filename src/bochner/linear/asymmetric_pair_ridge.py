r"""Ridge regression on pairs of rows, without forming the p² features of each pair.

The penalty on the distance of ``A`` from multiples of the kernel keeps phases: ``A`` absorbs any
rotation of ``z``, so that in a model that shrinks to zero the phases would have no effect. As a
Gaussian process the model has the covariance :math:`(z(x) \cdot z(x')) (z'(y) \cdot z'(y'))`
between pairs, plus a multiple of the kernel and a constant with flat priors. Up to 2000 pairs are
solved by their covariance matrix, more by conjugate gradients in the p² unknowns of ``A``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import cho_solve, eigh
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bochner._base import limits
from bochner._base.arrays import (
    FLOATS,
    Array,
    ArrayLike,
    Index,
    InputRows,
    MatrixLike,
    jittered_cholesky,
    pivoted_cholesky,
    row_blocks,
)
from bochner._base.checks import validated, validated_with_numbers
from bochner._base.registry import register
from bochner._base.warn import warn_user
from bochner.features.approximation import check_rows
from bochner.features.chunks import Units
from bochner.features.row_sums import FeatureSums
from bochner.linear.argument_checks import checked_right
from bochner.linear.asymmetric_kernel_ridge import TwoSidedRidge
from bochner.linear.ridge_posterior import PointSolution, best_alpha
from bochner.spectral.frequencies import Frequencies

_DIRECT = 2000
"""Largest number of pairs whose covariance matrix is factorised, in 3e9 operations."""
_SUBSAMPLE = 1000
"""Number of pairs for the choice of alpha, by an eigendecomposition of this order."""
_TOLERANCE = 1e-7
"""Relative residual at which conjugate gradients end: predictions then have about six digits."""
_MAX_ITERATIONS = 2000
"""Largest number of steps of conjugate gradients. More are needed only if alpha is too small."""

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
        """Return the features of pairs, which are stored if they take at most 256 MiB."""
        features = cls(frequencies, X, Y)
        if 32 * frequencies.n_frequencies * X.shape[0] > limits.CACHED_FEATURES_BYTES:
            return features
        return cls(frequencies, X, Y, tuple(features.blocks()))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of pairs in order, with left and right features."""
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
    """The fitted function: bilinear in the left and right features, with its coefficient matrix."""

    coef: Array  # (p, p): The matrix A
    intercept: float
    alpha: float
    n_iterations: int  # Iterations of conjugate gradients, zero for the direct solution

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
    """Return the bilinear function of least regularised error on ``n`` pairs with targets (n,)."""
    weight = np.ones(len(targets)) if weight is None else weight
    rows = np.flatnonzero(weight > 0)
    if len(rows) <= _DIRECT:
        left, right = features.at(rows)
        flat = _flat(left, right, features.frequencies.signature, fit_intercept)
        lower = jittered_cholesky(_covariance(left, right) + alpha * np.diag(1.0 / weight[rows]))
        solved = cho_solve((lower, True), np.column_stack([flat, targets[rows]]))
        # Generalised least squares gives the coefficients that have flat priors.
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
    """Return the ``alpha`` of greatest evidence on at most 1000 random pairs."""
    rows = np.arange(len(targets)) if weight is None else np.flatnonzero(weight > 0)
    if len(rows) > _SUBSAMPLE:
        rows = np.sort(rng.choice(rows, _SUBSAMPLE, replace=False))
    left, right = features.at(rows)
    # The covariance is factored as F F^T: rows of F serve as features of the pairs.
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
    """Return the columns whose coefficients have flat priors: kernel values, and ones if fitted."""
    kernel = np.sum(left * signature * right, axis=1)
    return np.stack([kernel, *([np.ones(len(left))] * fit_intercept)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class PairSystem:
    r"""The linear system for the matrix ``A``, whose unknowns and residuals are matrices (p, p).

    The equations are :math:`\Phi^\top W \Phi\, a + \alpha P a = \Phi^\top W t`, where a row of
    :math:`\Phi` is :math:`z(x_i) \otimes z'(y_i)`, and ``P`` projects on the orthogonal complement
    of ``S``. The preconditioner is :math:`\Phi^\top W \Phi` of independent rows of a pair, a
    Kronecker product, which saves nine of ten steps.
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
        """Return the linear system for sample weights (n,), with or without an intercept."""
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
        """Return ``A`` and the number of iterations for targets (n,), centred for an intercept."""
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
        """Return the product of the system's matrix with the unknowns ``coef`` (p, p)."""
        signature = self.features.frequencies.signature
        along_kernel = np.diagonal(coef) @ signature / len(signature)
        total: Array = self.alpha * (coef - np.diag(along_kernel * signature))
        for rows, left, right in self.features.blocks():
            values = self.weight[rows] * np.sum((left @ coef) * right, axis=1)
            total += (left * values[:, None]).T @ right
        return total - float(self.weight.sum()) * self.mean_value(coef) * self.mean

    def precondition(self, coef: Array) -> Array:
        """Return the product of the preconditioner's inverse with the unknowns ``coef`` (p, p)."""
        left, right = self.bases
        return left @ ((left.T @ coef @ right) / self.scales) @ right.T

    def mean_value(self, coef: Array) -> float:
        """Return the mean over pairs of the function without intercept; zero if none is fitted."""
        return float(np.sum(coef * self.mean))


@register
@dataclass(eq=False, repr=False)
class AsymmetricPairRidge(TwoSidedRidge):
    """Ridge regression on pairs of rows, with a kernel that need not be symmetric.

    The model learns a function of pairs of rows. Row ``i`` of ``X`` and row ``i`` of ``right`` form
    a pair with one target, such as the weight of an edge of a graph, or plus and minus one for the
    presence, sign or direction of the edge. The function f(x, y) = z(x)ᵀ A z'(y) is bilinear in the
    left features z and the right features z' of the kernel.

    Examples
    --------
    Which of two numbers is the larger one:

    >>> import numpy as np
    >>> from bochner import AsymmetricPairRidge
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.uniform(-2, 2, size=(2, 300, 1))
    >>> t = np.sign(X - Y)[:, 0]
    >>> model = AsymmetricPairRidge(n_components=32, alpha="evidence", random_state=0)
    >>> model.fit(X, t, right=Y).predict([[1.0], [0.0]], right=[[0.0], [1.0]]) > 0
    array([ True, False])

    Parameters
    ----------
    n_components : int, default=256
        Number ``p`` of real features, even. There are p² coefficients; with more than
        2000 pairs, conjugate gradients take 4 n p² operations per step.
    alpha : float or "evidence", default=1.0
        Ratio of the noise variance to the prior variance of the function at a pair, for any number
        of pairs, if the kernel has unit total mass: the prior covariance between pairs is then one
        between a pair and itself. ``"evidence"`` maximises the marginal likelihood of at most 1000
        pairs.
    kernel, length_scale, scheme, weights, decomposition, masses, fit_intercept, random_state
        As in :class:`bochner.AsymmetricKernelRidge`.

    Attributes
    ----------
    kernel_, frequencies_, signature_, alpha_
        As in :class:`bochner.AsymmetricKernelRidge`.
    coef_ : ndarray of shape (n_components, n_components)
        The matrix ``A``.
    intercept_ : float

    Notes
    -----
    A minimises ∑ᵢ (tᵢ - f(xᵢ, yᵢ))² + α min_c ‖A - c S‖², where S is the diagonal matrix of
    ``signature_``. With A = S the function is the kernel itself, so that strong regularisation
    shrinks the function to a multiple of the kernel. Left and right rows may have different numbers
    of columns if the kernel's arguments do.

    References
    ----------
    He, He, Shi, Huang and Suykens, "Learning with asymmetric kernels: least squares and feature
    interpretation", 2023. Pahikkala, Airola, Stock, De Baets and Waegeman, "Efficient regularized
    least-squares algorithms for conditional ranking on relational data", 2013.
    """

    posterior_: PairSolution = field(init=False)

    def fit(
        self, X: MatrixLike, y: Any, right: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to pairs of rows.

        Warns with a ``ConvergenceWarning`` if conjugate gradients do not converge. Raises
        ``ValueError`` if a parameter is out of range, the data are unusable, or the numbers of left
        and right rows differ.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Left rows of the pairs.
        y : array-like of shape (n,)
            Targets of the pairs.
        right : {array-like, sparse matrix} of shape (n, d2)
            Right rows of the pairs.
        sample_weight : array-like of shape (n,), default=None
            Counts of equal pairs if all weights are whole numbers, else precisions, as in
            :meth:`bochner.KreinRidge.fit`.
        """
        rows, y = validated_with_numbers(
            self, X, y, accept_sparse="csr", dtype=FLOATS, multi_output=True
        )
        if y.ndim > 1 and y.shape[1] != 1:
            raise ValueError(f"Pairs have one target each, y has {y.shape[1]} columns.")
        y = column_or_1d(y, warn=True)
        Y = _paired(rows, right)
        alpha, weight, targets, rng = self._prepared(rows, y, Y, sample_weight)
        target = targets[:, 0]
        # The penalty is on the distance from multiples of the kernel: with a penalty on all weights
        # the phases would cancel, as they do for functions of rows (docs/adr/0013).
        features = PairFeatures.of(self.frequencies_, rows, Y)
        options: dict[str, Any] = {"weight": weight, "fit_intercept": self.fit_intercept}
        if alpha is None:
            alpha = best_pair_alpha(features, target, rng, **options)
        self.posterior_ = fit_pairs(features, target, alpha, **options)
        return self

    @property
    def coef_(self) -> Array:
        """Matrix of weights, one for each pair of a left and a right feature."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.coef

    def predict(self, X: Any, right: MatrixLike) -> Any:
        """Return predictions (n,) of pairs of left rows ``X`` (n, d) and ``right`` rows (n, d2)."""
        check_is_fitted(self, "posterior_")
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        check_rows(self.kernel_, self._region, X)
        Y = _paired(X, right, dim=self.frequencies_.dim_right)
        check_rows(self.kernel_, self._region, Y, right=True)
        mean = np.empty((X.shape[0], 1))
        for rows, Z, Z_right in PairFeatures(self.frequencies_, X, Y).blocks():
            mean[rows, 0] = self.posterior_.mean(Z, Z_right)
        return self._squeezed(mean + self._target_origin)

    def score(
        self, X: MatrixLike, y: ArrayLike, right: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the coefficient of determination; parameters as in :meth:`fit`."""
        return float(r2_score(y, self.predict(X, right), sample_weight=sample_weight))


def _paired(X: InputRows, right: object, *, dim: int | None = None) -> Any:
    """Return the validated right rows, one for every row of ``X``."""
    if right is None:
        raise ValueError(
            "right is None: pass the right rows of the pairs, right=Y. AsymmetricKernelRidge "
            "learns from rows."
        )
    Y = checked_right(right, dim=dim)
    if Y.shape[0] != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and right has {Y.shape[0]}: a pair is one row of each."
        )
    return Y
