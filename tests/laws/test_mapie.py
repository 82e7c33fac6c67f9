"""Regressors inside MAPIE: conformal intervals in units of the predictive standard deviation."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.pipeline import make_pipeline

from bochner import KreinRidge, LearnedKernelRegressor, TableEncoder, TableRegressor
from bochner.learned import Chains

pytest.importorskip("mapie")

from mapie.regression import CrossConformalRegressor, SplitConformalRegressor

RNG = np.random.default_rng(0)
N = 600
X = RNG.uniform(-3.0, 3.0, size=(N, 2))
DEVIATION = np.where(X[:, 0] > 0.0, 0.5, 0.1)
Y = np.sin(X[:, 0]) + DEVIATION * RNG.normal(size=N)
FIT, CALIBRATE, TEST = slice(0, 200), slice(200, 400), slice(400, 600)
LEVEL = 0.9


def ridge():
    return KreinRidge(n_components=64, alpha="evidence", random_state=0)


MODELS = {
    "ridge": ridge,
    "learned kernel": lambda: LearnedKernelRegressor(
        8, random_state=0, chains=Chains(n_burn_in=4, n_samples=4, n_chains=1)
    ),
    "table": lambda: TableRegressor(effort="quick", random_state=0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_split_intervals_are_a_quantile_of_errors_in_standard_deviations(name):
    model = MODELS[name]().fit(X[FIT], Y[FIT])
    conformal = SplitConformalRegressor(
        model, confidence_level=LEVEL, conformity_score="std_normalized", prefit=True
    ).conformalize(X[CALIBRATE], Y[CALIBRATE])
    points, found = conformal.predict_interval(X[TEST])
    mean, std = model.predict(X[CALIBRATE], return_std=True)
    scores = np.sort(np.abs(Y[CALIBRATE] - mean) / std)
    rank = int(np.ceil(LEVEL * (len(scores) + 1))) - 1
    mean, std = model.predict(X[TEST], return_std=True)
    np.testing.assert_allclose(points, mean)
    np.testing.assert_allclose(found[:, 1, 0], mean + scores[rank] * std)
    # MAPIE rounds the rank of the lower end down, that of the upper end up.
    np.testing.assert_allclose(found[:, 0, 0], mean - scores[rank - 1] * std)


@pytest.mark.parametrize("score", ["absolute", "std_normalized"])
def test_cross_conformal_intervals_cover(score):
    """CV+ covers 1 - 2 alpha at least; the binomial law is of rows that are independent."""
    conformal = CrossConformalRegressor(
        ridge(), confidence_level=LEVEL, conformity_score=score, cv=5
    ).fit_conformalize(X[CALIBRATE], Y[CALIBRATE])
    _, found = conformal.predict_interval(X[TEST])
    inside = (found[:, 0, 0] <= Y[TEST]) & (Y[TEST] <= found[:, 1, 0])
    assert inside.sum() >= binom.ppf(1e-6, len(inside), 2.0 * LEVEL - 1.0)


def test_tables_of_text_are_passed_through():
    table = pd.DataFrame({"a": X[:, 0], "side": np.where(X[:, 0] > 0.0, "right", "left")})
    # MAPIE tries the last step of a model on zeros: a table with text needs its encoder before it.
    model = make_pipeline(TableEncoder(), ridge())
    conformal = SplitConformalRegressor(
        model, confidence_level=LEVEL, conformity_score="std_normalized", prefit=False
    )
    conformal.fit(table[FIT], Y[FIT]).conformalize(table[CALIBRATE], Y[CALIBRATE])
    points, _ = conformal.predict_interval(table[TEST])
    np.testing.assert_array_equal(points, model.fit(table[FIT], Y[FIT]).predict(table[TEST]))
