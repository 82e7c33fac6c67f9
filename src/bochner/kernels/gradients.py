r"""Derivatives of kernels by their left argument, in closed form.

For a kernel of a scaled distance :math:`r`, with :math:`\delta = x - y`, the derivative is
:math:`\partial k / \partial x_a = (k'(r) / r)\, \delta_a / \ell_a^2`. At a kink it is the mean of
the one-sided derivatives, zero; so are derivatives by codes of levels and by unused inputs.
"""

from collections.abc import Iterator
from functools import singledispatch

import numpy as np
from scipy.special import gamma, kv

from bochner._base.arrays import Array, as_array
from bochner.kernels.base import Kernel, OnColumns, Product, Scaled, Sum
from bochner.kernels.categorical import Levels
from bochner.kernels.distances import distances
from bochner.kernels.kernel_parameters import indices_of
from bochner.kernels.linear import Constant, Linear
from bochner.kernels.spectral_mixture import SpectralMixture
from bochner.kernels.stationary import (
    Cauchy,
    Correlation,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
    matern_profile,
)


@singledispatch
def input_derivatives(kernel: Kernel, X: Array, Y: Array) -> Iterator[Array]:
    r"""Yield :math:`\partial k(x_i, y_j) / \partial x_{ia}`, of shape (n, n2), for each input a.

    The kernel is a Gaussian, Matern, Exponential, Laplacian, Cauchy, RationalQuadratic,
    SpectralMixture, Periodic, Linear, Constant, Categorical or Ordinal kernel, or a sum, a product
    or a multiple of these, on all or some columns; other classes raise ``NotImplementedError``,
    unless a function is registered by ``input_derivatives.register(cls)``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Gaussian
    >>> from bochner.kernels.gradients import input_derivatives
    >>> [matrix] = input_derivatives(Gaussian(1.0), np.array([[1.0]]), np.array([[0.0]]))
    >>> matrix.round(4)
    array([[-0.6065]])
    """
    raise NotImplementedError(
        f"The derivatives of {kernel!r} are not known in closed form. Register them with "
        f"bochner.kernels.gradients.input_derivatives.register({type(kernel).__name__}), or use "
        f"differences of values."
    )


@input_derivatives.register
def _(kernel: Scaled, X: Array, Y: Array) -> Iterator[Array]:
    return (kernel.factor * part for part in input_derivatives(kernel.kernel, X, Y))


@input_derivatives.register
def _(kernel: Sum, X: Array, Y: Array) -> Iterator[Array]:
    each = [input_derivatives(term, X, Y) for term in kernel.terms]
    return (as_array(sum(parts)) for parts in zip(*each, strict=True))


@input_derivatives.register
def _(kernel: Product, X: Array, Y: Array) -> Iterator[Array]:
    values = [factor(X, Y) for factor in kernel.factors]
    each = [input_derivatives(factor, X, Y) for factor in kernel.factors]
    for parts in zip(*each, strict=True):
        total = np.zeros((len(X), len(Y)))
        for number, part in enumerate(parts):
            other_values = values[:number] + values[number + 1 :]
            total += np.prod([part, *other_values], axis=0)
        yield total


@input_derivatives.register
def _(kernel: OnColumns, X: Array, Y: Array) -> Iterator[Array]:
    columns = list(indices_of(kernel.columns, None, X.shape[1]))
    inner = input_derivatives(kernel.kernel, X[:, columns], Y[:, columns])
    derivatives = dict(zip(columns, inner, strict=True))
    for a in range(X.shape[1]):
        yield derivatives.pop(a) if a in derivatives else np.zeros((len(X), len(Y)))


@input_derivatives.register(Constant)
@input_derivatives.register(Levels)
def _(kernel: Constant | Levels, X: Array, Y: Array) -> Iterator[Array]:
    return (np.zeros((len(X), len(Y))) for _ in range(X.shape[1]))


@input_derivatives.register
def _(kernel: Linear, X: Array, Y: Array) -> Iterator[Array]:
    slopes = as_array(kernel.variance) * (Y - as_array(kernel.centre))
    return (np.tile(slope, (len(X), 1)) for slope in slopes.T)


@input_derivatives.register
def _(kernel: Periodic, X: Array, Y: Array) -> Iterator[Array]:
    values, dim = kernel(X, Y), X.shape[1]
    periods, scales = (np.broadcast_to(p, dim) for p in (kernel.period, kernel.length_scale))
    for x, y, period, scale in zip(X.T, Y.T, periods, scales, strict=True):
        rate = 2.0 * np.pi / period
        yield -rate / scale**2 * np.sin(rate * np.subtract.outer(x, y)) * values


@input_derivatives.register
def _(kernel: SpectralMixture, X: Array, Y: Array) -> Iterator[Array]:
    for a in range(kernel.dim):
        total = np.zeros((len(X), len(Y)))
        for weight, mean, factor in zip(
            kernel.weights, kernel.means, kernel.factors(), strict=True
        ):
            envelope = np.exp(-0.5 * distances(X @ factor, Y @ factor, "sqeuclidean"))
            angle = np.subtract.outer(X @ mean, Y @ mean)
            along = factor @ factor[a]
            decay = np.cos(angle) * np.subtract.outer(X @ along, Y @ along)
            total -= weight * envelope * (decay + mean[a] * np.sin(angle))
        yield total


@input_derivatives.register
def _(kernel: Laplacian, X: Array, Y: Array) -> Iterator[Array]:
    values = kernel(X, Y)
    scales = np.broadcast_to(kernel.length_scale, X.shape[1])
    return (
        -np.sign(delta) / scale * values
        for delta, scale in zip(_lags(kernel, X, Y), scales, strict=True)
    )


@input_derivatives.register
def _(kernel: Cauchy, X: Array, Y: Array) -> Iterator[Array]:
    values, scales = kernel(X, Y), np.broadcast_to(kernel.length_scale, X.shape[1])
    return (
        -2.0 * delta / (1.0 + (scale * delta) ** 2) * values
        for delta, scale in zip(_lags(kernel, X, Y, power=2), scales, strict=True)
    )


@input_derivatives.register
def _(kernel: Gaussian, X: Array, Y: Array) -> Iterator[Array]:
    return _radial(kernel, X, Y, -kernel(X, Y))


@input_derivatives.register
def _(kernel: RationalQuadratic, X: Array, Y: Array) -> Iterator[Array]:
    values = kernel(X, Y)
    return _radial(kernel, X, Y, -(values ** (1.0 + 1.0 / kernel.alpha)))


@input_derivatives.register
def _(kernel: Exponential, X: Array, Y: Array) -> Iterator[Array]:
    return _radial(kernel, X, Y, _matern_slope(_scaled_distances(kernel, X, Y), 0.5))


@input_derivatives.register
def _(kernel: Matern, X: Array, Y: Array) -> Iterator[Array]:
    u = np.sqrt(2.0 * kernel.nu) * _scaled_distances(kernel, X, Y)
    return _radial(kernel, X, Y, 2.0 * kernel.nu * _matern_slope(u, kernel.nu))


def _matern_slope(u: Array, nu: float) -> Array:
    r"""Return :math:`-2^{1 - \nu} u^{\nu - 1} K_{\nu - 1}(u) / \Gamma(\nu)` (DLMF 10.29.4)."""
    if nu > 1.0:
        return -matern_profile(u, nu - 1.0) / (2.0 * (nu - 1.0))
    positive = np.where(u > 0.0, u, 1.0)
    slope = -(2.0 ** (1.0 - nu)) * positive ** (nu - 1.0) * kv(1.0 - nu, positive) / gamma(nu)
    return np.where(u > 0.0, slope, 0.0)


def _radial(kernel: Correlation, X: Array, Y: Array, slope: Array) -> Iterator[Array]:
    r"""Yield the input derivatives of a radial kernel; ``slope`` (n, n2) is :math:`k'(r) / r`."""
    return (slope * delta for delta in _lags(kernel, X, Y, power=2))


def _lags(kernel: Correlation, X: Array, Y: Array, power: int = 1) -> Iterator[Array]:
    """Yield, for each input, the lags (n, n2) divided by a power of its length scale."""
    scales = np.broadcast_to(as_array(kernel.length_scale) ** power, X.shape[1])
    return (np.subtract.outer(x, y) for x, y in zip((X / scales).T, (Y / scales).T, strict=True))


def _scaled_distances(kernel: Correlation, X: Array, Y: Array) -> Array:
    scale = as_array(kernel.length_scale)
    return distances(X / scale, Y / scale, "euclidean")
