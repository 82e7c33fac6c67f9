"""What every scheme obeys, for every kernel: z-tests over many seeds.

The chance that the battery rejects a right implementation is at most ``FAMILY_ALPHA``, shared
evenly (Bonferroni) among its comparisons. Every case has streams of its own, fixed by its
name; none was chosen.
"""

import numpy as np
from laws.references import components
from laws.registry import CASES, LEVELS, check_mean
from scipy import stats

from bochner import spectral_measure
from bochner.spectral import Coordinates, Directions, Uniforms
from bochner.spectral.schemes import resolve_scheme

FAMILY_ALPHA = 1e-3
SCHEMES = ("iid", "orthogonal", "structured", "energy", "lattice")
# Means, variances and dominances at every lag, and the uniformity of single rows.
ALPHA = FAMILY_ALPHA / (len(CASES) * len(SCHEMES) * len(LEVELS) * 2)


def allocation(masses, m):
    """Half by equal shares, half in proportion to mass; remainders to the largest fractions."""
    masses = np.asarray(masses)
    expected = m * (0.5 / len(masses) + 0.5 * masses / masses.sum())
    counts = np.floor(expected).astype(int)
    for index in np.argsort(counts - expected, kind="stable")[: m - counts.sum()]:
        counts[index] += 1
    return counts


def iid_variance(case, lags, m):
    """The variance of one estimate from independent draws, exactly."""
    masses, parts = zip(*components(case.kernel), strict=True)
    origin = np.zeros((1, case.dim))
    total = 0.0
    for mass, count, part in zip(masses, allocation(masses, m), parts, strict=True):
        single, double = part(origin, lags)[0], part(origin, 2.0 * lags)[0]
        total = total + mass**2 * (1.0 + double - 2.0 * single**2) / (2.0 * count)
    return total


def estimates(case, scheme, seeds, m):
    """Kernel values at the case's lags, one row for each of ``seeds`` samples of ``m``."""
    measure = spectral_measure(case.kernel, case.dim)
    base = case.points(1)
    shifted = base + case.lags()
    streams = case.rng(f"{scheme}/{m}").spawn(seeds)
    return np.array(
        [measure.sample(m, stream, scheme).gram(base, shifted)[0] for stream in streams]
    )


def check_iid(case, seeds=50, m=128):
    """Independent draws: the mean is the kernel, the variance the formula."""
    values = estimates(case, "iid", seeds, m)
    lags = case.lags()
    exact = case.kernel(np.zeros((1, case.dim)), lags)[0]
    variance = iid_variance(case, lags, m)
    z = (values.mean(axis=0) - exact) / np.sqrt(variance / seeds)
    assert np.abs(z).max() < stats.norm.isf(ALPHA / 2.0), f"biased: z = {z.round(1)}"
    ratio = values.var(axis=0, ddof=1) / variance
    low, high = stats.chi2.ppf([ALPHA / 2.0, 1.0 - ALPHA / 2.0], seeds - 1) / (seeds - 1)
    assert low < ratio.min(), f"variance too small: ratio {ratio.round(2)}"
    assert ratio.max() < high, f"variance too large: ratio {ratio.round(2)}"


def check_unbiased(case, scheme, seeds=50, m=128):
    """Dependent draws: the mean is the kernel, by the spread over seeds (Student's t)."""
    values = estimates(case, scheme, seeds, m)
    exact = case.kernel(np.zeros((1, case.dim)), case.lags())[0]
    check_mean(values, exact, ALPHA)


def check_at_zero(case, scheme):
    """The estimate of k(0) is exact, for any number of frequencies."""
    measure = spectral_measure(case.kernel, case.dim)
    for m in (1, 7):
        weight = measure.sample(m, case.rng("zero"), scheme).weight
        assert len(weight) == m
        assert np.isclose(weight.sum(), measure.mass, rtol=1e-12), (m, weight.sum())


def check_dominates(case, scheme, seeds=50, m=120):
    """The variance is below that of independent draws (one-sided chi-square)."""
    variance = estimates(case, scheme, seeds, m).var(axis=0, ddof=1)
    ratio = variance / iid_variance(case, case.lags(), m)
    bound = stats.chi2.isf(ALPHA, seeds - 1) / (seeds - 1)
    assert ratio.max() < bound, f"variance over that of iid draws: {ratio.round(2)}"
    return ratio


BLOCKS = (Directions(2), Directions(5), Coordinates(1), Coordinates(3), Uniforms(1), Uniforms(2))


def check_marginals(scheme, block, fills=1000, m=3):
    """Each row of a block is uniform: a projection of it, over many fills, by itself.

    Rows depend on one another, fills do not: Kolmogorov-Smirnov over fills, row by row.
    """
    scheme = resolve_scheme(scheme)
    streams = np.random.default_rng(block.dim).spawn(fills)
    filled = np.array([scheme.sample((block,), m, stream)[0] for stream in streams])
    assert filled.shape == (fills, m, block.dim)
    if isinstance(block, Directions):
        assert np.allclose(np.linalg.norm(filled, axis=-1), 1.0)
        law = stats.beta((block.dim - 1) / 2.0, (block.dim - 1) / 2.0, loc=-1.0, scale=2.0)
        oblique = np.linspace(1.0, 2.0, block.dim)
        probes = [filled @ (oblique / np.linalg.norm(oblique)), filled[..., 0]]
    else:
        assert filled.min() > 0.0
        assert filled.max() < 1.0
        law = stats.uniform
        probes = list(np.moveaxis(filled, -1, 0))
    for probe in probes:
        p_values = [stats.kstest(row, law.cdf).pvalue for row in probe.T]
        assert min(p_values) > ALPHA, f"row {int(np.argmin(p_values))} is not uniform"


def check_streams(scheme, fills=2000):
    """Blocks of one layout are independent of one another (correlations of squares and values)."""
    scheme = resolve_scheme(scheme)
    layout = (Directions(3), Uniforms(1), Directions(3), Uniforms(1))
    streams = np.random.default_rng(3).spawn(fills)
    rows = np.array([np.hstack([b[0] for b in scheme.sample(layout, 2, s)]) for s in streams])
    values = np.hstack([rows, rows**2])
    owner = np.tile(np.repeat(np.arange(4), [block.dim for block in layout]), 2)
    correlation = np.corrcoef(values.T)[owner[:, None] != owner]
    z = np.abs(correlation).max() * np.sqrt(fills)
    assert z < stats.norm.isf(ALPHA / 2.0), f"blocks depend on one another: z = {z:.1f}"
