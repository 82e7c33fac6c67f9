"""Kernels in closed form, with their algebra.

Every kernel is an immutable value, called as ``k(X, Y=None)`` for its exact Gram matrix.
"""

import inspect

from bochner.kernels.asymmetric import CoshGaussian, ShiftGaussian, SinhGaussian
from bochner.kernels.base import Kernel, OnColumns, Product, Scaled, Sum, Transposed
from bochner.kernels.bilinear import Bilinear
from bochner.kernels.definiteness import Definiteness
from bochner.kernels.functions import DotProduct, Radial, Stationary
from bochner.kernels.harmonizable import Harmonizable
from bochner.kernels.inner_product import TL1, DeltaGaussian, Hellinger, Polynomial, Tanh
from bochner.kernels.levels import Categorical, Levels, Ordinal
from bochner.kernels.linear import Constant, Linear, White
from bochner.kernels.locally_stationary import LocallyStationary
from bochner.kernels.names import KERNELS_BY_DIMENSION, NAMED_KERNELS, kernel_called, named_kernel
from bochner.kernels.periodic import Periodic
from bochner.kernels.profiled import Domain, Metric, NonNegative, Profiled, RealSpace, UnitSphere
from bochner.kernels.spectral_mixture import ModulatedWaves, SpectralMixture
from bochner.kernels.spherical import NTK, ArcCosine, SphericalPolynomial
from bochner.kernels.stationary import (
    Anova,
    Cauchy,
    Correlation,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
)
from bochner.registry import register

__all__ = [
    "KERNELS_BY_DIMENSION",
    "NAMED_KERNELS",
    "NTK",
    "TL1",
    "Anova",
    "ArcCosine",
    "Bilinear",
    "Categorical",
    "Cauchy",
    "Constant",
    "Correlation",
    "CoshGaussian",
    "Definiteness",
    "DeltaGaussian",
    "Domain",
    "DotProduct",
    "Exponential",
    "Gaussian",
    "Harmonizable",
    "Hellinger",
    "Kernel",
    "Laplacian",
    "Levels",
    "Linear",
    "LocallyStationary",
    "Matern",
    "Metric",
    "ModulatedWaves",
    "NonNegative",
    "OnColumns",
    "Ordinal",
    "Periodic",
    "Polynomial",
    "Product",
    "Profiled",
    "Radial",
    "RationalQuadratic",
    "RealSpace",
    "Scaled",
    "ShiftGaussian",
    "SinhGaussian",
    "SpectralMixture",
    "SphericalPolynomial",
    "Stationary",
    "Sum",
    "Tanh",
    "Transposed",
    "UnitSphere",
    "White",
    "kernel_called",
    "named_kernel",
]

for _cls in [value for value in globals().values() if inspect.isclass(value)]:
    if issubclass(_cls, Kernel) and not inspect.isabstract(_cls):
        register(_cls)
