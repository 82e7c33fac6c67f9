"""What tests look for in measurements and in the pages made of them."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks.folds import Fold


def halves_by_hand(seed=0, *, on_sphere=False):
    """Return the breast cancer data in halves, in the unit cube or on the sphere."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    train, test = order[:284], order[284:]
    least, greatest = X[train].min(axis=0), X[train].max(axis=0)
    train, test = train[rng.permutation(284)], test[rng.permutation(285)]
    rows = [np.clip((X[part] - least) / (greatest - least), 0.0, 1.0) for part in (train, test)]
    if on_sphere:
        rows = [part / np.linalg.norm(part, axis=1)[:, None] for part in rows]
    return rows[0], y[train], rows[1], y[test]


def accuracy_by_hand(Z, y, Z_test, y_test, Cs):
    """Return the first best C of five folds, and the test accuracy of liblinear with it."""

    def score(C, fit, held):
        model = LinearSVC(C=C, dual=False, tol=0.01).fit(Z[fit], y[fit])
        return np.mean(model.predict(Z[held]) == y[held])

    folds = list(StratifiedKFold(5).split(Z, y))
    scores = {C: np.mean([score(C, *fold) for fold in folds]) for C in Cs}
    C = max(scores, key=scores.__getitem__)
    return C, np.mean(LinearSVC(C=C, dual=False, tol=0.01).fit(Z, y).predict(Z_test) == y_test)


def metrics_of(rows, part):
    """Return the names of metrics by data set and method."""
    found = {}
    for row in rows:
        if row["part"] == part:
            found.setdefault((row["dataset"], row["method"]), set()).add(row["metric"])
    return found


def rows_of(method, metric, *values, **settings):
    """Return the rows of one cell, with a seed for each value."""
    return [
        {"method": method, "metric": metric, "seed": seed, "value": value, **settings}
        for seed, value in enumerate(values)
    ]


def table_lines(page):
    """Return the lines of all tables of a page by their first cell."""
    found = {}
    for line in page.splitlines():
        if line.startswith("| "):
            first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(first, []).append(rest)
    return found


def pictures_of(benchmark):
    """Return the pictures of all parts, in the order of the page."""
    names = benchmark.order or [part.name for part in benchmark.parts]
    parts = {part.name: part for part in benchmark.parts}
    return [picture for name in names for picture in parts[name].pictures]


def values_by_picture(benchmark, rows):
    """Return what every picture draws of its part's rows, by name."""
    return {
        picture.name: picture.values(own) if (own := benchmark.rows_of(part, rows)) else {}
        for part in benchmark.parts
        for picture in part.pictures
    }


def small_fold(n=150, n_test=40, *, is_regression=True, unit=1.0):
    """Return rows of three inputs of different scales, and a smooth target or its upper half."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + n_test, 3)) * [1.0, 20.0, 0.1] + [5.0, 0.0, 0.0]
    y = np.sin(2.0 * X[:, 0]) + 0.05 * X[:, 1] + 0.1 * rng.normal(size=len(X))
    if not is_regression:
        y = (y > np.median(y)).astype(np.intp)
    return Fold(X[:n], y[:n], X[n:], y[n:], is_regression, unit)
