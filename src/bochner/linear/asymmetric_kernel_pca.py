"""Kernel principal components of an asymmetric kernel."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import FLOATS, Array, Floats, InputRows, MatrixLike, as_count, row_blocks
from bochner._base.checks import validated
from bochner._base.registry import register
from bochner._base.whole_fits import all_or_nothing
from bochner.features.median_length_scales import AnyKernel
from bochner.features.parameter_checks import Check
from bochner.features.parameters import count_frequencies
from bochner.features.region import check_rows
from bochner.linear.inputs import checked_right
from bochner.linear.singular import SingularComponents, triangular_factor
from bochner.linear.two_sided import TwoSidedEstimator


@register
@dataclass(eq=False, repr=False)
class AsymmetricKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TwoSidedEstimator):
    r"""The singular value decomposition of an asymmetric kernel's Gram matrix, through features.

    The approximate Gram matrix between left rows ``X`` and right rows ``Y`` is
    :math:`\hat K = U \Sigma V^\top`. The left scores of the rows of ``X`` are
    :math:`U \Sigma^{1/2}`, and the right scores of the rows of ``Y`` are :math:`V \Sigma^{1/2}`.
    The inner products ``transform(X) @ transform_right(Y).T`` are the best approximation of
    :math:`\hat K` by a matrix of rank ``n_components``. The scores of new rows are

    .. math:: \mathrm{left}(x) = \hat k(x, Y) V \Sigma^{-1/2}, \qquad
              \mathrm{right}(y) = \hat k(X, y)^\top U \Sigma^{-1/2}.

    For a symmetric positive definite kernel the scores are the eigenvectors times the square roots
    of the eigenvalues, as in kernel principal component analysis without centring. The Gram matrix
    is never formed; the cost is linear in the number of rows.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most the number of singular values of the approximate Gram matrix.
    n_features : int, default=512
        Number of real features, even.
    kernel, length_scale, scheme, weights, decomposition, masses, random_state
        As in :class:`bochner.FourierFeatures`.

    Attributes
    ----------
    kernel_ : Kernel
    frequencies_ : Frequencies
    signature_ : ndarray of shape (n_features,)
    singular_values_ : ndarray of shape (n_components,)
        In descending order.
    components_ : SingularComponents
        Matrices that map features to scores. Signs are chosen such that the entry of greatest
        magnitude in every column of ``left`` is positive.

    References
    ----------
    Suykens, "SVD revisited: a new variational principle, compatible feature maps and nonlinear
    extensions", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import AsymmetricKernelPCA
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 100, 3))
    >>> model = AsymmetricKernelPCA(n_components=3, random_state=0).fit(X, right=Y)
    >>> model.transform(X).shape, model.transform_right(Y).shape
    ((100, 3), (100, 3))
    >>> values = np.linalg.svd(model.frequencies_.gram(X, Y), compute_uv=False)
    >>> bool(np.allclose(model.singular_values_, values[:3]))
    True
    """

    _checks: ClassVar[Mapping[str, Check]] = {
        **TwoSidedEstimator._checks,
        "n_components": as_count,
        "n_features": lambda name, value: count_frequencies(value, name),
    }

    n_components: int = 2
    kernel: AnyKernel | str = "gaussian"
    n_features: int = 512

    components_: SingularComponents = field(init=False)
    _n_features_out: int = field(init=False)

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike | None = None, right: MatrixLike | None = None
    ) -> Self:
        """Decompose the Gram matrix between rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows of the left argument.
        y : None
            Ignored.
        right : {array-like, sparse matrix} of shape (n2, d2), default=None
            Rows of the right argument; ``None`` means ``X``.

        Raises
        ------
        TypeError, ValueError
            If a parameter or the data are unusable.
        """
        rows = validated(self, X, accept_sparse="csr", dtype=FLOATS)
        Y = None if right is None else checked_right(right)
        n_components = as_count("n_components", self.n_components)
        self._approximate(self.kernel, self.n_features, rows, Y, name="n_features")
        left = factor = triangular_factor(self.frequencies_.features, rows)
        if Y is not None or not self.frequencies_.is_symmetric:
            factor = triangular_factor(self.frequencies_.features_right, rows if Y is None else Y)
        self.components_ = SingularComponents.of(left, factor, self.signature_, n_components)
        self._n_features_out = len(self.components_.values)
        return self

    def transform(self, X: MatrixLike) -> Floats:
        """Return left scores (n, n_components) of rows ``X``, an array or CSR matrix (n, d)."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        check_rows(self.kernel_, self._region, X)
        return self._scores(self.frequencies_.features, X, self.components_.left)

    def transform_right(self, Y: MatrixLike) -> Floats:
        """Return right scores (n, n_components) of rows ``Y``, an array or CSR matrix (n, d2)."""
        check_is_fitted(self)
        Y = checked_right(Y, "Y", dim=self.frequencies_.dim_right)
        check_rows(self.kernel_, self._region, Y, right=True)
        return self._scores(self.frequencies_.features_right, Y, self.components_.right)

    @property
    def singular_values_(self) -> Array:
        """Singular values of the approximate Gram matrix, in descending order."""
        check_is_fitted(self)
        return self.components_.values

    def _scores(self, features: Callable[[InputRows], Floats], X: Any, coef: Array) -> Floats:
        scores: NDArray[Any] = np.empty((X.shape[0], coef.shape[1]), dtype=X.dtype)
        for rows in row_blocks(len(scores), 16 * self.frequencies_.n_frequencies):
            scores[rows] = features(X[rows]) @ coef
        return scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
