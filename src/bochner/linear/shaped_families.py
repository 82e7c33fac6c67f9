"""Families of kernels of the scaled lag whose laws have further parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from bochner._base.arrays import Array, LengthScale, as_array
from bochner.kernels import Anova, Kernel
from bochner.kernels.kernel_parameters import Interval
from bochner.linear.composite_families import Composite, Family
from bochner.linear.feature_evidence import FrequencySlopes
from bochner.linear.reparameterised import LengthScales
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.schemes import Scheme

Seeded = tuple[int, int, Scheme | str]
"""Number, seed and scheme of draws."""


@dataclass(frozen=True, slots=True, eq=False)
class ShapedScales(Composite[Seeded]):
    """Kernels of the scaled lag with further parameters, on which the law of the draws depends.

    Draws of one seed are smooth functions of these parameters: with a rational quadratic kernel,
    quantiles of the same uniform numbers for every ``alpha``.
    """

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
        """Return the family of length scales at values of the other parameters."""
        each = zip(self.domains.items(), shape, strict=True)
        values = {name: float(domain.values(number)) for (name, domain), number in each}
        kernel = self.start.with_params(**values)
        return replace(self.scales, family=partial(with_scales, kernel))


def with_scales(kernel: Kernel, length_scale: LengthScale) -> Kernel:
    """Return a kernel with other length scales, those of its kernel for an ANOVA kernel."""
    name = "kernel__length_scale" if isinstance(kernel, Anova) else "length_scale"
    return kernel.with_params(**{name: length_scale})
