"""What complex measures obey: estimates of k(x, y) and of k(y, x), by z-tests over many seeds.

The chance that the battery rejects a right implementation is at most ``FAMILY_ALPHA``, shared
evenly (Bonferroni) among its comparisons. Every case has streams of its own, fixed by its name;
none was chosen. The kernels' values are those of :mod:`laws.references`.
"""

from dataclasses import dataclass

import numpy as np
from laws.references import reference_gram
from laws.registry import Streams, check_mean, drift, maps
from numpy.testing import assert_allclose

from bochner import FourierFeatures, kernels, spectral_measure
from bochner.kernels import Kernel

FAMILY_ALPHA = 1e-3
SCHEMES = ("iid", "orthogonal", "structured")
DECOMPOSITIONS = ("polar", "jordan")
N_ROWS = 4


@dataclass(frozen=True)
class Case(Streams):
    """A kernel of ``dim`` inputs on the left, and ``dim_right`` on the right, if others."""

    kernel: Kernel
    dim: int
    dim_right: int = 0

    def __str__(self) -> str:
        return f"{self.dim}d-{self.kernel!r}"

    def points(self, n=N_ROWS):
        """Rows for the left and for the right argument: lags off the axes, of norms about one."""
        rng, dims = self.rng("points"), (self.dim, self.dim_right or self.dim)
        return [rng.normal(scale=0.5 / np.sqrt(dim), size=(n, dim)) for dim in dims]


def scales(dim):
    return tuple(np.linspace(0.8, 1.4, dim).round(2).tolist())


def vector(dim, length):
    """A vector of some length, of entries of both signs and different sizes."""
    entries = np.cos(np.arange(1.0, dim + 1.0))
    return tuple((length * entries / np.linalg.norm(entries)).round(3).tolist())


def named(dim):
    yield from (
        kernels.ShiftGaussian(1.0, vector(dim, 0.9)),
        kernels.SinhGaussian(1.0, vector(dim, 1.2)),
        kernels.CoshGaussian(1.0, vector(dim, 0.9)),
    )
    if dim < 20:
        yield from (
            kernels.ShiftGaussian(scales(dim), round(0.7 / dim**0.5, 2)),
            kernels.SinhGaussian(scales(dim), vector(dim, -0.9)),
            kernels.CoshGaussian(scales(dim), round(0.7 / dim**0.5, 2)),
        )


def combined(dim):
    shift = kernels.ShiftGaussian(1.0, vector(dim, 0.9))
    sinh, cosh = (
        kind(scales(dim), vector(dim, 0.8)) for kind in (kernels.SinhGaussian, kernels.CoshGaussian)
    )
    means = np.random.default_rng(dim).normal(size=(2, dim)).round(2)
    mixture = kernels.SpectralMixture([0.5, 1.5], means, [0.2, 0.5])
    yield from (
        0.5 * shift + sinh.T, shift - 0.7 * shift.T, 0.7 * (shift + shift.T), shift - shift.T,
        -1.0 * cosh, cosh + kernels.SinhGaussian(scales(dim), vector(dim, 0.8)),
        sinh.symmetrised - 0.5 * sinh, shift * kernels.Matern(1.5, nu=1.5), sinh * cosh,
        sinh * shift * kernels.Cauchy(2.0), mixture * mixture, mixture * cosh,
    )  # fmt: skip


def bilinear(dim):
    left, right = np.random.default_rng(dim).normal(scale=0.7, size=(2, dim, 2)).round(2)
    wide = np.concatenate([right, left[:1]])
    inner = kernels.CoshGaussian(1.2, (0.5, -0.3)), kernels.Gaussian(1.0)
    yield Case(kernels.Bilinear(inner[0], left, wide), dim, dim + 1)
    yield Case(kernels.Bilinear(inner[1], left, wide), dim, dim + 1)
    yield Case(kernels.Bilinear(inner[1] * inner[0], left, right), dim)
    yield Case(kernels.Bilinear(inner[0], left, right) * kernels.ShiftGaussian(1.0, 0.3), dim)
    yield Case(
        kernels.Bilinear(inner[0], left, right) + kernels.Bilinear(inner[1], *maps(dim)), dim
    )


NAMED = tuple(Case(kernel, dim) for dim in (2, 5, 20) for kernel in named(dim))
COMBINED = (
    *(Case(kernel, dim) for dim in (2, 5) for kernel in combined(dim)),
    *(case for dim in (2, 5) for case in bilinear(dim)),
)
CASES = (*NAMED, *COMBINED)
# Both sides of all pairs of rows, for exact masses, fitted masses and the numerical transform.
DRIFT = Case(kernels.Stationary(drift), 2)
ALPHA = FAMILY_ALPHA / (3 * len(CASES) * len(SCHEMES) * len(DECOMPOSITIONS) * 2 * N_ROWS**2)


def sides(case, frequencies):
    """Estimates at all pairs of rows, both ways where the arguments can be exchanged."""
    X, Y = case.points()
    forth = [frequencies.gram(X, Y).ravel()]
    return np.concatenate(forth if case.dim_right else [*forth, frequencies.gram(Y, X).ravel()])


def exact(case):
    X, Y = case.points()
    forth = [reference_gram(case.kernel, X, Y).ravel()]
    back = [] if case.dim_right else [reference_gram(case.kernel, Y, X).ravel()]
    return np.concatenate([*forth, *back])


def check_unbiased(case, decomposition, scheme, seeds=40, m=40, **options):
    """Samples estimate the kernel on both sides, off the axes."""
    measure = spectral_measure(
        case.kernel, case.dim, decomposition=decomposition, scheme=scheme, **options
    )
    streams = case.rng(f"{decomposition}/{scheme}/{m}").spawn(seeds)
    values = np.array([sides(case, measure.sample(m, rng, scheme)) for rng in streams])
    check_mean(values, exact(case), ALPHA, max_error=measure.max_error)


def check_fitted_masses(case, decomposition, scheme, seeds=12, m=1024):
    """Masses by least squares: so many frequencies that the bias is far below the spread.

    The bias falls like ``1 / m``, the spread of independent draws like its root.
    """
    rows = np.concatenate(case.points(30))
    values = []
    for seed in range(seeds):
        features = FourierFeatures(
            case.kernel,
            2 * m,
            scheme=scheme,
            decomposition=decomposition,
            masses="least_squares",
            random_state=seed,
        )
        values.append(sides(case, features.fit(rows).frequencies_))
    check_mean(np.array(values), exact(case), ALPHA)


def check_mass(case):
    """The mass is k(0), for every decomposition, and the polar variation is the least."""
    zeros = np.zeros((1, case.dim)), np.zeros((1, case.dim_right or case.dim))
    at_zero = float(reference_gram(case.kernel, *zeros)[0, 0])
    polar, jordan = (
        spectral_measure(case.kernel, case.dim, decomposition=name) for name in DECOMPOSITIONS
    )
    scale = polar.total_variation
    assert_allclose([polar.mass, jordan.mass], at_zero, rtol=1e-11, atol=1e-11 * scale)
    assert polar.total_variation <= jordan.total_variation * (1.0 + 1e-12)
    assert polar.total_variation >= abs(at_zero) * (1.0 - 1e-12)


def check_few_frequencies(scheme, m=4, seeds=2_000):
    """Estimates from as few frequencies as one half can correct the other are unbiased."""
    case = Case(kernels.CoshGaussian(1.0, vector(2, 1.2)), 2)
    check_unbiased(case, "polar", scheme, seeds, m)
