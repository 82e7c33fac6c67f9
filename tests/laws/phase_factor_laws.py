"""What the factors of complex measures, and draws from their parts, obey.

Densities are taken from their definitions and integrated adaptively, between their corners.
"""

import zlib
from itertools import pairwise

import numpy as np
from laws.asymmetric_laws import ALPHA, check_mean, vector
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from bochner.spectral.schemes import resolve_scheme
from bochner.spectral.shifted_gaussian import Component, PhaseFactor, ShiftedGaussian, correction

MODULATIONS = {
    "shift": PhaseFactor(0.0, 1.0, 1.0),
    "sinh": PhaseFactor(1.0, 0.0, -1.8),
    "cosh": PhaseFactor(0.0, 1.6, -1.6),
    "both": PhaseFactor(0.0, 1.4, 0.4),
    "all": PhaseFactor(0.8, -1.3, 0.6),
    "sharp": PhaseFactor(0.5, 1.0, 1e-3),
    "real": PhaseFactor(-0.3, 1.0, 0.0),
    "odd": PhaseFactor(0.0, 0.0, 0.7),
}
SPREADS = (0.01, 0.05, 0.19, 0.21, 0.5, 1.0, 2.0, 5.0, 12.0, 20.0)


def corners(factor, top):
    """Where absolute values or sizes have a corner, rounded or not, in [0, top]."""
    turns = np.arange(0.0, top + 2.0 * np.pi, 0.5 * np.pi)
    if abs(factor.cosine) > abs(factor.constant):
        zero = np.arccos(-factor.constant / factor.cosine)
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

    return sum(quad(integrand, a, b, epsabs=1e-15, epsrel=1e-12)[0] for a, b in pairwise(edges))


def density(component, factor, t):
    """The density of a component relative to the normal law, from its definition."""
    real = factor.constant + factor.cosine * np.cos(t)
    imaginary = factor.sine * np.sin(t)
    return {
        Component.POLAR: abs(real + 1j * imaginary),
        Component.POSITIVE: 0.5 * (abs(real) + real),
        Component.NEGATIVE: 0.5 * (abs(real) - real),
        Component.IMAGINARY: abs(imaginary),
    }[component]


def check_masses(component, factor):
    """Masses are those of quadrature to 1e-10 of the largest that the factor could have."""
    for s in SPREADS:
        points = corners(factor, 11.0 * s)
        expected = normal_integral(lambda t: density(component, factor, t), s, points)
        assert_allclose(component.mass(factor, s), expected, rtol=1e-10, atol=1e-13)


LAWS = {
    name: ShiftedGaussian(
        (1.0, 0.5, 2.0), tuple((spread * np.array([0.6, -0.4, 0.0])).round(6)), factor
    )
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
    s, factor = law.spread, law.factor
    kinks = corners(factor, 11.0 * s)
    total = normal_integral(lambda t: density(law.component, factor, t), s, kinks)
    grid = np.linspace(0.0, 5.0 * s, 301)
    steps = [
        quad(
            lambda t: density(law.component, factor, t) * np.exp(-0.5 * (t / s) ** 2),
            a,
            b,
            points=[k for k in kinks if a < k < b] or None,
        )[0]
        for a, b in pairwise(grid)
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
    expected = 0.5 * np.pi * np.sign(factor.sine * np.sin(t))
    assert_allclose(phase, expected if law.component is Component.IMAGINARY else 0.0)


def check_acceptance(law, alpha, n=40_000):
    """Rejection accepts the stated share of proposals (binomial test), below a true bound."""
    rng = np.random.default_rng(zlib.crc32(repr(law).encode()))
    t = law.spread * rng.standard_normal(n)
    value = np.array([density(law.component, law.factor, one) for one in t])
    bound = law.component.bound(law.factor)
    assert value.max() <= bound * (1.0 + 1e-12)
    accepted = int((rng.random(n) * bound < value).sum())
    assert stats.binomtest(accepted, n, law.acceptance).pvalue > alpha


def check_correction(s=1.0, size=3, n=8_000):
    """Corrected weights estimate without bias, from few draws (z-test)."""
    rng = np.random.default_rng(3)
    t = s * rng.standard_normal((n, 2, size))
    values = []
    for halves in t:
        factor = correction(list(halves), s)
        flat = halves.ravel()
        values.append(
            [np.mean(factor * f(flat)) for f in (np.cos, lambda u: np.cos(1.0 + 2.0 * u))]
        )
    decay = np.exp(-0.5 * s**2), np.cos(1.0) * np.exp(-2.0 * s**2)
    check_mean(np.array(values), np.array(decay), ALPHA, "the correction is biased")


def check_weights(seeds=200, m=4):
    """Amplitudes and phases are those of the measure times the correction, also a negative one."""
    law = ShiftedGaussian(1.0, vector(2, 2.5), MODULATIONS["cosh"])
    factors = []
    for seed in range(seeds):
        draw = law.draw(m, np.random.default_rng(seed), resolve_scheme("iid"))
        t = draw.omega @ np.array(law.shift)
        given = draw.ratio * np.exp(1j * draw.phase) / np.exp(-1j * t)
        assert_allclose(given, correction([t[:2], t[2:]], law.spread), atol=1e-10)
        assert (draw.ratio >= 0.0).all()
        factors.append(given.real)
    assert np.min(factors) < 0.0
