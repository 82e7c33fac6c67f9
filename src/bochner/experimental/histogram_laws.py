r"""Measures of kernels of histograms and sets.

Additive kernels have spectra in closed form along the logarithm of each column: with
:math:`K(\delta) = \int e^{i \lambda \delta} \rho(\lambda) d\lambda`,

.. math:: \sum_i \sqrt{x_i y_i}\, K(\log x_i - \log y_i)
          = \sum_i \int x_i^{1/2 + i \lambda}\, \overline{y_i^{1/2 + i \lambda}}\,
          \rho(\lambda) d\lambda.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, InputRows, as_array
from bochner.experimental.histogram_carriers import Hashes, Powers
from bochner.experimental.histogram_kernels import (
    Additive,
    ChiSquared,
    Intersection,
    JensenShannon,
    Tanimoto,
)
from bochner.learning.families.composite import Family
from bochner.learning.families.kernel_families import family_of
from bochner.registry import register
from bochner.sampling import Iid, Scheme, Uniforms
from bochner.spectral.laws import Draw, Law
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.radial import RadialLaw
from bochner.spectral.tabulated import Tabulated

_EQUAL_SHARE = 0.1
"""Share of the frequencies that is divided equally over columns, so that columns that are zero in
the training data keep frequencies for later rows. It costs at most a ninth of the variance."""

_FARTHEST = 14.0
"""Frequency up to which the Jensen-Shannon spectrum is tabulated: 2e-22 of its mass is beyond."""


@dataclass(frozen=True, slots=True)
class Secant(RadialLaw):
    r"""The size of a variable of density :math:`\mathrm{sech}(\pi \lambda)`, for ``dim=1``."""

    n_uniforms = 1

    def radius(self, uniforms: Array, dim: int) -> Array:
        return as_array(np.log(np.tan(0.25 * np.pi * (1.0 + uniforms[:, 0]))) / np.pi)


@dataclass(frozen=True, slots=True)
class HalfCauchy(RadialLaw):
    r"""The size of a variable of density :math:`2 / (\pi (1 + 4 \lambda^2))`, for ``dim=1``."""

    n_uniforms = 1

    def radius(self, uniforms: Array, dim: int) -> Array:
        return as_array(0.5 * np.tan(0.5 * np.pi * uniforms[:, 0]))


@dataclass(frozen=True, slots=True)
class SecantOverSquare(RadialLaw):
    r"""The size of a variable with the density of the Jensen-Shannon kernel, for ``dim=1``.

    It is :math:`2\, \mathrm{sech}(\pi \lambda) / (\log 4\, (1 + 4 \lambda^2))`.
    """

    n_uniforms = 1

    def radius(self, uniforms: Array, dim: int) -> Array:
        return _table().quantile(uniforms[:, 0])


@lru_cache(maxsize=1)
def _table() -> Tabulated:
    def density(size: Array) -> Array:
        return as_array(4.0 / np.log(4.0) / np.cosh(np.pi * size) / (1.0 + 4.0 * size**2))

    return Tabulated(density, _FARTHEST, 1)


@dataclass(frozen=True, slots=True)
class LogarithmLaw(Law):
    r"""One column and a frequency of its logarithm, for a sum over columns.

    Parameters
    ----------
    radial : RadialLaw
        Law of :math:`|\lambda|`.
    shares : tuple of d floats
        Expected shares of the columns, positive, of sum one.
    """

    radial: RadialLaw
    shares: tuple[float, ...]

    has_carriers = True
    at_zero = 0.0  # Additive kernels are zero for rows of zeros

    @property
    def dim(self) -> int:  # type: ignore[override]
        return len(self.shares)

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        r"""Return ``m`` frequencies, of zeros, whose carriers are :class:`Powers`.

        The number of frequencies of a column is its expected number rounded up or down at random.
        Expected numbers follow the shares, and are at least one if there are as many frequencies as
        columns. A column with an expected number of at least one gets ``n`` frequencies of ratio
        :math:`m / (d n)`. Any other column gets at most one, of ratio :math:`m / d` over its
        probability. Both estimates are unbiased. Unless draws are independent, the ``n``
        frequencies of a column are stratified over its law and antithetic in pairs of neighbours.
        """
        count_rng, draw_rng, sign_rng = rng.spawn(3)
        expected = _expected_counts(np.array(self.shares), m)
        counts = _rounded_at_random(expected, m, count_rng)
        column = np.repeat(np.arange(self.dim), counts)
        number = counts[column]
        ratio = m / (self.dim * np.where(expected[column] >= 1.0, number, expected[column]))
        if isinstance(scheme, Iid):
            uniforms = np.asarray(scheme.sample((Uniforms(1),), m, draw_rng)[0])[:, 0]
        else:
            starts = np.asarray(scheme.sample((Uniforms(1),), self.dim, draw_rng)[0])[column, 0]
            place = np.arange(m) - (np.cumsum(counts) - counts)[column]
            uniforms = (place + np.where(place % 2, 1.0 - starts, starts)) / number
        rate = self.radial.radius(uniforms[:, None], 1) * sign_rng.choice((-1.0, 1.0), m)
        return Draw(
            np.zeros((m, self.dim)), ratio, np.zeros(m), carrier=Powers(as_array(column), rate)
        )


def _expected_counts(shares: Array, m: int) -> Array:
    """Return counts that sum to ``m``: one for columns of small shares, else by shares."""
    if m < len(shares):
        return m * shares
    # A column without frequencies has a larger error than any with one.
    single = np.zeros(len(shares), dtype=np.bool_)
    while True:
        share_left = shares[~single].sum() or 1.0
        expected = np.where(single, 1.0, (m - single.sum()) * shares / share_left)
        if not (expected < 1.0).any():
            return expected
        single |= expected < 1.0


def _rounded_at_random(expected: Array, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return random integers that sum to ``m``, each within one of its expected value."""
    ends = np.cumsum(expected) * (m / expected.sum())
    # Rounding must not lose the last one.
    ends[-1] = m
    steps = np.floor(ends + rng.random()).astype(np.intp)
    counts: NDArray[np.intp] = np.diff(steps, prepend=0)
    return counts


@dataclass(frozen=True, slots=True)
class HashLaw(Law):
    """Hashes of rows with ``dim`` columns: carriers are :class:`Hashes`, frequencies zero."""

    dim: int

    has_carriers = True

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        """Return the hashes of ``m`` waves, independent in every scheme."""
        carrier = Hashes.drawn(m, self.dim, rng)
        return Draw(np.zeros((m, self.dim)), np.ones(m), np.zeros(m), carrier=carrier)


def _additive(radial: RadialLaw, kernel: Additive, dim: int) -> SpectralMeasure:
    means = np.ones(dim) if kernel.shares is None else as_array(kernel.shares)
    shares = (1.0 - _EQUAL_SHARE) * means / means.sum() + _EQUAL_SHARE / dim
    return SpectralMeasure((Part(float(dim), LogarithmLaw(radial, tuple(shares.tolist()))),))


@family_of.register(Additive)
@family_of.register(Tanimoto)
def _(kernel: Additive | Tanimoto, X: InputRows, weights: Array) -> Family | None:
    # Families change frequencies, and theirs are of logarithms and hashes.
    return None


register(
    ChiSquared, name="chi_squared", closed_form=lambda kernel, dim: _additive(Secant(), kernel, dim)
)
register(
    Intersection,
    name="intersection",
    closed_form=lambda kernel, dim: _additive(HalfCauchy(), kernel, dim),
)
register(
    JensenShannon,
    name="jensen_shannon",
    closed_form=lambda kernel, dim: _additive(SecantOverSquare(), kernel, dim),
)
register(Tanimoto, name="tanimoto", law=lambda kernel, dim: HashLaw(dim))
