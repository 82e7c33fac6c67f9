"""A law of targets in a user's own file, with latent variables that chains draw: Laplace noise."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import bochner
from bochner import LearnedKernelRegressor
from bochner.gaussian_process.number_likelihoods import LocationLikelihood
from bochner.learned.moves import Augmentation, augmented


@bochner.register
@dataclass(frozen=True, slots=True)
class LaplaceNoise(LocationLikelihood):
    """Errors with the density exp(-|e| / s) / 2s."""

    scale: float | None = None

    @property
    def noise_variance(self):
        return 2.0 * self.scale**2

    def log_density(self, y, f):
        return -np.abs(y - f) / self.scale - np.log(2.0 * self.scale)

    def slope(self, y, f):
        return np.sign(y - f) / self.scale

    def curvature(self, y, f):
        return np.zeros(np.broadcast(y, f).shape)

    def sample(self, rng, f):
        return rng.laplace(f, self.scale)

    def noise_variances(self):
        """An exponential law of variances (Andrews and Mallows, 1974), at its quantiles."""
        share = (np.arange(200) + 0.5) / 200
        return -2.0 * self.scale**2 * np.log1p(-share), np.full(200, 1 / 200)


@dataclass(frozen=True, slots=True)
class LaplaceRows(Augmentation):
    """Reciprocal variances of rows, which are inverse Gaussian given the residual."""

    def variables(self, law, part, activation, rng):
        distance = np.maximum(np.abs(part.observed[0] - activation) / law.scale, 1e-9)
        return rng.wald(1.0 / distance, 1.0)

    def pseudo(self, law, part, values):
        return values, values * part.observed[0]


augmented.register(LaplaceNoise, LaplaceRows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_is_sampled_and_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(400, 1))
    f = np.sin(2.0 * X[:, 0])
    y = f + rng.laplace(0.0, 0.3, size=len(X))
    model = LearnedKernelRegressor(20, likelihood=LaplaceNoise(), n_chains=2, random_state=0).fit(
        X, y
    )
    mean, std = model.predict_latent(X)
    assert np.mean(((mean - f) / std) ** 2) < 2.0
    assert 0.25 < model.likelihood_.scale < 0.36
    lower, upper = model.predict_interval(X, 0.9)
    assert 0.85 < np.mean((lower <= y) & (y <= upper)) < 0.95
    bochner.save(model, tmp_path / "model.bochner")
    assert_array_equal(bochner.load(tmp_path / "model.bochner").predict(X), model.predict(X))
