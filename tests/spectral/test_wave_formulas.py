"""The compiled loop against sines and cosines of many digits, and against NumPy's."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner._base.wave_loops import FARTHEST
from bochner.spectral.wave_formulas import reference_waves, write_waves

TYPES = (np.float32, np.float64)
BOUND = {np.float32: 1.2e-7, np.float64: 2.3e-16}


def written(angle, phase=0.0, amplitude=1.0, dtype=None, by=write_waves):
    out = np.empty((len(angle), 2, angle.shape[1]), dtype=dtype or angle.dtype)
    by(angle, out, np.full(angle.shape[1], phase), np.full(angle.shape[1], amplitude, out.dtype))
    return out


def exact(angle):
    """Return cosines and sines of the angles as they are, from forty digits."""
    with mpmath.workdps(40):
        values = [(mpmath.cos(v), mpmath.sin(v)) for v in map(mpmath.mpf, map(float, angle))]
        return np.array(values, dtype=np.float64).T


def hard_angles(reach):
    """Return angles all over the range, and beside multiples of a quarter of pi."""
    rng = np.random.default_rng(0)
    multiples = np.pi / 4 * rng.integers(int(reach / (np.pi / 4)), size=600)
    near = multiples * (1.0 + 1e-15 * rng.integers(-9, 9, size=600))
    return np.concatenate([rng.uniform(-reach, reach, size=1200), near, -near, [0.0, reach]])


@pytest.mark.thorough_cases(but=r"float64|100\.0|100000\.0")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("reach", [1.0, 20.0, 100.0, FARTHEST])
def test_errors_against_many_digits(dtype, reach):
    angle = hard_angles(reach).astype(dtype)
    angle = angle[np.abs(angle) <= FARTHEST]
    right = exact(angle)
    found = written(angle[None])[0]
    assert np.abs(found.astype(np.float64) - right).max() <= BOUND[dtype]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 7), (5, 64), (2, 1001), (150, 1001), (3, 70_000), (0, 4), (4, 0)]
)
def test_every_entry_lands_in_its_place(dtype, shape):
    """In single precision some rows are computed together: 65 of 1,001 waves, or one of 70,000."""
    angle = np.random.default_rng(1).uniform(-50.0, 50.0, size=shape).astype(dtype)
    found, reference = (written(angle, 0.0, 0.3, by=by) for by in (write_waves, reference_waves))
    assert found.dtype == dtype
    assert_allclose(found, reference, atol=BOUND[dtype])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("far", [2.0 * FARTHEST, 1e12, 1e30])
def test_angles_beyond_the_reduction_are_those_of_numpy(dtype, far):
    angle = np.array([[0.5, -3.0], [far, 1.0], [1.0, -far]], dtype=dtype)
    assert_array_equal(written(angle), written(angle, by=reference_waves))
    late = np.ones((150, 1001), dtype=dtype)
    late[140, 3] = far
    assert_array_equal(written(late), written(late, by=reference_waves))


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_no_angle_has_no_sine(strange):
    with np.errstate(invalid="ignore"):
        found = written(np.array([[1.0, strange, 2.0]]))
    assert np.isnan(found[0, :, 1]).all()
    assert np.isfinite(found[0][:, [0, 2]]).all()


@pytest.mark.thorough_cases(but="float64|shape2|shape3")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (2, 1001), (0, 4)])
def test_phases_and_amplitudes_belong_to_columns(dtype, shape):
    rng = np.random.default_rng(2)
    angle, phase = rng.uniform(-90.0, 90.0, size=shape), rng.uniform(-4.0, 4.0, size=shape[1])
    amplitude = rng.uniform(0.0, 2.0, size=shape[1])
    found = written(angle, phase, amplitude, dtype)
    right = [amplitude * np.cos(angle + phase), amplitude * np.sin(angle + phase)]
    assert_allclose(found, np.stack(right, axis=1), atol=4.0 * BOUND[dtype])
