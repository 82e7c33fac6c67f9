"""Numerical measures of stationary kernels in up to three inputs: atoms on a lattice."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bochner._base.arrays import Array, as_array, frozen_array
from bochner._base.warn import warn_user
from bochner.spectral.feature_factors import CosineFactors
from bochner.spectral.lattice_series import LagFunction, Series, lattice_series
from bochner.spectral.laws import Draw, Law
from bochner.spectral.measure import ByMass, HalfByMass, Part, SpectralMeasure
from bochner.spectral.schemes import Scheme, Uniforms

LARGEST_DIM = 3  # 128 nodes per input make 2 million; 4 inputs, 268 million
# Largest number of atoms for which a product of lattices is merged into one lattice.
_MOST_PRODUCTS = 4096
_ROUGH = 0.01  # relative error above which a warning is due


@dataclass(frozen=True, slots=True, eq=False)
class Lattice(Law):
    """Finitely many frequencies (n_atoms, d), each with a probability and a phase (n_atoms,).

    With at least as many draws as atoms, every atom has its weight in the measure. Otherwise each
    draw maps one uniform variable through the inverse of the cumulative probabilities. ``aliasing``
    and ``truncation`` bound the errors of grid and omitted coefficients, ``amplitude`` the square
    of the ``factor`` of every cosine.
    """

    omega: Array
    probability: Array
    phase: Array
    aliasing: float = 0.0
    truncation: float = 0.0
    factor: CosineFactors | None = None
    amplitude: float = 1.0

    is_even = False  # contains one frequency of every pair of opposite ones

    def __post_init__(self) -> None:
        omega = frozen_array("omega", self.omega, None)
        if omega.ndim != 2 or not omega.size:
            raise ValueError(f"omega must have shape (n_atoms, d), got {omega.shape}.")
        probability = frozen_array("probability", self.probability, (len(omega),))
        total = float(probability.sum())
        if probability.min() < 0.0 or abs(total - 1.0) > 1e-9:
            raise ValueError(
                f"probability must be nonnegative and sum to one; the least is "
                f"{probability.min():.3g}, the sum {total:.12g}."
            )
        object.__setattr__(self, "omega", omega)
        object.__setattr__(self, "probability", probability)
        object.__setattr__(self, "phase", frozen_array("phase", self.phase, (len(omega),)))

    @property
    def dim(self) -> int:  # type: ignore[override]
        return int(self.omega.shape[1])

    @property
    def at_zero(self) -> float:
        r"""Kernel value at zero: mean of :math:`\cos\theta` times squared factors at the origin."""
        values = np.cos(self.phase)
        if self.factor is not None:
            values *= np.cos(self.factor.phase) ** 2
        return float(self.probability @ values)

    @property
    def is_positive(self) -> bool:
        """Whether all phases are zero."""
        return not self.phase.any()

    @property
    def n_atoms(self) -> int:
        return len(self.omega)

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        """Return ``m`` frequencies of shape (m, d) with their phases."""
        if m >= self.n_atoms:
            counts = ByMass().counts(self.probability, m)
            atoms = np.repeat(np.arange(self.n_atoms), counts)
            return self._drawn(atoms, m * self.probability / counts)
        return self._drawn(self._atoms(self.probability, m, rng, scheme), np.ones(self.n_atoms))

    def draw_factor(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        """Return ``m`` draws for a factor of a product, at least a quarter of varying cosines."""
        constant = self._is_constant
        mass = np.array([self.probability[kind].sum() for kind in (constant, ~constant)])
        allocation = HalfByMass()
        if not mass[0] > mass[1] > 0.0 or m < allocation.least(mass):
            atoms = self._atoms(self.probability, m, rng, scheme)
            return self._drawn(atoms, np.ones(self.n_atoms))
        counts, (weight, other_weight) = allocation.share(mass, m, rng)
        n_constant, n_others = counts.tolist()
        others = self._atoms(np.where(constant, 0.0, self.probability), n_others, rng, scheme)
        atoms = np.append(np.repeat(np.argmax(constant), n_constant), others)
        return self._drawn(atoms, as_array(m * np.where(constant, weight, other_weight)))

    @property
    def _is_constant(self) -> NDArray[np.bool_]:
        """Mask (n_atoms,) of atoms whose cosine is constant."""
        if self.factor is not None:
            return np.zeros(self.n_atoms, dtype=np.bool_)
        moves: NDArray[np.bool_] = self.omega.any(axis=1) | (self.phase != 0.0)
        return ~moves

    def _drawn(self, atoms: NDArray[np.intp], ratio: Array) -> Draw:
        every = Draw(self.omega, ratio, self.phase, factor=self.factor)
        return every.rearranged(atoms)

    def mapped(self, left: Array, right: Array) -> Law | None:
        """Return the lattice of mapped inputs, or ``None`` if the two maps differ."""
        if not np.array_equal(left, right):
            return None
        waves = None if self.factor is None else self.factor.mapped(left)
        return replace(self, omega=self.omega @ left.T, factor=waves)

    def convolved(self, other: Law) -> Law | None:
        """Return the lattice of a product of cosines, ``None`` if it has too many atoms."""
        if not isinstance(other, Lattice) or (self.factor and other.factor):
            return None
        moves = other.omega.any(axis=1) | (other.phase != 0.0)
        turned = np.concatenate([np.arange(other.n_atoms), np.flatnonzero(moves)])
        if self.n_atoms * len(turned) > _MOST_PRODUCTS:
            return None
        i = np.repeat(np.arange(self.n_atoms), len(turned))
        j = np.tile(turned, self.n_atoms)
        sign = np.tile(np.where(np.arange(len(turned)) < other.n_atoms, 1.0, -1.0), self.n_atoms)
        share = np.where(moves, 0.5, 1.0)
        waves = self.factor or other.factor
        if waves is not None:
            atoms = i if self.factor else j
            waves = waves.rearranged(atoms)
        return Lattice(
            self.omega[i] + sign[:, None] * other.omega[j],
            self.probability[i] * (share * other.probability)[j],
            self.phase[i] + sign * other.phase[j],
            factor=waves,
            amplitude=self.amplitude * other.amplitude,
        )

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        """Return the laws of the positive, negative and imaginary parts, with the mass of each."""
        if self.is_positive:
            return ((1.0, self),)
        real, imaginary = self.probability * np.cos(self.phase), np.sin(self.phase)
        quarter, zero = np.copysign(0.5 * np.pi, imaginary), np.zeros(len(real))
        parts = (
            (1.0, np.maximum(real, 0.0), zero),
            (-1.0, np.maximum(-real, 0.0), zero),
            (1.0, self.probability * np.abs(imaginary), quarter),
        )
        return tuple(
            (sign * float(mass.sum()), self._over(mass, phase))
            for sign, mass, phase in parts
            if mass.any()
        )

    def _over(self, mass: Array, phase: Array) -> "Lattice":
        some = mass > 0.0
        probability = mass[some] / mass.sum()
        return Lattice(self.omega[some], probability, phase[some], self.aliasing, self.truncation)

    def _atoms(
        self, probability: Array, m: int, rng: np.random.Generator, scheme: Scheme
    ) -> NDArray[np.intp]:
        """Return the indices of ``m`` atoms drawn in proportion to ``probability`` (n_atoms,)."""
        (uniforms,) = scheme.sample((Uniforms(1),), m, rng)
        cumulative = np.cumsum(probability)
        # Kept below the total, so that rounding never selects a final atom of zero probability.
        target = np.minimum(
            np.asarray(uniforms)[:, 0] * cumulative[-1], np.nextafter(cumulative[-1], 0.0)
        )
        atoms: NDArray[np.intp] = np.searchsorted(cumulative, target, side="right")
        return atoms


def lattice_measure(
    function: LagFunction,
    dim: int,
    reach: ArrayLike | None = None,
    *,
    symmetric: bool = False,
    tol: float = 1e-4,
) -> SpectralMeasure:
    r"""Return the measure of a function of the lag, computed by a Fourier series on a box.

    On a box of half-width :math:`R_i` along input ``i``,

    .. math:: k(\Delta) = \sum_n c_n \exp(i\, \omega_n \cdot \Delta), \qquad
              \omega_{n,i} = \frac{\pi n_i}{R_i}, \qquad
              c_n = \prod_i \frac{1}{2 R_i} \int k(\Delta) \exp(-i\, \omega_n \cdot \Delta)\,
              d\Delta.

    As ``k`` is real, a pair ``n, -n`` is one atom of mass :math:`2 |c_n|` and phase
    :math:`\arg c_n`. Beyond the lags of the data ``k`` is tapered smoothly to zero.

    ``function`` maps lags (n, dim) to real, finite values (n,); ``dim`` is 1 to 3. ``reach``, one
    number or one per input, is the greatest :math:`|\Delta_i|` that matters; ``None`` means as far
    as ``k`` exceeds ``tol`` times its greatest value. A ``symmetric`` function has a real measure.
    ``tol`` bounds the relative sum of the sizes of omitted coefficients. Raises ``TypeError`` or
    ``ValueError`` for a function that is complex, not finite, zero, or does not fall off.
    """
    lengths = None
    if reach is not None:
        # An input in which no rows differ may have any box.
        lengths = np.broadcast_to(as_array(reach), (dim,))
        lengths = np.where(lengths > 0.0, lengths, lengths.max() or 1.0)
    series = lattice_series(function, dim, lengths, tol, symmetric)
    if series.max_error > _ROUGH * series.peak:
        warn_user(
            f"The Fourier series may be off by {series.max_error:.3g} within reach, where the "
            f"function's greatest value is {series.peak:.3g}; the greatest measured error is "
            f"{series.checked:.3g}. Jumps and kinks of the function are the usual cause; data that "
            f"reach less far, or weights='least_squares', may help."
        )
    omega, coefficient = _half(series)
    size, phase = np.abs(coefficient), np.angle(coefficient)
    if symmetric:
        negative = coefficient.real < 0.0
        groups = [(1.0, ~negative), (-1.0, negative)]
        phase = np.zeros(len(phase))
    else:
        groups = [(1.0, np.ones(len(size), dtype=bool))]
    errors = series.aliasing, series.truncation
    parts = []
    for sign, group in groups:
        mass = float(size[group].sum())
        if mass > 0.0:
            law = Lattice(omega[group], size[group] / mass, phase[group], *errors)
            parts.append(Part(sign * mass, law))
    return SpectralMeasure(tuple(parts), max_error=series.max_error)


def _half(series: Series) -> tuple[Array, NDArray[np.complex128]]:
    """Keep one of each pair of opposite atoms, with twice its coefficient, in Hilbert order."""
    shape = series.coefficients.shape
    flat = series.coefficients.ravel()
    # An atom and its opposite are mirror images in the middle of the array.
    (atoms,) = np.nonzero(flat[len(flat) // 2 :])
    atoms = atoms + len(flat) // 2
    index: NDArray[np.int64] = np.stack(np.unravel_index(atoms, shape), axis=1).astype(np.int64)
    order = hilbert_order(index)
    atoms, index = atoms[order], index[order]
    twice = np.where(atoms == len(flat) // 2, 1.0, 2.0)
    return (index - np.array(shape) // 2) * series.spacing, twice * flat[atoms]


def hilbert_order(index: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the order (n,) of lattice points on a Hilbert curve (Skilling, 2004)."""
    axes, dim = index.T.copy(), index.shape[1]
    bits = max(int(index.max(initial=0)).bit_length(), 1)
    for bit in range(bits - 1, 0, -1):
        low = (1 << bit) - 1
        for axis in range(dim):
            upper = (axes[axis] >> bit) & 1 == 1
            swap = np.where(upper, 0, (axes[0] ^ axes[axis]) & low)
            axes[0] ^= np.where(upper, low, swap)
            axes[axis] ^= swap
    for axis in range(1, dim):
        axes[axis] ^= axes[axis - 1]
    flip = np.zeros_like(axes[0])
    for bit in range(bits - 1, 0, -1):
        flip ^= np.where((axes[-1] >> bit) & 1 == 1, (1 << bit) - 1, 0)
    axes ^= flip
    place = np.zeros_like(flip)
    for bit in range(bits - 1, -1, -1):
        for axis in range(dim):
            place = (place << 1) | ((axes[axis] >> bit) & 1)
    return np.argsort(place, kind="stable")
