"""Widths that follow errors, next to the law that drew them and to a general optimiser."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import norm

from bochner import TableRegressor
from bochner.tables import width_terms, widths
from bochner.tables.trees import TreeInputs
from bochner.tables.width_terms import BinaryColumns
from bochner.tables.widths import Moments

LEVELS = TreeInputs.of(np.arange(3), np.array([0, 0, 1]))  # A category of two levels, a number


def drawn(rng, n, of_mean=0.8, of_level=0.0):
    """Predictions, rows and scores whose deviation grows with the prediction and by a level."""
    mean = rng.uniform(-1.5, 1.5, n)
    level = rng.integers(2, size=n)
    X = np.column_stack((level == 0, level == 1, rng.normal(size=n))).astype(float)
    true = np.exp(of_mean * mean + of_level * level)
    moments = Moments(mean, np.ones(n), np.zeros(n))
    return moments, X, true, true * rng.normal(size=n)


def relative(factors, true):
    """Factors over the true ones, whose geometric mean is one: scores give the rest."""
    logs = np.log(factors) - np.log(true)
    return np.exp(logs - logs.mean())


def test_trees_add_interactions():
    """Trees describe a width that grows with a number at one level and falls at the other."""
    rng = np.random.default_rng(1)
    moments, X, true, _ = drawn(rng, 3000)
    true = true * np.exp(1.5 * X[:, 2].clip(-1.0, 1.0) * (X[:, 0] - X[:, 1]))
    scores = np.abs(true * rng.normal(size=3000))
    found, left_out = widths.fitted_widths(moments, scores, X, LEVELS, None)
    assert found.trees is not None
    assert np.std(np.log(relative(left_out, true))) < 0.2
    assert np.std(np.log(relative(found(moments, X), true))) < 0.2


def test_the_width_of_all_rows_is_that_of_rows_left_out(monkeypatch):
    found, groups = [], np.arange(200) // 20
    monkeypatch.setattr(widths, "_is_better", lambda factors, best, *rest: found.append(best))
    moments, X, _, scores = drawn(np.random.default_rng(2), 200)
    widths.fitted_widths(moments, np.abs(scores), X, None, groups)
    others = np.mean(np.abs(scores[groups != 3])) / np.mean(np.abs(scores))
    assert_allclose(found[0][groups == 3], others)


@pytest.mark.thorough
def test_groups_are_left_out_as_a_whole():
    """Factors of a group, in units of the scores, do not change with its scores."""
    moments, X, _, scores = drawn(np.random.default_rng(2), 1200, 0.8, 1.0)
    groups, scores = np.arange(1200) // 30, np.abs(scores)
    of_group = groups == 3
    changed = np.where(of_group, 2.0 * scores, scores)
    found = [
        np.mean(own) * widths.fitted_widths(moments, own, X, LEVELS, groups)[1][of_group]
        for own in (scores, changed)
    ]
    assert np.ptp(found[0]) > 0.0
    assert_allclose(found[1], found[0], rtol=1e-5)


def test_widths_do_not_follow_errors_that_a_stretch_shares():
    """Widths follow what differs within stretches of time, not how large errors of each are."""
    rng, stretches = np.random.default_rng(5), np.arange(1800) // 600
    _, X, _, scores = drawn(rng, 1800, 0.0)
    mean = rng.uniform(-1.5, 1.5, 1800) + np.array([0.0, 0.7, 1.4])[stretches]
    moments = Moments(mean, np.ones(1800), np.zeros(1800))
    true = np.exp(0.5 * mean + np.array([0.0, 1.0, -1.0])[stretches])
    data = widths._Scores(moments, np.abs(scores) * true, 1.0, X, None)
    errors = []
    for labels in (stretches, None):
        found = replace(data, stretches=labels).sum_of(np.arange(1800), *next(data.choices()))
        errors.append(np.std(np.log(relative(found(moments, X), np.exp(0.5 * mean)))))
    assert errors[0] < 0.15 < 0.3 < errors[1]


def check_equal_rows(n=600, n_cells=2):
    """Left-out means of equal rows tell their residuals, and the widths are the same for all."""
    rng = np.random.default_rng(4)
    for is_noisy in (False, True):
        cell = rng.integers(n_cells, size=n)
        y = 3.0 * cell + rng.normal(size=n) * (np.exp(cell) if is_noisy else 1.0)
        sums, counts = np.bincount(cell, y), np.bincount(cell)
        mean, left_out = sums / counts, (sums[cell] - y) / (counts[cell] - 1)
        # Laws of other shrinkage disagree by what a target moves their means.
        disagreement = (0.3 + 0.5 * (left_out - mean[cell])) ** 2
        variance = (1.0 + 1.0 / n) * (1.0 + 1e-9 * rng.normal(size=n))
        moments = Moments(left_out, variance, disagreement)
        X, scores = np.eye(n_cells)[cell], np.abs(y - left_out)
        found, _ = widths.fitted_widths(moments, scores, X, None, None)
        same = np.ones(n_cells)
        factors = found(Moments(mean, (1.0 + 1.0 / n) * same, 0.09 * same), np.eye(n_cells))
        expected = np.exp(np.arange(n_cells)) if is_noisy else same
        assert_allclose(relative(factors, expected), 1.0, atol=0.15)
        assert bool(found.curves) == is_noisy
        if is_noisy:
            assert [len(curve.knots) for curve in found.curves[:2]] == [n_cells, 1]


@pytest.mark.parametrize("n_cells", [2, 3])
def test_left_out_means_of_equal_rows_tell_no_widths(n_cells):
    check_equal_rows(n_cells=n_cells)


@pytest.mark.parametrize("n", [50, 200, 2000])
def test_scores_of_one_width_have_no_factor(n):
    kept = 0
    for seed in range(10):
        moments, X, _, scores = drawn(np.random.default_rng(seed), n, 0.0)
        found, factors = widths.fitted_widths(moments, np.abs(scores), X, LEVELS, None)
        kept += not found.curves
        if not found.curves:
            assert (factors == 1.0).all()
            assert (found(moments, X) == 1.0).all()
    assert kept >= 9


def test_curves_are_most_likely():
    """Coefficients minimise the penalised loss of an optimiser that knows no derivative."""
    rng = np.random.default_rng(3)
    moments, X, _, scores = drawn(rng, 300, 0.8, 0.5)
    scores, basis = np.abs(scores), np.column_stack((np.ones(300), moments.mean, X[:, :2]))
    penalty, offset = np.diag([0.0, 3.0, 20.0, 20.0]), 0.3 * X[:, 2]

    def loss(coef):
        logs = offset + basis @ coef
        return np.sum(logs + scores * np.exp(-logs)) + 0.5 * coef @ penalty @ coef

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    inverse = np.linalg.inv(basis.T @ basis + penalty)
    found = width_terms.least_loss(basis, penalty, scores, offset, np.zeros(4), inverse)
    assert_allclose(found, best.x, atol=2e-3)


def test_penalties_are_those_of_the_spread_of_levels():
    """Levels drawn from a normal law are shrunk as if the law's variance were known."""
    rng, size = np.random.default_rng(5), 20
    inputs = TreeInputs.of(np.arange(50), np.zeros(50, dtype=int))
    X, errors = np.eye(50)[np.repeat(np.arange(50), size)], []
    for spread in (0.0, 0.5):
        for _ in range(10):
            logs = spread * rng.normal(size=50)
            scores = np.exp(np.repeat(logs, size)) * rng.exponential(size=50 * size)
            terms = width_terms.WidthTerms([np.zeros(1)], BinaryColumns.of(X, inputs))
            curves, levels = terms.fitted(np.zeros((len(X), 1)), X, scores)
            errors.append(np.mean((curves[0].values[0] + levels(np.eye(50)) - logs) ** 2))
        # The error of the posterior mean with the variance 1 / size of a level's mean.
        known = spread**2 / (1.0 + size * spread**2)
        assert abs(np.mean(errors[-10:]) - known) < 0.01


def test_rows_with_gaps_have_the_width_of_their_errors(n_seeds=4, tolerance=0.07):
    """Rows with a missing entry have the width of their errors in a table of 120 rows."""
    inside = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        is_missing = rng.random(120) < 0.2
        X = np.column_stack((rng.normal(size=120), is_missing)).astype(float)
        scores = np.where(is_missing, 6.0, 0.3) * rng.normal(size=120)
        moments = Moments(rng.normal(size=120), np.ones(120), 0.1 * rng.random(120))
        columns = TreeInputs.of(np.arange(2), None)
        found, _ = widths.fitted_widths(moments, np.abs(scores), X, columns, None)
        factors = found(moments, X)
        end = np.quantile(np.abs(scores) / factors, 0.9)
        normal = [
            norm.cdf(end * np.median(factors[is_missing == gap]) / true)
            for gap, true in ((False, 0.3), (True, 6.0))
        ]
        inside.append(2.0 * np.array(normal) - 1.0)
    assert_allclose(np.mean(inside, axis=0), 0.9, atol=tolerance)


def heteroscedastic(rng, n):
    X = pd.DataFrame({"size": rng.uniform(0.0, 3.0, n), "kind": rng.choice(["a", "b"], n)})
    mean = 4.0 * X["size"] + (X["kind"] == "b")
    spread = 0.1 + 0.7 * X["size"] ** 2
    return X, (mean + spread * rng.normal(size=n)).to_numpy()


@pytest.mark.thorough
def test_intervals_hold_in_thirds_of_the_prediction():
    rng = np.random.default_rng(0)
    X, y = heteroscedastic(rng, 600)
    model = TableRegressor(effort="quick", random_state=0).fit(X, y)
    assert any(own.curves for own in model.head_.widths)
    new, truth = heteroscedastic(rng, 6000)
    lower, upper = model.predict_interval(new, 0.9)
    third = np.argsort(np.argsort(model.predict(new))) * 3 // len(new)
    inside = (lower <= truth) & (truth <= upper)
    for number in range(3):
        assert abs(np.mean(inside[third == number]) - 0.9) < 0.05
    assert abs(inside.mean() - 0.9) < 0.03
    _, std = model.predict(new, return_std=True)
    assert 1.4 * np.mean(std[third == 0]) < np.mean(std[third == 2])
    assert_allclose(np.mean((truth - model.predict(new)) ** 2 / std**2), 1.0, atol=0.2)


@pytest.mark.thorough
def test_covariances_have_the_widths_of_predictions():
    """Covariances have the variances of predictions, whose widths follow the rows."""
    rng = np.random.default_rng(1)
    X, y = heteroscedastic(rng, 300)
    model = TableRegressor(effort="quick", random_state=0).fit(X, y)
    assert any(curve.curves for curve in model.head_.widths)
    rows = X[:6]
    _, cov = model.predict(rows, return_cov=True)
    assert_allclose(np.sqrt(np.diagonal(cov)), model.predict(rows, return_std=True)[1], rtol=1e-6)


class Remembered:
    """Logarithms of the scores of rows that were fitted, and a line for all others."""

    def __init__(self, rows, scores, slope=0.0):
        self.logs, self.slope = dict(zip(rows.tolist(), np.log(scores), strict=True)), slope

    def __call__(self, rows):
        return np.array([self.logs.get(row, self.slope * row) for row in rows.tolist()])


def test_factors_are_those_of_rows_left_out(monkeypatch):
    """Trees that remember scores are not kept, because they add nothing for rows left out."""
    moments, X, _, scores = drawn(np.random.default_rng(5), 600)

    def trees(inputs, scores, columns):
        seen = Remembered(inputs[:, -1], scores)
        return lambda rows: seen(rows[:, -1])[:, None]

    monkeypatch.setattr(widths, "_trees", trees)
    found, _ = widths.fitted_widths(moments, np.abs(scores), X, LEVELS, None)
    assert found.trees is None
