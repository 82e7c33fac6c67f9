"""Kernels of the inner product."""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array
from bochner.kernels.domains import NonNegative
from bochner.kernels.profiled import Metric, Profiled, as_degree, as_finite_scalar


@dataclass(frozen=True, slots=True)
class Polynomial(Profiled):
    r"""A polynomial kernel, :math:`k(x, y) = (\langle x, y \rangle + c)^p`.

    Positive definite if the offset is zero or more, indefinite if it is negative.

    Parameters
    ----------
    degree : int
        :math:`p`, at least 1.
    offset : float, default=1.0
        :math:`c`, in the squared units of the inputs.

    Raises
    ------
    ValueError
        If ``degree`` is less than 1 or ``offset`` is not finite.

    Examples
    --------
    >>> from bochner.kernels import Polynomial
    >>> Polynomial(3)([[1.0, 2.0]], [[1.0, 0.0], [-1.0, 0.0]])
    array([[8., 0.]])
    """

    degree: int
    offset: float = 1.0

    metric = Metric.INNER_PRODUCT

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", as_degree(self.degree))
        object.__setattr__(self, "offset", as_finite_scalar("offset", self.offset))

    def profile(self, t: Array) -> Array:
        value: Array = t + self.offset
        value **= self.degree
        return value


@dataclass(frozen=True, slots=True)
class Tanh(Profiled):
    r"""The sigmoid kernel, :math:`k(x, y) = \tanh(s \langle x, y \rangle + c)`.

    Indefinite, whatever the offset, unless the scale is zero.

    Parameters
    ----------
    scale : float, default=1.0
        :math:`s`, in the inverse squared units of the inputs.
    offset : float, default=1.0
        :math:`c`.

    Raises
    ------
    ValueError
        If ``scale`` or ``offset`` is not finite.

    References
    ----------
    Lin and Lin, "A study on sigmoid kernels for SVM and the training of non-PSD kernels by
    SMO-type methods", 2003.

    Examples
    --------
    >>> from bochner.kernels import Tanh
    >>> Tanh(scale=0.5)([[1.0, 0.0]], [[2.0, 3.0], [-2.0, 0.0]]).round(4)
    array([[0.964, 0.   ]])
    """

    scale: float = 1.0
    offset: float = 1.0

    metric = Metric.INNER_PRODUCT

    def __post_init__(self) -> None:
        for name in ("scale", "offset"):
            object.__setattr__(self, name, as_finite_scalar(name, getattr(self, name)))

    def profile(self, t: Array) -> Array:
        value: Array = self.scale * t
        value += self.offset
        return np.tanh(value, out=value)


@dataclass(frozen=True, slots=True)
class Hellinger(Profiled):
    r"""The root of the inner product, :math:`k(x, y) = \sqrt{\langle x, y \rangle}`.

    Defined on inputs without negative entries, such as counts and histograms. Indefinite with two
    columns or more: three rows suffice for a Gram matrix with a negative eigenvalue.

    Raises
    ------
    ValueError
        When called, if an entry is negative.

    References
    ----------
    FitzGerald and Horn, "On fractional Hadamard powers of positive definite matrices", 1977, for
    the negative eigenvalue.

    Examples
    --------
    >>> from bochner.kernels import Hellinger
    >>> Hellinger()([[1.0, 0.0]], [[4.0, 3.0], [0.0, 1.0]])
    array([[2., 0.]])
    """

    metric = Metric.INNER_PRODUCT
    domain = NonNegative()

    def profile(self, t: Array) -> Array:
        value = np.maximum(t, 0.0)
        return np.sqrt(value, out=value)
