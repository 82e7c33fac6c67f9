"""Spectral measures: finite measures over frequencies, with their algebra."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.frequencies import Frequencies
from bochner.sampling import Scheme, resolve_scheme
from bochner.spectral.laws import Convolution, Law


@dataclass(frozen=True, slots=True)
class Part:
    """A probability law over frequencies and the mass it carries."""

    mass: float
    law: Law


@dataclass(frozen=True, slots=True)
class SpectralMeasure:
    r"""A measure :math:`\mu` whose transform is a kernel.

    .. math:: k(\Delta) = \int \exp(i\, \omega \cdot \Delta)\, \mu(d\omega)

    without a :math:`2\pi` in the exponent. Sums of measures are written ``+`` (masses add),
    products of kernels ``*`` (masses multiply, frequencies add), scalings ``2.0 * mu``.

    Parameters
    ----------
    parts : tuple of Part
        The measure is their sum.
    """

    parts: tuple[Part, ...]

    @property
    def dim(self) -> int:
        """Number of inputs, ``d``."""
        return self.parts[0].law.dim

    @property
    def mass(self) -> float:
        r"""The total mass, :math:`\mu(R^d) = k(0)`."""
        return float(sum(part.mass for part in self.parts))

    @property
    def total_variation(self) -> float:
        r"""The total variation :math:`\|\mu\|`; equal to the mass for a positive measure."""
        return float(sum(abs(part.mass) for part in self.parts))

    @property
    def max_error(self) -> float:
        """Bound on the kernel's distance from this measure's transform: zero, a closed form."""
        return 0.0

    def sample(
        self,
        n_frequencies: int,
        rng: np.random.Generator | int | None = None,
        scheme: str | Scheme = "orthogonal",
    ) -> Frequencies:
        r"""Draw frequencies whose finite sum is an unbiased estimate of the kernel.

        Each part receives a fixed number of frequencies, half of them by equal shares and half
        in proportion to its mass, with equal weights that sum to its mass: no part starves,
        and, up to the rounding of counts, the variance is at most twice that of shares in
        proportion to mass. With fewer than two frequencies a part, parts are drawn at random
        in proportion to their mass instead.

        Parameters
        ----------
        n_frequencies : int
            ``m``; the features are ``2m`` real columns.
        rng : numpy.random.Generator, int or None, default=None
        scheme : {"iid", "orthogonal", "qmc", "structured"} or Scheme, default="orthogonal"

        Returns
        -------
        frequencies : Frequencies
            With :math:`\hat k(0) = k(0)` exactly.

        Examples
        --------
        >>> from bochner import kernels, spectral_measure
        >>> mu = spectral_measure(kernels.Gaussian(0.5) + 2.0 * kernels.Matern(), dim=3)
        >>> mu.sample(64, rng=0).weight.sum().round(12)
        np.float64(3.0)
        """
        m = _as_count(n_frequencies)
        scheme = resolve_scheme(scheme)
        rng = np.random.default_rng(rng)
        mass = np.array([part.mass for part in self.parts])
        counts, weights = _allocate(mass, m, rng)
        streams = rng.spawn(len(self.parts))
        drawn = [
            part.law.sample(count, stream, scheme)
            for part, count, stream in zip(self.parts, counts.tolist(), streams, strict=True)
            if count
        ]
        return Frequencies(np.concatenate(drawn), np.repeat(weights, counts))

    def __add__(self, other: Any) -> "SpectralMeasure":
        if not isinstance(other, SpectralMeasure):
            return NotImplemented
        return SpectralMeasure((*self.parts, *other.parts))

    def __mul__(self, other: Any) -> "SpectralMeasure":
        if isinstance(other, SpectralMeasure):
            return SpectralMeasure(
                tuple(
                    Part(a.mass * b.mass, Convolution((*_laws(a.law), *_laws(b.law))))
                    for a in self.parts
                    for b in other.parts
                )
            )
        if isinstance(other, Real):
            return SpectralMeasure(
                tuple(Part(float(other) * part.mass, part.law) for part in self.parts)
            )
        return NotImplemented

    __rmul__ = __mul__


def _laws(law: Law) -> tuple[Law, ...]:
    return law.laws if isinstance(law, Convolution) else (law,)


def _as_count(n_frequencies: Any) -> int:
    if isinstance(n_frequencies, bool) or not isinstance(n_frequencies, Integral):
        raise TypeError(f"n_frequencies must be a positive integer, got {n_frequencies!r}.")
    if n_frequencies < 1:
        raise ValueError(f"n_frequencies must be at least 1, got {n_frequencies}.")
    return int(n_frequencies)


def _allocate(mass: Array, m: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], Array]:
    """Return the number of frequencies of each part, and the weight each of them carries."""
    variation = np.abs(mass)
    share = variation / variation.sum()
    if m < 2 * len(mass):
        counts = rng.multinomial(m, share) if len(mass) > 1 else np.array([m])
        return counts, np.sign(mass) * variation.sum() / m
    expected = m * (0.5 / len(mass) + 0.5 * share)
    counts = np.floor(expected).astype(np.intp)
    largest = np.argsort(counts - expected, kind="stable")
    counts[largest[: m - counts.sum()]] += 1
    return counts, mass / counts
