"""Priors with two learned distributions: of frequencies, and of their amplitudes."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Index, Mask
from bochner.learned.basis import TwoSpectra
from bochner.learned.frequency_priors import (
    AffineWhitening,
    Components,
    FrequencyPrior,
    Suggestion,
    Whitening,
    crank_nicolson,
)

PHASE_DEVIATION = 0.5 * float(np.pi)
r"""Standard deviation of the normal prior of phases. Only phases modulo :math:`\pi` matter, and
these are uniform to 1.5 per cent."""

# Correlations of Crank-Nicolson steps of phases; zero is an independent draw.
_PHASE_CORRELATIONS = np.array([0.0, 0.8, 0.98])
# Share of the proposals that move the amplitude of a unit, if units have both.
_AMPLITUDE_SHARE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class TwoSpectraPrior(FrequencyPrior):
    r"""Joint prior of frequencies ``s`` and of amplitudes, with parameters ``v`` and phases."""

    basis: TwoSpectra
    stationary: FrequencyPrior  # The prior of s
    envelope: FrequencyPrior  # The prior of v

    @property
    def kinds(self) -> tuple[str, ...]:
        return (*self.stationary.kinds, *(f"envelope_{kind}" for kind in self.envelope.kinds))

    @property
    def n_components(self) -> int:
        return self.stationary.n_components

    def sample(self, rng: Generator, n_frequencies: int) -> Array:
        """Return units of the basis, drawn: ``n_frequencies`` frequencies with their amplitudes."""
        s = self.stationary.sample(rng, n_frequencies)
        v = self.envelope.sample(rng, self.basis.n_amplitudes(n_frequencies))
        return self.basis.joined(s, v, self.phases(rng, len(v)))

    def phases(self, rng: Generator, size: int) -> Array:
        """Return phases (size,) drawn from their normal prior."""
        return PHASE_DEVIATION * rng.normal(size=size)

    def suggest(self, rng: Generator, omega: Array, index: Index) -> Suggestion:
        all_s, all_v, _ = self.basis.split(omega)
        share = _AMPLITUDE_SHARE if self.envelope.kinds else 0.0
        # A unit moves either its frequency or its amplitude, so that acceptance is higher.
        in_s, in_v = self.basis.moving(rng, index, share)
        proposed = omega.copy()
        s, v, phase = self.basis.split(proposed)
        log_ratio, kind = np.zeros(len(index)), np.zeros(len(index), dtype=np.intp)
        labels = np.zeros(len(index), dtype=np.intp)

        def put(places: Index, part: Suggestion, first: int) -> None:
            log_ratio[places], kind[places] = part.log_ratio, first + part.kind
            if part.labels is not None:
                labels[places] = part.labels

        if len(in_s):
            part = self.stationary.suggest(rng, all_s, index[in_s])
            s[index[in_s]] = part.omega
            put(in_s, part, 0)
        if len(in_v):
            rows = self.basis.amplitude_rows(index[in_v])
            part = self.envelope.suggest(rng, all_v, rows)
            v[rows] = part.omega
            moved = crank_nicolson(rng, phase[rows, None] / PHASE_DEVIATION, _PHASE_CORRELATIONS)
            phase[rows] = PHASE_DEVIATION * moved[:, 0]
            put(in_v, part, len(self.stationary.kinds))
        return Suggestion(proposed[index], log_ratio, kind, labels)

    def decided(self, index: Index, suggestion: Suggestion, accepted: Mask) -> Self:
        amplitude = suggestion.kind >= len(self.stationary.kinds)
        rows = self.basis.amplitude_rows(index)
        stationary = self.stationary.decided(index, suggestion, accepted & ~amplitude)
        envelope = self.envelope.decided(rows, suggestion, accepted & amplitude)
        return replace(self, stationary=stationary, envelope=envelope)

    def refresh(self, rng: Generator, omega: Array) -> Self:
        s, v, _ = self.basis.split(omega)
        stationary, envelope = self.stationary.refresh(rng, s), self.envelope.refresh(rng, v)
        return replace(self, stationary=stationary, envelope=envelope)

    def whitening(self, rng: Generator, omega: Array) -> Whitening:
        s, v, phase = self.basis.split(omega)
        parts = self.stationary.whitening(rng, s), self.envelope.whitening(rng, v)
        s_moving, v_moving = (part.moving.astype(np.float64) for part in parts)
        moving = self.basis.joined(s_moving, v_moving, np.ones(len(phase)))
        return _TwoWhitenings(self.basis, *parts, moving != 0.0)

    def components(self) -> Components | None:
        """Return the mixture of :math:`s`, or of :math:`s + v / 2` if ``v`` has a mixture, too."""
        s, v = self.stationary.components(), self.envelope.components()
        if s is None or v is None:
            return s
        d = s.means.shape[1]
        return Components(
            np.multiply.outer(s.weights, v.weights).ravel(),
            (s.means[:, None] + 0.5 * v.means).reshape(-1, d),
            (s.covariances[:, None] + 0.25 * v.covariances).reshape(-1, d, d),
        )


@dataclass(frozen=True, slots=True)
class NoEnvelope(FrequencyPrior):
    """Prior of constant amplitudes: every ``v`` is zero."""

    dim: int

    kinds: ClassVar[tuple[str, ...]] = ()

    def sample(self, rng: Generator, n_frequencies: int) -> Array:
        return np.zeros((n_frequencies, self.dim))

    def suggest(self, rng: Generator, omega: Array, index: Index) -> Suggestion:
        size = len(index)
        return Suggestion(omega[index], np.zeros(size), np.zeros(size, dtype=np.intp))

    def refresh(self, rng: Generator, omega: Array) -> Self:
        return self

    def whitening(self, rng: Generator, omega: Array) -> Whitening:
        return AffineWhitening(omega, np.ones(omega.shape), np.zeros(omega.shape, dtype=np.bool_))


@dataclass(frozen=True, slots=True, eq=False)
class _TwoWhitenings(Whitening):
    """Whitening of frequencies, amplitudes and phases, each by the prior that it has."""

    basis: TwoSpectra
    stationary: Whitening
    envelope: Whitening
    moving: Mask

    def whiten(self, omega: Array) -> Array:
        s, v, phase = self.basis.split(omega)
        parts = self.stationary.whiten(s), self.envelope.whiten(v)
        return self.basis.joined(*parts, phase / PHASE_DEVIATION)

    def colour(self, coordinates: Array) -> Array:
        s, v, phase = self.basis.split(coordinates)
        parts = self.stationary.colour(s), self.envelope.colour(v)
        return self.basis.joined(*parts, PHASE_DEVIATION * phase)

    def pull(self, gradient: Array) -> Array:
        s, v, phase = self.basis.split(gradient)
        parts = self.stationary.pull(s), self.envelope.pull(v)
        return self.basis.joined(*parts, PHASE_DEVIATION * phase)
