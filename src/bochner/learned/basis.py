"""Maps from the array of unknowns that a chain samples to waves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Index
from bochner._base.registry import register
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
