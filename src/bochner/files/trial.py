"""One row through a model that came from a file, which fails where its parts do not fit."""

import inspect
import warnings
from contextlib import suppress
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.promises import NotPromisedError
from bochner.files.composed import COMPOSED, column_numbers, estimators, inside, transformed
from bochner.files.sklearn_parts import is_part
from bochner.kernels import Kernel

_TRIAL = "_trial_rows"
"""The method of models whose rows are not floats."""

_PLAIN = ("transform", "predict_proba", "predict")
"""Methods that answer every row where a model has them."""

_METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, {}) for name in _PLAIN),
    ("transform_right", {}),
    ("signal_std", {}),
    ("predict", {"return_std": True}),
    ("predict", {"return_cov": True}),
    ("predict_interval", {}),
    ("predict_quantiles", {}),
    ("sample_y", {"random_state": 0}),
)
"""Methods that a model is asked by, with their options."""

_MAY_BE_INFINITE = ("predict_interval", "predict_quantiles")
"""Methods whose answers may be infinite: intervals of calibrated models with few left-out errors
are unbounded, as are quantiles of laws of numbers."""

_WARNINGS = Lock()
"""Filters of warnings belong to the process: one trial at a time changes them."""


def try_out(model: object, n_bytes: int) -> None:
    """Raise ``ValueError`` unless a fitted estimator has an answer for one row.

    A method ``_try_out()`` of the class checks what the answer to a row of floats does not need. A
    model whose rows are not floats has a method ``_trial_rows()``, which returns one of them and
    what its kernel is evaluated at.
    ``n_bytes`` is the size of the file, which bounds the memory of the row.
    """
    if not isinstance(model, BaseEstimator) or any(map(_is_foreign, estimators(model))):
        return  # Nothing is known of the rows that a user's class takes
    with _WARNINGS, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # The row may be far from the training rows
        try:
            check_is_fitted(model)
        except NotFittedError:
            return
        try:
            has_rows = hasattr(model, "n_features_in_") or hasattr(model, _TRIAL)
            if has_rows or isinstance(model, COMPOSED):
                try:
                    _answer(model, _row(model, n_bytes))
                except NotFittedError as problem:  # The model itself is fitted
                    raise ValueError(str(problem)) from problem
            for part in estimators(model):
                _check_names(part)
                _check_n_features_out(part, n_bytes)
                if hasattr(part, "_try_out"):
                    part._try_out()
        except NotFittedError as problem:
            if not isinstance(model, COMPOSED):
                return
            raise ValueError(f"its parts are not all fitted ({problem})") from problem
        except Exception as problem:  # Any kind: nothing of the file is trusted
            raise ValueError(f"its parts do not fit together ({problem})") from problem


def _check_names(part: object) -> None:
    """Raise ValueError unless a fitted estimator has as many names of columns as columns."""
    names = getattr(part, "feature_names_in_", None)
    n_features = getattr(part, "n_features_in_", None)
    if names is not None and n_features is not None and np.shape(names) != (n_features,):
        raise ValueError(f"{np.size(names)} names of {n_features} features")
    if isinstance(part, ColumnTransformer) and any(len(each) != 3 for each in part.transformers_):
        raise ValueError("transformers of columns have a name, themselves and columns")


def _check_n_features_out(part: object, n_bytes: int) -> None:
    """Raise ValueError unless a fitted transformer has as many features as its file says."""
    n_features_out = vars(part).get("_n_features_out")
    if n_features_out is None or not hasattr(part, "transform"):
        return
    row = _row(part, n_bytes)
    if _in_domain(part, row) and (n_features := np.shape(part.transform(row))[1]) != n_features_out:
        raise ValueError(f"{n_features} features, and _n_features_out is {n_features_out}")


def _is_foreign(part: object) -> bool:
    cls = type(part)
    is_ours = cls.__module__.split(".")[0] == "bochner"
    return isinstance(part, BaseEstimator) and not (is_ours or is_part(cls))


def _row(model: BaseEstimator, n_bytes: int) -> Any:
    """Return a row (1, d) that a fitted estimator takes."""
    if isinstance(model, Pipeline | FeatureUnion | TransformedTargetRegressor):
        parts = [part for part, _ in inside(model)]
        return _row(parts[0], n_bytes) if parts else np.eye(1)
    if isinstance(model, OneHotEncoder | OrdinalEncoder):
        return np.array([[levels[0] for levels in model.categories_]], dtype=object)
    if isinstance(model, SimpleImputer) and model.statistics_.dtype == object:
        return model.statistics_[None]
    if hasattr(model, _TRIAL):
        return model._trial_rows()[0]
    n_features = model.n_features_in_
    # Every fitted estimator holds a number for each feature at least.
    if not 0 < n_features <= n_bytes:
        raise ValueError(f"{n_features} features")
    names = getattr(model, "feature_names_in_", [""] * n_features)
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names of {n_features} features should be as many texts, found {names}")
    if isinstance(model, ColumnTransformer):
        row = np.full((1, n_features), 0.0, dtype=object)
        for part, columns in inside(model):
            row[:, column_numbers(model, columns)] = _row(part, n_bytes)
        return row
    if not is_part(type(model)) and get_tags(model).input_tags.allow_nan:
        return np.full((1, n_features), None)
    return np.eye(1, n_features)  # On the unit sphere, where some kernels are defined


def _in_domain(model: BaseEstimator, row: Any) -> bool:
    """Tell whether the kernel is defined at a row: a user's kernel may be so at others only."""
    kernel = getattr(model, "kernel_", None)
    row = model._trial_rows()[1] if hasattr(model, _TRIAL) else row
    try:
        if isinstance(kernel, Kernel):
            kernel.check_inputs(row)
            kernel.check_right_inputs(row)
    except ValueError:
        return False
    return True


def _answer(model: BaseEstimator, row: Any) -> None:
    """Call the methods of a model, or of the steps of a pipeline in turn, on one row."""
    if not _in_domain(model, row):
        return
    if isinstance(model, Pipeline):
        parts = [part for part, _ in inside(model)]
        for part in parts[:-1]:
            if not _in_domain(part, row):
                return
            row = transformed(part, row)
        for part in parts[-1:]:
            _answer(part, row)
        return
    if isinstance(model, ColumnTransformer | FeatureUnion):
        transformed(model, row)
        return
    for name, options in _METHODS:
        method = getattr(model, name, None)
        if method is None:
            continue
        parameters = inspect.signature(method).parameters
        if not options.keys() <= parameters.keys():
            continue
        needed = [
            p
            for p in parameters.values()
            if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
        ]
        try:
            answer = method(*[row] * len(needed), **options)
        except NotPromisedError:
            continue
        for part in answer if isinstance(answer, tuple) else (answer,):
            _check_answer(part, name)
        if name == "predict" and not options:
            _check_density(model, row, answer)


def _check_density(model: object, row: Any, prediction: Any) -> None:
    """Raise ValueError unless a prediction, as a whole number, has a finite log density."""
    method = getattr(model, "log_predictive_density", None)
    if method is not None and np.ndim(prediction) == 1 and np.asarray(prediction).dtype.kind == "f":
        with suppress(NotPromisedError):
            _check_answer(method(row, np.rint(prediction)), method.__name__)


def _check_answer(answer: Any, method: str) -> None:
    """Raise ValueError unless a method has one answer, without NaN, and finite where it must be."""
    if np.shape(answer)[0] != 1:
        raise ValueError(f"{np.shape(answer)[0]} answers of {method} to one row")
    stored: Any = getattr(answer, "data", answer) if sparse.issparse(answer) else answer
    values = np.asarray(stored)
    if values.dtype.kind not in "fc":
        return
    is_wrong = np.isnan if method in _MAY_BE_INFINITE else _is_infinite_or_nan
    if is_wrong(values).any():
        raise ValueError(f"an answer of {method} to one row is {values[is_wrong(values)][0]}")


def _is_infinite_or_nan(values: Any) -> Any:
    return ~np.isfinite(values)
