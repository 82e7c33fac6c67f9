"""Ridge regression on pairs of rows with an asymmetric kernel."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bochner._base.arrays import FLOATS, Array, InputRows, MatrixLike
from bochner._base.checks import validated, validated_with_numbers
from bochner._base.registry import register
from bochner.features.approximation import check_rows
from bochner.linear.inputs import checked_right
from bochner.linear.pairs import PairFeatures, PairSolution, best_pair_alpha, fit_pairs
from bochner.linear.two_sided import TwoSidedRidge


@register
@dataclass(eq=False, repr=False)
class AsymmetricPairRidge(TwoSidedRidge):
    r"""Ridge regression on pairs of rows, with a kernel that need not be symmetric.

    It learns a function of pairs of rows. Row ``i`` of ``X`` and row ``i`` of ``right`` form a pair
    with one target, such as the weight of an edge of a graph, or plus and minus one for the
    presence, sign or direction of the edge. The function is bilinear in the left features ``z``
    and the right features ``z'`` of the kernel,

    .. math:: f(x, y) = z(x)^\top A\, z'(y), \qquad
              \sum_i (t_i - f(x_i, y_i))^2 + \alpha \min_c \|A - c S\|_F^2 \to \min,

    where ``S`` is the diagonal matrix of ``signature_``. With :math:`A = S` the function is the
    kernel itself, so that strong regularisation shrinks the function to a multiple of the kernel.
    Left and right rows may have different numbers of columns if the kernel's arguments do.

    Parameters
    ----------
    n_components : int, default=256
        Number ``p`` of real features, even. There are :math:`p^2` coefficients; with more than
        2000 pairs, conjugate gradients take :math:`4 n p^2` operations per step.
    alpha : float or "evidence", default=1.0
        Ratio of the noise variance to the prior variance at pairs where the prior kernel of pairs
        is one. That kernel is a product; it is one between a pair and itself if the kernel has
        unit total mass. The scale of ``alpha`` does not depend on the number of pairs.
        ``"evidence"`` maximises the marginal likelihood of at most 1000 pairs.
    kernel, length_scale, scheme, weights, decomposition, masses, fit_intercept, random_state
        As in :class:`bochner.AsymmetricKernelRidge`.

    Attributes
    ----------
    kernel_ : Kernel
    frequencies_ : Frequencies
    signature_ : ndarray of shape (n_components,)
    alpha_ : float
        The regularisation in use.
    coef_ : ndarray of shape (n_components, n_components)
        The matrix ``A``.
    intercept_ : float

    References
    ----------
    He, He, Shi, Huang and Suykens, "Learning with asymmetric kernels: least squares and feature
    interpretation", 2023. Pahikkala, Airola, Stock, De Baets and Waegeman, "Efficient regularized
    least-squares algorithms for conditional ranking on relational data", 2013.

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
    """

    posterior_: PairSolution = field(init=False)

    def fit(
        self, X: MatrixLike, y: Any, right: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to pairs of rows.

        Warns with a ``ConvergenceWarning`` if conjugate gradients do not converge, and with a
        ``DataConversionWarning`` if targets are a column.

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

        Raises
        ------
        ValueError
            If a parameter is out of range, the data are unusable, or the numbers of left and right
            rows differ.
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
        """Weights of pairs of features."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.coef

    def predict(self, X: Any, right: MatrixLike) -> Any:
        """Return predictions, of shape (n,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Left rows of the pairs.
        right : {array-like, sparse matrix} of shape (n, d2)
            Right rows of the pairs.
        """
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
