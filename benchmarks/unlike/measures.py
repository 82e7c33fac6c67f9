"""Coverage and scores of intervals, and errors of probabilities, on test rows of a kind."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.real.measures import errors
from benchmarks.unlike import design
from benchmarks.unlike.methods import Method
from benchmarks.unlike.rows import Rows
from bochner._base.arrays import Array

_MOST_BINS, _FEWEST_IN_BIN = 5, 100
"""Bins of the calibration error: with fewer rows in each, chance alone makes errors of 0.04."""


def measured(method: Method, rows: Rows) -> Mapping[str, float]:
    """Return the metrics of a fitted method; lengths are in standard deviations of the target.

    ``expected_error`` is that of the method, if it has one, relative to the error on the test rows.
    Names that end in ``_gap`` count only test rows in which the most important column is missing,
    where enough have this gap and others do not.
    """
    predicted = method.predict(rows.X_test)
    intervals = method.intervals(rows.X_test) if rows.is_regression else None
    metrics = _metrics(predicted, intervals, rows.y_test, rows.scale)
    if (expected := getattr(method, "expected_error", None)) is not None:
        error = metrics["rmse"] * rows.scale if rows.is_regression else metrics["log_loss"]
        metrics["expected_error"] = expected / error
    has_gap = rows.X_test[rows.important].isna().to_numpy()
    if design.FEWEST_GAP_ROWS <= np.sum(has_gap) < len(has_gap):
        part = None if intervals is None else intervals[..., has_gap]
        of_gaps = _metrics(predicted[has_gap], part, rows.y_test[has_gap], rows.scale)
        metrics |= {f"{metric}_gap": value for metric, value in of_gaps.items()}
    if not rows.is_regression:
        metrics["ece"], metrics["ece_by_chance"] = calibration_errors(predicted, rows.y_test)
    return metrics | {"n_training": float(len(rows.y)), "n_test": float(len(rows.y_test))}


def _metrics(
    predicted: Array, intervals: Array | None, y: NDArray[Any], scale: float
) -> dict[str, float]:
    if intervals is None:
        return {"log_loss": errors(predicted, y, is_regression=False)["log_loss"]}
    rmse = errors(predicted, y, is_regression=True)["rmse"]
    return {"rmse": rmse / scale, **interval_metrics(intervals, y, scale)}


def interval_metrics(intervals: Array, y: Array, scale: float) -> dict[str, float]:
    """Return coverage by level, and share below, width and interval score of the widest level.

    ``intervals`` (levels, 2, n) are lower and upper ends. The interval score is the width and, for
    a value outside, the distance to the interval times two by the probability of being outside.
    """
    metrics = {}
    for level, (lower, upper) in zip(design.LEVELS, intervals, strict=True):
        metrics[f"coverage_{100 * level:.0f}"] = float(np.mean((lower <= y) & (y <= upper)))
    lower, upper = intervals[-1]
    outside = np.maximum(lower - y, 0.0) + np.maximum(y - upper, 0.0)
    score = upper - lower + 2.0 / (1.0 - design.LEVELS[-1]) * outside
    return metrics | {
        "below_90": float(np.mean(y < lower)),
        "width": float(np.mean(upper - lower)) / scale,
        "interval_score": float(np.mean(score)) / scale,
    }


def calibration_errors(probability: Array, y: NDArray[Any]) -> tuple[float, float]:
    """Return the mean difference of confidence and accuracy, and that of right probabilities.

    The confidence is the greatest probability of a row, the accuracy the share of rows of a bin
    whose class has it. Bins have equally many rows. If all probabilities were right, differences
    would be those of binomial shares, whose mean is that of a half-normal distribution.
    """
    confidence = probability.max(axis=1)
    is_right = probability.argmax(axis=1) == y
    n_bins = min(max(len(y) // _FEWEST_IN_BIN, 1), _MOST_BINS)
    bins = np.array_split(np.argsort(confidence, kind="stable"), n_bins)
    weights = np.array([len(part) / len(y) for part in bins])
    differences = [abs(np.mean(confidence[part]) - np.mean(is_right[part])) for part in bins]
    variances = [np.mean(confidence[part] * (1 - confidence[part])) / len(part) for part in bins]
    by_chance = np.sqrt(2.0 / np.pi * np.array(variances))
    return float(weights @ differences), float(weights @ by_chance)
