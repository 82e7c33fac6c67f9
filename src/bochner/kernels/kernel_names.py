"""Kernels by name."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from bochner._base.arrays import LengthScale
from bochner._base.names import nearest
from bochner._base.registry import registered_kernel_names, reserve_kernel_names
from bochner.kernels.asymmetric import CoshGaussian, ShiftGaussian, SinhGaussian
from bochner.kernels.base import Kernel
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
from bochner.kernels.kernel_parameters import is_sklearn_kernel
from bochner.kernels.stationary import (
    Cauchy,
    Correlation,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
)

NAMED_KERNELS: Mapping[str, Callable[[LengthScale], Correlation]] = MappingProxyType(
    {
        "gaussian": Gaussian,
        "rbf": Gaussian,
        "laplacian": Laplacian,
        "exponential": Exponential,
        "matern": Matern,
        "matern12": partial(Matern, nu=0.5),
        "matern32": partial(Matern, nu=1.5),
        "matern52": partial(Matern, nu=2.5),
        "cauchy": Cauchy,
        "rational_quadratic": RationalQuadratic,
    }
)
"""Functions that make a kernel from its length scale, by the name of the kernel."""

KERNELS_BY_DIMENSION: Mapping[str, Callable[[int], Kernel]] = MappingProxyType(
    {
        "tl1": lambda dim: TL1(0.7 * dim),
        "tanh": lambda dim: Tanh(1.0 / dim, 1.0),
        "polynomial": lambda dim: Polynomial(3, float(dim)),
        "spherical_polynomial": lambda dim: SphericalPolynomial(2, 2.0),
        "delta_gaussian": lambda dim: DeltaGaussian(1.0, 10.0),
        "arccosine0": lambda dim: ArcCosine(0),
        "arccosine1": lambda dim: ArcCosine(1),
        "ntk": lambda dim: NTK(),
        "hellinger": lambda dim: Hellinger(),
        "shift_gaussian": lambda dim: ShiftGaussian(2.0, 2.0 / dim),
        "sinh_gaussian": lambda dim: SinhGaussian(2.0, 0.5 * math.pi / dim),
        "cosh_gaussian": lambda dim: CoshGaussian(2.0, 0.5 * math.pi / dim),
    }
)
"""Functions that make a kernel without length scale from the number of inputs, by its name.

``"tl1"`` and the asymmetric kernels are for inputs scaled to [0, 1]; the asymmetric kernels have
the parameters of He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022,
Section 5. ``"tanh"`` is scikit-learn's sigmoid kernel, and ``"polynomial"`` its polynomial kernel
times ``dim ** 3``, at their defaults.
"""

_OTHER_MEANINGS = frozenset({"auto", "precomputed"})
"""Values of parameters ``kernel``, here and in scikit-learn, that are no names of kernels."""

reserve_kernel_names((*NAMED_KERNELS, *KERNELS_BY_DIMENSION, *_OTHER_MEANINGS))


def has_length_scale(name: str) -> bool:
    """Return whether the kernel called ``name`` has a length scale."""
    registered = registered_kernel_names().get(name)
    return name not in KERNELS_BY_DIMENSION and (registered is None or registered[1])


def named_kernel(name: str) -> Callable[[LengthScale], Correlation]:
    """Return the function that constructs the kernel called ``name`` from a length scale."""
    registered = registered_kernel_names()
    by_scale: dict[str, Callable[[LengthScale], Correlation]] = {**NAMED_KERNELS}
    by_scale |= {n: cls for n, (cls, is_scaled) in registered.items() if is_scaled}
    if name in by_scale:
        return by_scale[name]
    if name in KERNELS_BY_DIMENSION or name in registered:
        raise ValueError(
            f"The kernel {name!r:.60} is not made from a length scale, and one is needed here. "
            f"Names of kernels that are: {', '.join(by_scale)}; or give a "
            f"Kernel object."
        )
    kernel_names = list(dict.fromkeys([*by_scale, *KERNELS_BY_DIMENSION, *registered]))
    near = nearest(name, kernel_names)
    hint = f" Did you mean {near!r:.60}?" if near else ""
    raise ValueError(
        f"No kernel is called {name!r:.60}.{hint} Names: {', '.join(kernel_names)}; or give a "
        f"Kernel object."
    )


def kernel_called(
    name: str, dim: int, length_scale: LengthScale | Callable[[], LengthScale] = 1.0
) -> Kernel:
    """Return the kernel called ``name``; a callable ``length_scale`` is called only if needed."""
    if name in KERNELS_BY_DIMENSION:
        return KERNELS_BY_DIMENSION[name](dim)
    constructor, is_scaled = registered_kernel_names().get(name, (Kernel, True))
    if not is_scaled:
        made: Kernel = constructor()
        return made
    return named_kernel(name)(length_scale() if callable(length_scale) else length_scale)


def native(kernel: object, dim: int) -> Any:
    """Convert a kernel of scikit-learn for ``dim`` inputs; return other objects unchanged."""
    if isinstance(kernel, str | Kernel) or not is_sklearn_kernel(kernel):
        return kernel
    from bochner.kernels.adapter import from_sklearn

    return from_sklearn(kernel, dim)
