r"""Waves whose amplitudes may vary, and their features.

A wave is a pair of features, :math:`a(x) \cos(s \cdot x)` and :math:`a(x) \sin(s \cdot x)`, with
the kernel :math:`a(x) a(y) \cos(s \cdot \delta)`, :math:`\delta = x - y`. Its amplitude is one, or
varies as :mod:`bochner.learned.wave_amplitudes` says.
"""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, Floats, Index, as_array
from bochner.learned.wave_amplitudes import WaveAmplitudes, WaveSum
from bochner.spectral.wave_formulas import MemoryLayout, angle_gradient, wave_features

_LAYOUT = MemoryLayout.BY_WAVE


@dataclass(frozen=True, slots=True, eq=False)
class WaveFeatures:
    """M waves with amplitudes; without ``amplitudes`` all amplitudes are one."""

    omega: Array  # (M, d)
    amplitudes: WaveAmplitudes | None = None

    def __len__(self) -> int:
        return len(self.omega)

    @property
    def modulated(self) -> Index:
        """Indices of waves with a varying amplitude."""
        if self.amplitudes is None:
            return np.empty(0, dtype=np.intp)
        return self.amplitudes.varying

    def features(self, inputs: Floats, scale: float, out: Floats | None = None) -> Floats:
        """Return cosines and sines of each wave in turn (2M, n), times ``scale``, in C order."""
        out = wave_features(inputs, self.omega, _LAYOUT, amplitude=scale, out=out)
        modulated = self.modulated
        if self.amplitudes is not None and len(modulated):
            pairs = _LAYOUT.pairs(out)
            amplitude = self.amplitudes.values(inputs, modulated)[:, None]
            if len(modulated) == len(self):
                pairs *= amplitude
            else:
                pairs[modulated] *= amplitude
        return out

    def variance(self, inputs: Array) -> Array:
        """Return the mean square of the amplitudes at inputs (d, n), of shape (n,)."""
        which = self.modulated
        if self.amplitudes is None or not len(which):
            return np.ones(inputs.shape[1])
        squares: Array = np.sum(self.amplitudes.values(inputs, which) ** 2, axis=0)
        return (squares + (len(self) - len(which))) / len(self)

    def summed(self, coef: Array, scale: float) -> WaveSum:
        """Return the function with weights ``coef`` (2M,) of the features with factor ``scale``."""
        # The real part of a - ib times exp(i angle) is a cos + b sin.
        weight = (scale * (coef[0::2] - 1j * coef[1::2])).astype(np.complex128)
        if self.amplitudes is None:
            return WaveSum(self.omega, weight)
        return self.amplitudes.summed(self.omega, weight)

    def gradient(self, inputs: Floats, Z: Floats, slope: Floats, scale: float) -> tuple[Array, ...]:
        """Return derivatives by frequencies and, if there are amplitudes, by their numbers.

        ``slope`` (2M, n) are the derivatives by the features ``Z`` (2M, n), which have the factor
        ``scale``, at inputs (d, n).
        """
        pairs = _LAYOUT.pairs(slope)
        by_omega = as_array(angle_gradient(_LAYOUT.pairs(Z), pairs) @ inputs.T)
        if self.amplitudes is None:
            return (by_omega,)
        which = self.modulated
        parts = self.amplitudes.none_by_numbers()
        if len(which):
            plain = wave_features(inputs, self.omega[which], _LAYOUT, amplitude=scale)
            along = np.einsum("kin,kin->kn", _LAYOUT.pairs(plain), pairs[which])
            by_numbers = self.amplitudes.gradient(inputs, which, along)
            for part, values in zip(parts, by_numbers, strict=True):
                part[which] = values
        return by_omega, *parts
