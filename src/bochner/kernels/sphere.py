r"""Kernels of the angle between inputs on the unit sphere.

The kernels are written as functions of the Euclidean distance :math:`z`, not of the inner product
:math:`u = 1 - z^2/2`: at coinciding inputs, where the angle turns sharply with :math:`u`, the
distance is exact and the inner product is rounded.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from bochner._base.arrays import Array, as_array, as_count, as_positive_scalar
from bochner.kernels.function import convert_fields
from bochner.kernels.profiled import NORM_TOLERANCE, Metric, Profiled, UnitSphere


@dataclass(frozen=True, slots=True, repr=False)
class SphericalPolynomial(Profiled):
    r"""A polynomial kernel on the unit sphere, :math:`k = (1 - z^2 / a^2)^p`.

    :math:`z` is the Euclidean distance, at most 2, and the profile is zero beyond. With the inner
    product :math:`u` it is :math:`(1 - 2/a^2 + 2u/a^2)^p`, for :math:`a = 2` simply
    :math:`((1 + u)/2)^p`, and positive definite on spheres of every dimension; but as a function
    of the distance, zero beyond 2, it is indefinite in Euclidean space of every dimension, and
    its spectral measure is signed.

    Parameters
    ----------
    degree : int, default=2
        :math:`p`, at least 1; given, not learned.
    a : float, default=2.0
        At least 2; given, not learned.

    Raises
    ------
    ValueError
        If ``degree`` or ``a`` is too small. On call, if a row does not have norm one.

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
        # Opposite inputs may come out a little more than 2 apart.
        return as_array(value * (t <= 2.0 + 2.0 * NORM_TOLERANCE))


@dataclass(frozen=True, slots=True, repr=False)
class ArcCosine(Profiled):
    r"""The arc-cosine kernels of wide networks with step or ramp units, on the unit sphere.

    .. math:: \kappa_0(u) = 1 - \arccos(u) / \pi, \qquad
              \kappa_1(u) = \bigl(u (\pi - \arccos u) + \sqrt{1 - u^2}\bigr) / \pi

    with the inner product :math:`u`: :math:`2\, E[\theta(w \cdot x)\, \theta(w \cdot y)]` over
    standard normal :math:`w`, where :math:`\theta(t)` is 1 for positive :math:`t` and 0 otherwise
    (order 0), or :math:`\max(t, 0)` (order 1). Positive definite, and one where inputs coincide.

    Parameters
    ----------
    order : {0, 1}
        Given, not learned.

    Raises
    ------
    ValueError
        If ``order`` is something else; when called, if a row is not of norm one.

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
            raise ValueError(f"order must be 0 or 1, got {self.order!r}.")
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

    Raises
    ------
    ValueError
        When called, if a row is not of norm one.

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
    """Return half the distance between unit vectors, the sine of half their angle."""
    return np.minimum(0.5 * distance, 1.0)


def _step(half: Array) -> Array:
    return as_array(1.0 - 2.0 / np.pi * np.arcsin(half))


def _cosine(half: Array) -> Array:
    return 1.0 - 2.0 * (half * half)


def _sine_over_pi(half: Array) -> Array:
    return as_array(2.0 / np.pi * half * np.sqrt((1.0 - half) * (1.0 + half)))
