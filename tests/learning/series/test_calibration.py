"""Errors of forecasts from past origins."""

import numpy as np
import pytest
from learning.series.models import model_and_theta, rows_of
from numpy.testing import assert_allclose

from bochner.learning.series.calibration import horizon_factors
from bochner.learning.series.model import ScaledSeries, SeriesModel
from bochner.learning.series.parts import Remainder, Variation
from bochner.learning.series.trends import ConstantLevel


def assert_factors(name="damped"):
    """The factor of a horizon is the root mean square of errors of refitted filters."""
    model, theta = model_and_theta(name)
    n, step = 36, 1.0 / 35.0
    rows = rows_of(n, irregular=False, gaps=(20, 31))
    # Larger than the model expects
    rows = ScaledSeries(rows.times, 4.0 * rows.values, rows.inputs, rows.clock)
    horizons, factors = horizon_factors(model, theta, rows, step)
    counts = np.rint(horizons / step).astype(int).tolist()
    assert counts[0] == 1
    assert counts[-1] == 12
    for horizon, factor in zip(counts, factors, strict=True):
        squares = []
        for origin in range(12, n - horizon):
            if not np.isfinite(rows.values[origin + horizon]):
                continue
            hidden = rows.values.copy()
            hidden[origin + 1 :] = np.nan
            given = ScaledSeries(rows.times, hidden, rows.inputs, rows.clock)
            _, states = model.filtered(theta, given)
            weight = model.weights(rows)[origin + horizon]
            mean = weight @ states.mean[origin + horizon]
            variance = weight @ states.cov[origin + horizon] @ weight + model.noise(theta)
            squares.append((rows.values[origin + horizon] - mean) ** 2 / variance)
        independent = len(squares) / horizon
        expected = (5.0 + independent * np.mean(squares)) / (5.0 + independent)
        assert_allclose(factor, np.sqrt(max(1.0, expected)), rtol=1e-6)
    assert factors.max() > 1.2


@pytest.mark.parametrize("name", ["damped", "clock"])
def test_factors_are_errors_of_past_origins(name):
    assert_factors(name)


def test_a_true_model_is_hardly_widened():
    n, rng = 400, np.random.default_rng(0)
    times = np.linspace(0.0, 1.0, n)
    memory, share = 0.05, np.exp(-(times[1] - times[0]) / 0.05)
    values = [rng.normal()]
    for _ in range(n - 1):
        values.append(share * values[-1] + np.sqrt(1.0 - share**2) * rng.normal())
    y = np.array(values) + 0.3 * rng.normal(size=n)
    model = SeriesModel((ConstantLevel(), Variation(0.1), Remainder(0.01)))
    theta = np.array([0.0, np.log(memory), np.log(0.3), -30.0, 0.0])
    _, factors = horizon_factors(model, theta, ScaledSeries(times, y, np.zeros((n, 0))), times[1])
    assert factors.max() < 1.15


@pytest.mark.parametrize("n", [2, 24])
def test_irregular_or_few_rows_have_no_factors(n):
    model, theta = model_and_theta("level")
    rows = rows_of(n, gaps=())
    horizons, factors = horizon_factors(model, theta, rows, float(np.median(np.diff(rows.times))))
    assert not len(horizons)
    assert not len(factors)
