"""An estimator of a user's own file, made of features and their sums over rows."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import bochner
from bochner.features import feature_sums


@bochner.register
class LassoLike(RegressorMixin, BaseEstimator):
    """Least squares with an absolute penalty, by coordinate descent on the sums alone."""

    features_: bochner.FourierFeatures
    coef_: np.ndarray

    def __init__(self, penalty=1e-3, n_frequencies=32, n_iter=50, random_state=None):
        self.penalty = penalty
        self.n_frequencies = n_frequencies
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y, y_numeric=True)
        features = bochner.FourierFeatures(
            "gaussian", 2 * self.n_frequencies, random_state=self.random_state
        )
        self.features_ = features.fit(X)
        sums = feature_sums(self.features_.frequencies_, X, np.asarray(y, dtype=float)[:, None])
        gram, cross = sums.gram / sums.weight, sums.cross[:, 0] / sums.weight
        self.coef_ = np.zeros(len(gram))
        for _ in range(self.n_iter):
            for j in range(len(gram)):
                pull = cross[j] - gram[j] @ self.coef_ + gram[j, j] * self.coef_[j]
                size = max(abs(pull) - self.penalty, 0.0)
                self.coef_[j] = np.sign(pull) * size / max(gram[j, j], 1e-12)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.features_.transform(validate_data(self, X, reset=False)) @ self.coef_


@parametrize_with_checks([LassoLike(n_iter=20)])
def test_it_follows_the_scikit_learn_api(estimator, check):
    check(estimator)


def test_it_learns_from_sums_that_add_up():
    X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(300, 2))
    y = np.sin(2.0 * X[:, 0])
    model = LassoLike(n_frequencies=64, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.mean(model.coef_ == 0.0) > 0.2
    frequencies, Y = model.features_.frequencies_, y[:, None]
    whole = feature_sums(frequencies, X, Y)
    parts = feature_sums(frequencies, X[:100], Y[:100]) + feature_sums(
        frequencies, X[100:], Y[100:]
    )
    assert_allclose(parts.gram, whole.gram, atol=1e-10)


def test_it_is_saved_and_loaded(tmp_path):
    X = np.random.default_rng(1).normal(size=(50, 2))
    model = LassoLike(random_state=0).fit(X, X[:, 0])
    bochner.save(model, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    assert_array_equal(loaded.predict(X), model.predict(X))
