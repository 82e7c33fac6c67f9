"""Models of tables in partitions: those in memory, or a sample with sums over all others."""

import numpy as np
import pandas as pd
import pytest
from engines.engines import InProcess
from engines.rows import relative_error
from engines.tables import (
    BOTH,
    LABELS,
    TABLE,
    WEIGHT,
    Counting,
    N,
    Y,
    answer,
    classifier,
    few_rows,
    on_dask,
    parts,
    regressor,
)

from bochner.engines import PartitionedRows
from bochner.features.chunks import Chunk
from bochner.tables import table_fit, weighted_sum
from bochner.tables.encoder import TableEncoder

SAMPLE = 400
CASES = {
    "one target": (regressor, Y, None),
    "weights": (regressor, Y, WEIGHT),
    "two targets": (regressor, BOTH, None),
    "classes": (classifier, LABELS, WEIGHT),
}


@pytest.mark.thorough_cases(but="one target|two workers-classes")
@pytest.mark.parametrize("case", CASES)
def test_a_table_within_the_sample_is_fitted_as_in_memory(case, dask_place, monkeypatch):
    few_rows(monkeypatch)
    make, y, weight = CASES[case]
    here = make().fit(TABLE, y, weight)
    there = make().fit(*on_dask(y, weight))
    assert relative_error(answer(there), answer(here)) < 1e-10
    assert np.allclose(there.score_, here.score_, rtol=1e-10)
    assert there.feature_names_in_.tolist() == list(TABLE.columns)
    assert there.record_ == here.record_


@pytest.mark.thorough
def test_partitions_of_an_engine_are_fitted_as_in_memory(engine, monkeypatch):
    few_rows(monkeypatch)
    here = regressor().fit(TABLE, Y, WEIGHT)
    tuples = [[], *parts(TABLE, Y, WEIGHT)]
    there = regressor().fit(PartitionedRows(engine, engine.place(tuples)))
    assert relative_error(answer(there), answer(here)) < 1e-10
    named = [X.assign(y=y, w=w) for X, y, w in parts(TABLE, Y, WEIGHT)]
    rows = PartitionedRows(engine, engine.place(named), target="y", sample_weight="w")
    assert relative_error(answer(regressor().fit(rows)), answer(here)) < 1e-10


def sampled_numbers():
    """The documented sample: so many of all rows, drawn without replacement, by their number."""
    return np.sort(np.random.default_rng(N).choice(N, size=SAMPLE, replace=False))


def check_normal_equations(y, weight, *given):
    """Each law solves the normal equations of all rows on its landmarks."""
    model = regressor().fit(*given)
    weight = np.ones(N) if weight is None else weight / model.weight_unit_
    encoded = np.round(model.encode(TABLE), 8)
    targets = (y.reshape(N, -1) - model.target_mean_) / model.target_scale_
    for law in model.head_.laws.members:
        assert len(law.coef) == 40
        landmarks = model.head_.laws.rows[:40, law.columns]
        K = law.found(encoded[:, law.columns], landmarks) * np.sqrt(weight)[:, None]
        inner = K.T @ K + law.found.alpha * law.found(landmarks, landmarks)
        right = K.T @ (targets * np.sqrt(weight)[:, None])
        np.testing.assert_allclose(inner @ law.coef, right, rtol=1e-6, atol=1e-6)
    return model


@pytest.mark.thorough
@pytest.mark.parametrize("case", ["one target", "weights", "two targets"])
def test_beyond_the_sample_laws_are_fitted_to_all_rows(case, dask_place, monkeypatch):
    few_rows(monkeypatch, SAMPLE)
    # Variances have a noise of their own, which the coefficients do not have.
    monkeypatch.setattr(weighted_sum, "_with_parts", lambda judged, *rest: judged)
    _, y, weight = CASES[case]
    model = check_normal_equations(y, weight, *on_dask(y, weight))
    assert model.record_["n_samples"] == N
    assert len(model.head_.scores) == SAMPLE - 60


def test_rows_of_the_sample_have_level_means_without_their_own_targets(monkeypatch):
    """Sums over the sample are those of its encoding at the fit, not of a new one."""
    few_rows(monkeypatch, SAMPLE)
    monkeypatch.setattr(table_fit, "TableEncoder", FewLevels)
    rng = np.random.default_rng(5)
    town = rng.integers(0, 30, N)
    table = TABLE[["a"]].assign(town=[f"town {i}" for i in town])
    y = Y + rng.normal(size=30)[town]
    model = regressor().fit(PartitionedRows(InProcess(), parts(table, y)))
    assert "means" in model.encoder_.columns_[1]
    rows = sampled_numbers()
    encoded = np.round(model.encode(table), 8)
    targets = (y - model.target_mean_)[:, None] / model.target_scale_
    again = [FewLevels(encoder.numeric) for encoder in model._encoders()]
    tables = [encoder.fit_transform(table.iloc[rows], targets[rows]) for encoder in again]
    encoded[rows] = np.round(np.hstack(tables), 8)
    for law in model.head_.laws.members:
        landmarks = model.head_.laws.rows[:40, law.columns]
        K = law.found(encoded[:, law.columns], landmarks)
        inner = K.T @ K + law.found.alpha * law.found(landmarks, landmarks)
        np.testing.assert_allclose(inner @ law.coef, K.T @ targets, atol=1e-6)


class FewLevels(TableEncoder):
    """An encoder for which most levels are rare."""

    def __init__(self, numeric="standardize", clip=3.0, max_levels=3, n_quantiles=1000):
        super().__init__(numeric, clip, max_levels, n_quantiles)


@pytest.mark.thorough
def test_left_out_rows_are_judged_by_fits_to_all_others(monkeypatch):
    """Errors left out are those of new rows: more than those of rows that were fitted."""
    few_rows(monkeypatch, SAMPLE)
    model = regressor().fit(*on_dask(Y))
    here = regressor().fit(TABLE, Y)
    assert 0.7 < model.score_ / here.score_ < 1.4
    lower, upper = model.predict_interval(TABLE, level=0.9)
    assert 0.85 < np.mean((lower <= Y) & (upper >= Y)) < 0.95


@pytest.mark.thorough
def test_beyond_the_sample_classes_are_learned_from_all_rows(dask_place, monkeypatch):
    few_rows(monkeypatch, SAMPLE)
    model = classifier().fit(*on_dask(LABELS, WEIGHT))
    encoded = np.round(model.encode(TABLE), 8)
    names = model.head_.classes_
    indicators = np.where(LABELS[:, None] == names, 1.0, -1.0)
    rows = sampled_numbers()
    indicators = indicators - np.average(indicators[rows], axis=0, weights=WEIGHT[rows])
    root = np.sqrt(WEIGHT / model.weight_unit_)[:, None]
    for law in model.head_.laws.members:
        landmarks = model.head_.laws.rows[:40, law.columns]
        K = law.found(encoded[:, law.columns], landmarks) * root
        inner = K.T @ K + law.found.alpha * law.found(landmarks, landmarks)
        np.testing.assert_allclose(inner @ law.coef, K.T @ (root * indicators), atol=5e-6)
    assert model.score(TABLE, LABELS) > 0.6
    assert model.score_ < np.log(3.0)


@pytest.mark.thorough
def test_no_other_rows_come_to_the_client(monkeypatch):
    few_rows(monkeypatch, SAMPLE)
    engine = Counting()
    model = regressor().fit(PartitionedRows(engine, parts(TABLE, Y)))
    layouts, sample, *sums = engine.came
    assert len(layouts) == 6
    assert isinstance(sample, Chunk)
    assert len(sample) == SAMPLE
    assert len(sums) >= len(model.head_.laws.members) > 0
    for total in sums:  # Products of landmarks with each other, with targets and with ones
        assert total.shape == (40 * 41 // 2 + 2 * 40,)


ODD = TABLE[:60], Y[:60]
BAD = {
    "a missing column": (
        (TABLE[:60].drop(columns="c"), Y[:60]),
        r"Partition 1 has 4 columns named 'a', 'b', 'day', 'kind'",
    ),
    "text": (
        (TABLE[:60].assign(a="many"), Y[:60]),
        r"column 'a': numbers in partition 0 \(row 1: .*\), text in partition 1 \(row 1: 'many'\)",
    ),
    "an infinite number": (
        (TABLE[:60].assign(a=np.inf), Y[:60]),
        "In partition 1: Infinite numbers .*'a'",
    ),
    "a missing target": (
        (TABLE[:60], np.where(np.arange(60) == 5, np.nan, Y[:60])),
        "In partition 1: y contains numbers that are not finite",
    ),
    "equal names": ((pd.concat([TABLE[:60], TABLE[:60]], axis=1), Y[:60]), "In partition 1: .*'a'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_partitions_are_refused(case):
    part, message = BAD[case]
    with pytest.raises((TypeError, ValueError), match=message):
        regressor().fit(PartitionedRows(InProcess(), [ODD, part, ODD]))


@pytest.mark.thorough
def test_entries_that_no_sampled_row_prepares_for_are_refused(monkeypatch):
    few_rows(monkeypatch, SAMPLE)
    rows = sampled_numbers()
    unseen = int(np.setdiff1d(np.arange(301, 650), rows)[0])
    days = TABLE["day"].dt.strftime("%Y-%m-%d")
    table = TABLE.assign(day=days.where(np.arange(N) != unseen, "unknown"))
    with pytest.raises(ValueError, match=r"In partition 4: Changed kind of column 'day' \(dates"):
        regressor().fit(PartitionedRows(InProcess(), parts(table, Y)))


def test_targets_of_two_kinds_and_rare_classes_are_refused(monkeypatch):
    few_rows(monkeypatch, SAMPLE)
    codes = (Y > 0.0).astype(int)
    two_kinds = [(TABLE[:60], LABELS[:60]), (TABLE[:60], codes[:60])]
    with pytest.raises(ValueError, match="numbers in partition 1 and text in partition 0"):
        classifier().fit(PartitionedRows(InProcess(), two_kinds))
    labels = LABELS.astype(object)
    labels[np.setdiff1d(np.arange(N), sampled_numbers())[0]] = "rare"
    with pytest.raises(ValueError, match=r"The class 'rare' is so rare .* 400 of 900 rows"):
        classifier().fit(PartitionedRows(InProcess(), parts(TABLE, labels)))


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: regressor().fit(*on_dask(Y)[:2], time="day"), "groups and time need rows in mem"),
        (lambda: regressor().fit(*on_dask(Y)[:2], groups="b"), "groups and time need rows in mem"),
        (lambda: regressor().fit(on_dask(Y)[0]), "the target y is None"),
        (lambda: regressor().fit(PartitionedRows(InProcess(), [ODD]), Y), "without y and sample"),
        (lambda: regressor().fit(PartitionedRows(InProcess(), [[]])), "There are no rows"),
    ],
)
def test_what_needs_rows_in_memory_is_refused(fit, message):
    with pytest.raises(ValueError, match=message):
        fit()
