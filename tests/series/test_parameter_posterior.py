"""Modes, evidence of models and draws, against sums over a grid of parameters."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from series.models import model_and_theta, rows_of

from bochner.series.components import Remainder
from bochner.series.parameter_posterior import draws, find_mode, log_density
from bochner.series.series_model import SeriesModel
from bochner.series.trends import ConstantLevel

MODEL = SeriesModel((ConstantLevel(), Remainder(0.05)))
"""Three parameters: the deviation of the remainder, the share of variation, and its memory."""


@pytest.fixture(scope="module")
def rows():
    return rows_of(40, n_inputs=0)


@pytest.fixture(scope="module")
def grid(rows):
    """Parameters (g, 3) on a grid of the prior, their log weights, and the log evidence."""
    mean, std = MODEL.prior.mean, MODEL.prior.std
    axes = [
        np.linspace(np.log(0.3), np.log(2.5), 41),  # The values' deviation is about 0.7
        mean[1] + std[1] * np.linspace(-4.0, 4.0, 29),
        mean[2] + std[2] * np.linspace(-4.0, 4.0, 29),
    ]
    theta = np.array(list(product(*axes)))
    density = np.array([log_density(MODEL, one, rows) for one in theta])
    sides = [(axis[1] - axis[0]) / scale for axis, scale in zip(axes, std, strict=True)]
    cell = np.prod(sides) / (2.0 * np.pi) ** 1.5  # A cell of standardised parameters
    return theta, density - logsumexp(density), logsumexp(density) + np.log(cell)


def test_the_mode_has_no_slope(rows):
    mode = find_mode(MODEL, rows)
    std = MODEL.prior.std
    for unit in 0.02 * np.eye(3):
        for step in (unit * std, -unit * std):
            assert log_density(MODEL, mode.theta + step, rows) < mode.log_density + 1e-3
    assert_allclose(log_density(MODEL, mode.theta, rows), mode.log_density)


def test_the_evidence_is_about_the_integral(rows, grid):
    """Laplace's approximation; models are told apart by nats."""
    assert_allclose(find_mode(MODEL, rows).log_evidence, grid[2], atol=0.5)


def test_draws_have_the_moments_of_the_posterior(rows, grid):
    theta, weights = draws(find_mode(MODEL, rows), rows, 4096, np.random.default_rng(0))
    assert_allclose(weights.sum(), 1.0)
    expected, share = grid[0], np.exp(grid[1])
    mean = share @ expected
    std = np.sqrt(share @ (expected - mean) ** 2)
    assert_allclose((weights @ theta - mean) / std, 0.0, atol=0.1)
    assert_allclose(np.sqrt(weights @ (theta - mean) ** 2) / std, 1.0, atol=0.1)


def test_no_draw_weighs_more_than_the_root_of_their_number(rows):
    model, _ = model_and_theta("line")
    with_inputs = rows_of(40)
    _, weights = draws(find_mode(model, with_inputs), with_inputs, 64, np.random.default_rng(0))
    # The root of 64; the mean is smaller than it was before the greatest were cut.
    assert weights.max() <= 1.5 * 8.0 / 64.0
