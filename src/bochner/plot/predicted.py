"""Predictions of models for given rows: means, quantiles or class probabilities."""

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner.comparison.normal import normal_half_width


def observed(y: ArrayLike, target: int | None) -> Array:
    """Return one target (n,) as numbers, or raise ValueError."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 2:
        if target is None or not -values.shape[1] <= target < values.shape[1]:
            raise ValueError(
                f"y has {values.shape[1]} targets: choose one of them with target=0, 1, ..., got "
                f"target={target!r}."
            )
        values = values[:, target]
    if values.ndim != 1 or not len(values):
        raise ValueError(f"y must have shape (n,) or (n, t), with n > 0, got {values.shape}.")
    try:
        return as_array(values)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numbers, got {str(values[0])!r}: for classes, use calibration, roc or "
            "confusion."
        ) from error


def of_target(values: Any, target: int | None) -> Array:
    """Return predictions (n,) of one target, of an array (n,), (n, t)."""
    array = as_array(values)
    if array.ndim == 1:
        return array
    return array[:, 0 if target is None else target]


def mean_and_std(model: BaseEstimator, X: object, target: int | None) -> tuple[Array, Array | None]:
    """Return predictions (n,), and standard deviations if the model has them."""
    if "return_std" in signature(model.predict).parameters:
        mean, std = model.predict(X, return_std=True)
        return of_target(mean, target), of_target(std, target)
    return of_target(model.predict(X), target), None


def intervals(
    model: BaseEstimator, X: object, level: float, target: int | None
) -> tuple[Array, Array | None, Array | None]:
    """Return predictions (n,), and ends of intervals if the model has them or deviations."""
    if hasattr(model, "predict_interval"):
        lower, upper = model.predict_interval(X, level)
        mean = of_target(model.predict(X), target)
        return mean, of_target(lower, target), of_target(upper, target)
    mean, std = mean_and_std(model, X, target)
    if std is None:
        return mean, None, None
    half = normal_half_width(level) * std
    return mean, mean - half, mean + half


def central_intervals(
    model: BaseEstimator, X: object, levels: Array, target: int | None
) -> tuple[Array, Array]:
    """Return the ends (n, k) of central intervals of k levels, or raise TypeError."""
    below, above = 0.5 - 0.5 * levels, 0.5 + 0.5 * levels
    if hasattr(model, "predict_quantiles"):
        quantiles = as_array(model.predict_quantiles(X, np.concatenate([below, above])))
        quantiles = (
            quantiles if quantiles.ndim == 2 else quantiles[:, 0 if target is None else target]
        )
        return quantiles[:, : len(levels)], quantiles[:, len(levels) :]
    mean, std = mean_and_std(model, X, target)
    if std is None:
        raise TypeError(
            f"{type(model).__name__} predicts no intervals: calibration takes a regressor with "
            "predict_quantiles or predict(X, return_std=True), or a classifier with predict_proba."
        )
    return mean[:, None] + np.outer(std, ndtri(below)), mean[:, None] + np.outer(std, ndtri(above))


def probabilities(
    model: BaseEstimator, X: object, y: ArrayLike
) -> tuple[Array, NDArray[Any], NDArray[Any]]:
    """Return probabilities (n, C), observed classes (n,) and all classes (C,).

    Raises TypeError if the model has no probabilities, and ValueError for a class absent from the
    training rows.
    """
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} predicts no probabilities: expected a classifier with "
            "predict_proba."
        )
    probability = as_array(model.predict_proba(X))
    classes, labels = np.asarray(model.classes_), np.asarray(y)
    check_labels(labels, classes, len(probability))
    return probability, labels, classes


def check_labels(labels: NDArray[np.generic], classes: NDArray[np.generic], n_samples: int) -> None:
    """Raise ValueError unless labels (n,) are among the classes."""
    if labels.shape != (n_samples,) or not n_samples:
        raise ValueError(
            f"y must have one class for each of {n_samples} rows, at least one, got {labels.shape}."
        )
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"y has the class {str(unknown[0])!r}, which the model does not know.")
