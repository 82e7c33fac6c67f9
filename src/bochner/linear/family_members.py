"""Families of kernels on mapped inputs, of a fixed kernel and of kernels with spectral lines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner.kernels import Bilinear, Kernel, OnColumns, Periodic
from bochner.kernels.kernel_parameters import Interval, indices_of
from bochner.kernels.levels import Levels
from bochner.kernels.stationary import SHORTEST
from bochner.linear.composite_families import Composite, Family
from bochner.linear.feature_evidence import FrequencySlopes
from bochner.linear.reparameterised import FACTORS, BaseDraws, ParameterisedKernel
from bochner.spectral import SpectralMeasure
from bochner.spectral.factors import separated
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.lattice_measure import Lattice
from bochner.spectral.schemes import Scheme, resolve_scheme


@dataclass(frozen=True, slots=True, eq=False)
class MappedKernel(Composite[Any]):
    """Family of kernels on some of ``dim`` inputs, or on products of the inputs with a matrix.

    Frequencies along other inputs than those of an :class:`OnColumns` are zero; those of a
    symmetric :class:`Bilinear` kernel are the matrix times the frequencies of its kernel.
    """

    inner: Family
    start: OnColumns | Bilinear
    dim: int

    @property
    def members(self) -> tuple[Family, ...]:
        return (self.inner,)

    @property
    def total(self) -> float:
        return self.inner.total

    @property
    def least(self) -> int:
        return self.inner.least

    @property
    def n_atoms(self) -> int | None:
        return self.inner.n_atoms

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> Any:
        return self.inner.draw(m, seed, scheme)

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> Any:
        return self.inner.draw_factor(m, seed, scheme)

    def frequencies(self, draws: object, theta: Array) -> Frequencies:
        f = self.inner.frequencies(draws, theta)
        _, waves = separated(f.factor)
        waves = None if waves is None else waves.mapped(self.start.maps(self.dim)[0])
        return Frequencies(self._lifted(f.omega), f.weight, factor=waves)

    def pulled_back(self, draws: object, theta: Array, slopes: FrequencySlopes) -> Array:
        if isinstance(self.start, Bilinear):
            omega = slopes.omega @ self.start.left
        else:
            omega = slopes.omega[:, indices_of(self.start.columns, None, self.dim)]
        return self.inner.pulled_back(draws, theta, FrequencySlopes(omega, slopes.log_weight))

    def kernel(self, theta: Array) -> Kernel:
        return replace(self.start, kernel=self.inner.kernel(theta))

    def _lifted(self, omega: Array) -> Array:
        """Return frequencies (m, dim) of all inputs from those of the kernel."""
        if isinstance(self.start, Bilinear):
            return as_array(omega @ self.start.left.T)
        wide = np.zeros((len(omega), self.dim))
        wide[:, indices_of(self.start.columns, None, self.dim)] = omega
        return wide


@dataclass(frozen=True, slots=True, eq=False)
class FixedKernel(ParameterisedKernel[Frequencies]):
    """One kernel, of a positive measure in closed form: a family without parameters."""

    start: Kernel
    measure: SpectralMeasure

    @property
    def origin(self) -> Array:
        return np.zeros(0)

    def starts(self, rng: Generator) -> Sequence[Array]:
        return [self.origin]

    @property
    def total(self) -> float:
        return self.measure.total_variation

    @property
    def n_atoms(self) -> int | None:
        parts = self.measure.parts
        return parts[0].law.n_atoms if len(parts) == 1 else None

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> Frequencies:
        return self.measure.sample(min(m, self.n_atoms or m), seed, scheme)

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> Frequencies:
        if self.n_atoms is None:
            return self.draw(m, seed, scheme)
        # Atoms are drawn in proportion to their weights, so that these do not multiply the weights
        # of other factors.
        (part,) = self.measure.parts
        draw = part.law.draw_factor(m, np.random.default_rng(seed), resolve_scheme(scheme))
        return Frequencies(draw.omega, part.mass / m * draw.ratio, factor=draw.factor)

    def frequencies(self, draws: Frequencies, theta: Array) -> Frequencies:
        return draws

    def pulled_back(self, draws: Frequencies, theta: Array, slopes: FrequencySlopes) -> Array:
        return np.zeros(0)

    def kernel(self, theta: Array) -> Kernel:
        return self.start


@dataclass(frozen=True, slots=True, eq=False)
class LineWeights(ParameterisedKernel[BaseDraws]):
    """Kernels of one input with spectral lines, whose weights are a function of one parameter.

    The parameter is the logarithm or log odds of a :class:`Periodic` kernel's length scale, a
    :class:`Categorical` kernel's correlation or an :class:`Ordinal` kernel's length scale, relative
    to the start's. The number of lines suffices for half the length scale of the start.
    """

    start: Periodic | Levels
    name: str
    domain: Interval

    @property
    def origin(self) -> Array:
        return np.zeros(1)

    def starts(self, rng: Generator) -> Sequence[Array]:
        return [self.origin + np.log(factor) for factor in FACTORS]

    @property
    def _lines(self) -> Array:
        """The frequencies of the lines."""
        # A search may halve a length scale without new lines.
        ((omega, _),) = self.kernel(-np.log([2.0])).lines(1)
        return omega

    @property
    def n_atoms(self) -> int:
        return len(self._lines)

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> BaseDraws:
        omega = self._lines[:, None]
        if m < len(omega):
            return self.draw_factor(m, seed, scheme)
        return BaseDraws(omega, np.arange(len(omega)), np.ones(len(omega)))

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> BaseDraws:
        omega = self._lines[:, None]
        order = np.arange(len(omega))
        # Shorter length scales need lines with almost no weight at the start.
        chance = 0.5 * (self._weights(order, np.zeros(1)) + self._weights(order, -np.log([2.0])))
        chance /= chance.sum()
        law = Lattice(order[:, None].astype(np.float64), chance, np.zeros(len(order)))
        draw = law.draw_factor(m, np.random.default_rng(seed), resolve_scheme(scheme))
        part = np.asarray(draw.omega)[:, 0].astype(np.intp)
        return BaseDraws(omega[part], part, draw.ratio / (m * chance[part]))

    def frequencies(self, draws: BaseDraws, theta: Array) -> Frequencies:
        return Frequencies(draws.e, draws.share * self._weights(draws.part, theta))

    def kernel(self, theta: Array) -> Periodic | Levels:
        (start,) = np.ravel(getattr(self.start, self.name)).tolist()
        (value,) = self.domain.values(self.domain.free([start]) + theta).tolist()
        if isinstance(self.start, Periodic):
            value = max(value, min(start, SHORTEST))
        return replace(self.start, **{self.name: value})

    def _weights(self, order: NDArray[np.intp], theta: Array) -> Array:
        """Return the weights of some lines, which are zero for lines that others do not need."""
        ((omega, weights),) = self.kernel(theta).lines(1)
        return np.where(order < len(omega), weights[np.minimum(order, len(omega) - 1)], 0.0)
