"""Trees as laws of tables: scikit-learn's predictions, and means of what is left out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV

from bochner import TableClassifier, TableRegressor, load, save
from bochner.kernels import Laplacian
from bochner.tables import tree_laws
from bochner.tables.base_laws import Laws
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import cycle_places
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import Observations
from bochner.tables.tree_laws import Line, TreeLaw, TreeLearner
from bochner.tables.trees import TreeInputs

LARGE, SMALL = tree_laws.BOOSTINGS
RNG = np.random.default_rng(0)
N = 700
LEVEL = RNG.integers(0, 9, N)
CODE = np.where(LEVEL == 7, 9, LEVEL)  # Level 7 has no rows, as levels of later tables
NUMBERS = RNG.normal(size=(N, 3))
X = np.hstack([NUMBERS[:, :1], np.eye(11)[CODE], NUMBERS[:, 1:]])
SHARED = np.r_[0, [1] * 11, 2, 3]
Y = np.sin(2.0 * NUMBERS[:, 0]) + np.array([0, 2, 1, 0, 3, 1, 2, 0, 1.0])[LEVEL]
Y = Y - Y.mean() + 0.3 * RNG.normal(size=N)
WEIGHTS = RNG.choice([0.5, 1.5], N)
INPUTS = TreeInputs.of(np.arange(14), SHARED)
FIVES = np.arange(N) // 5  # Groups of five
KNOWN = np.flatnonzero(CODE != 3)[:500]  # Rows of a fit that has no row of level 3


def observations(y=Y, groups=None):
    return Observations.of(X, y.reshape(N, -1), WEIGHTS, groups, SHARED)


def as_categories(inputs):
    """The inputs as scikit-learn takes them: numbers of the levels of the fit, others missing."""
    levels = np.unique(inputs[KNOWN, 0])
    rank = np.searchsorted(levels, inputs[:, 0]).astype(float)
    rank[~np.isin(inputs[:, 0], levels)] = np.nan
    return np.column_stack((rank, inputs[:, 1:]))


def test_trees_are_those_of_scikit_learn():
    inputs = INPUTS(X)
    assert_array_equal(inputs[:, 0], CODE)
    assert_array_equal(inputs[:, 1:], NUMBERS)
    given = as_categories(inputs)
    options = {**LARGE.few, "categorical_features": [0]}
    # Numbers are those of the fit: thresholds lie between them, where scikit-learn's are on some.
    mixed = inputs.copy()
    mixed[:, 1:] = inputs[KNOWN[np.arange(N) % len(KNOWN)], 1:]
    both = np.column_stack((Y, -np.abs(Y)))
    _, trees = TreeLearner(LARGE, INPUTS, None, 0).trees(observations(both), KNOWN)
    for target, outputs in zip(both.T, trees(mixed).T, strict=True):
        model = HistGradientBoostingRegressor(**options, random_state=0)
        model.fit(given[KNOWN], target[KNOWN], WEIGHTS[KNOWN])
        assert_allclose(outputs, model.predict(as_categories(mixed)), rtol=1e-10)
    for labels in (Y > 0.0, np.digitize(Y, [-0.5, 0.5])):
        labels = labels.astype(np.int64)
        _, trees = TreeLearner(LARGE, INPUTS, labels, 0).trees(observations(), KNOWN)
        model = HistGradientBoostingClassifier(**options, random_state=0)
        model.fit(given[KNOWN], labels[KNOWN], WEIGHTS[KNOWN])
        expected = model.decision_function(as_categories(mixed)).reshape(N, -1)
        assert_allclose(trees(mixed), expected, rtol=1e-10)


@pytest.mark.thorough
def test_more_levels_than_trees_take_are_numbers():
    """A column of more levels than trees take is one of numbers, before or after other columns."""
    rng = np.random.default_rng(3)
    n, many, few = 3000, rng.integers(0, 300, 3000), rng.integers(0, 4, 3000)
    number = rng.normal(size=n)
    encoded = np.hstack([np.eye(300)[many], np.eye(4)[few], number[:, None]])
    shared = np.r_[[0] * 300, [1] * 4, 2]
    y = np.where(many < 100, 1.0, -1.0) + np.array([0.0, 3.0, 0.0, 3.0])[few] + number
    data = Observations.of(encoded, y[:, None], np.ones(n), None, shared)
    inputs = TreeInputs.of(np.arange(305), shared)
    _, trees = TreeLearner(LARGE, inputs, None, 0).trees(data, np.arange(n))
    given = np.column_stack((many, few, number))
    options = {**LARGE.many, "categorical_features": [1]}
    model = HistGradientBoostingRegressor(**options, random_state=0).fit(given, y)
    assert_allclose(trees(inputs(encoded))[:, 0], model.predict(given), rtol=1e-10)
    assert np.sqrt(np.mean((model.predict(given) - y) ** 2)) < 0.2


DATES = pd.date_range("2024-01-01", periods=1500, freq="7h")


def test_trees_have_phases_of_cycles():
    """Phases of a cycle are inputs in place of its waves, or next to them: one split is an arc."""
    encoder = TableEncoder()
    table = pd.DataFrame({"word": np.where(DATES.hour < 6, "a", "b"), "at": DATES})
    X = np.asarray(encoder.fit_transform(table))
    n_levels = len(encoder.columns_[0]["levels"]) + 1
    places = cycle_places(encoder.columns_[1]) + np.array([n_levels, 0])
    shared = np.r_[[0] * 3, np.arange(1, X.shape[1] - 2)]
    phases = TreeInputs.of(np.arange(X.shape[1]), shared, places)
    hour, weekday, day = phases(X)[:, -3:].T
    assert_allclose(hour, DATES.hour / 24.0, atol=1e-9)
    assert_allclose(weekday, DATES.day_of_week / 7.0, atol=1e-9)
    assert np.max(np.abs(day - (DATES.day_of_year - 1) / 366.0)) < 0.004
    assert len(phases) == phases(X).shape[1] == 1 + 1 + 3
    none = np.empty(0, dtype=int)
    circle = TreeInputs(none, none, none, np.array([0]))
    near = circle(np.array([[1.4, -1e-12], [1.4, 1e-12], [1.4, -0.01]]))[:, 0]
    assert_allclose(near, [0.0, 0.0, 1.0 - 0.01 / 1.4 / (2.0 * np.pi)], atol=1e-6)
    both = TreeInputs.of(np.arange(X.shape[1]), shared, places, has_waves=True)
    assert len(both) == both(X).shape[1] == 1 + 1 + places[:, 1].sum() + 3
    assert_array_equal(both(X)[:, -3:], phases(X)[:, -3:])
    assert_array_equal(both.used, np.arange(X.shape[1]))
    waves = np.concatenate([first + np.arange(2, width) for first, width in places])
    assert_array_equal(phases.used, np.setdiff1d(np.arange(X.shape[1]), waves))


@pytest.mark.thorough
def test_lines_go_on_beyond_the_rows_of_trees():
    """Trees of what a line leaves are those of scikit-learn's ridge regression and residuals."""
    rng = np.random.default_rng(4)
    rows = rng.standard_t(2, size=(N, 2))
    y = 3.0 * rows[:, 0] + np.sin(2.0 * rows[:, 1]) + 0.1 * rng.normal(size=N)
    weights = rng.choice([0.5, 1.5], N)
    data = Observations.of(rows, y[:, None], weights, None, np.arange(2))
    learner = TreeLearner(LARGE, TreeInputs.of(np.arange(2), None), None, 0, np.arange(2))
    order = rng.permutation(N)
    law, (means, *_) = learner.fit(data, order, data.scored(order, N, np.zeros(N, dtype=int)))
    ridge = RidgeCV(tree_laws._STRENGTHS).fit(rows, y, weights)
    trees = HistGradientBoostingRegressor(**LARGE.few, random_state=0)
    trees.fit(rows, y - ridge.predict(rows), weights)
    # Thresholds lie between entries of the fit, so that other rows may take other sides.
    expected = ridge.predict(rows) + trees.predict(rows)
    assert_allclose(law.mean(rows, rows)[:, 0], expected, rtol=1e-4, atol=1e-4)
    assert_array_equal(law.columns, [0, 1])
    # Beyond the rows of a fold, only a line goes on
    far = np.abs(rows[order, 0]) > 10.0
    assert far.sum() > 5
    assert np.abs(means[far, 0] - 3.0 * rows[order][far, 0]).max() < 2.0


def check_left_out(groups=None):
    """Targets of an observation, or of its group, do not change what is predicted there."""
    data, order = observations(groups=groups), np.random.default_rng(1).permutation(N)
    learner = TreeLearner(LARGE, INPUTS, None, 0)
    _, (means, *_) = learner.fit(data, order, data.scored(order, N, np.zeros(N, dtype=int)))
    removed = order[:1] if groups is None else np.flatnonzero(groups == groups[order[0]])
    changed = Y.copy()
    changed[removed] += 50.0
    data = observations(changed, groups)
    _, (again, *_) = learner.fit(data, order, data.scored(order, N, np.zeros(N, dtype=int)))
    places = np.flatnonzero(np.isin(order, removed))
    assert_array_equal(again[places], means[places])
    assert np.abs(again - means).max() > 0.1
    assert np.mean((means[:, 0] - Y[order]) ** 2) < 0.5 * np.var(Y)


@pytest.mark.thorough
@pytest.mark.parametrize("groups", [None, FIVES])
def test_what_is_left_out_is_unknown(groups):
    check_left_out(groups)


@pytest.mark.thorough
def test_very_few_scored_observations_are_left_out_of_the_law():
    """A hundredth of the observations, which are scored, is in no fit."""
    data, order = observations(), np.random.default_rng(2).permutation(N)
    n_scored = N // 100
    scored = data.scored(order, n_scored, np.zeros(n_scored, dtype=int))
    learner = TreeLearner(LARGE, INPUTS, None, 0)
    law, (means, *_) = learner.fit(data, order, scored)
    _, trees = learner.trees(data, np.sort(order[:-n_scored]))
    assert_array_equal(means, trees(INPUTS(X[order[-n_scored:]])))
    assert_array_equal(law.mean(X, X), trees(INPUTS(X)))


@pytest.mark.thorough
def test_lines_of_many_rows_are_those_of_some():
    """A line of every second row, and the trees of the residuals of all."""
    line = np.arange(X.shape[1])
    learner = TreeLearner(LARGE, INPUTS, None, 0, line)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_laws, "_LINE_ROWS", N // 2)
        patch.setattr(tree_laws, "_ROWS_OF_A_BLOCK", 77)
        found, trees = learner.trees(observations(), np.arange(N))
    expected = Line.of(line, X[::2], observations().Y[::2], WEIGHTS[::2])
    assert_array_equal(found.coef, expected.coef)
    residuals = observations(observations().Y[:, 0] - expected(X)[:, 0])
    _, of_residuals = TreeLearner(LARGE, INPUTS, None, 0).trees(residuals, np.arange(N))
    assert_allclose(trees(INPUTS(X)), of_residuals(INPUTS(X)), atol=1e-6)


def test_classes_that_a_fold_lacks_have_no_trees():
    labels = np.zeros(N, dtype=np.int64)
    labels[:2] = 1  # A fold with either leaves one
    data, order = observations(), np.arange(N)
    scored = data.scored(order, N, np.zeros(N, dtype=int))
    assert TreeLearner(LARGE, INPUTS, labels, 0).fit(data, order, scored) is None


def steps(n, rng):
    """A step along one of two numbers and an effect of words, which kernels are slow to learn."""
    words = rng.choice(list("abcdefgh"), n)
    table = pd.DataFrame({"word": words, "a": rng.normal(size=n), "b": rng.normal(size=n)})
    mean = np.where(table["a"] > 0.3, 2.0, 0.0) * np.where(words < "d", 1.0, -1.0)
    return table, mean + 0.3 * rng.normal(size=n)


@pytest.mark.thorough
@pytest.mark.parametrize("is_classes", [False, True])
def test_models_with_trees_are_saved(is_classes, tmp_path):
    (table, y), (new, _) = steps(500, RNG), steps(50, RNG)
    make = TableClassifier if is_classes else TableRegressor
    target = y > 0.0 if is_classes else y
    model = make(effort="quick", random_state=0).fit(table, target)
    assert isinstance(model.head_.laws.members[-1], TreeLaw)
    weights = model.head_.softmax.weights if is_classes else model.head_.weights
    assert weights[-1] > 0.1
    save(model, tmp_path / "model.bochner")
    again = load(tmp_path / "model.bochner")
    answer = "predict_proba" if is_classes else "predict"
    assert_array_equal(getattr(again, answer)(new), getattr(model, answer)(new))


BROKEN = {
    "a circle": {"left": lambda nodes: np.zeros_like(nodes)},
    "a node beyond": {"right": lambda nodes: nodes + 10**9},
    "a set beyond": {"level_set": lambda sets: sets + 10**6},
    "a negative input": {"feature": lambda columns: columns - 5},
    "no trees": {"roots": lambda roots: roots[:0], "output": lambda outputs: outputs[:0]},
    "nodes before the first tree": {
        "roots": lambda roots: roots[1:],
        "output": lambda outputs: outputs[1:],
    },
    "no order": {"roots": lambda roots: roots[::-1]},
    "an output beyond": {"output": lambda outputs: outputs + 1},
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BROKEN)
def test_trees_of_other_nodes_are_refused(name):
    _, trees = TreeLearner(LARGE, INPUTS, None, 0).trees(observations(), KNOWN)
    changes = {field: change(getattr(trees, field)) for field, change in BROKEN[name].items()}
    with pytest.raises(ValueError, match="do not fit together"):
        replace(trees, **changes)


def test_laws_of_more_rows_or_columns_than_there_are_are_refused():
    rows = np.zeros((5, 2))
    kernel = LearnedKernel(Laplacian(), 0.1)
    columns = np.arange(2)
    law = KernelLaw("rough", kernel, columns, np.ones((5, 1)), np.eye(3), np.ones(1))
    laws = Laws(rows, [law])
    with pytest.raises(ValueError, match="more than the 5 rows"):
        Laws(rows, [replace(law, coef=np.ones((6, 1)))])
    with pytest.raises(ValueError, match="more than the 5 rows"):
        Laws(rows, [replace(law, factor=np.eye(6))])
    for beyond in (columns + 1, columns - 1):
        with pytest.raises(ValueError, match="columns beyond the 2"):
            Laws(rows, [replace(law, columns=beyond)])
    with pytest.raises(ValueError, match="Rows have 3 columns, expected 2"):
        laws.means(np.zeros((1, 3)))
