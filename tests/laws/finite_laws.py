"""What the measure of a kernel obeys that finitely many frequencies make exactly."""

import numpy as np
from laws.references import reference_gram
from laws.registry import check_mean
from numpy.testing import assert_allclose

from bochner import spectral_measure

TOLERANCE = 2e-10  # of the greatest value: sines stand for lines to within 1e-10


def n_atoms(case) -> int:
    return sum(part.law.n_atoms for part in spectral_measure(case.kernel, case.dim).parts)


def check_exact(case):
    """With as many frequencies as atoms, or more, the features are the kernel, by any scheme."""
    X, Y = case.points(12), case.points(20, spread=1.7)[12:]
    exact = reference_gram(case.kernel, X, Y)
    measure = spectral_measure(case.kernel, case.dim)
    for scheme in ("iid", "orthogonal", "structured"):
        for m in (2 * n_atoms(case), 2 * n_atoms(case) + 17):
            found = measure.sample(m, case.rng(scheme), scheme).gram(X, Y)
            assert_allclose(found, exact, rtol=0, atol=TOLERANCE * np.abs(exact).max())


def check_mass(case):
    """The mass is the kernel at the origin."""
    origin = np.zeros((1, case.dim))
    exact = reference_gram(case.kernel, origin, origin)[0, 0]
    assert_allclose(spectral_measure(case.kernel, case.dim).mass, exact, rtol=1e-9, atol=1e-12)


def check_few(case, scheme="iid", seeds=150, m=3, alpha=1e-6):
    """With fewer frequencies than atoms, the mean over draws is the kernel."""
    X, Y = case.points(3), case.points(7)[3:]
    exact = reference_gram(case.kernel, X, Y)
    measure = spectral_measure(case.kernel, case.dim)
    streams = case.rng(f"few/{scheme}").spawn(seeds)
    values = np.array([measure.sample(m, stream, scheme).gram(X, Y) for stream in streams])
    size = TOLERANCE * np.abs(exact).max()
    check_mean(values, exact, alpha, max_error=size)


CHECKS = (check_exact, check_mass)
