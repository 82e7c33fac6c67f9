"""Atoms of designed measures: their values, their variances and their envelopes."""

import numpy as np
import pytest
from laws import atom_laws
from laws.atom_laws import BLOCKED, CASES
from numpy.testing import assert_allclose
from scipy.special import hyp0f1, j0

from bochner.spectral import Envelope, Iid
from bochner.spectral.atoms import CityBlockExponentials, DampedGaussians, Shells, sphere_mean
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


@pytest.mark.parametrize(
    "atoms", [Shells(3), CityBlockExponentials(3), DampedGaussians(3, 1.0)], ids=str
)
def test_all_members_are_one_at_zero_and_the_first_is_constant(atoms):
    scales = atoms.scales(2.0)
    assert scales[0] == 0.0
    assert (np.diff(scales) > 0.0).all()
    values = atoms.transform(np.array([0.0, 0.7, 2.0]), scales)
    assert_allclose(values[0], 1.0)
    assert_allclose(values[:, 0], 1.0)
    # The greatest falls to zero well before the reach, the least hardly falls.
    assert np.abs(values[1, -1]) < 0.1
    assert values[2, 1] > 0.97
    assert_allclose(atoms.law(0.0).draw(5, np.random.default_rng(0), Iid()).omega, 0.0)


@pytest.mark.parametrize("dim", [2, 5, 54, 200, 800])
@pytest.mark.parametrize("make", [Shells, lambda dim: DampedGaussians(dim, 1.0)])
def test_variances_are_finite_in_many_dimensions(make, dim):
    atoms = make(dim)
    distance = np.array([0.0, 1e-6, 0.3, 1.0, 2.0])
    for block in (1, dim):
        variance = atoms.variance(distance, 0.3 * distance**2, atoms.scales(2.0), block)
        assert np.isfinite(variance).all()
        assert (variance >= 0.0).all()
        assert_allclose(variance[0], 0.0, atol=1e-9 * block)


@pytest.mark.parametrize(
    "atoms", [Shells(3, 2.0), DampedGaussians(3, 2.0)], ids=["shell", "damped Gaussian"]
)
def test_envelopes_silence_rows_outside_the_ball(atoms):
    for scale in (0.0, 1.0):
        rate, radius = atoms.envelope(scale)
        assert radius == 2.0
        factors = Envelope([rate], [radius]).values([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
        assert_allclose(factors, [[1.0], [0.0]], atol=1e-4)
    assert Shells(3).envelope(1.0) == (0.0, 0.0)
