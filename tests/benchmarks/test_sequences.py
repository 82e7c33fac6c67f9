"""The benchmark of sequences: exact kernels by brute force, and data as they are described."""

import numpy as np
import pytest
from experimental.test_sequence_features import SHORT, signature_kernel, windows_kernel
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.harness import Cell, Options
from benchmarks.sequences import (
    PASSAGES,
    SEQUENCES,
    STEADY,
    STEPS,
    UNEVEN,
    WINDOWS,
    equal_steps,
    sequences,
    signature_levels,
    windows_gram,
)
from bochner.kernels import Gaussian

KERNEL = Gaussian(0.8)


def test_exact_kernels_are_sums_over_all_pairs():
    gram = [[windows_kernel(KERNEL, x, y, 2) for y in SHORT] for x in SHORT]
    assert_allclose(windows_gram(SHORT, KERNEL, 2), gram)
    levels = signature_levels(SHORT, KERNEL, 3)
    for level, found in enumerate(levels):
        weights = np.eye(4)[level][: level + 1]
        gram = [[signature_kernel(KERNEL, x, y, weights) for y in SHORT] for x in SHORT]
        assert_allclose(found, gram, atol=1e-12)


def test_uneven_digits_are_the_steady_ones_with_rows_repeated():
    (steady, digits), (uneven, same) = sequences(STEADY, 3), sequences(UNEVEN, 3)
    assert_array_equal(digits, same)
    assert {len(one) for one in steady} == {9}
    for one, other in zip(steady[:50], uneven, strict=False):
        changes = np.flatnonzero(np.abs(np.diff(other, axis=0)).max(axis=1))
        distinct = other[np.r_[changes, len(other) - 1]]
        expected = one[np.r_[np.flatnonzero(np.abs(np.diff(one, axis=0)).max(axis=1)), 8]]
        assert_array_equal(distinct, expected)
        assert 9 <= len(other) <= 72
    assert_allclose(equal_steps(steady[:5])[:, :9], [one[:, 0] for one in steady[:5]])


@pytest.mark.parametrize("name", [UNEVEN, PASSAGES])
def test_errors_fall_with_the_number_of_features(name):
    errors = [
        SEQUENCES.parts[0].measure(Cell(name, WINDOWS, 0, {"features": m}), Options())["error"]
        for m in (32, 2048)
    ]
    assert errors[1] < 0.5 * errors[0] < 0.5


def test_equal_steps_suffice_at_a_steady_speed():
    found = [
        SEQUENCES.parts[1].measure(Cell(name, STEPS, 0, {"features": 128}), Options())["accuracy"]
        for name in (STEADY, UNEVEN)
    ]
    assert found[0] > 0.9 > found[1] > 0.7
