"""Kernels of the Gaussian processes with scikit-learn's parameters: the default, and its parts."""

from collections.abc import Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

from bochner._base.arrays import Array, InputRows, spreads
from bochner.features.median_length_scales import auto_length_scale
from bochner.gaussian_process.covariance import Covariance, rates
from bochner.gaussian_process.process_search import learned_gaussian, noise_of_near_rows
from bochner.gaussian_process.residual_process import ObservedRows
from bochner.kernels import (
    Constant,
    Exponential,
    Gaussian,
    Kernel,
    Matern,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
    White,
)
from bochner.kernels.adapter import KernelAdapter, from_sklearn

_REACH = 1e4
"""Ratio of the bounds of learned length scales and variances to their starts: farther ones are flat
or white on the rows."""

_LEAST_NOISE = 1e-8
"""Least signal and noise of a learned kernel relative to the variance of the targets: the square
root of the rounding of float64, so that its Gram matrix has a Cholesky factor."""

_LOG_ODDS = 4.0
"""Variance of latent functions of classes at which a search starts: probabilities of 0.02 to 0.98
are within two standard deviations."""

_LOG_ODDS_BOUNDS = (0.01, 100.0)
"""Bounds of that variance: probabilities within one standard deviation are at most 0.99995. The
evidence of separable labels has no maximum."""

_EQUAL = 1e-6
"""Relative difference of variances of noise up to which they are equal: far above rounding."""


def as_process_kernel(
    kernel: object, names: Sequence[str] | None = None, X: InputRows | None = None
) -> Any:
    """Return a kernel object of scikit-learn for a parameter ``kernel``; ``None`` stays ``None``.

    Columns given by name are looked up in ``names``. A kernel that scikit-learn has too becomes its
    own, others an adapter.
    """
    if isinstance(kernel, Kernel):
        kernel = kernel.resolved(names, X)
        if not kernel.is_symmetric:
            raise ValueError(
                f"{kernel!r} is not symmetric, and a covariance is: use its symmetric part, "
                f"kernel.symmetrised, or bochner.AsymmetricKernelRidge."
            )
        return _counterpart(kernel)
    return kernel


def _counterpart(kernel: Kernel) -> sk.Kernel:
    """Return scikit-learn's kernel of the same values, or an adapter."""
    match kernel:
        case Gaussian(scale):
            return sk.RBF(_listed(scale))
        case Exponential(scale):
            return sk.Matern(_listed(scale), nu=0.5)
        case Matern(scale, nu):
            return sk.Matern(_listed(scale), nu=nu)
        case RationalQuadratic(float() as scale, alpha):
            return sk.RationalQuadratic(scale, alpha)
        case Constant(value) if value > 0.0:
            return sk.ConstantKernel(value)
        case White(noise):
            return sk.WhiteKernel(noise)
        case Scaled(inner, factor) if factor > 0.0:
            return sk.Product(sk.ConstantKernel(factor), _counterpart(inner))
        case Sum(terms):
            return reduce(add, map(_counterpart, terms))
        case Product(factors):
            return reduce(mul, map(_counterpart, factors))
    return KernelAdapter(kernel)


def _listed(scale: object) -> object:
    return list(scale) if isinstance(scale, tuple) else scale


def refuse_names(kernel: object) -> None:
    """Raise TypeError for the name of a kernel, which other estimators take."""
    if isinstance(kernel, str):
        raise TypeError(
            f"kernel must be a kernel object or None, got the name {kernel!r}: write "
            "bochner.kernels.Gaussian(1.0) or sklearn.gaussian_process.kernels.RBF(1.0) for a "
            "Gaussian kernel. None learns one with a length scale for each input."
        )


def default_kernel(X: Array, signal: float, noise: float, scale: ArrayLike) -> sk.Kernel:
    """Return a constant times a Gaussian kernel with a length scale per input, and white noise."""
    scales = np.broadcast_to(scale, X.shape[1]).astype(np.float64)
    lengths = sk.RBF(scales.copy(), np.column_stack((scales / _REACH, scales * _REACH)))
    kernel = sk.ConstantKernel(signal, (signal / _REACH, signal * _REACH)) * lengths
    return kernel + sk.WhiteKernel(noise, (noise / _REACH, noise * _REACH))


def kernel_of_classes(X: Array, indicators: Array, rng: np.random.Generator) -> sk.Kernel:
    """Return a constant to be learned times a Gaussian kernel with a length scale per input.

    The length scales are fixed, those of greatest evidence of regression on indicators (n, t) of
    the classes: the evidence of a few hundred labels, often separable, would fit them too closely.
    """
    lengths = sk.RBF(np.array(learned_gaussian(X, indicators, rng).length_scale), "fixed")
    return sk.ConstantKernel(_LOG_ODDS, _LOG_ODDS_BOUNDS) * lengths


def start_kernel(X: Array, y: Array) -> sk.Kernel:
    """Return the default kernel in the units of rows (n, d) and of standardised targets (n, t).

    A tenth of the variance of the targets is noise.
    """
    scale = auto_length_scale(X, np.random.default_rng(0))
    variance = float(np.mean(spreads(y, np.ones(len(y))) ** 2))
    return default_kernel(X, variance, 0.1 * variance, scale)


def learned_kernel(X: Array, y: Array, alpha: float, rng: np.random.Generator) -> sk.Kernel:
    """Return the default kernel with the parameters of greatest evidence.

    ``alpha`` is the part of the noise that is not the kernel's.
    """
    learned = learned_gaussian(X, y, rng)
    variance = float(np.mean(spreads(y, np.ones(len(y))) ** 2))
    least = _LEAST_NOISE * variance
    signal, white = max(learned.signal, least), max(learned.noise - alpha, least)
    return default_kernel(X, signal, white, learned.length_scale)


def with_noise_of_near_rows(
    kernel: sk.Kernel, given: ObservedRows, alpha: float, rng: np.random.Generator
) -> sk.Kernel:
    """Return a kernel whose white noise is learned on blocks of near rows, if it is one free term.

    ``alpha`` is the part of the noise of the rows that is not the kernel's.
    """
    free = [
        (name, part)
        for name, part in kernel.get_params(deep=True).items()
        if isinstance(part, sk.WhiteKernel) and not part.hyperparameter_noise_level.fixed
    ]
    of_kernel = given.noise - alpha
    if len(free) != 1 or np.ptp(of_kernel) > _EQUAL * of_kernel.max():
        return kernel
    [(name, white)] = free
    covariance = Covariance(kernel)
    points = given.X * rates(covariance, given.X, rng)
    total = noise_of_near_rows(
        lambda rows: covariance(given.X[rows]), points, given.Y, float(given.noise[0]), rng
    )
    # Factors of the term stay as they are.
    level = white.noise_level * (total - alpha) / of_kernel[0]
    level = float(np.clip(level, *np.ravel(white.noise_level_bounds)))
    return clone(kernel).set_params(**{f"{name}__noise_level": level})


def without_noise(kernel: sk.Kernel, dim: int) -> tuple[Kernel, float]:
    """Return a kernel of scikit-learn converted, without its white noise, and the noise's variance.

    Raises ``ValueError`` if the kernel has no counterpart or noise only, or noise is a factor.
    """
    converted = from_sklearn(kernel, dim)
    terms = converted.terms if isinstance(converted, Sum) else (converted,)
    noise, rest = 0.0, list[Kernel]()
    for term in terms:
        factor, inner = (term.factor, term.kernel) if isinstance(term, Scaled) else (1.0, term)
        if isinstance(inner, White):
            noise += factor * inner.noise
        else:
            rest.append(term)
    if not rest or any(term.has_noise for term in rest):
        raise ValueError(
            f"{kernel!r} has no random features: white noise must be a term of a sum with other "
            f"kernels, such as RBF() + WhiteKernel(). solver='exact' takes any kernel."
        )
    return (rest[0] if len(rest) == 1 else Sum(tuple(rest))), noise
