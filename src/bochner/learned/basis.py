"""Maps from the array of unknowns that a chain samples to waves, of one or two spectra."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Index, Mask
from bochner._base.registry import register
from bochner.learned.frequency_priors import (
    AffineWhitening,
    Components,
    FrequencyPrior,
    Suggestion,
    Whitening,
    crank_nicolson,
)
from bochner.learned.modulated_waves import CosineAmplitudes, WaveFeatures, WindowAmplitudes


class Basis(ABC):
    """Map from an array of unknowns (k, D), whose rows are called units, to waves."""

    __slots__ = ()

    @abstractmethod
    def waves(self, omega: Array) -> WaveFeatures:
        """Return the waves that the units ``omega`` (k, D) make."""

    def n_waves(self, n_units: int) -> int:
        """Return the number of waves of ``n_units`` units; one each, unless overridden."""
        return n_units

    def groups(self, n_units: int) -> tuple[Index, ...]:
        """Return groups of units: units of one group share no wave and have equally many waves."""
        return (np.arange(n_units),)

    def touched(self, index: Index, n_units: int) -> Index:
        """Return the indices (B, w) of the ``w`` waves of each unit of one group."""
        return index[:, None]

    def proposed(self, omega: Array, index: Index, values: Array) -> WaveFeatures:
        """Return the waves of units ``index`` (B,) of one group at proposed values (B, D)."""
        return self.waves(values)

    @abstractmethod
    def pull(self, gradient: tuple[Array, ...], n_units: int) -> Array:
        """Return the gradient (k, D) for the units, given the gradient for their waves."""


@register
@dataclass(frozen=True, slots=True)
class Plain(Basis):
    """Basis in which each unit is the frequency of one wave of constant amplitude."""

    def waves(self, omega: Array) -> WaveFeatures:
        return WaveFeatures(omega)

    def pull(self, gradient: tuple[Array, ...], n_units: int) -> Array:
        return gradient[0]


class TwoSpectra(Basis):
    r"""Base of bases with frequencies ``s`` and amplitude parameters :math:`(v, \psi)`."""

    __slots__ = ()

    @abstractmethod
    def split(self, omega: Array) -> tuple[Array, Array, Array]:
        r"""Return views of the units: frequencies ``s`` (m1, d), ``v`` (m2, d), phases (m2,)."""

    @abstractmethod
    def joined(self, s: Array, v: Array, phase: Array) -> Array:
        """Return the array of units; the inverse of :meth:`split`."""

    @abstractmethod
    def moving(self, rng: Generator, index: Index, share: float) -> tuple[Index, Index]:
        """Return positions in ``index`` of units to move in frequency, and of those in amplitude.

        ``share`` is the probability that the amplitude moves if units have both.
        """

    @abstractmethod
    def amplitude_rows(self, index: Index) -> Index:
        """Return the indices of the amplitudes of the units ``index``."""

    @abstractmethod
    def n_amplitudes(self, n_frequencies: int) -> int:
        """Return the number of amplitudes for ``n_frequencies`` frequencies."""


class OneToOne(TwoSpectra):
    r"""Basis in which each unit is one frequency with one amplitude, :math:`(s, v, \psi)`."""

    __slots__ = ()

    def split(self, omega: Array) -> tuple[Array, Array, Array]:
        d = omega.shape[1] // 2
        return omega[:, :d], omega[:, d : 2 * d], omega[:, 2 * d]

    def joined(self, s: Array, v: Array, phase: Array) -> Array:
        return np.concatenate([s, v, phase[:, None]], axis=1)

    def moving(self, rng: Generator, index: Index, share: float) -> tuple[Index, Index]:
        if not share:
            return np.arange(len(index)), np.empty(0, dtype=np.intp)
        amplitude = rng.random(len(index)) < share
        return np.flatnonzero(~amplitude), np.flatnonzero(amplitude)

    def amplitude_rows(self, index: Index) -> Index:
        return index

    def n_amplitudes(self, n_frequencies: int) -> int:
        return n_frequencies

    def pull(self, gradient: tuple[Array, ...], n_units: int) -> Array:
        return self.joined(*gradient)


@register
@dataclass(frozen=True, slots=True)
class Matched(OneToOne):
    """Basis of one cosine amplitude per frequency."""

    def waves(self, omega: Array) -> WaveFeatures:
        s, v, phase = self.split(omega)
        return WaveFeatures(s, CosineAmplitudes(v, phase))


@register
@dataclass(frozen=True, slots=True)
class Windows(OneToOne):
    r"""Basis of one window per frequency, with centres ``v`` and widths set by :math:`\psi`."""

    def waves(self, omega: Array) -> WaveFeatures:
        s, centre, number = self.split(omega)
        return WaveFeatures(s, WindowAmplitudes(centre, number))


@register
@dataclass(frozen=True, slots=True)
class Grid(TwoSpectra):
    r"""Basis of all pairs of a frequency and an amplitude; equation (6) of GaBaSR.

    Units are ``m1`` rows :math:`(s, 0)`, then rows :math:`(v, \psi)`; the wave of the ``n``-th
    frequency and the ``k``-th amplitude has the index :math:`k m_1 + n`.
    """

    n_stationary: int  # m1 and m2
    n_envelope: int
    # Whether waves have the frequencies s + v / 2 and constant amplitudes, as in the paper. Because
    # its weights are independent, the kernel of the paper is stationary
    is_summed: bool = False

    def split(self, omega: Array) -> tuple[Array, Array, Array]:
        m1 = self.n_stationary
        return omega[:m1, :-1], omega[m1:, :-1], omega[m1:, -1]

    def joined(self, s: Array, v: Array, phase: Array) -> Array:
        frequencies = np.column_stack([s, np.zeros(len(s))])
        return np.concatenate([frequencies, np.column_stack([v, phase])])

    def moving(self, rng: Generator, index: Index, share: float) -> tuple[Index, Index]:
        amplitude = index >= self.n_stationary
        return np.flatnonzero(~amplitude), np.flatnonzero(amplitude)

    def amplitude_rows(self, index: Index) -> Index:
        return index - self.n_stationary

    def n_amplitudes(self, n_frequencies: int) -> int:
        return self.n_envelope

    def waves(self, omega: Array) -> WaveFeatures:
        return self._combined(*self.split(omega))

    def n_waves(self, n_units: int) -> int:
        return self.n_stationary * self.n_envelope

    def groups(self, n_units: int) -> tuple[Index, ...]:
        return np.arange(self.n_stationary), np.arange(self.n_stationary, n_units)

    def touched(self, index: Index, n_units: int) -> Index:
        m1 = self.n_stationary
        if index[0] < m1:
            return index[:, None] + m1 * np.arange(self.n_envelope)
        return m1 * (index[:, None] - m1) + np.arange(m1)

    def proposed(self, omega: Array, index: Index, values: Array) -> WaveFeatures:
        s, v, phase = self.split(omega)
        if index[0] >= self.n_stationary:
            return self._combined(s, values[:, :-1], values[:, -1])
        # Waves are sorted by proposed frequency, and each frequency has all amplitudes.
        size, frequencies = len(values), np.repeat(values[:, :-1], self.n_envelope, axis=0)
        return self._paired(frequencies, np.tile(v, (size, 1)), np.tile(phase, size))

    def pull(self, gradient: tuple[Array, ...], n_units: int) -> Array:
        m1, m2 = self.n_stationary, self.n_envelope
        by_omega = gradient[0].reshape(m2, m1, -1)
        by_s, by_v, by_phase = by_omega.sum(axis=0), 0.5 * by_omega.sum(axis=1), np.zeros(m2)
        if not self.is_summed:
            by_v = gradient[1].reshape(m2, m1, -1).sum(axis=1)
            by_phase = gradient[2].reshape(m2, m1).sum(axis=1)
        return self.joined(by_s, by_v, by_phase)

    def _combined(self, s: Array, v: Array, phase: Array) -> WaveFeatures:
        """Return the waves of all pairs of frequencies and amplitudes, sorted by amplitude."""
        times = len(s)
        return self._paired(
            np.tile(s, (len(v), 1)), np.repeat(v, times, axis=0), np.repeat(phase, times)
        )

    def _paired(self, s: Array, v: Array, phase: Array) -> WaveFeatures:
        return (
            WaveFeatures(s + 0.5 * v)
            if self.is_summed
            else WaveFeatures(s, CosineAmplitudes(v, phase))
        )


PLAIN = Plain()


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
