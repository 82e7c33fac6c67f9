"""Sizes of a fit within a memory limit, by the bytes that fits of small sizes have allocated."""

import tracemalloc
from functools import partial
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner import TableRegressor
from bochner.kernels import Matern
from bochner.tables import fit_plan as memory
from bochner.tables import kernel_laws, landmark_fits
from bochner.tables.fit_plan import EFFORTS, trees_fit, within_memory
from bochner.tables.kernel_laws import exact, on_landmarks
from bochner.tables.kernel_search import Family, begun, finished, refined
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import Observations
from bochner.tables.tree_growth import TreeSizes, boosted, squared

DEFAULT = EFFORTS["default"]
COLUMNS = np.arange(3)


def sizes(effort):
    return effort.search_rows, effort.more_rows, effort.most_exact, effort.n_landmarks


@pytest.mark.parametrize("n_columns", [3, 100])
def test_sizes_grow_with_the_limit(n_columns):
    limits = [300 * 10**6, 10**9, 3 * 10**9, 10**10]
    found = [sizes(within_memory(DEFAULT, limit, (20_000, n_columns), 1)) for limit in limits]
    assert_array_equal(found, np.maximum.accumulate(found))
    assert found[0] < found[-1] == sizes(DEFAULT)


def test_a_limit_below_the_smallest_fit_is_refused():
    shape = 100_000, 20
    with pytest.raises(ValueError, match=r"memory_limit is 100 MB.*100,000 different rows") as low:
        within_memory(DEFAULT, 10**8, shape, 1)
    needed = float(str(low.value).split("columns needs ")[1].split(" MB")[0])
    assert within_memory(DEFAULT, int(1.001e6 * needed), shape, 1).n_landmarks >= 200
    with pytest.raises(ValueError, match="columns needs"):
        within_memory(DEFAULT, int(0.98e6 * needed), shape, 1)


def test_many_classes_need_memory():
    """A thousand classes of 5,000 rows need 450 MB, and trees of them more."""
    few, many = (5000, 16, 0), (5000, 16, 4_995_000)
    assert within_memory(DEFAULT, 3 * 10**8, few, 1).n_landmarks >= 200
    with pytest.raises(ValueError, match="16 encoded columns and many targets or classes needs"):
        within_memory(DEFAULT, 3 * 10**8, many, 1)
    limits = [3 * 10**8, 10**9, 10**10]
    assert [trees_fit(limit, few, 2500) for limit in limits] == [True] * 3
    assert [trees_fit(limit, many, 2_500_000) for limit in limits] == [False] * 2 + [True]


def peak_of(work):
    """Return the most bytes that arrays had at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def problem(n_rows, n_scored):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n_rows, 3)), rng.normal(size=(n_rows, 1))
    rows = Observations.of(X, Y, np.ones(n_rows))
    order = np.arange(n_rows)
    parts = np.zeros(n_scored, dtype=np.int64)
    return rows.rows(order, n_scored), rows.scored(order, n_scored, parts)


KERNEL = LearnedKernel(Matern((1.0, 1.0, 1.0), nu=2.5), 0.1)


BLOCK = 2**18
"""Bytes of a block of kernel values, so that the matrices are most of the memory."""


def check_exact(n_rows=1500, n_scored=1500):
    """The estimate of an exact fit is about the most of its arrays at a time.

    Pages of them that are not written to take no memory.
    """
    rows, scored = problem(n_rows, n_scored)
    fit = partial(exact, "k", KERNEL, rows, COLUMNS, 100, scored, 1)
    expected = float(memory._of_exact(np.array([n_rows]), n_scored)[0])
    with (
        mock.patch.object(landmark_fits, "BLOCK_BYTES", BLOCK),
        mock.patch.object(kernel_laws, "BLOCK_BYTES", BLOCK),
    ):
        assert 0.6 < peak_of(fit) / expected < 1.6


def check_landmarks(n_rows=3000, m=800, n_scored=600):
    """So is that of a fit on landmarks."""
    rows, scored = problem(n_rows, n_scored)
    fit = partial(on_landmarks, "k", KERNEL, rows, COLUMNS, (m, 100), scored, 1)
    expected = float(memory._of_landmarks(np.array([m]), n_scored)[0])
    with (
        mock.patch.object(landmark_fits, "BLOCK_BYTES", BLOCK),
        mock.patch.object(kernel_laws, "BLOCK_BYTES", BLOCK),
    ):
        assert 0.6 < peak_of(fit) / expected < 1.6


def check_search():
    """So are those of a search, and of the refinement on more rows."""
    rows, _ = problem(400, 400)
    family = Family(partial(Matern, nu=2.5), is_mapped=True)
    begin = begun(family, rows)
    of_search = peak_of(lambda: finished(family, begin, rows))
    assert 0.4 < of_search / (memory._SEARCH_BYTES * 400**2) < 1.0
    assert 0.4 < peak_of(lambda: refined(KERNEL, rows)) / (memory._REFINED_BYTES * 400**2) < 1.0


def check_outputs(n=300, n_outputs=600, n_trees=20):
    """So are those of targets and classes after the first, in kernels and in trees."""
    rng = np.random.default_rng(0)
    X, Y, order = rng.normal(size=(n, 3)), rng.normal(size=(n, n_outputs)), np.arange(n)
    peaks = []
    for targets in (Y, Y[:, :1], Y):  # The first calls compile loops
        rows = Observations.of(X, targets, np.ones(n))
        scored = rows.scored(order, n, np.zeros(n, dtype=np.int64))
        fit = partial(exact, "k", KERNEL, rows.rows(order, n), COLUMNS, 100, scored, 1)
        inputs, levels = (X, 0, squared, targets, np.ones(n)), np.zeros(targets.shape[1])
        trees = partial(boosted, *inputs, levels, 0.0 * targets, TreeSizes(0.1, 5), n_trees, 0)
        peaks.append([peak_of(fit), peak_of(trees)])
    values, (more, more_of_trees) = n * (n_outputs - 1), np.diff(peaks, axis=0)[1]
    assert 0.3 < more / (memory._OF_VALUE * values) < 1.0
    leaves = memory._OF_LEAVES * n_trees * n_outputs
    assert 0.4 < more_of_trees / (memory._OF_TREE_VALUE * values + leaves) < 1.0


@pytest.mark.thorough
@pytest.mark.parametrize("check", [check_exact, check_landmarks, check_search, check_outputs])
def test_estimates_are_the_bytes_of_fits(check):
    check()


@pytest.mark.thorough
def test_a_table_within_a_limit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(X[:, 0])
    model = TableRegressor(effort="quick", memory_limit="1GB", random_state=0).fit(X, y)
    free = TableRegressor(effort="quick", random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), free.predict(X))
    for limit, error in (("much", ValueError), (-1, ValueError), (2.5, ValueError)):
        with pytest.raises(error, match="memory_limit must be"):
            TableRegressor(memory_limit=limit).fit(X, y)
    with pytest.raises(ValueError, match="give more memory or fewer rows"):
        TableRegressor(effort="quick", memory_limit="1MB").fit(X, y)
