"""Kernels given as functions: any function of the distance or of the inner product."""

from dataclasses import dataclass

from bochner._numerics.arrays import Array
from bochner.kernels._calls import Function, check_callable, name_of, values_of
from bochner.kernels.metrics import Metric
from bochner.kernels.profiled import Profiled


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
        check_callable("Radial", self.function)

    def profile(self, t: Array) -> Array:
        return values_of(self, self.function, t, t.shape, "distance")

    def __repr__(self) -> str:
        return f"Radial({name_of(self.function)})"


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
        check_callable("DotProduct", self.function)

    def profile(self, t: Array) -> Array:
        return values_of(self, self.function, t, t.shape, "inner product")

    def __repr__(self) -> str:
        return f"DotProduct({name_of(self.function)})"
