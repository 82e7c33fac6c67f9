"""Families of kernels on columns, of a fixed kernel and of periodic kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ive

from bochner._numerics.arrays import Array, as_array
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel, OnColumns, Periodic
from bochner.kernels.periodic import SHORTEST
from bochner.learning.evidence.feature_evidence import FrequencySlopes
from bochner.learning.evidence.reparameterised import FACTORS, BaseDraws, ParameterisedKernel
from bochner.learning.families.composite import Composite, Family
from bochner.sampling import Scheme, resolve_scheme
from bochner.spectral import Lattice, SpectralMeasure


@dataclass(frozen=True, slots=True, eq=False)
class KernelOnColumns(Composite[Any]):
    """Family of kernels on some of ``dim`` inputs; frequencies along other inputs are zero."""

    inner: Family
    columns: tuple[int, ...]
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
        waves = f.modulation
        waves = None if waves is None else waves.mapped(np.eye(self.dim)[:, self.columns])
        return Frequencies(self._embedded(f.omega), f.weight, modulation=waves)

    def pulled_back(self, draws: object, theta: Array, slopes: FrequencySlopes) -> Array:
        inner_slopes = FrequencySlopes(slopes.omega[:, self.columns], slopes.log_weight)
        return self.inner.pulled_back(draws, theta, inner_slopes)

    def kernel(self, theta: Array) -> Kernel:
        return OnColumns(self.inner.kernel(theta), self.columns)

    def _embedded(self, omega: Array) -> Array:
        wide = np.zeros((len(omega), self.dim))
        wide[:, self.columns] = omega
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
        return Frequencies(draw.omega, part.mass / m * draw.ratio, modulation=draw.modulation)

    def frequencies(self, draws: Frequencies, theta: Array) -> Frequencies:
        return draws

    def pulled_back(self, draws: Frequencies, theta: Array, slopes: FrequencySlopes) -> Array:
        return np.zeros(0)

    def kernel(self, theta: Array) -> Kernel:
        return self.start


@dataclass(frozen=True, slots=True, eq=False)
class PeriodicScale(ParameterisedKernel[BaseDraws]):
    r"""Periodic kernels of one input: the logarithm of the length scale, relative to the start's.

    Spectral lines stay, and their weights :math:`w_k \propto e^{-r} I_k(r)`, :math:`r = \ell^{-2}`,
    change:

    .. math:: \frac{\partial \log w_k}{\partial \log \ell}
              = 2 r - r \frac{I_{k-1}(r) + I_{k+1}(r)}{I_k(r)}.

    The number of lines suffices for half the length scale of the start.
    """

    start: Periodic

    @property
    def origin(self) -> Array:
        return np.zeros(1)

    def starts(self, rng: Generator) -> Sequence[Array]:
        return [self.origin + np.log(factor) for factor in FACTORS]

    @property
    def _lines(self) -> Array:
        """The frequencies of the lines."""
        length_scale = _number(self.start.length_scale)
        half = max(0.5 * length_scale, min(length_scale, SHORTEST))
        # A search may halve the length scale without new lines.
        shorter = replace(self.start, length_scale=half)
        ((omega, _),) = shorter.lines(1)
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
        return BaseDraws(omega[part], part, 1.0 / (m * chance[part]))

    def frequencies(self, draws: BaseDraws, theta: Array) -> Frequencies:
        return Frequencies(draws.e, draws.share * self._weights(draws.part, theta))

    def pulled_back(self, draws: BaseDraws, theta: Array, slopes: FrequencySlopes) -> Array:
        rate = self._scale(theta) ** -2
        middle = ive(draws.part, rate)
        near = ive(np.abs(draws.part - 1), rate) + ive(draws.part + 1, rate)
        ratio = np.divide(near, middle, out=np.zeros_like(near), where=middle > 0.0)
        return np.array([np.sum(slopes.log_weight * rate * (2.0 - ratio))])

    def kernel(self, theta: Array) -> Periodic:
        return replace(self.start, length_scale=max(self._scale(theta), SHORTEST))

    def _scale(self, theta: Array) -> float:
        return _number(self.start.length_scale) * float(np.exp(theta[0]))

    def _weights(self, order: NDArray[np.intp], theta: Array) -> Array:
        return as_array(ive(order, self._scale(theta) ** -2) * np.where(order == 0, 1.0, 2.0))


def _number(length_scale: Any) -> float:
    (number,) = np.ravel(length_scale).tolist()
    return float(number)
