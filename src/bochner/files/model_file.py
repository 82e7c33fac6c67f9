"""Saving and loading of models; a loaded model is tested on one row."""

import os
import sys
import warnings
from inspect import signature
from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import Kernel as ProcessKernel
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, as_array
from bochner._base.file_writing import as_path
from bochner._base.names import one_line, shown
from bochner.files.json_tree import Encoder, decode
from bochner.files.safetensors_container import ModelFileError, read, write
from bochner.files.stored_classes import is_estimator, is_value, not_saved
from bochner.kernels import Kernel


def save(model: object, path: str | os.PathLike[str]) -> None:
    """Save a model atomically as one safetensors file with a JSON header.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bochner
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "kernel.bochner")
    ...     bochner.save(2.0 * bochner.kernels.Matern(0.5), path)
    ...     bochner.load(path)
    2.0 * Matern(length_scale=0.5, nu=1.5)

    Parameters
    ----------
    model : estimator, Kernel or Frequencies
        An object of a class of bochner, or of one given to :func:`bochner.register`; fitted or not.
        Pipelines and other estimators of scikit-learn are saved by joblib or skops. A
        ``random_state`` that is a generator is saved as ``None``, and requests for metadata routing
        are left out.
    path : str or path-like
        File to write, usually with the ending ``.bochner``.

    Raises
    ------
    TypeError
        If the model, or a part of it, is of a class that model files do not hold. The message names
        the class.
    ValueError
        If the model holds invalid infinite numbers or NaN, or is only partly fitted.
    ModelFileError
        If ``path`` is a directory or its folder does not exist, or the kernel holds a function, as
        :class:`~bochner.kernels.Radial` does, or :func:`load` would refuse the file.
    """
    target, cls = as_path(path), type(model)
    if not (is_estimator(cls) or is_value(cls)):
        raise TypeError(
            f"bochner saves kernels, frequencies and estimators of registered classes, "
            f"got an object {not_saved(model)} Decorate your own class with bochner.register."
        )
    encoder = Encoder()
    tree, tensors = encoder.encode(model), encoder.tensors
    try:
        answers = try_out(decode(tree, tensors), sys.maxsize)
    except Exception as problem:  # Any exception type, as in load
        reason = f"The model would not load, so it is not saved: {one_line(problem)}"
        raise ModelFileError(reason) from problem
    if answers is not None and answers.size:
        tensors[_ANSWERS] = answers
    write(target, tree, tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator, kernel or frequencies that :func:`save` wrote; no code is run.

    Predictions equal the predictions of the saved model, bit for bit on the same machine.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bochner
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bochner.save(bochner.kernels.Gaussian(2.0), Path(folder, "kernel.bochner"))
    ...     bochner.load(Path(folder, "kernel.bochner"))
    Gaussian(length_scale=2.0)

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    ModelFileError
        If the file does not exist, is not a model file, is damaged, comes from a newer version, or
        is inconsistent. The message gives the reason. The error is a ``ValueError``.
    """
    file = as_path(path)
    tree, tensors = read(file)
    expected = tensors.pop(_ANSWERS, None)
    try:
        model = decode(tree, tensors)
        answers: Any = try_out(model, file.stat().st_size)
        if expected is not None:
            least = 1e-5 * np.abs(expected).max(initial=0.0)  # Ten times the rounding of float32
            is_alike = np.shape(answers) == expected.shape
            if not (is_alike and np.allclose(answers, expected, 1e-3, least)):
                raise ValueError("its predictions are not those of the model that was saved")
    except Exception as problem:  # Any exception type: the file is not trusted
        reason = f"{path} is not a sound model file: {one_line(problem)}"
        raise ModelFileError(reason) from problem
    if not (is_estimator(type(model)) or is_value(type(model))):
        raise ModelFileError(f"{path} is not a sound model file: it holds no model.")
    return model


_ANSWERS = "(answers)"  # Tensor of the answers of the saved model; no attribute has such a name

_METHODS = ("transform", "transform_right", "predict")
_MORE_METHODS = ("predict_proba", "signal_std", "predict_interval", "predict_quantiles")
"""Methods that are asked for their answers to one row; those of tables answer more rows later."""

_MOST_NUMBERS = 1000  # Of an answer that are stored: few next to those of a model

_WARNINGS = Lock()  # Filters of warnings belong to the process: one trial at a time changes them


def try_out(model: object, n_bytes: int) -> Array | None:
    """Return what all methods of a fitted estimator of bochner answer to a row, or ValueError."""
    if not isinstance(model, BaseEstimator) or not type(model).__module__.startswith("bochner."):
        return None  # Valid rows of a user's class are unknown
    with _WARNINGS, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # The row may be far from the training rows
        try:
            check_is_fitted(model)
        except NotFittedError:
            return None
        try:
            answers = [np.empty(0)]
            if np.ndim(getattr(model, "classes_", ())) != 1:
                raise ValueError("its classes have several axes")
            # A factor (n, n) that is recomputed may take far more memory than the file.
            if hasattr(model, "n_features_in_") and not getattr(model, "_recomputed", ()):
                answers += _answers(model, _row(model, n_bytes))
            if hasattr(model, "_try_out"):
                answers += [np.ravel(each) for each in model._try_out() or ()]
        except Exception as problem:  # Any exception type: the file is not trusted
            raise ValueError(f"its parts do not fit together ({one_line(problem)})") from problem
    return np.concatenate([answer[:_MOST_NUMBERS] for answer in answers])


def _row(model: BaseEstimator, n_bytes: int) -> Any:
    """Return a row (1, d) of valid input for a fitted estimator."""
    n_features = model.n_features_in_
    # Every fitted estimator stores at least one number per feature.
    if not 0 < n_features <= n_bytes:
        raise ValueError(f"{n_features} features")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n_features,):
        raise ValueError(f"{np.size(names)} names of {n_features} features")
    if get_tags(model).input_tags.allow_nan:
        return np.full((1, n_features), None)
    return np.eye(1, n_features)  # A unit vector: some kernels are defined on the sphere


def _is_in_domain(kernel: object, row: Array) -> bool:
    """Return whether a kernel, or each member of a kernel of scikit-learn, is defined on a row."""
    if isinstance(kernel, ProcessKernel):
        members = kernel.get_params(deep=False).values()
        return all(_is_in_domain(member, row) for member in members)
    if isinstance(kernel, Kernel):
        kernel.check_widths(row.shape[1], kernel.right_dim(row.shape[1]))
        try:
            kernel.check_inputs(row)
            kernel.check_right_inputs(row)
        except ValueError:
            return False
    return True


def _answers(model: BaseEstimator, row: Any) -> list[Array]:
    """Return the numbers that each method answers to a row (1, d)."""
    if not _is_in_domain(getattr(model, "kernel_", None), row):
        return []
    answers = []
    takes_gaps = get_tags(model).input_tags.allow_nan
    for name in _METHODS if takes_gaps else (*_METHODS, *_MORE_METHODS):
        method = getattr(model, name, None)
        if method is None:
            continue
        needed = [p for p in signature(method).parameters.values()
                  if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]  # fmt: skip
        answer: Any = method(*[row] * len(needed))
        stored: Any = getattr(answer, "data", answer) if issparse(answer) else answer
        values = np.asarray(stored)
        n_rows = np.shape(answer[0] if isinstance(answer, tuple) else answer)[0]
        if n_rows != 1 or (values.dtype.kind == "f" and not np.isfinite(values).all()):
            raise ValueError(f"{name} of one row returns {shown(values)}")
        n_features = vars(model).get("_n_features_out")
        if name == "transform" and n_features not in (None, answer.shape[1]):
            raise ValueError(f"{answer.shape[1]} features, and _n_features_out is {n_features}")
        if values.dtype.kind in "fiub":
            answers.append(as_array(values).ravel())
    return answers
