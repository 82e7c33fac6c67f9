r"""Asymmetric kernels of the lag in closed form: Gaussians shifted, skewed and tilted.

With :math:`k(\Delta) = \int e^{i \omega \cdot \Delta} \mu(d\omega)`, :math:`\Delta = x - y`, their
spectral measures are complex.
"""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from bochner._base.arrays import (
    Array,
    LengthScale,
    as_array,
    as_positive,
    as_scalar_or_tuple,
    check_dim,
)
from bochner._base.intervals import POSITIVE
from bochner._base.limits import LARGEST_ENTRY
from bochner.kernels.base import Kernel
from bochner.kernels.function import convert_fields
from bochner.kernels.stationary import Gaussian, LagKernel


@dataclass(frozen=True, slots=True, repr=False)
class _Skewed(LagKernel):
    """Base class of kernels that are Gaussian, and symmetric, if a vector is zero."""

    length_scale: LengthScale = 1.0

    parameter_domains = MappingProxyType({"length_scale": POSITIVE})

    _vector: ClassVar[str]  # name of the field

    def __post_init__(self) -> None:
        convert_fields(self, length_scale=as_positive, **{self._vector: as_scalar_or_tuple})
        vector = getattr(self, self._vector)
        if np.abs(vector).max() > LARGEST_ENTRY:
            raise ValueError(
                f"{self._vector} must be at most {LARGEST_ENTRY:g} in size, got {vector!r}."
            )

    def check_dim(self, dim: int) -> None:
        for name in ("length_scale", self._vector):
            check_dim(name, getattr(self, name), dim)

    @property
    def is_symmetric(self) -> bool:
        return not np.any(getattr(self, self._vector))

    @property
    def T(self) -> Kernel:
        opposite = as_scalar_or_tuple(self._vector, 0.0 - as_array(getattr(self, self._vector)))
        return self if self.is_symmetric else replace(self, **{self._vector: opposite})


@dataclass(frozen=True, slots=True, repr=False)
class ShiftGaussian(_Skewed):
    r"""The shifted Gaussian kernel, :math:`k(\Delta) = \exp(-\|(\Delta + r)/\ell\|_2^2 / 2)`.

    The kernel is one where :math:`y = x + r`, so each row resembles rows that are shifted by
    :math:`r`. The transpose has the shift :math:`-r`.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, in the units of the inputs; one number, or one per input. Given, not learned.
    shift : float or sequence of d floats, default=1.0
        :math:`r`, in the units of the inputs; given, not learned. A number is the same for every
        input. With zero it is the Gaussian kernel, and symmetric.

    Raises
    ------
    ValueError
        If a length scale is not positive or a shift not finite; when called, if there is not one
        number for all inputs or one for each.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, equation (9).

    Examples
    --------
    >>> from bochner.kernels import ShiftGaussian
    >>> k = ShiftGaussian(1.0, shift=0.5)
    >>> k([[0.0]], [[0.5]]), k.T([[0.0]], [[0.5]]).round(4)
    (array([[1.]]), array([[0.6065]]))
    """

    shift: LengthScale = 1.0

    _vector = "shift"

    def evaluate(self, X: Array, Y: Array) -> Array:
        return np.exp(_log_gaussian(self.length_scale, X + as_array(self.shift), Y))


@dataclass(frozen=True, slots=True, repr=False)
class SinhGaussian(_Skewed):
    r"""The skewed Gaussian, :math:`e^{-\|\Delta/\ell\|_2^2/2} (1 + \sinh(\beta \cdot \Delta))`.

    The symmetric part is the Gaussian kernel. The transpose has the vector :math:`-\beta`.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, in the units of the inputs; one number, or one per input. Given, not learned.
    beta : float or sequence of d floats, default=1.0
        :math:`\beta`, in the inverse units of the inputs; given. A number is the same for every
        input. With zero it is the Gaussian kernel, and symmetric.

    Raises
    ------
    ValueError
        If a length scale is not positive or an entry of ``beta`` not finite; when called, if
        there is not one number for all inputs or one for each.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, equation (10).

    Examples
    --------
    >>> from bochner.kernels import SinhGaussian
    >>> k = SinhGaussian(1.0, beta=0.5)
    >>> k([[1.0]], [[0.0]]).round(4), k([[0.0]], [[1.0]]).round(4)
    (array([[0.9226]]), array([[0.2905]]))
    """

    beta: LengthScale = 1.0

    _vector = "beta"

    def evaluate(self, X: Array, Y: Array) -> Array:
        # Three Gaussians: the hyperbolic sine alone may overflow where the product is small.
        exponent = _log_gaussian(self.length_scale, X, Y)
        tilt = _tilt(self.beta, X, Y)
        K = 0.5 * (np.exp(exponent + tilt) - np.exp(exponent - tilt))
        K += np.exp(exponent, out=exponent)
        return K

    @property
    def symmetrised(self) -> Kernel:
        # The hyperbolic sine is odd and cancels.
        return self if self.is_symmetric else Gaussian(self.length_scale)


@dataclass(frozen=True, slots=True, repr=False)
class CoshGaussian(_Skewed):
    r"""The tilted Gaussian, :math:`k(\Delta) = e^{-\|\Delta/\ell\|_2^2/2} e^{\beta \cdot \Delta}`.

    A shifted Gaussian of the greatest value :math:`c = \exp(\|\ell \beta\|_2^2 / 2)`, products
    elementwise, at the lag :math:`\ell^2 \beta`. Its symmetric part has the factor
    :math:`\cosh(\beta \cdot \Delta)`, hence the name; the transpose has the vector
    :math:`-\beta`.

    Parameters
    ----------
    length_scale, beta : float or sequence of d floats, default=1.0
        :math:`\ell` and :math:`\beta`, as in :class:`SinhGaussian`, with its errors; given, not
        learned.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, equation (11).

    Examples
    --------
    >>> from bochner.kernels import CoshGaussian
    >>> k = CoshGaussian(1.0, beta=0.5)
    >>> k([[1.0]], [[0.0]]), k([[0.0]], [[1.0]]).round(4)
    (array([[1.]]), array([[0.3679]]))
    """

    beta: LengthScale = 1.0

    _vector = "beta"

    def evaluate(self, X: Array, Y: Array) -> Array:
        # Exponents add before the exponential, so that neither factor can overflow alone.
        return np.exp(_log_gaussian(self.length_scale, X, Y) + _tilt(self.beta, X, Y))


def _log_gaussian(length_scale: LengthScale, X: Array, Y: Array) -> Array:
    r"""Return :math:`-\|\Delta/\ell\|_2^2 / 2` of every pair of rows."""
    scale = as_array(length_scale)
    return -0.5 * cdist(X / scale, Y / scale, "sqeuclidean")


def _tilt(beta: LengthScale, X: Array, Y: Array) -> Array:
    r"""Return :math:`\beta \cdot \Delta` of every pair of rows."""
    # Digits that all rows share would be lost in the difference of the two products; and sums, not
    # matrix products, are the same for equal rows on either side.
    left: Array = ((X - Y[0]) * as_array(beta)).sum(axis=1)
    right: Array = ((Y - Y[0]) * as_array(beta)).sum(axis=1)
    return as_array(np.subtract.outer(left, right))
