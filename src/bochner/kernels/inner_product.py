"""Kernels of inner products and kernels on the unit sphere, including indefinite ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

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
from bochner.kernels.distances import decay
from bochner.kernels.function_kernels import (
    NORM_TOLERANCE,
    Metric,
    NonNegative,
    Profiled,
    UnitSphere,
)
from bochner.kernels.kernel_parameters import convert_fields
from bochner.kernels.linear import Constant, Linear


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
        with np.errstate(over="ignore"):  # The caller raises an error for infinity
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

    Raises ``ValueError`` when called, if an entry is negative.

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
        Length scales of the Gaussians, in the units of the inputs, different; given, not learned.

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

    Raises ``ValueError`` if ``tau`` is not positive.

    Parameters
    ----------
    tau : float
        :math:`\tau`, the distance at which the kernel becomes zero, in the units of the inputs;
        given, not learned. For inputs scaled to [0, 1], 0.7 times the number of inputs is common;
        the name ``"tl1"`` uses it.

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


@dataclass(frozen=True, slots=True, repr=False)
class SphericalPolynomial(Profiled):
    r"""A polynomial kernel on the unit sphere, :math:`k = (1 - z^2 / a^2)^p`.

    :math:`z` is the Euclidean distance, at most 2, and the profile is zero beyond. With the inner
    product :math:`u` it is :math:`(1 - 2/a^2 + 2u/a^2)^p`, for :math:`a = 2` simply
    :math:`((1 + u)/2)^p`, and positive definite on spheres of every dimension; but as a function
    of the distance, zero beyond 2, it is indefinite in Euclidean space of every dimension, and
    its spectral measure is signed.

    Raises ``ValueError`` if ``degree`` or ``a`` is too small, or a row does not have norm one.

    Parameters
    ----------
    degree : int, default=2
        :math:`p`, at least 1; given, not learned.
    a : float, default=2.0
        Scale of the distance, at least 2; given, not learned.

    References
    ----------
    Pennington, Yu and Kumar, "Spherical random features for polynomial kernels", 2015; Liu,
    Huang, Chen and Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed
    measures", 2021, Section 4.

    Examples
    --------
    >>> from bochner.kernels import SphericalPolynomial
    >>> SphericalPolynomial(degree=2)([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    array([[1.  , 0.25, 0.  ]])
    """

    degree: int = 2
    a: float = 2.0

    metric = Metric.EUCLIDEAN
    domain = UnitSphere()

    def __post_init__(self) -> None:
        convert_fields(self, degree=as_count, a=as_positive_scalar)
        if self.a < 2.0:
            raise ValueError(f"a must be at least 2, the diameter of the sphere, got {self.a}.")

    def profile(self, t: Array) -> Array:
        value = (1.0 - (np.minimum(t, 2.0) / self.a) ** 2) ** self.degree
        # By rounding, opposite inputs may have a distance slightly above 2.
        return as_array(value * (t <= 2.0 + 2.0 * NORM_TOLERANCE))


@dataclass(frozen=True, slots=True, repr=False)
class ArcCosine(Profiled):
    r"""The arc-cosine kernels of wide networks with step or ramp units, on the unit sphere.

    .. math:: \kappa_0(u) = 1 - \arccos(u) / \pi, \qquad
              \kappa_1(u) = \bigl(u (\pi - \arccos u) + \sqrt{1 - u^2}\bigr) / \pi

    with the inner product :math:`u`: :math:`2\, E[\theta(w \cdot x)\, \theta(w \cdot y)]` over
    standard normal :math:`w`, where :math:`\theta(t)` is 1 for positive :math:`t` and 0 otherwise
    (order 0), or :math:`\max(t, 0)` (order 1). Positive definite, and one where inputs coincide.

    Raises ``ValueError`` for another ``order`` and, when called, if a row does not have norm one.

    Parameters
    ----------
    order : {0, 1}
        Step units (0) or ramp units (1); given, not learned.

    References
    ----------
    Cho and Saul, "Kernel methods for deep learning", 2009.

    Examples
    --------
    >>> from bochner.kernels import ArcCosine
    >>> ArcCosine(0)([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    array([[1. , 0.5, 0. ]])
    >>> ArcCosine(1)([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.3183]])
    """

    order: int

    metric = Metric.EUCLIDEAN
    domain = UnitSphere()

    def __post_init__(self) -> None:
        if (
            isinstance(self.order, bool)
            or not isinstance(self.order, Integral)
            or self.order not in (0, 1)
        ):
            raise ValueError(f"order must be 0 or 1, got {self.order!r:.60}.")
        object.__setattr__(self, "order", int(self.order))

    def profile(self, t: Array) -> Array:
        half = _half(t)
        step = _step(half)
        return step if self.order == 0 else step * _cosine(half) + _sine_over_pi(half)


@dataclass(frozen=True, slots=True, repr=False)
class NTK(Profiled):
    r"""The neural tangent kernel of a wide network of two layers, on the unit sphere.

    .. math:: k = u\, \kappa_0(u) + \kappa_1(u)

    with ramp units (ReLU), the inner product :math:`u` and the functions of :class:`ArcCosine`.
    It is two where inputs coincide. Positive definite.

    Raises ``ValueError`` when called, if a row is not of norm one.

    References
    ----------
    Bietti and Mairal, "On the inductive bias of neural tangent kernels", 2019; Liu, Huang, Chen
    and Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed measures", 2021,
    Theorem 4, for the function of the distance.

    Examples
    --------
    >>> from bochner.kernels import NTK
    >>> NTK()([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]).round(4)
    array([[2.    , 0.3183, 0.    ]])
    """

    metric = Metric.EUCLIDEAN
    domain = UnitSphere()

    def profile(self, t: Array) -> Array:
        half = _half(t)
        return 2.0 * _step(half) * _cosine(half) + _sine_over_pi(half)


def _half(distance: Array) -> Array:
    """Return half the distance between unit vectors, which is the sine of half their angle."""
    return np.minimum(0.5 * distance, 1.0)


def _step(half: Array) -> Array:
    return as_array(1.0 - 2.0 / np.pi * np.arcsin(half))


def _cosine(half: Array) -> Array:
    return 1.0 - 2.0 * (half * half)


def _sine_over_pi(half: Array) -> Array:
    return as_array(2.0 / np.pi * half * np.sqrt((1.0 - half) * (1.0 + half)))
