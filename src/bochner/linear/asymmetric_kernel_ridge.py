"""Ridge regression on rows with an asymmetric kernel."""

from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import FLOATS, MatrixLike
from bochner._base.checks import validated, validated_with_numbers
from bochner._base.registry import register
from bochner.features.approximation import check_rows
from bochner.features.stats import feature_sums
from bochner.linear.asymmetric_ridge import fit_composed, right_gram
from bochner.linear.predictions import predictions
from bochner.linear.ridge_posterior import RidgePosterior
from bochner.linear.two_sided import TwoSidedRidge


@register
@dataclass(eq=False, repr=False)
class AsymmetricKernelRidge(MultiOutputMixin, TwoSidedRidge):
    r"""Ridge regression with a kernel that need not be symmetric.

    It learns a function of rows, :math:`f(x) = \sum_i \beta_i k(x, x_i)`, and minimises
    :math:`\|y - K \beta\|^2 + \alpha n \|\beta\|^2`, whose solution on the training rows is
    :math:`K K^\top (K K^\top + \alpha n I)^{-1} y`. This is kernel ridge regression with the
    composed kernel

    .. math:: \kappa(x, x') = \frac 1 n \sum_i k(x, x_i)\, k(x', x_i),

    which is positive definite for every ``k``. The equivalent Gaussian process has the prior
    :math:`y \sim N(0, \sigma^2 (\kappa / \alpha + I))`, with :math:`\sigma^2` estimated by
    maximum likelihood. :class:`bochner.AsymmetricPairRidge` learns a function of pairs of rows.

    Parameters
    ----------
    kernel : kernel, callable or str, default="gaussian"
        The kernel ``k``, as in :class:`bochner.FourierFeatures`.
    n_components : int, default=256
        Number of real features, even.
    alpha : float or "evidence", default=1.0
        Ratio of the noise variance to the prior variance where :math:`\kappa` is one. Its scale
        does not depend on the number of rows. ``"evidence"`` maximises the marginal likelihood.
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
        The regularisation in use.
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
        Weights of the left features.
    intercept_ : float or ndarray of shape (n_targets,)
    noise_variance_ : float or ndarray of shape (n_targets,)
    log_evidence_ : float
        Log marginal likelihood, summed over targets.
    condition_number_ : float
        Ratio of the greatest to the least eigenvalue of the system for the weights.

    References
    ----------
    He, He, Shi, Huang and Suykens, "Learning with asymmetric kernels: least squares and feature
    interpretation", 2023.

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
    """

    posterior_: RidgePosterior = field(init=False)

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,) or (n, n_targets)
        sample_weight : array-like of shape (n,), default=None
            Counts of equal rows if all weights are whole numbers, else precisions, as in
            :meth:`bochner.KreinRidge.fit`.

        Raises
        ------
        ValueError
            If a parameter is out of range or the data are unusable.
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
        """Return predictions and, with ``return_std``, standard deviations.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, noise included.

        Returns
        -------
        mean, std : ndarrays of shape (n,) or (n, n_targets)
            The mean alone unless ``return_std``.
        """
        check_is_fitted(self, "posterior_")
        rows = validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        check_rows(self.kernel_, self._region, rows)
        mean, std = predictions(self.frequencies_, self.posterior_, rows, with_std=return_std)
        mean = self._squeezed(mean + self._target_origin)
        return mean if std is None else (mean, self._squeezed(std))
