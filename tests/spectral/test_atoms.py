"""Atoms of designed measures: their values, their variances and their envelopes."""

import numpy as np
import pytest
from laws import atom_laws
from laws.atom_laws import BLOCKED, CASES
from numpy.testing import assert_allclose
from scipy.special import hyp0f1, j0

from bochner.spectral.atoms import DampedGaussians, Shells, sphere_mean
from bochner.spectral.measure import ByVariance

U = np.linspace(0.0, 60.0, 601)


@pytest.mark.parametrize("dim", [2, 3, 4, 5, 16, 54, 200, 800])
def test_the_mean_over_the_sphere(dim):
    atom_laws.check_sphere_mean(dim)


@pytest.mark.parametrize(
    ("dim", "closed_form"),
    [
        (1, np.cos),
        (2, j0),
        (3, lambda u: np.sinc(u / np.pi)),
        (16, lambda u: hyp0f1(8.0, -0.25 * u**2)),
        (100, lambda u: hyp0f1(50.0, -0.25 * u**2)),
    ],
)
def test_the_mean_over_the_sphere_in_closed_form(dim, closed_form):
    assert_allclose(sphere_mean(U, dim), closed_form(U), atol=1e-11)


LAWS = [
    *((atom_laws.check_transform, case) for case in CASES),
    *((atom_laws.check_variance, case) for case in CASES),
    *((atom_laws.check_blocks, case) for case in BLOCKED),
    *(
        (atom_laws.check_dampening, case)
        for case in CASES
        if isinstance(case.atoms, DampedGaussians)
    ),
]


@pytest.mark.thorough_cases(r"check_blocks-DampedGaussians\(dim=16, radius=1\.2\)")
@pytest.mark.parametrize(("check", "case"), LAWS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_atoms(check, case):
    check(case)


@pytest.mark.parametrize("rest", [1, 2, 4])
def test_the_remainder_of_a_block_is_counted_as_such(rest):
    # Three whole blocks of five directions, and some of another.
    rng = np.random.default_rng(rest)
    distance, scale = np.array([1.1]), np.array([2.0])
    single, whole = (
        Shells(5).variance(distance, np.zeros(1), scale, block)[0, 0] for block in (1, 5)
    )
    predicted = ByVariance((single,), (whole,), 5).variances(np.ones(1), np.array([15 + rest]))[0]
    q, _ = np.linalg.qr(rng.standard_normal((40_000, 5, 5)))
    values = np.cos(2.2 * q[:, 0, :]).reshape(-1, 4, 5)  # a row of each block, as the lag
    total = values[:, :3].sum(axis=(1, 2)) + values[:, 3, :rest].sum(axis=1)
    square = (total / (15 + rest) - sphere_mean(np.array([2.2]), 5)) ** 2
    error = square.std(ddof=1) / np.sqrt(len(square))
    # Three comparisons at a family-wise alpha of 1e-3.
    assert abs(square.mean() - predicted) < 3.6 * error
    assert abs(square.mean() - single / (15 + rest)) > 3.6 * error
