"""Kernels in closed form, with their algebra; ``k(X, Y=None)`` is the exact Gram matrix."""

from typing import TYPE_CHECKING

from bochner._base.registry import register
from bochner.kernels.asymmetric import Bilinear, CoshGaussian, ShiftGaussian, SinhGaussian
from bochner.kernels.base import Kernel, OnColumns, Product, Scaled, Sum, Transposed
from bochner.kernels.categorical import Categorical, Ordinal
from bochner.kernels.definiteness import Definiteness as Definiteness
from bochner.kernels.function_kernels import Domain as Domain
from bochner.kernels.function_kernels import (
    DotProduct,
    NonNegative,
    Profiled,
    Radial,
    RealSpace,
    Stationary,
    UnitSphere,
)
from bochner.kernels.function_kernels import Metric as Metric
from bochner.kernels.harmonizable import Harmonizable, LocallyStationary
from bochner.kernels.inner_product import (
    NTK,
    TL1,
    ArcCosine,
    DeltaGaussian,
    Hellinger,
    Polynomial,
    SphericalPolynomial,
    Tanh,
)
from bochner.kernels.linear import Constant, Linear, White
from bochner.kernels.spectral_mixture import ModulatedWaves, SpectralMixture
from bochner.kernels.stationary import (
    Anova,
    Cauchy,
    Correlation,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    Periodic,
    RationalQuadratic,
)

if TYPE_CHECKING:
    from bochner.kernels.adapter import KernelAdapter

__all__ = [
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
    "DeltaGaussian",
    "DotProduct",
    "Exponential",
    "Gaussian",
    "Harmonizable",
    "Hellinger",
    "Kernel",
    "KernelAdapter",
    "Laplacian",
    "Linear",
    "LocallyStationary",
    "Matern",
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
]

for _cls in list(globals().values()):
    if isinstance(_cls, type) and issubclass(_cls, Kernel) and not _cls.__abstractmethods__:
        register(_cls)

_ELSEWHERE = {
    "RBF": "Gaussian(length_scale)",
    "SquaredExponential": "Gaussian(length_scale)",
    "Matern12": "Matern(length_scale, nu=0.5)",
    "Matern32": "Matern(length_scale, nu=1.5)",
    "Matern52": "Matern(length_scale, nu=2.5)",
    "ExpSineSquared": "Periodic(period, length_scale)",
    "ConstantKernel": "Constant(value), or a number times a kernel",
    "WhiteKernel": "White(noise)",
    "Exponentiation": "a product, kernel * kernel",
    "CompoundKernel": "one model for each kernel",
    "PairwiseKernel": "a function k(X, Y)",
}
"""How kernels are written in this package, by their names in other libraries."""


def __getattr__(name: str) -> object:
    if name == "KernelAdapter":  # Imports scikit-learn's kernels
        from bochner.kernels.adapter import KernelAdapter

        return KernelAdapter
    if name in _ELSEWHERE:
        raise AttributeError(
            f"bochner.kernels has no {name}: write {_ELSEWHERE[name]}. Estimators also take "
            f"the kernel objects of sklearn.gaussian_process.kernels."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
