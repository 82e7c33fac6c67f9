"""Kernels by formulas that share no code, and where possible no idea, with the library's."""

from dataclasses import replace
from functools import singledispatch
from itertools import product
from math import comb

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

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


def _product(vector, lag):
    return np.sum(np.asarray(vector) * lag, axis=-1)


@reference.register
def _(kernel: kernels.ShiftGaussian, lag):
    return reference(kernels.Gaussian(kernel.length_scale), lag + np.asarray(kernel.shift))


@reference.register
def _(kernel: kernels.SinhGaussian, lag):
    # 1 + sinh b = 1 + (e^b - e^-b) / 2
    rise = np.exp(_product(kernel.beta, lag))
    skew = 1.0 + 0.5 * (rise - 1.0 / rise)
    return reference(kernels.Gaussian(kernel.length_scale), lag) * skew


@reference.register
def _(kernel: kernels.CoshGaussian, lag):
    rise = np.exp(_product(kernel.beta, lag))
    return reference(kernels.Gaussian(kernel.length_scale), lag) * rise


@reference.register
def _(kernel: kernels.OnColumns, lag):
    return reference(kernel.kernel, np.stack([lag[..., c] for c in kernel.columns], axis=-1))


@reference.register
def _(kernel: kernels.Periodic, lag):
    # The Gaussian of length l / 2 of the chord between two points of a circle of radius 1/2.
    angle = 2.0 * np.pi * lag / np.asarray(kernel.period)
    chord = ((1.0 - np.cos(angle)) / 2.0) ** 2 + (np.sin(angle) / 2.0) ** 2
    return np.exp(-2.0 * np.sum(chord / np.asarray(kernel.length_scale) ** 2, axis=-1))


@reference.register
def _(kernel: kernels.Categorical, lag):
    other = np.broadcast_to(kernel.correlation, lag.shape)
    return np.prod(np.where(np.abs(lag) < 0.5, 1.0, other), axis=-1)


@reference.register
def _(kernel: kernels.Ordinal, lag):
    neighbours = np.exp(-1.0 / np.broadcast_to(kernel.length_scale, lag.shape))
    return np.prod(neighbours ** np.abs(lag), axis=-1)


@reference.register
def _(kernel: kernels.Constant, lag):
    return np.full(lag.shape[:-1], kernel.value)


@reference.register
def _(kernel: kernels.Stationary, lag):
    return kernel.function(lag)


@reference.register
def _(kernel: kernels.Transposed, lag):
    return reference(kernel.kernel, -lag)


@reference.register
def _(kernel: kernels.Sum, lag):
    return sum(reference(term, lag) for term in kernel.terms)


@reference.register
def _(kernel: kernels.Product, lag):
    return np.prod([reference(factor, lag) for factor in kernel.factors], axis=0)


@reference.register
def _(kernel: kernels.Scaled, lag):
    return kernel.factor * reference(kernel.kernel, lag)


@singledispatch
def reference_gram(kernel, X, Y):
    """The Gram matrix of a kernel, which need not be stationary."""
    return reference(kernel, X[:, None, :] - Y[None, :, :])


@reference_gram.register
def _(kernel: kernels.Bilinear, X, Y):
    left, right = np.asarray(kernel.left), np.asarray(kernel.right)
    queries = np.array([[np.sum(x * column) for column in left.T] for x in X])
    keys = np.array([[np.sum(y * column) for column in right.T] for y in Y])
    return reference_gram(kernel.kernel, queries, keys)


@reference_gram.register
def _(kernel: kernels.OnColumns, X, Y):
    left, right = ([[row[c] for c in kernel.columns] for row in rows.tolist()] for rows in (X, Y))
    return reference_gram(kernel.kernel, np.array(left), np.array(right))


@reference_gram.register
def _(kernel: kernels.Linear, X, Y):
    """The covariance of random lines, summed over their slopes."""
    variance, centre = (np.broadcast_to(v, X.shape[1]) for v in (kernel.variance, kernel.centre))
    return sum(
        v * np.multiply.outer(x - c, y - c)
        for v, c, x, y in zip(variance, centre, X.T, Y.T, strict=True)
    )


@reference_gram.register
def _(kernel: kernels.LocallyStationary, X, Y):
    middle = 0.5 * (X[:, None, :] + Y[None, :, :]) - np.asarray(kernel.centre)
    lag = X[:, None, :] - Y[None, :, :]
    return reference(kernel.envelope, middle) * reference(kernel.stationary, lag)


@reference_gram.register
def _(kernel: kernels.Sum, X, Y):
    return sum(reference_gram(term, X, Y) for term in kernel.terms)


@reference_gram.register
def _(kernel: kernels.Product, X, Y):
    return np.prod([reference_gram(factor, X, Y) for factor in kernel.factors], axis=0)


@reference_gram.register
def _(kernel: kernels.Scaled, X, Y):
    return kernel.factor * reference_gram(kernel.kernel, X, Y)


@reference_gram.register
def _(kernel: kernels.Harmonizable, X, Y):
    """Every pair of frequencies of every component, as a cosine of its own."""
    total = np.zeros((len(X), len(Y)))
    for q, B in enumerate(kernel.weights):
        centre, rate = np.array(kernel.centres[q]), np.array(kernel.inverse_widths[q])
        for i, x in enumerate(X):
            for j, y in enumerate(Y):
                u, v = x - centre, y - centre
                exponent = 0.25 * np.sum((rate * u) ** 2 + (rate * v) ** 2)
                exponent += 0.5 * np.sum((np.array(kernel.spreads[q]) * (x - y)) ** 2)
                waves = sum(
                    abs(B[r, s]) * np.cos(np.dot(one, u) - np.dot(other, v) + np.angle(B[r, s]))
                    for r, one in enumerate(kernel.frequencies[q])
                    for s, other in enumerate(kernel.frequencies[q])
                )
                total[i, j] += np.exp(-exponent) * waves
    return total


def _inner(X, Y):
    return sum(np.multiply.outer(x, y) for x, y in zip(X.T, Y.T, strict=True))


def _gaps(X, Y):
    return [np.abs(np.subtract.outer(x, y)) for x, y in zip(X.T, Y.T, strict=True)]


@reference_gram.register
def _(kernel: kernels.DeltaGaussian, X, Y):
    near, far = kernels.Gaussian(kernel.tau1), kernels.Gaussian(kernel.tau2)
    return reference_gram(near, X, Y) - reference_gram(far, X, Y)


@reference_gram.register
def _(kernel: kernels.TL1, X, Y):
    left = kernel.tau - sum(_gaps(X, Y))
    return np.where(left > 0.0, left, 0.0)


@reference_gram.register
def _(kernel: kernels.SphericalPolynomial, X, Y):
    """The binomial series in the inner product, of which every term is positive definite."""
    rise = 2.0 / kernel.a**2
    return sum(
        comb(kernel.degree, k) * (1.0 - rise) ** (kernel.degree - k) * (rise * _inner(X, Y)) ** k
        for k in range(kernel.degree + 1)
    )


@reference_gram.register
def _(kernel: kernels.Polynomial, X, Y):
    return np.prod([_inner(X, Y) + kernel.offset] * kernel.degree, axis=0)


@reference_gram.register
def _(kernel: kernels.Tanh, X, Y):
    growth = np.exp(2.0 * (kernel.scale * _inner(X, Y) + kernel.offset))
    return (growth - 1.0) / (growth + 1.0)


@reference_gram.register
def _(kernel: kernels.Hellinger, X, Y):
    return _inner(X, Y) ** 0.5


@reference_gram.register
def _(kernel: kernels.Radial, X, Y):
    return kernel.function(sum(gap**2 for gap in _gaps(X, Y)) ** 0.5)


@reference_gram.register
def _(kernel: kernels.DotProduct, X, Y):
    return kernel.function(_inner(X, Y))


def gaussian_expectation(X, Y, power):
    """E[(w.x)^power (w.y)^power] over normal w, where both are positive, for unit vectors.

    With y = u x + s x', x' of norm one and orthogonal to x, the mean over w.x' is closed form and
    that over a = w.x an integral, by the trapezoid rule in log a, where it converges
    geometrically.
    """
    step = 0.02
    a = np.exp(np.arange(-45.0, np.log(12.0), step))
    cosine = _inner(X, Y)[..., None]
    across = X[:, None, :] - cosine * Y[None, :, :]
    sine = np.maximum(np.linalg.norm(across, axis=-1), 1e-300)[..., None]
    ratio = np.clip(cosine * a / sine, -40.0, 40.0)  # where the normal tails are zero
    mean = norm.cdf(ratio) if power == 0 else cosine * a * norm.cdf(ratio) + sine * norm.pdf(ratio)
    return step * np.sum(norm.pdf(a) * a * a**power * mean, axis=-1)


@reference_gram.register
def _(kernel: kernels.ArcCosine, X, Y):
    return 2.0 * gaussian_expectation(X, Y, kernel.order)


@reference_gram.register
def _(kernel: kernels.NTK, X, Y):
    """The gradients' inner products: by the outer weights, and by the inner ones."""
    steps, ramps = (gaussian_expectation(X, Y, power) for power in (0, 1))
    return 2.0 * _inner(X, Y) * steps + 2.0 * ramps


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
    if isinstance(kernel, kernels.OnColumns):
        return [(mass, part.on(kernel.columns)) for mass, part in components(kernel.kernel)]
    if isinstance(kernel, kernels.SpectralMixture):
        triples = zip(kernel.weights, kernel.means, kernel.covariances, strict=True)
        return [
            (weight, kernels.SpectralMixture([1.0], [mean], [covariance]))
            for weight, mean, covariance in triples
        ]
    return [(1.0, kernel)]
