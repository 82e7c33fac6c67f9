"""Base of the Gaussian processes with scikit-learn's parameters, for few rows and for many."""

import warnings
from abc import ABC
from numbers import Integral
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import kernels as sk
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from bochner._base.checks import refuse_no_numbers, unfit
from bochner.features.parameters import KernelParameters
from bochner.gaussian_process.process_kernels import as_process_kernel, refuse_names
from bochner.kernels import Kernel
from bochner.kernels.kernel_parameters import is_sklearn_kernel, refuse_mixed

# A kernel of this package is one more kind of kernel.
CONSTRAINTS: dict[str, Any] = {
    "kernel": [None, sk.Kernel, Kernel],
    "solver": [StrOptions({"auto", "exact", "approximate"})],
    "n_landmarks": [Interval(Integral, 0, None, closed="left")],
}
"""Constraints of the parameters that are new, or have other values than in scikit-learn."""


class ScikitProcess(KernelParameters, ABC):
    """A Gaussian process of scikit-learn that fits random features to many rows."""

    _exact_class: ClassVar[type[Any]]  # scikit-learn's class
    _new_parameters: ClassVar[tuple[str, ...]]  # Those that scikit-learn's class lacks

    def _validated(
        self: BaseEstimator, X: ArrayLike, y: ArrayLike, **options: object
    ) -> tuple[Any, Any, sk.Kernel]:
        """Return validated rows and targets, and the kernel as an object of scikit-learn."""
        refuse_mixed(self.kernel)
        takes_objects = is_sklearn_kernel(self.kernel) and not self.kernel.requires_vector_input
        if not takes_objects:
            refuse_no_numbers("X", X)
        unfit(self)
        dtype = None if takes_objects else "numeric"
        with np.errstate(over="ignore", invalid="ignore"):
            rows, targets = validate_data(
                self, X, y, dtype=dtype, ensure_2d=not takes_objects, **options
            )
        names = getattr(self, "feature_names_in_", None)
        return rows, targets, as_process_kernel(self.kernel, names, rows)

    def _exact(self: BaseEstimator, **changed: object) -> BaseEstimator:
        """Return scikit-learn's unfitted process of the same parameters, but for some."""
        parameters = self.get_params(deep=False)
        for name in self._new_parameters:
            del parameters[name]
        return self._exact_class(**parameters | changed)

    def _fitted(self: BaseEstimator) -> BaseEstimator:
        """Return scikit-learn's process with the fitted attributes of this one."""
        names = getattr(self, "feature_names_in_", None)
        rows = getattr(self, "X_train_", None)
        process = self._exact(kernel=as_process_kernel(self.kernel, names, rows))
        parameters = set(process.get_params(deep=False))
        vars(process).update({k: v for k, v in vars(self).items() if k not in parameters})
        return process

    def _check_parameters(self: BaseEstimator) -> None:
        """Raise an error for an unusable parameter; also of a model from a file."""
        refuse_names(self.kernel)
        self._validate_params()
        if isinstance(self.kernel, sk.CompoundKernel):
            raise ValueError(
                "kernel cannot be a CompoundKernel, which has a kernel for each class."
            )

    def _try_out(self: BaseEstimator) -> None:
        """Raise ValueError unless the kernel of a model from a file has finite parameters."""
        if hasattr(self, "n_features_in_") and not np.isfinite(self.kernel_.theta).all():
            raise ValueError("the parameters of the kernel must be positive")


def fitted_process(
    process: BaseEstimator, X: ArrayLike, y: ArrayLike, is_default: bool
) -> BaseEstimator:
    """Return scikit-learn's process fitted; the default kernel may end at its far bounds."""
    with warnings.catch_warnings():
        if is_default:
            warnings.simplefilter("ignore", ConvergenceWarning)
        return process.fit(X, y)


def refuse_gradient() -> NoReturn:
    """Raise ``ValueError`` for the gradient of the evidence of features."""
    raise ValueError(
        "The log marginal likelihood of an approximation has no gradient here: fit with "
        "solver='exact', on fewer rows, or use differences of its values."
    )
