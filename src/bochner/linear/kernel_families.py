"""Families of kernels around a given kernel, with parameters that the evidence chooses."""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial, singledispatch

import numpy as np
from scipy import sparse

from bochner._base.arrays import Array, InputRows, as_array, rounded
from bochner._base.spreads import spreads
from bochner.features.chunks import Chunk
from bochner.features.median_length_scales import AnyKernel, median_distance
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
from bochner.kernels.column_kernels import indices_of
from bochner.kernels.kernel_names import has_length_scale, named_kernel
from bochner.kernels.kernel_parameters import SEPARATOR
from bochner.kernels.levels import Levels
from bochner.linear.composite_families import Family, ProductOfKernels, SumOfKernels
from bochner.linear.family_members import FixedKernel, LineWeights, MappedKernel
from bochner.linear.harmonizable_families import HarmonizableParameters
from bochner.linear.reparameterised import LengthScales, MixtureParameters
from bochner.linear.shaped_families import ShapedScales, with_scales
from bochner.spectral.closed_forms import closed_form, find_closed_form

_MOST_SCALES = 100
"""Largest number of inputs with separate length scales: the rows of a search identify no more."""


_GIVEN = ("period", "inclusion")
"""Parameters that searches on features keep. The evidence of a period has as many maxima as the
rows span periods. Numbers of frequencies of interactions follow their inclusions: the inclusions
of greatest evidence leave interactions of little variance without frequencies."""


def in_units(kernel: AnyKernel | str, rows: Chunk) -> tuple[Chunk, Array]:
    """Return rows in the units of a search, and the units (d,).

    For a kernel, whose length scales have units, the rows are unchanged. For a name, columns are
    divided by their standard deviations; more than 100 columns share one unit. Entries are then
    rounded, so that rows in other units give the same result: otherwise the last digit could decide
    between two maxima of the evidence.
    """
    dim = rows.X.shape[1]
    if not isinstance(kernel, str):
        return rows, np.ones(dim)
    units = spreads(rows.X, rows.weights)
    if dim > _MOST_SCALES:
        units = np.full(dim, np.sqrt(np.mean(units**2)))
    return replace(rows, X=rounded(rows.X @ sparse.diags_array(1.0 / units))), units


def parameterised(
    kernel: AnyKernel | str, rows: Chunk, units: Array, rng: np.random.Generator
) -> Family | None:
    """Return the family of kernels of a name or around a kernel; ``None`` without parameters.

    Rows and units are the results of :func:`in_units`. The search of length scales starts at the
    median distance of the rows for a name, and at the length scales of a kernel. Sums and products
    are searched if each part has a positive measure in closed form.
    """
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
    """Return the family around a kernel, for rows (n, d) with weights (n,).

    A kernel without parameters to learn is a family of one kernel. The result is ``None`` if its
    measure has no closed form or is not positive, because there is no evidence then.
    """
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
    """Return the family of a kernel's length scales, in ``unit`` (d,), and further parameters."""
    scales = LengthScales(partial(with_scales, kernel), unit, len(unit) > _MOST_SCALES, units)
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
    """Return the kernel of one of the inputs of a kernel of several."""
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}
    chosen = {name: value[index] for name, value in values.items() if isinstance(value, tuple)}
    return replace(kernel, **chosen)


def _of_lines(kernel: Periodic | Levels) -> Family:
    """Return the family of a kernel of one input, with one parameter or none."""
    for name, domain in kernel.learnable().items():
        if name not in _GIVEN:
            return LineWeights(kernel, name, domain)
    return FixedKernel(kernel, closed_form(kernel, 1))


def _joined(kernel: Periodic | Levels, inputs: Sequence[Kernel]) -> Kernel:
    """Return the kernel with the parameters of the kernels of single inputs."""
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
    # The product must have a measure, too: that of two kernels with spectral lines has none.
    if not factors or find_closed_form(kernel, X.shape[1]) is None:
        return None
    return ProductOfKernels(factors, lambda kernels: Product(tuple(kernels)))


def _sum_of(terms: Sequence[Kernel], X: InputRows, weights: Array) -> Family | None:
    # Scaled terms: their factors become the starting weights of the terms.
    factors = [term.factor if isinstance(term, Scaled) else 1.0 for term in terms]
    inner = [term.kernel if isinstance(term, Scaled) else term for term in terms]
    families = _families(inner, X, weights) if min(factors) > 0.0 else ()
    return SumOfKernels(families, np.array(factors)) if families else None


def _families(kernels: Sequence[Kernel], X: InputRows, weights: Array) -> tuple[Family, ...]:
    """Return the families of all kernels, or an empty tuple if a kernel has no family."""
    maybe_families = [family_of(kernel, X, weights) for kernel in kernels]
    families = tuple(family for family in maybe_families if family is not None)
    return families if len(families) == len(maybe_families) else ()
