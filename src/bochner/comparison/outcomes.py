"""Test predictions of a fitted method, their errors, and the coverage of intervals."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom, rankdata
from sklearn.base import BaseEstimator
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from bochner._base.arrays import Array, Floats, Index, Mask, as_array
from bochner.comparison.split import Split

LIKE = "like the training rows"
"""Name of the kind of rows that resemble the training rows, see :func:`by_kind`."""

LEVEL = 0.9
"""Default probability of the prediction intervals whose coverage is measured."""

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "rmse": "RMSE",
        "mae": "MAE",
        "r2": "explained variance",
        "coverage": "coverage",
        "log_loss": "log loss",
        "error": "error rate",
        "auc": "AUC",
        "average_precision": "average precision",
        "top_tenth": "in riskiest tenth",
    }
)
"""Column headings of metrics, by the name of the metric."""

OF_NUMBERS = ("rmse", "mae", "r2", "coverage")
"""Metrics shown in tables for regression."""

OF_CLASSES = ("log_loss", "error", "auc", "average_precision", "top_tenth")
"""Metrics shown in tables for classification; the error rate only if no class is rare, and the last
two only if one is."""

SHARES = ("r2", "coverage", "error", "top_tenth")
"""Metrics that are shown in per cent."""

_FREQUENT = 0.9
"""Share of one class above which the other classes are rare, so that error rates say little."""

OF_SPREAD = ("r2", "auc", "average_precision", "top_tenth")
"""Metrics that depend on the spread of the targets, so they do not compare kinds of rows."""

KINDS_OF_ROWS: Mapping[str, str] = MappingProxyType(
    {
        LIKE: LIKE,
        "missing": "with a missing entry",
        "new level": "with a new level",
        "beyond the range": "beyond the range",
        "later": "of later times",
    }
)
"""Description of each kind of rows, which follows the word "rows"."""

_LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
"""Lower bound of a probability in the log loss, as in scikit-learn."""


def within(values: Array, lower: Array | None, upper: Array | None) -> Mask | None:
    """Return whether values are within their intervals; ``None`` without intervals."""
    if lower is None or upper is None:
        return None
    return np.asarray((lower <= values) & (values <= upper))


@dataclass(frozen=True, slots=True)
class Score:
    """A metric on n test rows, with its standard error, ``nan`` if unknown."""

    value: float
    std_error: float = float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class RareClass:
    """A rare class: its name, the rows (n,) where it is observed, and its probabilities (n,)."""

    name: str
    is_observed: Mask
    stated: Array

    @property
    def n(self) -> int:
        """Number of rows of the class."""
        return int(self.is_observed.sum())

    def hits(self, share: float = 0.1) -> tuple[int, int, float]:
        """Return counts of the riskiest share of the rows and of hits, and the threshold."""
        n_rows = int(np.ceil(share * len(self.stated) - 1e-9))
        rows = np.argsort(-self.stated, kind="stable")[:n_rows]
        return n_rows, int(self.is_observed[rows].sum()), float(self.stated[rows[-1]])


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Predictions of one target for n test rows, with the observed values ``y`` (n,).

    ``prediction`` (n,) are means or labels, ``lower`` and ``upper`` (n,) ends of intervals of
    probability ``level``, ``probability`` (n, C) those of ``classes`` (C,), None for numbers.
    ``unit`` is the variance of the training target; rows of equal ``clusters`` (n,) are dependent.
    """

    y: NDArray[Any]
    prediction: NDArray[Any]
    lower: Array | None = None
    upper: Array | None = None
    probability: Array | None = None
    classes: NDArray[Any] | None = None
    level: float = LEVEL
    unit: float = 1.0
    clusters: NDArray[Any] | None = None
    seconds: float = float("nan")

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics that tables show; the first one ranks methods."""
        names, scores = OF_NUMBERS if self.classes is None else OF_CLASSES, self.scores()
        return [n for n in names if n in scores and (n != "error" or self.rare is None)]

    @property
    def rare(self) -> "RareClass | None":
        """The second class in frequency if one class has over 90 % of the rows."""
        if self.classes is None or self.probability is None or len(self.classes) < 2:
            return None
        counts = [np.sum(self.y == name) for name in self.classes]
        first, k = np.argsort(np.negative(counts), kind="stable")[:2]
        if not counts[k] or counts[first] <= _FREQUENT * len(self.y):
            return None
        observed = np.asarray(self.y == self.classes[k])
        return RareClass(str(self.classes[k]), observed, as_array(self.probability[:, k]))

    def part(self, rows: Index | Mask) -> "Outcome":
        """Return the outcome restricted to some of the rows."""
        names = ("y", "prediction", "lower", "upper", "probability", "clusters")
        columns = ((name, getattr(self, name)) for name in names)
        return replace(
            self, **{name: values[rows] for name, values in columns if values is not None}
        )

    def confusion(self) -> NDArray[np.int64]:
        """Return the confusion matrix (C, C): row counts by observed and by predicted class."""
        counts: NDArray[np.int64] = confusion_matrix(self.y, self.prediction, labels=self.classes)
        return counts

    def losses(self) -> Array:
        """Return the squared error, log loss in nats, or wrong class (one) of each row."""
        if self.classes is None:
            return as_array((self.prediction - self.y) ** 2)
        if self.probability is None:
            return as_array(self.prediction != self.y)
        is_class = self.y[:, None] == np.asarray(self.classes)
        true_probability = np.sum(self.probability, axis=1, where=is_class)
        return as_array(-np.log(np.maximum(true_probability, _LEAST_PROBABILITY)))

    def scores(self) -> Mapping[str, Score]:
        """Return the metrics of the predictions by name, with standard errors."""
        return self._class_scores() if self.classes is not None else self._number_scores()

    def _number_scores(self) -> dict[str, Score]:
        residual = self.prediction - self.y
        square = mean_score(residual**2, self.clusters)
        rmse, unit = np.sqrt(square.value), self.unit or np.nan  # NaN if targets are constant
        scores = {
            "rmse": Score(float(rmse), square.std_error / (2.0 * rmse) if rmse else 0.0),
            "mae": mean_score(np.abs(residual), self.clusters),
            "error": Score(square.value / unit, square.std_error / unit),
        }
        if (spread := float(np.var(self.y))) > 0.0:
            scores["r2"] = Score(1.0 - square.value / spread)
        if self.lower is not None and self.upper is not None:
            is_covered = (self.lower <= self.y) & (self.y <= self.upper)
            scores["coverage"] = mean_score(is_covered, self.clusters)
            scores["width"] = mean_score(self.upper - self.lower, self.clusters)
        return scores

    def _class_scores(self) -> dict[str, Score]:
        scores = {"error": mean_score(self.prediction != self.y, self.clusters)}
        if self.probability is not None and self.classes is not None:
            scores["log_loss"] = mean_score(self.losses(), self.clusters)
            if len(self.classes) == 2 and len(np.unique(self.y)) == 2:
                second = self.y == self.classes[1]
                scores["auc"] = _area(second, as_array(self.probability[:, 1]))
            if (rare := self.rare) is not None:
                pair, (n_rows, n_hits, _) = (rare.is_observed, rare.stated), rare.hits()
                share, error = n_hits / rare.n, np.sqrt(n_hits * (rare.n - n_hits) / rare.n**3)
                if not np.ptp(rare.stated):  # A constant has no order: the mean of all orders
                    share, error = n_rows / len(self.y), np.nan
                scores["auc"] = _area(*pair)
                scores["average_precision"] = Score(float(average_precision_score(*pair)))
                scores["top_tenth"] = Score(share, float(error))
        return scores


def _area(is_class: Mask, stated: Array) -> Score:
    """Return the area under the ROC curve, with the standard error of DeLong et al. (1988)."""
    area, ranks, variance = float(roc_auc_score(is_class, stated)), rankdata(stated), 0.0
    if not np.ptp(stated):
        return Score(area)
    for part in (is_class, ~is_class):
        # The share of the rows of the other class below each row, and its variance
        shares = (ranks[part] - rankdata(stated[part])) / np.sum(~part)
        variance += float(np.var(shares, ddof=1)) / len(shares) if len(shares) > 1 else np.nan
    return Score(area, float(np.sqrt(variance)))


def mean_score(values: Floats | Mask, clusters: NDArray[np.generic] | None = None) -> Score:
    """Return the mean of values (n,) and its (cluster-robust) standard error."""
    values = as_array(values.astype(np.float64))
    n, mean = len(values), float(np.mean(values))
    residuals = values - mean
    if clusters is not None:
        numbers = np.unique(clusters, return_inverse=True)[1]
        residuals = as_array(np.bincount(numbers, residuals))
    n_parts = len(residuals)
    if n_parts < 2:
        return Score(mean)
    # Variance of a sum of independent parts (rows or clusters) with mean zero.
    largest = float(np.max(np.abs(residuals))) or 1.0  # Against overflow
    error = np.sqrt(np.sum((residuals / largest) ** 2) * n_parts / (n_parts - 1)) / n
    return Score(mean, largest * float(error))


def outcome(
    model: BaseEstimator, split: Split, level: float = LEVEL, seconds: float = np.nan
) -> Outcome:
    """Return the outcome of a fitted model on the test rows of a split with a single target."""
    common: dict[str, Any] = {"clusters": split.groups_test, "level": level, "seconds": seconds}
    if split.task == "classification":
        probability, classes = None, np.asarray(getattr(model, "classes_", np.unique(split.y)))
        if hasattr(model, "predict_proba"):
            probability = as_array(model.predict_proba(split.X_test))
            if len(classes) == 2 and np.mean(split.y == classes[0]) < 0.5:
                # Figures are about the second of two classes: the rarer one.
                probability, classes = as_array(probability[:, ::-1]), classes[::-1]
        return Outcome(
            split.y_test,
            np.ravel(model.predict(split.X_test)),  # CatBoost returns labels of shape (n, 1)
            probability=probability,
            classes=classes,
            **common,
        )
    unit = float(np.var(split.y))
    return Outcome(split.y_test, *with_ends(model, split.X_test, level), unit=unit, **common)


def mean_and_std(model: BaseEstimator, X: object) -> tuple[Array, Array | None]:
    """Return predictions, and standard deviations if the model has them."""
    if "return_std" not in signature(model.predict).parameters:
        return as_array(model.predict(X)), None
    mean, std = model.predict(X, return_std=True)
    return as_array(mean), as_array(std)


def with_ends(
    model: BaseEstimator, X: object, level: float
) -> tuple[Array, Array | None, Array | None]:
    """Return predictions, and interval ends if the model has intervals or standard deviations."""
    if hasattr(model, "distributions"):
        of_rows = model.distributions(X)
        return of_rows.mean_and_std()[0], *of_rows.interval(level)
    if hasattr(model, "predict_interval"):
        lower, upper = model.predict_interval(X, level)
        return as_array(model.predict(X)), as_array(lower), as_array(upper)
    mean, std = mean_and_std(model, X)
    if std is None:
        return mean, None, None
    half = float(ndtri(0.5 + 0.5 * level)) * std
    return mean, mean - half, mean + half


def by_group(outcome: Outcome, labels: Iterable[object]) -> Mapping[Any, Outcome]:
    """Split the outcome by labels (n,), in decreasing order of frequency."""
    texts = np.array([str(label) for label in labels])
    names, numbers, counts = np.unique(texts, return_inverse=True, return_counts=True)
    return {names[i]: outcome.part(numbers == i) for i in np.argsort(-counts, kind="stable")}


def by_kind(outcome: Outcome, unlike: Mapping[str, Mask]) -> Mapping[str, Outcome]:
    """Return outcomes of rows like the training rows, and unlike them for each reason."""
    masks = {reason: mask for reason, mask in unlike.items() if mask.any()}
    if not masks:
        return {}
    is_like = ~np.any(list(masks.values()), axis=0)
    masks = {LIKE: is_like, **masks} if is_like.any() else masks
    return {kind: outcome.part(mask) for kind, mask in masks.items()}


_CERTAINTY = 0.95  # Probability that the coverage of calibrated intervals lies within its range


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of values within intervals of a level, and its 95 % range if calibrated."""

    level: float
    observed: float
    lower: float
    upper: float

    @property
    def is_narrow(self) -> bool:
        """Whether the coverage is significantly below its level."""
        return self.observed < self.lower

    @property
    def is_wide(self) -> bool:
        """Whether the coverage is significantly above its level."""
        return self.observed > self.upper

    @property
    def judgement(self) -> str:
        """Judgement of the intervals that ends a sentence."""
        if self.is_narrow:
            return "too narrow"
        return "wider than necessary" if self.is_wide else "as expected"


def calibrated_range(
    n: int | Index, level: Array | float, n_comparisons: int = 1
) -> tuple[Array, Array]:
    """Return the 95 % range of the coverage of n values, for all comparisons together."""
    lower, upper = binom.interval(1.0 - (1.0 - _CERTAINTY) / n_comparisons, n, level)
    return as_array(lower / n), as_array(upper / n)


def coverage_of(
    is_covered: NDArray[np.bool_],
    level: float,
    clusters: NDArray[np.generic] | None = None,
    n_comparisons: int = 1,
) -> Coverage:
    """Return the coverage from a mask (n,) of covered values, dependent within ``clusters`` (n,).

    They count as the number of independent values whose coverage would be as precise, at least the
    number of clusters, and equal to it if all or no values are covered.
    """
    n, share = len(is_covered), float(np.mean(is_covered))
    if clusters is not None:
        n_clusters, error = len(np.unique(clusters)), mean_score(is_covered, clusters).std_error
        precise = share * (1.0 - share) / error**2 if error > 0.0 else n_clusters
        n = int(np.clip(precise, n_clusters, n))
    lower, upper = calibrated_range(n, level, n_comparisons)
    return Coverage(level, share, float(lower), float(upper))


def outcome_coverage(outcome: Outcome, n_comparisons: int = 1) -> Coverage | None:
    """Return the coverage of the intervals of an outcome; ``None`` without intervals."""
    covered = within(outcome.y, outcome.lower, outcome.upper)
    if covered is None:
        return None
    return coverage_of(covered, outcome.level, outcome.clusters, n_comparisons)
