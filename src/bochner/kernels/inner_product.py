"""Kernels of the inner product, and indefinite kernels of a distance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import (
    Array,
    InputRows,
    as_array,
    as_count,
    as_finite_scalar,
    as_positive_scalar,
)
from bochner.kernels.base import Kernel
from bochner.kernels.function import convert_fields, decay
from bochner.kernels.linear import Constant, Linear
from bochner.kernels.profiled import Metric, NonNegative, Profiled


@dataclass(frozen=True, slots=True, repr=False)
class Polynomial(Profiled):
    r"""A polynomial kernel, :math:`k(x, y) = (\langle x, y \rangle + c)^p`.

    Positive definite if the offset is zero or more, indefinite if it is negative. Degree 1 has the
    exact features of :class:`Linear`. Features of a higher degree need rows on a sphere;
    scikit-learn's ``PolynomialCountSketch`` has features for all rows.

    Parameters
    ----------
    degree : int
        :math:`p`, at least 1; given, not learned.
    offset : float, default=1.0
        :math:`c`, in the squared units of the inputs; given, not learned.

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
        convert_fields(self, degree=as_count, offset=as_finite_scalar)

    def profile(self, t: Array) -> Array:
        with np.errstate(over="ignore"):  # Who calls refuses infinity, with its own words
            return as_array((t + self.offset) ** self.degree)

    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Kernel:
        if rows is None or self.degree > 1 or self.offset < 0.0:
            return self
        line = Linear().resolved(names, rows)
        return line + Constant(self.offset) if self.offset > 0.0 else line


@dataclass(frozen=True, slots=True, repr=False)
class Tanh(Profiled):
    r"""The sigmoid kernel, :math:`k(x, y) = \tanh(s \langle x, y \rangle + c)`.

    Indefinite for every offset, unless the scale is zero.

    Parameters
    ----------
    scale : float, default=1.0
        :math:`s`, in the inverse squared units of the inputs; given, not learned.
    offset : float, default=1.0
        :math:`c`; given, not learned.

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
        convert_fields(self, scale=as_finite_scalar, offset=as_finite_scalar)

    def profile(self, t: Array) -> Array:
        return np.tanh(self.scale * t + self.offset)


@dataclass(frozen=True, slots=True, repr=False)
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
        return np.sqrt(np.maximum(t, 0.0))


@dataclass(frozen=True, slots=True, repr=False)
class DeltaGaussian(Profiled):
    r"""The difference of two Gaussian kernels.

    .. math:: k(\Delta) = \exp(-z^2 / 2\tau_1^2) - \exp(-z^2 / 2\tau_2^2),
              \qquad z = \|\Delta\|_2.

    The kernel is zero at lag zero, so it is never positive definite. It equals
    ``Gaussian(tau1) - Gaussian(tau2)``.

    Parameters
    ----------
    tau1, tau2 : float, default=1.0 and 10.0
        In the units of the inputs; different from each other. Given, not learned.

    Raises
    ------
    ValueError
        If a scale is not positive, or the two are equal.

    References
    ----------
    Oglic and Gärtner, "Learning in reproducing kernel Kreĭn spaces", 2018; Liu, Huang, Chen and
    Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed measures", 2021,
    Section 4.

    Examples
    --------
    >>> from bochner.kernels import DeltaGaussian
    >>> DeltaGaussian(1.0, 10.0)([[0.0]], [[0.0], [2.0]]).round(4)
    array([[ 0.    , -0.8449]])
    """

    tau1: float = 1.0
    tau2: float = 10.0

    metric = Metric.EUCLIDEAN

    def __post_init__(self) -> None:
        convert_fields(self, tau1=as_positive_scalar, tau2=as_positive_scalar)
        if self.tau1 == self.tau2:
            raise ValueError(
                f"tau1 and tau2 must differ, or the kernel is zero everywhere; got {self.tau1} "
                f"twice."
            )

    def profile(self, t: Array) -> Array:
        near = decay((t / self.tau1) ** 2, 0.5)
        near -= decay((t / self.tau2) ** 2, 0.5)
        return near


@dataclass(frozen=True, slots=True, repr=False)
class TL1(Profiled):
    r"""The truncated city-block kernel, :math:`k(\Delta) = \max(\tau - \|\Delta\|_1, 0)`.

    A tent, and positive definite, with one column; indefinite with two or more.

    Parameters
    ----------
    tau : float
        :math:`\tau`, positive, in the units of the inputs; given, not learned. For inputs scaled to
        [0, 1], 0.7 times the number of inputs is a common choice; the name ``"tl1"`` uses this
        value.

    Raises
    ------
    ValueError
        If ``tau`` is not positive.

    References
    ----------
    Huang, Suykens, Wang, Hornegger and Maier, "Classification with truncated l1 distance
    kernel", 2018.

    Examples
    --------
    >>> from bochner.kernels import TL1
    >>> TL1(1.5)([[0.0, 0.0]], [[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]])
    array([[1.5 , 0.75, 0.  ]])
    """

    tau: float

    metric = Metric.CITY_BLOCK

    def __post_init__(self) -> None:
        convert_fields(self, tau=as_positive_scalar)

    def profile(self, t: Array) -> Array:
        return np.maximum(self.tau - t, 0.0)
