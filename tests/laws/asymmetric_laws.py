"""What complex measures obey: estimates of k(x, y) and of k(y, x), by z-tests over many seeds.

The chance that the battery rejects a right implementation is at most ``FAMILY_ALPHA``, shared
evenly (Bonferroni) among its comparisons. Every case has streams of its own, fixed by its name;
none was chosen. The kernels' values are those of :mod:`laws.references`.
"""

import zlib
from dataclasses import dataclass, replace

import numpy as np
from laws.references import reference_gram
from laws.registry import drift, maps
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from bochner import FourierFeatures, kernels, spectral_measure
from bochner.kernels import Kernel
from bochner.sampling import resolve_scheme
from bochner.spectral import Component, Modulated, Modulation, closed_form
from bochner.spectral.modulated import correction

FAMILY_ALPHA = 1e-3
SCHEMES = ("iid", "orthogonal", "qmc", "structured")
DECOMPOSITIONS = ("polar", "jordan")
N_ROWS = 4


@dataclass(frozen=True)
class Case:
    """A kernel of ``dim`` inputs on the left, and ``dim_right`` on the right, if others."""

    kernel: Kernel
    dim: int
    dim_right: int = 0

    def __str__(self) -> str:
        return f"{self.dim}d-{self.kernel!r}"

    def rng(self, purpose: str) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(f"{self}/{purpose}".encode()))

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
        0.5 * shift + sinh.T,
        shift - 0.7 * shift.T,
        0.7 * (shift + shift.T),
        shift - shift.T,
        -1.0 * cosh,
        cosh + kernels.SinhGaussian(scales(dim), vector(dim, 0.8)),
        sinh.symmetrised - 0.5 * sinh,
        shift * kernels.Matern(1.5, nu=1.5),
        sinh * cosh,
        sinh * shift * kernels.Cauchy(2.0),
        mixture * mixture,
        mixture * cosh,
    )


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


def check_mean(values, expected, what="biased", max_error=0.0):
    """The mean over seeds is what is expected (Student's t), but for a known bias."""
    error = np.maximum(values.std(axis=0, ddof=1), 1e-12) / np.sqrt(len(values))
    t = np.maximum(np.abs(values.mean(axis=0) - expected) - max_error, 0.0) / error
    assert t.max() < stats.t.isf(ALPHA / 2.0, len(values) - 1), f"{what}: t = {t.max():.1f}"


def measure_of(case, decomposition, **options):
    if case.dim_right:  # of which one number of inputs does not say enough
        polar = closed_form(case.kernel, case.dim)
        return polar.jordan() if decomposition == "jordan" else polar
    return spectral_measure(case.kernel, case.dim, decomposition=decomposition, **options)


def check_unbiased(case, decomposition, scheme, seeds=40, m=40, **options):
    """Samples estimate the kernel on both sides, off the axes."""
    measure = measure_of(case, decomposition, scheme=scheme, **options)
    streams = case.rng(f"{decomposition}/{scheme}/{m}").spawn(seeds)
    values = np.array([sides(case, measure.sample(m, rng, scheme)) for rng in streams])
    check_mean(values, exact(case), max_error=measure.max_error)


def check_fitted_masses(case, decomposition, scheme, seeds=16, m=2048):
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
    check_mean(np.array(values), exact(case))


def check_mass(case):
    """The mass is k(0), for every decomposition, and the polar variation is the least."""
    zeros = np.zeros((1, case.dim)), np.zeros((1, case.dim_right or case.dim))
    at_zero = float(reference_gram(case.kernel, *zeros)[0, 0])
    polar, jordan = (measure_of(case, decomposition) for decomposition in DECOMPOSITIONS)
    scale = polar.total_variation
    assert_allclose([polar.mass, jordan.mass], at_zero, rtol=1e-11, atol=1e-11 * scale)
    assert polar.total_variation <= jordan.total_variation * (1.0 + 1e-12)
    assert polar.total_variation >= abs(at_zero) * (1.0 - 1e-12)


MODULATIONS = {
    "shift": Modulation(0.0, 1.0, 1.0),
    "sinh": Modulation(1.0, 0.0, -1.8),
    "cosh": Modulation(0.0, 1.6, -1.6),
    "both": Modulation(0.0, 1.4, 0.4),
    "all": Modulation(0.8, -1.3, 0.6),
    "sharp": Modulation(0.5, 1.0, 1e-3),
    "real": Modulation(-0.3, 1.0, 0.0),
    "odd": Modulation(0.0, 0.0, 0.7),
}
SPREADS = (0.01, 0.05, 0.19, 0.21, 0.5, 1.0, 2.0, 5.0, 12.0, 20.0)


def corners(modulation, top):
    """Where absolute values or sizes have a corner, rounded or not, in [0, top]."""
    turns = np.arange(0.0, top + 2.0 * np.pi, 0.5 * np.pi)
    if abs(modulation.cosine) > abs(modulation.constant):
        zero = np.arccos(-modulation.constant / modulation.cosine)
        periods = np.arange(0.0, top + 4.0 * np.pi, 2.0 * np.pi)
        near = [0.0, *(sign * 10.0**-power for power in (1, 2, 3, 5) for sign in (1, -1))]
        ends = [periods + sign * zero + step for step in near for sign in (1, -1)]
        turns = np.concatenate([turns, *ends])
    return np.unique(turns[(turns > 0.0) & (turns < top)])


def normal_integral(function, s, points, upper=np.inf):
    """The integral of an even function over t ~ N(0, s^2), |t| below ``upper``, by quadrature."""
    top = min(upper, 11.0 * s)
    edges = [0.0, *(points[points < top]), top]

    def integrand(t):
        return function(t) * np.exp(-0.5 * (t / s) ** 2) * np.sqrt(2.0 / np.pi) / s

    pieces = zip(edges[:-1], edges[1:], strict=True)
    return sum(quad(integrand, a, b, epsabs=1e-15, epsrel=1e-12)[0] for a, b in pieces)


def density(component, modulation, t):
    """The density of a component relative to the normal law, from its definition."""
    real = modulation.constant + modulation.cosine * np.cos(t)
    imaginary = modulation.sine * np.sin(t)
    return {
        Component.POLAR: abs(real + 1j * imaginary),
        Component.POSITIVE: 0.5 * (abs(real) + real),
        Component.NEGATIVE: 0.5 * (abs(real) - real),
        Component.IMAGINARY: abs(imaginary),
    }[component]


def check_masses(component, modulation):
    """Masses are those of quadrature to 1e-10 of the largest that the factor could have."""
    for s in SPREADS:
        points = corners(modulation, 11.0 * s)
        expected = normal_integral(lambda t: density(component, modulation, t), s, points)
        assert_allclose(component.mass(modulation, s), expected, rtol=1e-10, atol=1e-13)


LAWS = {
    name: Modulated((1.0, 0.5, 2.0), tuple((spread * np.array([0.6, -0.4, 0.0])).round(6)), factor)
    for name, factor, spread in (
        ("shift", MODULATIONS["shift"], 2.0),
        ("sinh", MODULATIONS["sinh"], 1.0),
        ("cosh", MODULATIONS["cosh"], 3.0),
        ("all", MODULATIONS["all"], 1.5),
        ("real", MODULATIONS["real"], 4.0),
    )
}
N_DRAWS = 4_000
N_FILLS = 40


def jordan_laws(law):
    return [part for _, part in law.jordan()]


def standard_draws(law, scheme, seed):
    """Draws in units in which they are standard normal but along the first axis."""
    axis = np.array(law.shift) / np.array(law.length_scale)
    basis = np.linalg.qr(np.column_stack([axis, np.eye(3)]))[0]
    basis[:, 0] = axis / np.linalg.norm(axis)
    rngs = np.random.default_rng(seed).spawn(N_FILLS)
    drawn = [law.draw(N_DRAWS // N_FILLS, rng, resolve_scheme(scheme)) for rng in rngs]
    assert all((draw.ratio == 1.0).all() for draw in drawn)
    omega = np.concatenate([draw.omega for draw in drawn])
    return omega * np.array(law.length_scale) @ basis, np.concatenate([d.phase for d in drawn])


def check_component(law, scheme, alpha, seed=0):
    """A Jordan part along the axis has its density, across it is standard normal.

    Independent draws by Kolmogorov-Smirnov. Dependent ones are nearer to their distribution
    than independent ones, so that the same bounds hold.
    """
    points, phase = standard_draws(law, scheme, seed)
    s, modulation = law.spread, law.modulation
    kinks = corners(modulation, 11.0 * s)
    total = normal_integral(lambda t: density(law.component, modulation, t), s, kinks)
    grid = np.linspace(0.0, 5.0 * s, 301)
    steps = [
        quad(
            lambda t: density(law.component, modulation, t) * np.exp(-0.5 * (t / s) ** 2),
            a,
            b,
            points=[k for k in kinks if a < k < b] or None,
        )[0]
        for a, b in zip(grid[:-1], grid[1:], strict=True)
    ]
    below = np.append(0.0, np.cumsum(steps)) * np.sqrt(2.0 / np.pi) / (s * total)
    t = s * points[:, 0]
    p_values = [
        stats.kstest(np.abs(t), lambda x: np.interp(x, grid, below)).pvalue,
        stats.binomtest(int((t > 0.0).sum()), len(t)).pvalue,
        *(stats.kstest(ndtr(column), "uniform").pvalue for column in points[:, 1:].T),
        *(
            stats.pearsonr(f(points[:, i]), f(points[:, j])).pvalue
            for f in (np.abs, np.array)
            for i, j in ((0, 1), (0, 2), (1, 2))
        ),
    ]
    assert min(p_values) > alpha / len(p_values), np.round(p_values, 5)
    expected = 0.5 * np.pi * np.sign(modulation.sine * np.sin(t))
    assert_allclose(phase, expected if law.component is Component.IMAGINARY else 0.0)


def check_acceptance(law, alpha, n=40_000):
    """Rejection accepts the stated share of proposals (binomial test), below a true bound."""
    rng = np.random.default_rng(zlib.crc32(repr(law).encode()))
    t = law.spread * rng.standard_normal(n)
    value = np.array([density(law.component, law.modulation, one) for one in t])
    bound = law.component.bound(law.modulation)
    assert value.max() <= bound * (1.0 + 1e-12)
    accepted = int((rng.random(n) * bound < value).sum())
    assert stats.binomtest(accepted, n, law.acceptance).pvalue > alpha


def check_correction(s=1.0, size=3, n=20_000):
    """Corrected weights estimate without bias, from few draws (z-test)."""
    rng = np.random.default_rng(3)
    t = s * rng.standard_normal((n, 2, size))
    values = []
    for halves in t:
        factor = correction(list(halves), s)
        flat = halves.ravel()
        values.append([np.mean(factor * f(flat)) for f in (np.cos, lambda u: np.cos(1.0 + 2.0 * u))])
    decay = np.exp(-0.5 * s**2), np.cos(1.0) * np.exp(-2.0 * s**2)
    check_mean(np.array(values), np.array(decay), "the correction is biased")


def check_weights(seeds=200, m=4):
    """Amplitudes and phases are those of the measure times the correction, also a negative one."""
    law = Modulated(1.0, vector(2, 2.5), MODULATIONS["cosh"])
    factors = []
    for seed in range(seeds):
        draw = law.draw(m, np.random.default_rng(seed), resolve_scheme("iid"))
        t = draw.omega @ np.array(law.shift)
        given = draw.ratio * np.exp(1j * draw.phase) / np.exp(-1j * t)
        assert_allclose(given, correction([t[:2], t[2:]], law.spread), atol=1e-10)
        assert (draw.ratio >= 0.0).all()
        factors.append(given.real)
    assert np.min(factors) < 0.0


def check_few_frequencies(scheme, m=4, seeds=3_000):
    """Estimates from as few frequencies as one half can correct the other are unbiased."""
    case = Case(kernels.CoshGaussian(1.0, vector(2, 1.2)), 2)
    check_unbiased(case, "polar", scheme, seeds, m)


def check_products_keep_their_rate(seeds=200, m=64):
    """The variance of a product from a quasi-random sequence is below that of independent draws."""
    kernel = kernels.ShiftGaussian(1.0, 0.5)
    case = Case(kernel * replace(kernel, shift=-0.9), 1)
    measure = spectral_measure(case.kernel, 1)
    quasi, independent = (
        np.array(
            [sides(case, measure.sample(m, rng, scheme)) for rng in case.rng(scheme).spawn(seeds)]
        )
        for scheme in ("qmc", "iid")
    )
    ratio = quasi.var(axis=0, ddof=1) / independent.var(axis=0, ddof=1)
    bound = stats.f.isf(ALPHA, seeds - 1, seeds - 1)
    assert ratio.max() < bound, ratio.round(2)
