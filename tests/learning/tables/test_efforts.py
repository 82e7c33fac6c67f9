"""Sizes of a fit within a time limit, by counts of operations at a known speed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner._numerics.progress import silent
from bochner.learning.tables import learner as learners
from bochner.learning.tables.efforts import EFFORTS, Effort, measured_rate, tree_seconds
from bochner.learning.tables.kernel_laws import KernelLaw
from bochner.learning.tables.learner import Learner
from bochner.learning.tables.observations import Observations
from bochner.learning.tables.tree_laws import TreeLaw

RATE = 1e11
DEFAULT = EFFORTS["default"]


def sizes(effort):
    return effort.search_rows, effort.more_rows, effort.most_exact, effort.n_landmarks


@pytest.mark.parametrize("n_rows", [300, 10_000, 1_000_000])
def test_a_long_limit_changes_nothing(n_rows):
    assert sizes(DEFAULT.within(1e6, n_rows, 10, 8, RATE)) == sizes(DEFAULT)


@pytest.mark.parametrize("n_rows", [300, 5000, 50_000])
@pytest.mark.parametrize("n_columns", [3, 500])
def test_sizes_grow_with_the_limit_and_stay_useful(n_rows, n_columns):
    limits = [1e-9, 1.0, 3.0, 10.0, 30.0, 100.0]
    found = [sizes(DEFAULT.within(limit, n_rows, n_columns, 8, RATE)) for limit in limits]
    assert_array_equal(found, np.maximum.accumulate(found))
    assert found[0][0] == 200
    assert min(size[3] for size in found) >= 200
    assert min(size[1] - size[0] for size in found) >= 0


def test_rows_too_many_for_the_limit_are_represented_by_landmarks():
    effort = DEFAULT.within(2.0, 10_000, 10, 8, RATE)
    assert DEFAULT.landmarks(10_000) == 0
    m = effort.landmarks(10_000)
    assert 200 <= m < DEFAULT.n_landmarks
    assert m**2 * 10_000 < 2.0 * RATE


def check_landmarks():
    """As many landmarks for very many rows, whose time is that of passes."""
    assert [DEFAULT.landmarks(n) for n in (16_500, 16_501, 10**6, 10**8)] == [0] + 3 * [4000]
    assert EFFORTS["quick"].landmarks(10**6) == 1500
    limited = DEFAULT.within(30.0, 10**6, 20, 8, RATE)
    m = limited.landmarks(10**6)
    assert m == limited.n_landmarks < 4000
    # The products of all rows would take longer than the limit allows.
    assert 4.0 * m**2 * 10**6 > 0.35 * 30.0 * RATE
    assert DEFAULT.within(30.0, 10**6, 200, 8, RATE).n_landmarks < m


def test_landmarks_do_not_fall_with_rows():
    check_landmarks()


def check_rest():
    """What is left of a limit after the search decides the landmarks again."""
    found = [DEFAULT.sizes_within(s, 10**6, 20, RATE)[1] for s in (1.0, 20.0, 60.0, 1e4)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (200, 4000)
    assert 200 < found[1] < found[2]


def test_the_rest_of_a_limit_decides_the_landmarks():
    check_rest()


def test_faster_machines_fit_more():
    slow, fast = (DEFAULT.within(3.0, 40_000, 8, 8, rate) for rate in (1e10, 1e12))
    assert slow.n_landmarks < fast.n_landmarks


def test_small_sizes_are_not_raised():
    tiny = Effort(DEFAULT.families, 60, 100, 40, 80)
    assert sizes(tiny.within(1e-9, 300, 3, 8, RATE)) == (60, 60, 0, 40)


def test_the_measured_rate_is_that_of_a_machine():
    assert 1e7 < measured_rate(1) < 1e15


def test_trees_take_longer_with_rows_columns_and_number():
    base = (1000, 10, 100)
    for place in range(3):
        more = [size * (100 if place == number else 1) for number, size in enumerate(base)]
        assert tree_seconds(*more, RATE) > tree_seconds(*base, RATE)


@pytest.mark.parametrize("rate", [1e30, 1e3])
def test_the_learner_fits_what_the_limit_allows(rate, monkeypatch):
    """On a slow machine kernels on few landmarks; on a fast one exact kernels, and trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    rows = Observations.of(X, X[:, :1] ** 2, np.ones(400))
    monkeypatch.setattr(learners, "measured_rate", lambda n_threads: rate)
    effort = Effort(EFFORTS["quick"].families, 250, 2000, 300)
    judged = Learner(effort, 1, 1e3, silent).fit(rows, [np.arange(3)], rng)
    laws = judged.laws.members
    is_fast = rate > 1e10
    assert {len(law.coef) for law in laws if isinstance(law, KernelLaw)} == {
        400 if is_fast else 200
    }
    assert any(isinstance(law, TreeLaw) for law in laws) == is_fast
