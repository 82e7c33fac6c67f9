"""The benchmark of features of asymmetric kernels."""

import numpy as np
import pytest
from pages import accuracy_by_hand, halves_by_hand
from scipy.spatial.distance import cdist

from benchmarks import Cell, Options, read_rows
from benchmarks.asymmetric import design
from benchmarks.asymmetric.benchmark import ASYMMETRIC
from benchmarks.rows import rows_of
from bochner import FourierFeatures, kernels

QUICK = Options(quick=True)
DIM = 30


@pytest.fixture(scope="module")
def quick(quick_run):
    return quick_run("asymmetric")


def cell(part, method, kernel=design.SHIFT, size=2, seed=0, dataset="breast_cancer"):
    return Cell(dataset, method, seed, {"part": part, "kernel": kernel, "size": size})


def of(rows, part, metric):
    """Return lists over trials by kernel, method and size."""
    found = {}
    for row in rows:
        if (row["part"], row["metric"]) == (part, metric):
            key = row["kernel"], row["method"], row["size"]
            found.setdefault(key, []).append(row["value"])
    return found


# The quick run.


def test_errors_fall_in_the_order_of_the_methods(quick):
    """Orthogonal directions, then fitted weights; the figures are far apart."""
    errors = of(read_rows(quick), "error", "relative_error")
    for kernel in design.ASYMMETRIC:
        iid, polar, fitted = (
            np.median(errors[kernel, method, 4])
            for method in (design.JORDAN_IID, design.POLAR, design.LEAST_SQUARES)
        )
        assert fitted < polar < iid < 0.2


# One cell.


GRAMS = {
    design.SHIFT: lambda X: np.exp(-cdist(X + 2.0 / DIM, X, "sqeuclidean") / 8.0),
    design.SINH: lambda X: (
        np.exp(-cdist(X, X, "sqeuclidean") / 8.0)
        * (1.0 + np.sinh(np.subtract.outer(*[X.sum(axis=1) * np.pi / (2.0 * DIM)] * 2)))
    ),
    design.COSH: lambda X: np.exp(
        -cdist(X, X, "sqeuclidean") / 8.0
        + np.subtract.outer(*[X.sum(axis=1) * np.pi / (2.0 * DIM)] * 2)
    ),
}


@pytest.mark.parametrize("kernel", design.ASYMMETRIC)
def test_the_error_by_hand(kernel):
    """Against the paper's formulas; the transposed kernel is far off."""
    X, _, X_test, _ = halves_by_hand()
    exact = GRAMS[kernel](X_test)
    state = 10 * (1 + list(design.METHODS).index(design.POLAR))
    map = FourierFeatures(
        design.KERNELS[kernel](DIM),
        2 * 2 * DIM,
        scheme="orthogonal",
        decomposition="polar",
        random_state=state,
    ).fit(X)
    found = (map.transform(X_test) * map.signature_) @ map.transform_right(X_test).T
    errors = [np.linalg.norm(found - K) / np.linalg.norm(K) for K in (exact, exact.T)]
    measured = ASYMMETRIC.run(cell("error", design.POLAR, kernel), QUICK)["relative_error"]
    assert measured == pytest.approx(errors[0], rel=1e-3)  # in single precision
    assert errors[1] > 2.0 * errors[0]


def test_the_accuracy_by_hand():
    """Three sets of M = 2 d frequencies, left and right features side by side."""
    X, y, X_test, y_test = halves_by_hand()
    map = FourierFeatures(
        kernels.SinhGaussian(2.0, beta=np.pi / (2.0 * DIM)),
        2 * 3 * 2 * DIM,
        decomposition="jordan",
        scheme="iid",
        output="concatenated",
        random_state=10 * 2,
    ).fit(X)
    C, accuracy = accuracy_by_hand(map.transform(X), y, map.transform(X_test), y_test, design.CS)
    measured = ASYMMETRIC.run(cell("table 1", design.ASY_JORDAN, design.SINH), QUICK)
    assert measured["C"] == C
    assert measured["accuracy"] == pytest.approx(accuracy, abs=1e-12)
    assert measured["n_features"] == map.transform(X).shape[1] > 2 * 3 * 2 * DIM


def test_the_linear_classifier_by_hand():
    C, accuracy = accuracy_by_hand(*halves_by_hand(), design.CS)
    measured = ASYMMETRIC.run(cell("table 1", design.LINEAR, design.LINEAR), QUICK)
    assert (measured["C"], measured["accuracy"]) == (C, pytest.approx(accuracy, abs=1e-12))


@pytest.mark.parametrize("method", [design.LEAST_SQUARES, design.NYSTROEM, design.JORDAN_FITTED])
def test_a_cell_is_the_same_whatever_was_measured_before(method):
    first = ASYMMETRIC.run(cell("error", method), QUICK)
    ASYMMETRIC.run(cell("error", design.POLAR_IID, seed=1), QUICK)
    rows_of.cache_clear()
    second = ASYMMETRIC.run(cell("error", method), QUICK)
    for metrics in (first, second):
        assert metrics.pop("fit_seconds") > 0.0
    assert first == second
