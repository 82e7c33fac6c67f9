r"""Waves whose amplitudes may vary, and their features.

A wave is a pair of features, :math:`a(x) \cos(s \cdot x)` and :math:`a(x) \sin(s \cdot x)`. Its
amplitude is one, or itself a wave, :math:`a(x) = \sqrt 2 \cos(v \cdot x / 2 + \psi)`: then the
kernel of the two features is

.. math:: a(x) a(y) \cos(s \cdot \delta) = [\cos(v \cdot u + 2 \psi) + \cos(v \cdot \delta / 2)]
          \cos(s \cdot \delta), \quad u = \tfrac12 (x + y),\ \delta = x - y,

a locally stationary kernel (Silverman, 1957) plus a stationary one, which makes the sum positive
definite.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.frequencies.waves import Layout, angle_gradient, wave_features

_MODULATED = float(np.sqrt(2.0))
"""Amplitude of an amplitude that varies: its mean square over all phases is one."""

_LAYOUT = Layout.BY_WAVE

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """M waves; the amplitude of one whose row of ``v`` is zero, and of all without it, is one."""

    omega: Array  # (M, d)
    v: Array | None = None  # (M, d): Twice the frequencies of the amplitudes
    phase: Array | None = None  # (M,): psi

    def __len__(self) -> int:
        return len(self.omega)

    @property
    def modulated(self) -> Index:
        """Which waves have an amplitude that varies."""
        if self.v is None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.v.any(axis=1))

    def features(
        self, inputs: NDArray[Any], scale: float, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return cosines and sines of each wave in turn (2M, n), times ``scale``, in C order."""
        out = wave_features(inputs, self.omega, _LAYOUT, amplitude=scale, out=out)
        modulated = self.modulated
        if len(modulated):
            pairs = _LAYOUT.pairs(out)
            amplitude = self.amplitude_waves(inputs, modulated)[:, :1]
            if len(modulated) == len(self):
                pairs *= amplitude
            else:
                pairs[modulated] *= amplitude
        return out

    def amplitude_waves(self, inputs: NDArray[Any], modulated: Index) -> NDArray[Any]:
        r"""Return :math:`\sqrt 2` times cosines and sines of amplitudes' angles, (k, 2, n)."""
        v, phase = self.v, self.phase
        if v is None or phase is None:
            raise ValueError("These waves have constant amplitudes.")
        angles = wave_features(
            inputs, 0.5 * v[modulated], _LAYOUT, phase=phase[modulated], amplitude=_MODULATED
        )
        return _LAYOUT.pairs(angles)

    def variance(self, inputs: Array) -> Array:
        """Return the mean square of the amplitudes at inputs (d, n), of shape (n,)."""
        which = self.modulated
        if not len(which):
            return np.ones(inputs.shape[1])
        squares: Array = np.sum(self.amplitude_waves(inputs, which)[:, 0] ** 2, axis=0)
        return (squares + (len(self) - len(which))) / len(self)

    def summed(self, coef: Array, scale: float) -> "tuple[Array, Array, Array]":
        """Return frequencies (N, d), weights of cosines (N,) and of sines (N,) of a function.

        It has weights ``coef`` (2M,) on the features, whose common factor is ``scale``.
        """
        cosines, sines = scale * coef[0::2], scale * coef[1::2]
        if self.v is None or self.phase is None:
            return self.omega, cosines, sines
        which = self.modulated
        plain = np.setdiff1d(np.arange(len(self)), which)
        parts = [(self.omega[plain], cosines[plain], sines[plain])]
        for sign in (1.0, -1.0):
            # A product of two waves is half the sum of those of the sum and of the difference.
            omega = self.omega[which] + 0.5 * sign * self.v[which]
            half = 0.5 * _MODULATED * np.exp(-1j * sign * self.phase[which])
            turned = half * (cosines[which] + 1j * sines[which])
            parts.append((omega, turned.real, turned.imag))
        omega, cosines, sines = (np.concatenate(part) for part in zip(*parts, strict=True))
        return omega, cosines, sines

    def gradient(
        self, inputs: NDArray[Any], Z: NDArray[Any], slope: NDArray[Any], scale: float
    ) -> tuple[Array, ...]:
        """Return derivatives by frequencies and, if there are any, by ``v`` and phases.

        Those by the features ``Z`` (2M, n) at inputs (d, n), of factor ``scale``, are ``slope``.
        """
        pairs = _LAYOUT.pairs(slope)
        by_omega = angle_gradient(_LAYOUT.pairs(Z), pairs) @ inputs.T
        if self.v is None or self.phase is None:
            return (by_omega,)
        by_v, by_phase = np.zeros(self.v.shape), np.zeros(len(self))
        which = self.modulated
        if len(which):
            plain = wave_features(inputs, self.omega[which], _LAYOUT, amplitude=scale)
            along = np.einsum("kin,kin->kn", _LAYOUT.pairs(plain), pairs[which])
            along *= -self.amplitude_waves(inputs, which)[:, 1]
            by_v[which] = 0.5 * (along @ inputs.T)
            by_phase[which] = along.sum(axis=1)
        return by_omega, by_v, by_phase
