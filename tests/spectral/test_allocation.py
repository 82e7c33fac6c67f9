"""How the parts of a measure share frequencies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.spectral.measure import ByMass, ByVariance, HalfByMass


def random_problems(n, seed):
    """Masses, variances and budgets of every kind, with covariances that blocks may have."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        n_parts, block = int(rng.integers(1, 7)), int(rng.choice([1, 2, 3, 5, 16]))
        single = rng.random(n_parts) ** rng.choice([1, 4])
        least = -single / max(block - 1, 1)
        covariance = least + (single - least) * rng.random(n_parts) ** rng.choice([1, 3])
        blocked = single + (block - 1) * covariance
        if rng.random() < 0.3:
            single[0] = blocked[0] = 0.0
        mass = rng.normal(size=n_parts) * 10.0 ** rng.uniform(-2, 1, n_parts)
        m = n_parts + int(rng.integers(0, 6 * block * n_parts))
        yield mass, ByVariance(tuple(single), tuple(blocked), block), m


def equal_shares(n_parts, m):
    return np.array([m // n_parts + (i < m % n_parts) for i in range(n_parts)])


@pytest.mark.parametrize("seed", range(4))
def test_all_frequencies_are_given_to_every_part_and_equal_shares_are_never_better(seed):
    for mass, allocation, m in random_problems(500, seed):
        counts = allocation.counts(mass, m)
        assert counts.sum() == m
        assert (counts >= 1).all()
        equal = allocation.variances(mass, equal_shares(len(mass), m)).sum()
        assert allocation.variances(mass, counts).sum() <= equal * (1.0 + 1e-12)


def test_independent_frequencies_are_shared_as_neyman_says():
    # The variance of shares in proportion to mass times deviation is (sum |a| s)^2 / m.
    mass, single = np.array([2.0, -1.0, 0.5]), (0.1, 0.4, 0.2)
    allocation = ByVariance(single, single, 1)
    best = np.sum(np.abs(mass) * np.sqrt(single)) ** 2 / 900
    variance = allocation.variances(mass, allocation.counts(mass, 900)).sum()
    assert best <= variance < 1.001 * best


def test_two_parts_share_as_well_as_any_way_to_share():
    found = [
        (mass, allocation, m)
        for mass, allocation, m in random_problems(1000, 9)
        if len(mass) == 2 and allocation.block == 1
    ]
    assert len(found) > 20
    for mass, allocation, m in found:
        every = [
            allocation.variances(mass, np.array([first, m - first])).sum() for first in range(1, m)
        ]
        variance = allocation.variances(mass, allocation.counts(mass, m)).sum()
        assert variance <= 1.1 * min(every)


def test_the_variances_of_whole_blocks_and_remainders():
    # Twelve directions of variance 0.4: two blocks of five with covariance c, and two more.
    covariance = (0.1 - 0.4) / 4
    expected = (2 * 5 * (0.4 + 4 * covariance) + 2 * (0.4 + covariance)) / 12**2
    got = ByVariance((0.4,), (0.1,), 5).variances(np.array([-3.0]), np.array([12]))
    assert_allclose(got, 9.0 * expected)


MASSES = np.array([0.5, -3.0, 1.0, 0.0])


@pytest.mark.parametrize(
    "allocation",
    [HalfByMass(), ByMass(), ByVariance((0.1, 0.2, 0.3, 0.4), (0.1, 0.1, 0.1, 0.1), 4)],
)
def test_weights_of_a_part_sum_to_its_mass(allocation):
    counts, weights = allocation.share(MASSES, 40, np.random.default_rng(0))
    assert_allclose(counts * weights, MASSES)


FEW = pytest.mark.parametrize(
    "allocation", [HalfByMass(), ByMass(), ByVariance((0.1,) * 4, (0.1,) * 4, 1)]
)


@FEW
def test_expected_numbers_of_few_frequencies_have_the_mass_of_their_part(allocation):
    _, weights = allocation.share(MASSES, 3, np.random.default_rng(0))
    expected_counts = 3.0 * np.abs(MASSES) / 4.5
    assert_allclose(expected_counts * weights, MASSES)


@pytest.mark.thorough
@FEW
def test_few_frequencies_choose_parts_at_random_without_bias(allocation):
    totals = np.zeros(4)
    n = 20_000
    for stream in np.random.default_rng(1).spawn(n):
        counts, weights = allocation.share(MASSES, 3, stream)
        assert counts.sum() == 3
        totals += counts * weights
    # Each of three draws is a part with chance |a| / 4.5 and then weighs 1.5: five deviations.
    chance = np.abs(MASSES) / 4.5
    deviation = 1.5 * np.sqrt(3.0 * chance * (1.0 - chance) / n)
    assert (np.abs(totals / n - MASSES) <= 5.0 * deviation).all()
