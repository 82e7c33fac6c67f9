"""Classification with a kernel learned from the data."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner._numerics.arrays import Array
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_parameters import documented
from bochner.estimators.bank_tasks import Classes, Problems, positive_rows
from bochner.estimators.row_sources import is_dask, lazily
from bochner.learning.inference.preparation import distinct_rows
from bochner.registry import register


class BaNKClassification(ClassifierMixin, BaNK):
    """A model that learns its kernel from labels."""

    _is_classifier: ClassVar[bool] = True
    classes_: NDArray[Any]

    def _problems(self, X: Any, y: Any, sample_weight: Any, labels: Any = None) -> Problems:
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        X, y, weight = positive_rows(X, y, sample_weight)
        labels = np.unique(y) if labels is None else labels
        if len(labels) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, got 1 class: {labels[0]}."
            )
        self.classes_, task = labels, Classes(labels)
        return Problems(*distinct_rows(X, task.codes(y), weight), task)

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
        return Classes(self.classes_).probabilities(positive)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, of shape (n,)."""
        if is_dask(X):
            check_is_fitted(self, "learned_")
            return lazily(self, "predict", X, (), self.classes_.dtype)
        probability = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(probability, axis=1)])


@register
@documented
class BaNKClassifier(BaNKClassification):
    r"""Classification with a learned kernel (BaNK).

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}), \quad f = \Phi_\omega \beta + T \gamma,

    with the frequencies as in :class:`bochner.BaNKRegressor`. Pólya-Gamma variables make the
    likelihood Gaussian, so that frequencies move with all weights integrated out. More than two
    classes are learned one against the rest, each with its own frequencies.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies, as in :class:`bochner.BaNKRegressor`. ``"mh"`` is the paper's
        joint move of a frequency and its two weights.
    <iterations>
    <chains>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, on inputs in their own units.
    <learned>

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
