"""A base model of a user's own file, in the weighted sum of a table model."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

import bochner


@bochner.register
class Oscillation(RegressorMixin, BaseEstimator):
    """A sine of one column; the frequency and the column have the least squared error."""

    column_: int
    frequency_: float
    coef_: np.ndarray

    def __init__(self, highest=80.0, n_frequencies=600):
        self.highest = highest
        self.n_frequencies = n_frequencies

    def fit(self, X, y):
        X, y = validate_data(self, X, y, y_numeric=True)
        least = np.inf
        for column in range(X.shape[1]):
            for frequency in np.linspace(0.0, self.highest, self.n_frequencies):
                waves = self._waves(X, column, frequency)
                coef = np.linalg.lstsq(waves, y, rcond=None)[0]
                error = float(np.sum((y - waves @ coef) ** 2))
                if error < least:
                    least, self.coef_ = error, coef
                    self.column_, self.frequency_ = column, float(frequency)
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return self._waves(X, self.column_, self.frequency_) @ self.coef_

    def _waves(self, X, column, frequency):
        phase = frequency * X[:, column]
        return np.column_stack([np.ones(len(X)), np.sin(phase), np.cos(phase)])


RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, size=(140, 2))
Y = np.sin(60.0 * X[:, 1]) + 0.1 * RNG.normal(size=140)
TRAIN, TEST = slice(0, 90), slice(90, 140)
WITHOUT = bochner.TableRegressor(effort="quick", random_state=0)


@pytest.fixture(scope="module")
def model():
    return clone(WITHOUT).set_params(base_models=[Oscillation()]).fit(X[TRAIN], Y[TRAIN])


@pytest.mark.thorough
def test_it_has_the_weight_where_kernels_lack_rows(model):
    """Ninety rows of 38 waves: kernels average them, and one sine goes through all."""
    assert model.head_.weights[-1] > 0.7
    assert [law.kind for law in model.head_.laws.members][-1] == "Oscillation"
    error, without = (
        np.sqrt(np.mean((each.predict(X[TEST]) - Y[TEST]) ** 2))
        for each in (model, clone(WITHOUT).fit(X[TRAIN], Y[TRAIN]))
    )
    assert error < 0.3 < 0.6 < without
    assert model.score_ < 0.3
    lower, upper = model.predict_interval(X[TEST], 0.9)
    assert np.mean((lower <= Y[TEST]) & (Y[TEST] <= upper)) > 0.75
    assert model.importance().columns[0] == "x1"


def test_it_is_saved_and_loaded(model, tmp_path):
    bochner.save(model, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    for ours, theirs in zip(
        model.predict(X, return_std=True), loaded.predict(X, return_std=True), strict=True
    ):
        assert_array_equal(theirs, ours)
    assert loaded.base_models[0].get_params() == Oscillation().get_params()
