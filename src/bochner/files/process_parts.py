"""Kernels and binary models of scikit-learn's Gaussian processes, as parts of model files."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import kernels
from sklearn.gaussian_process._gpc import _BinaryGaussianProcessClassifierLaplace
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer

from bochner.kernels import KernelAdapter

_Array = NDArray[Any]
_Numbers = NDArray[np.floating[Any]]

_MOST_COLUMNS = 2**20
"""Most inputs of a kernel that is tried out, so that a changed file cannot ask for much memory."""

_KERNELS: tuple[type, ...] = (
    kernels.ConstantKernel,
    kernels.WhiteKernel,
    kernels.RBF,
    kernels.Matern,
    kernels.RationalQuadratic,
    kernels.ExpSineSquared,
    kernels.DotProduct,
    kernels.Sum,
    kernels.Product,
    kernels.Exponentiation,
    kernels.CompoundKernel,
    KernelAdapter,
)

ATTRIBUTES: Mapping[type, Mapping[str, Any]] = {
    **{cls: {} for cls in _KERNELS},
    _BinaryGaussianProcessClassifierLaplace: {
        "kernel_": kernels.Kernel,
        "X_train_": _Numbers | NDArray[np.integer[Any]],
        "y_train_": _Array,
        "classes_": _Array,
        "log_marginal_likelihood_value_": float,
        "pi_": _Numbers,
        "W_sr_": _Numbers,
        "L_": _Numbers,
    },
    OneVsRestClassifier: {
        "estimators_": list[Any],
        "label_binarizer_": LabelBinarizer,
        "classes_": _Array,
        "n_features_in_": int,
    },
    OneVsOneClassifier: {
        "estimators_": list[Any] | tuple[Any, ...],
        "classes_": _Array,
        "pairwise_indices_": type(None),
        "n_features_in_": int,
    },
    LabelBinarizer: {"sparse_input_": bool, "y_type_": str, "classes_": _Array},
}
"""Fitted attributes in model files, by class; a class without any is a kernel."""

PROCESS_PARTS: Mapping[str, type] = {cls.__name__.lstrip("_"): cls for cls in ATTRIBUTES}
"""Classes by their names in model files."""

_FACTOR_ERROR = 1e-5
"""Largest difference of a matrix from the product of its Cholesky factor, relative to entries: far
above rounding, also of files from machines that round otherwise."""

_WITHOUT = ("random_state", "n_jobs", "verbose")
"""Parameters of fitted parts that files do not hold: they matter for fits only."""


def process_part_name(cls: type) -> str:
    """Return the name of a class in model files."""
    return next(name for name, kind in PROCESS_PARTS.items() if kind is cls)


def parameters_of(part: BaseEstimator | kernels.Kernel) -> dict[str, object]:
    """Return the parameters of a part, by name."""
    params: dict[str, Any] = part.get_params(deep=False)
    if isinstance(part, kernels.CompoundKernel):
        return {"kernels": list(part.kernels)}
    return {name: value for name, value in params.items() if name not in _WITHOUT}


def attributes_of(part: object) -> dict[str, object]:
    """Return the fitted attributes of a part that predictions need, by name."""
    saved_names = ATTRIBUTES[type(part)]
    return {name: value for name, value in vars(part).items() if name in saved_names}


def is_of_process(part: object) -> bool:
    """Tell whether a part belongs to a Gaussian process, and not to another model of classes."""
    return (
        not hasattr(part, "estimator")
        or type(part.estimator) is _BinaryGaussianProcessClassifierLaplace
    )


def made_part(cls: type, parameters: Mapping[str, object], attributes: Mapping[str, object]) -> Any:
    """Return a part with parameters and attributes; ``ValueError`` if it has no such ones."""
    for name in parameters:
        if name not in inspect.signature(cls).parameters:
            raise ValueError(f"{cls.__name__} has no parameter {name!r}")
    part = cls(**parameters)
    if isinstance(part, kernels.Kernel):
        part.theta, part.bounds  # noqa: B018  # Errors of unusable values come here
        part.diag(np.zeros((1, _least_columns(part))))
    vars(part).update(attributes)
    if attributes and cls is _BinaryGaussianProcessClassifierLaplace:
        _check_binary(part)
    return part


def _least_columns(part: kernels.Kernel) -> int:
    """Return the least number of inputs that a kernel takes, by its positions of columns."""
    parameters = part.get_params(deep=True).items()
    positions = [value for name, value in parameters if name.split("__")[-1] == "columns"]
    numbers = [
        abs(column) for columns in positions for column in columns if not isinstance(column, str)
    ]
    return min(max(numbers, default=0) + 1, _MOST_COLUMNS)


def _check_binary(part: BaseEstimator) -> None:
    """Raise ValueError unless labels of the rows are 0 and 1, and probabilities are theirs."""
    labels, probabilities = part.y_train_, part.pi_
    if not np.isin(labels, (0, 1)).all() or len(labels) != len(part.X_train_):
        raise ValueError("each row of a binary process must have a label 0 or 1")
    if probabilities.shape != labels.shape or not (abs(probabilities - 0.5) <= 0.5).all():
        raise ValueError("each row of a binary process must have a probability")
    roots = np.sqrt(probabilities * (1.0 - probabilities))
    expected = np.eye(len(roots)) + roots[:, None] * part.kernel_(part.X_train_) * roots
    lower = np.tril(part.L_)
    if part.W_sr_.shape != roots.shape or lower.shape != expected.shape:
        raise ValueError(
            "the parts of a binary process must have a row for each row it was fitted to"
        )
    is_factor = np.allclose(lower @ lower.T, expected, rtol=_FACTOR_ERROR, atol=_FACTOR_ERROR)
    if not np.allclose(part.W_sr_, roots, atol=_FACTOR_ERROR) or not is_factor:
        raise ValueError("the Cholesky factor of a binary process must be that of its kernel")
    if (np.diagonal(lower) <= 0.0).any():
        raise ValueError("the Cholesky factor of a binary process must have a positive diagonal")
