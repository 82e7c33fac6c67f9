"""One row through a model that came from a file, which fails where its parts do not fit."""

import inspect
import warnings
from collections.abc import Iterator
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from bochner.kernels import Kernel

_WARNINGS = Lock()
"""Filters of warnings belong to the process: one trial at a time changes them."""


def try_out(model: Any, n_bytes: int) -> None:
    """Raise ``ValueError`` unless a fitted estimator has an answer for one row.

    A method ``_try_out()`` of the class checks what the answer to a row of floats does not need.
    ``n_bytes`` is the size of the file, which bounds the memory of the row.
    """
    if not isinstance(model, BaseEstimator) or type(model).__module__.split(".")[0] != "bochner":
        return  # Nothing is known of the rows that a user's class takes
    with _WARNINGS, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # Of a row outside the region of the training rows
        try:
            check_is_fitted(model)
            if hasattr(model, "n_features_in_"):
                row = _row(model, n_bytes)
                if _in_domain(model, row):
                    _answer(model, row)
            if hasattr(model, "_try_out"):
                model._try_out()
        except NotFittedError:
            return
        except Exception as problem:  # Of any kind: nothing of the file is trusted
            raise ValueError(f"its parts do not fit together ({problem})") from problem


def _row(model: Any, n_bytes: int) -> NDArray[Any]:
    """Return a row (1, d) that every fitted estimator takes."""
    n_features = model.n_features_in_
    # Every fitted estimator holds a number for each feature at least.
    if not 0 < n_features <= n_bytes:
        raise ValueError(f"{n_features} features")
    names = getattr(model, "feature_names_in_", [""] * n_features)
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ValueError(f"names of {n_features} features should be as many texts, found {names}")
    if get_tags(model).input_tags.allow_nan:
        return np.full((1, n_features), None)
    return np.eye(1, n_features)  # On the unit sphere, where some kernels are defined


def _in_domain(model: Any, row: NDArray[Any]) -> bool:
    """Tell whether the kernel is defined at a row: a user's kernel may be so at others only."""
    kernel = getattr(model, "kernel_", None)
    try:
        if isinstance(kernel, Kernel):
            kernel.check_inputs(row)
            kernel.check_right_inputs(row)
    except ValueError:
        return False
    return True


def _answer(model: Any, row: NDArray[Any]) -> None:
    for method in _methods(model):
        given = inspect.signature(method).parameters.values()
        needed = [p for p in given if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        method(*[row] * len(needed))


def _methods(model: Any) -> Iterator[Any]:
    for name in ("transform", "predict_proba", "predict"):
        if hasattr(model, name):
            yield getattr(model, name)
