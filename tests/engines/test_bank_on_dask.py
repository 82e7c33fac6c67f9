"""Kernels learned from Dask collections are those learned from the same rows in memory."""

import os
import threading
import time

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from cluster.rows import LABELS, NEW, WEIGHT, X, Y, arrays, frames, relative_error

from bochner import (
    LearnedKernelClassifier,
    LearnedKernelRegressor,
    LocallyStationaryClassifier,
    LocallyStationaryRegressor,
)
from bochner.engines import collected
from bochner.learned import chain_sizes as sizes

EXACT = 1e-10
SINGLE = 1e-7
"""Of standard deviations, whose products are in single precision and sums in another order."""

SHORT = {
    "n_frequencies": 8,
    "n_burn_in": 1,
    "n_samples": 2,
    "thin": 1,
    "n_chains": 1,
    "random_state": 1,
}
CASES = {
    "regression": (LearnedKernelRegressor, {"structure": "auto"}, Y, None),
    "weights and a trend": (
        LearnedKernelRegressor,
        {"structure": "dense", "trend": 1},
        Y,
        WEIGHT / 7,
    ),
    "trajectories": (LearnedKernelRegressor, {"structure": "sparse", "sampler": "hmc"}, Y, None),
    "two classes": (LearnedKernelClassifier, {"structure": "sparse"}, Y > 0, None),
    "weighted classes": (LearnedKernelClassifier, {"structure": "dense"}, Y > 0, WEIGHT),
    "varying noise": (LocallyStationaryRegressor, {"structure": "sparse"}, Y, WEIGHT / 7),
    "shared amplitudes": (
        LocallyStationaryRegressor,
        {"structure": "dense", "pairs": "grid", "n_envelope": 2, "trend": 1},
        Y,
        None,
    ),
    "paper's regression": (LocallyStationaryRegressor, {"sampler": "mh", "n_envelope": 2}, Y, None),
    "modulated classes": (LocallyStationaryClassifier, {"structure": "dense"}, Y > 0, None),
    "three classes": (LearnedKernelClassifier, {"structure": "dense"}, LABELS, None),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def answer(model, rows=NEW):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


@pytest.mark.parametrize("case", CASES)
def test_the_chain_is_that_of_rows_in_memory(case):
    kind, parameters, y, weight = CASES[case]
    model = kind(**SHORT, **parameters)
    here = answer(model.fit(X, y, weight))
    there = model.fit(*arrays(y, weight))
    assert relative_error(answer(there), here) < EXACT


@pytest.mark.parametrize(
    "case",
    # Every value of a field's likelihood is a pass.
    ["trajectories", "weighted classes", pytest.param("varying noise", marks=pytest.mark.slow)],
)
def test_the_chain_is_the_same_on_workers(case, client):
    kind, parameters, y, weight = CASES[case]
    model = kind(**SHORT, **parameters)
    here = answer(model.fit(X, y, weight))
    assert relative_error(answer(model.fit(*arrays(y, weight))), here) < EXACT


@pytest.mark.parametrize("parameters", [{"sampler": "mh"}, {"likelihood": "paper"}])
def test_the_papers_classification_needs_rows_in_memory(parameters):
    with pytest.raises(ValueError, match="it needs them in memory"):
        LocallyStationaryClassifier(**SHORT, **parameters).fit(*arrays(Y > 0))


def test_equal_rows_share_what_is_drawn_for_them():
    """In memory they are one row of more weight."""
    rows, y = np.repeat(X[:80].round(1), 3, axis=0), np.repeat(Y[:80] > 0, 3)
    model = LearnedKernelClassifier(**SHORT, structure="dense")
    here = answer(model.fit(rows, y))
    there = model.fit(da.from_array(rows, chunks=(100, 3)), da.from_array(y, chunks=100))
    assert relative_error(answer(there), here) < EXACT


def test_data_frames_keep_the_names_of_their_columns(dask_place):
    model = LearnedKernelRegressor(**SHORT, structure="dense")
    here = answer(model.fit(X, Y, WEIGHT))
    table, y, weight = frames(Y, WEIGHT)
    model.fit(table, y, weight)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    found = model.predict(table).compute()
    assert relative_error(found, model.predict(table.compute())) < EXACT
    assert relative_error(answer(model, pd.DataFrame(NEW, columns=table.columns)), here) < EXACT


@pytest.mark.parametrize("kind", [LearnedKernelRegressor, LearnedKernelClassifier])
def test_beyond_the_sample_the_chain_still_meets_all_rows(kind, monkeypatch):
    monkeypatch.setattr(collected, "SAMPLE_ROWS", 100)
    y = Y if kind is LearnedKernelRegressor else Y > 0
    model = kind(**{**SHORT, "n_burn_in": 3}, structure="dense").fit(*arrays(y))
    again = kind(**{**SHORT, "n_burn_in": 3}, structure="dense").fit(*arrays(y))
    assert np.array_equal(answer(model), answer(again))
    found = model.predict(X)
    good = (
        np.corrcoef(found, Y)[0, 1] > 0.5
        if kind is LearnedKernelRegressor
        else np.mean(found == y) > 0.7
    )
    assert good


def test_warm_ups_are_on_rows_of_the_sample(monkeypatch):
    monkeypatch.setattr(sizes, "_LADDER", ((60, False, 0.25), (100, True, 0.45)))
    model = LearnedKernelClassifier(**{**SHORT, "n_burn_in": 4}, structure="dense")
    here = answer(model.fit(X, Y > 0))
    assert relative_error(answer(model.fit(*arrays(Y > 0))), here) < EXACT


def test_a_worker_that_is_killed_changes_nothing(client):
    kind, parameters, y, _ = CASES["two classes"]
    model = kind(**{**SHORT, "n_samples": 3}, **parameters)
    expected = answer(model.fit(*arrays(y)))
    victim = client.run(os.getpid)
    killed = []

    def kill(progress):
        if not killed and (progress.stage, progress.step) == ("sampling", 2):
            killed.append(next(iter(victim.values())))
            os.kill(killed[0], 9)

    found = answer(model.fit(*arrays(y), callback=kill))
    assert killed
    assert np.array_equal(found, expected)


def test_a_worker_killed_in_the_middle_of_a_pass_changes_nothing(client):
    from bochner import KreinRidge

    rows = da.random.default_rng(0).normal(size=(60_000, 5), chunks=(3_000, 5))
    y = rows[:, 0] ** 2
    model = KreinRidge(n_components=256, length_scale=1.0, random_state=0)
    expected = model.fit(rows, y).coef_
    victim = next(iter(client.run(os.getpid).values()))

    def kill():
        time.sleep(0.2)
        os.kill(victim, 9)

    killer = threading.Thread(target=kill)
    killer.start()
    found = [model.fit(rows, y).coef_]
    while killer.is_alive():
        found.append(model.fit(rows, y).coef_)
    killer.join()
    found.append(model.fit(rows, y).coef_)
    for coef in found:
        assert np.array_equal(coef, expected)


def test_numbers_have_lazy_deviations_intervals_and_scores():
    model = LearnedKernelRegressor(**SHORT, structure="dense").fit(X, Y)
    rows, y, weight = arrays(Y, WEIGHT)
    for call in (
        lambda rows: model.predict(rows, return_std=True),
        lambda rows: model.predict_interval(rows, level=0.8),
        lambda rows: model.predict_quantiles(rows, (0.2, 0.5, 0.7)).T,
    ):
        for lazy, expected in zip(call(rows), call(X), strict=True):
            assert isinstance(lazy, da.Array)
            assert relative_error(lazy.compute(), expected) < SINGLE
    assert abs(float(model.score(rows, y, weight)) - model.score(X, Y, WEIGHT)) < EXACT
    with pytest.raises(ValueError, match="have no covariances"):
        model.predict(rows, return_cov=True)


def test_counts_on_dask_have_no_exposures():
    counts = np.random.default_rng(0).poisson(2.0, len(X))
    model = LearnedKernelRegressor(**SHORT, structure="dense", likelihood="negative_binomial").fit(
        X, counts
    )
    rows = arrays(Y)[0]
    for pair in zip(model.predict(rows, True), model.predict(X, True), strict=True):
        assert relative_error(*map(np.asarray, pair)) < SINGLE
    with pytest.raises(ValueError, match="exposure needs rows in memory"):
        model.predict_interval(rows, exposure=np.ones(len(X)))
