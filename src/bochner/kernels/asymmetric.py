r"""Asymmetric kernels of the lag in closed form: Gaussians shifted, skewed and tilted.

With :math:`k(\Delta) = \int e^{i \omega \cdot \Delta} \mu(d\omega)`, :math:`\Delta = x - y`, their
spectral measures are complex.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from bochner._numerics.arrays import (
    Array,
    LengthScale,
    as_array,
    as_positive,
    as_scalar_or_tuple,
    check_dim,
)
from bochner.kernels.base import Kernel, checked_rows
from bochner.kernels.stationary import Gaussian


@dataclass(frozen=True, slots=True)
class ShiftGaussian(Kernel):
    r"""The shifted Gaussian kernel, :math:`k(\Delta) = \exp(-\|(\Delta + r)/\ell\|_2^2 / 2)`.

    It is one where :math:`y = x + r`: what comes before resembles what comes after. The transpose
    has the shift :math:`-r`.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, in the units of the inputs; one number, or one per input.
    shift : float or sequence of d floats, default=1.0
        :math:`r`, in the units of the inputs; a number is the same for every input. With zero it
        is the Gaussian kernel, and symmetric.

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

    length_scale: LengthScale = 1.0
    shift: LengthScale = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "length_scale", as_positive("length_scale", self.length_scale))
        object.__setattr__(self, "shift", as_scalar_or_tuple("shift", self.shift))

    def evaluate(self, X: Array, Y: Array) -> Array:
        exponent = _log_gaussian(self.length_scale, X + as_array(self.shift), Y)
        return np.exp(exponent, out=exponent)

    def diag(self, X: ArrayLike) -> Array:
        n_samples, dim = checked_rows(X).shape
        self.check_dim(dim)
        shift = np.full(dim, as_array(self.shift)) / as_array(self.length_scale)
        return np.full(n_samples, np.exp(-0.5 * shift @ shift))

    def check_dim(self, dim: int) -> None:
        check_dim("length_scale", self.length_scale, dim)
        check_dim("shift", self.shift, dim)

    @property
    def is_symmetric(self) -> bool:
        return not np.any(self.shift)

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else ShiftGaussian(self.length_scale, _minus(self.shift))


@dataclass(frozen=True, slots=True)
class _Tilted(Kernel):
    r"""A Gaussian times a function of :math:`\beta \cdot \Delta` that is one at zero."""

    length_scale: LengthScale = 1.0
    beta: LengthScale = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "length_scale", as_positive("length_scale", self.length_scale))
        object.__setattr__(self, "beta", as_scalar_or_tuple("beta", self.beta))

    def diag(self, X: ArrayLike) -> Array:
        n_samples, dim = checked_rows(X).shape
        self.check_dim(dim)
        return np.ones(n_samples)

    def check_dim(self, dim: int) -> None:
        check_dim("length_scale", self.length_scale, dim)
        check_dim("beta", self.beta, dim)

    @property
    def is_symmetric(self) -> bool:
        return not np.any(self.beta)

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else replace(self, beta=_minus(self.beta))


@dataclass(frozen=True, slots=True)
class SinhGaussian(_Tilted):
    r"""The skewed Gaussian, :math:`e^{-\|\Delta/\ell\|_2^2/2} (1 + \sinh(\beta \cdot \Delta))`.

    Its symmetric part is the Gaussian kernel. The transpose has the vector :math:`-\beta`.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, in the units of the inputs; one number, or one per input.
    beta : float or sequence of d floats, default=1.0
        :math:`\beta`, in the inverse units of the inputs; a number is the same for every input.
        With zero it is the Gaussian kernel, and symmetric.

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

    def evaluate(self, X: Array, Y: Array) -> Array:
        # Three Gaussians: the hyperbolic sine alone may overflow where the product is small.
        exponent = _log_gaussian(self.length_scale, X, Y)
        tilt = _tilt(self.beta, X, Y)
        K = np.exp(exponent + tilt)
        K -= np.exp(exponent - tilt)
        K *= 0.5
        K += np.exp(exponent, out=exponent)
        return K

    @property
    def symmetrised(self) -> Kernel:
        # The hyperbolic sine is odd and cancels.
        return self if self.is_symmetric else Gaussian(self.length_scale)


@dataclass(frozen=True, slots=True)
class CoshGaussian(_Tilted):
    r"""The tilted Gaussian, :math:`k(\Delta) = e^{-\|\Delta/\ell\|_2^2/2} e^{\beta \cdot \Delta}`.

    A shifted Gaussian of the greatest value :math:`c = \exp(\|\ell \beta\|_2^2 / 2)`, products
    elementwise, at the lag :math:`\ell^2 \beta`. Its symmetric part has the factor
    :math:`\cosh(\beta \cdot \Delta)`, hence the name; the transpose has the vector
    :math:`-\beta`.

    Parameters
    ----------
    length_scale, beta : float or sequence of d floats, default=1.0
        :math:`\ell` and :math:`\beta`, as in :class:`SinhGaussian`, with its errors.

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

    def evaluate(self, X: Array, Y: Array) -> Array:
        # Exponents add before the exponential, so that neither factor can overflow alone.
        exponent = _log_gaussian(self.length_scale, X, Y)
        exponent += _tilt(self.beta, X, Y)
        return np.exp(exponent, out=exponent)


def _log_gaussian(length_scale: LengthScale, X: Array, Y: Array) -> Array:
    r"""Return :math:`-\|\Delta/\ell\|_2^2 / 2` of every pair of rows."""
    scale = as_array(length_scale)
    exponent: Array = cdist(X / scale, Y / scale, "sqeuclidean")
    exponent *= -0.5
    return exponent


def _tilt(beta: LengthScale, X: Array, Y: Array) -> Array:
    r"""Return :math:`\beta \cdot \Delta` of every pair of rows."""
    # Digits that all rows share would be lost in the difference of the two products; and sums, not
    # matrix products, are the same for equal rows on either side.
    left: Array = ((X - Y[0]) * as_array(beta)).sum(axis=1)
    right: Array = ((Y - Y[0]) * as_array(beta)).sum(axis=1)
    return as_array(np.subtract.outer(left, right))


def _minus(vector: LengthScale) -> LengthScale:
    return as_scalar_or_tuple("vector", 0.0 - as_array(vector))
