"""Kernels given as functions: any function of the distance or of the inner product."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.kernels.metrics import Metric
from bochner.kernels.profiled import Profiled

Function = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, repr=False)
class Radial(Profiled):
    r"""Any function of the Euclidean distance, :math:`k(x, y) = f(\|x - y\|_2)`.

    Parameters
    ----------
    function : callable
        From an array of distances, zero or more, in the units of the inputs, to an array of the
        same shape of finite real numbers. Two kernels are equal if their functions are, which for
        functions means being the same object; a function at the top level of a module, unlike
        ``lambda``, makes a kernel that can be pickled.

    Raises
    ------
    TypeError
        If ``function`` cannot be called.
    ValueError
        When called, if the function is not vectorised or returns NaN, infinity or complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Radial
    >>> Radial(np.cos)([[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]).round(4)
    array([[1.    , 0.2837]])
    """

    function: Function

    metric = Metric.EUCLIDEAN

    def __post_init__(self) -> None:
        _check_callable("Radial", self.function)

    def profile(self, t: Array) -> Array:
        return _values(self, self.function, t, "distance")

    def __repr__(self) -> str:
        return f"Radial({_name(self.function)})"


@dataclass(frozen=True, slots=True, repr=False)
class DotProduct(Profiled):
    r"""Any function of the inner product, :math:`k(x, y) = f(\langle x, y \rangle)`.

    Parameters
    ----------
    function : callable
        From an array of inner products, in the squared units of the inputs, to an array of the
        same shape of finite real numbers. Equality and pickling are as for :class:`Radial`.

    Raises
    ------
    TypeError
        If ``function`` cannot be called.
    ValueError
        When called, if the function is not vectorised or returns NaN, infinity or complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import DotProduct
    >>> DotProduct(np.exp)([[1.0, 0.0]], [[0.0, 2.0], [1.0, 2.0]]).round(4)
    array([[1.    , 2.7183]])
    """

    function: Function

    metric = Metric.INNER_PRODUCT

    def __post_init__(self) -> None:
        _check_callable("DotProduct", self.function)

    def profile(self, t: Array) -> Array:
        return _values(self, self.function, t, "inner product")

    def __repr__(self) -> str:
        return f"DotProduct({_name(self.function)})"


def _check_callable(kernel: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{kernel} needs a function from arrays to arrays, got {function!r}.")


def _name(function: Any) -> str:
    name: str = getattr(function, "__qualname__", None) or repr(function)
    return name


def _values(kernel: Profiled, function: Function, t: Array, noun: str) -> Array:
    """Return what the function returns for a copy of ``t``, checked and copied."""
    remedy = (
        f"It is called with an array of {noun}s and must return an array of the same shape; "
        f"numpy.vectorize makes such a function of any."
    )
    try:
        # What comes of a division by zero is looked at below.
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(function(np.array(t)))
    except (TypeError, ValueError) as problem:
        raise ValueError(f"The function of {kernel!r} failed: {problem}. {remedy}") from problem
    if values.shape != t.shape:
        raise ValueError(
            f"The function of {kernel!r} turned shape {t.shape} into {values.shape}. {remedy}"
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The function of {kernel!r} must return real numbers, got {values.dtype}."
        )
    finite = np.isfinite(values)
    if not finite.all():
        first = int(np.argmin(finite))
        raise ValueError(
            f"The function of {kernel!r} returned {values.flat[first]} at the {noun} "
            f"{float(t.flat[first])!r}; it must be finite at every {noun} that the inputs have."
        )
    return values.astype(np.float64)
