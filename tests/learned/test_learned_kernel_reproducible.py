"""The same data and seed give the same model, however they are given."""

import numpy as np
import pytest
from learned.learned_fits import (
    CASES,
    NEW,
    THREE,
    X,
    Y,
    assert_same_model,
    classifier,
    fitted,
    regressor,
)
from numpy.testing import assert_allclose

from bochner.learned import chain_run

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
RNG = np.random.default_rng(8)
ESTIMATORS = {"regressor": (regressor, Y), "classifier": (classifier, THREE)}
each_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.mark.parametrize("case", CASES)
def test_seeds_reproduce(case):
    model = fitted(case)
    assert_same_model(fitted(case), model)
    other = fitted(case, random_state=4)
    assert (other.learned_[0].draws.omega != model.learned_[0].draws.omega).any()


@pytest.mark.parametrize("make", [regressor, classifier])
def test_processes_change_nothing(make):
    y = Y if make is regressor else Y > 0
    models = [make(structure="dense", n_chains=3, n_jobs=n).fit(X, y) for n in (None, 2)]
    assert_same_model(*models)


@each_estimator
def test_the_order_of_the_rows_does_not_matter(name):
    make, y = ESTIMATORS[name]
    order = RNG.permutation(len(X))
    assert_same_model(make().fit(X[order], y[order]), make().fit(X, y))


@each_estimator
def test_whole_weights_are_repetitions(name):
    make, y = ESTIMATORS[name]
    weight = RNG.integers(0, 4, size=len(X))
    repeated = make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_model(make().fit(X, y, weight), repeated)


@pytest.mark.parametrize(("factor", "shift"), [(-4.0, 0.0), (1e6, 0.0), (1e-8, 0.0), (1.0, 50.0)])
def test_units_and_origin_of_the_target_do_not_matter(factor, shift):
    models = [regressor(n_burn_in=4, n_samples=4).fit(X, y) for y in (Y, factor * Y + shift)]
    mean, std = models[0].predict(NEW, return_std=True)
    moved = models[1].predict(NEW, return_std=True)
    assert_allclose((moved[0] - shift) / factor, mean, atol=1e-6)
    assert_allclose(moved[1] / abs(factor), std, atol=1e-6)
    assert_allclose(models[1].noise_variance_ / factor**2, models[0].noise_variance_, rtol=1e-5)


@pytest.mark.parametrize("limit", [1e-9, 300.0])
def test_the_time_limit_is_kept_but_there_is_a_draw(limit, monkeypatch):
    """On a clock of one second a look, in all chains and classes together."""
    ticks = iter(range(10**7))
    monkeypatch.setattr(chain_run, "perf_counter", ticks.__next__)
    settings = {"time_limit": limit, "n_samples": 500, "n_burn_in": 500, "n_chains": 2}
    for model, y in ((regressor(**settings), Y), (classifier(**settings), THREE)):
        before = next(ticks)
        model.fit(X, y)
        n_runs = 2 * len(model.learned_)
        assert next(ticks) - before <= limit + 20.0 * n_runs
        for learned in model.learned_:
            assert learned.draws.n_draws >= 2
            assert limit < 1.0 or learned.draws.n_draws > 20 // len(model.learned_)
        assert np.isfinite(model.predict(NEW).astype(float)).all()
