"""What estimates of locally stationary kernels obey, by z-tests over many seeds.

Pairs of rows have few lags and many midpoints, so that nothing stationary passes. The kernels are
written down here as closed forms of their own. The chance that the battery rejects a right
implementation is at most ``FAMILY_ALPHA``, shared evenly among its comparisons; streams are fixed
by the names of the cases.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from laws.registry import Streams, check_mean

from bochner import kernels, spectral_measure
from bochner.kernels import LocallyStationary

FAMILY_ALPHA = 1e-3
SCHEMES = ("iid", "orthogonal", "structured")
SIDES = ("two-sided", "one-sided")
N_LAGS, N_MIDDLES = 2, 4


@dataclass(frozen=True)
class Case(Streams):
    """A kernel and its value at midpoints, from the centre, and lags."""

    name: str
    dim: int
    kernel: kernels.Kernel
    formula: Callable

    def __str__(self):
        return f"{self.dim}d-{self.name}"

    def points(self):
        """Rows for either argument: every lag at every midpoint."""
        rng = self.rng("points")
        lag = rng.normal(scale=0.5 / self.dim**0.5, size=(N_LAGS, 1, self.dim))
        middle = rng.normal(scale=1.5 / self.dim**0.5, size=(1, N_MIDDLES, self.dim))
        middle, lag = (np.broadcast_to(a, (N_LAGS, N_MIDDLES, self.dim)) for a in (middle, lag))
        return tuple((middle + sign * lag).reshape(-1, self.dim) for sign in (0.5, -0.5))

    def exact(self):
        X, Y = self.points()
        return self.formula(0.5 * (X + Y), X - Y)


def vector(dim, size):
    return size * np.cos(np.arange(1.0, dim + 1.0)) / dim**0.5


def gaussian(t, scale):
    return np.exp(-0.5 * np.sum(np.square(t / scale), axis=-1))


def waves(t, weights, means, variances):
    return sum(
        w * np.exp(-0.5 * c * np.sum(t**2, axis=-1)) * np.cos(t @ m)
        for w, m, c in zip(weights, means, variances, strict=True)
    )


def cases(dim):
    centre = vector(dim, 0.9)
    scales = np.linspace(0.8, 1.3, dim)
    slow = ([1.0, 0.4], [np.zeros(dim), vector(dim, 2.0)], [0.2, 0.3])
    fast = ([0.7, 0.3], [vector(dim, 3.0)[::-1], vector(dim, 1.0)], [1.0, 0.0])
    plain = LocallyStationary(kernels.Gaussian(1.5), kernels.Gaussian(scales), centre)
    mixed = LocallyStationary(
        kernels.SpectralMixture(*slow), kernels.SpectralMixture(*fast), -1.0 * centre
    )
    heavy = LocallyStationary(kernels.Cauchy(2.0), kernels.Matern(1.2, nu=1.5), 0.4)
    yield Case("plain", dim, plain, lambda u, t: gaussian(u - centre, 1.5) * gaussian(t, scales))
    yield Case("mixed", dim, mixed, lambda u, t: waves(u + centre, *slow) * waves(t, *fast))

    def of_heavy_tails(u, t):
        z = np.sqrt(3.0) * np.linalg.norm(t, axis=-1) / 1.2
        return np.prod(1.0 / (1.0 + (u - 0.4) ** 2 / 4.0), axis=-1) * (1.0 + z) * np.exp(-z)

    yield Case("heavy", dim, heavy, of_heavy_tails)
    yield Case(
        "combined",
        dim,
        0.5 * plain * kernels.Gaussian(2.0) + kernels.Gaussian(1.1),
        lambda u, t: (
            0.5 * gaussian(u - centre, 1.5) * gaussian(t, scales) * gaussian(t, 2.0)
            + gaussian(t, 1.1)
        ),
    )
    turn = np.eye(dim) + 0.3 * np.eye(dim, k=1)
    yield Case(
        "mapped",
        dim,
        kernels.Bilinear(plain, turn),
        lambda u, t: gaussian(u @ turn - centre, 1.5) * gaussian(t @ turn, scales),
    )


CASES = tuple(case for dim in (1, 2, 5) for case in cases(dim))
RUNS = tuple(
    (case, scheme, sides)
    for case in CASES
    for scheme in SCHEMES
    for sides in SIDES
    if case.name != "heavy" or scheme != "structured"  # which has no independent coordinates
)
ALPHA = FAMILY_ALPHA / (len(RUNS) * N_LAGS * N_MIDDLES)


def estimate(case, scheme, sides, m, rng):
    """Return the estimate at all pairs of rows, from ``m`` pairs of frequencies."""
    measure = spectral_measure(case.kernel, case.dim, scheme=scheme)
    if sides == "two-sided":
        drawn = measure.sample(m, rng, scheme)
    else:
        drawn = measure.sample(2 * m, rng, scheme, symmetric=True)
        assert drawn.is_symmetric
        assert drawn.n_frequencies == 2 * m
    X, Y = case.points()
    return (drawn.features(X) * drawn.signature * drawn.features_right(Y)).sum(axis=1)


def check_unbiased(case, scheme="iid", sides="two-sided", seeds=40, m=36):
    """The mean over seeds is the kernel (Student's t), wherever the midpoint is."""
    streams = case.rng(f"{scheme}/matched/{sides}").spawn(seeds)
    values = np.array([estimate(case, scheme, sides, m, rng) for rng in streams])
    check_mean(values, case.exact(), ALPHA)


def check_midpoints_matter(case):
    """At one lag the kernel changes from midpoint to midpoint by more than the tests resolve."""
    values = case.exact().reshape(N_LAGS, N_MIDDLES)
    assert np.ptp(values, axis=1).max() > 0.04
