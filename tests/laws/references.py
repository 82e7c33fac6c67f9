"""Kernels by formulas that share no code, and where possible no idea, with the library's."""

from dataclasses import replace
from functools import singledispatch
from itertools import product

import numpy as np
from scipy.special import gammaln

from bochner import kernels


def gamma_mean(shape, function):
    """The mean of ``function`` over a unit-scale Gamma law, by the trapezoid rule in log g.

    The integrand decays exponentially at both ends, where the rule converges geometrically.
    """
    step = 0.02
    s = np.arange(-40.0 / min(shape, 1.0), np.log(shape + 60.0) + 2.0, step)
    density = np.exp(shape * s - np.exp(s) - gammaln(shape))
    return step * np.tensordot(function(np.exp(s)), density, axes=1)


@singledispatch
def reference(kernel, lag):
    """The kernel at lags of shape (..., d)."""
    raise TypeError(f"no reference for {kernel!r}")


def _scaled(kernel, lag):
    return lag / np.asarray(kernel.length_scale)


@reference.register
def _(kernel: kernels.Gaussian, lag):
    return np.prod(np.exp(-(_scaled(kernel, lag) ** 2) / 2.0), axis=-1)


@reference.register
def _(kernel: kernels.Laplacian, lag):
    return np.prod(np.exp(-np.abs(_scaled(kernel, lag))), axis=-1)


@reference.register
def _(kernel: kernels.Cauchy, lag):
    return np.prod(1.0 / (1.0 + _scaled(kernel, lag) ** 2), axis=-1)


@reference.register
def _(kernel: kernels.Exponential, lag):
    return reference(kernels.Matern(kernel.length_scale, nu=0.5), lag)


@reference.register
def _(kernel: kernels.Matern, lag):
    # A multivariate t is a normal vector over the root of a Gamma variable of mean one.
    square = np.sum(_scaled(kernel, lag) ** 2, axis=-1)[..., None]
    return gamma_mean(kernel.nu, lambda g: np.exp(-square * kernel.nu / (2.0 * g)))


@reference.register
def _(kernel: kernels.RationalQuadratic, lag):
    square = np.sum(_scaled(kernel, lag) ** 2, axis=-1)[..., None]
    return gamma_mean(kernel.alpha, lambda g: np.exp(-square * g / (2.0 * kernel.alpha)))


@reference.register
def _(kernel: kernels.Anova, lag):
    """The sum over all sets of inputs that may interact."""
    dim = lag.shape[-1]
    scales = np.broadcast_to(kernel.kernel.length_scale, dim)
    inclusion = np.broadcast_to(kernel.inclusion, dim)
    single = [
        reference(replace(kernel.kernel, length_scale=float(scale)), lag[..., [i]])
        for i, scale in enumerate(scales)
    ]
    total = 0.0
    for members in product((False, True), repeat=dim):
        probability = np.prod(np.where(members, inclusion, 1.0 - inclusion))
        present = [value for value, member in zip(single, members, strict=True) if member]
        if kernel.constant or any(members):
            total = total + probability * np.prod([np.ones(lag.shape[:-1]), *present], axis=0)
    return total / (1.0 if kernel.constant else 1.0 - np.prod(1.0 - inclusion))


@reference.register
def _(kernel: kernels.SpectralMixture, lag):
    total = 0.0
    for weight, mean, covariance in zip(
        kernel.weights, kernel.means, kernel.covariances, strict=True
    ):
        matrix = np.asarray(covariance)
        if matrix.ndim < 2:
            matrix = np.diag(np.broadcast_to(matrix, lag.shape[-1]))
        quadratic = np.einsum("...i,ij,...j->...", lag, matrix, lag)
        total = total + weight * np.exp(-quadratic / 2.0) * np.cos(lag @ np.asarray(mean))
    return total


@reference.register
def _(kernel: kernels.Sum, lag):
    return sum(reference(term, lag) for term in kernel.terms)


@reference.register
def _(kernel: kernels.Product, lag):
    return np.prod([reference(factor, lag) for factor in kernel.factors], axis=0)


@reference.register
def _(kernel: kernels.Scaled, lag):
    return kernel.factor * reference(kernel.kernel, lag)


def components(kernel):
    """The parts of a kernel that are sampled apart: pairs of a mass and a kernel with k(0) = 1."""
    if isinstance(kernel, kernels.Scaled):
        return [(kernel.factor * mass, part) for mass, part in components(kernel.kernel)]
    if isinstance(kernel, kernels.Sum):
        return [pair for term in kernel.terms for pair in components(term)]
    if isinstance(kernel, kernels.Product):
        parts = [(1.0, None)]
        for factor in kernel.factors:
            parts = [
                (mass * mass2, part2 if part is None else part * part2)
                for mass, part in parts
                for mass2, part2 in components(factor)
            ]
        return parts
    if isinstance(kernel, kernels.SpectralMixture):
        triples = zip(kernel.weights, kernel.means, kernel.covariances, strict=True)
        return [
            (weight, kernels.SpectralMixture([1.0], [mean], [covariance]))
            for weight, mean, covariance in triples
        ]
    return [(1.0, kernel)]
