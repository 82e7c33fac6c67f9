"""Frequencies: dtypes, sparse input, chunks and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner import Frequencies

RNG = np.random.default_rng(0)
X = RNG.normal(size=(11, 3))
OMEGA, WEIGHT = RNG.normal(size=(6, 3)), RNG.normal(size=6)
F = Frequencies(OMEGA, WEIGHT)
GENERAL = Frequencies(OMEGA, WEIGHT, RNG.uniform(size=6), RNG.normal(size=(6, 3)))


def test_sizes_and_signature():
    assert (F.n_frequencies, F.dim) == (6, 3)
    assert_array_equal(F.signature, np.tile(np.sign(WEIGHT), 2))
    assert F.is_symmetric
    assert not GENERAL.is_symmetric


def test_inputs_are_copied():
    omega = OMEGA.copy()
    f = Frequencies(omega, WEIGHT)
    omega[:] = 0.0
    assert_array_equal(f.omega, OMEGA)
    assert omega.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((OMEGA[0], WEIGHT), "omega must have shape"),
        ((np.empty((0, 3)), []), "omega must have shape"),
        ((OMEGA, WEIGHT[:-1]), r"weight must have shape \(6,\)"),
        ((OMEGA, WEIGHT, np.zeros(5)), r"phase must have shape \(6,\)"),
        (
            (OMEGA, WEIGHT, None, OMEGA[:5]),
            r"nu must have shape \(m, d2\) with m = 6.*got \(5, 3\)",
        ),
        ((OMEGA, WEIGHT, None, OMEGA[:, 0]), r"nu must have shape \(m, d2\).*got \(6,\)"),
        ((OMEGA, WEIGHT, None, np.empty((6, 0))), r"nu must have shape \(m, d2\)"),
        ((np.full((1, 1), np.inf), [1.0]), "omega must be finite"),
        ((OMEGA, np.full(6, np.nan)), "weight must be finite"),
    ],
)
def test_bad_arrays_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Frequencies(*arguments)


WIDE = Frequencies(OMEGA, WEIGHT, RNG.uniform(size=6), RNG.normal(size=(6, 5)))
RIGHT = RNG.normal(size=(7, 5))


def test_frequencies_are_two_sided_one_by_one():
    phase = np.array([0.0, 0.3, 0.0, 0.0, -1.0, 0.0])
    nu = OMEGA.copy()
    nu[3, 1] += 1e-9
    assert_array_equal(Frequencies(OMEGA, WEIGHT, phase, nu).is_two_sided, [0, 1, 0, 1, 1, 0])
    same = Frequencies(OMEGA, WEIGHT, nu=OMEGA.copy())
    assert same.is_symmetric
    assert not F.is_two_sided.any()


def test_only_frequencies_can_be_added():
    with pytest.raises(TypeError):
        F + 1.0
