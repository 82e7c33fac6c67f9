"""Kernels in closed form, with their algebra; ``k(X, Y=None)`` is the exact Gram matrix."""

from typing import TYPE_CHECKING

from bochner._base.registry import register
from bochner.kernels.asymmetric import Bilinear as Bilinear
from bochner.kernels.asymmetric import CoshGaussian as CoshGaussian
from bochner.kernels.asymmetric import ShiftGaussian as ShiftGaussian
from bochner.kernels.asymmetric import SinhGaussian as SinhGaussian
from bochner.kernels.base import Kernel as Kernel
from bochner.kernels.base import OnColumns as OnColumns
from bochner.kernels.base import Product as Product
from bochner.kernels.base import Scaled as Scaled
from bochner.kernels.base import Sum as Sum
from bochner.kernels.base import Transposed as Transposed
from bochner.kernels.categorical import Categorical as Categorical
from bochner.kernels.categorical import Ordinal as Ordinal
from bochner.kernels.function_kernels import Domain as Domain
from bochner.kernels.function_kernels import DotProduct as DotProduct
from bochner.kernels.function_kernels import Metric as Metric
from bochner.kernels.function_kernels import NonNegative as NonNegative
from bochner.kernels.function_kernels import Profiled as Profiled
from bochner.kernels.function_kernels import Radial as Radial
from bochner.kernels.function_kernels import RealSpace as RealSpace
from bochner.kernels.function_kernels import Stationary as Stationary
from bochner.kernels.function_kernels import UnitSphere as UnitSphere
from bochner.kernels.harmonizable import Harmonizable as Harmonizable
from bochner.kernels.harmonizable import LocallyStationary as LocallyStationary
from bochner.kernels.inner_product import NTK as NTK
from bochner.kernels.inner_product import TL1 as TL1
from bochner.kernels.inner_product import ArcCosine as ArcCosine
from bochner.kernels.inner_product import DeltaGaussian as DeltaGaussian
from bochner.kernels.inner_product import Hellinger as Hellinger
from bochner.kernels.inner_product import Polynomial as Polynomial
from bochner.kernels.inner_product import SphericalPolynomial as SphericalPolynomial
from bochner.kernels.inner_product import Tanh as Tanh
from bochner.kernels.linear import Constant as Constant
from bochner.kernels.linear import Linear as Linear
from bochner.kernels.linear import White as White
from bochner.kernels.spectral_mixture import SpectralMixture as SpectralMixture
from bochner.kernels.stationary import Anova as Anova
from bochner.kernels.stationary import Cauchy as Cauchy
from bochner.kernels.stationary import Correlation as Correlation
from bochner.kernels.stationary import Exponential as Exponential
from bochner.kernels.stationary import Gaussian as Gaussian
from bochner.kernels.stationary import Laplacian as Laplacian
from bochner.kernels.stationary import Matern as Matern
from bochner.kernels.stationary import Periodic as Periodic
from bochner.kernels.stationary import RationalQuadratic as RationalQuadratic

if TYPE_CHECKING:
    from bochner.kernels.adapter import KernelAdapter as KernelAdapter

_CLASSES = {n: c for n, c in globals().items() if isinstance(c, type) and c is not Domain}
__all__ = sorted(
    ("KernelAdapter", *(n for n, c in _CLASSES.items() if issubclass(c, Kernel | Domain)))
)

for _cls in _CLASSES.values():
    if issubclass(_cls, Kernel) and not _cls.__abstractmethods__:
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
