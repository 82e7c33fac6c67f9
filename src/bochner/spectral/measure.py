"""Spectral measures: finite measures over frequencies, with their algebra."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from operator import add

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array, as_count
from bochner.spectral.composite_laws import Convolution, Mapped
from bochner.spectral.feature_factors import Envelope, FeatureFactor, multiplied
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import Law, NoMeasureError
from bochner.spectral.schemes import Scheme, resolve_scheme

Counts = NDArray[np.intp]


class Allocation(ABC):
    """A rule that divides a number of frequencies among the parts of a measure."""

    __slots__ = ()

    @abstractmethod
    def counts(self, mass: Array, m: int) -> Counts:
        """Return how many of ``m`` frequencies each part gets, at least one, by its mass."""

    def share(
        self, mass: Array, m: int, rng: np.random.Generator, most: Counts | None = None
    ) -> tuple[Counts, Array]:
        """Return the number of frequencies of each part, and the weight of one frequency."""
        if m < self.least(mass):
            counts = rng.multinomial(m, _proportions(mass))
            return counts, np.sign(mass) * np.abs(mass).sum() / m
        counts = self.counts(mass, m)
        if most is not None:
            counts = self._capped(counts, mass, most)
        return counts, mass / counts

    def _capped(self, counts: Counts, mass: Array, most: Counts) -> Counts:
        """Limit the counts to ``most``, and distribute the excess over the remaining parts."""
        full = counts >= most
        n_left = int(counts.sum() - most[full].sum())
        if not (counts > most).any() or full.all() or n_left < self.least(mass[~full]):
            return counts
        counts = np.where(full, most, counts)
        free_counts = self.counts(mass[~full], n_left)
        counts[~full] = self._capped(free_counts, mass[~full], most[~full])
        return counts

    def least(self, mass: Array) -> int:
        """Return the least number of frequencies that `counts` divides without random draws."""
        return len(mass)


@dataclass(frozen=True, slots=True)
class HalfByMass(Allocation):
    """Divide half of the frequencies equally, and half in proportion to mass."""

    def counts(self, mass: Array, m: int) -> Counts:
        return _rounded(m * (0.5 / len(mass) + 0.5 * _proportions(mass)), m)

    def least(self, mass: Array) -> int:
        return 2 * len(mass) if len(mass) > 1 else 1


@dataclass(frozen=True, slots=True)
class ByMass(Allocation):
    """Divide frequencies in proportion to mass, with at least one for each part."""

    def counts(self, mass: Array, m: int) -> Counts:
        return 1 + _rounded((m - len(mass)) * _proportions(mass), m - len(mass))


@dataclass(frozen=True, slots=True)
class ByVariance(Allocation):
    """Divide orthogonal blocks in proportion to mass times a frequency's standard deviation."""

    single: tuple[float, ...]
    blocked: tuple[float, ...]
    block: int

    def counts(self, mass: Array, m: int) -> Counts:
        """Divide blocks in proportion, the rest where it lowers the variance most; or equally."""
        equal = _rounded(np.full(len(mass), m / len(mass)), m)
        proportional = self._proportional(mass, m)
        better = self.variances(mass, equal).sum() < self.variances(mass, proportional).sum()
        return equal if better else proportional

    def _proportional(self, mass: Array, m: int) -> Counts:
        spread = np.abs(mass) * np.sqrt(np.array(self.blocked))
        total = spread.sum()
        free = m - len(mass)
        share = free * spread / total if total > 0.0 else np.zeros(len(mass))
        counts = 1 + np.maximum(np.floor((share + 1.0) / self.block) * self.block - 1.0, 0.0)
        counts = counts.astype(np.intp)
        left = m - int(counts.sum())
        while left > 0:
            step = np.minimum(self.block - counts % self.block, left)
            gain = (self.variances(mass, counts) - self.variances(mass, counts + step)) / step
            best = int(np.argmax(gain))
            counts[best] += step[best]
            left -= int(step[best])
        return counts

    def variances(self, mass: Array, counts: Counts) -> Array:
        r"""Return the kernel variance due to each part, including incomplete blocks."""
        single = np.array(self.single)
        covariance = (np.array(self.blocked) - single) / max(self.block - 1, 1)
        n_blocks, n_last = np.divmod(counts, self.block)
        total = n_blocks * self.block * (single + (self.block - 1) * covariance)
        total = total + n_last * (single + np.maximum(n_last - 1, 0) * covariance)
        return as_array(np.maximum(mass**2 * total / counts**2, 0.0))


def _proportions(mass: Array) -> Array:
    """Return the share of each part in the total variation; uniform if the total is zero."""
    variation = np.abs(mass)
    total = variation.sum()
    return variation / total if total > 0.0 else np.full(len(mass), 1.0 / len(mass))


def _rounded(expected: Array, m: int) -> Counts:
    """Return the whole numbers nearest to ``expected`` that sum to ``m``."""
    counts = np.floor(expected).astype(np.intp)
    largest = np.argsort(counts - expected, kind="stable")
    counts[largest[: m - counts.sum()]] += 1
    return counts


_HALF_BY_MASS = HalfByMass()


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a measure: a probability law with its signed mass and feature envelope.

    ``mass`` has either sign; with phases it is the total variation. ``envelope`` has the rate and
    radius of an :class:`~bochner.spectral.Envelope`; radius zero means none. ``enveloped`` is the
    factor of ``law`` whose mapped inputs the envelope takes; ``None`` means ``law``.
    """

    mass: float
    law: Law
    envelope: tuple[float, float] = (0.0, 0.0)
    enveloped: Law | None = None

    def with_law(self, change: Callable[[Law], Law]) -> "Part":
        """Return the part with ``change`` applied to its law."""
        inner = None if self.enveloped is None else change(self.enveloped)
        return replace(self, law=change(self.law), enveloped=inner)

    @property
    def maps(self) -> tuple[Array, Array] | tuple[()]:
        """The linear maps applied to inputs before the envelope; empty if there are none."""
        law = self.law if self.enveloped is None else self.enveloped
        return (law.left, law.right) if isinstance(law, Mapped) else ()


@dataclass(frozen=True, slots=True)
class SpectralMeasure:
    r"""A finite measure :math:`\mu` over frequencies whose Fourier transform is a kernel.

    .. math:: k(\Delta) = \int \exp(i\, \omega \cdot \Delta)\, \mu(d\omega)

    without a :math:`2\pi` in the exponent. Sums of measures are written ``+`` (masses add),
    products of kernels ``*`` (masses multiply, frequencies add), scalings ``2.0 * mu``. The
    masses of parts may be negative: the measure is signed then, and its kernel may be indefinite.
    The laws of parts may carry phases: the measure is complex then, and its kernel asymmetric.

    Parameters
    ----------
    parts : tuple of Part
        The measure is their sum.
    max_error : float, default=0.0
        Bound on the difference between the kernel and the transform of the measure, at the
        distances for which the measure was designed; zero for a closed form.
    allocation : Allocation, default=HalfByMass()
        How the parts share frequencies.
    predicted_error : float, default=None
        Root mean square error of the sampled kernel over pairs of distinct rows, relative to the
        kernel's root mean square over them, for the number of frequencies of the design; ``None``
        if it is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import kernels, spectral_measure
    >>> measure = spectral_measure(kernels.Gaussian(1.0), dim=2)
    >>> frequencies = measure.sample(500, np.random.default_rng(0))
    >>> frequencies.omega.shape, f"{frequencies.gram([[0.0, 0.0]], [[1.0, 0.0]])[0, 0]:.1f}"
    ((500, 2), '0.6')
    """

    parts: tuple[Part, ...]
    max_error: float = 0.0
    allocation: Allocation = _HALF_BY_MASS
    predicted_error: float | None = None

    @property
    def dim(self) -> int:
        """Number of inputs ``d`` of the left argument."""
        return self.parts[0].law.dim

    @property
    def mass(self) -> float:
        r"""The total mass, :math:`\mu(R^d) = k(0)`.

        For a locally stationary kernel, this is its value at the centre.
        """
        return float(sum(part.mass * part.law.at_zero for part in self.parts))

    @property
    def total_variation(self) -> float:
        r"""The total variation :math:`\|\mu\|`; equal to the mass for a positive measure.

        The mass of a part whose features have factors is multiplied by the greatest square of these
        factors on the inputs of the measure. No kernel value exceeds the result on these inputs.
        """
        return float(sum(abs(part.mass) * part.law.amplitude for part in self.parts))

    @property
    def is_positive(self) -> bool:
        """Whether no part has negative mass or phases, so that the kernel is positive definite."""
        return all(part.mass >= 0.0 and part.law.is_positive for part in self.parts)

    @property
    def is_two_sided(self) -> bool:
        """Whether some part has different frequencies for the two arguments."""
        return any(part.law.is_two_sided for part in self.parts)

    def sample(
        self,
        n_frequencies: int,
        rng: np.random.Generator | int | None = None,
        scheme: str | Scheme = "orthogonal",
        *,
        symmetric: bool = False,
    ) -> Frequencies:
        r"""Draw frequencies whose finite sum is an unbiased estimate of the kernel.

        Each part receives a fixed number of frequencies, given by ``allocation``, with equal
        weights that sum to its mass.

        Parameters
        ----------
        n_frequencies : int
            ``m``; the features are ``2m`` real columns.
        rng : numpy.random.Generator, int or None, default=None
        scheme : {"orthogonal", "energy", "lattice", "iid", "structured"} or Scheme
            ``"orthogonal"`` by default.
        symmetric : bool, default=False
            Whether the kernel is symmetric, and its left and right features shall be equal. Each
            frequency of a two-sided part counts as two then, and ``n_frequencies`` must be even.

        Examples
        --------
        >>> from bochner import kernels, spectral_measure
        >>> mu = spectral_measure(kernels.Gaussian(0.5) + 2.0 * kernels.Matern(), dim=3)
        >>> mu.sample(64, rng=0).weight.sum().round(12)
        np.float64(3.0)
        """
        parts = self.sample_parts(n_frequencies, rng, scheme, symmetric=symmetric)
        if symmetric:
            parts = [part.one_sided() for part in parts]
        return reduce(add, parts)

    def sample_parts(
        self,
        n_frequencies: int,
        rng: np.random.Generator | int | None = None,
        scheme: str | Scheme = "orthogonal",
        *,
        symmetric: bool = False,
    ) -> list[Frequencies]:
        """Draw frequencies as :meth:`sample`, but return one ``Frequencies`` for each part drawn.

        With ``symmetric``, parts with two sides have half as many, which ``one_sided`` doubles.
        """
        m = as_count("n_frequencies", n_frequencies)
        halved = symmetric and self.is_two_sided
        if halved and m % 2:
            raise ValueError(
                f"n_components must be a multiple of 4 for this kernel: each pair of frequencies "
                f"that is drawn makes two cosines and two sines, so that the estimate is "
                f"symmetric; got {2 * m}. Use {2 * m + 2}."
            )
        if halved:
            m //= 2
        scheme = resolve_scheme(scheme)
        rng = np.random.default_rng(rng)
        if len(self.parts) == 1:  # A single part takes all frequencies
            counts, weights = np.array([m]), np.array([self.parts[0].mass / m])
        else:
            counts, weights = self._shares(m, rng)
        streams = rng.spawn(len(self.parts))
        shares = zip(self.parts, counts.tolist(), weights.tolist(), streams, strict=True)
        drawn = []
        for part, count, weight, stream in shares:
            if count and halved and not part.law.is_two_sided:
                drawn.append(_drawn(part, 2 * count, 0.5 * weight, stream, scheme))
            elif count:
                drawn.append(_drawn(part, count, weight, stream, scheme))
        return drawn

    def _shares(self, m: int, rng: np.random.Generator) -> tuple[Counts, Array]:
        """Return each part's number of frequencies, and the weight of one of its frequencies."""
        amplitude = np.array([part.law.amplitude for part in self.parts])
        mass = np.array([part.mass for part in self.parts]) * amplitude
        most = np.array([part.law.n_atoms or m for part in self.parts])
        counts, weights = self.allocation.share(mass, m, rng, most)
        return counts, np.broadcast_to(weights, mass.shape) / amplitude

    def jordan(self) -> "SpectralMeasure":
        """Return the measure with each part that has phases split into its Jordan parts."""
        split = [
            replace(part, mass=part.mass * share, law=law)
            for part in self.parts
            for share, law in part.law.jordan()
        ]
        if len(split) == len(self.parts):
            return self
        return replace(self, parts=tuple(split), allocation=ByMass())

    def mapped(self, left: Array, right: Array) -> "SpectralMeasure":
        """Return the measure of ``k(x left, y right)``; see :class:`Mapped`."""
        return self._with_laws(lambda law: law.mapped(left, right) or Mapped(law, left, right))

    def _with_laws(self, change: Callable[[Law], Law]) -> "SpectralMeasure":
        return replace(self, parts=tuple(part.with_law(change) for part in self.parts))

    def __add__(self, other: object) -> "SpectralMeasure":
        if not isinstance(other, SpectralMeasure):
            return NotImplemented
        parts = reduce(_joined, other.parts, self.parts)
        return SpectralMeasure(parts, self.max_error + other.max_error, _allocation(parts))

    def __mul__(self, other: object) -> "SpectralMeasure":
        if isinstance(other, SpectralMeasure):
            return self._convolved(other)
        if isinstance(other, Real):
            factor = float(other)
            parts = tuple(replace(part, mass=factor * part.mass) for part in self.parts)
            return replace(self, parts=parts, max_error=abs(factor) * self.max_error)
        return NotImplemented

    __rmul__ = __mul__

    def _convolved(self, other: "SpectralMeasure") -> "SpectralMeasure":
        # |k l - k' l'| <= |l| |k - k'| + |k'| |l - l'|; total variations bound |k'| and |l|.
        error = self.total_variation * other.max_error
        error += (other.total_variation + other.max_error) * self.max_error
        parts = tuple(
            Part(a.mass * b.mass, _convolved(a.law, b.law), *_envelope(a, b))
            for a in self.parts
            for b in other.parts
        )
        return SpectralMeasure(parts, error, _allocation(parts))


def _allocation(parts: tuple[Part, ...]) -> Allocation:
    """Return the allocation rule for the parts of a measure."""
    return ByMass() if any(part.law.is_jordan for part in parts) else _HALF_BY_MASS


def _drawn(
    part: Part, count: int, weight: float, rng: np.random.Generator, scheme: Scheme
) -> Frequencies:
    draw = part.law.draw(count, rng, scheme)
    factor: FeatureFactor | None = draw.factor
    rate, radius = part.envelope
    if radius:
        envelope = Envelope(np.full(count, rate), np.full(count, radius), *part.maps)
        factor = multiplied(envelope, draw.factor)
    return Frequencies(draw.omega, weight * draw.ratio, draw.phase, draw.nu, factor)


def _joined(parts: tuple[Part, ...], new: Part) -> tuple[Part, ...]:
    """Append a part to ``parts``, or merge it with one of them if their laws can be joined."""
    for index, part in enumerate(parts):
        if part.envelope == new.envelope:
            sums = part.law.joined(part.mass, new.law, new.mass)
            if sums is not None:
                made = (replace(part, mass=mass, law=law) for mass, law in sums)
                return (*parts[:index], *made, *parts[index + 1 :])
    return (*parts, new)


def _envelope(a: Part, b: Part) -> tuple[tuple[float, float], Law | None]:
    """Return the envelope of a product of two parts, and the law whose inputs it takes."""
    (rate, radius), (other_rate, other_radius) = a.envelope, b.envelope
    enveloped_part = a if radius else b
    same = len(a.maps) == len(b.maps) and all(map(np.array_equal, a.maps, b.maps))
    if radius and other_radius and (radius != other_radius or not same):
        raise NoMeasureError(
            f"Envelopes of radii {radius:.6g} and {other_radius:.6g} have no product of the same "
            f"form, nor have those of different columns; write the product of the kernels as one "
            f"function in DotProduct, or use weights='least_squares'."
        )
    law = None if not (radius or other_radius) else enveloped_part.enveloped or enveloped_part.law
    return (rate + other_rate, radius or other_radius), law


def _convolved(first: Law, second: Law) -> Law:
    """Return the law of the sum of independent frequencies, merging laws where possible."""
    *earlier, last = _laws(first)
    made = last.convolved(second)
    laws = (*earlier, last, *_laws(second)) if made is None else (*earlier, made)
    return laws[0] if len(laws) == 1 else Convolution(laws)


def _laws(law: Law) -> tuple[Law, ...]:
    return law.laws if isinstance(law, Convolution) else (law,)
