"""Least-squares masses, against a solver of the explicit problem and against quadrature."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear

from bochner.spectral.frequencies import Frequencies
from bochner.spectral.least_squares import Sample, least_squares_masses

DIM = 2
KINDS = {
    "positive": (1.0, 0.0),
    "negative": (-1.0, 0.0),
    "imaginary": (1.0, np.pi / 2),
    "conjugate": (0.7, -np.pi / 2),
}


def part(kind, seed, m=6):
    rng = np.random.default_rng(seed)
    sign, phase = KINDS[kind]
    omega = rng.normal(size=(m, DIM)) * rng.uniform(0.5, 2.0)
    return Frequencies(omega, sign * rng.uniform(0.1, 1.0, m), np.full(m, phase))


def rows_and_gram(seed, n=14, n2=14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, DIM))
    Y = X if n == n2 else rng.normal(size=(n2, DIM))
    K = np.exp(-np.square(X[:, None] - Y[None] + 0.3).sum(axis=-1)) + 0.2 * rng.normal(size=(n, n2))
    return Sample(X, Y, K)


def columns(parts, sample):
    """The flat Gram matrices of the parts, from angles."""
    grams = []
    for f in parts:
        angle = (f.omega @ sample.left.T)[:, :, None] - (f.nu @ sample.right.T)[:, None, :]
        angle += f.phase[:, None, None]
        grams.append((f.weight[:, None, None] * np.cos(angle)).sum(axis=0).ravel())
    return np.stack(grams, axis=1)


def factors(parts, fitted):
    """The masses of the fitted parts relative to those at the start."""
    xi = np.array([g.weight[0] / f.weight[0] for f, g in zip(parts, fitted, strict=True)])
    for f, g, factor in zip(parts, fitted, xi, strict=True):
        assert_allclose(g.weight, factor * f.weight, rtol=1e-12)
        for name in ("omega", "nu", "phase"):
            assert_array_equal(getattr(g, name), getattr(f, name))
    return xi


def brute_force(A, b, values, total):
    """Least squares on every face of the feasible set: the best of the feasible ones.

    On a face, factors outside a support are zero, and the equation is a plane.
    """
    best, least = None, np.inf
    size = A.shape[1]
    for count in range(size + 1):
        for support in map(list, combinations(range(size), count)):
            xi = np.zeros(size)
            row = values[support]
            if row.any():
                point = row * total / (row @ row)
                plane = np.linalg.svd(row[None])[2][1:].T
                step = np.linalg.lstsq(A[:, support] @ plane, b - A[:, support] @ point)[0]
                xi[support] = point + plane @ step
            elif total == 0.0:
                xi[support] = np.linalg.lstsq(A[:, support], b)[0]
            else:
                continue
            value = np.sum((A @ xi - b) ** 2)
            meets = xi.min() >= -1e-12 and abs(values @ xi - total) < 1e-9
            if meets and value < least:
                best, least = xi, value
    return best, least


CASES = [
    ("positive",),
    ("positive", "imaginary"),
    ("positive", "negative"),
    ("positive", "negative", "imaginary"),
    ("positive", "negative", "imaginary", "conjugate"),
    ("positive", "positive", "imaginary"),
    ("positive", "negative", "positive", "negative", "imaginary"),
]


@pytest.mark.parametrize(
    ("kinds", "total"),
    [
        (kinds, total)
        for kinds in CASES
        for total in (1.0, 0.05, 0.0, -0.6)
        if total >= 0.0 or "negative" in kinds
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else str(value),
)
def test_masses_are_those_of_brute_force(kinds, total):
    boundary = 0
    for seed in range(6):
        parts = [part(kind, 10 * seed + i) for i, kind in enumerate(kinds)]
        sample = rows_and_gram(seed, *((14, 14) if seed % 2 else (9, 16)))
        values = np.array([0.0 if f.phase.any() else f.weight.sum() for f in parts])
        A = columns(parts, sample)
        # The free solution of most samples is nearly feasible.
        near = np.random.default_rng(seed).uniform(0.5, 1.5, len(parts))
        near += values * (total - values @ near) / (values @ values)
        b = A @ near + 0.1 * sample.gram.ravel() if seed % 3 else sample.gram.ravel()
        sample = Sample(sample.left, sample.right, b.reshape(sample.gram.shape))
        xi = factors(parts, least_squares_masses(parts, sample, total))
        expected, least = brute_force(A, b, values, total)
        assert xi.min() >= 0.0
        assert_allclose(values @ xi, total, atol=1e-10)
        assert_allclose(np.sum((A @ xi - b) ** 2), least, rtol=1e-9)
        assert_allclose(xi, expected, atol=1e-7)
        boundary += xi.min() == 0.0
    assert boundary < 6 or total < 1.0


@pytest.mark.parametrize("kinds", CASES, ids="-".join)
def test_free_masses_are_nonnegative_least_squares(kinds):
    for seed in range(4):
        parts = [part(kind, 10 * seed + i) for i, kind in enumerate(kinds)]
        sample = rows_and_gram(seed, 12, 8)
        xi = factors(parts, least_squares_masses(parts, sample))
        solution = lsq_linear(columns(parts, sample), sample.gram.ravel(), (0.0, np.inf), tol=1e-14)
        assert_allclose(xi, solution.x, atol=1e-6)


def test_one_real_part_has_all_of_the_value_at_zero():
    # Whatever the Gram matrix says: a part of zero mass is not there to be drawn from.
    for seed in range(4):
        parts = [part("positive", seed), part("imaginary", seed + 50)]
        sample = rows_and_gram(seed)
        fitted = least_squares_masses(
            parts, Sample(sample.left, sample.right, 9.0 * sample.gram), 2
        )
        assert_allclose(fitted[0].weight.sum(), 2.0, rtol=1e-12)


def test_phases_of_all_kinds_set_no_constraint():
    rng = np.random.default_rng(0)
    sample = rows_and_gram(0)
    f = Frequencies(rng.normal(size=(5, DIM)), np.full(5, 0.2), rng.uniform(-3.0, 3.0, 5))
    column = columns([f], sample)[:, 0]
    sample = Sample(sample.left, sample.right, sample.gram + 3.0 * column.reshape(14, 14))
    expected = column @ sample.gram.ravel() / (column @ column)
    assert expected > 0.0
    for value in (None, 1.0):
        assert_allclose(factors([f], least_squares_masses([f], sample, value)), expected)
    opposite = Sample(sample.left, sample.right, -sample.gram)
    assert_array_equal(factors([f], least_squares_masses([f], opposite, 1.0)), 0.0)
    # Next to a polar part, a real part has not all of the value at zero.
    real = part("positive", 1)
    both = factors([real, f], least_squares_masses([real, f], sample, 100.0))
    solution = lsq_linear(columns([real, f], sample), sample.gram.ravel(), (0.0, np.inf), tol=1e-14)
    assert_allclose(both, solution.x, atol=1e-6)


def test_values_at_zero_that_no_factors_give_are_refused():
    sample = rows_and_gram(0)
    with pytest.raises(ValueError, match=r"value at zero is 1, but no part .* has that sign"):
        least_squares_masses([part("negative", 0), part("imaginary", 1)], sample, 1.0)
    with pytest.raises(ValueError, match=r"value at zero is -1, but .*give value_at_zero=None"):
        least_squares_masses([part("positive", 0)], sample, -1.0)
    with pytest.raises(ValueError, match="At least one part"):
        least_squares_masses([], sample)
