"""Classification with a kernel learned from the data."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner._numerics.arrays import Array
from bochner.estimators._bank import BaNK, positive_rows
from bochner.estimators._bank_problems import OneAgainstRest, Problems
from bochner.estimators.dask_collections import is_dask, lazily
from bochner.estimators.validation import checked_weight
from bochner.learning.inference.preparation import distinct_rows
from bochner.registry import register


@register
class BaNKClassifier(ClassifierMixin, BaNK):
    r"""Classification with a kernel that is learned, and probabilities that average it.

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}), \quad f = \Phi_\omega \beta + T \gamma,

    with the frequencies as in :class:`bochner.BaNKRegressor`. Pólya-Gamma variables make the
    likelihood Gaussian, so that frequencies move with all weights integrated out. More than two
    classes are learned one against the rest, each with its own frequencies.

    Parameters
    ----------
    n_frequencies, structure, n_burn_in, n_samples, thin, n_chains, n_jobs, trend, dtype, verbose
        As in :class:`bochner.BaNKRegressor`.
    sampler : {"auto", "pcn", "hmc", "mh"}, default="auto"
        ``"mh"`` is the paper's joint move of a frequency and its two weights.
    time_limit : float or None, default=None
        Seconds after which sampling stops early; classes share them.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kernel_, learned_, trace_, relevance_, interactions_, convergence_
        As in :class:`bochner.BaNKRegressor`; lists have one entry, or one for every class where
        there are more than two.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016. Polson, Scott and Windle, "Bayesian inference for logistic models using Pólya-Gamma
    latent variables", 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bochner import BaNKClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = BaNKClassifier(30, n_burn_in=20, n_samples=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True
    >>> model.predict_proba(X).shape
    (200, 2)
    """

    _is_binary: ClassVar[bool] = True
    classes_: NDArray[Any]

    def _problems(self, X: Any, y: Any, sample_weight: Any, labels: Any = None) -> Problems:
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        X, y, weight = positive_rows(X, y, checked_weight(sample_weight, X))
        self.classes_ = np.unique(y) if labels is None else labels
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, "
                f"got 1 class: {self.classes_[0]}."
            )
        targets = OneAgainstRest(self.classes_)
        return Problems(*distinct_rows(X, targets.codes(y), weight), targets)

    def predict_proba(self, X: Any) -> Array:
        """Return posterior mean probabilities of the classes, of shape (n, n_classes)."""
        if is_dask(X):
            check_is_fitted(self, "learned_")
            return lazily(self, "predict_proba", X, self.classes_.shape, np.float64)
        inputs, fixed = self._rows(X)
        positive = np.empty((inputs.shape[1], len(self.learned_)))
        for column, learned in enumerate(self.learned_):
            draws = learned.draws
            spread = np.empty(inputs.shape[1])
            for part, values in draws.spreads(inputs, fixed):
                spread[part] = values.mean(axis=0)
            for part, values in draws.activations(inputs, fixed):
                # The logistic function of a normal variate, on average: MacKay's approximation.
                shrunk = values / np.sqrt(1.0 + np.pi / 8.0 * spread[part])
                positive[part, column] = expit(shrunk).mean(axis=0)
        if positive.shape[1] == 1:
            return np.concatenate([1.0 - positive, positive], axis=1)
        positive = np.maximum(positive, np.finfo(np.float64).tiny)
        probability: Array = positive / positive.sum(axis=1, keepdims=True)
        return probability

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, of shape (n,)."""
        if is_dask(X):
            check_is_fitted(self, "learned_")
            return lazily(self, "predict", X, (), self.classes_.dtype)
        winner = np.argmax(self.predict_proba(X), axis=1)
        labels: NDArray[Any] = self.classes_[winner]
        return labels
