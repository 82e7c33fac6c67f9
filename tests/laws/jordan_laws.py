"""What the Jordan parts of the spherical polynomial's measure obey.

The reference shares nothing with the library but the kernel's definition: the density is the
kernel's Hankel transform by quadrature over distances, not a series of Bessel functions.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from laws.measure_laws import characteristic_function
from laws.registry import Streams, check_mean
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import cumulative_simpson, quad
from scipy.special import gammaln, hyp0f1

from bochner.spectral import spherical_measure as spherical

FAMILY_ALPHA = 1e-3
"""Chance that the whole battery of random tests rejects a right implementation."""


@dataclass(frozen=True)
class Case(Streams):
    """A spherical polynomial kernel in ``dim`` inputs, and where its measure is cut."""

    degree: int
    a: float
    dim: int
    truncation: float = 10.0

    @property
    def arguments(self):
        return self.degree, self.a, self.dim, self.truncation

    def measure(self):
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return spherical.spherical_polynomial_measure(*self.arguments)

    def lags(self):
        """Lags of several lengths up to 2, off the axes."""
        direction = self.rng("lags").standard_normal((len(DISTANCES), self.dim))
        return DISTANCES[:, None] * direction / np.linalg.norm(direction, axis=1, keepdims=True)


CASES = (Case(2, 2.0, 2), Case(2, 2.0, 5), Case(2, 2.0, 16))
DISTANCES = np.array([0.2, 0.6, 1.0, 1.5, 2.0])
SCHEMES = ("iid", "orthogonal")
ALPHA = FAMILY_ALPHA / (len(CASES) * (len(SCHEMES) * len(DISTANCES) * 2 + 2))


def sphere_mean(u, dim):
    """The mean of cos(u e.v) over unit vectors v in ``dim`` dimensions."""
    return hyp0f1(dim / 2.0, -0.25 * np.square(u))


def sphere_area(dim):
    return 2.0 * np.pi ** (dim / 2.0) * np.exp(-gammaln(dim / 2.0))


def hankel_density(case, radius):
    """The density of a frequency's norm, by adaptive quadrature over distances."""

    def integrand(z):
        kernel = (1.0 - (z / case.a) ** 2) ** case.degree
        return kernel * z ** (case.dim - 1) * sphere_mean(radius * z, case.dim)

    integral = quad(integrand, 0.0, 2.0, epsabs=1e-13, epsrel=1e-13, limit=400)[0]
    area = sphere_area(case.dim)
    return area**2 * radius ** (case.dim - 1) * (2.0 * np.pi) ** -case.dim * integral


@dataclass(frozen=True)
class Reference:
    """The truncated measure on a fine grid of radii: densities by a Gauss rule over distances."""

    case: Case

    @cached_property
    def radii(self):
        return np.linspace(0.0, self.case.truncation, 8001)

    @cached_property
    def density(self):
        case = self.case
        nodes, weights = np.polynomial.legendre.leggauss(120)
        z = 1.0 + nodes
        kernel = weights * (1.0 - (z / case.a) ** 2) ** case.degree * z ** (case.dim - 1)
        integral = sphere_mean(np.outer(self.radii, z), case.dim) @ kernel
        scale = sphere_area(case.dim) ** 2 * (2.0 * np.pi) ** -case.dim
        return scale * self.radii ** (case.dim - 1) * integral

    def part(self, sign):
        return np.maximum(sign * self.density, 0.0)

    def mass(self, sign):
        return self._integral(self.part(sign))

    def distribution(self, sign):
        """The distribution function of the norm within one part."""
        cumulative = cumulative_simpson(self.part(sign), x=self.radii, initial=0.0)
        return lambda r: np.interp(r, self.radii, cumulative / cumulative[-1])

    def transform(self, distance):
        return self._integral(self._sphere_mean(distance) * self.density)

    def mean_cosine(self, distance, sign):
        return self._integral(self._sphere_mean(distance) * self.part(sign)) / self.mass(sign)

    def _sphere_mean(self, distance):
        return sphere_mean(np.outer(distance, self.radii), self.case.dim)

    def _integral(self, values):
        return np.trapezoid(values, self.radii, axis=-1)


@lru_cache
def reference(case):
    return Reference(case)


def check_density(case):
    """The density is the kernel's Hankel transform."""
    radii = np.array([1e-3, 0.1, 0.7, 2.0, 4.3, 6.0, 8.1, 9.9])
    expected = np.array([hankel_density(case, r) for r in radii])
    got = spherical.radial_density(radii, case.degree, case.a, case.dim)
    assert_allclose(got, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def check_masses(case):
    """Masses are those of the density's two signs; their difference is the transform at zero."""
    masses = [part.mass for part in case.measure().parts]
    expected = [sign * reference(case).mass(sign) for sign in (1, -1)]
    assert_allclose(masses, expected, rtol=2e-6)
    assert_allclose(sum(masses), reference(case).transform(0.0)[0], atol=2e-6 * masses[0])


def check_transform(case):
    """The transform of the parts, through their quantiles, is that of the truncated density.

    Quantiles go like a root where the density is zero, which the quadrature resolves to 1e-4.
    """
    measure = case.measure()
    for lag, expected in zip(case.lags(), reference(case).transform(DISTANCES), strict=True):
        transform = sum(
            part.mass * characteristic_function(part.law, lag) for part in measure.parts
        )
        assert_allclose(transform, expected, atol=1e-4 * measure.total_variation, rtol=0)


def check_radius(case, draws=20_000):
    """Norms of frequencies of each part follow its distribution function (Kolmogorov-Smirnov)."""
    measure = case.measure()
    for sign, part in zip((1, -1), measure.parts, strict=True):
        uniforms = case.rng(f"radius/{sign}").random((draws, 1))
        radius = part.law.radial.radius(uniforms, case.dim)
        p_value = stats.kstest(radius, reference(case).distribution(sign)).pvalue
        assert p_value > ALPHA, f"part {sign}: p = {p_value}"


def check_unbiased(case, scheme, seeds=200, m=256):
    """Samples estimate the truncated transform without bias; iid ones with the known variance."""
    measure, exact = case.measure(), reference(case).transform(DISTANCES)
    base = case.rng("base").standard_normal((1, case.dim))
    draws = [measure.sample(m, rng, scheme) for rng in case.rng(scheme).spawn(seeds)]
    values = np.array([draw.gram(base, base + case.lags())[0] for draw in draws])
    check_mean(values, exact, ALPHA)
    if scheme == "iid":
        ratio = values.var(axis=0, ddof=1) / _iid_variance(case, draws[0].weight)
        low, high = stats.chi2.ppf([ALPHA / 2.0, 1.0 - ALPHA / 2.0], seeds - 1) / (seeds - 1)
        assert low < ratio.min(), f"variance too small: ratio {ratio.round(2)}"
        assert ratio.max() < high, f"variance too large: ratio {ratio.round(2)}"


def _iid_variance(case, weight):
    """Each part's squared mass over its count, times the variance of one cosine."""
    total = 0.0
    for sign in (1, -1):
        count = np.sum(np.sign(weight) == sign)
        single = reference(case).mean_cosine(DISTANCES, sign)
        double = reference(case).mean_cosine(2.0 * DISTANCES, sign)
        single_variance = (1.0 + double - 2.0 * single**2) / 2.0
        total = total + reference(case).mass(sign) ** 2 * single_variance / count
    return total
