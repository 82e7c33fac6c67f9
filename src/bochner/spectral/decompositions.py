"""Decompositions of a kernel into a spectral measure, and the function that applies them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add, mul
from types import MappingProxyType
from typing import Any

import numpy as np

from bochner import kernels
from bochner._base.arrays import (
    Array,
    ArrayLike,
    as_array,
    as_count,
    as_positive_scalar,
    column_extremes,
    stacked_rows,
)
from bochner._base.registry import register, resolved
from bochner.kernels import Kernel, Metric, UnitSphere
from bochner.spectral.closed_forms import closed_form, find_closed_form
from bochner.spectral.design import designed_measure
from bochner.spectral.lattice_measure import LARGEST_DIM, lattice_measure
from bochner.spectral.laws import NoMeasureError
from bochner.spectral.measure import SpectralMeasure
from bochner.spectral.profiles import Pairs, Profile, profile
from bochner.spectral.schemes import Iid, Scheme, resolve_scheme
from bochner.spectral.spherical_measure import spherical_polynomial_measure

_DEFAULT_FREQUENCIES = 256  # half of FourierFeatures' default number of features


@dataclass(frozen=True, slots=True, eq=False)
class DesignData:
    """Data for a designed measure: rows, dense or sparse, or distances in the kernel's metric."""

    dim: int
    n_frequencies: int
    orthogonal: bool = True
    fitted: bool = False
    left: Any = None
    right: Any = None
    distances: Array | None = None
    seed: int = 0
    _pairs: dict[Metric, Pairs] = field(default_factory=dict, init=False, repr=False)

    def pairs(self, metric: Metric) -> Pairs | None:
        """Return distances of sampled pairs of rows in ``metric``, or ``None`` without data."""
        if self.distances is not None:
            return Pairs.of_distances(self.distances, metric)
        if self.left is None:
            return None
        if metric not in self._pairs:
            rows = self.left if self.right is None else stacked_rows(self.left, self.right)
            self._pairs[metric] = Pairs.of_rows(rows, metric, np.random.default_rng(self.seed))
        return self._pairs[metric]

    def reach(self) -> Array | None:
        """Return the greatest lag in each of ``dim`` inputs, or ``None`` if it is unknown."""
        if self.left is None:
            if self.distances is None or not self.distances.size:
                return None
            return np.full(self.dim, float(np.max(self.distances)))
        (low, high), (least, most) = (
            column_extremes(rows)
            for rows in (self.left, self.left if self.right is None else self.right)
        )
        return as_array(np.maximum(high - least, most - low))

    def mapped(self, left: Array, right: Array) -> "DesignData":
        """Return the data with left rows times ``left`` and right rows times ``right``."""
        mapped = replace(self, dim=left.shape[1])
        if self.left is None:
            return mapped
        other = self.left if self.right is None else self.right
        return replace(mapped, left=self.left @ left, right=other @ right)


class Decomposition(ABC):
    """Base class of rules that compute the spectral measure of a kernel."""

    __slots__ = ()

    @abstractmethod
    def measure(self, kernel: Kernel, data: DesignData) -> SpectralMeasure:
        """Return the spectral measure of ``kernel``."""

    def by_members(self, kernel: Kernel, data: DesignData) -> SpectralMeasure:
        """Return the combined measures of the kernel's members, or its numerical transform."""
        if isinstance(kernel, kernels.Sum):
            return reduce(add, (self.measure(term, data) for term in kernel.terms))
        if isinstance(kernel, kernels.Product):
            return reduce(mul, (self.measure(factor, data) for factor in kernel.factors))
        if isinstance(kernel, kernels.Scaled):
            return kernel.factor * self.measure(kernel.kernel, data)
        if isinstance(kernel, kernels.Bilinear | kernels.OnColumns):
            maps = kernel.maps(data.dim)
            return self.measure(kernel.kernel, data.mapped(*maps)).mapped(*maps)
        return _transformed(kernel, data)


@register
@dataclass(frozen=True, slots=True)
class Polar(Decomposition):
    r"""Polar decomposition of closed forms into size and phase: :math:`\mu = e^{i\theta} |\mu|`.

    One set of frequencies is drawn from :math:`|\mu|`, and the phases make the kernel:
    :math:`k(\Delta) = \|\mu\| E \cos(\omega \cdot \Delta + \theta(\omega))`. Any function of the
    lag, :class:`bochner.kernels.Stationary`, is transformed numerically in up to three inputs.
    """

    def measure(self, kernel: Kernel, data: DesignData) -> SpectralMeasure:
        return find_closed_form(kernel, data.dim) or self.by_members(kernel, data)


@register
@dataclass(frozen=True, slots=True)
class Jordan(Decomposition):
    r"""Closed forms, split by sign: :math:`\mu = \mu_R^+ - \mu_R^- + i \mu_I^+ - i \mu_I^-`.

    Linear combinations of kernels in closed form split by the signs of their coefficients; the
    spherical polynomial has its own transform (Liu et al., Algorithm 1 and eq. (3)). Complex
    measures have up to three parts, since the negative imaginary part reflects the positive one.
    Frequencies are shared in proportion to mass (He et al., Algorithm 1 and eq. (7)).

    Parameters
    ----------
    truncation : float, default=10.0
        Greatest norm of the frequencies of a spherical polynomial, whose mass may be infinite.

    References
    ----------
    Liu, Huang, Chen and Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed
    measures", 2021. He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022.
    """

    truncation: float = 10.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "truncation", as_positive_scalar("truncation", self.truncation))

    def measure(self, kernel: Kernel, data: DesignData) -> SpectralMeasure:
        if isinstance(kernel, kernels.SphericalPolynomial):
            return spherical_polynomial_measure(kernel.degree, kernel.a, data.dim, self.truncation)
        closed_form = find_closed_form(kernel, data.dim) or self.by_members(kernel, data)
        return closed_form.jordan()


@register
@dataclass(frozen=True, slots=True)
class Designed(Decomposition):
    """A few atoms that match the kernel at distances in the data; see :func:`designed_measure`."""

    def measure(self, kernel: Kernel, data: DesignData) -> SpectralMeasure:
        if _has_columns(kernel):
            return self.by_members(kernel, data)
        kernel_profile = profile(kernel)
        pairs = _pairs(kernel_profile, data)
        if kernel_profile is not None and pairs is None:
            raise ValueError(
                f"A designed measure of {kernel!r} depends on how far the data reach; give the "
                f"distances between rows of the data, such as scipy.spatial.distance.pdist(X)."
            )
        return designed_measure(
            kernel,
            data.dim,
            pairs or Pairs.of_sphere(),
            data.n_frequencies,
            orthogonal=data.orthogonal,
            fitted=data.fitted,
        )


@register
@dataclass(frozen=True, slots=True)
class Auto(Decomposition):
    """Closed forms if they are positive or complex; designed measures if they are signed."""

    def measure(self, kernel: Kernel, data: DesignData) -> SpectralMeasure:
        closed_form = find_closed_form(kernel, data.dim)
        if closed_form is not None and closed_form.is_positive:
            return closed_form
        if _has_columns(kernel):
            # Members are decomposed separately, because designs depend on distances within columns.
            return self.by_members(kernel, data)
        kernel_profile = profile(kernel)
        if kernel_profile is not None and (closed_form is None or _pairs(kernel_profile, data)):
            return Designed().measure(kernel, data)
        return closed_form or self.by_members(kernel, data)


DECOMPOSITIONS: Mapping[str, Decomposition] = MappingProxyType(
    {"auto": Auto(), "designed": Designed(), "polar": Polar(), "jordan": Jordan()}
)


def resolve_decomposition(decomposition: str | Decomposition) -> Decomposition:
    """Return the decomposition of a name such as "auto"; an object is returned unchanged."""
    return resolved("decomposition", decomposition, Decomposition, DECOMPOSITIONS)


def makes_blocks(scheme: Scheme) -> bool:
    """Return whether a scheme draws directions in orthogonal blocks."""
    return not isinstance(scheme, Iid)


def spectral_measure(
    kernel: Kernel,
    dim: int,
    distances: ArrayLike | None = None,
    n_frequencies: int | None = None,
    *,
    decomposition: str | Decomposition = "auto",
    scheme: str | Scheme = "orthogonal",
) -> SpectralMeasure:
    """Return the measure whose transform is ``kernel`` on inputs with ``dim`` columns.

    The measure μ of a kernel k has k(x - y) = ∫ exp(i ω·(x - y)) μ(dω). ``mu.sample(...)`` draws
    :class:`Frequencies` from it.

    Examples
    --------
    >>> from bochner import kernels, spectral_measure
    >>> spectral_measure(0.5 * kernels.Gaussian(2.0), dim=3).mass
    0.5
    >>> mu = spectral_measure(kernels.Tanh(), dim=5, n_frequencies=100)
    >>> mu.is_positive, mu.max_error < 0.05
    (False, True)

    Parameters
    ----------
    kernel : Kernel
        Any kernel of :mod:`bochner.kernels`, and sums, products and multiples of them.
    dim : int
        Number of inputs of the left argument.
    distances : array-like, default=None
        Distances between rows of the data, of any shape, in the kernel's metric. A designed measure
        is fitted up to the greatest distance, and minimises the variance at these distances.
        Kernels of the inner product are assumed to be on the unit sphere and need no distances.
        :class:`bochner.FourierFeatures` takes distances and norms from the data.
    n_frequencies : int, default=256
        Number of frequencies for which the error of a designed measure is minimised.
    decomposition : {"auto", "designed", "polar", "jordan"} or Decomposition, default="auto"
        ``"auto"`` uses the closed form if it is positive, designs a measure if the closed form is
        signed or unknown, and uses the polar form for an asymmetric kernel.
    scheme : {"orthogonal", "energy", "lattice", "iid", "structured"} or Scheme
        Sampling scheme for which measures are designed; the default is ``"orthogonal"``.

    Raises
    ------
    ValueError
        If ``dim`` does not fit the kernel's parameters, distances are needed but not given, or the
        kernel is not finite and continuous up to the greatest distance.
    NoMeasureError
        If the measure has no closed form and cannot be designed or computed.
    """
    as_count("dim", dim)
    if isinstance(kernel, Kernel):
        kernel.check_widths(dim, kernel.right_dim(dim))
    m = _DEFAULT_FREQUENCIES if n_frequencies is None else n_frequencies
    pair_distances = None if distances is None else np.asarray(distances, dtype=np.float64)
    data = DesignData(
        dim,
        as_count("n_frequencies", m),
        makes_blocks(resolve_scheme(scheme)),
        distances=pair_distances,
    )
    return resolve_decomposition(decomposition).measure(kernel, data)


def _pairs(of_kernel: Profile | None, data: DesignData) -> Pairs | None:
    """Return pairs of data rows; for a kernel on the unit sphere, all possible distances."""
    if of_kernel is None:
        return None
    pairs, is_inner = data.pairs(of_kernel.metric), of_kernel.metric is Metric.INNER_PRODUCT
    on_sphere = is_inner or isinstance(of_kernel.domain, UnitSphere)
    return Pairs.of_sphere() if pairs is None and on_sphere else pairs


def _has_columns(kernel: object) -> bool:
    """Return whether a kernel or one of its members is restricted to some columns."""
    inner = kernel.nested().values() if isinstance(kernel, Kernel) else ()
    return isinstance(kernel, kernels.OnColumns) or any(map(_has_columns, inner))


def _transformed(kernel: Kernel, data: DesignData) -> SpectralMeasure:
    """Return the numerical Fourier transform of a stationary kernel; raise for other kernels."""
    lag = kernel.kernel if isinstance(kernel, kernels.Transposed) else kernel
    if not isinstance(lag, kernels.Stationary):
        return closed_form(kernel, data.dim)
    if data.dim > LARGEST_DIM:
        raise NoMeasureError(
            f"The spectrum of a function of the lag is found numerically in at most {LARGEST_DIM} "
            f"inputs, and there are {data.dim}; use weights='least_squares'."
        )
    function = lag.function if lag is kernel else lambda delta: lag.function(-delta)
    reach = data.reach()
    return lattice_measure(function, data.dim, reach, symmetric=lag.symmetric)
