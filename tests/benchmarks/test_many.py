"""The benchmark of tables of up to a million rows."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from benchmarks import Cell, Options, many
from benchmarks.many import GENERATED, MANY, METHODS, RIDGE, measured, smooth, split_of


def test_targets_are_the_function_with_noise():
    X, y = smooth(50_000, np.random.default_rng(0))
    function = np.sin(X[:, 0] + np.sin(X[:, 1])) * np.cos(X[:, 2] + 0.5 * X[:, 3])
    function += 0.5 * np.sin(X[:, 4] * X[:, 5]) + 0.3 * X[:, 6] + 0.2 * np.abs(X[:, 7])
    assert np.std(y - function) == pytest.approx(0.1, rel=0.02)
    assert np.abs(X).max() < 1.5


def test_a_fifth_of_the_rows_is_held_out():
    X, y, X_test, y_test = split_of("wine", 0, 3, None)
    assert (len(X), len(X_test)) == (143, 35)
    together = np.column_stack((np.concatenate((X, X_test)), np.concatenate((y, y_test))))
    wine = np.column_stack((load_wine().data, load_wine().target))
    assert np.array_equal(np.sort(together, axis=0), np.sort(wine, axis=0))
    assert not np.array_equal(split_of("wine", 0, 4, None)[0], X)


INSTALLED = [method for method in METHODS if method not in many._PACKAGES]
# A fit of a table to 300 generated rows takes ten seconds.
PAIRS = [("wine", m) for m in INSTALLED] + [(GENERATED, m) for m in INSTALLED if m != many.OURS]


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_methods_predict_better_than_a_constant(name, method, monkeypatch):
    monkeypatch.setattr(many, "_FEATURES", 128)
    monkeypatch.setattr(many, "_ITERATIONS", 30)
    monkeypatch.setattr(many, "_TEST_ROWS", 500)
    metrics = measured(name, method, 300, 0, None)
    # Seven times the noise is the standard deviation of the function.
    assert metrics["error"] < (7.0 if name == GENERATED else 0.3)
    assert min(metrics[key] for key in ("fit_cpu", "predict_cpu")) > 0.0
    assert ("log_loss" in metrics) == (name != GENERATED and method != RIDGE)


def test_a_fit_has_a_process_of_its_own():
    cell = Cell("wine", many.HIST, 0, {"part": "fits", "n": 0})
    metrics = MANY.run(cell, Options())
    assert metrics["memory"] >= 0.0
    assert metrics["error"] == measured("wine", many.HIST, 0, 0, None)["error"]


def test_failures_are_not_measured():
    with pytest.raises(RuntimeError, match="failed"):
        MANY.run(Cell("wine", "no such method", 0, {"part": "fits", "n": 0}), Options())
