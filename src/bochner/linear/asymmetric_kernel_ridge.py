r"""Ridge regression on rows with an asymmetric kernel, from sums over rows.

On features, :math:`k(x, x') = z(x)^\top S\, z'(x')` with left features ``z``, right features ``z'``
and the signs ``S``. The composed kernel of :class:`AsymmetricKernelRidge`, for rows of weight ``w``
and their total ``n``, is

.. math:: \kappa(x, x') = z(x)^\top B\, z(x'), \qquad
          B = \frac 1 n S \Big( \sum_i w_i z'(x_i) z'(x_i)^\top \Big) S = L L^\top,

so that the model is ridge regression on the features :math:`L^\top z(x)`. Their sums over rows are
linear functions of the sums of ``z``.
"""

from abc import ABC
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    FLOATS,
    Array,
    ArrayLike,
    InputRows,
    MatrixLike,
    as_flag,
    row_blocks,
    stacked_rows,
)
from bochner._base.checks import generators, validated, validated_with_numbers
from bochner._base.registry import register
from bochner.features.approximation import Region, approximate, check_rows
from bochner.features.parameters import (
    KERNEL_CHECKS,
    AnyKernel,
    Check,
    KernelParameters,
    check_each,
    count_frequencies,
    resolve_kernel,
)
from bochner.features.row_sums import FeatureSums, feature_sums
from bochner.features.transformer import FourierFeatures
from bochner.linear.argument_checks import (
    checked_alpha,
    checked_weight,
    described_features,
    drawing_options,
    features_check,
)
from bochner.linear.ridge_head import LinearAttributes, offered, predictions
from bochner.linear.ridge_posterior import RidgePosterior, best_alpha, fit_ridge
from bochner.spectral.frequencies import Frequencies


@dataclass(eq=False, repr=False)
class TwoSidedRidge(RegressorMixin, LinearAttributes, KernelParameters, BaseEstimator, ABC):
    """Base of ridge models that use both the left and the right features of a kernel."""

    _checks: ClassVar[Mapping[str, Check]] = {
        **KERNEL_CHECKS,
        "alpha": lambda _, value: checked_alpha(value),
        "features": features_check("auto", "median"),
    }

    kernel: "AnyKernel | str" = "gaussian"
    n_components: int = 256
    alpha: float | str = 1.0
    features: FourierFeatures | None = None
    _: KW_ONLY
    fit_intercept: bool = False
    random_state: Any = None

    kernel_: AnyKernel = field(init=False)
    frequencies_: Frequencies = field(init=False)
    signature_: Array = field(init=False)
    _region: Region | None = field(init=False)

    def _check_parameters(self) -> None:
        """Raise an error for an invalid parameter; also called for a model loaded from a file."""
        check_each(self, self._checks)
        described_features(self)

    def _approximate(
        self, X: InputRows, right: InputRows | None, weight: Array | None
    ) -> np.random.Generator:
        """Set the kernel and its features; return a random generator for later draws."""
        self._check_parameters()
        description = described_features(self)
        kernel_rng, draw_rng, data_rng, further_rng = generators(self.random_state, 4)
        all_rows, all_weights = X, weight
        if right is not None and right.shape[1] == X.shape[1]:
            all_rows = stacked_rows(X, right)
            all_weights = None if weight is None else np.tile(weight, 2)
        names = getattr(self, "feature_names_in_", None)
        kernel = resolve_kernel(
            description.kernel,
            description.length_scale,
            all_rows,
            kernel_rng,
            all_weights,
            names=names,
        )
        if weight is not None:
            X, right = X[weight > 0], None if right is None else right[weight > 0]
        approximation = approximate(
            kernel,
            X,
            count_frequencies(description.n_components),
            draw_rng,
            data_rng,
            right,
            **drawing_options(description),
        )
        self.kernel_, self._region = kernel, approximation.region
        self.frequencies_ = approximation.frequencies
        self.signature_ = approximation.frequencies.signature
        return further_rng

    def _prepared(
        self, X: InputRows, y: Array, right: InputRows | None, sample_weight: ArrayLike | None
    ) -> tuple[float | None, Array | None, Array, np.random.Generator]:
        """Set the kernel and its features, and return the validated arguments of a solver."""
        alpha = checked_alpha(self.alpha)
        fit_intercept = as_flag("fit_intercept", self.fit_intercept)
        weight = checked_weight(sample_weight, X)
        targets = y.astype(np.float64).reshape(len(y), -1)
        rng = self._approximate(X, right, weight)
        self._single_target = y.ndim == 1
        # Subtract an origin, because sums of squares about a distant one lose digits.
        origin = np.average(targets, axis=0, weights=weight) if fit_intercept else 0.0
        self._target_origin = np.broadcast_to(origin, targets.shape[1:]).copy()
        return alpha, weight, targets - self._target_origin, rng

    @property
    def noise_variance_(self) -> Any:
        """Maximum-likelihood noise variance; solutions without a likelihood lack the attribute."""
        return self._squeezed(offered(self.posterior_, "noise_variance")[None])[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@register
@dataclass(eq=False, repr=False)
class AsymmetricKernelRidge(MultiOutputMixin, TwoSidedRidge):
    """Ridge regression with a kernel that need not be symmetric.

    The model learns a function f(x) = ∑ᵢ βᵢ k(x, xᵢ) of rows, and minimises ‖y - K β‖² + α n ‖β‖².
    ``fit(X, y)`` and ``predict(X)`` are those of a regressor of scikit-learn;
    :class:`bochner.AsymmetricPairRidge` learns a function of pairs of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import AsymmetricKernelRidge, kernels
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> kernel = kernels.ShiftGaussian(2.0, shift=0.5)
    >>> model = AsymmetricKernelRidge(kernel, alpha="evidence", random_state=0)
    >>> bool(model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.95)
    True

    Parameters
    ----------
    kernel : kernel, callable or str, default="gaussian"
        The kernel ``k``, as in :class:`bochner.FourierFeatures`.
    n_components : int, default=256
        Number of real features, even.
    alpha : float or "evidence", default=1.0
        Ratio of the noise variance to the prior variance at rows where κ(x, x) is one,
        for any number of rows. ``"evidence"`` maximises the marginal likelihood.
    length_scale, scheme, weights, decomposition, masses, random_state
        As in :class:`bochner.FourierFeatures`.
    fit_intercept : bool, default=False
        Whether to add a constant that is not penalised.

    Attributes
    ----------
    kernel_ : Kernel
    frequencies_ : Frequencies
    signature_ : ndarray of shape (n_components,)
    alpha_ : float
        The regularisation, either given or learned.
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
        Weights of the left features.
    intercept_ : float or ndarray of shape (n_targets,)
    noise_variance_ : float or ndarray of shape (n_targets,)
    log_evidence_ : float
        Log marginal likelihood, summed over targets.
    condition_number_ : float
        Ratio of the greatest to the least eigenvalue of the system for the weights.

    Notes
    -----
    The solution on the training rows is K Kᵀ (K Kᵀ + α n I)⁻¹ y: kernel ridge regression with the
    kernel κ(x, x') = ∑ᵢ k(x, xᵢ) k(x', xᵢ) / n, which is positive definite for every k. The
    equivalent Gaussian process has the prior y ~ N(0, σ² (κ / α + I)), with σ² estimated by
    maximum likelihood.

    References
    ----------
    He, He, Shi, Huang and Suykens, "Learning with asymmetric kernels: least squares and feature
    interpretation", 2023.
    """

    posterior_: RidgePosterior = field(init=False)

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows.

        Raises ``ValueError`` if a parameter is out of range or the data are unusable.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : array-like of shape (n,), default=None
            Counts of equal rows if all weights are whole numbers, else precisions, as in
            :meth:`bochner.KreinRidge.fit`.
        """
        rows, y = validated_with_numbers(
            self, X, y, accept_sparse="csr", dtype=FLOATS, multi_output=True
        )
        alpha, weight, targets, _ = self._prepared(rows, y, None, sample_weight)
        frequencies = self.frequencies_
        # Ridge regression with the composed kernel, the mean over rows of k(x, x_i) k(x', x_i).
        # It is positive definite for every k (docs/adr/0013).
        sums = feature_sums(frequencies, rows, targets, weight)
        gram = sums.gram if frequencies.is_symmetric else right_gram(frequencies, rows, weight)
        self.posterior_ = fit_composed(
            sums, gram, frequencies.signature, alpha, fit_intercept=self.fit_intercept
        )
        return self

    def predict(self, X: MatrixLike, return_std: bool = False) -> Any:
        """Return predictions (n,) or (n, n_targets) and, with ``return_std``, standard deviations.

        Standard deviations are those of new observations, noise included.
        """
        check_is_fitted(self, "posterior_")
        rows = validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        check_rows(self.kernel_, self._region, rows)
        mean, std = predictions(self.frequencies_, self.posterior_, rows, with_std=return_std)
        mean = self._squeezed(mean + self._target_origin)
        return mean if std is None else (mean, self._squeezed(std))


def right_gram(frequencies: Frequencies, X: InputRows, weight: Array | None = None) -> Array:
    r"""Return the Gram matrix :math:`\sum_i w_i z'(x_i) z'(x_i)^\top` (p, p) of right features."""
    p = 2 * frequencies.n_frequencies
    gram = np.zeros((p, p))
    for rows in row_blocks(X.shape[0], 8 * p):
        Z = frequencies.features_right(X[rows]).astype(np.float64, copy=False)
        gram += Z.T @ Z if weight is None else (Z * weight[rows, None]).T @ Z
    return gram


def composition(gram: Array, signature: Array, weight: float) -> Array:
    r"""Return the root ``L`` (p, p) of :math:`S G S / n = L L^\top`, ``n`` the total weight."""
    # A Cholesky factor would fail for the singular Gram matrix of few rows.
    values, vectors = eigh(gram)
    roots: Array = np.sqrt(np.maximum(values, 0.0) / weight)
    return signature[:, None] * vectors * roots


def fit_composed(
    sums: FeatureSums,
    gram: Array,
    signature: Array,
    alpha: float | None,
    *,
    fit_intercept: bool = False,
) -> RidgePosterior:
    r"""Return the ridge posterior of an asymmetric kernel, as weights of its left features.

    Coefficients and whitener belong to the left features ``z``, not to :math:`L^\top z`: the
    covariance of the coefficients is :math:`\sigma^2 W W^\top`.
    """
    factor = composition(gram, signature, sums.weight)
    composed = replace(
        sums,
        gram=factor.T @ sums.gram @ factor,
        cross=factor.T @ sums.cross,
        features=factor.T @ sums.features,
    )
    if alpha is None:
        alpha = best_alpha(composed, fit_intercept=fit_intercept)[0]
    posterior = fit_ridge(composed, alpha, fit_intercept=fit_intercept)
    return replace(
        posterior,
        coef=factor @ posterior.coef,
        whitener=factor @ posterior.whitener,
        centre=sums.features / sums.weight if fit_intercept else np.zeros(len(factor)),
    )
