"""Length scales that do not depend on the units of columns."""

import numpy as np
import pytest
from flat_parameters import flat
from scipy.spatial.distance import pdist
from sklearn.datasets import make_friedman2

from bochner import FourierFeatures, KreinRidge, KreinRidgeClassifier, kernels
from bochner.features.parameters import auto_length_scale

X = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 50.0, 0.01] + [0.0, 1000.0, 1.0]


def scales(rows, weight=None):
    return np.array(auto_length_scale(rows, np.random.default_rng(0), weight))


def test_they_are_deviations_times_the_median_distance_of_standardised_rows():
    deviations = X.std(axis=0)
    median = np.median(pdist(X / deviations))
    np.testing.assert_allclose(scales(X), deviations * median, rtol=2e-3)


def test_weights_are_repetitions():
    weight = np.random.default_rng(1).integers(0, 4, size=60)
    repeated = scales(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(scales(X, weight.astype(float)), repeated, rtol=1e-10)


def test_units_do_not_change_a_ridge_model():
    y = np.sin(X[:, 0]) + X[:, 1] / 50.0
    units = np.array([1e-3, 10.0, 1e6])
    first = KreinRidge(n_components=64, random_state=0).fit(X, y).predict(X)
    other = KreinRidge(n_components=64, random_state=0).fit(X * units, y).predict(X * units)
    np.testing.assert_allclose(first, other, atol=1e-8)
    labels = y > np.median(y)
    first = KreinRidgeClassifier(n_components=64, random_state=0).fit(X, labels).predict(X)
    other = KreinRidgeClassifier(n_components=64, random_state=0).fit(X * units, labels)
    np.testing.assert_array_equal(first, other.predict(X * units))


def test_the_defaults_learn_from_columns_of_several_units():
    rows, y = make_friedman2(900, noise=30.0, random_state=0)
    model = KreinRidge(random_state=0).fit(rows[:600], y[:600])
    assert model.score(rows[600:], y[600:]) > 0.95
    median = KreinRidge(length_scale="median", random_state=0).fit(rows[:600], y[:600])
    assert median.score(rows[600:], y[600:]) < 0.6


def test_features_take_the_name_and_say_what_evidence_needs():
    features = FourierFeatures(length_scale="auto", n_components=16, random_state=0).fit(X)
    assert isinstance(features.kernel_, kernels.Gaussian)
    np.testing.assert_allclose(features.kernel_.length_scale, scales(X), rtol=1e-10)
    with pytest.raises(ValueError, match=r"got 'evidence'. 'evidence' needs targets: KreinRidge"):
        FourierFeatures(length_scale="evidence").fit(X)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel",
    [
        kernels.DeltaGaussian(1.0, 10.0),
        kernels.Gaussian(1.0) - 0.5 * kernels.Gaussian(2.0),
        "tl1",
        "tanh",
    ],
    ids=str,
)
@pytest.mark.parametrize("alpha", [1.0, "evidence"])
def test_evidence_leaves_indefinite_kernels_as_they_are(kernel, alpha):
    rows = np.random.default_rng(0).uniform(size=(100, 2))
    y = np.sin(3.0 * rows[:, 0])
    settings = {"alpha": alpha, "weights": "least_squares", "random_state": 0}
    learned = flat(KreinRidge, kernel, 64, length_scale="evidence", **settings).fit(rows, y)
    given = flat(KreinRidge, kernel, 64, length_scale=1.0, **settings).fit(rows, y)
    assert learned.kernel_ == given.kernel_
    assert np.isfinite(learned.predict(rows)).all()
    if alpha == "evidence":
        assert learned.score(rows, y) > 0.9
