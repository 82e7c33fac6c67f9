"""Figures that results pages state: errors, coverages, densities, and who is better."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pages import rows_of, table_lines
from sklearn.gaussian_process import GaussianProcessRegressor

from benchmarks.payoff import (
    ENERGY,
    GAUSSIAN,
    GENERATED,
    LANDMARKS,
    ORTHOGONAL,
    STRUCTURED,
    at_equal_seconds,
)
from benchmarks.processes import design, rows
from benchmarks.real import design as real
from benchmarks.real.benchmark import REAL
from benchmarks.real.measures import coverage
from benchmarks.unlike import design as unlike
from benchmarks.unlike.benchmark import UNLIKE
from benchmarks.unlike.measures import interval_metrics


@pytest.mark.parametrize("n", [9, 10, 11, 100])
def test_coverage_by_thirds_of_the_prediction(n):
    rng = np.random.default_rng(n)
    predicted, is_inside = rng.normal(size=n), rng.random(n) < 0.7
    found = coverage(is_inside, predicted)
    ranks = [sum(other < own for other in predicted) for own in predicted]
    sizes = [n // 3 + (n % 3 > part) for part in range(3)]
    for name, first, size in zip(("low", "middle", "high"), np.cumsum(sizes) - sizes, sizes,
                                 strict=True):  # fmt: skip
        places = [i for i in range(n) if first <= ranks[i] < first + size]
        assert len(places) == size
        part = is_inside[places]
        assert found[f"coverage_{name}"] == pytest.approx(np.mean(part))
    assert found["coverage"] == pytest.approx(np.mean(is_inside))


def test_metrics_of_intervals():
    rng = np.random.default_rng(0)
    y, centre = rng.normal(size=50), rng.normal(size=50)
    halves = (0.3, 0.8, 1.1)
    intervals = np.array([(centre - half, centre + half) for half in halves])
    found = interval_metrics(intervals, y, 2.0)
    for level, half in zip((50, 80, 90), halves, strict=True):
        inside = sum(abs(a - b) <= half for a, b in zip(y, centre, strict=True))
        assert found[f"coverage_{level}"] == pytest.approx(inside / 50)
    # Gneiting and Raftery (2007), equation 43, with alpha = 0.1
    scores = []
    for value, middle in zip(y, centre, strict=True):
        low, high = middle - 1.1, middle + 1.1
        penalty = (low - value) * (value < low) + (value - high) * (value > high)
        scores.append(high - low + 2.0 / 0.1 * penalty)
    assert found["interval_score"] == pytest.approx(np.mean(scores) / 2.0)
    assert found["below_90"] == pytest.approx(np.mean(y < centre - 1.1))
    assert found["width"] == pytest.approx(1.1)


@pytest.mark.parametrize("name", design.DRAWS)
def test_the_posterior_of_a_draw_is_that_of_scikit_learn(name):
    problem, draw = rows.drawn(name, 80, 40, 0), design.DRAWS[name]
    theirs = GaussianProcessRegressor(draw.kernel, alpha=draw.noise**2, optimizer=None)
    mean, std = theirs.fit(problem.X, problem.y).predict(problem.X_test, return_std=True)
    assert_allclose(problem.exact.mean, mean, atol=1e-6)
    assert_allclose(problem.exact.std, np.hypot(std, draw.noise), rtol=1e-4)
    assert_allclose(problem.exact.evidence, theirs.log_marginal_likelihood_value_, rtol=1e-6)


# Pages


def fits(errors, seconds, method, **problem):
    """Return the rows of a method with errors and seconds by numbers of features."""
    base = {"dataset": GENERATED, "kernel": GAUSSIAN, "n": 1000, "inputs": 2, "part": "fits"}
    base |= {"seed": 0, "run": 1, "method": method, **problem}
    return [
        {**base, "features": p, "metric": metric, "value": values[p]}
        for metric, values in (("error", errors), ("fit_cpu", seconds))
        for p in errors
    ]


def test_errors_are_interpolated_at_the_seconds_of_orthogonal_features():
    rows = fits({64: 0.8, 128: 0.6, 256: 0.5}, {64: 0.5, 128: 2.0, 256: 4.0}, ORTHOGONAL)
    # Half way from 1 to 16 in logarithms, so that the error is the geometric mean.
    rows += fits({64: 0.4, 128: 0.1}, {64: 1.0, 128: 16.0}, LANDMARKS)
    rows += fits({64: 0.3, 128: 0.2}, {64: 0.1, 128: 0.2}, STRUCTURED)
    rows += fits({64: 0.3, 128: 0.2}, {64: 5.0, 128: 6.0}, ENERGY)
    ((problem, errors),) = at_equal_seconds(rows).items()
    assert problem == (GENERATED, GAUSSIAN, 1000, 2)
    assert errors == pytest.approx(
        {"features": 256, "seconds": 4.0, ORTHOGONAL: 0.5, LANDMARKS: 0.2, STRUCTURED: 0.2}
    )
    quarter = at_equal_seconds(rows, 4)[problem]
    assert quarter == pytest.approx(
        {"features": 64, "seconds": 0.5, ORTHOGONAL: 0.8, STRUCTURED: 0.2}
    )


def table_rows(method, metric, *found, dataset):
    return rows_of(method, metric, *found, dataset=dataset, part="tables", rows="all")


def test_the_page_says_what_is_behind_and_where():
    measured_rows = [
        *table_rows(real.OURS, "rmse", 1.0, 3.0, dataset="ames"),
        *table_rows(real.CATBOOST, "rmse", 2.0, 2.0, dataset="ames"),
        *table_rows(real.TREES, "rmse", 1.0, 1.0, dataset="ames"),
        *table_rows(real.OURS, "rmse", 1.0, dataset="hotel"),
        *table_rows(real.CATBOOST, "rmse", 4.0, dataset="hotel"),
        *table_rows(real.OURS, "log_loss", 0.3, dataset="churn"),
        *table_rows(real.CATBOOST, "log_loss", 0.2, dataset="churn"),
        *table_rows(real.REALMLP, "log_loss", 0.1, dataset="churn"),
    ]
    text = REAL.page(measured_rows)
    lines = table_lines(text)
    assert f"{real.OURS} has a lower error than the best" in text
    assert "on 1 of 3 tables" in text
    assert lines["ames"][0] == ["2.000", real.TREES]
    assert lines["churn"][0] == ["1.500", real.CATBOOST]
    behind = text.index("| ames |"), text.index("| churn |")
    assert behind[0] < behind[1]
    # The geometric mean of 1 on ames and 1/4 on hotel.
    assert lines[f"{real.OURS}, regressions"] == [["2", "0.5", "0.25", "1", "ames"]]
    assert lines[f"{real.REALMLP}, classifications"][-1] == ["1", "3", "3", "3", "churn"]
    errors_of_ames = next(line for line in lines["ames"] if line[0] == "2 ± 1")
    assert errors_of_ames == ["2 ± 1", "2 ± 0", "1 ± 0"]


def kind_rows(method, metric, *found, dataset, kind):
    return rows_of(method, metric, *found, dataset=dataset, rows=kind)


def test_the_page_begins_with_what_is_wrong():
    gap, beyond = unlike.ONE_GAP, unlike.BEYOND
    measured_rows = [
        *kind_rows(unlike.OURS, "coverage_90", 0.7, 0.8, dataset="diamonds", kind=gap),
        *kind_rows(unlike.OURS, "coverage_90", 0.9, dataset="loans", kind=gap),
        *kind_rows(unlike.OURS, "coverage_90_gap", 0.3, dataset="loans", kind=unlike.MANY_GAPS),
        *kind_rows(unlike.OURS, "coverage_90", 0.97, dataset="loans", kind=beyond),
        *kind_rows(unlike.CATBOOST, "coverage_90", 0.2, dataset="diamonds", kind=gap),
        *kind_rows(unlike.OURS, "interval_score", 1.0, dataset="diamonds", kind=gap),
        *kind_rows(unlike.TARGET_ALONE, "interval_score", 4.0, dataset="diamonds", kind=gap),
        *kind_rows(unlike.OURS, "log_loss", 0.6, dataset="credit", kind=gap),
        *kind_rows(unlike.TARGET_ALONE, "log_loss", 0.5, dataset="credit", kind=gap),
        *kind_rows(unlike.OURS, "ece", 0.05, dataset="credit", kind=gap),
    ]
    text = UNLIKE.page(measured_rows)
    lines = table_lines(text)
    # Below: diamonds and the gaps of loans; above: loans beyond the range
    first, classes = lines[unlike.OURS]
    assert first == ["4", "2", "1", "0.300", "loans, gaps in 30 %, with the gap"]
    assert classes == ["1", "1", "1.20", "credit, one gap", "1 of 1", "0.050"]
    assert lines[unlike.CATBOOST] == [["1", "1", "0", "0.200", "diamonds, one gap"]]
    order = [text.index(part) for part in ("with the gap | 0.300", "one gap | 0.750", "| 0.970")]
    assert order == sorted(order)
    assert ["0.250 (to 0.25)"] in lines[gap]
    assert ["0.825 (0.75–0.90)", "0.200 (0.20–0.20)"] in lines[gap]
