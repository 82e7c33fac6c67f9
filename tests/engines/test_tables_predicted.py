"""Predictions of fitted models where the rows are: mapped over partitions, or applied."""

import dask.array as da
import numpy as np
import pytest
from engines.engines import InProcess
from engines.tables import BOTH, NEW, TABLE, Y, few_rows, frame_of, parts, regressor

from bochner import KreinRidge
from bochner.engines import PartitionedRows

EXACT = 1e-11
"""Sums of other lengths are other, up to rounding."""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    few_rows(monkeypatch)


def test_predictions_are_mapped_over_the_partitions_of_dask(dask_place):
    table = regressor().fit(TABLE, Y)

    def predicted(part):  # One of the partitions has no rows
        return table.predict(part) if len(part) else np.empty(0)

    found = frame_of().map_partitions(predicted, meta=np.empty(0))
    np.testing.assert_allclose(found.compute(), table.predict(TABLE), rtol=EXACT, atol=EXACT)
    ridge = KreinRidge(n_components=16, random_state=0).fit(BOTH, Y)
    rows = da.from_array(BOTH, chunks=(250, -1))
    found = rows.map_blocks(ridge.predict, drop_axis=1, dtype=float)
    np.testing.assert_allclose(found.compute(), ridge.predict(BOTH), rtol=EXACT, atol=EXACT)


def test_collections_are_refused_with_the_way_out():
    table, ridge = regressor().fit(TABLE, Y), KreinRidge(n_components=16).fit(BOTH, Y)
    message = r"X is a Dask collection.*X\.map_partitions\(model\.predict\)"
    for call in (table.predict, table.predict_interval, table.encode):
        with pytest.raises(TypeError, match=message):
            call(frame_of())
    with pytest.raises(TypeError, match=message):
        ridge.predict(da.from_array(BOTH))


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
