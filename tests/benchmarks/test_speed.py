"""The benchmark of speed, run small."""

import numpy as np
import pytest

from benchmarks.speed import map as maps
from benchmarks.speed import ridge as ridges
from benchmarks.speed import threads


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_all_maps_make_features_of_one_kernel(dtype):
    X, features = maps._place(400, 3, 4096, dtype)
    gram = features.kernel_(X[:20])
    for method in maps.map_methods():
        Z = np.asarray(maps._maps(features, 4096)[method](X[:20]))
        assert Z.dtype == dtype
        if method != maps.PRODUCT:
            assert Z.shape == (20, 4096)
        if method not in (maps.PRODUCT, maps.WRITING):
            assert np.abs(Z @ Z.T - gram).max() < 0.15


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 2e-7), ("float64", 1e-13)])
def test_errors_of_ours(dtype, bound):
    found = maps.map_metrics(maps.OURS, 600, 22, 64, dtype, 0)
    assert 0.0 < found["max_error"] < bound


def test_both_regressions_find_the_function():
    """A function of variance one with noise of variance 0.09."""
    for method in (ridges.OURS, ridges.SKLEARN):
        assert 0.08 < ridges.ridge_metrics(method, 4000, 3, 256, "float64", 0)["mse"] < 0.12


def test_structured_frequencies_are_as_good_as_orthogonal_ones():
    """And the array of them makes the same features."""
    errors = {}
    for method in (maps.STRUCTURED, maps.DENSE, maps.ORTHOGONAL):
        found = maps.structured_metrics(method, 200, 128, 2048, "float64", 0)
        assert ("held_seconds" in found) == (method != maps.ORTHOGONAL)
        errors[method] = found.get("gram_error")
    assert errors[maps.DENSE] is None
    assert 0.0 < errors[maps.STRUCTURED] < 1.1 * errors[maps.ORTHOGONAL] < 0.1


def test_seconds_of_one_thread_are_compared_with_those_of_two():
    (task, *_), n = threads.TASKS, "100"
    setting = {"dataset": task, "n": n, "metric": "thread_seconds"}
    made = [
        {**setting, "method": method, "value": value}
        for method, values in ((threads.ONE, (3.0, 4.0, 9.0)), (threads.TWO, (1.0, 2.0, 2.5)))
        for value in values
    ]
    _, table = threads._page(made)
    assert table.splitlines()[0].startswith("| work | n |")
    assert "4 (2.00)" in table


def test_work_that_threads_share_is_prepared_before_it_is_timed():
    for prepare, _, quick in threads.TASKS.values():
        assert callable(prepare(quick, 1))
