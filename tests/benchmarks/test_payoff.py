"""The benchmark of errors at equal seconds."""

import numpy as np
import pytest

from benchmarks import Cell, Options, payoff, read_rows
from benchmarks.payoff import (
    ADDITIVE,
    ENERGY,
    GAUSSIAN,
    GENERATED,
    LANDMARKS,
    METHODS,
    ORTHOGONAL,
    PAYOFF,
    RESIDUAL,
    ROUGH,
    STRUCTURED,
    at_equal_seconds,
    generated,
    kernel_of,
    model_of,
)


def rows_of(errors, seconds, method, **problem):
    """Return the rows of a method with errors and seconds by numbers of features."""
    base = {"dataset": GENERATED, "kernel": GAUSSIAN, "n": 1000, "inputs": 2, "part": "fits"}
    base |= {"seed": 0, "run": 1, "method": method, **problem}
    return [
        {**base, "features": p, "metric": metric, "value": values[p]}
        for metric, values in (("error", errors), ("fit_cpu", seconds))
        for p in errors
    ]


def test_orthogonal_features_have_their_error_where_fewer_took_longer():
    rows = rows_of({32: 0.9, 64: 0.8}, {32: 3.0, 64: 0.5}, ORTHOGONAL)
    ((_, errors),) = at_equal_seconds(rows).items()
    assert errors == {"features": 64, "seconds": 0.5, ORTHOGONAL: 0.8}


def test_errors_are_interpolated_at_the_seconds_of_orthogonal_features():
    rows = rows_of({64: 0.8, 128: 0.6, 256: 0.5}, {64: 0.5, 128: 2.0, 256: 4.0}, ORTHOGONAL)
    # Half way from 1 to 16 in logarithms, so that the error is the geometric mean.
    rows += rows_of({64: 0.4, 128: 0.1}, {64: 1.0, 128: 16.0}, LANDMARKS)
    rows += rows_of({64: 0.3, 128: 0.2}, {64: 0.1, 128: 0.2}, STRUCTURED)
    rows += rows_of({64: 0.3, 128: 0.2}, {64: 5.0, 128: 6.0}, ENERGY)
    ((problem, errors),) = at_equal_seconds(rows).items()
    assert problem == (GENERATED, GAUSSIAN, 1000, 2)
    assert errors == pytest.approx(
        {"features": 256, "seconds": 4.0, ORTHOGONAL: 0.5, LANDMARKS: 0.2, STRUCTURED: 0.2}
    )
    quarter = at_equal_seconds(rows, 4)[problem]
    assert quarter == pytest.approx(
        {"features": 64, "seconds": 0.5, ORTHOGONAL: 0.8, STRUCTURED: 0.2}
    )


def test_curves_are_geometric_means_over_kernels_of_ratios_to_the_best():
    rows = []
    for kernel, error in ((GAUSSIAN, 0.4), (ROUGH, 0.9)):
        for inputs in (2, 8):
            problem = {"kernel": kernel, "inputs": inputs}
            rows += rows_of({64: error}, {64: 1.0}, ORTHOGONAL, **problem)
            rows += rows_of({64: 0.1}, {64: 1.0}, LANDMARKS, **problem)
    rows += rows_of({64: 0.4}, {64: 1.0}, ORTHOGONAL, n=10)  # One number of inputs is no curve
    curves = payoff._drawn(rows)
    assert curves["1,000 rows", ORTHOGONAL, 2.0] == pytest.approx(6.0)
    assert curves["1,000 rows", LANDMARKS, 8.0] == pytest.approx(1.0)
    assert {panel for panel, _, _ in curves} == {"1,000 rows"}


@pytest.mark.parametrize("name", [GAUSSIAN, ROUGH, ADDITIVE])
def test_functions_have_the_covariance_of_the_kernel(name):
    squares, products = [], []
    for seed in range(20):
        _, _, X_test, f, kernel = generated(name, 2, 8, seed)
        squares.append(np.mean(f**2))
        values = kernel(X_test)
        np.fill_diagonal(values, 0.0)
        products.append(np.sum(values * np.outer(f, f)) / np.sum(values**2))
    # Twenty functions vary by a fifth each, and their products by a half.
    assert np.mean(squares) == pytest.approx(1.0, abs=0.2)
    assert np.mean(products) == pytest.approx(1.0, abs=0.5)
    assert kernel == kernel_of(name, 8)


@pytest.mark.parametrize("method", METHODS)
def test_methods_have_as_many_features(method):
    X, y, *_, kernel = generated(GAUSSIAN, 200, 8, 0)
    model = model_of(method, kernel, 64, 0).fit(X, y)
    assert model.coef_.shape == (64,)
    n_landmarks = {LANDMARKS: 62, RESIDUAL: 32}.get(method)
    assert (model.residual_ is not None) == (n_landmarks is not None)
    if model.residual_ is not None:
        assert len(model.residual_.landmarks) == n_landmarks


def test_tables_have_held_out_rows_and_columns_for_classes():
    X, y, X_test, y_test, _ = payoff.table("wine", payoff.FIXED, 0, None)
    assert (X.shape, X_test.shape) == ((143, 13), (35, 13))
    assert np.array_equal(np.unique(y), [-0.5, 0.5])
    assert np.array_equal(y_test.sum(axis=1), np.full(35, -0.5))
    settings = {"part": "fits", "kernel": payoff.FIXED, "n": 0, "inputs": 13, "features": 64}
    metrics = PAYOFF.run(Cell("wine", ENERGY, 0, settings), Options())
    assert metrics["error"] < 0.1


def test_a_quick_run_measures_every_method(quick_run):
    rows = read_rows(quick_run("payoff"))
    # In two inputs structured blocks are orthogonal ones.
    assert {row["method"] for row in rows} == set(METHODS) - {STRUCTURED}
    errors = {
        (row["method"], row["features"]): row["value"] for row in rows if row["metric"] == "error"
    }
    assert all(error < 1.1 for error in errors.values())  # That of a constant is one
    assert min(row["value"] for row in rows if row["metric"] == "fit_cpu") > 0.0
    assert PAYOFF.page(rows).count("| generated |") == 4  # Two numbers of inputs, twice
