"""Singular components from triangular factors against the decomposition of the Gram matrix."""

from functools import partial

import numpy as np
import pytest
from laws.head_laws import dense_gram
from numpy.testing import assert_allclose, assert_array_equal

from bochner import Frequencies
from bochner.linear import singular
from bochner.linear.singular import SingularComponents, triangular_factor

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 3)), RNG.normal(size=(35, 2))
NEW, NEW_RIGHT = RNG.normal(size=(7, 3)), RNG.normal(size=(6, 2))
OMEGA, NU = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 2))
FREQUENCIES = Frequencies(OMEGA, RNG.normal(size=6), RNG.uniform(0.0, 6.0, size=6), NU)
gram = partial(dense_gram, FREQUENCIES)


def components(n_components, left=X, right=Y):
    factors = (
        triangular_factor(FREQUENCIES.features, left),
        triangular_factor(FREQUENCIES.features_right, right),
    )
    return SingularComponents.of(*factors, FREQUENCIES.signature, n_components)


def scores(found, left, right):
    return FREQUENCIES.features(left) @ found.left, FREQUENCIES.features_right(right) @ found.right


@pytest.mark.parametrize("n_components", [1, 4, 12])
def test_singular_values_and_the_best_approximation(n_components):
    U, values, Vt = np.linalg.svd(gram(X, Y), full_matrices=False)
    found = components(n_components)
    left, right = scores(found, X, Y)
    r = n_components
    assert_allclose(found.values, values[:r], rtol=1e-9)
    assert_allclose(left @ right.T, (U[:, :r] * values[:r]) @ Vt[:r], atol=1e-9)
    for mine, theirs in ((left, U), (right, Vt.T)):
        assert_allclose(mine.T @ mine, np.diag(values[:r]), atol=1e-9)
        assert_allclose(np.abs(mine), np.abs(theirs[:, :r]) * np.sqrt(values[:r]), atol=1e-8)


def test_scores_of_other_rows():
    U, values, Vt = np.linalg.svd(gram(X, Y), full_matrices=False)
    left, right = scores(components(5), NEW, NEW_RIGHT)
    expected = gram(NEW, Y) @ Vt[:5].T / np.sqrt(values[:5])
    expected_right = gram(X, NEW_RIGHT).T @ U[:, :5] / np.sqrt(values[:5])
    sign = np.sign(left[0] * expected[0])
    assert_allclose(left, sign * expected, atol=1e-9)
    assert_allclose(right, sign * expected_right, atol=1e-9)


def test_signs_do_not_depend_on_the_order_of_rows():
    found, shuffled = components(6), components(6, X[::-1], RNG.permutation(Y))
    assert_allclose(found.left, shuffled.left, atol=1e-8)
    assert_allclose(found.right, shuffled.right, atol=1e-8)
    largest = np.argmax(np.abs(found.left), axis=0)
    assert (found.left[largest, np.arange(6)] > 0.0).all()


def test_fewer_rows_than_components_give_as_many_as_rows():
    found = components(10, X[:4], Y)
    assert found.values.shape == (4,)
    left, right = scores(found, X[:4], Y)
    assert_allclose(left @ right.T, gram(X[:4], Y), atol=1e-9)


def test_singular_values_of_zero_have_no_scores():
    found = components(10, np.tile(X[:3], (5, 1)), Y)
    assert found.values.shape == (10,)
    assert (found.values[:3] > 0.01).all()
    assert (found.values[3:] < 1e-10).all()
    assert_array_equal(found.left[:, 3:], 0.0)
    assert_array_equal(found.right[:, 3:], 0.0)


def test_small_singular_values_keep_their_precision():
    # Nearly the same frequency twice: the Gram matrix of the features has eigenvalues of 1e-18.
    f = Frequencies([[1.0], [1.0 + 1e-9]], [1.0, -1.0], [0.0, 0.5])
    rows = np.linspace(-1.0, 1.0, 40)[:, None]
    factor = triangular_factor(f.features, rows)
    exact = np.linalg.svd(f.features(rows), compute_uv=False)
    assert exact[-1] < 1e-8
    assert_allclose(np.linalg.svd(factor, compute_uv=False), exact, atol=1e-14)


@pytest.mark.parametrize("block", [1, 5, 13, 50])
def test_blocks_of_rows_give_the_whole(monkeypatch, block):
    whole = triangular_factor(FREQUENCIES.features, X)
    monkeypatch.setattr(singular, "_ROWS", block)
    chunked = triangular_factor(FREQUENCIES.features, X)
    assert chunked.shape == (12, 12)
    assert_allclose(chunked.T @ chunked, whole.T @ whole, atol=1e-11)
