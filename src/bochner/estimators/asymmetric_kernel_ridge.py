"""Ridge regression with an asymmetric kernel, on rows or on pairs of rows."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner._numerics.arrays import FLOATS, Array
from bochner.estimators.inputs import checked_alpha, checked_right, checked_weight
from bochner.estimators.predictions import RegressionAttributes, predictions
from bochner.estimators.two_sided import TwoSidedEstimator
from bochner.features.length_scales import AnyKernel
from bochner.features.region import check_rows
from bochner.features.stats import feature_sums
from bochner.learning.asymmetric_ridge import fit_composed, right_gram
from bochner.learning.pair_ridge import PairFeatures, PairSolution, best_pair_alpha, fit_pairs
from bochner.learning.ridge import RidgePosterior
from bochner.registry import register


@register
@dataclass(eq=False, repr=False)
class AsymmetricKernelRidge(
    MultiOutputMixin, RegressorMixin, RegressionAttributes, TwoSidedEstimator
):
    r"""Ridge regression with a kernel that need not be symmetric, in one of two forms.

    ``fit(X, y)`` learns a function of rows, :math:`f(x) = \sum_i \beta_i k(x, x_i)`. It minimises
    :math:`\|y - K \beta\|^2 + \alpha n \|\beta\|^2`, whose solution on the training rows is
    :math:`K K^\top (K K^\top + \alpha n I)^{-1} y`: that of kernel ridge regression with the
    composed kernel

    .. math:: \kappa(x, x') = \frac 1 n \sum_i k(x, x_i)\, k(x', x_i),

    which is positive definite whatever ``k`` is. Read as a Gaussian process, targets have the
    prior :math:`y \sim N(0, \sigma^2 (\kappa / \alpha + I))`, with :math:`\sigma^2` estimated by
    maximum likelihood.

    ``fit(X, y, right=Y)`` learns a function of pairs, from one target for each pair of a row of
    ``X`` (a source) and the same row of ``Y`` (its target): the weight of an edge, or plus and
    minus one for its presence, sign or direction. It is bilinear in the left features ``z`` and
    the right features ``z'`` of the kernel,

    .. math:: f(x, y) = z(x)^\top A\, z'(y), \qquad
              \sum_i (t_i - f(x_i, y_i))^2 + \alpha \min_c \|A - c S\|_F^2 \to \min,

    where ``S`` is the diagonal ``signature_``, for which the function is the kernel itself:
    strong regularisation leaves a multiple of the kernel. Rows of ``X`` and ``Y`` may have
    different widths, if the kernel's arguments do.

    Parameters
    ----------
    n_components : int, default=256
        Number ``p`` of real features, even. On pairs there are :math:`p^2` coefficients; with
        more than 2000 pairs, conjugate gradients take :math:`4 n p^2` operations per step.
    alpha : float or "evidence", default=1.0
        Ratio of the noise variance to the prior variance where the prior kernel is one:
        :math:`\kappa` on rows; on pairs a product that is one for a pair with itself if ``k`` has
        unit total mass. Its scale does not depend on the number of rows. ``"evidence"``
        maximises the marginal likelihood, on pairs that of at most 1000 of them.
    kernel, length_scale, scheme, weights, decomposition, masses, random_state
        As in :class:`bochner.FourierFeatures`, with ``scheme="orthogonal"`` by default.
    fit_intercept : bool, default=False
        Whether to add a constant that is not penalised.

    Attributes
    ----------
    kernel_ : Kernel
    frequencies_ : Frequencies
    signature_ : ndarray of shape (n_components,)
    alpha_ : float
        The regularisation in use.
    coef_ : ndarray
        On rows, weights of the left features, of shape (n_components,) or (n_targets,
        n_components); on pairs, the matrix ``A`` of shape (n_components, n_components).
    intercept_ : float or ndarray of shape (n_targets,)
    noise_variance_ : float or ndarray of shape (n_targets,)
        On rows only.
    log_evidence_ : float
        Log marginal likelihood, summed over targets. On rows only.

    References
    ----------
    He, He, Shi, Huang and Suykens, "Learning with asymmetric kernels: least squares and feature
    interpretation", 2023. Pahikkala, Airola, Stock, De Baets and Waegeman, "Efficient regularized
    least-squares algorithms for conditional ranking on relational data", 2013.

    Examples
    --------
    Which of two numbers is the larger one:

    >>> import numpy as np
    >>> from bochner import AsymmetricKernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.uniform(-2, 2, size=(2, 300, 1))
    >>> t = np.sign(X - Y)[:, 0]
    >>> model = AsymmetricKernelRidge(n_components=32, alpha="evidence", random_state=0)
    >>> model.fit(X, t, right=Y).predict([[1.0], [0.0]], right=[[0.0], [1.0]]) > 0
    array([ True, False])
    """

    kernel: AnyKernel | str = "gaussian"
    n_components: int = 256
    alpha: float | str = 1.0
    _: KW_ONLY
    fit_intercept: bool = False

    posterior_: RidgePosterior | PairSolution = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, right: Any = None) -> Self:
        """Fit to rows, or to pairs of rows.

        Warns with a ``ConvergenceWarning`` if conjugate gradients, on pairs, do not converge.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows, or the left rows of pairs.
        y : array-like of shape (n,) or (n, n_targets)
            Targets; one for each pair.
        sample_weight : array-like of shape (n,), default=None
            A row or pair of weight ``w`` counts as ``w`` of them.
        right : {array-like, sparse matrix} of shape (n, d2), default=None
            The right rows of pairs; ``None`` fits a function of rows.

        Raises
        ------
        ValueError
            If a parameter is out of range, the data are unusable, or the numbers of left and right
            rows differ.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, multi_output=True, y_numeric=True
        )
        alpha = checked_alpha(self.alpha)
        weight = checked_weight(sample_weight, X)
        Y = _paired(X, right)
        targets = y.astype(np.float64).reshape(len(y), -1)
        if Y is not None and targets.shape[1] != 1:
            raise ValueError(f"Pairs have one target each, y has {targets.shape[1]} columns.")
        rng = self._approximate(self.kernel, self.n_components, X, Y, weight)
        self._single_target = y.ndim == 1
        # Sums of squares about an origin far away would cancel; an intercept may move it.
        origin = np.average(targets, axis=0, weights=weight) if self.fit_intercept else 0.0
        self._target_origin = np.broadcast_to(origin, targets.shape[1:]).copy()
        targets = targets - self._target_origin
        if Y is None:
            self.posterior_ = self._fitted_to_rows(X, targets, weight, alpha)
        else:
            self.posterior_ = self._fitted_to_pairs(X, Y, targets[:, 0], weight, alpha, rng)
        return self

    def _fitted_to_rows(
        self, X: Any, targets: Array, weight: Array | None, alpha: float | None
    ) -> RidgePosterior:
        """Return the ridge regression with the composed kernel; no ``alpha`` means by evidence."""
        frequencies, intercept = self.frequencies_, self.fit_intercept
        sums = feature_sums(frequencies, X, targets, weight)
        gram = sums.gram if frequencies.is_symmetric else right_gram(frequencies, X, weight)
        return fit_composed(sums, gram, frequencies.signature, alpha, fit_intercept=intercept)

    def _fitted_to_pairs(
        self,
        X: Any,
        Y: Any,
        target: Array,
        weight: Array | None,
        alpha: float | None,
        rng: np.random.Generator,
    ) -> PairSolution:
        """Return the ridge regression on products of left and right features."""
        features = PairFeatures.of(self.frequencies_, X, Y)
        options: dict[str, Any] = {"weight": weight, "fit_intercept": self.fit_intercept}
        if alpha is None:
            alpha = best_pair_alpha(features, target, rng, **options)
        return fit_pairs(features, target, alpha, **options)

    def predict(self, X: Any, return_std: bool = False, *, right: Any = None) -> Any:
        """Return predictions and, with ``return_std``, standard deviations.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, noise included; on rows
            only.
        right : {array-like, sparse matrix} of shape (n, d2), default=None
            The right rows of pairs, if the model was fitted to pairs.

        Returns
        -------
        mean, std : ndarrays of shape (n,) or (n, n_targets)
            The mean alone unless ``return_std``.

        Raises
        ------
        ValueError
            If a model of rows is given pairs or the other way round, or ``return_std`` is
            true on pairs.
        """
        check_is_fitted(self, "posterior_")
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        check_rows(self.kernel_, self._region, X)
        Y = _paired(X, right, dim=self.frequencies_.dim_right)
        if Y is not None:
            check_rows(self.kernel_, self._region, Y, right=True)
        if isinstance(self.posterior_, PairSolution):
            mean, std = self._pair_means(self.posterior_, X, Y, with_std=return_std), None
        elif Y is not None:
            raise ValueError("This model was fitted to rows: predict takes no right rows.")
        else:
            mean, std = predictions(self.frequencies_, self.posterior_, X, with_std=return_std)
        mean = self._squeezed(mean + self._target_origin)
        return mean if std is None else (mean, self._squeezed(std))

    def _pair_means(self, solution: PairSolution, X: Any, Y: Any, *, with_std: bool) -> Array:
        """Return means of shape (n, 1), or raise ``ValueError``."""
        if Y is None:
            raise ValueError(
                "This model was fitted to pairs: pass their right rows, predict(X, right=Y)."
            )
        if with_std:
            raise ValueError("Predictions on pairs have no standard deviation.")
        mean = np.empty((X.shape[0], 1))
        for rows, Z, Z_right in PairFeatures(self.frequencies_, X, Y).blocks():
            mean[rows, 0] = solution.mean(Z, Z_right)
        return mean

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, right: Any = None) -> float:
        """Return the coefficient of determination; parameters are those of :meth:`fit`."""
        return float(r2_score(y, self.predict(X, right=right), sample_weight=sample_weight))


def _paired(X: Any, right: Any, *, dim: int | None = None) -> Any:
    """Return the right rows of pairs, checked, one for every row of ``X``; ``None`` for none."""
    if right is None:
        return None
    Y = checked_right(right, dim=dim)
    if Y.shape[0] != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and right has {Y.shape[0]}: a pair is one row of each."
        )
    return Y
