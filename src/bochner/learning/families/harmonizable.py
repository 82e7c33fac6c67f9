r"""Harmonizable mixtures whose parameters the exact evidence chooses, and its slopes by them.

With a component's kernel :math:`K = E \circ \Re F F^*`, where :math:`E` is that of the spread and
:math:`F` (n, R) are complex amplitudes with their window, and slopes :math:`G` (n, n) by the values
of the kernel, the evidence changes by :math:`\Re \sum dF \circ P` with
:math:`P = 2\, \overline{(G \circ E) F}`. Each component takes a few passes over all pairs of rows,
however many parameters it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array, as_array
from bochner.frequencies import Frequencies
from bochner.kernels import Harmonizable
from bochner.learning.evidence.feature_evidence import FrequencySlopes
from bochner.learning.evidence.reparameterised import SPREAD, ParameterisedKernel
from bochner.sampling import Scheme
from bochner.spectral import spectral_measure

_NAMES = ("factors", "frequencies", "centres", "inverse_widths", "spreads", "phases")
_SCALED = ("factors", "inverse_widths", "spreads")
"""Fields that parameters multiply by their exponentials, so that zeros stay; others are shifted."""

_SHORTER = 4.0
"""Factor of the spreads of another start, as of length scales."""


@dataclass(frozen=True, slots=True, eq=False)
class HarmonizableParameters(ParameterisedKernel[Any]):
    """Mixtures about one: logarithms of ratios, and shifts in units of the start's scales."""

    start: Harmonizable
    unit: Array  # (d,): Deviations of the rows

    is_exact = True

    @property
    def origin(self) -> Array:
        return np.zeros(sum(as_array(getattr(self.start, name)).size for name in _NAMES))

    def starts(self, rng: Generator) -> Sequence[Array]:
        # The evidence has a maximum for functions that vary from row to row, and one for others.
        sizes = [as_array(getattr(self.start, name)).size for name in _NAMES]
        is_spread = np.repeat([name == "spreads" for name in _NAMES], sizes)
        shorter = self.origin + np.log(_SHORTER) * is_spread
        return [self.origin, shorter, self.origin + SPREAD * rng.standard_normal(len(is_spread))]

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> Any:
        return m, seed, scheme

    def frequencies(self, draws: Any, theta: Array) -> Frequencies:
        return spectral_measure(self.kernel(theta), self.start.dim).sample(*draws)

    def pulled_back(self, draws: Any, theta: Array, slopes: FrequencySlopes) -> Array:
        raise NotImplementedError("Windows have no slopes by frequencies; use gram_slopes.")

    def kernel(self, theta: Array) -> Harmonizable:
        return Harmonizable(**self._fields(theta))

    def gram_slopes(self, theta: Array, X: Array, by_gram: Array) -> Array:
        fields = self._fields(theta)
        slopes = {name: np.zeros_like(value) for name, value in fields.items()}
        for q in range(len(fields["factors"])):
            own = {name: value[q] for name, value in fields.items()}
            for name, value in _component_slopes(own, X, by_gram).items():
                slopes[name][q] = value
        slopes["frequencies"] *= self._shifts["frequencies"]
        slopes["centres"] *= self._shifts["centres"]
        return np.concatenate([slopes[name].ravel() for name in _NAMES])

    @property
    def _shifts(self) -> dict[str, Array]:
        """Units of parameters that shift: bandwidths, and widths of windows or of the rows."""
        spread, inverse = as_array(self.start.spreads), as_array(self.start.inverse_widths)
        width = np.where(inverse > 0.0, 1.0 / np.where(inverse > 0.0, inverse, 1.0), self.unit)
        bandwidth = np.maximum(spread, np.maximum(inverse, 1.0 / self.unit))
        return {"frequencies": bandwidth[:, None], "centres": width, "phases": np.ones(1)}

    def _fields(self, theta: Array) -> dict[str, Array]:
        made, end = {}, 0
        for name in _NAMES:
            value = as_array(getattr(self.start, name))
            part = theta[end : end + value.size].reshape(value.shape)
            end += value.size
            if name in _SCALED:
                made[name] = value * np.exp(part)
            else:
                made[name] = value + part * self._shifts[name]
        return made


def _component_slopes(own: dict[str, Array], X: Array, by_gram: Array) -> dict[str, Array]:
    """Return derivatives by the fields of one component; by logarithms for ``_SCALED`` fields."""
    away = X - own["centres"]
    inverse, spread = own["inverse_widths"] ** 2, own["spreads"] ** 2
    window = np.exp(-0.25 * (away**2 @ inverse))
    waves = window[:, None] * np.exp(1j * (away @ own["frequencies"].T))
    turned = own["factors"] * np.exp(1j * own["phases"])
    F = waves @ turned.T
    weighted = by_gram * np.exp(-0.5 * _square_lags(X, spread))
    P = 2.0 * (weighted @ F).conj()
    pairs = weighted * (F @ F.conj().T).real
    by_window = np.sum(F * P, axis=1).real
    by_wave = waves * (P @ turned)
    by_turned = turned * (P.T @ waves)
    along = by_wave.imag.T @ away
    centred = X - X.mean(axis=0)
    lags = 2.0 * (pairs.sum(axis=1) @ centred**2 - np.sum(centred * (pairs @ centred), axis=0))
    return {
        "factors": by_turned.real,
        "phases": -by_turned.imag,
        "frequencies": -along,
        "centres": by_wave.imag.sum(axis=0) @ own["frequencies"]
        + 0.5 * (by_window @ away) * inverse,
        "inverse_widths": -0.5 * (by_window @ away**2) * inverse,
        "spreads": -spread * lags,
    }


def _square_lags(X: Array, precision: Array) -> Array:
    scaled = (X - X.mean(axis=0)) * np.sqrt(precision)
    norms = np.sum(scaled**2, axis=1)
    return as_array(np.maximum(norms[:, None] + norms - 2.0 * scaled @ scaled.T, 0.0))
