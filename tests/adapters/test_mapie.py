"""Regressors inside MAPIE: conformal intervals in units of the predictive standard deviation."""

import numpy as np
import pytest

from bochner import KreinRidge, LearnedKernelRegressor, TableRegressor
from bochner.learned import Chains

pytest.importorskip("mapie")

from mapie.regression import SplitConformalRegressor

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
