"""The adapter for skpro, by skpro's own checks and by the regressors' own predictions."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from bochner import KreinRidge, TableRegressor

pytest.importorskip("skpro")

from skpro.metrics import LogLoss
from skpro.utils import check_estimator

from bochner.adapters.skpro import BochnerRegressor

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(80, 2)), columns=["a", "b"], index=range(100, 180))
Y = pd.DataFrame({"y": np.sin(X["a"]) + 0.2 * RNG.normal(size=80)})
NEW = X[:20]
RIDGE = KreinRidge(n_components=64, alpha="evidence", random_state=0)


@pytest.mark.slow
def test_the_checks_of_skpro():
    found = check_estimator(BochnerRegressor, raise_exceptions=False, verbose=False)
    failed = {name: result for name, result in found.items() if result != "PASSED"}
    assert found
    assert not failed


def test_laws_are_normal_with_the_model_s_mean_and_deviation():
    adapted = BochnerRegressor(RIDGE).fit(X, Y)
    mean, std = KreinRidge(**RIDGE.get_params()).fit(X, Y["y"]).predict(NEW, return_std=True)
    law = adapted.predict_proba(NEW)
    np.testing.assert_allclose(law.mean().to_numpy()[:, 0], mean)
    np.testing.assert_allclose(
        law.log_pdf(Y[:20]).to_numpy()[:, 0], norm.logpdf(Y["y"][:20], mean, std)
    )
    np.testing.assert_allclose(adapted.predict_var(NEW).to_numpy()[:, 0], std**2)
    quantiles = adapted.predict_quantiles(NEW, alpha=[0.05, 0.5])
    expected = norm.ppf(np.array([[0.05, 0.5]]), mean[:, None], std[:, None])
    np.testing.assert_allclose(quantiles.to_numpy(), expected)
    lower = adapted.predict_interval(NEW, coverage=[0.5, 0.9])[("y", 0.9, "lower")]
    np.testing.assert_allclose(lower, expected[:, 0])
    assert list(lower.index) == list(NEW.index)
    assert np.isfinite(LogLoss()(Y[:20], law))


def test_tables_have_their_own_intervals_and_quantiles():
    table = X.assign(kind=np.where(X["b"] > 0.0, "u", "v"))
    model = TableRegressor(effort="quick", random_state=0)
    adapted = BochnerRegressor(model).fit(table, Y)
    own = model.fit(table, Y["y"].to_numpy())
    lower, upper = own.predict_interval(table[:9], 0.8)
    found = adapted.predict_interval(table[:9], coverage=0.8)
    np.testing.assert_array_equal(found.to_numpy(), np.column_stack([lower, upper]))
    quantiles = adapted.predict_quantiles(table[:9], alpha=[0.1, 0.9])
    np.testing.assert_array_equal(quantiles, own.predict_quantiles(table[:9], [0.1, 0.9]))
