"""Functions drawn from linear models, and joint covariances, against dense Gaussian processes."""

import pickle

import numpy as np
import pytest
from files.same import round_trip
from flat_parameters import flat
from laws.error_laws import dense_errors
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.gaussian_process.kernels import Matern as TheirMatern

from bochner import KreinRidge, kernels

FAMILY_ALPHA = 1e-6
ALPHA = 0.05
RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(-2.0, 2.0, size=(40, 2)), RNG.uniform(-3.0, 3.0, size=(5, 2))
Y = np.stack([np.sin(X[:, 0]) + X[:, 1], 3.0 + X[:, 1] ** 2], axis=1)
Y = Y + 0.2 * RNG.normal(size=Y.shape)
KERNEL = kernels.Matern(1.3, nu=2.5)

CASES = {
    "features": {},
    "intercept": {"fit_intercept": True},
    "landmarks": {"residual": 15},
    "landmarks, intercept": {"residual": 15, "fit_intercept": True},
}
every = pytest.mark.parametrize("name", CASES)


def model(**parameters):
    defaults = {"kernel": KERNEL, "n_components": 20, "alpha": ALPHA, "random_state": 0}
    return flat(KreinRidge, **(defaults | parameters))


def joint(fitted, rows):
    """Mean (n, t), covariance (n, n) over the noise's variance and this variance, densely."""
    both = np.vstack((X, rows))
    gram, truth = fitted.frequencies_.gram(both), fitted.checks_.gram(both)
    if fitted.residual_ is not None:
        exact = KERNEL(both, fitted.residual_.landmarks)
        near = exact @ np.linalg.solve(KERNEL(fitted.residual_.landmarks), exact.T)
        gram, truth = (
            near + corrected(fitted, waves, both) for waves in (fitted.frequencies_, fitted.checks_)
        )
    errors = dense_errors(gram, truth, Y, ALPHA, fit_intercept=fitted.fit_intercept)
    return errors.mean, errors.cov[:, :, 0] / errors.noise[0], errors.noise


def corrected(fitted, waves, rows):
    """Gram matrix of random features less their values that landmarks determine."""
    landmarks = fitted.residual_.landmarks
    weights = np.linalg.solve(KERNEL(landmarks), KERNEL(landmarks, rows))
    rest = waves.features(rows) - weights.T @ waves.features(landmarks)
    return rest @ rest.T


def assert_moments(samples, mean, cov):
    """Draws (n, s) have a mean (n,) and a covariance (n, n), by z-tests of every entry."""
    count, size = samples.shape[1], len(mean)
    bound = stats.norm.isf(FAMILY_ALPHA / (2 * (size + size**2)))
    variance = np.diagonal(cov)
    z = (samples.mean(axis=1) - mean) / np.sqrt(variance / count)
    assert np.abs(z).max() < bound, "mean"
    products = (samples - mean[:, None]) @ (samples - mean[:, None]).T / count
    z = (products - cov) / np.sqrt((np.outer(variance, variance) + cov**2) / count)
    assert np.abs(z).max() < bound, "covariance"


@every
def test_covariances_are_those_of_the_dense_process(name):
    fitted = model(**CASES[name]).fit(X, Y)
    mean, cov, noise = joint(fitted, NEW)
    found, covariances = fitted.predict(NEW, return_cov=True)
    assert_allclose(found, mean, rtol=1e-7)
    assert covariances.shape == (5, 5, 2)
    assert_allclose(covariances, (cov + np.eye(5))[:, :, None] * noise, rtol=1e-6, atol=1e-9)
    std = fitted.predict(NEW, return_std=True)[1]
    assert std.shape == (5, 2)
    assert_allclose(np.sqrt(np.einsum("iit->it", covariances)), std, rtol=1e-9)
    single = fitted.fit(X, Y[:, 0]).predict(NEW, return_cov=True)[1]
    assert_allclose(single, covariances[:, :, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.thorough_cases("intercept")
@every
def test_functions_have_the_joint_posterior(name):
    fitted = model(**CASES[name]).fit(X, Y)
    mean, cov, noise = joint(fitted, NEW)
    functions = fitted.sample_functions(20_000, random_state=1)
    samples = functions(NEW)
    assert samples.shape == (5, 2, 20_000)
    for target in range(2):
        assert_moments(samples[:, target], mean[:, target], cov * noise[target])
    # Targets are independent.
    both = (samples - mean[:, :, None])[0] / np.sqrt(cov[0, 0] * noise)[:, None]
    bound = stats.norm.isf(FAMILY_ALPHA / 2)
    assert abs(np.mean(both[0] * both[1])) * np.sqrt(20_000) < bound


@pytest.mark.parametrize("noise", [True, False])
def test_samples_have_the_joint_distribution(noise):
    fitted = model(residual=15).fit(X, Y[:, 0])
    mean, cov = fitted.predict(NEW, return_cov=True)
    cov = cov - (not noise) * fitted.noise_variance_ * np.eye(5)
    samples = fitted.sample_y(NEW, 20_000, random_state=1, noise=noise)
    assert_moments(samples, mean, cov)
    assert_array_equal(samples, fitted.sample_y(NEW, 20_000, random_state=1, noise=noise))


@every
def test_gradients_are_differences_of_values(name):
    functions = model(**CASES[name]).fit(X, Y).sample_functions(3, random_state=0)
    gradient = functions.gradient(NEW)
    assert gradient.shape == (5, 2, 2, 3)
    for a, step in enumerate(1e-5 * np.eye(2)):
        expected = (functions(NEW + step) - functions(NEW - step)) / 2e-5
        assert_allclose(gradient[:, a], expected, atol=1e-5)


def test_some_of_the_functions_are_these_functions(tmp_path):
    functions = model(residual=10).fit(X, Y).sample_functions(4, random_state=0)
    values, gradient = functions(NEW), functions.gradient(NEW)
    assert len(functions) == 4
    # Sums of products in another order differ by rounding.
    assert_allclose(functions[2](NEW), values[..., 2], rtol=1e-12)
    assert_allclose(functions[-2:](NEW), values[..., -2:], rtol=1e-12)
    assert_allclose(functions[[3, 0]].gradient(NEW), gradient[..., [3, 0]], rtol=1e-10, atol=1e-10)
    assert [one(NEW).shape for one in functions] == [(5, 2)] * 4
    for again in (round_trip(functions, tmp_path), pickle.loads(pickle.dumps(functions))):
        assert_array_equal(again(NEW), values)
        assert_array_equal(again.gradient(NEW), gradient)
    single = model().fit(X, Y[:, 0]).sample_functions(random_state=0)
    assert single(NEW).shape == (5, 1)
    with pytest.raises(TypeError, match="A single function has no length"):
        len(single[0])


OURS = {
    "gaussian": (kernels.Gaussian(0.6), RBF(0.6)),
    "matern": (kernels.Matern(0.8, nu=2.5), TheirMatern(0.8, nu=2.5)),
    "rough": (kernels.Exponential(1.0), TheirMatern(1.0, nu=0.5)),
}


def compared(name, n_components, residual, rows, seed=0):
    """Errors of mean and variance, relative to the prior's, against scikit-learn's process."""
    ours, theirs = OURS[name]
    fitted = model(
        kernel=ours, n_components=n_components, residual=residual, random_state=seed
    ).fit(X, Y[:, 0])
    exact = GaussianProcessRegressor(theirs, alpha=ALPHA, optimizer=None).fit(X, Y[:, 0])
    mean, std = exact.predict(rows, return_std=True)
    found, noisy = fitted.predict(rows, return_std=True)
    variance = ALPHA * (noisy**2 / fitted.noise_variance_ - 1.0)
    return np.abs(found - mean), np.abs(variance - std**2), std**2


@pytest.mark.parametrize("name", OURS)
def test_landmarks_at_all_rows_give_the_exact_mean_and_variance_at_the_rows(name):
    mean, variance, _ = compared(name, 20, 40, X)
    assert mean.max() < 1e-5
    assert variance.max() < 1e-5
    assert compared(name, 20, 40, NEW)[0].max() < 1e-5


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_solvers_chunks_and_batches_agree(fit_intercept):
    whole = model(residual=12, fit_intercept=fit_intercept).fit(X, Y)
    expected = whole.predict(NEW)
    by_steps = model(residual=12, fit_intercept=fit_intercept, solver="cg", tol=1e-10).fit(X, Y)
    assert_allclose(by_steps.predict(NEW), expected, rtol=1e-6)
    sparsely = model(residual=12, fit_intercept=fit_intercept).fit(sparse.csr_array(X), Y)
    assert_allclose(sparsely.predict(sparse.csr_array(NEW)), expected, rtol=1e-9)
    chunks = [(X[:25], Y[:25]), (X[25:], Y[25:])]
    streamed = model(residual=12, fit_intercept=fit_intercept).fit(chunks)
    added = model(residual=12, fit_intercept=fit_intercept)
    for chunk in chunks:
        added.partial_fit(*chunk)
    assert_allclose(added.predict(NEW), streamed.predict(NEW), rtol=1e-9)


@pytest.mark.thorough
def test_what_cannot_be_is_refused():
    fitted = model().fit(X, Y)
    with pytest.raises(ValueError, match="return_std and return_cov are both true"):
        fitted.predict(NEW, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="X has 3 columns, and the functions have 2 inputs"):
        fitted.sample_functions()(np.ones((1, 3)))
    with pytest.raises(ValueError, match="n_functions must be at least 1"):
        fitted.sample_functions(0)
    by_steps = model(solver="cg").fit(X, Y)
    for ask in (by_steps.sample_functions, lambda: by_steps.predict(NEW, return_cov=True)):
        with pytest.raises(ValueError, match="Use solver='cholesky'"):
            ask()
    signed = model(kernel=kernels.DeltaGaussian(1.0, 10.0)).fit(X, Y)
    with pytest.raises(ValueError, match="associated=True"):
        signed.sample_functions()
    with pytest.raises(ValueError, match="residual needs a positive definite kernel"):
        model(kernel=kernels.DeltaGaussian(1.0, 10.0), residual=5).fit(X, Y)
    with pytest.raises(ValueError, match="residual must be at least 1"):
        model(residual=0).fit(X, Y)
    with pytest.raises(TypeError, match="residual must be a positive integer"):
        model(residual="all").fit(X, Y)
    smooth = kernels.Anova(kernels.Gaussian(1.0), inclusion=0.5)
    functions = model(kernel=smooth, residual=10).fit(X, Y).sample_functions()
    with pytest.raises(NotImplementedError, match="derivatives of Anova"):
        functions.gradient(NEW)


@pytest.mark.thorough
def test_the_associated_kernel_has_functions():
    associated = model(kernel=kernels.DeltaGaussian(1.0, 10.0), associated=True).fit(X, Y)
    mean, cov, noise = joint(associated, NEW)
    samples = associated.sample_functions(5_000, random_state=0)(NEW)
    assert_moments(samples[:, 0], mean[:, 0], cov * noise[0])
