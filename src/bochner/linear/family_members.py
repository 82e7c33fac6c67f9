r"""Families of kernels: mapped inputs, a fixed kernel, spectral lines, harmonizable mixtures.

A component of a harmonizable mixture has the kernel :math:`K = E \circ \Re F F^*`, where :math:`E`
is the kernel of the spread and :math:`F` (n, R) are complex amplitudes times their window. Given
derivatives :math:`G` (n, n) of the evidence by values of the kernel, the evidence changes by
:math:`\Re \sum dF \circ P` with :math:`P = 2\, \overline{(G \circ E) F}`. A component needs a few
passes over all pairs of rows for any number of parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner.kernels import Bilinear, Harmonizable, Kernel, OnColumns, Periodic
from bochner.kernels.categorical import Levels
from bochner.kernels.kernel_parameters import Interval, indices_of
from bochner.kernels.stationary import SHORTEST
from bochner.linear.composite_families import Composite, Family
from bochner.linear.feature_evidence import FrequencySlopes
from bochner.linear.reparameterised import FACTORS, SPREAD, BaseDraws, ParameterisedKernel
from bochner.spectral import SpectralMeasure
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.feature_factors import separated
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.lattice_measure import Lattice
from bochner.spectral.schemes import Scheme, resolve_scheme


@dataclass(frozen=True, slots=True, eq=False)
class MappedKernel(Composite[Any]):
    """Family of kernels on some of ``dim`` inputs, or on products of the inputs with a matrix."""

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
        """Return frequencies (m, dim) of all inputs from frequencies (m, q) of the inner kernel."""
        if isinstance(self.start, Bilinear):
            return as_array(omega @ self.start.left.T)
        wide = np.zeros((len(omega), self.dim))
        wide[:, indices_of(self.start.columns, None, self.dim)] = omega
        return wide


@dataclass(frozen=True, slots=True, eq=False)
class FixedKernel(ParameterisedKernel[Frequencies]):
    """A family without parameters: one kernel with a positive measure in closed form."""

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
        # Atoms are drawn in proportion to their weights, so that all draws have equal weights and
        # do not make the weights of a product uneven.
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
    """Kernels of one input with fixed spectral lines; their weights depend on one parameter."""

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
        """The frequencies of the spectral lines."""
        # Enough lines for half the length scale, so that a search needs no new ones.
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
        # Lines with almost no initial weight are drawn too: shorter length scales need them.
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
        """Return weights of the lines with indices ``order`` at ``theta``; zero if not needed."""
        ((omega, weights),) = self.kernel(theta).lines(1)
        return np.where(order < len(omega), weights[np.minimum(order, len(omega) - 1)], 0.0)


_NAMES = ("factors", "frequencies", "centres", "inverse_widths", "spreads", "phases")
_SCALED = ("factors", "inverse_widths", "spreads")
"""Fields that are multiplied by exponentials of parameters, so that zeros stay zero."""

_SHORTER = 4.0  # Factor of the spreads at one of the starts of a search, as for length scales


@dataclass(frozen=True, slots=True, eq=False)
class HarmonizableParameters(ParameterisedKernel[Any]):
    """Harmonizable mixtures near an initial one: log ratios and shifts of its fields."""

    start: Harmonizable
    unit: Array  # (d,): Standard deviations of the columns

    is_exact = True

    @property
    def origin(self) -> Array:
        return np.zeros(sum(as_array(getattr(self.start, name)).size for name in _NAMES))

    def starts(self, rng: Generator) -> Sequence[Array]:
        # The evidence may have a maximum for functions that vary from row to row, and another one
        # for smoother functions.
        sizes = [as_array(getattr(self.start, name)).size for name in _NAMES]
        is_spread = np.repeat([name == "spreads" for name in _NAMES], sizes)
        shorter = self.origin + np.log(_SHORTER) * is_spread
        return [self.origin, shorter, self.origin + SPREAD * rng.standard_normal(len(is_spread))]

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> Any:
        return m, seed, scheme

    def frequencies(self, draws: Any, theta: Array) -> Frequencies:
        return spectral_measure(self.kernel(theta), self.start.dim).sample(*draws)

    def pulled_back(self, draws: object, theta: Array, slopes: FrequencySlopes) -> Array:
        raise NotImplementedError("Windows have no derivatives by frequencies; use gram_slopes.")

    def kernel(self, theta: Array) -> Harmonizable:
        return Harmonizable(**self._fields(theta))

    def gram_slopes(self, theta: Array, X: Array, by_gram: Array) -> Array:
        fields = self._fields(theta)
        slopes = {name: np.zeros_like(value) for name, value in fields.items()}
        for q in range(len(fields["factors"])):
            component = {name: value[q] for name, value in fields.items()}
            for name, value in _component_slopes(component, X, by_gram).items():
                slopes[name][q] = value
        slopes["frequencies"] *= self._shifts["frequencies"]
        slopes["centres"] *= self._shifts["centres"]
        return np.concatenate([slopes[name].ravel() for name in _NAMES])

    @property
    def _shifts(self) -> dict[str, Array]:
        """Scales of additive parameters by field: bandwidths of frequencies, widths of windows."""
        spread, inverse = as_array(self.start.spreads), as_array(self.start.inverse_widths)
        width = np.where(inverse > 0.0, 1.0 / np.where(inverse > 0.0, inverse, 1.0), self.unit)
        bandwidth = np.maximum(spread, np.maximum(inverse, 1.0 / self.unit))
        return {"frequencies": bandwidth[:, None], "centres": width, "phases": np.ones(1)}

    def _fields(self, theta: Array) -> dict[str, Array]:
        fields, end = {}, 0
        for name in _NAMES:
            value = as_array(getattr(self.start, name))
            part = theta[end : end + value.size].reshape(value.shape)
            end += value.size
            if name in _SCALED:
                fields[name] = value * np.exp(part)
            else:
                fields[name] = value + part * self._shifts[name]
        return fields


def _component_slopes(component: dict[str, Array], X: Array, by_gram: Array) -> dict[str, Array]:
    """Return derivatives by the fields of a component; those in ``_SCALED`` by their logarithms."""
    away = X - component["centres"]
    inverse, spread = component["inverse_widths"] ** 2, component["spreads"] ** 2
    window = np.exp(-0.25 * (away**2 @ inverse))
    waves = window[:, None] * np.exp(1j * (away @ component["frequencies"].T))
    turned = component["factors"] * np.exp(1j * component["phases"])
    F = waves @ turned.T
    weighted = by_gram * np.exp(-0.5 * _square_lags(X, spread))
    P = 2.0 * (weighted @ F).conj()
    pairs = weighted * (F @ F.conj().T).real
    by_window = np.sum(F * P, axis=1).real
    by_wave = waves * (P @ turned)
    by_turned = turned * (P.T @ waves)
    along = by_wave.imag.T @ away
    centred = X - X.mean(axis=0)
    # Sums of squared lags by matrix products, without an array (n, n, d).
    lags = 2.0 * (pairs.sum(axis=1) @ centred**2 - np.sum(centred * (pairs @ centred), axis=0))
    return {
        "factors": by_turned.real,
        "phases": -by_turned.imag,
        "frequencies": -along,
        "centres": by_wave.imag.sum(axis=0) @ component["frequencies"]
        + 0.5 * (by_window @ away) * inverse,
        "inverse_widths": -0.5 * (by_window @ away**2) * inverse,
        "spreads": -spread * lags,
    }


def _square_lags(X: Array, precision: Array) -> Array:
    scaled = (X - X.mean(axis=0)) * np.sqrt(precision)
    norms = np.sum(scaled**2, axis=1)
    return as_array(np.maximum(norms[:, None] + norms - 2.0 * scaled @ scaled.T, 0.0))
