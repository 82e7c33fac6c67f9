"""Means of laws at rows with exchanged columns, against kernels of these rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bochner
from bochner import TableClassifier, TableRegressor
from bochner.kernels import Exponential, Gaussian, Laplacian, Matern
from bochner.learning.tables import exchanges, kernel_sums
from bochner.learning.tables.ensemble import SumOfLaws
from bochner.learning.tables.exchanges import MixedRows, at_mixed_rows
from bochner.learning.tables.kernel_laws import KernelLaw
from bochner.learning.tables.laws import Laws
from bochner.learning.tables.leave_one_out import LearnedKernel

# Groups: numbers, levels of one column that are not side by side, dates, a group that the law does
# not use, one without columns, and a column without a group.
OWNERS = np.array([0, 1, 1, 2, 2, 2, 2, 1, 1, 3, 5])
N_GROUPS = 5
COLUMNS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 10])
N_TRAINING = 700
KERNELS = {
    "Laplacian": Laplacian,
    "Gaussian": Gaussian,
    "Exponential": Exponential,
    "Matern 0.5": lambda length_scale: Matern(length_scale, nu=0.5),
    "Matern 1.5": lambda length_scale: Matern(length_scale, nu=1.5),
    "Matern 2.5": lambda length_scale: Matern(length_scale, nu=2.5),
    "without a closed form": lambda length_scale: Matern(length_scale, nu=1.2),
}


def table(n_rows, rng):
    X = rng.normal(size=(n_rows, len(OWNERS)))
    X[:, [1, 2, 7, 8]] = np.eye(4)[rng.integers(0, 4, n_rows)]
    return X


def law(kernel, rng, rows, matrix=None, dtype=np.float64):
    length_scale = 1.5 if matrix is not None else tuple(rng.uniform(1.0, 3.0, len(COLUMNS)))
    learned = LearnedKernel(KERNELS[kernel](length_scale), 0.1, matrix)
    coef = rng.normal(size=(len(rows), 2)).astype(dtype)
    return KernelLaw("a law", learned, COLUMNS, coef, np.empty((0, 0)), np.ones(2))


def walks(n_pool, rng):
    """Sources of rows that differ in one or two groups, in all, and in none."""
    own = np.repeat(rng.integers(0, n_pool, 60), 12)
    sources = np.tile(own[:, None], (1, N_GROUPS + 1))
    places = np.arange(len(own))
    sources[places, places % 6] = rng.integers(0, n_pool, len(own))
    sources[7::12] = sources[6::12]  # In two groups from the row before, and on from there
    sources[7::12, 2] = rng.integers(0, n_pool, 60)
    sources[8::12] = sources[7::12]
    sources[8::12, 0] = rng.integers(0, n_pool, 60)
    sources[9::12] = sources[8::12]
    return sources


def assert_means_are_those_of_rows(kernel, matrix=None, dtype=np.float64):
    rng = np.random.default_rng(0)
    rows, pool = table(N_TRAINING, rng), table(50, rng)
    pool[20:30] = rows[:10]
    one = law(kernel, rng, rows, matrix, dtype)
    weights = np.array([[1.0, 0.3], [0.0, 0.7]])
    head = SumOfLaws(Laws(rows, [one, one]), weights, np.ones((4, 2)), np.ones(2), np.ones(2))
    mixed = MixedRows(pool, walks(50, rng), OWNERS)
    # Predictions have single precision where the noise allows it.
    expected = one.mean(mixed.encoded(), rows) * weights.sum(axis=0)
    found = at_mixed_rows(head, OWNERS).predict(mixed)
    assert_allclose(found, expected, rtol=0.0, atol=1e-12 * expected.std())
    # The last group is that of the column without one.
    by_hand = np.empty_like(mixed.encoded())
    for place, sources in enumerate(mixed.sources):
        for column, owner in enumerate(OWNERS):
            by_hand[place, column] = pool[sources[owner], column]
    assert_array_equal(mixed.encoded(), by_hand)


@pytest.mark.parametrize("kernel", KERNELS)
def test_means_are_those_of_rows(kernel):
    assert_means_are_those_of_rows(kernel)


MATRIX = np.random.default_rng(1).normal(size=(len(COLUMNS),) * 2) / 3.0


@pytest.mark.parametrize("kernel", ["Gaussian", "Exponential", "Matern 2.5"])
def test_means_are_those_of_mapped_rows(kernel):
    assert_means_are_those_of_rows(kernel, MATRIX)


def test_coefficients_in_single_precision():
    assert_means_are_those_of_rows("Matern 2.5", dtype=np.float32)


def assert_distances_that_cancel_are_computed_anew(matrix=None):
    """A row far from all becomes, group after group, a training row, where kernels have a kink."""
    rng = np.random.default_rng(0)
    rows = table(N_TRAINING, rng)
    one = law("Exponential", rng, rows, matrix)
    pool = np.vstack((rows[:40], 1e3 + 1e4 * table(40, rng)))
    sources = np.repeat(np.arange(40), N_GROUPS + 2)[:, None] + 40 * (
        np.tile(np.arange(N_GROUPS + 2), 40)[:, None] <= np.arange(N_GROUPS + 1)
    )
    mixed = MixedRows(pool, sources, OWNERS)
    head = SumOfLaws(Laws(rows, [one]), np.ones((1, 2)), np.ones((4, 2)), np.ones(2), np.ones(2))
    expected = one.mean(mixed.encoded(), rows)
    found = at_mixed_rows(head, OWNERS).predict(mixed)
    assert_allclose(found, expected, rtol=0.0, atol=1e-11 * np.abs(one.coef).max())


def test_distances_that_cancel_are_computed_anew():
    assert_distances_that_cancel_are_computed_anew()


def test_distances_of_mapped_rows_that_cancel_are_computed_anew():
    assert_distances_that_cancel_are_computed_anew(MATRIX)


def test_kernels_of_distant_rows_are_zero():
    rng = np.random.default_rng(0)
    rows = table(N_TRAINING, rng)
    pool = np.vstack((rows[:2], rows[:2] + 1e5, rows[:2] + 200.0))
    sources = np.array([[0] * 6, [0, 0, 2, 0, 0, 0], [2] * 6, [4] * 6, [0, 0, 4, 0, 0, 4]])
    for kernel in KERNELS:
        one = law(kernel, rng, rows)
        head = SumOfLaws(
            Laws(rows, [one]), np.ones((1, 2)), np.ones((4, 2)), np.ones(2), np.ones(2)
        )
        found = at_mixed_rows(head, OWNERS).predict(MixedRows(pool, sources, OWNERS))
        expected = one.mean(MixedRows(pool, sources, OWNERS).encoded(), rows)
        assert_allclose(found, expected, rtol=1e-12, atol=1e-290)


class Ones:
    """Draws that are all one."""

    def normal(self, size):
        return np.ones(size)


def test_rows_whose_projections_agree_are_compared():
    """Levels are found by sums of columns: rows with equal sums that differ are not merged."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.random, "default_rng", lambda seed: Ones())
        codes = exchanges._codes(X)[1], exchanges._codes(X[:, :1])[1]
    assert_array_equal(codes[0], np.arange(3))
    assert_array_equal(codes[1], [0, 1, 0])


def houses(n_rows):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["area", "age"])
    frame["kind"] = rng.choice([*"abcd"], n_rows)
    frame["sold"] = pd.date_range("2020-01-01", periods=n_rows, freq="31h")
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    noise = 0.2 * rng.normal(size=n_rows)
    return frame, np.sin(2.0 * frame["area"]) + (frame["kind"] == "a") + noise


QUICK = {"effort": "quick", "random_state": 0}
MODELS = {
    "numbers": (TableRegressor(**QUICK), lambda y: y),
    "two targets": (TableRegressor(**QUICK), lambda y: np.c_[y, 100 * y**2]),
    "two classes": (TableClassifier(**QUICK), lambda y: y > 0.5),
    "three classes": (TableClassifier(**QUICK), lambda y: np.digitize(y, [0, 1])),
}


def assert_models_give_what_they_predict(name, n_rows=120):
    with pytest.MonkeyPatch.context() as patch:  # Predictions in double precision
        patch.setattr(kernel_sums, "_MOST_ROUNDED", 0.0)
        assert_models_predict(name, n_rows)


def assert_models_predict(name, n_rows):
    model, target = MODELS[name]
    frame, y = houses(n_rows)
    model.fit(frame, target(y.to_numpy()))
    dependence = model._dependence(2.0)
    rng = np.random.default_rng(0)
    sources = np.repeat(rng.integers(0, 120, 40), 5)[:, None] + np.zeros(4, dtype=int)
    sources[np.arange(200), np.arange(200) % 4] = rng.integers(0, 120, 200)
    owners = dependence.evaluator.of_rows.owners
    rows = MixedRows(dependence.X, sources, owners).encoded()
    expected = dependence.predict(rows)
    found = dependence.evaluator.exchanged(dependence.X, sources)
    assert_allclose(found, expected, rtol=0.0, atol=1e-10 * expected.std())
    given = model.predict_proba(frame) if hasattr(model, "classes_") else model.predict(frame)
    encoded = np.hstack([encoder.transform(frame) for encoder in model._encoders()])
    assert_allclose(2.0 * dependence.predict(encoded), given.reshape(n_rows, -1))


@pytest.mark.parametrize("name", MODELS)
def test_models_give_what_they_predict(name):
    assert_models_give_what_they_predict(name)


def test_trees_are_evaluated_at_exchanged_rows():
    assert_models_give_what_they_predict("numbers", n_rows=420)
    model = MODELS["numbers"][0]
    assert "small trees" in [law.name for law in model.head_.laws.members]


def test_no_kernel_is_evaluated_anew(monkeypatch, tmp_path):
    """The shares of a loaded model, without kernel values at whole rows."""
    frame, y = houses(120)
    model = TableRegressor(**QUICK).fit(frame, y)
    bochner.save(model, tmp_path / "model.bochner")
    loaded = bochner.load(tmp_path / "model.bochner")

    def refuse(*args):
        raise AssertionError("a kernel is evaluated at whole rows")

    expected, effect = model.importance(), model.effect("kind", "area", n_values=3)
    monkeypatch.setattr(LearnedKernel, "__call__", refuse)
    assert_array_equal(loaded.importance().share, expected.share)
    assert loaded.interactions().columns
    assert_array_equal(loaded.effect("kind", "area", n_values=3).mean, effect.mean)
