"""Inertia and effective rank against planted spectra."""

import numpy as np
import pytest

from bochner.linear.diagnosis_result import spectrum_of


def planted(values, seed=0):
    """A symmetric matrix with these eigenvalues."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return (vectors * values) @ vectors.T


@pytest.mark.parametrize(("positive", "negative", "zero"), [(5, 3, 4), (12, 0, 1), (0, 2, 7)])
def test_inertia_is_that_of_a_congruent_signature(positive, negative, zero):
    n = positive + negative + zero
    factor = np.random.default_rng(1).standard_normal((n, positive + negative))
    signs = np.repeat([1.0, -1.0], [positive, negative])
    found = spectrum_of((factor * signs) @ factor.T)
    assert (found.n_positive, found.n_negative, found.n_zero) == (positive, negative, zero)


def test_the_negative_part_is_measured():
    found = spectrum_of(planted([4.0, 1.0, 0.0, -2.0, -1.0]))
    assert found.negative_share == pytest.approx(3.0 / 8.0)
    assert found.most_negative == pytest.approx(-0.5)
    assert spectrum_of(planted([1.0, -4.0])).most_negative == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("values", "definiteness"),
    [
        ([2.0, 1.0, 0.0], "positive semidefinite"),
        ([-2.0, -1.0, 0.0], "negative semidefinite"),
        ([2.0, -1.0, 0.0], "indefinite"),
        ([0.0, 0.0], "zero"),
    ],
)
def test_definiteness(values, definiteness):
    assert spectrum_of(planted(values)).definiteness == definiteness


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_effective_rank_of_a_geometric_spectrum(sign):
    ratio, n = 0.7, 30
    found = spectrum_of(planted(ratio ** np.arange(n) * np.resize([1.0, sign], n)))
    expected = (1 + ratio) / (1 - ratio) * (1 - ratio**n) / (1 + ratio**n)
    assert found.effective_rank == pytest.approx(expected)
    # The first r make (1 - ratio^r) / (1 - ratio^n) of the whole.
    assert found.rank_99 == np.ceil(np.log(1 - 0.99 * (1 - ratio**n)) / np.log(ratio)) == 13


def test_no_more_than_the_symmetric_part_counts():
    skew = np.random.default_rng(2).standard_normal((6, 6))
    symmetric = planted([5.0, 2.0, 1.0, -1.0, -2.0, -3.0])
    found, expected = spectrum_of(symmetric + skew - skew.T), spectrum_of(symmetric)
    assert (found.n_positive, found.n_negative) == (3, 3)
    assert found.effective_rank == pytest.approx(expected.effective_rank)
