"""Families of kernels around a given kernel, with parameters that the evidence chooses."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, singledispatch

import numpy as np
from scipy import sparse

from bochner._numerics.arrays import Array, InputRows, LengthScale, as_array
from bochner._numerics.namespaces import chosen_columns
from bochner._numerics.units import rounded, spreads
from bochner.features.chunks import Chunk
from bochner.features.length_scales import AnyKernel, median_distance
from bochner.kernels import (
    Anova,
    Correlation,
    Harmonizable,
    Kernel,
    OnColumns,
    Periodic,
    Product,
    Scaled,
    SpectralMixture,
    Sum,
    named_kernel,
)
from bochner.kernels.columns import indices_of
from bochner.kernels.names import has_length_scale
from bochner.learning.evidence.reparameterised import LengthScales, MixtureParameters
from bochner.learning.families.composite import Family, ProductOfKernels, SumOfKernels
from bochner.learning.families.harmonizable import HarmonizableParameters
from bochner.learning.families.members import FixedKernel, KernelOnColumns, PeriodicScale
from bochner.spectral.closed_forms import find_closed_form

_MOST_SCALES = 100
"""Largest number of inputs with separate length scales: the rows of a search identify no more."""


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
        return LengthScales(named_kernel(kernel), unit, len(units) > _MOST_SCALES, units)
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
    dim = X.shape[1]
    correlation = kernel.kernel if isinstance(kernel, Anova) else kernel
    unit = np.broadcast_to(as_array(correlation.length_scale), dim)
    return LengthScales(partial(_with_scales, kernel), unit, dim > _MOST_SCALES)


@family_of.register
def _(kernel: Periodic, X: InputRows, weights: Array) -> Family | None:
    dim = X.shape[1]
    periods = np.broadcast_to(kernel.period, dim).tolist()
    scales = np.broadcast_to(kernel.length_scale, dim).tolist()
    inputs = tuple(
        KernelOnColumns(PeriodicScale(Periodic(period, scale)), (index,), dim)
        for index, (period, scale) in enumerate(zip(periods, scales, strict=True))
    )
    return ProductOfKernels(inputs, partial(_periodic, kernel))


@family_of.register
def _(kernel: OnColumns, X: InputRows, weights: Array) -> Family | None:
    columns = indices_of(kernel.columns, None, X.shape[1])
    inner = family_of(kernel.kernel, chosen_columns(X, columns), weights)
    return None if inner is None else KernelOnColumns(inner, columns, X.shape[1])


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


def _periodic(kernel: Periodic, inputs: Sequence[Kernel]) -> Periodic:
    """Return the kernel with the length scales of the kernels of single inputs."""
    scales = [kernel_of_input.get_params()["kernel__length_scale"] for kernel_of_input in inputs]
    return replace(kernel, length_scale=tuple(scales))


def _with_scales(kernel: Correlation | Anova, length_scale: LengthScale) -> Kernel:
    """Return the kernel with other length scales."""
    if isinstance(kernel, Anova):
        return replace(kernel, kernel=replace(kernel.kernel, length_scale=length_scale))
    return replace(kernel, length_scale=length_scale)
