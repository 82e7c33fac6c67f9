"""The benchmark of Gaussian processes on features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

from benchmarks import Cell, Options
from benchmarks.processes import residual, thompson
from benchmarks.processes.methods import FEATURES, LANDMARKS, RANDOM


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(residual, "_ROWS", 150)


@pytest.mark.usefixtures("few")
def test_the_exact_process_is_that_of_scikit_learn():
    problem = residual.Problem.of("2 inputs", 0)
    theirs = GaussianProcessRegressor(Matern(0.7, nu=2.5), alpha=0.01, optimizer=None)
    theirs.fit(problem.X, problem.y)
    for rows in (problem.near, problem.far):
        mean, std = theirs.predict(rows, return_std=True)
        assert_allclose(problem.exact(rows)[0], mean, atol=1e-8)
        assert_allclose(problem.exact(rows)[1], std**2, atol=1e-8)
    outside = np.maximum(np.abs(problem.far) - 2.0, 0.0).max(axis=1)
    assert_allclose(outside, 3.0 * 0.7)


@pytest.mark.usefixtures("few")
def test_landmarks_at_all_rows_are_exact_but_for_variances_between_rows():
    cell = Cell("2 inputs", LANDMARKS, 0, {"features": 64, "landmarks": 150})
    found = residual.run(cell, Options())
    assert found["mean_error"] < 1e-5
    assert found["std_error"] < 0.2
    assert abs(found["far_variance"] - 1.0) < 0.05
    alone = residual.run(Cell("2 inputs", FEATURES, 0, {"features": 64, "landmarks": 0}), Options())
    assert alone["mean_error"] > 0.1


PLACES = {
    "Branin, 2 inputs": [(np.pi + 5.0) / 15.0, 2.275 / 15.0],
    "Ackley, 3 inputs": [0.415] * 3,
    "Hartmann, 6 inputs": [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573],
}
"""Where the functions are least, from the literature."""


@pytest.mark.parametrize("name", thompson.TARGETS)
def test_minima_are_where_they_are_said_to_be(name):
    target = thompson.TARGETS[name]
    assert_allclose(target.function(np.array([PLACES[name]])), target.minimum, atol=1e-5)
    values = target.function(np.random.default_rng(0).random((10_000, target.dim)))
    assert values.min() > target.minimum
    found = thompson.run(Cell(name, RANDOM, 0, {"features": 0, "landmarks": 0}), Options())
    assert found["distance_at_1"] <= found["distance_at_0.25"]
