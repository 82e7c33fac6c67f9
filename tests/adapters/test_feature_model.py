"""The model of BoTorch next to the ridge regression that it is, and to one of more rows."""

import numpy as np
import pytest
from laws.error_laws import dense_errors
from numpy.testing import assert_allclose

pytest.importorskip("botorch")

import torch
from botorch.acquisition import UpperConfidenceBound, qLogExpectedImprovement
from botorch.generation import MaxPosteriorSampling
from botorch.optim import optimize_acqf
from scipy.linalg import block_diag

from bochner import FourierFeatures, KreinRidge, kernels
from bochner.adapters.botorch import FeatureModel

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(30, 2))
Y = np.stack([np.sin(5.0 * X[:, 0]) + 4.0, 3.0 * X[:, 1] ** 2], axis=1)
Y += 0.1 * RNG.normal(size=Y.shape)
FRESH, MORE = RNG.uniform(size=(6, 2)), RNG.uniform(size=(4, 2))
VALUES = RNG.normal(size=(4, 2))
BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)

RIDGES = {
    "plain": KreinRidge("gaussian", 32, 0.01, length_scale=0.5, random_state=0),
    "intercept": KreinRidge("matern52", 32, 0.1, fit_intercept=True, random_state=0),
    "associated": KreinRidge(
        kernels.ShiftGaussian(0.5, 0.2), 32, 0.1, associated=True, random_state=0
    ),
}


def fitted(name, y=Y):
    return RIDGES[name].fit(X, y)


def double(values):
    return torch.as_tensor(np.asarray(values), dtype=torch.float64)


def by_hand(model, fresh):
    """Mean and covariances of functions, by dense matrices of features and checks."""
    both = np.concatenate([X, fresh])
    Z, checks = model.frequencies_.features(both), model.checks_.features(both)
    options = {"fit_intercept": model.fit_intercept}
    return dense_errors(Z @ Z.T, checks @ checks.T, Y, model.alpha_, **options)


def blocks(covariances):
    return block_diag(*np.moveaxis(covariances, 2, 0))


@pytest.mark.parametrize("name", RIDGES)
def test_posteriors_are_those_of_the_ridge(name):
    model = fitted(name)
    adapted = FeatureModel(model)
    mean, std = model.predict(FRESH, return_std=True)
    posterior = adapted.posterior(double(FRESH))
    assert_allclose(posterior.mean, mean, atol=1e-12)
    noisy = adapted.posterior(double(FRESH), observation_noise=True)
    assert_allclose(noisy.variance.sqrt(), std, rtol=1e-12)
    expected = by_hand(model, FRESH)
    assert_allclose(posterior.mean, expected.mean, atol=1e-8)
    covariance = posterior.distribution.covariance_matrix
    assert_allclose(covariance, blocks(expected.cov), atol=1e-8)


def test_one_target_and_batches():
    model = fitted("plain", Y[:, 0])
    adapted = FeatureModel(model)
    assert adapted.num_outputs == 1
    assert adapted.batch_shape == torch.Size([])
    batch = double(RNG.uniform(size=(3, 5, 4, 2)))
    posterior = adapted.posterior(batch)
    assert posterior.mean.shape == (3, 5, 4, 1)
    each = adapted.posterior(batch[1, 2])
    assert_allclose(posterior.mean[1, 2], each.mean, atol=1e-13)
    assert_allclose(
        posterior.distribution.covariance_matrix[1, 2],
        each.distribution.covariance_matrix,
        atol=1e-13,
    )
    assert posterior.rsample(torch.Size([7])).shape == (7, 3, 5, 4, 1)


def test_gradients_are_finite_differences():
    adapted = FeatureModel(fitted("intercept", Y[:, 0]))
    points = double(FRESH[:3]).requires_grad_()

    def moments(points):
        posterior = adapted.posterior(points)
        return posterior.mean, posterior.distribution.covariance_matrix

    assert torch.autograd.gradcheck(moments, (points,))


@pytest.mark.parametrize("name", RIDGES)
def test_observations_condition_the_joint_law(name):
    model = fitted(name)
    first = FeatureModel(model).condition_on_observations(double(MORE[:1]), double(VALUES[:1]))
    adapted = first.condition_on_observations(double(MORE[1:]), double(VALUES[1:]))
    errors = by_hand(model, np.concatenate([MORE, FRESH]))
    mean, cov = errors.mean[4:].copy(), errors.cov[4:, 4:].copy()
    for t in range(2):
        gain = np.linalg.solve(errors.cov[:4, :4, t] + errors.noise[t] * np.eye(4), np.eye(4))
        gain = errors.cov[4:, :4, t] @ gain
        mean[:, t] += gain @ (VALUES - errors.mean[:4])[:, t]
        cov[:, :, t] -= gain @ errors.cov[:4, 4:, t]
    posterior = adapted.posterior(double(FRESH))
    assert_allclose(posterior.mean, mean, atol=1e-8)
    assert_allclose(posterior.distribution.covariance_matrix, blocks(cov), atol=1e-8)


def peak(points):
    """A function with its maximum, one, at (0.3, 0.7)."""
    return np.exp(-8.0 * ((points - [0.3, 0.7]) ** 2).sum(axis=-1))


@pytest.mark.parametrize("name", ["upper confidence", "expected improvement", "Thompson"])
def test_maxima_are_found(name):
    rows = np.random.default_rng(0).uniform(size=(8, 2))
    model = KreinRidge("gaussian", 128, 1e-4, length_scale=0.4, random_state=0)
    adapted = FeatureModel(model.fit(rows, peak(rows)))
    best = peak(rows).max()
    for seed in range(8):
        torch.manual_seed(seed)
        if name == "Thompson":
            candidates = torch.rand(500, 2, dtype=torch.float64)
            point = MaxPosteriorSampling(adapted, replacement=False)(candidates, num_samples=1)
        else:
            acquisition = (
                UpperConfidenceBound(adapted, beta=4.0)
                if name == "upper confidence"
                else qLogExpectedImprovement(adapted, best)
            )
            point, _ = optimize_acqf(acquisition, BOUNDS, 1, num_restarts=2, raw_samples=32)
        value = peak(point.numpy())
        best = max(best, value.item())
        adapted = adapted.condition_on_observations(point, double(value)[:, None])
    assert best > 0.98


def test_refusals():
    with pytest.raises(TypeError, match="model must be a fitted KreinRidge"):
        FeatureModel(kernels.Gaussian())
    with pytest.raises(ValueError, match="not fitted"):
        FeatureModel(KreinRidge())
    indefinite = KreinRidge(
        features=FourierFeatures(kernels.DeltaGaussian(), 32, decomposition="jordan"),
        random_state=0,
    )
    with pytest.raises(ValueError, match="associated=True"):
        FeatureModel(indefinite.fit(X, Y))
    with pytest.raises(ValueError, match="no predictive standard deviation"):
        FeatureModel(KreinRidge(n_components=32, solver="cg").fit(X, Y))
    with pytest.raises(ValueError, match="inputs must have shape"):
        FeatureModel(fitted("plain")).posterior(double(np.zeros((3, 5))))
