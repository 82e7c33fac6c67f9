"""Predictions of fitted models of tables, where the rows are, are those of rows in memory."""

import dask.array as da
import numpy as np
import pytest
from cluster.engines import InProcess
from cluster.tables import (
    BOTH,
    LABELS,
    NEW,
    TABLE,
    WEIGHT,
    Y,
    classifier,
    few_rows,
    frame_of,
    on_dask,
    parts,
    regressor,
)

from bochner import KreinRidge
from bochner.engines import PartitionedRows

EXACT = 1e-11
"""Sums of other lengths are other, up to rounding."""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    few_rows(monkeypatch)


def assert_equal(lazy, expected):
    assert isinstance(lazy, da.Array)
    assert lazy.dtype == expected.dtype
    found = lazy.compute()
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("y", [Y, BOTH], ids=["one target", "two targets"])
def test_numbers_have_lazy_deviations_intervals_and_quantiles(y, dask_place):
    model, rows = regressor().fit(TABLE, y), frame_of()
    assert_equal(model.predict(rows), model.predict(TABLE))
    for call in (
        lambda X: model.predict(X, return_std=True),
        lambda X: model.predict_interval(X, level=0.8),
    ):
        lazy, expected = call(rows), call(TABLE)
        assert type(lazy) is tuple
        for pair in zip(lazy, expected, strict=True):
            assert_equal(*pair)
    assert_equal(
        model.predict_quantiles(rows, (0.2, 0.7)), model.predict_quantiles(TABLE, (0.2, 0.7))
    )


def test_a_pair_is_computed_in_one_pass():
    model, seen = regressor().fit(TABLE, Y), []
    rows = frame_of()

    def noted(part, partition_info=None):
        if partition_info is not None:
            seen.append(partition_info["number"])
        return part

    noted_rows = rows.map_partitions(noted, meta=rows._meta)
    both = model.predict_interval(noted_rows)
    da.compute(*both, scheduler="synchronous")
    assert sorted(seen) == list(range(rows.npartitions))


def test_classes_have_lazy_probabilities(dask_place):
    model, rows = classifier().fit(TABLE, LABELS), frame_of()
    assert_equal(model.predict_proba(rows), model.predict_proba(TABLE))
    lazy = model.predict(rows)
    assert np.array_equal(lazy.compute(), model.predict(TABLE))
    assert lazy.dtype == model.classes_.dtype


def test_scores_are_sums_over_partitions(dask_place):
    X, y, weight = on_dask(Y, WEIGHT)
    model = regressor().fit(TABLE, Y)
    assert abs(float(model.score(X, y, weight)) - model.score(TABLE, Y, WEIGHT)) < 1e-12
    X, labels, _ = on_dask(LABELS)
    other = classifier().fit(TABLE, LABELS)
    assert abs(float(other.score(X, labels)) - other.score(TABLE, LABELS)) < 1e-12


def test_arrays_are_predicted_by_chunks():
    X = TABLE[["a", "c"]].to_numpy()
    model = regressor().fit(X, Y)
    lazy = model.predict(da.from_array(X, chunks=(250, 1)))
    assert lazy.chunks == ((250, 250, 250, 150),)
    assert_equal(lazy, model.predict(X))
    with pytest.raises(ValueError, match="X has 1 columns, and the table of the fit had 2"):
        model.predict(da.from_array(X[:, :1]))


def test_columns_are_found_by_their_names_and_missed():
    model, rows = regressor().fit(TABLE, Y), frame_of()
    assert_equal(model.predict(rows[["kind", "day", "c", "b", "a"]]), model.predict(TABLE))
    with pytest.raises(ValueError, match="Missing column 'c'"):
        model.predict_interval(rows[["a", "b", "day", "kind"]])
    with pytest.raises(ValueError, match="Unexpected column 'more'"):
        model.predict(rows.assign(more=1.0))


def test_errors_name_the_partition():
    X = TABLE[["a", "c"]].to_numpy(object, copy=True)
    model = regressor().fit(X, Y)
    X[305, 0] = "many"
    lazy = model.predict(da.from_array(X, chunks=(300, 2)))
    with pytest.raises(ValueError, match=r"In partition 1: Changed kind of column 'x0'.*'many'"):
        lazy.compute()


def test_what_needs_rows_in_memory_says_so():
    model, rows = regressor().fit(TABLE, Y), frame_of()
    with pytest.raises(ValueError, match="have no covariances"):
        model.predict(rows, return_cov=True)
    for method in (model.sample, model.effect):
        with pytest.raises((TypeError, ValueError)):
            method(rows)
    with pytest.raises(TypeError, match=r"rows in memory were expected: pass X\.compute"):
        model.encode(rows)
    with pytest.raises(ValueError, match="level"):
        model.predict_interval(rows, level=1.5)


def test_a_method_is_applied_to_the_partitions_of_an_engine(engine):
    model = regressor().fit(TABLE, Y)
    tuples = parts(TABLE, Y)
    rows = PartitionedRows(engine, engine.place(tuples))
    handles = rows.apply(model.predict_interval, level=0.8)
    found = engine.tree_reduce(_joined, handles)
    expected = model.predict_interval(TABLE, level=0.8)
    np.testing.assert_allclose(found, expected, rtol=EXACT, atol=EXACT)


def _joined(first, second):
    if first is None or second is None:
        return second if first is None else first
    return tuple(np.concatenate(pair) for pair in zip(first, second, strict=True))


def test_partitions_to_predict_may_have_targets_or_none():
    model = regressor().fit(TABLE, Y)
    engine, expected = InProcess(), model.predict(NEW)
    with_targets = [NEW.assign(y=1.0, w=2.0)]
    cases = [
        PartitionedRows(engine, [NEW]),
        PartitionedRows(engine, [NEW], target="y", sample_weight="w"),
        PartitionedRows(engine, with_targets, target="y", sample_weight="w"),
        PartitionedRows(engine, [[NEW[:20], NEW[:0], NEW[20:]]]),
        PartitionedRows(engine, [(NEW,)]),
    ]
    for rows in cases:
        np.testing.assert_allclose(engine.tree_reduce(None, rows.apply(model.predict)), expected)
    none = PartitionedRows(engine, [NEW[:0]]).apply(model.predict)
    assert engine.tree_reduce(None, none) is None
    with pytest.raises(ValueError, match="In partition 0: Missing column 'c'"):
        PartitionedRows(engine, [NEW.drop(columns="c")]).apply(model.predict)
    ridge = KreinRidge(n_components=16, random_state=0).fit(BOTH, Y)
    handles = PartitionedRows(engine, [BOTH]).apply(ridge.predict, return_std=True)
    np.testing.assert_allclose(
        engine.tree_reduce(None, handles), ridge.predict(BOTH, return_std=True)
    )
