"""Classification with a learned kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin

from bochner._base.arrays import Array, ArrayLike, MatrixLike, as_array
from bochner._base.checks import labels, validated_with_labels
from bochner._base.registry import register
from bochner.features.chunks import Indicators
from bochner.learned.chain_parameters import documented
from bochner.learned.draws import Draws
from bochner.learned.learned_kernel import LeftOutRows
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator, Problems, positive_rows
from bochner.learned.training_data import distinct_rows
from bochner.linear.softmax_weights import SoftmaxWeights, fit_softmax, left_out_probabilities

_MOST_ROWS = 1e12
"""Largest sum of weights of labels: beyond it, rounding of the sum loses part of a single row."""


@dataclass(frozen=True, slots=True, eq=False)
class OneVsRestLabels:
    """The task of labels: it turns them into columns of plus and minus one, one per problem."""

    classes: NDArray[Any]  # All labels, in ascending order

    def codes(self, y: NDArray[np.generic]) -> Array:
        """Return the index (n,) of each label among the classes."""
        return np.searchsorted(self.classes, y).astype(np.float64)

    def columns(self, codes: Array) -> Array:
        """Return the columns (n, t) of plus and minus one that chains learn, from class indices."""
        return Indicators(np.arange(len(self.classes)))(codes)

    def probabilities(self, positive: Array) -> Array:
        """Return class probabilities from the probabilities (n, t) of plus one in each column.

        Two classes have one column, with plus one for the second class. More classes have one
        column each, one against the rest.
        """
        if len(self.classes) == 2:
            positive = np.concatenate([1.0 - positive, positive], axis=1)
        positive = np.maximum(positive, np.finfo(np.float64).tiny)
        return as_array(positive / positive.sum(axis=1, keepdims=True))


class LearnedClassification(ClassifierMixin, LearnedKernelEstimator):
    """Base class of the classifiers with a learned kernel."""

    _is_classifier: ClassVar[bool] = True
    classes_: NDArray[Any]
    _softmax: SoftmaxWeights | None

    def _problems(self, X: object, y: Any, sample_weight: ArrayLike | None) -> Problems:
        rows, y = validated_with_labels(self, X, y, dtype=np.float64)
        rows, y, units = positive_rows(rows, y, sample_weight)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, got 1 class: {classes[0]}."
            )
        total = units.totals.sum()
        if total > _MOST_ROWS:
            raise ValueError(
                f"sample_weight must have a sum of at most {_MOST_ROWS:g}, as a row of weight w "
                f"counts as w rows, got {total:g}. Divide the weights by a number."
            )
        self.classes_, task = classes, OneVsRestLabels(classes)
        return Problems(*distinct_rows(rows, task.codes(y), units), task)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return posterior mean probabilities of the classes, of shape (n, n_classes)."""
        inputs, fixed = self._rows(X)
        probability = self._averaged([learned.draws for learned in self.learned_], inputs, fixed)
        if self._softmax is None:
            return probability
        return self._softmax.probabilities(np.log(probability)[:, None])

    def _averaged(self, each: Sequence[Draws], inputs: Array, fixed: Array) -> Array:
        """Return class probabilities (n, n_classes), averaged over the draws of each problem."""
        positive = np.empty((inputs.shape[1], len(each)))
        for column, draws in enumerate(each):
            spread = np.empty(inputs.shape[1])
            for part, values in draws.spreads(inputs, fixed):
                spread[part] = values.mean(axis=0)
            for part, values in draws.activations(inputs, fixed):
                # MacKay's approximation of the mean of the logistic function of a normal variate.
                shrunk = values / np.sqrt(1.0 + np.pi / 8.0 * spread[part])
                positive[part, column] = expit(shrunk).mean(axis=0)
        return OneVsRestLabels(self.classes_).probabilities(positive)

    def _calibrate(self, left_out: LeftOutRows | None, task: OneVsRestLabels) -> None:
        self.score_ = self._softmax = None
        if left_out is None:
            return
        every = [learned.draws for learned in self.learned_]
        probability = np.empty((len(left_out.codes), len(self.classes_)))
        for rows, chain, inputs, fixed in left_out.by_chain(every):
            probability[rows] = self._averaged(chain, inputs, fixed)
        scores, labels = np.log(probability)[:, None], left_out.codes.astype(np.intp)
        units = left_out.units
        self._softmax = fit_softmax(scores, labels, units.totals, has_biases=False)
        label_probability = left_out_probabilities(scores, labels, units, has_biases=False)
        self.score_ = -float(np.average(np.log(label_probability), weights=units.totals))

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Return the most probable class of each row, of shape (n,)."""
        probability = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(probability, axis=1)])

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Return the accuracy of the predicted labels of rows (n, d) with labels ``y`` (n,).

        Rows are weighted by ``sample_weight`` (n,). Raises ValueError or TypeError for labels that
        ``fit`` would refuse.
        """
        return float(super().score(X, labels(y), sample_weight))


@register
@documented
@dataclass(eq=False, repr=False)
class LearnedKernelClassifier(LearnedClassification):
    """Classification with a learned kernel (BaNK).

    The log odds of a class are a function as in :class:`bochner.LearnedKernelRegressor`.
    ``predict_proba(X)`` returns probabilities, averaged over posterior draws.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bochner import LearnedKernelClassifier
    >>> from bochner.learned import Chains
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LearnedKernelClassifier(30, chains=Chains(20, 20), random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True
    >>> model.predict_proba(X).shape
    (200, 2)

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies, as in :class:`bochner.LearnedKernelRegressor`.
    <chains>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : SpectralMixture
        Posterior mean of the kernel, with k(0) = 1, in the original units of the inputs.
    <learned>
    score_ : float or None
        Log loss of left-out rows in nats; ``None`` if no rows were left out.

    Notes
    -----
    Pólya-Gamma variables make the likelihood Gaussian, so that frequencies are sampled with all
    weights integrated out. More than two classes are learned one against the rest, with separate
    frequencies for each class.

    <left out>
    Probabilities are calibrated by temperature scaling: they are raised to the power that fits the
    left-out rows best, and normalised.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016. Polson, Scott and Windle, "Bayesian inference for logistic models using Pólya-Gamma
    latent variables", 2013.
    """
