"""One row through a model from a file, which fails where parts do not fit together."""

import warnings
from inspect import Parameter, signature
from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from bochner.kernels import Kernel

_METHODS = ("transform", "transform_right", "predict")

_WARNINGS = Lock()
"""Filters of warnings belong to the process: one trial at a time changes them."""


def try_out(model: object, n_bytes: int) -> None:
    """Raise ``ValueError`` unless a fitted estimator of bochner answers one row.

    The method ``_try_out()`` of a class checks what a row does not need. ``n_bytes`` is the size of
    the file, which bounds the memory of the row.
    """
    if not isinstance(model, BaseEstimator) or not type(model).__module__.startswith("bochner."):
        return  # A user's class may take any rows
    with _WARNINGS, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # The row may be far from the training rows
        try:
            check_is_fitted(model)
        except NotFittedError:
            return
        try:
            # A factor (n, n) that is recomputed may take far more memory than the file.
            if hasattr(model, "n_features_in_") and not getattr(model, "_recomputed", ()):
                _answer(model, _row(model, n_bytes))
            if hasattr(model, "_try_out"):
                model._try_out()
        except Exception as problem:  # Any kind: nothing of the file is trusted
            raise ValueError(f"its parts do not fit together ({problem})") from problem


def _row(model: BaseEstimator, n_bytes: int) -> Any:
    """Return a row (1, d) that a fitted estimator takes."""
    n_features = model.n_features_in_
    # Every fitted estimator holds a number for each feature at least.
    if not 0 < n_features <= n_bytes:
        raise ValueError(f"{n_features} features")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n_features,):
        raise ValueError(f"{np.size(names)} names of {n_features} features")
    if get_tags(model).input_tags.allow_nan:
        return np.full((1, n_features), None)
    return np.eye(1, n_features)  # On the unit sphere, where some kernels are defined


def _answer(model: BaseEstimator, row: Any) -> None:
    kernel = getattr(model, "kernel_", None)
    if isinstance(kernel, Kernel):
        try:
            kernel.check_inputs(row)
            kernel.check_right_inputs(row)
        except ValueError:
            return  # The kernel is defined elsewhere
    for name in _METHODS:
        if not hasattr(model, name):
            continue
        method = getattr(model, name)
        needed = [p for p in signature(method).parameters.values() if _is_needed(p)]
        answer: Any = method(*[row] * len(needed))
        values = np.asarray(answer.data if issparse(answer) else answer)
        if np.shape(answer)[0] != 1 or (values.dtype.kind == "f" and not np.isfinite(values).all()):
            raise ValueError(f"{name} of one row returns {values}")
        n_features_out = vars(model).get("_n_features_out", values.shape[-1])
        if name == "transform" and answer.shape[1] != n_features_out:
            raise ValueError(f"{answer.shape[1]} features, and _n_features_out is {n_features_out}")


def _is_needed(parameter: Parameter) -> bool:
    return (
        parameter.default is Parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    )
