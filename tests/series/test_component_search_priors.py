"""The tool that learns priors of series, against draws and least squares."""

import importlib.util
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from bochner.series.priors import NormalPrior, SeriesPriors

PATH = Path(__file__).parents[2] / "tools" / "series_priors.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("series_priors", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_common_term_is_that_of_regression(tool):
    """Draws of the term and of the parameters, against the linear formulas."""
    rng = np.random.default_rng(0)
    std, powers = np.array([0.5, 0.3, 0.8]), np.array([1.0, 2.0, 0.0])
    priors = SeriesPriors(common_std=0.7)
    loadings = 0.7 * powers
    unit = rng.normal(size=400_000)
    rest = std * rng.normal(size=(len(unit), 3))
    theta = loadings * unit[:, None] + rest
    observed, factor = np.array([0.4, -0.9, 0.2]), 0.3 * rng.normal(size=(3, 3))
    cov = np.diag(std**2) + np.outer(loadings, loadings)
    prior = NormalPrior(np.zeros(3), np.linalg.cholesky(cov))
    mode = SimpleNamespace(model=SimpleNamespace(prior=prior), theta=observed, factor=factor)
    square, parts = tool._decomposed(SimpleNamespace(mode=mode), priors, powers.tolist())
    slopes, *_ = np.linalg.lstsq(theta, unit, rcond=None)
    # Parameters are drawn from the posterior, and the term given each draw.
    posterior = observed + rng.normal(size=(len(unit), 3)) @ factor.T
    term = posterior @ slopes + np.std(unit - theta @ slopes) * rng.normal(size=len(unit))
    assert_allclose(square, 0.7**2 * np.mean(term**2), rtol=0.02)
    left = posterior - term[:, None] * loadings
    means, variances = np.array(parts).T
    assert_allclose(means, left.mean(axis=0), atol=0.01)
    assert_allclose(variances, left.var(axis=0), rtol=0.02)


def test_laws_are_least_squares_with_pseudo_rows(tool):
    rng = np.random.default_rng(1)
    weight, length = rng.uniform(0.1, 1.0, 40), rng.normal(size=40)
    mean = 1.0 - 0.5 * length + 0.2 * rng.normal(size=40)
    variance = rng.uniform(0.0, 0.1, 40)
    law = tool._law(np.array([weight, length, mean, variance]), 3.0, 2.0)
    root = np.sqrt(np.concatenate((weight, [tool.PSEUDO, tool.PSEUDO_SLOPE])))
    design = np.column_stack((np.ones(40), length))
    design = np.vstack((design, np.eye(2)))
    target = np.concatenate((mean, [3.0, 0.0]))
    (level, slope), *_ = np.linalg.lstsq(root[:, None] * design, root * target, rcond=None)
    assert_allclose(law[:2], [level, slope], atol=1e-3)
    squares = weight @ ((mean - level - slope * length) ** 2 + variance)
    expected = np.sqrt((squares + 2.0) / (weight.sum() + 2.0))
    assert_allclose(law.std, expected, atol=1e-3)


def candidates(tool, rng, n_series=60):
    """Candidates whose evidence exaggerates by a factor of five which of them forecasts well."""
    fits = []
    for _ in range(n_series):
        truth = rng.integers(3)
        some = []
        for number, trend in enumerate(("level", "slope", "line")):
            evidence = 5.0 * rng.normal() + 10.0 * (number == truth) * rng.integers(2)
            densities = rng.normal(size=4) * 0.1 - 1.5 * (number != truth)
            some.append(tool.Candidate(trend, "none", 0.0, evidence, None, densities))
        fits.append(some)
    return fits


def score(tool, fits, power, odds):
    """Mean log density of mixtures, and its penalty, written out anew."""
    share, nats = tool.LEAST_DENSITY
    total = 0.0
    for some in fits:
        scores = np.array([power * one.log_evidence + odds[one.trend] for one in some])
        weights = np.exp(scores - logsumexp(scores))
        densities = np.array([one.densities for one in some])
        mixed = weights @ np.exp(densities)
        total += np.mean(np.log(mixed + share * np.exp(densities.max() - nats)))
    penalty = 0.5 * (np.log(power) ** 2 + sum((odd / 2.0) ** 2 for odd in odds.values()))
    return total - penalty


def test_odds_and_power_are_the_best_of_a_grid(tool):
    fits = candidates(tool, np.random.default_rng(2))
    priors = tool.stacked(fits, SeriesPriors())
    assert priors.power < 0.6
    found = score(tool, fits, priors.power, priors.trends)
    powers, steps = priors.power * np.array([0.8, 1.0, 1.25]), (-0.3, 0.0, 0.3)
    for power, level, slope in product(powers, steps, steps):
        odds = priors.trends | {
            "level": priors.trends["level"] + level,
            "slope": priors.trends["slope"] + slope,
        }
        assert score(tool, fits, power, odds) < found + 1e-3


@pytest.mark.thorough
def test_iterations_raise_the_evidence(tool):
    """Generated walks with drift: the evidence rises, but for errors of Laplace approximations."""
    rng = np.random.default_rng(3)
    series = []
    for number in range(16):
        drift = rng.normal() * 0.3
        values = 20.0 + np.cumsum(drift + rng.normal(size=24))
        series.append(tool.Example(str(number), 1, values, np.zeros(0)))
    priors = replace(SeriesPriors(), common_std=0.7)
    evidences = []
    for _ in range(4):
        fits = [tool.fitted(one, priors) for one in series]
        evidences.append(np.mean([logsumexp([fit.log_evidence for fit in some]) for some in fits]))
        priors = tool.improved(fits, priors)
    assert (np.diff(evidences) > -0.1).all()
    assert evidences[-1] > evidences[0] + 0.3
