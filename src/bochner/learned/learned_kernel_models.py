"""Regression and classification with a kernel learned from the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, MatrixLike, RandomState, as_array, as_count, as_flag
from bochner._base.checks import validated_with_labels, validated_with_numbers
from bochner.features.parameters import generators
from bochner.features.targets import Indicators, Units
from bochner.learned.draws import Draws, drawn_functions
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator
from bochner.learned.pooling import LeftOutRows
from bochner.learned.target_columns import Problems
from bochner.learned.training_data import distinct_rows
from bochner.linear.functions import SampledFunctions
from bochner.linear.inputs import LabelledClassifier, check_one_spread, checked_weight
from bochner.linear.softmax_weights import SoftmaxWeights, fit_softmax, left_out_probabilities

_MOST_ROWS = 1e12
"""Largest sum of weights of labels: beyond it, rounding of the sum loses part of a single row."""

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Standard deviation of constant targets that is due to rounding, relative to their mean."""


@dataclass(frozen=True, slots=True)
class StandardisedNumbers:
    """Task of a regression: targets minus their mean, divided by their scale."""

    mean: float
    scale: float
    # Whether nothing but rounding is left without the mean; the column is zero then
    is_constant: bool = False

    @classmethod
    def of(cls, y: Array, weight: Array | None) -> "StandardisedNumbers":
        """Return the task of weighted targets."""
        mean = float(np.average(y, weights=weight))
        scale = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
        is_constant = scale <= _ROUNDING * abs(mean)
        return cls(mean, 1.0 if is_constant else scale, is_constant)

    def codes(self, y: NDArray[np.generic]) -> Array:
        """Return numbers that stand for targets, of shape (n,)."""
        return y.astype(np.float64)

    def columns(self, codes: Array) -> Array:
        """Return the column that a chain learns, of shape (n, 1)."""
        centred = codes[:, None] - self.mean
        return np.zeros_like(centred) if self.is_constant else centred / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class OneVsRestLabels:
    """Task of a classification, with one column of plus and minus one for each chain."""

    classes: NDArray[Any]  # All labels, in ascending order

    def codes(self, y: NDArray[np.generic]) -> Array:
        """Return the indices of labels, of shape (n,)."""
        return np.searchsorted(self.classes, y).astype(np.float64)

    def columns(self, codes: Array) -> Array:
        """Return a column for every chain to learn, of shape (n, t)."""
        return Indicators(np.arange(len(self.classes)))(codes)

    def probabilities(self, positive: Array) -> Array:
        """Return class probabilities from the probabilities (n, t) of a plus one in each column.

        Two classes have one column, with plus one for the second class. More classes have one
        column each, one against the rest.
        """
        if len(self.classes) == 2:
            positive = np.concatenate([1.0 - positive, positive], axis=1)
        positive = np.maximum(positive, np.finfo(np.float64).tiny)
        return as_array(positive / positive.sum(axis=1, keepdims=True))


def positive_rows(X: Array, y: Any, sample_weight: ArrayLike | None) -> tuple[Array, Any, Units]:
    """Return the rows of positive weight, and the observations that they represent."""
    weight = checked_weight(sample_weight, X)
    if weight is None:
        return X, y, Units.of(None, len(X))
    is_positive = weight > 0
    return (
        X[is_positive],
        y[is_positive],
        Units.of(weight[is_positive], int(np.count_nonzero(is_positive))),
    )


def of_mean_one(units: Units) -> tuple[Units, float]:
    """Return observations with precisions of mean one, and the divisor of the precisions.

    Sums of weights are then numbers of observations, on which the distribution of the noise
    variance depends.
    """
    unit = 1.0 if units.are_counts else float(np.average(units.weights, weights=units.counts))
    return Units(units.weights / unit, units.counts), unit


def function_moments(draws: Draws, inputs: Array, fixed: Array) -> tuple[Array, Array]:
    """Return mean and variance (n,) of the function over draws, given the weights of each draw."""
    mean, variance = np.empty((2, inputs.shape[1]))
    for part, values in draws.activations(inputs, fixed):
        mean[part] = values.mean(axis=0)
        variance[part] = values.var(axis=0)
    return mean, variance


def _spread(draws: Draws, inputs: Array, fixed: Array, weights: Array | None = None) -> Array:
    """Return the mean variance (n,) of new observations given a draw, noise included.

    Their ``weights`` (n,) are ones by default.
    """
    precision = np.ones(inputs.shape[1]) if weights is None else weights
    variance = np.empty(inputs.shape[1])
    level = draws.noise_variance[draws.whitened, None]
    for part, spreads in draws.spreads(inputs, fixed):
        noise = [draws.noise(index, inputs[:, part]) / precision[part] for index in draws.whitened]
        variance[part] = np.mean(level * spreads + np.array(noise), axis=0)
    return variance


class LearnedRegression(RegressorMixin, LearnedKernelEstimator):
    """Base of the regressions with a learned kernel."""

    _is_classifier: ClassVar[bool] = False
    target_mean_: float
    target_scale_: float
    _scale: float

    def _problems(
        self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Problems:
        rows, y = validated_with_numbers(self, X, y, dtype=np.float64)
        rows, y, units = distinct_rows(*positive_rows(rows, y.astype(np.float64), sample_weight))
        units, unit = of_mean_one(units)
        task = StandardisedNumbers.of(y, units.totals)
        self.target_mean_, self.target_scale_ = task.mean, task.scale
        return Problems(rows, y, units, task, unit, has_precisions=not units.are_counts)

    def predict(
        self, X: MatrixLike, return_std: bool = False, return_cov: bool = False
    ) -> Array | tuple[Array, Array]:
        """Return posterior means and optionally standard deviations or covariances.

        Parameters
        ----------
        X : array-like of shape (n, d)
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, noise included.
        return_cov : bool, default=False
            Whether to return the covariance of new observations at all rows. Its diagonal has the
            squares of the standard deviations.

        Returns
        -------
        mean : ndarray of shape (n,)
        std, cov : ndarrays of shapes (n,) and (n, n)
            Only if ``return_std`` or ``return_cov``.

        Raises
        ------
        ValueError
            If ``return_std`` and ``return_cov`` are both true.
        """
        check_one_spread(return_std, return_cov)
        inputs, fixed = self._rows(X)
        draws = self.learned_[0].draws
        mean, variance = function_moments(draws, inputs, fixed)
        mean = self.target_mean_ + self.target_scale_ * mean
        if return_cov:
            unit = (self._scale * self.target_scale_) ** 2
            return mean, unit * draws.covariance(inputs, fixed)
        if not return_std:
            return mean
        variance += _spread(draws, inputs, fixed)
        return mean, self._scale * self.target_scale_ * np.sqrt(variance)

    def _calibrate(self, left_out: LeftOutRows | None, task: StandardisedNumbers) -> None:
        self.score_, self._scale = None, 1.0
        if left_out is None:
            return
        draws = self.learned_[0].draws
        residual = task.columns(left_out.codes)[:, 0]
        means = np.empty((left_out.n_chains, len(residual)))
        for part, values in draws.activations(left_out.inputs, left_out.fixed):
            means[:, part] = values.reshape(len(means), -1, values.shape[1]).mean(axis=1)
        variance: Array = means.var(axis=0)
        new = np.empty_like(variance)  # That of new observations of weight one
        for rows, (chain,), inputs, fixed in left_out.by_chain([draws]):
            mean, within = function_moments(chain, inputs, fixed)
            residual[rows] -= mean
            new[rows] = variance[rows] + within + _spread(chain, inputs, fixed)
            variance[rows] += within + _spread(chain, inputs, fixed, left_out.units.weights[rows])
        ratio = residual**2 / variance
        self.score_ = self.target_scale_ * np.sqrt(left_out.mean(new * ratio))
        self._scale = max(np.sqrt(left_out.mean(ratio)), _ROUNDING)

    def sample_y(
        self,
        X: MatrixLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        *,
        noise: bool = True,
    ) -> Array:
        """Return draws from the posterior predictive, jointly at all rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0
        noise : bool, default=True
            Whether to draw observations, or the function without its noise.

        Returns
        -------
        samples : ndarray of shape (n, n_samples)
        """
        inputs, _ = self._rows(X)
        function_rng, noise_rng = generators(random_state, 2)
        functions, deviating = self._drawn(as_count("n_samples", n_samples), function_rng)
        samples = functions(X)
        if as_flag("noise", noise):
            unit, draws = self._scale * self.target_scale_, self.learned_[0].draws
            for index in np.unique(deviating):
                columns = np.flatnonzero(deviating == index)
                deviation = unit * np.sqrt(draws.noise(int(index), inputs))
                fresh = noise_rng.normal(size=(len(samples), len(columns)))
                samples[:, columns] += deviation[:, None] * fresh
        return samples

    def sample_functions(
        self, n_functions: int = 1, random_state: RandomState = None
    ) -> SampledFunctions:
        """Return functions drawn from the posterior, without noise.

        A function is a sum of the waves of a posterior draw of frequencies and weights. Its value
        and gradient can be computed at every point, in O(p) operations per point. If left-out rows
        scale the standard deviations, the function's deviation from the mean is scaled by the same
        factor, and the function is a sum of the waves of all draws.

        Parameters
        ----------
        n_functions : int, default=1
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        functions : SampledFunctions
            ``functions(X)`` has the shape (n, n_functions), and ``functions.gradient(X)`` the shape
            (n, d, n_functions), in units of the inputs and the target.
        """
        check_is_fitted(self, "learned_")
        (rng,) = generators(random_state, 1)
        return self._drawn(as_count("n_functions", n_functions), rng)[0]

    def _drawn(
        self, count: int, rng: np.random.Generator
    ) -> tuple[SampledFunctions, NDArray[np.int64]]:
        """Return functions, and the index of the draw that gives the noise of each function."""
        draws = self.learned_[0].draws
        functions, deviating = drawn_functions(
            draws, self._trend, self._scaling, count, rng, self._scale
        )
        return functions.transformed(self.target_mean_, self.target_scale_), deviating

    @property
    def noise_variance_(self) -> float:
        """Posterior mean of the noise's variance, in squared units of the target."""
        draws = self.learned_[0].draws
        return draws.noise_unit * float(draws.noise_variance.mean()) * self.target_scale_**2


class LearnedClassification(LabelledClassifier, LearnedKernelEstimator):
    """Base of the classifications with a learned kernel."""

    _is_classifier: ClassVar[bool] = True
    classes_: NDArray[Any]
    _softmax: SoftmaxWeights | None

    def _problems(self, X: object, y: Any, sample_weight: ArrayLike | None) -> Problems:
        rows, y = validated_with_labels(self, X, y, dtype=np.float64)
        rows, y, units = positive_rows(rows, y, sample_weight)
        labels = np.unique(y)
        if len(labels) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, got 1 class: {labels[0]}."
            )
        total = units.totals.sum()
        if total > _MOST_ROWS:
            raise ValueError(
                f"sample_weight must have a sum of at most {_MOST_ROWS:g}, as a row of weight w "
                f"counts as w rows, got {total:g}. Divide the weights by a number."
            )
        self.classes_, task = labels, OneVsRestLabels(labels)
        return Problems(*distinct_rows(rows, task.codes(y), units), task)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return posterior mean probabilities of the classes, of shape (n, n_classes)."""
        inputs, fixed = self._rows(X)
        probability = self._averaged([learned.draws for learned in self.learned_], inputs, fixed)
        if self._softmax is None:
            return probability
        return self._softmax.probabilities(np.log(probability)[:, None])

    def _averaged(self, each: Sequence[Draws], inputs: Array, fixed: Array) -> Array:
        """Return probabilities (n, n_classes), averaged over the draws of every problem."""
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
