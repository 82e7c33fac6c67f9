"""Gaussian process classification: binary, multiclass or ordinal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import FLOATS, Array, MatrixLike, as_array
from bochner._base.checks import shown, validated_with_labels
from bochner._base.registry import register
from bochner.gaussian_process.kernel_glm_head import KernelGLM, resolve_likelihood, weighted_rows
from bochner.gaussian_process.label_likelihoods import (
    BernoulliLikelihood,
    OrdinalLikelihood,
    SoftmaxLikelihood,
)
from bochner.gaussian_process.likelihood import LabelLikelihood, Likelihood
from bochner.linear.inputs import LabelledClassifier

LABELS: Mapping[str, type[Likelihood]] = {
    "bernoulli": BernoulliLikelihood,
    "softmax": SoftmaxLikelihood,
    "ordinal": OrdinalLikelihood,
}
"""Likelihoods of classes by name."""


@register
@dataclass(eq=False, repr=False)
class KernelGLMClassifier(LabelledClassifier, KernelGLM):
    r"""Gaussian process classification, binary, multiclass or ordinal.

    The model of :class:`bochner.KernelGLMRegressor` with a likelihood of classes. Probabilities are
    averages over the posterior of the latent function, which moves them towards equal probabilities
    far from the training rows.

    With ``alpha="evidence"`` the standard deviation :math:`\alpha^{-1/2}` of the latent functions
    has a half-Cauchy prior of scale one, in log odds, and ``alpha`` maximises the evidence times
    that prior. Without the prior, the evidence of a few dozen labels is often greatest for a strong
    signal even if there is none, and for separable labels it has no maximum.

    Parameters
    ----------
    likelihood : {"auto", "bernoulli", "softmax", "ordinal"} or LabelLikelihood, default="auto"
        Distribution of the labels given the latent functions, by name or as an object of
        :mod:`bochner.gaussian_process`. ``"auto"`` is ``"bernoulli"`` for two classes and
        ``"softmax"`` for more, with one latent function per class. ``"ordinal"`` takes numbers as
        labels, which define the order of the classes, with one latent function and learned
        cutpoints.
    kernel, n_components, alpha, length_scale, random_state
        As in :class:`bochner.KernelGLMRegressor`. With ``"softmax"`` and ``C`` classes a Newton
        step takes :math:`n (p C)^2` operations and :math:`8 (p C)^2` bytes.
    fit_intercept : bool, default=True
        Whether latent functions have a constant; ``"ordinal"`` has cutpoints instead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    likelihood_ : LabelLikelihood
        The likelihood with all parameters.
    kernel_, features_, alpha_, log_evidence_, posterior_, n_iter_
        As in :class:`bochner.KernelGLMRegressor`.

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
                f"{classes[0]!r}. Replace the labels by 0, 1, 2, ..."
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
