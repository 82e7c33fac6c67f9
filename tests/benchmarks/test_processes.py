"""The benchmark of Gaussian processes at scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor

from benchmarks import Cell, Options, find
from benchmarks.processes import design, page, rows, thompson
from benchmarks.processes.measures import errors, measured
from benchmarks.processes.methods import RANDOM, installed, method_of
from benchmarks.processes.rows import Posterior, Problem


@pytest.mark.parametrize("name", design.DRAWS)
def test_the_posterior_of_a_draw_is_that_of_scikit_learn(name):
    problem, draw = rows.drawn(name, 80, 40, 0), design.DRAWS[name]
    theirs = GaussianProcessRegressor(draw.kernel, alpha=draw.noise**2, optimizer=None)
    mean, std = theirs.fit(problem.X, problem.y).predict(problem.X_test, return_std=True)
    assert_allclose(problem.exact.mean, mean, atol=1e-6)
    assert_allclose(problem.exact.std, np.hypot(std, draw.noise), rtol=1e-4)
    assert_allclose(problem.exact.evidence, theirs.log_marginal_likelihood_value_, rtol=1e-6)


def test_functions_and_observations_are_draws_of_the_posterior():
    problems = [rows.drawn("gaussian-5", 60, 200, seed) for seed in range(5)]
    scores = [(p.y_test - p.exact.mean) / p.exact.std for p in problems]
    assert abs(np.mean(np.square(scores)) - 1.0) < 0.15  # Four standard errors
    noise = np.concatenate([p.y_test - p.f_test for p in problems])
    assert abs(noise.std() / design.DRAWS["gaussian-5"].noise - 1.0) < 0.1


def test_tables_have_published_or_random_splits_and_units_of_the_training_rows(tmp_path):
    rng = np.random.default_rng(0)
    X, y, is_test = rng.normal(3.0, 2.0, (50, 2)), rng.normal(5.0, 4.0, 50), np.zeros((2, 50), bool)
    is_test[1, 20:30] = True
    (tmp_path / "published_splits").mkdir()
    np.savez(tmp_path / "published_splits" / "kin8nm.npz", X=X, y=y, is_test=is_test)
    published = rows.table("kin8nm", 1, tmp_path)
    train = ~is_test[1]
    assert_allclose(published.y_test, (y[20:30] - y[train].mean()) / y[train].std())
    assert_allclose(published.X_test, (X[20:30] - X[train].mean(axis=0)) / X[train].std(axis=0))
    first, second = (rows.table(design.QUICK_TABLE, seed, None) for seed in range(2))
    assert (len(first.y_test), len(first.y)) == (44, 398)
    assert_allclose(first.X.mean(axis=0), 0.0, atol=1e-12)
    assert not np.array_equal(first.y_test, second.y_test)


def test_errors_are_those_of_normal_observations():
    y = np.array([0.0, 1.0, 1.7, -3.0])
    problem = Problem(np.zeros((8, 1)), np.zeros(8), np.zeros((4, 1)), y, y + 1.0)
    found = errors(Posterior(np.zeros(4), np.ones(4), -16.0), problem)
    assert_allclose(found["rmse"], np.sqrt(np.mean((y + 1.0) ** 2)))
    assert_allclose(found["nlpd"], 0.5 * np.log(2.0 * np.pi) + 0.5 * np.mean(y**2))
    assert found["coverage"] == 0.5  # The interval ends at 1.645
    assert found["evidence"] == -2.0


@pytest.mark.thorough
def test_the_given_kernel_has_the_exact_figures():
    problem = rows.drawn("matern52-2", 150, 100, 0)
    exact, given = (measured(name, problem, 0) for name in (design.EXACT, design.GIVEN))
    for metric, value in exact.items():
        assert_allclose(given[metric], value, rtol=1e-5)
    assert {"fit_seconds", "predict_seconds", "peak_megabytes"} <= given.keys()
    assert "evidence" not in measured(design.SKLEARN, problem, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("name", design.LEARNED)
def test_learned_processes_are_nearly_as_good_as_the_exact_one(name):
    if not installed(name):
        pytest.skip("GPyTorch is not installed")
    problem = rows.drawn("matern52-2", 300, 300, 0)
    method = method_of(name, problem.draw, 2, 0).fit(problem.X, problem.y)
    found, exact = errors(method.predict(problem.X_test), problem), errors(problem.exact, problem)
    assert found["rmse"] < 1.2 * exact["rmse"]
    assert abs(found["coverage"] - exact["coverage"]) < 0.06
    assert found["nlpd"] < exact["nlpd"] + 0.25  # SVGP has 0.19; the prior has 1.6


def test_others_have_one_split_and_exact_processes_few_rows(tmp_path):
    seeds = {}
    for cell in find("processes").cells(Options(data=tmp_path)):
        seeds.setdefault((cell.dataset, cell.method, cell.settings["n"]), set()).add(cell.seed)
    assert seeds["kin8nm", design.OURS, 8192] == {0, 1}
    assert seeds.get(("kin8nm", design.SGPR, 8192), {0}) == {0}
    assert seeds["matern52-2", design.GIVEN_APPROXIMATE, design.MOST_ROWS] == {0}
    assert ("matern52-2", design.GIVEN, design.MOST_ROWS) not in seeds
    assert max(n for _, method, n in seeds if method == design.SKLEARN) <= design.MOST_LEARNED


def _rows(figures):
    """Return rows of one case from values by method and metric."""
    return [
        {"dataset": "kin8nm", "n": 8192, "seed": 0, "method": method, "metric": metric,
         "value": value}
        for method, metrics in figures.items()
        for metric, value in metrics.items()
    ]  # fmt: skip


def _metrics(nlpd, coverage, seconds):
    return {"nlpd": nlpd, "coverage": coverage, "fit_seconds": seconds, "predict_seconds": 1.0}


def test_bochner_is_compared_with_the_sparse_method_of_least_density():
    figures = {
        design.OURS: _metrics(0.3, 0.85, 9.0),
        design.APPROXIMATE: _metrics(0.1, 0.9, 3.0),
        design.SGPR: _metrics(0.2, 0.9, 19.0),
        design.SVGP: _metrics(0.4, 0.9, 1.0),
    }
    case = ("kin8nm", 8192, 0)
    compared = page.behind(page.cases_of(_rows(figures)))
    assert_allclose([line[:2] for line in compared], [(0.1, 0.5), (-0.1, 0.2)])
    assert [line[2:] for line in compared] == [
        (case, design.OURS, design.SGPR), (case, design.APPROXIMATE, design.SGPR)
    ]  # fmt: skip
    text = "\n".join(page.tables(_rows(figures)))
    assert "1 of 2 coverages" in text
    assert "In 1 of 2 cases" in text
    assert "| kin8nm | 8192 | 0 | bochner | SGPR | +0.100 | 0.50 |" in text


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
    found = thompson.run(Cell(name, RANDOM, 0, {"n": target.budget}), Options())
    assert found["distance_at_1"] <= found["distance_at_0.25"]
