"""Families of kernels around a kernel, with parameters chosen by the evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, singledispatch
from typing import Self

import numpy as np

from bochner._base.arrays import Array, InputRows, LengthScale, as_array, spreads
from bochner.features.chunks import Chunk
from bochner.features.parameters import AnyKernel, median_distance
from bochner.kernels import (
    Anova,
    Bilinear,
    Correlation,
    Harmonizable,
    Kernel,
    OnColumns,
    Periodic,
    Product,
    Scaled,
    SpectralMixture,
    Sum,
)
from bochner.kernels.categorical import Levels
from bochner.kernels.kernel_names import has_length_scale, named_kernel
from bochner.kernels.kernel_parameters import SEPARATOR, Interval, indices_of
from bochner.linear.composite_families import Composite, Family, ProductOfKernels, SumOfKernels
from bochner.linear.family_members import (
    FixedKernel,
    HarmonizableParameters,
    LineWeights,
    MappedKernel,
)
from bochner.linear.feature_evidence import FrequencySlopes
from bochner.linear.reparameterised import LengthScales, MixtureParameters
from bochner.spectral.closed_forms import closed_form, find_closed_form
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.schemes import Scheme

MOST_SCALES = 100
"""Largest number of inputs with separate length scales: the rows of a search identify no more."""


_GIVEN = ("period", "inclusion")
"""Names of parameters that searches on features do not change. The evidence of a period has as many
maxima as the rows span periods. Numbers of frequencies of interactions follow their inclusions:
those of greatest evidence leave interactions of little variance without frequencies."""


def parameterised(
    kernel: AnyKernel | str, rows: Chunk, units: Array, rng: np.random.Generator
) -> Family | None:
    """Return the family of a kernel or kernel name; ``None`` if it has no learnable parameters."""
    if isinstance(kernel, str):
        if not has_length_scale(kernel):
            return None
        unit = np.full(len(units), median_distance(rows.X, rng, rows.weight))
        return _scaled(named_kernel(kernel)(1.0), unit, units)
    if not isinstance(kernel, Kernel):
        return None
    kernel.check_dim(rows.X.shape[1])
    if isinstance(kernel, Harmonizable):
        return HarmonizableParameters(kernel, spreads(rows.X, rows.weights))
    family = family_of(kernel, rows.X, rows.weights)
    return family if family is not None and family.origin.size else None


@singledispatch
def family_of(kernel: Kernel, X: InputRows, weights: Array) -> Family | None:
    """Return the family of kernels around ``kernel`` for weighted rows (n, d); ``None`` if none."""
    measure = find_closed_form(kernel, X.shape[1])
    if measure is None or not measure.is_positive or measure.is_two_sided:
        return None
    return FixedKernel(kernel, measure) if measure.total_variation > 0.0 else None


@family_of.register
def _(kernel: SpectralMixture, X: InputRows, weights: Array) -> Family | None:
    return MixtureParameters(kernel, spreads(X, weights))


@family_of.register(Correlation)
@family_of.register(Anova)
def _(kernel: Correlation | Anova, X: InputRows, weights: Array) -> Family | None:
    correlation = kernel.kernel if isinstance(kernel, Anova) else kernel
    return _scaled(kernel, np.broadcast_to(as_array(correlation.length_scale), X.shape[1]))


def _scaled(kernel: Kernel, unit: Array, units: Array | float = 1.0) -> Family:
    """Return the family of ``kernel`` whose length scales are learned, as multiples of ``unit``."""
    scales = LengthScales(partial(with_scales, kernel), unit, len(unit) > MOST_SCALES, units)
    shape = {
        name: domain
        for name, domain in kernel.learnable().items()
        if name.rpartition(SEPARATOR)[2] not in ("length_scale", *_GIVEN)
    }
    return ShapedScales(scales, kernel, shape) if shape else scales


@family_of.register(Periodic)
@family_of.register(Levels)
def _(kernel: Periodic | Levels, X: InputRows, weights: Array) -> Family | None:
    dim = X.shape[1]
    inputs = [(_of_input(kernel, index), index) for index in range(dim)]
    families = tuple(
        MappedKernel(_of_lines(each), OnColumns(each, (index,)), dim) for each, index in inputs
    )
    return ProductOfKernels(families, partial(_joined, kernel))


def _of_input(kernel: Periodic | Levels, index: int) -> Periodic | Levels:
    """Return the one-dimensional kernel of the input ``index`` of a kernel over several inputs."""
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}
    chosen = {name: value[index] for name, value in values.items() if isinstance(value, tuple)}
    return replace(kernel, **chosen)


def _of_lines(kernel: Periodic | Levels) -> Family:
    """Return the family of a kernel of one input that has spectral lines."""
    for name, domain in kernel.learnable().items():
        if name not in _GIVEN:
            return LineWeights(kernel, name, domain)
    return FixedKernel(kernel, closed_form(kernel, 1))


def _joined(kernel: Periodic | Levels, inputs: Sequence[Kernel]) -> Kernel:
    """Return ``kernel`` with one entry per input, taken from kernels of single inputs."""
    params = [kernel_of_input.get_params() for kernel_of_input in inputs]
    names = set(kernel.parameter_domains).difference(_GIVEN)
    return kernel.with_params(
        **{name: tuple(each[f"kernel__{name}"] for each in params) for name in names}
    )


@family_of.register
def _(kernel: OnColumns, X: InputRows, weights: Array) -> Family | None:
    columns = indices_of(kernel.columns, None, X.shape[1])
    inner = family_of(kernel.kernel, X[:, list(columns)], weights)
    start = replace(kernel, columns=columns)
    return None if inner is None else MappedKernel(inner, start, X.shape[1])


@family_of.register
def _(kernel: Bilinear, X: InputRows, weights: Array) -> Family | None:
    if not kernel.is_symmetric:
        return None
    inner = family_of(kernel.kernel, as_array(X @ kernel.left), weights)
    return None if inner is None else MappedKernel(inner, kernel, X.shape[1])


@family_of.register
def _(kernel: Scaled, X: InputRows, weights: Array) -> Family | None:
    return _sum_of((kernel,), X, weights)


@family_of.register
def _(kernel: Sum, X: InputRows, weights: Array) -> Family | None:
    return _sum_of(kernel.terms, X, weights)


@family_of.register
def _(kernel: Product, X: InputRows, weights: Array) -> Family | None:
    factors = _families(kernel.factors, X, weights)
    # The product must have a measure; a product of two kernels with spectral lines has none.
    if not factors or find_closed_form(kernel, X.shape[1]) is None:
        return None
    return ProductOfKernels(factors, lambda kernels: Product(tuple(kernels)))


def _sum_of(terms: Sequence[Kernel], X: InputRows, weights: Array) -> Family | None:
    # The factors of scaled terms become the initial weights of the terms.
    factors = [term.factor if isinstance(term, Scaled) else 1.0 for term in terms]
    inner = [term.kernel if isinstance(term, Scaled) else term for term in terms]
    families = _families(inner, X, weights) if min(factors) > 0.0 else ()
    return SumOfKernels(families, np.array(factors)) if families else None


def _families(kernels: Sequence[Kernel], X: InputRows, weights: Array) -> tuple[Family, ...]:
    """Return the family of each kernel, or an empty tuple if some kernel has none."""
    maybe_families = [family_of(kernel, X, weights) for kernel in kernels]
    families = tuple(family for family in maybe_families if family is not None)
    return families if len(families) == len(maybe_families) else ()


Seeded = tuple[int, int, Scheme | str]
"""Number, seed and scheme of base draws, from which frequencies are drawn when needed."""


@dataclass(frozen=True, slots=True, eq=False)
class ShapedScales(Composite[Seeded]):
    """Kernels of the scaled lag with shape parameters that change the frequencies' distribution."""

    scales: LengthScales
    start: Kernel
    domains: Mapping[str, Interval]

    @property
    def members(self) -> tuple[Family, ...]:
        return (self.scales,)

    @property
    def own_origin(self) -> Array:
        params = self.start.get_params()
        return as_array([float(each.free(params[name])) for name, each in self.domains.items()])

    @property
    def in_units(self) -> Self:
        return replace(self, scales=self.scales.in_units)

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> Seeded:
        return m, seed, scheme

    def frequencies(self, draws: Seeded, theta: Array) -> Frequencies:
        scales, shape = self.split(theta)
        family = self._at(shape)
        return family.frequencies(family.draw(*draws), scales)

    def pulled_back(self, draws: Seeded, theta: Array, slopes: FrequencySlopes) -> Array:
        scales, shape = self.split(theta)
        family = self._at(shape)
        by_scales = family.pulled_back(family.draw(*draws), scales, slopes)
        return np.append(by_scales, self.differences(draws, theta, slopes, n_known=len(scales)))

    def kernel(self, theta: Array) -> Kernel:
        scales, shape = self.split(theta)
        return self._at(shape).kernel(scales)

    def _at(self, shape: Array) -> LengthScales:
        """Return the family of length scales at fixed shape parameters."""
        each = zip(self.domains.items(), shape, strict=True)
        values = {name: float(domain.values(number)) for (name, domain), number in each}
        kernel = self.start.with_params(**values)
        return replace(self.scales, family=partial(with_scales, kernel))


def with_scales(kernel: Kernel, length_scale: LengthScale) -> Kernel:
    """Return a copy of the kernel with a new length scale; ANOVA passes it to its inner kernel."""
    name = "kernel__length_scale" if isinstance(kernel, Anova) else "length_scale"
    return kernel.with_params(**{name: length_scale})
