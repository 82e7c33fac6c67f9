"""The one table that resolves a kernel's name."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType

from bochner._numerics.arrays import LengthScale
from bochner.kernels._base import Stationary
from bochner.kernels.stationary import (
    Cauchy,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
)

NAMED_KERNELS: Mapping[str, Callable[[LengthScale], Stationary]] = MappingProxyType(
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


def named_kernel(name: str, *, also: Iterable[str] = ()) -> Callable[[LengthScale], Stationary]:
    """Return the function from a length scale to the kernel called ``name``.

    Parameters
    ----------
    name : str
    also : iterable of str
        Names that mean something to the caller, to be suggested too.

    Raises
    ------
    ValueError
        If no kernel has that name; the nearest names are suggested.

    Examples
    --------
    >>> from bochner.kernels import named_kernel
    >>> named_kernel("matern52")(0.3)
    Matern(length_scale=0.3, nu=2.5)
    """
    if name in NAMED_KERNELS:
        return NAMED_KERNELS[name]
    names = list(dict.fromkeys([*also, *NAMED_KERNELS]))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"No kernel is called {name!r}.{hint} Names: {', '.join(names)}; or give a Kernel object."
    )
