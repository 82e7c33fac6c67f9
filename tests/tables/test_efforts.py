"""Sizes of a fit within a time limit, by counts of operations at a known speed."""

from time import process_time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner import TableClassifier, TableRegressor
from bochner._base.progress import silent
from bochner.tables import estimator_laws, fit_plan, landmark_fits, table_fit, tree_laws
from bochner.tables import learner as learners
from bochner.tables.fit_plan import EFFORTS, Effort, FitPlan, InputCounts, tree_seconds
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.learner import Learner
from bochner.tables.observations import Observations
from bochner.tables.tree_laws import TreeLaw

RATE = 1e11
DEFAULT = EFFORTS["default"]


def sizes(effort):
    return effort.search_rows, effort.more_rows, effort.most_exact, effort.n_landmarks


@pytest.mark.parametrize("n_rows", [300, 10_000, 1_000_000])
def test_a_long_limit_changes_nothing(n_rows):
    assert sizes(DEFAULT.within(1e6, n_rows, InputCounts(10, 10), 8, RATE)) == sizes(DEFAULT)


@pytest.mark.parametrize("n_rows", [300, 5000, 50_000])
@pytest.mark.parametrize("n_columns", [3, 500])
def test_sizes_grow_with_the_limit_and_stay_useful(n_rows, n_columns):
    limits = [1e-9, 1.0, 3.0, 10.0, 30.0, 100.0]
    found = [
        sizes(DEFAULT.within(limit, n_rows, InputCounts(n_columns, 3), 8, RATE)) for limit in limits
    ]
    assert_array_equal(found, np.maximum.accumulate(found))
    assert found[0][0] == 200
    assert min(size[3] for size in found) >= 200
    assert min(size[1] - size[0] for size in found) >= 0


def test_rows_too_many_for_the_limit_are_represented_by_landmarks():
    effort = DEFAULT.within(2.0, 10_000, InputCounts(10, 10), 8, RATE)
    assert DEFAULT.landmarks(10_000) == 0
    m = effort.landmarks(10_000)
    assert 200 <= m < DEFAULT.n_landmarks
    assert m**2 * 10_000 < 2.0 * RATE


def test_landmarks_do_not_fall_with_rows():
    """As many landmarks for very many rows, whose time is that of passes."""
    assert [DEFAULT.landmarks(n) for n in (16_500, 16_501, 10**6, 10**8)] == [0] + 3 * [4000]
    assert EFFORTS["quick"].landmarks(10**6) == 1500
    limited = DEFAULT.within(30.0, 10**6, InputCounts(20, 20), 8, RATE)
    m = limited.landmarks(10**6)
    assert m == limited.n_landmarks < 4000
    # The products of all rows would take longer than the limit allows.
    assert 4.0 * m**2 * 10**6 > 0.35 * 30.0 * RATE
    assert DEFAULT.within(30.0, 10**6, InputCounts(200, 200), 8, RATE).n_landmarks < m
    # Loops read levels as one code.
    assert DEFAULT.within(30.0, 10**6, InputCounts(200, 20), 8, RATE).n_landmarks == m


def test_the_rest_of_a_limit_decides_the_landmarks():
    """What is left of a limit after the search decides the landmarks again."""
    found = [
        DEFAULT.sizes_within(s, 10**6, InputCounts(20, 20), RATE)[1] for s in (1.0, 20.0, 60.0, 1e4)
    ]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (200, 4000)
    assert 200 < found[1] < found[2]


def test_boosting_ends_within_the_limit(monkeypatch):
    """There are as many trees as fit into the rest of a limit."""
    rng = np.random.default_rng(0)
    n_rows, n_columns = 9000, 5
    X = rng.normal(size=(n_rows, n_columns))
    made = []

    class Recorder(tree_laws.TreeLearner):
        def fit(self, *args, **options):
            made.append(self.most_trees)

    def trees(n_targets, seconds, limit=100.0):
        """The numbers, if a tree takes some seconds in all fits, and bins as long as 25."""
        rows = Observations.of(X, rng.normal(size=(n_rows, n_targets)), np.ones(n_rows))
        plan = FitPlan.of(rows, EFFORTS["quick"], None, False, np.random.default_rng(0))
        assert estimator_laws.n_fits(len(plan.scored.units), n_rows) == 5
        rate = 5.0 * tree_seconds(n_rows, n_columns, n_targets, 1.0) / seconds
        made.clear()
        columns = np.arange(n_columns), None, None
        Learner(EFFORTS["quick"], 1, limit, silent)._trees(plan, columns, None, None, rng, rate)
        return np.array(made)

    monkeypatch.setattr(learners, "TreeLearner", Recorder)
    most = tree_laws.most_trees(n_rows)
    assert 200 < most < tree_laws.most_trees(10 * n_rows)
    for n_targets in (1, 2):
        np.testing.assert_array_equal(trees(n_targets, 1e-9), [most, most])
        counts = trees(n_targets, 0.5)
        assert len(counts) == 2
        assert np.all((counts > 165) & (counts <= 175))
    np.testing.assert_array_equal(trees(1, 1e9, limit=None), [most, most])
    assert not len(trees(1, 120.0))


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_classes"), [(3000, 8, 0), (40, 500, 0), (800, 10, 100)]
)
def test_a_fit_keeps_its_time_limit(n_rows, n_columns, n_classes, monkeypatch):
    """In processor time, so that other work on the machine does not matter."""
    for module in (estimator_laws, fit_plan, landmark_fits, learners, table_fit):
        monkeypatch.setattr(module, "perf_counter", process_time)
    rng, limit = np.random.default_rng(0), 1.0
    X = rng.normal(size=(n_rows, n_columns))
    y, model = np.sin(X[:, 0]) + X[:, 1], TableRegressor
    if n_classes:
        scores = X @ rng.normal(size=(n_columns, n_classes))
        y, model = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1), TableClassifier
    began = process_time()
    model(time_limit=limit, n_jobs=1, random_state=0).fit(X, y)
    assert process_time() - began <= 1.1 * limit + 3.0  # The promise is 2.0 on an idle machine
