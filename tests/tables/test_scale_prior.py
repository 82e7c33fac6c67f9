"""Expected length scales, against regressions without each row, and how they are learned."""

import csv
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.tables import scale_prior
from bochner.tables.fit_plan import EFFORTS
from bochner.tables.observations import Rows

TOOL = Path(__file__).parents[2] / "tools" / "scale_priors.py"


def rows_of(n_rows, shared=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5)) * [1.0, 2.0, 0.5, 1.0, 3.0]
    Y = np.column_stack((X[:, 0] + 0.3 * X[:, 1], X[:, 2] ** 2)) + rng.normal(size=(n_rows, 2))
    weights = rng.uniform(0.5, 2.0, n_rows)
    return Rows(X, Y, weights / weights.mean(), shared=shared)


def regression(X, Y, weights, ridge):
    """Return the intercept and coefficients of a weighted ridge regression."""
    design = np.column_stack((np.ones(len(X)), X))
    penalty = ridge * np.diag([0.0] + [1.0] * X.shape[1])
    return np.linalg.solve((design.T * weights) @ design + penalty, (design.T * weights) @ Y)


def check_summary(n_rows=40):
    """Errors are those of regressions without each row; shares are variances of effects."""
    shared = np.array([4, 4, 0, 9, 0])
    rows, groups = rows_of(n_rows, shared), [[0, 1], [2, 4], [3]]
    weights, X = rows.weights / n_rows, np.empty_like(rows.X)
    for group in groups:
        part = rows.X[:, group] - weights @ rows.X[:, group]
        X[:, group] = part / np.sqrt(np.sum(weights @ part**2))
    ridge, everything = scale_prior._RIDGE / np.sqrt(n_rows), np.arange(n_rows)
    squares = 0.0
    for row in everything:
        kept = everything != row
        coef = regression(X[kept], rows.Y[kept], weights[kept], ridge)
        residual = rows.Y[row] - coef[0] - X[row] @ coef[1:]
        squares += weights[row] * np.sum(residual**2)
    coef = regression(X, rows.Y, weights, ridge)[1:]
    variances = np.array([np.sum(weights @ (X[:, g] @ coef[g]) ** 2) for g in groups])
    least = scale_prior._LEAST_SHARE / np.sqrt(3.0)
    shares = np.log(variances / variances.sum() + least)[[0, 0, 1, 2, 1]]
    total = np.sum(weights @ (rows.Y - weights @ rows.Y) ** 2)
    error, log_shares = scale_prior.ridge_summary(rows)
    assert_allclose(np.exp(error), min(squares / total, 1.0), rtol=1e-9)
    assert_allclose(log_shares, shares, rtol=1e-9)


@pytest.mark.parametrize("n_rows", [4, 40])
def test_a_regression_without_each_row_has_the_error(n_rows):
    check_summary(n_rows)


def test_few_rows_and_constants_have_expected_scales():
    for n_rows, factor in ((2, 1.0), (3, 1.0), (40, 0.0)):
        rows = rows_of(n_rows)
        rows.Y[:] *= factor
        for family, _ in EFFORTS["default"].families.values():
            assert np.isfinite(family.prior.log_scales(rows)).all()


def test_units_and_the_order_of_columns_do_not_matter():
    rows, order = rows_of(60), np.array([3, 0, 4, 1, 2])
    other = Rows(7.0 + rows.X[:, order] * [2.0, 5.0, 0.1, 1.0, 3.0], 4.0 * rows.Y, rows.weights)
    error, shares = scale_prior.ridge_summary(rows)
    assert_allclose(scale_prior.ridge_summary(other)[0], error)
    assert_allclose(scale_prior.ridge_summary(other)[1], shares[order])


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("scale_priors", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_priors_are_those_of_the_file():
    lines = csv.DictReader(TOOL.with_suffix(".csv").open(encoding="utf-8"))
    numbers = {(line["family"], line["quantity"]): float(line["value"]) for line in lines}
    for name, (family, _) in EFFORTS["default"].families.items():
        prior = family.prior
        for quantity in ("constant", "by_error", "by_share"):
            assert getattr(prior, quantity) == pytest.approx(numbers[name, quantity], abs=0.005)


def test_a_prior_is_learned_from_scales_that_follow_it(tool):
    rng, prior = np.random.default_rng(0), scale_prior.ScalePrior(1.0, -0.8, -0.5)
    ends = []
    for size in rng.integers(2, 9, size=300):
        error, shares = rng.uniform(-3.0, 0.0), np.log(rng.dirichlet(np.ones(size)) + 0.03)
        scales = prior.constant + prior.by_error * error + prior.by_share * shares
        ends.append(tool.End(error, shares, scales + 0.1 * rng.normal(size=size)))
    learned = tool.learned(ends)
    assert_allclose([learned["constant"], learned["by_error"], learned["by_share"]],
                    [1.0, -0.8, -0.5], atol=0.03)  # fmt: skip
    assert learned["R²"] > 0.9
    assert 0.08 < learned["deviation of columns"] < 0.12
