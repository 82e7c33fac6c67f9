"""Tables of few different rows, on which the right answer is known to a digit or two."""

import numpy as np
import pandas as pd
import pytest
from laws.honest_labels import TITANIC_COLUMNS, titanic_rows
from laws.honest_numbers import ZERO_INFLATED
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from bochner import TableClassifier, TableRegressor

CLASSIFIER = TableClassifier(effort="quick", random_state=0)
REGRESSOR = TableRegressor(effort="quick", random_state=0)
seeds = pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 6))]
)


@seeds
def test_the_titanic_is_predicted_as_well_as_by_the_frequencies_of_its_cells(seed):
    X, y = titanic_rows()
    fit, test, y_fit, y_test = train_test_split(X, y, train_size=2 / 3, random_state=seed)
    table = fit.assign(yes=y_fit == "yes").groupby(TITANIC_COLUMNS)["yes"].agg(["sum", "count"])
    share = (table["sum"] + 0.5) / (table["count"] + 1.0)
    cell = share.reindex(pd.MultiIndex.from_frame(test)).fillna(np.mean(y_fit == "yes"))
    frequencies = log_loss(y_test, np.c_[1.0 - cell, cell], labels=["no", "yes"])
    model = CLASSIFIER.fit(fit, y_fit)
    error = log_loss(y_test, model.predict_proba(test), labels=["no", "yes"])
    assert error < 1.04 * frequencies
    assert model.score_ == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize("d", [2, 3])
@seeds
def test_the_parity_of_columns_is_learned_without_an_error(seed, d):
    X = pd.DataFrame(np.random.default_rng(seed).integers(0, 2, (200, d)))
    X.columns = [f"bit {j}" for j in range(d)]
    y = X.sum(axis=1) % 2
    model = CLASSIFIER.fit(X, y)
    assert model.score(X, y) == 1.0
    assert log_loss(y, model.predict_proba(X)) < 0.05


@seeds
def test_the_means_of_a_target_that_is_zero_in_half_the_rows_are_learned(seed):
    rng = np.random.default_rng(seed)
    means = np.array(ZERO_INFLATED)
    group = rng.integers(0, len(means), 3000)
    y = (rng.random(len(group)) < 0.5) * rng.gamma(4.0, 0.5 * means[group])
    names = np.array([f"group {g}" for g in range(len(means))])
    model = REGRESSOR.fit(pd.DataFrame({"g": names[group]}), y)
    of_rows = pd.Series(y).groupby(group).mean().to_numpy()
    assert np.max(np.abs(model.predict(pd.DataFrame({"g": names})) - of_rows)) < 0.35
