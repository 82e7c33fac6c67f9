"""How the parts of a measure share frequencies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import kernels
from bochner.spectral.design import designed_measure
from bochner.spectral.measure import ByMass, ByVariance, HalfByMass
from bochner.spectral.profiles import Pairs


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


@pytest.mark.parametrize("m", [15, 30, 45, 90])
def test_blocks_stay_whole_where_the_budget_allows(m):
    # In blocks of five the variances are a hundredth of those of single directions.
    mass = np.array([1.0, -0.8, 0.6])
    single = np.full(3, 0.3)
    allocation = ByVariance(tuple(single), tuple(0.01 * single), 5)
    assert not (allocation.counts(mass, m) % 5).any()


def test_a_part_without_variance_needs_one_frequency():
    allocation = ByVariance((0.0, 0.2, 0.2), (0.0, 0.05, 0.05), 4)
    counts = allocation.counts(np.array([3.0, 1.0, -1.0]), 17)
    assert_array_equal(counts, [1, 8, 8])


def test_no_variance_at_all_is_no_difficulty():
    counts = ByVariance((0.0, 0.0), (0.0, 0.0), 3).counts(np.ones(2), 20)
    assert counts.sum() == 20
    assert (counts >= 1).all()


def test_the_variances_of_whole_blocks_and_remainders():
    # Twelve directions of variance 0.4: two blocks of five with covariance c, and two more.
    covariance = (0.1 - 0.4) / 4
    expected = (2 * 5 * (0.4 + 4 * covariance) + 2 * (0.4 + covariance)) / 12**2
    got = ByVariance((0.4,), (0.1,), 5).variances(np.array([-3.0]), np.array([12]))
    assert_allclose(got, 9.0 * expected)


@pytest.mark.parametrize("kernel", [kernels.DeltaGaussian(), kernels.NTK()], ids=str)
def test_a_designed_measure_has_whole_blocks(kernel):
    m = 8 * 16
    measure = designed_measure(kernel, 16, Pairs.of_sphere(), m)
    counts = measure.allocation.counts(np.array([part.mass for part in measure.parts]), m)
    # At most one block is cut, by the frequency or two of parts that need no more.
    incomplete = counts % 16
    assert ((incomplete == 0) | (counts < 16) | (incomplete > 8)).all()
    assert ((counts > 1) & (incomplete > 0)).sum() <= 1


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


def test_shares_by_mass_leave_no_part_without_a_frequency():
    counts = ByMass().counts(np.array([1.0, -2.0, 1.0, 0.0, 1e-9]), 245)
    assert_array_equal(counts, [1 + 60, 1 + 120, 1 + 60, 1, 1])
    rng = np.random.default_rng(2)
    for _ in range(300):
        mass = rng.normal(size=int(rng.integers(1, 7))) ** 3
        m = len(mass) + int(rng.integers(0, 50))
        counts = ByMass().counts(mass, m)
        exact = 1.0 + (m - len(mass)) * np.abs(mass) / np.abs(mass).sum()
        assert counts.sum() == m
        assert counts.min() >= 1
        assert np.abs(counts - exact).max() < 1.0
        assert ByMass().least(mass) == len(mass)


@pytest.mark.parametrize("allocation", [HalfByMass(), ByMass()])
@pytest.mark.parametrize("m", [1, 3, 8])
def test_no_mass_at_all_is_no_difficulty(m, allocation):
    counts, weights = allocation.share(np.zeros(2), m, np.random.default_rng(0))
    assert counts.sum() == m
    assert_array_equal(weights, 0.0)


@pytest.mark.parametrize("allocation", [HalfByMass(), ByMass()])
def test_parts_that_need_few_frequencies_leave_the_others_more(allocation):
    rng = np.random.default_rng(3)
    capped = 0
    for mass, _, m in random_problems(300, 3):
        most = np.where(rng.random(len(mass)) < 0.5, rng.integers(1, 5, len(mass)), m)
        m = max(m, allocation.least(mass))
        plain, _ = allocation.share(mass, m, rng)
        counts, weights = allocation.share(mass, m, rng, most)
        assert counts.sum() == m
        assert counts.min() >= 1
        assert_allclose(counts * weights, mass)
        full = plain >= most
        if full.all() or not (plain > most).any():
            assert_array_equal(counts, plain)
            continue
        # Who had too many has what it needs, and no other less than before, but for rounding.
        assert (counts[full] == most[full]).all() or (counts == plain).all()
        assert (counts >= np.minimum(plain, most) - 1).all()
        capped += int((counts <= most).all())
    assert capped > 50
