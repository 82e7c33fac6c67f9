"""A likelihood in a user's own file: durations, whose law is exponential."""

from dataclasses import dataclass

import numpy as np
import pytest

import bochner
from bochner import KernelGLMRegressor
from bochner.gaussian_process import NumberLikelihood


@bochner.register
@dataclass(frozen=True, slots=True)
class Durations(NumberLikelihood):
    """Exponential durations of mean ``exp(f)``."""

    def checked(self, y):
        if (y <= 0.0).any():
            raise ValueError("y must hold positive durations.")
        return y

    def origin(self, y, exposure, weight):
        return float(np.log(np.average(y, weights=weight)))

    def log_density(self, y, f):
        return -f - y * np.exp(-f)

    def slope(self, y, f):
        return y * np.exp(-f) - 1.0

    def curvature(self, y, f):
        return y * np.exp(-f)

    def sample(self, rng, f):
        return rng.exponential(np.exp(f))

    def moments(self, mean, variance):
        first = np.exp(mean + 0.5 * variance)
        return first, first**2 * (2.0 * np.exp(variance) - 1.0)

    def distribution(self, y, mean, variance):
        return -np.expm1(-np.maximum(y, 0.0) * np.exp(-mean))

    def log_predictive(self, y, mean, variance):
        return self.log_density(y, mean)


def test_it_is_fitted_and_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 1))
    y = rng.exponential(np.exp(1.0 + np.sin(2.0 * X[:, 0])))
    model = KernelGLMRegressor(Durations(), n_components=32, random_state=0).fit(X, y)
    mean, std = model.predict_latent(X)
    z = (mean - 1.0 - np.sin(2.0 * X[:, 0])) / std
    assert np.mean(z**2) < 2.0
    lower, upper = model.predict_interval(X, 0.9)
    assert 0.8 < np.mean((lower <= y) & (y <= upper)) < 0.97
    bochner.save(model, tmp_path / "durations.bochner")
    again = bochner.load(tmp_path / "durations.bochner")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="positive durations"):
        model.fit(X, -y)
