"""Sums of waves whose amplitudes vary."""

import numpy as np
import pytest

from bochner.kernels import ModulatedWaves

RNG = np.random.default_rng(0)
WEIGHTS = [0.5, 1.5, 0.2]
S, V = RNG.normal(size=(2, 3, 2))
V[1] = 0.0
PHASES = [0.3, 5.0, -2.0]
KERNEL = ModulatedWaves(WEIGHTS, S, V, PHASES)


def test_it_is_positive_definite_of_as_many_waves():
    eigenvalues = np.linalg.eigvalsh(KERNEL(RNG.normal(size=(50, 2))))
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    assert np.count_nonzero(eigenvalues > 1e-10) == 6


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
