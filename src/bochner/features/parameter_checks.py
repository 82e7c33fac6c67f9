"""Checks of constructor parameters that need no rows, for fits and for models from files."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from numpy.typing import ArrayLike

from bochner._base.arrays import as_count, as_flag, as_positive, as_positive_scalar
from bochner._base.threads import checked_n_jobs
from bochner.features.parameters import check_choice, check_dtype, check_seed, count_frequencies
from bochner.kernels import Kernel
from bochner.kernels.kernel_names import kernel_called
from bochner.spectral.choice import resolve_scheme
from bochner.spectral.composite_laws import resolve_pairing
from bochner.spectral.decompositions import resolve_decomposition

Check = Callable[[str, Any], object]
"""Takes the name and the value of a parameter, and raises an error for an unusable value."""


class Parametrised(Protocol):
    """An estimator."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


def check_each(model: Parametrised, checks: Mapping[str, Check]) -> None:
    """Raise ``TypeError`` or ``ValueError`` for the first unusable parameter of an estimator."""
    for name, value in model.get_params(deep=False).items():
        checks[name](name, value)


def optional(check: Check) -> Check:
    """Return a check that also takes ``None``."""
    return lambda name, value: None if value is None else check(name, value)


def one_of(choices: Collection[str]) -> Check:
    """Return a check for a parameter whose values are some names."""
    return lambda name, value: check_choice(name, value, choices)


def unchecked(name: str, value: object) -> None:
    """Take any value: for a parameter that is only printed, or whose check needs the rows."""


def check_kernel(name: str, value: object) -> None:
    """Raise an error unless a value is a kernel, the name of one, or a function."""
    if isinstance(value, str):
        kernel_called(value, 1)
    elif isinstance(value, type) or not (callable(value) or isinstance(value, Kernel)):
        raise TypeError(
            f"{name} must be a Kernel, the name of one or a function k(X, Y), got {value!r}."
        )


def length_scale_check(*names: str) -> Check:
    """Return a check of length scales, which are positive numbers or one of some names."""

    def check(name: str, value: ArrayLike) -> None:
        if not isinstance(value, str):
            as_positive(name, value)
        elif value not in names:
            also = " 'evidence' needs targets: KreinRidge and KernelGLMRegressor learn with it."
            raise ValueError(
                f"{name} must be {', '.join(map(repr, names))}, a number or one per input, got "
                f"{value!r}.{also if value == 'evidence' else ''}"
            )

    return check


KERNEL_CHECKS: Mapping[str, Check] = {
    "kernel": check_kernel,
    "n_components": lambda name, value: count_frequencies(value, name),
    "length_scale": length_scale_check("auto", "median"),
    "scheme": lambda _, value: resolve_scheme(value),
    "weights": one_of(("sampled", "least_squares")),
    "decomposition": lambda _, value: resolve_decomposition(value),
    "masses": one_of(("exact", "least_squares")),
    "pairs": lambda _, value: resolve_pairing(value),
    "dtype": lambda _, value: check_dtype(value),
    "random_state": lambda _, value: check_seed(value),
    "fit_intercept": as_flag,
    "tol": as_positive_scalar,
    "n_jobs": lambda _, value: checked_n_jobs(value),
    "time_limit": optional(as_positive_scalar),
    "residual": optional(as_count),
    "verbose": unchecked,
}
"""Checks of parameters that estimators share, by name."""
