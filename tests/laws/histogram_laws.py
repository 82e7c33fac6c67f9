"""What the measures of kernels of histograms and sets obey."""

import numpy as np
from laws.references import reference_gram
from laws.registry import HISTOGRAM_CASES, check_mean
from numpy.testing import assert_allclose
from scipy.integrate import cumulative_trapezoid
from scipy.stats import kstest

from bochner import spectral_measure
from bochner.experimental import ChiSquared, Intersection, JensenShannon, Tanimoto

FAMILY_ALPHA = 1e-3
SCHEMES = ("iid", "orthogonal", "qmc", "structured")
ALPHA = FAMILY_ALPHA / (len(HISTOGRAM_CASES) * len(SCHEMES) * 2 * 12)

DENSITIES = {
    ChiSquared: lambda s: 2.0 / (np.exp(np.pi * s) + np.exp(-np.pi * s)),
    Intersection: lambda s: 2.0 / np.pi / (1.0 + 4.0 * s**2),
    JensenShannon: lambda s: (
        DENSITIES[ChiSquared](s) * DENSITIES[Intersection](s) * np.pi / 2 / LN2
    ),
}
LN2 = np.log(2.0)
"""Spectra of Vedaldi and Zisserman, Table 1."""


def points(case):
    """Rows of zeros and of entries that are the same, or differ by factors of three or more.

    Estimates of nearly equal entries are far from normal: a few of large frequencies decide.
    """
    X = case.rng("histograms").choice([0.0, 0.1, 0.3, 1.0, 3.0], (7, case.dim))
    X[0] = X[3]
    return X[:3], X[3:]


def check_unbiased(case, scheme, m, seeds=80):
    """The mean over draws is the kernel, with fewer frequencies than columns, too."""
    X, Y = points(case)
    exact = reference_gram(case.kernel, X, Y)
    measure = spectral_measure(case.kernel, case.dim)
    streams = case.rng(f"{scheme}/{m}").spawn(seeds)
    values = np.array([measure.sample(m, stream, scheme).gram(X, Y) for stream in streams])
    check_mean(values, exact, ALPHA)


def check_spectrum(kernel):
    """The transform of the density is the kernel along logarithms, and rates follow it."""
    density = DENSITIES[type(kernel)]
    # 8e-5 of the Cauchy density is beyond.
    s = np.linspace(0.0, 2e3 if isinstance(kernel, Intersection) else 20.0, 2_000_001)
    for delta in (0.0, 0.3, 1.7, 4.0):
        x, y = np.exp([[0.5 * delta], [-0.5 * delta]])
        found = 2.0 * np.trapezoid(density(s) * np.cos(delta * s), s)
        assert_allclose(kernel([x], [y])[0, 0], found, atol=2e-4)
    m = 2000
    rates = spectral_measure(kernel, 1).sample(m, 0, "iid").carrier.rate
    share = np.interp(np.abs(rates), s, 2.0 * cumulative_trapezoid(density(s), s, initial=0.0))
    assert kstest(share, "uniform").pvalue > 1e-4
    assert abs(np.sign(rates).sum()) < 4.0 * np.sqrt(m)


def check_variance(rows, m=8, seeds=400):
    """Signs of hashes have the variance (1 - k^2) / 2m."""
    k = Tanimoto()
    exact = k(rows[:2], rows[2:])
    measure = spectral_measure(k, rows.shape[1])
    streams = np.random.default_rng(0).spawn(seeds)
    values = np.array([measure.sample(m, s).gram(rows[:2], rows[2:]) for s in streams])
    ratio = values.var(axis=0) / ((1.0 - exact**2) / (2 * m))
    # Five standard deviations of a variance of as many nearly normal numbers
    assert np.abs(ratio - 1.0).max() < 5.0 * np.sqrt(2.0 / seeds), ratio
