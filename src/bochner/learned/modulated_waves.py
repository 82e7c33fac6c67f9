r"""Waves whose amplitudes may vary with the inputs, and their features.

A wave is a pair of features, :math:`a(x) \cos(s \cdot x)` and :math:`a(x) \sin(s \cdot x)`. Its
amplitude is one, a cosine or a window.

A cosine, :math:`a(x) = \sqrt 2 \cos(v \cdot x / 2 + \psi)`, gives a wave of frequency ``s`` the
kernel

.. math:: a(x) a(y) \cos(s \cdot \delta) = [\cos(v \cdot u + 2 \psi) + \cos(v \cdot \delta / 2)]
          \cos(s \cdot \delta), \quad u = \tfrac12 (x + y),\ \delta = x - y,

a locally stationary kernel (Silverman, 1957) plus a stationary one, which makes the sum positive
definite. A window,

.. math:: a(x) = r \exp\Big(-\frac{1}{2 \ell^2} \sum_{i : c_i \ne 0} (x_i - c_i)^2\Big),

gives it a harmonizable kernel, :math:`\iint e^{i (\omega \cdot x - \nu \cdot y)}\, g(\omega - s)\,
\overline{g(\nu - s)}\, d\omega\, d\nu` with the transform ``g`` of the window, so that all pairs
of frequencies near ``s`` are correlated.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, Floats, Index, as_array
from bochner.spectral.feature_factors import Amplitudes, CosineFactors
from bochner.spectral.wave_formulas import MemoryLayout, angle_gradient, wave_features

_ROOT_TWO = float(np.sqrt(2.0))
"""Factor of cosines: their mean square over all phases is one."""

MEDIAN_WIDTH = 0.5
"""Prior median of widths of windows, in standard deviations: a seventh of a uniform range."""

WIDTH_RATE = 0.8
r"""Change of a log width per unit of the number that sets it, whose prior is normal with deviation
:math:`\pi / 2`. Two deviations reach from a 25th of a standard deviation of the inputs, which is
the distance of five rows out of a hundred, to six standard deviations."""

_RANGE = float(2.0 * np.sqrt(3.0))
"""Range of uniform inputs in standard deviations: the mean square of a window over it is one."""


@dataclass(frozen=True, slots=True, eq=False)
class WaveSum:
    r"""A weighted sum of waves times Gaussian windows, some of which are constant.

    .. math:: \Re \sum_j w_j \exp\Big(i\, \omega_j \cdot x
              - \frac12 \sum_i t_{ji} (x_i - c_{ji})^2\Big)
    """

    omega: Array  # (N, d)
    weight: NDArray[np.complex128]  # (N,)
    centre: Array | None = None  # (N, d)
    decay: Array | None = None  # (N, d): t, zero along inputs without a window

    def factors(
        self, X: Array, i: int, which: Index | slice = slice(None)
    ) -> NDArray[np.complex128]:
        """Return the factors (n, N) of input ``i`` in all or some terms, at rows (n, d)."""
        x = X[:, i, None]
        exponent = 1j * x * self.omega[which, i]
        if self.centre is not None and self.decay is not None:
            exponent = exponent - 0.5 * self.decay[which, i] * (x - self.centre[which, i]) ** 2
        return np.asarray(np.exp(exponent))

    def terms(
        self, X: Array, which: Index | slice = slice(None), without: int | None = None
    ) -> NDArray[np.complex128]:
        """Return all or some terms (n, N) at rows (n, d), possibly ``without`` one input."""
        omega = self.omega[which].copy()
        if without is not None:
            omega[:, without] = 0.0
        exponent = 1j * (X @ omega.T)
        if self.centre is not None and self.decay is not None:
            each = zip(X.T, self.centre[which].T, self.decay[which].T, strict=True)
            for number, (x, centre, decay) in enumerate(each):
                if number != without:
                    exponent = exponent - 0.5 * decay * (x[:, None] - centre) ** 2
        return np.asarray(np.exp(exponent))

    def second_derivatives(self, X: Array) -> Array:
        """Return the second derivatives (n, d, d) at rows (n, d)."""
        value = self.terms(X) * self.weight
        if self.centre is None or self.decay is None:
            return as_array(-np.matmul(self.omega.T, value.real[:, :, None] * self.omega))
        # f'' = f (l' l'^T + l'') with l = log f, where l'' is diagonal.
        slope = 1j * self.omega - self.decay * (X[:, None, :] - self.centre)
        second = np.matmul(slope.transpose(0, 2, 1), value[:, :, None] * slope).real
        diagonal = np.arange(X.shape[1])
        second[:, diagonal, diagonal] -= value.real @ self.decay
        return as_array(second)


class WaveAmplitudes(ABC):
    """Amplitudes of M waves in two parameter arrays; a zero row in the first is amplitude one."""

    __slots__ = ()

    @property
    @abstractmethod
    def varying(self) -> Index:
        """Indices of the amplitudes that vary."""

    @abstractmethod
    def values(self, inputs: Floats, which: Index) -> Floats:
        """Return varying amplitudes ``which`` (k, n) at inputs (d, n), in the type of inputs."""

    @abstractmethod
    def none_by_numbers(self) -> tuple[Array, Array]:
        """Return zeros of the shapes of the two parameter arrays, to be filled with derivatives."""

    @abstractmethod
    def gradient(self, inputs: Floats, which: Index, along: Floats) -> tuple[Array, Array]:
        """Return a function's derivatives by the two parameter arrays of amplitudes ``which``.

        ``along`` (k, n) are its derivatives by the values of these amplitudes.
        """

    @abstractmethod
    def summed(self, omega: Array, weight: NDArray[np.complex128]) -> WaveSum:
        """Return the sum of waves of frequencies (M, d) with these amplitudes and weights (M,)."""

    @abstractmethod
    def in_units(
        self, origin: Array, unit: Array, weight: Array
    ) -> tuple[Array, CosineFactors | Amplitudes]:
        """Return weights (M,) and amplitude factors as functions of unscaled inputs.

        Amplitudes are functions of ``(x - origin) / unit``, both (d,). ``weight`` (M,) are the
        weights of waves whose amplitudes have a mean square of one.
        """


@dataclass(frozen=True, slots=True, eq=False)
class CosineAmplitudes(WaveAmplitudes):
    """Cosine amplitudes; an amplitude is one if its ``v`` is zero."""

    v: Array  # (M, d): Twice their frequencies
    phase: Array  # (M,): psi

    @property
    def varying(self) -> Index:
        return np.flatnonzero(self.v.any(axis=1))

    def values(self, inputs: Floats, which: Index) -> Floats:
        return self._waves(inputs, which)[:, 0]

    def _waves(self, inputs: Floats, which: Index) -> Floats:
        """Return root two times cosines and sines (k, 2, n) of the amplitudes' angles."""
        angles = wave_features(
            inputs,
            0.5 * self.v[which],
            MemoryLayout.BY_WAVE,
            phase=self.phase[which],
            amplitude=_ROOT_TWO,
        )
        return MemoryLayout.BY_WAVE.pairs(angles)

    def none_by_numbers(self) -> tuple[Array, Array]:
        return np.zeros(self.v.shape), np.zeros(len(self.v))

    def gradient(self, inputs: Floats, which: Index, by_angle: Floats) -> tuple[Array, Array]:
        by_angle = -by_angle * self._waves(inputs, which)[:, 1]
        return as_array(0.5 * (by_angle @ inputs.T)), as_array(by_angle.sum(axis=1))

    def summed(self, omega: Array, weight: NDArray[np.complex128]) -> WaveSum:
        which = self.varying
        if not len(which):
            return WaveSum(omega, weight)
        plain = np.setdiff1d(np.arange(len(omega)), which)
        parts = [(omega[plain], weight[plain])]
        for sign in (1.0, -1.0):
            # cos(a) exp(ib) = (exp(i(b + a)) + exp(i(b - a))) / 2
            half = 0.5 * _ROOT_TWO * np.exp(1j * sign * self.phase[which])
            parts.append((omega[which] + 0.5 * sign * self.v[which], half * weight[which]))
        frequencies, weights = zip(*parts, strict=True)
        return WaveSum(np.concatenate(frequencies), np.concatenate(weights))

    def in_units(self, origin: Array, unit: Array, weight: Array) -> tuple[Array, CosineFactors]:
        v = self.v / unit
        # Scaled inputs are centred: the phase at the origin of unscaled inputs differs.
        phase = np.where(self.v.any(axis=1), self.phase - 0.5 * v @ origin, 0.0)
        weight = weight.copy()
        weight[self.varying] *= 2.0  # Amplitudes are root two times the factors
        return weight, CosineFactors(v, phase)


@dataclass(frozen=True, slots=True, eq=False)
class WindowAmplitudes(WaveAmplitudes):
    """Gaussian windows along some inputs as amplitudes; an amplitude without window is one."""

    centre: Array  # (M, d): Zero along inputs without a window
    number: Array  # (M,): The width is MEDIAN_WIDTH exp(WIDTH_RATE number)

    @property
    def varying(self) -> Index:
        return np.flatnonzero(self.centre.any(axis=1))

    @property
    def width(self) -> Array:
        """Widths (M,) of the windows, in standard deviations of the inputs."""
        return as_array(MEDIAN_WIDTH * np.exp(WIDTH_RATE * self.number))

    @property
    def decay(self) -> Array:
        """Inverse squares (M, d) of widths, zero along inputs without a window."""
        return as_array((self.centre != 0.0) / self.width[:, None] ** 2)

    @property
    def height(self) -> Array:
        """Largest values (M,) of the windows, whose mean square over the range of inputs is one."""
        count = np.count_nonzero(self.centre, axis=1)
        return as_array(np.maximum(_RANGE / (np.sqrt(np.pi) * self.width), 1.0) ** (0.5 * count))

    def values(self, inputs: Floats, which: Index) -> Floats:
        heights = self.height[which, None] * np.exp(-0.5 * self._squares(inputs, which))
        values: Floats = heights.astype(inputs.dtype, copy=False)
        return values

    def _squares(self, inputs: Floats, which: Index) -> Array:
        """Return squared distances (k, n) of inputs from centres, in widths, in float64."""
        total = np.zeros((len(which), inputs.shape[1]))
        for x, centre, decay in zip(inputs, self.centre[which].T, self.decay[which].T, strict=True):
            total += decay[:, None] * (x - centre[:, None]) ** 2
        return total

    def none_by_numbers(self) -> tuple[Array, Array]:
        return np.zeros(self.centre.shape), np.zeros(len(self.centre))

    def gradient(self, inputs: Floats, which: Index, along: Floats) -> tuple[Array, Array]:
        along = along * self.values(inputs, which)
        centre, decay = self.centre[which], self.decay[which]
        by_centre = decay * (along @ inputs.T - along.sum(axis=1)[:, None] * centre)
        # The height is proportional to 1 / sqrt(width) for each input until it reaches one.
        falls = self.height[which] > 1.0
        count = np.count_nonzero(centre, axis=1) * falls
        by_log = np.sum(along * (self._squares(inputs, which) - 0.5 * count[:, None]), axis=1)
        return as_array(by_centre), as_array(WIDTH_RATE * by_log)

    def summed(self, omega: Array, weight: NDArray[np.complex128]) -> WaveSum:
        return WaveSum(omega, self.height * weight, self.centre, self.decay)

    def in_units(self, origin: Array, unit: Array, weight: Array) -> tuple[Array, Amplitudes]:
        root = np.sqrt(2.0 * self.decay)  # The exponent has a quarter of its square
        m, d = root.shape
        window = root[:, :, None] * np.eye(d) / unit[:, None]
        centre = root * (self.centre + origin / unit)
        ones, none = np.ones((m, 1)), np.zeros((m, 1))
        numbers = np.arange(m, dtype=np.float64)
        factors = Amplitudes(numbers, window, centre, np.zeros((m, 1, d)), ones, none)
        return weight * self.height**2, factors


_LAYOUT = MemoryLayout.BY_WAVE


@dataclass(frozen=True, slots=True, eq=False)
class WaveFeatures:
    """Features of M waves with amplitudes, which are all one if ``amplitudes`` is ``None``."""

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
        """Return the function with the weights ``coef`` (2M,) of features times ``scale``."""
        # The real part of a - ib times exp(i angle) is a cos + b sin.
        weight = (scale * (coef[0::2] - 1j * coef[1::2])).astype(np.complex128)
        if self.amplitudes is None:
            return WaveSum(self.omega, weight)
        return self.amplitudes.summed(self.omega, weight)

    def gradient(self, inputs: Floats, Z: Floats, slope: Floats, scale: float) -> tuple[Array, ...]:
        """Return a function's derivatives by frequencies and by parameters of varying amplitudes.

        ``slope`` (2M, n) are its derivatives by the features ``Z`` (2M, n), which have the factor
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
