"""Sums of waves whose amplitudes vary."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.kernels import ModulatedWaves

RNG = np.random.default_rng(0)
WEIGHTS = [0.5, 1.5, 0.2]
S, V = RNG.normal(size=(2, 3, 2))
V[1] = 0.0
PHASES = [0.3, 5.0, -2.0]
KERNEL = ModulatedWaves(WEIGHTS, S, V, PHASES)
X, Y = RNG.normal(size=(9, 2)), RNG.normal(size=(6, 2))


def test_its_diagonal_averages_to_its_weights():
    wide = 200.0 * RNG.normal(size=(20_000, 2))
    assert abs(KERNEL.diag(wide).mean() - sum(WEIGHTS)) < 0.05


def test_it_is_positive_definite_of_as_many_waves():
    eigenvalues = np.linalg.eigvalsh(KERNEL(RNG.normal(size=(50, 2))))
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    assert np.count_nonzero(eigenvalues > 1e-10) == 6


def test_it_changes_with_the_place():
    moved = KERNEL(X + 1.0, Y + 1.0)
    assert np.abs(moved - KERNEL(X, Y)).max() > 0.1
    constant = ModulatedWaves(WEIGHTS, S, np.zeros((3, 2)), PHASES)
    assert_allclose(constant(X + 1.0, Y + 1.0), constant(X, Y), atol=1e-12)
    assert_array_equal(constant.diag(X), np.full(9, sum(WEIGHTS)))


def test_it_is_a_value():
    for twin in (pickle.loads(pickle.dumps(KERNEL)), copy.deepcopy(KERNEL)):
        assert twin == KERNEL
        assert hash(twin) == hash(KERNEL)
    assert ModulatedWaves(WEIGHTS, S.tolist(), V.tolist(), np.array(PHASES)) == KERNEL
    assert ModulatedWaves(WEIGHTS, S, V, [0.3, 5.0, -2.1]) != KERNEL
    assert repr(KERNEL) == "ModulatedWaves(3 waves of 2 inputs)"
    assert KERNEL.dim == 2
    assert KERNEL.is_symmetric


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], S, V, PHASES), r"weights must have shape \(3,\), got \(1,\)"),
        ((WEIGHTS, S, V[:, :1], PHASES), r"modulations must have shape \(3, 2\), got \(3, 1\)"),
        ((WEIGHTS, S, V, PHASES[:2]), r"phases must have shape \(3,\), got \(2,\)"),
        ((WEIGHTS, S[0], V, PHASES), r"frequencies \(Q, d\), got \(3,\) and \(2,\)"),
        ((1.0, S, V, PHASES), r"weights must have shape \(Q,\)"),
        (([], np.empty((0, 2)), np.empty((0, 2)), []), r"\(0,\) and \(0, 2\)"),
        (([1.0, 0.0, 1.0], S, V, PHASES), "weights must be positive"),
        (([1.0, np.nan, 1.0], S, V, PHASES), "weights must be finite"),
        ((WEIGHTS, S * np.inf, V, PHASES), "frequencies must be finite"),
        ((WEIGHTS, S, V, [0.0, np.inf, 0.0]), "phases must be finite"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ModulatedWaves(*arguments)


@pytest.mark.parametrize("inputs", [np.ones((4, 3)), np.ones((4, 1))])
def test_inputs_of_another_width_are_refused(inputs):
    for use in (KERNEL, KERNEL.diag):
        with pytest.raises(ValueError, match="defined on 2 inputs"):
            use(inputs)
