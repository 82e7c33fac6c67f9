"""Kernels in closed form, with their algebra.

Every kernel is an immutable value, called as ``k(X, Y=None)`` for its exact Gram matrix.
"""

from bochner.kernels._base import Kernel, Product, Scaled, Stationary, Sum
from bochner.kernels._named import NAMED_KERNELS, named_kernel
from bochner.kernels.anova import Anova
from bochner.kernels.spectral_mixture import SpectralMixture
from bochner.kernels.stationary import (
    Cauchy,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
)

__all__ = [
    "NAMED_KERNELS",
    "Anova",
    "Cauchy",
    "Exponential",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Matern",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "SpectralMixture",
    "Stationary",
    "Sum",
    "named_kernel",
]
