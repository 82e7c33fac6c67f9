"""Stationary, positive definite kernels in closed form."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ive, kve

from bochner._base.arrays import (
    Array,
    InputRows,
    LengthScale,
    as_array,
    as_positive,
    as_positive_scalar,
    as_scalar_or_tuple,
)
from bochner.kernels.base import Kernel
from bochner.kernels.distances import decay, distances
from bochner.kernels.kernel_parameters import (
    POSITIVE,
    PROPORTION,
    checked_rows,
    checked_shape,
    convert_fields,
)


class LagKernel(Kernel):
    """Base of kernels that are functions of the lag, so that ``k(x, x)`` is constant."""

    __slots__ = ()

    def diag(self, X: ArrayLike) -> Array:
        n_samples, dim = checked_rows(X).shape
        self.check_dim(dim)
        origin = np.zeros((1, dim))
        return np.full(n_samples, self.evaluate(origin, origin)[0, 0])


@dataclass(frozen=True, slots=True, repr=False)
class Correlation(LagKernel):
    """Base of kernels of the scaled lag ``(x - y) / length_scale`` with ``k(x, x) = 1``.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        Length scale in the units of the inputs; one number, or one per input.
    """

    length_scale: LengthScale = 1.0

    per_input = ("length_scale",)
    parameter_domains = MappingProxyType({"length_scale": POSITIVE})

    def __post_init__(self) -> None:
        convert_fields(self, length_scale=as_positive)

    @abstractmethod
    def correlation(self, X: Array, Y: Array) -> Array:
        """Return a new array of kernel values for rows already divided by the length scale."""

    def evaluate(self, X: Array, Y: Array) -> Array:
        scale = as_array(self.length_scale)
        values = self.correlation(X / scale, Y / scale)
        return checked_shape(self, "correlation", values, (len(X), len(Y)))

    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Kernel:
        return self


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Correlation):
    r"""The Gaussian kernel, :math:`k(\Delta) = \exp(-\|\Delta / \ell\|_2^2 / 2)`.

    Its one parameter is the ``length_scale`` :math:`\ell` of :class:`Correlation`.

    Examples
    --------
    >>> from bochner.kernels import Gaussian
    >>> Gaussian(2.0)([[0.0]], [[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    def correlation(self, X: Array, Y: Array) -> Array:
        return decay(distances(X, Y, "sqeuclidean"), 0.5)


@dataclass(frozen=True, slots=True, repr=False)
class Laplacian(Correlation):
    r"""The Laplacian kernel, :math:`k(\Delta) = \exp(-\|\Delta/\ell\|_1)`.

    A function of the city-block distance, it is a product over inputs; the function of the
    Euclidean distance is :class:`Exponential`. Its one parameter is the ``length_scale``
    :math:`\ell` of :class:`Correlation`.

    Examples
    --------
    >>> from bochner.kernels import Laplacian
    >>> Laplacian()([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    def correlation(self, X: Array, Y: Array) -> Array:
        return decay(distances(X, Y, "cityblock"))


@dataclass(frozen=True, slots=True, repr=False)
class Exponential(Correlation):
    r"""The exponential kernel, :math:`k(\Delta) = \exp(-\|\Delta/\ell\|_2)`.

    The same as :class:`Matern` with ``nu=0.5``. Its one parameter is the ``length_scale``
    :math:`\ell` of :class:`Correlation`.

    Examples
    --------
    >>> from bochner.kernels import Exponential
    >>> Exponential()([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.2431]])
    """

    def correlation(self, X: Array, Y: Array) -> Array:
        return decay(distances(X, Y, "euclidean"))


@dataclass(frozen=True, slots=True, repr=False)
class Matern(Correlation):
    r"""The Matérn kernel of any smoothness.

    .. math:: k(\Delta) = \frac{2^{1-\nu}}{\Gamma(\nu)} u^\nu K_\nu(u),
              \qquad u = \sqrt{2\nu}\, \|\Delta/\ell\|_2.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell` as in :class:`Correlation`.
    nu : float, default=1.5
        Smoothness, positive; given, not learned. Draws are differentiable ``ceil(nu) - 1``
        times, and the kernel tends to :class:`Gaussian` as ``nu`` grows.

    Examples
    --------
    >>> from bochner.kernels import Exponential, Matern
    >>> X = [[0.0, 0.0], [1.0, 2.0]]
    >>> bool((abs(Matern(1.3, nu=0.5)(X) - Exponential(1.3)(X)) < 1e-12).all())
    True
    """

    nu: float = 1.5

    def __post_init__(self) -> None:
        convert_fields(self, length_scale=as_positive, nu=as_positive_scalar)

    def correlation(self, X: Array, Y: Array) -> Array:
        return matern_profile(np.sqrt(2.0 * self.nu) * distances(X, Y, "euclidean"), self.nu)


@dataclass(frozen=True, slots=True, repr=False)
class Cauchy(Correlation):
    r"""The Cauchy kernel, :math:`k(\Delta) = \prod_i 1 / (1 + \Delta_i^2/\ell_i^2)`.

    Its one parameter is the ``length_scale`` :math:`\ell` of :class:`Correlation`.

    Examples
    --------
    >>> from bochner.kernels import Cauchy
    >>> Cauchy()([[0.0, 0.0]], [[1.0, 1.0]])
    array([[0.25]])
    """

    def correlation(self, X: Array, Y: Array) -> Array:
        inverse = np.ones((len(X), len(Y)))
        for x, y in zip(X.T, Y.T, strict=True):
            inverse *= 1.0 + np.subtract.outer(x, y) ** 2
        return np.divide(1.0, inverse, out=inverse)


@dataclass(frozen=True, slots=True, repr=False)
class RationalQuadratic(Correlation):
    r"""The rational quadratic kernel, a scale mixture of Gaussian kernels.

    .. math:: k(\Delta) = \left(1 + \frac{\|\Delta/\ell\|_2^2}{2\alpha}\right)^{-\alpha}

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell` as in :class:`Correlation`.
    alpha : float, default=1.0
        Shape :math:`\alpha`, positive; small values mix many length scales, and the kernel tends to
        :class:`Gaussian` as ``alpha`` grows.

    Examples
    --------
    >>> from bochner.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=1.0)([[0.0]], [[1.0]]).round(4)
    array([[0.6667]])
    """

    alpha: float = 1.0

    parameter_domains = MappingProxyType({"length_scale": POSITIVE, "alpha": POSITIVE})

    def __post_init__(self) -> None:
        convert_fields(self, length_scale=as_positive, alpha=as_positive_scalar)

    def correlation(self, X: Array, Y: Array) -> Array:
        square = distances(X, Y, "sqeuclidean")
        square /= 2.0 * self.alpha
        return decay(np.log1p(square, out=square), self.alpha)


_DEBYE_FROM = 30.0
"""Smoothness nu beyond which Debye's expansion is used: Bessel's function soon overflows."""

# Smoothness from which the Gaussian limit, within 3e-8, is more accurate than Debye's expansion
_GAUSSIAN_FROM = 1e7

_SMALLEST = 1e-100  # Stand-in for a lag of zero, whose logarithm is infinite


def matern_profile(u: Array, nu: float) -> Array:
    r"""Return :math:`2^{1-\nu} u^\nu K_\nu(u) / \Gamma(\nu)`, by Debye's expansion for large nu."""
    if nu == 0.5:
        return np.exp(-u)
    if nu == 1.5:
        return (1.0 + u) * np.exp(-u)
    if nu == 2.5:
        return (1.0 + u + u * u / 3.0) * np.exp(-u)
    if nu > _GAUSSIAN_FROM:
        return decay((u / (2.0 * np.sqrt(nu))) ** 2)
    if nu > _DEBYE_FROM:
        v = np.maximum(u, _SMALLEST)
        log_bessel = _log_bessel_debye(v, nu)
    else:
        # Below this floor K_nu overflows, and the kernel is one up to rounding.
        v = np.maximum(u, 10.0 ** (-250.0 / max(nu, 1.0)))
        log_bessel = np.log(kve(nu, v)) - v
    value = np.exp((1.0 - nu) * np.log(2.0) - gammaln(nu) + nu * np.log(v) + log_bessel)
    return np.where(u == 0.0, 1.0, value)


def _log_bessel_debye(u: Array, nu: float) -> Array:
    """Return ``log K_nu(u)`` by Debye's expansion, uniform in ``u`` for large ``nu``."""
    z = u / nu
    root = np.sqrt(1.0 + z * z)
    t = 1.0 / root
    eta = root + np.log(z / (1.0 + root))
    t2 = t * t
    u1 = t * (3.0 - 5.0 * t2) / 24.0
    u2 = t2 * (81.0 - 462.0 * t2 + 385.0 * t2**2) / 1152.0
    u3 = t * t2 * (30375.0 - 369603.0 * t2 + 765765.0 * t2**2 - 425425.0 * t2**3) / 414720.0
    series = 1.0 - u1 / nu + u2 / nu**2 - u3 / nu**3
    return 0.5 * np.log(np.pi * t / (2.0 * nu)) - nu * eta + np.log(series)


@dataclass(frozen=True, slots=True, repr=False)
class Anova(LagKernel):
    r"""ANOVA kernel of low-order interactions, :math:`\prod_i (1 - \pi_i + \pi_i k_i(\Delta_i))`.

    :math:`k_i` is ``kernel`` on input ``i`` only. A frequency of this kernel involves input
    ``i`` with probability :math:`\pi_i`, so :math:`\sum_i \pi_i` is the expected order of
    interaction; tables are often sums of functions of one to three inputs. With every
    :math:`\pi_i = 1` it is the product of the one-dimensional kernels.

    Parameters
    ----------
    kernel : Correlation
        Kernel with the one-dimensional factors :math:`k_i`, for example ``Gaussian(0.5)``.
    inclusion : float or sequence of d floats
        :math:`\pi`, between 0 and 1. Models on features keep it as given: the inclusions of
        greatest evidence would leave interactions of little variance without frequencies.
        :class:`KernelAdapter`, for processes of scikit-learn, learns it.
    constant : bool, default=True
        Whether to keep the part that involves no input, :math:`c = \prod_i (1 - \pi_i)`; given.
        Without it the kernel is :math:`(k(\Delta) - c) / (1 - c)`, and every frequency involves
        some input. Models with an intercept do not need the constant part.

    Examples
    --------
    >>> from bochner.kernels import Anova, Gaussian
    >>> k = Anova(Gaussian(1.0), inclusion=0.5)
    >>> k([[0.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]]).round(4)
    array([[0.8033, 0.6452]])
    """

    kernel: Correlation
    inclusion: LengthScale
    constant: bool = True

    per_input = ("inclusion",)
    parameter_domains = MappingProxyType({"inclusion": PROPORTION})

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Correlation):
            raise TypeError(
                f"Anova needs a stationary kernel with a length scale, such as Gaussian(1.0), "
                f"got {self.kernel!r}."
            )
        convert_fields(self, inclusion=as_scalar_or_tuple)
        if not 0 <= np.min(self.inclusion) <= np.max(self.inclusion) <= 1:
            raise ValueError(f"inclusion must lie between 0 and 1, got {self.inclusion!r:.60}.")
        if not self.constant and np.max(self.inclusion) == 0:
            raise ValueError("Without the constant, some inclusion must be positive; got none.")

    def evaluate(self, X: Array, Y: Array) -> Array:
        scale = as_array(self.kernel.length_scale)
        inclusion = np.broadcast_to(self.inclusion, X.shape[1:])
        K = np.ones((len(X), len(Y)))
        for x, y, pi in zip((X / scale).T, (Y / scale).T, inclusion, strict=True):
            K *= pi * self.kernel.correlation(x[:, None], y[:, None]) + (1.0 - pi)
        without = 0.0 if self.constant else np.prod(1.0 - inclusion)
        return as_array((K - without) / (1.0 - without))

    def check_dim(self, dim: int) -> None:
        LagKernel.check_dim(self, dim)
        self.kernel.check_dim(dim)


_TAIL = 1e-12  # mass of the spectral lines that are ignored
SHORTEST = 1e-3
"""Least length scale of periodic features, with 7,100 lines: their number grows as its inverse."""


@dataclass(frozen=True, slots=True, repr=False)
class Periodic(LagKernel):
    r"""The periodic kernel, a Gaussian of the distance on a circle.

    .. math:: k(\Delta) = \exp\Big(-\sum_i \frac{2}{\ell_i^2} \sin^2 \frac{\pi \Delta_i}{p_i}\Big)

    The spectrum consists of lines at :math:`2 \pi j / p` with weights :math:`e^{-1/\ell^2}
    I_j(1/\ell^2)`, doubled for :math:`j > 0`, where ``I`` is the modified Bessel function. Features
    are exact if there is a frequency for each line, about :math:`5 + 7 / \ell` for one input.

    Parameters
    ----------
    period : float or sequence of d floats, default=1.0
        :math:`p`, in the units of the inputs. Models on features keep it as given, because the
        evidence has many maxima. :class:`KernelAdapter`, for processes of scikit-learn, learns it.
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, without a unit: small values let the function change much within a period.

    References
    ----------
    MacKay, "Introduction to Gaussian processes", 1998. Solin and Särkkä, "Explicit link
    between periodic covariance functions and state space models", 2014, for the weights.

    Examples
    --------
    >>> from bochner.kernels import Periodic
    >>> Periodic(period=24.0)([[1.0]], [[25.0], [13.0], [7.0]]).round(4)
    array([[1.    , 0.1353, 0.3679]])
    """

    period: LengthScale = 1.0
    length_scale: LengthScale = 1.0

    per_input = ("period", "length_scale")
    parameter_domains = MappingProxyType({"period": POSITIVE, "length_scale": POSITIVE})

    def __post_init__(self) -> None:
        convert_fields(self, period=as_positive, length_scale=as_positive)

    def evaluate(self, X: Array, Y: Array) -> Array:
        total = np.zeros((len(X), len(Y)))
        scale = np.broadcast_to(as_array(self.length_scale), X.shape[1])
        turns = np.pi / as_array(self.period)
        for x, y, column_scale in zip((X * turns).T, (Y * turns).T, scale, strict=True):
            total += 2.0 * (np.sin(np.subtract.outer(x, y)) / column_scale) ** 2
        return decay(total)

    def lines(self, dim: int) -> list[tuple[Array, Array]]:
        """Return spectral lines for each of ``dim`` inputs: frequencies, and weights of sum one."""
        self.check_dim(dim)
        pairs = zip(
            np.broadcast_to(self.period, dim).tolist(),
            np.broadcast_to(self.length_scale, dim).tolist(),
            strict=True,
        )
        return [_lines(period, scale) for period, scale in pairs]


def _lines(period: float, length_scale: float) -> tuple[Array, Array]:
    if length_scale < SHORTEST:
        raise ValueError(
            f"A Periodic kernel of length_scale={length_scale:g} has too many spectral lines; it "
            f"must be at least {SHORTEST:g}, relative to the period, for features."
        )
    rate = length_scale**-2
    # The line index is about normal with variance 1/l^2, with a Poisson-like tail.
    orders = np.arange(20 + int(8.0 * np.sqrt(rate)))
    weights = as_array(ive(orders, rate) * np.where(orders == 0, 1.0, 2.0))
    leading = np.flatnonzero(1.0 - np.cumsum(weights) > _TAIL)
    weights = weights[: len(leading) + 1]
    return as_array(2.0 * np.pi / period * orders[: len(weights)]), weights / weights.sum()
