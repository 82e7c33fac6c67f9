"""Trees and lines as laws of tables: exhaustive search, and means of what is left out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from scipy.special import softmax as shares_of
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss

from bochner import TableClassifier, TableRegressor, load, save
from bochner.kernels import Laplacian
from bochner.tables import tree_laws
from bochner.tables.base_laws import Laws
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import cycle_places
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.leave_one_out import LearnedKernel
from bochner.tables.observations import Observations
from bochner.tables.tree_growth import TreeSizes, boosted, gamma, logistic, softmax, squared
from bochner.tables.tree_laws import Line, TreeLaw, TreeLearner
from bochner.tables.trees import TreeInputs

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


def slopes_of(loss, outputs, targets):
    """Slopes and curvatures of a loss, by their formulas."""
    if loss is squared:
        return outputs - targets, np.ones_like(outputs)
    if loss is gamma:
        return 1.0 - targets / np.exp(outputs), targets / np.exp(outputs)
    shares = expit(outputs) if loss is logistic else shares_of(outputs, axis=1)
    return shares - targets, shares * (1.0 - shares)


def exhaustive(columns, loss, targets, weights, outputs, sizes, n_trees):
    """The outputs at the rows after symmetric trees of the best of all splits."""
    for _ in range(n_trees):
        parts = [weights[:, None] * part for part in slopes_of(loss, outputs, targets)]
        leaf, sums = np.zeros(len(columns), dtype=int), parts[1].mean(axis=1)

        def score(leaf, parts=parts, sums=sums):
            totals = [[part[leaf == node].sum(axis=0) for node in np.unique(leaf)]
                      for part in (parts[0], sums)]  # fmt: skip
            squares = np.square(totals[0]).reshape(len(totals[1]), -1).sum(axis=1)
            return np.sum(squares / (np.array(totals[1]) + sizes.penalty))

        for _ in range(sizes.depth):
            splits = [2 * leaf + (column > entry)
                      for column in columns.T for entry in np.unique(column)[:-1]]  # fmt: skip
            leaf = max(splits, key=score)
        nodes = leaf[:, None] == np.arange(leaf.max() + 1)
        values = (nodes.T @ parts[0]) / (nodes.T @ parts[1] + sizes.penalty)
        outputs = outputs - sizes.rate * values[leaf]
    return outputs


CASES = {
    "squared": (squared, np.column_stack((Y, -np.abs(Y)))),
    "logistic": (logistic, (Y > 0.0)[:, None] * 1.0),
    "softmax": (softmax, np.eye(3)[np.digitize(Y, [-0.5, 0.5])]),
    "gamma": (gamma, np.exp(Y)[:, None]),
}


@pytest.mark.parametrize("name", CASES)
def test_trees_are_those_of_an_exhaustive_search(name):
    check_trees(name)


def check_trees(name="squared"):
    loss, targets = CASES[name]
    inputs = np.column_stack((CODE, np.round(NUMBERS, 1)))[:150]
    targets, weights = targets[:150], WEIGHTS[:150]
    sizes, n_outputs = TreeSizes(rate=0.3, depth=3, share=1.0, penalty=2.0), targets.shape[1]
    start = np.zeros((150, n_outputs))
    trees = boosted(
        inputs, 1, loss, targets, weights, np.zeros(n_outputs), start, sizes, n_trees=4, seed=0
    )
    slopes, columns = weights[:, None] * slopes_of(loss, start, targets)[0], inputs.copy()
    means = np.array([
        slopes[inputs[:, 0] == code].sum(axis=0) / (weights[inputs[:, 0] == code].sum() + 10.0)
        for code in range(10)
    ])  # fmt: skip
    size = np.bincount(CODE[:150], weights, 10)
    direction = np.linalg.svd(means.T * np.sqrt(size), full_matrices=False)[0][:, 0]
    columns[:, 0] = (means @ direction)[CODE[:150]]
    expected = exhaustive(columns, loss, targets, weights, start, sizes, 4)
    assert_allclose(trees(inputs), expected, rtol=1e-8, atol=1e-10)
    # A level that the fit lacks is one without slopes.
    unknown = inputs[:1].copy()
    for code in (7, 10, 99):
        unknown[0, 0] = code
        assert_array_equal(trees(unknown), trees(np.array([[7, *inputs[0, 1:]]])))


@pytest.mark.parametrize("edges", [[], [0.0], [-0.5, 0.5]])
def test_weights_count_before_the_first_tree_and_in_errors_of_numbers_of_trees(edges):
    labels, n_outputs = np.digitize(Y, edges), max(1, len(edges) + (len(edges) > 1))
    data = observations(np.eye(3)[labels][:, -n_outputs:]) if edges else observations()
    learner = TreeLearner(INPUTS, labels if edges else None, 0, most_trees=6)
    _, trees = learner.trees(data, np.arange(N))
    shares = WEIGHTS @ np.eye(3)[labels] / WEIGHTS.sum()
    first = {0: WEIGHTS @ Y / WEIGHTS.sum(), 1: logit(shares[1]), 2: np.log(shares)}[len(edges)]
    constant = first.mean() if len(edges) > 1 else 0.0
    assert_allclose(trees.baseline, first - constant, rtol=1e-9, atol=1e-12)
    law, rows = TreeLaw("trees", np.ones(n_outputs), 0.0, 1.0, INPUTS, trees), np.arange(0, N, 3)

    def error(stage):
        values = replace(law, trees=trees.part(0, stage)).mean(X[rows], X)
        if not edges:
            return WEIGHTS[rows] @ (values[:, 0] - Y[rows]) ** 2
        p = expit(np.hstack((-values, values))) if n_outputs == 1 else shares_of(values, axis=1)
        return log_loss(labels[rows], p, normalize=False, sample_weight=WEIGHTS[rows])

    stages = np.array([0, 1, 4, 6])
    assert_allclose(learner._errors(law, data, rows, stages), list(map(error, stages)), rtol=1e-9)


def test_many_levels_are_told_apart():
    """A column of more levels than bins is one of their scores, before or after other columns."""
    rng = np.random.default_rng(3)
    n, many, few = 3000, rng.integers(0, 300, 3000), rng.integers(0, 4, 3000)
    number = rng.normal(size=n)
    encoded = np.hstack([np.eye(300)[many], np.eye(4)[few], number[:, None]])
    shared = np.r_[[0] * 300, [1] * 4, 2]
    y = np.where(many < 100, 1.0, -1.0) + np.array([0.0, 3.0, 0.0, 3.0])[few] + number
    data = Observations.of(encoded, y[:, None], np.ones(n), None, shared)
    inputs = TreeInputs.of(np.arange(305), shared)
    _, trees = TreeLearner(inputs, None, 0).trees(data, np.arange(n))
    assert np.sqrt(np.mean((trees(inputs(encoded))[:, 0] - y) ** 2)) < 0.2


def test_noise_has_few_trees():
    """The number of trees is that of the least left-out error."""
    noise = np.random.default_rng(7).normal(size=N)
    data, order = observations(noise), np.arange(N)
    scored = data.scored(order, N, np.zeros(N, dtype=int))
    law, (means, *_) = TreeLearner(INPUTS, None, 0).fit(data, order, scored)
    assert len(law.trees.feature) < 20
    assert np.mean((means[:, 0] - noise) ** 2) < 1.03 * np.var(noise)


@pytest.mark.parametrize("edges", [[0.0], [-0.5, 0.5]])
def test_lines_of_classes_are_logistic_regressions(edges):
    labels, columns = np.digitize(Y, edges), np.array([0, 12, 13])
    data, order = observations(np.eye(3)[labels][:, -len(edges) - (len(edges) > 1) :]), np.arange(N)
    learner = TreeLearner(INPUTS, labels, 0, columns, most_trees=0)
    law, _ = learner.fit(data, order, data.scored(order, N, np.zeros(N, dtype=int)))
    model = LogisticRegression(C=tree_laws._INVERSE_STRENGTH).fit(X[:, columns], labels, WEIGHTS)
    expected = model.decision_function(X[:, columns]).reshape(N, -1)
    assert_allclose(law.mean(X, X), expected, rtol=1e-3, atol=1e-3)
    assert law.kind == "logistic regression"


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


@pytest.mark.parametrize("n", [60, 8])
def test_lines_have_the_penalties_of_scikit_learn(n):
    """For more rows than columns, and for fewer."""
    rows, Y, weights = X[:n, :12], np.column_stack([X[:n, 12], np.sin(3.0 * X[:n])]), WEIGHTS[:n]
    model = RidgeCV(tree_laws._STRENGTHS, alpha_per_target=True).fit(rows, Y, weights)
    line = Line.of(np.arange(12), rows, Y, weights)
    assert_allclose(line(rows), model.predict(rows), atol=1e-7)
    assert len(set(model.alpha_)) > 1


@pytest.mark.thorough
def test_lines_go_on_beyond_the_rows_of_trees():
    """Trees of what a line leaves are those of scikit-learn's ridge regression and residuals."""
    rng = np.random.default_rng(4)
    rows = rng.standard_t(2, size=(N, 2))
    y = 3.0 * rows[:, 0] + np.sin(2.0 * rows[:, 1]) + 0.1 * rng.normal(size=N)
    weights = rng.choice([0.5, 1.5], N)
    data = Observations.of(rows, y[:, None], weights, None, np.arange(2))
    learner = TreeLearner(TreeInputs.of(np.arange(2), None), None, 0, np.arange(2))
    order = rng.permutation(N)
    law, (means, *_) = learner.fit(data, order, data.scored(order, N, np.zeros(N, dtype=int)))
    ridge = RidgeCV(tree_laws._STRENGTHS).fit(rows, y, weights)
    assert_allclose(law.line(rows)[:, 0], ridge.predict(rows), rtol=1e-4, atol=1e-4)
    assert np.mean((law.mean(rows, rows)[:, 0] - y) ** 2) < 0.05
    assert_array_equal(law.columns, [0, 1])
    # Beyond the rows of a fold, only a line goes on
    far = np.abs(rows[order, 0]) > 10.0
    assert far.sum() > 5
    assert np.abs(means[far, 0] - 3.0 * rows[order][far, 0]).max() < 2.0


def with_all_trees(learner, data, order, scored):
    """A fit of all trees: their number depends on the targets of left-out observations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TreeLearner, "_errors", lambda self, law, data, rows, stages: -stages)
        return learner.fit(data, order, scored)


def check_left_out(groups=None):
    """Targets of an observation, or of its group, do not change what is predicted there."""
    data, order = observations(groups=groups), np.random.default_rng(1).permutation(N)
    learner = TreeLearner(INPUTS, None, 0)
    _, (means, *_) = with_all_trees(
        learner, data, order, data.scored(order, N, np.zeros(N, dtype=int))
    )
    removed = order[:1] if groups is None else np.flatnonzero(groups == groups[order[0]])
    changed = Y.copy()
    changed[removed] += 50.0
    data = observations(changed, groups)
    _, (again, *_) = with_all_trees(
        learner, data, order, data.scored(order, N, np.zeros(N, dtype=int))
    )
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
    learner = TreeLearner(INPUTS, None, 0)
    law, (means, *_) = with_all_trees(learner, data, order, scored)
    _, trees = learner.trees(data, np.sort(order[:-n_scored]))
    assert_array_equal(means, trees(INPUTS(X[order[-n_scored:]])))
    assert_array_equal(law.mean(X, X), trees(INPUTS(X)))


@pytest.mark.thorough
def test_lines_of_many_rows_are_those_of_some():
    """A line of every second row, and the trees of the residuals of all."""
    line = np.arange(X.shape[1])
    learner = TreeLearner(INPUTS, None, 0, line)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_laws, "_LINE_ROWS", N // 2)
        patch.setattr(tree_laws, "_ROWS_OF_A_BLOCK", 77)
        found, trees = learner.trees(observations(), np.arange(N))
    expected = Line.of(line, X[::2], observations().Y[::2], WEIGHTS[::2])
    assert_array_equal(found.coef, expected.coef)
    left = observations().Y - trees(INPUTS(X)) - expected(X)
    assert np.mean(left**2) < 0.5 * np.mean((observations().Y - expected(X)) ** 2)


def test_classes_that_a_fold_lacks_have_no_trees():
    labels = np.zeros(N, dtype=np.int64)
    labels[:2] = 1  # A fold with either leaves one
    data, order = observations(), np.arange(N)
    scored = data.scored(order, N, np.zeros(N, dtype=int))
    assert TreeLearner(INPUTS, labels, 0).fit(data, order, scored) is None


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
    "too few leaves": {"value": lambda value: value[:, 1:]},
    "too few splits": {"feature": lambda feature: feature[:, 1:]},
    "a negative input": {"feature": lambda feature: feature - 99},
    "no scores": {"levels": lambda levels: levels[:, :0]},
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BROKEN)
def test_trees_of_other_nodes_are_refused(name):
    _, trees = TreeLearner(INPUTS, None, 0).trees(observations(), KNOWN)
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
