"""The Walsh-Hadamard transform, and the compiled loop against it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from bochner._numerics.hadamard import (
    hadamard_transform,
    reference_signed_transforms,
    signed_transforms,
)


@pytest.mark.parametrize("order", [1, 2, 16])
def test_hadamard_is_sylvesters_matrix(order):
    rows = np.random.default_rng(0).normal(size=(2, 3, order))
    expected = rows @ hadamard(order) / np.sqrt(order)
    assert_allclose(hadamard_transform(rows), expected, atol=1e-14)
    assert_allclose(hadamard_transform(hadamard_transform(rows)), rows, atol=1e-14)


@pytest.mark.parametrize("order", [0, 3, 12])
def test_hadamard_refuses_other_orders(order):
    with pytest.raises(ValueError, match="power of two"):
        hadamard_transform(np.zeros((2, order)))


@pytest.mark.parametrize("n_rounds", [1, 2, 3])
@pytest.mark.parametrize(
    ("order", "dim", "m"),
    [(1, 1, 3), (2, 1, 2), (4, 3, 9), (8, 8, 8), (32, 20, 1), (64, 64, 100), (512, 300, 700)],
)
def test_the_loop_does_what_the_reference_does(order, dim, m, n_rounds):
    rng = np.random.default_rng(order)
    signs = rng.choice((-1, 1), size=(-(-m // order), n_rounds, order)).astype(np.int8)
    X, scale = rng.normal(size=(5, dim)), rng.normal(size=m)
    found = signed_transforms(X, signs, scale)
    assert_allclose(found, reference_signed_transforms(X, signs, scale), rtol=0.0, atol=4e-14)


def test_no_rows():
    signs = np.ones((1, 3, 4), dtype=np.int8)
    assert signed_transforms(np.empty((0, 3)), signs, np.ones(2)).shape == (0, 2)
