"""Kernels of scikit-learn's Gaussian processes in model files: class and parameters."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels

from bochner.kernels import KernelAdapter

_MOST_COLUMNS = 2**20
"""Most inputs of a kernel that is evaluated once, so that a changed file cannot ask for memory."""

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
    KernelAdapter,
)

PROCESS_KERNELS: Mapping[str, type] = {cls.__name__: cls for cls in _KERNELS}
"""Classes of kernels by their names in model files."""


def made_kernel(cls: type, parameters: Mapping[str, object]) -> Any:
    """Return a kernel with parameters; ``ValueError`` if its class does not take them."""
    for name in parameters:
        if name not in inspect.signature(cls).parameters:
            raise ValueError(f"{cls.__name__} has no parameter {name!r}")
    kernel = cls(**parameters)
    kernel.theta, kernel.bounds  # noqa: B018  # Errors of unusable values come here
    kernel.diag(np.zeros((1, _least_columns(kernel))))
    return kernel


def _least_columns(kernel: Any) -> int:
    """Return the least number of inputs that a kernel takes, by its positions of columns."""
    parameters = kernel.get_params(deep=True).items()
    positions = [value for name, value in parameters if name.split("__")[-1] == "columns"]
    numbers = [
        abs(column) for columns in positions for column in columns if not isinstance(column, str)
    ]
    return min(max(numbers, default=0) + 1, _MOST_COLUMNS)
