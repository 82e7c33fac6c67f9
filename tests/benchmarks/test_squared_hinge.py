"""The linear classifiers of benchmarks, against liblinear."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC

from benchmarks.squared_hinge import (
    accuracies,
    folds,
    labels_of,
    minimised,
    targets_of,
    with_ones,
)


def problem(n, p, n_classes, seed=0):
    X, y = make_classification(
        n, p, n_informative=min(p, 8), n_classes=n_classes, flip_y=0.1, random_state=seed
    )
    return X / np.sqrt(p), y


def objective(Z, Y, cost, W):
    slack = np.maximum(1.0 - Y * (Z @ W), 0.0)
    return 0.5 * (W**2).sum(axis=0) + (cost * slack**2).sum(axis=0)


@pytest.mark.parametrize("C", [0.03125, 1.0, 32.0])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("n", "p"), [(600, 20), (80, 120)], ids=["tall", "wide"])
def test_decisions_are_those_of_liblinear(n, p, n_classes, C):
    X, y = problem(n, p, n_classes)
    Z = with_ones(X)
    Y, classes = targets_of(y)
    found = minimised(Z, Y, C, tol=1e-12)
    svm = LinearSVC(C=C, dual=False, tol=1e-10, max_iter=100_000).fit(X, y)
    expected = svm.decision_function(X).reshape(n, -1)
    np.testing.assert_allclose(Z @ found.weight, expected, atol=1e-3)
    np.testing.assert_allclose(found.decision, Z @ found.weight, atol=1e-6)
    assert np.mean(labels_of(found.decision, classes) == svm.predict(X)) > 0.999


@pytest.mark.parametrize("C", [0.03125, 1.0, 32.0])
def test_single_precision_and_its_tolerance_are_enough(C):
    X, y = problem(2_000, 40, 2)
    Y, classes = targets_of(y)
    found = minimised(with_ones(X).astype(np.float32), Y, C)
    assert found.weight.dtype == np.float32
    right = np.mean(labels_of(found.decision, classes) == y)
    svm = LinearSVC(C=C, dual=False, max_iter=10_000).fit(X, y)
    assert right == pytest.approx(svm.score(X, y), abs=1e-3)


def test_the_gradient_vanishes_at_the_minimum():
    X, y = problem(300, 10, 3)
    Z, (Y, _) = with_ones(X), targets_of(y)
    W = minimised(Z, Y, 2.0, tol=1e-12).weight
    slack = np.maximum(1.0 - Y * (Z @ W), 0.0)
    assert np.abs(W - 4.0 * Z.T @ (slack * Y)).max() < 1e-4


def test_problems_side_by_side_are_those_apart():
    X, y = problem(300, 10, 2)
    Z, (Y, _) = with_ones(X), targets_of(y)
    costs = np.array([0.1, 5.0])
    both = minimised(Z, np.tile(Y, 2), np.tile(costs, (300, 1)), tol=1e-12).weight
    apart = [minimised(Z, Y, cost, tol=1e-12).weight[:, 0] for cost in costs]
    np.testing.assert_allclose(both, np.stack(apart, axis=1), atol=1e-5)


@pytest.mark.parametrize(("n", "p"), [(300, 10), (80, 120)], ids=["tall", "wide"])
def test_rows_of_no_cost_do_not_count(n, p):
    X, y = problem(n, p, 2)
    Z, (Y, _) = with_ones(X), targets_of(y)
    some = np.arange(n) < n // 2
    found = minimised(Z, Y, 3.0 * some[:, None], tol=1e-12).weight
    alone = minimised(Z[some], Y[some], 3.0, tol=1e-12).weight
    np.testing.assert_allclose(found, alone, atol=1e-4)


def test_a_start_changes_nothing_but_the_way():
    X, y = problem(400, 15, 2)
    Z, (Y, _) = with_ones(X), targets_of(y)
    near = minimised(Z, Y, 1.0).weight
    kept = near.copy()
    warm, cold = (minimised(Z, Y, 4.0, start=start, tol=1e-12) for start in (near, None))
    np.testing.assert_allclose(warm.weight, cold.weight, atol=1e-5)
    np.testing.assert_array_equal(near, kept)


def test_an_unbalanced_problem_does_not_stop_at_its_start():
    """Where one class is rare the gradient at zero is nearly all the intercept's."""
    X, y = problem(2_000, 20, 2)
    y[np.flatnonzero(y == 1)[40:]] = 0
    Z, (Y, _) = with_ones(X), targets_of(y)
    start = minimised(Z, Y, 0.1).weight
    found, best = (minimised(Z, Y, 32.0, start=start, tol=tol).weight for tol in (1e-3, 1e-12))
    values = [objective(Z, Y, 32.0, W)[0] for W in (found, best)]
    assert values[0] < values[1] * (1.0 + 2e-3)


@pytest.mark.parametrize("n_held_out", [None, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_accuracies_over_folds(n_classes, n_held_out):
    """Folds that share their products have the accuracies of liblinear on the same folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    X, y = problem(400, 12, n_classes)
    Cs = (0.03125, 1.0, 32.0)
    found = accuracies(with_ones(X), y, Cs, folds(y, 5, 0)[:n_held_out], tol=1e-9)
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = [
        cross_val_score(LinearSVC(C=C, dual=False, tol=1e-8, max_iter=100_000), X, y, cv=splitter)[
            :n_held_out
        ].mean()
        for C in Cs
    ]
    np.testing.assert_allclose(found, expected, atol=0.005)


def test_labels_of_any_kind():
    y = np.array(["b", "a", "b"])
    Y, classes = targets_of(y)
    np.testing.assert_array_equal(Y[:, 0], [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(labels_of(Y, classes), y)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_large_and_dependent_features_in_single_precision(scale):
    """Rounding leaves their Hessian indefinite, which a preconditioner has to bear."""
    X, y = problem(3_000, 10, 2)
    wide = scale * np.repeat(X, 20, axis=1)
    Y, classes = targets_of(y)
    found = minimised(with_ones(wide).astype(np.float32), Y, 32.0)
    assert np.isfinite(found.weight).all()
    right = np.mean(labels_of(found.decision, classes) == y)
    svm = LinearSVC(C=32.0, dual=False, max_iter=20_000).fit(np.sqrt(20.0) * scale * X, y)
    assert right == pytest.approx(np.mean(svm.predict(np.sqrt(20.0) * scale * X) == y), abs=5e-3)
