"""The tool that learns priors of series, against draws and least squares."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

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
