"""Gaussian process regression of counts, censored or robust targets, and classification."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    FLOATS,
    Array,
    ArrayLike,
    MatrixLike,
    RandomState,
    as_array,
    as_count,
)
from bochner._base.checks import validated_with_labels, validated_with_numbers
from bochner._base.names import shown
from bochner._base.registry import register
from bochner._base.warn import warn_user
from bochner.gaussian_process.count_likelihoods import NegativeBinomialLikelihood, PoissonLikelihood
from bochner.gaussian_process.kernel_glm_head import (
    KernelGLM,
    checked_exposure,
    resolve_likelihood,
    weighted_rows,
)
from bochner.gaussian_process.label_likelihoods import (
    BernoulliLikelihood,
    OrdinalLikelihood,
    SoftmaxLikelihood,
)
from bochner.gaussian_process.latent_rows import distinct_rows
from bochner.gaussian_process.likelihood import LabelLikelihood, Likelihood, NumberLikelihood
from bochner.gaussian_process.likelihood_predictions import (
    LawPredictions,
    LikelihoodMixture,
    check_shape,
)
from bochner.gaussian_process.number_likelihoods import GaussianLikelihood, StudentTLikelihood
from bochner.linear.argument_checks import LabelledClassifier

NUMBERS: Mapping[str, type[Likelihood]] = {
    "gaussian": GaussianLikelihood,
    "student_t": StudentTLikelihood,
    "poisson": PoissonLikelihood,
    "negative_binomial": NegativeBinomialLikelihood,
}
"""Likelihoods of numeric targets by name; a censored likelihood needs limits and has no name."""


@register
@dataclass(eq=False, repr=False)
class KernelGLMRegressor(LawPredictions, RegressorMixin, KernelGLM):
    """Gaussian process regression of counts, censored targets or targets with outliers.

    Targets y follow a likelihood p(y | f), such as ``"poisson"``, given a latent function f, which
    is a Gaussian process. ``predict`` returns means, ``predict_interval`` and ``predict_quantiles``
    intervals of new targets.

    Examples
    --------
    Counts per year, observed for one or two years:

    >>> import numpy as np
    >>> from bochner import KernelGLMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, years = rng.uniform(0, 6, size=(300, 1)), rng.choice([1.0, 2.0], size=300)
    >>> y = rng.poisson(years * np.exp(1.0 + np.sin(X[:, 0])))
    >>> model = KernelGLMRegressor("poisson", n_components=64, random_state=0)
    >>> model = model.fit(X, y, exposure=years)
    >>> rate = model.predict([[1.5]])  # For an exposure of one; the true rate is 7.37
    >>> bool(abs(rate[0] - 7.37) < 0.6)
    True
    >>> lower, upper = model.predict_interval([[1.5]], level=0.9, exposure=[2.0])
    >>> float(lower[0]), float(upper[0])
    (8.0, 21.0)

    Parameters
    ----------
    likelihood : str or NumberLikelihood, default="gaussian"
        Distribution of the targets given the latent function: ``"gaussian"``, ``"student_t"``,
        ``"poisson"``, ``"negative_binomial"``, or an object such as
        ``CensoredGaussianLikelihood(left=0.0)``. Parameters that are ``None`` are learned.
    kernel, random_state
        As in :class:`bochner.FourierFeatures`, but not a function ``k(X, Y)``; the kernel must be
        positive definite and without white noise.
    n_components : int, default=512
        Largest number of landmarks. Fewer are used if they leave at most 1e-8 of the variance, or
        if they would take more than 64 MiB (512 landmarks in 16,000 inputs). A
        fit takes n p² operations in each of some fifty Newton steps.
    alpha : float or "evidence", default="evidence"
        Precision of the weights: with a kernel that is one at lag zero, the latent function has
        the prior variance ``1 / alpha``. (In :class:`bochner.KreinRidge`, ``alpha`` is the ratio
        of the variances of noise and weights.)
    length_scale : float, sequence of d floats, "median" or "evidence", default="median"
        Length scale of a kernel given by name. ``"evidence"`` learns the kernel's parameters, as
        in :class:`bochner.KreinRidge`, on at most 2,000 rows with 256 landmarks, which takes
        several seconds. Intervals of the latent function are too narrow if the scale is too long.
    fit_intercept : bool, default=True
        Whether to learn a constant b, with a normal prior around the link of the mean target of
        standard deviation ten. If ``False``, it is fixed at the link of the mean target.

    Attributes
    ----------
    likelihood_ : NumberLikelihood
        The likelihood with all parameters.
    kernel_ : Kernel
    features_ : LandmarkFeatures
    alpha_, log_evidence_ : float
        Precision of the weights, and Laplace's approximation of the log marginal likelihood.
    posterior_ : LaplacePosterior
    n_iter_ : int
        Total number of Newton steps, summed over all tried values of alpha and of the parameters.

    Notes
    -----
    The latent function is f(x) = z(x)·w + r(x) + b. The features z are those of the kernel at
    landmarks among the rows, with w ~ N(0, I / alpha). The residual r(x) has the variance that
    landmarks leave out, and is independent between different rows (Snelson and Ghahramani, "Sparse
    Gaussian processes using pseudo-inputs", 2006), so that intervals are wider with fewer
    landmarks. The posterior is approximated by a normal distribution at its mode (Laplace's
    approximation); ``alpha`` and the parameters of the likelihood maximise its evidence.
    """

    likelihood: Likelihood | str = "gaussian"

    def _resolved_likelihood(self) -> NumberLikelihood:
        also = "Classes are learned by KernelGLMClassifier."
        likelihood = resolve_likelihood(self.likelihood, NUMBERS, NumberLikelihood, also)
        assert isinstance(likelihood, NumberLikelihood)
        return likelihood

    def _check_likelihood(self) -> None:
        self._resolved_likelihood()

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Raises ``ValueError`` if a parameter is out of range, targets are impossible under the
        likelihood, or the kernel is not positive definite.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Targets; counts are whole numbers.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, at most a million. Whole numbers are counts: a row of weight three
            is three independent rows. Other weights multiply the log-likelihood of a single
            observation. If the noise scale is learned, other weights are precisions, with normal
            noise of variance σ² / w. A common factor of all precisions then only
            changes the learned scale, which is the scale at weight one.
        exposure : array-like of shape (n,), default=None
            Time, area or population in which the counts of a row arose. The mean is multiplied by
            it; ``None`` means ones. For counts only.
        """
        options = {"accept_sparse": "csr", "dtype": FLOATS}
        X, y = validated_with_numbers(self, X, y, **options)
        rows = weighted_rows(X, as_array(y), sample_weight)
        likelihood = self._resolved_likelihood()
        exposures = checked_exposure(exposure, len(rows), likelihood)
        self._fit_rows(rows, exposures, likelihood)
        if likelihood.takes_exposure and not rows.y.any():
            warn_user(
                "All counts are zero, which bounds their mean from above only. Predicted means are "
                "far too large, as the approximate posterior reaches as far up as down: use "
                "predict_quantiles."
            )
        return self

    def predict(
        self, X: MatrixLike, return_std: bool = False, exposure: ArrayLike | None = None
    ) -> Any:
        """Return means (n,) and, with ``return_std``, standard deviations (n,) of new targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        return_std : bool, default=False
            Standard deviations include the noise; they are infinite for Student-t noise with at
            most two degrees of freedom.
        exposure : array-like of shape (n,), default=None
            Exposures of the new counts; ones if ``None``, so that predictions are rates.

        Notes
        -----
        Censored targets are predicted as if they were not censored.
        """
        parts = [part.moments() for _, part in self._predictive(X, exposure)]
        mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return (mean, np.sqrt(variance)) if return_std else mean

    def predict_latent(
        self, X: MatrixLike, exposure: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Return means and standard deviations (n,) of the latent function.

        For counts the latent function is the logarithm of their rate, or of their mean if
        ``exposure`` (n,) is given. Quantiles of the rate are ``np.exp(mean + z * std)``.
        """
        blocks = self._latent_blocks(X, exposure)
        parts = [(mean[:, 0], covariance[:, 0, 0]) for _, mean, covariance in blocks]
        mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return mean, as_array(np.sqrt(variance))

    def sample_y(
        self,
        X: MatrixLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        exposure: ArrayLike | None = None,
    ) -> Array:
        """Return samples (n, n_samples) of new targets, jointly for all rows.

        The rows of one sample share the weights of the latent function. Its residuals are
        independent, except for those of equal rows.
        """
        rows = self._validated(X)
        exposures = checked_exposure(exposure, rows.shape[0], self.likelihood_)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        weights = self.posterior_.draw(rng, as_count("n_samples", n_samples))[:, :, 0]
        Z, residual = self._features(rows)
        latent = Z @ weights.T + self.posterior_.centre
        first, row = distinct_rows(rows)
        noise = rng.normal(size=(len(first), n_samples))
        latent += np.sqrt(residual / self.alpha_)[:, None] * noise[row]
        if exposures is not None:
            latent += np.log(exposures)[:, None]
        return as_array(self.likelihood_.sample(rng, latent))

    def _target_law(self) -> NumberLikelihood:
        check_is_fitted(self, "posterior_")
        assert isinstance(self.likelihood_, NumberLikelihood)
        return self.likelihood_

    def _predictive(
        self, X: object, exposure: ArrayLike | None, shape: tuple[int, ...] | None = None
    ) -> Iterator[tuple[slice, LikelihoodMixture]]:
        laws = (self._target_law(),)
        check_shape(shape, X)
        for rows, mean, covariance in self._latent_blocks(X, exposure):
            yield rows, LikelihoodMixture(laws, mean[None, :, 0], covariance[None, :, 0, 0])


LABELS: Mapping[str, type[Likelihood]] = {
    "bernoulli": BernoulliLikelihood,
    "softmax": SoftmaxLikelihood,
    "ordinal": OrdinalLikelihood,
}
"""Likelihoods of classes by name."""


@register
@dataclass(eq=False, repr=False)
class KernelGLMClassifier(LabelledClassifier, KernelGLM):
    """Gaussian process classification, binary, multiclass or ordinal.

    The model of :class:`bochner.KernelGLMRegressor` with a likelihood of classes. Probabilities are
    averages over the posterior of the latent function, which moves them towards equal probabilities
    far from the training rows.

    Examples
    --------
    Wines of three qualities in order:

    >>> import numpy as np
    >>> from bochner import KernelGLMClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(300, 1))
    >>> y = np.digitize(2.0 * X[:, 0] + rng.logistic(size=300), [-1.0, 1.0])
    >>> model = KernelGLMClassifier("ordinal", n_components=32, random_state=0).fit(X, y)
    >>> model.predict([[-2.0], [0.0], [2.0]])
    array([0, 1, 2])

    Parameters
    ----------
    likelihood : {"auto", "bernoulli", "softmax", "ordinal"} or LabelLikelihood, default="auto"
        Distribution of the labels given the latent functions, by name or as an object of
        :mod:`bochner.gaussian_process`. ``"auto"`` is ``"bernoulli"`` for two classes and
        ``"softmax"`` for more, with one latent function per class. ``"ordinal"`` takes numbers as
        labels, which define the order of the classes, with one latent function and learned
        cutpoints.
    kernel, n_components, alpha, length_scale, random_state
        As in :class:`bochner.KernelGLMRegressor`. With ``"softmax"`` and C classes a Newton
        step takes n (p C)² operations and 8 (p C)² bytes.
    fit_intercept : bool, default=True
        Whether latent functions have a constant; ``"ordinal"`` has cutpoints instead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    likelihood_ : LabelLikelihood
        The likelihood with all parameters.
    kernel_, features_, alpha_, log_evidence_, posterior_, n_iter_
        As in :class:`bochner.KernelGLMRegressor`.

    Notes
    -----
    With ``alpha="evidence"`` the standard deviation ``alpha ** -0.5`` of the latent functions
    has a half-Cauchy prior of scale one, in log odds: the evidence of a few dozen labels alone is
    often greatest for a strong signal even if there is none, or has no maximum.
    """

    likelihood: Likelihood | str = "auto"

    classes_: NDArray[Any] = field(init=False)

    def _resolved_likelihood(self, n_classes: int) -> LabelLikelihood:
        choices = {"auto": BernoulliLikelihood if n_classes == 2 else SoftmaxLikelihood, **LABELS}
        also = "Numbers and counts are learned by KernelGLMRegressor."
        likelihood = resolve_likelihood(self.likelihood, choices, LabelLikelihood, also)
        assert isinstance(likelihood, LabelLikelihood)
        return likelihood

    def _check_likelihood(self) -> None:
        self._resolved_likelihood(n_classes=2)

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Raises ``ValueError`` if a parameter is out of range, there is only one class, or the kernel
        is not positive definite.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, at most a million. The log-likelihood of a row is multiplied by
            its weight: a row of weight three is three independent rows.
        """
        X, y = validated_with_labels(self, X, y, accept_sparse="csr", dtype=FLOATS)
        classes, numbers = np.unique(y, return_inverse=True)
        rows = weighted_rows(X, as_array(numbers), sample_weight)
        likelihood = self._resolved_likelihood(len(classes))
        if len(np.unique(numbers[rows.weights > 0.0])) < 2:
            raise ValueError(
                f"Two or more classes are needed, y has one class: {shown(classes[0])}."
            )
        if isinstance(likelihood, OrdinalLikelihood) and classes.dtype.kind not in "biuf":
            raise ValueError(
                f"The likelihood 'ordinal' takes classes that are numbers in their order, got "
                f"{shown(classes[0])}. Replace the labels by 0, 1, 2, ..."
            )
        if likelihood.n_classes not in (None, len(classes)):
            raise ValueError(
                f"{likelihood!r} is for {likelihood.n_classes} classes, y has {len(classes)}."
            )
        self._fit_rows(rows, None, likelihood)
        self.classes_ = classes
        return self

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probabilities (n, n_classes) of the classes, in the order of ``classes_``."""
        return np.concatenate(
            [self._law.probabilities(mean, cov) for _, mean, cov in self._latent_blocks(X)]
        )

    def predict_log_proba(self, X: MatrixLike) -> Array:
        """Return log probabilities (n, n_classes), at least the log of the smallest float."""
        return as_array(np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny)))

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Return the most probable class of each row, of shape (n,)."""
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        predicted: NDArray[np.generic] = self.classes_[most_probable]
        return predicted

    def log_predictive_density(self, X: MatrixLike, y: ArrayLike) -> Array:
        """Return the log probabilities (n,) of labels ``y`` (n,).

        Raises ``ValueError`` for labels that were not in the training rows.
        """
        labels = np.asarray(y)
        unknown = np.setdiff1d(labels, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y has labels that were not in the training rows: {unknown[:5].tolist()}."
            )
        numbers = np.searchsorted(self.classes_, labels)
        return as_array(self.predict_log_proba(X)[np.arange(len(numbers)), numbers])

    @property
    def _law(self) -> LabelLikelihood:
        check_is_fitted(self, "posterior_")
        assert isinstance(self.likelihood_, LabelLikelihood)
        return self.likelihood_
