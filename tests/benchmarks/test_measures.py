"""Figures that results pages state: errors, coverages, densities, and who is better."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor

from benchmarks.payoff import GAUSSIAN, GENERATED
from benchmarks.processes import design, rows
from benchmarks.real.measures import coverage
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
