r"""Harmonizable mixtures with parameters chosen by the exact evidence, and derivatives by them.

The kernel of a component is :math:`K = E \circ \Re F F^*`, where :math:`E` is the kernel of the
spread and :math:`F` (n, R) are complex amplitudes times their window. Given derivatives :math:`G`
(n, n) of the evidence by values of the kernel, the evidence changes by
:math:`\Re \sum dF \circ P` with :math:`P = 2\, \overline{(G \circ E) F}`. A component needs a few
passes over all pairs of rows for any number of parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, as_array
from bochner.kernels import Harmonizable
from bochner.linear.feature_evidence import FrequencySlopes
from bochner.linear.reparameterised import SPREAD, ParameterisedKernel
from bochner.spectral import spectral_measure
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.schemes import Scheme

_NAMES = ("factors", "frequencies", "centres", "inverse_widths", "spreads", "phases")
_SCALED = ("factors", "inverse_widths", "spreads")
"""Fields that are multiplied by exponentials of parameters, so that zeros stay zero. Parameters are
added to other fields."""

_SHORTER = 4.0
"""Factor of the spreads at one of the starts, as for length scales."""


@dataclass(frozen=True, slots=True, eq=False)
class HarmonizableParameters(ParameterisedKernel[Any]):
    """Mixtures around a start; parameters are log ratios, and shifts in units of its scales."""

    start: Harmonizable
    unit: Array  # (d,): Deviations of the rows

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
        """Units of additive parameters: bandwidths, and widths of windows or of the rows."""
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
    """Return derivatives by the fields of one component; by logarithms for ``_SCALED`` fields."""
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
    # Sums of squared lags, without an array of all pairs per input.
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
