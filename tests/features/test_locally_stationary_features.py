"""Features of locally stationary kernels are of one side, symmetric and signed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import FourierFeatures, KreinRidge
from bochner.kernels import Anova, Gaussian, LocallyStationary, Matern, SpectralMixture

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 2)), RNG.normal(size=(20, 2))
PLAIN = LocallyStationary(Gaussian(2.0), Gaussian(0.8), (0.3, -0.2))
CONSTANT = SpectralMixture([2.0], [[0.0, 0.0]], [0.0])
KERNELS = {
    "plain": PLAIN,
    "sum with a stationary one": PLAIN + 0.5 * Matern(),
    "product": PLAIN * Matern(2.0),
    "of waves": LocallyStationary(
        SpectralMixture([1.0, 0.2], [[0.0, 0.0], [1.0, 0.5]], [0.2, 0.3]), Gaussian()
    ),
    "constant": LocallyStationary(CONSTANT, Gaussian()),
    "sparse": LocallyStationary(Anova(Gaussian(2.0), 0.5), Gaussian()),
}


@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_both_arguments_have_the_same_signed_features(kernel, weights):
    map = FourierFeatures(kernel, 1024, weights=weights, random_state=0).fit(X)
    assert map.frequencies_.is_symmetric
    assert map.frequencies_.n_frequencies == 512
    assert {-1.0, 1.0} == set(map.signature_)
    assert_array_equal(map.transform(NEW), map.transform_right(NEW))
    gram, exact = map.gram(NEW), kernel(NEW)
    assert_allclose(gram, gram.T, rtol=0.0, atol=1e-14)
    error = np.linalg.norm(gram - exact) / np.linalg.norm(exact)
    assert error < 0.35


def test_fitted_masses_stay_symmetric():
    kernel = PLAIN + 0.5 * Matern()
    map = FourierFeatures(kernel, 2048, masses="least_squares", random_state=0).fit(X)
    assert map.frequencies_.is_symmetric
    assert np.linalg.norm(map.gram(X) - kernel(X)) < 0.3 * np.linalg.norm(kernel(X))


def burst(rng, n):
    """A random wave that fades away from the middle, seen with noise, and its true values."""
    frequency, phase = rng.normal(scale=3.0, size=30), rng.uniform(0.0, 2.0 * np.pi, 30)
    rows = rng.uniform(-5.0, 5.0, (n + 1000, 1))
    wave = np.cos(rows * frequency + phase).sum(axis=1) / np.sqrt(15.0)
    truth = np.exp(-(rows[:, 0] ** 2) / 4.0) * wave
    seen = truth[:n] + 0.5 * rng.normal(size=n)
    return rows[:n], seen, rows[n:], truth[n:]


@pytest.mark.thorough
def test_ridge_learns_a_changing_amplitude_better_than_the_stationary_factor():
    # The amplitude squared is the variance, exp(-x^2 / 2), of the envelope of length scale one.
    stationary = Gaussian(1.0 / 3.0)
    errors = []
    for rng in np.random.default_rng(0).spawn(5):
        rows, seen, new, truth = burst(rng, 200)
        made = (
            KreinRidge(
                features=FourierFeatures(kernel, 2048, scheme="lattice", length_scale="auto"),
                alpha=0.5,
                random_state=0,
            ).fit(rows, seen)
            for kernel in (LocallyStationary(Gaussian(1.0), stationary), stationary)
        )
        errors.append([np.mean((model.predict(new) - truth) ** 2) for model in made])
    local, plain = np.mean(errors, axis=0)
    assert local < 0.85 * plain
