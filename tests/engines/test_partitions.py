"""Dask collections that do not fit together are refused, in words that help."""

from copy import deepcopy

import dask.array as da
import dask.bag as db
import numpy as np
import pandas as pd
import pytest
from engines.engines import InProcess
from engines.rows import WEIGHT, X, Y, arrays, frames

from bochner import KernelGLMRegressor, KreinRidge, KreinRidgeClassifier
from bochner.engines import PartitionedRows, collected
from bochner.engines.dask import collect
from bochner.engines.partition_rows import CheckTable, PieceSplit
from bochner.features.chunks import Chunk

MODEL = KreinRidge(n_components=8, random_state=0)


def unknown_sizes():
    return frames(Y)[0].to_dask_array(), da.from_array(Y), None


BAD = {
    "unknown sizes": (unknown_sizes, "compute_chunk_sizes"),
    "fewer targets": (
        lambda: (arrays(Y)[0], da.from_array(Y[:-1]), None),
        "240 rows and y has 239",
    ),
    "targets in memory": (lambda: (frames(Y)[0], Y, None), "column of it"),
    "other partitions": (lambda: (frames(Y)[0], frames(Y, None, 2)[1], None), "repartition"),
    "one dimension": (lambda: (da.from_array(Y), da.from_array(Y), None), "two dimensions"),
    "a missing number": (
        lambda: (da.from_array(np.where(X > 2.0, np.nan, X), chunks=(90, 3)), *arrays(Y)[1:]),
        r"In partition \d: .*NaN",
    ),
    "a masked target": (
        lambda: (arrays(Y)[0], da.from_array(np.ma.masked_greater(Y, 1.0), chunks=90), None),
        r"In partition \d: y must not have masked entries",
    ),
    "a negative weight": (lambda: arrays(Y, WEIGHT - 1.0), "not negative"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data_are_refused(case):
    make, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        MODEL.fit(*make())


ONE_CLASS = arrays(np.zeros(len(X)))
HIDDEN = arrays(np.ma.array(Y > 0.0, mask=Y > 1.0))


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (
            lambda: KreinRidge(n_components=8).fit(frames(Y)[0], da.from_array(Y, chunks=100)),
            r"Partition \d has 80 rows of X and \d+ of y",
        ),
        (lambda: KreinRidgeClassifier().fit(*ONE_CLASS), "two classes"),
        (lambda: KreinRidgeClassifier().fit(*HIDDEN), "y must not have masked entries"),
        (lambda: KreinRidge().fit(db.from_sequence([1, 2]), Y), "array or data frame"),
    ],
)
def test_fits_that_cannot_be_made_are_refused(fit, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fit()


@pytest.mark.parametrize("make", [arrays, frames])
@pytest.mark.parametrize("model", [MODEL, KreinRidgeClassifier()], ids=lambda m: type(m).__name__)
def test_missing_targets_are_asked_for(model, make):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        model.fit(make(Y)[0], None)


def test_chunks_of_equal_rows_have_generators_of_their_own():
    rows = da.from_array(np.ones((90, 2)), chunks=(30, 2))

    def checked(X, y, weight, is_first):
        return Chunk(np.asarray(X), np.asarray(y), weight)

    targets = da.from_array(np.zeros(90), chunks=30)
    found = collect(rows, targets, None, numeric=True)
    chunks = found.validated(checked)
    total = chunks.total(listed, np.random.default_rng(0))
    assert len(np.unique(total)) == 3


def listed(chunks, rng):
    """One number of the generator for each chunk; sums of lists keep them all."""
    return [deepcopy(rng).random() for _ in chunks]


def test_the_sample_has_no_row_twice_whatever_the_sizes_of_partitions(monkeypatch):
    monkeypatch.setattr(collected, "SAMPLE_ROWS", 60)
    rows = np.arange(240.0)[:, None]
    X = da.from_array(rows, chunks=((7, 150, 1, 82), 1))
    y = da.from_array(rows[:, 0], chunks=((7, 150, 1, 82),))
    sample = collect(X, y, None, numeric=True).sample
    np.testing.assert_array_equal(sample.X[:, 0], sample.y)
    assert len(np.unique(sample.y)) == 60
    assert (np.diff(sample.y) > 0.0).all()
    counts = np.histogram(sample.y, [0, 7, 157, 158, 240])[0]
    assert counts[1] > 25
    assert counts[3] > 10


def test_partitions_that_can_be_read_once_are_refused():
    with pytest.raises(TypeError, match=r"parts is a generator.*pass list\(parts\)"):
        PartitionedRows(InProcess(), ((X, Y) for _ in range(2)))


def test_frames_of_polars_are_partitions():
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(y=Y)
    halves = frame[:100], frame[100:]
    models = [
        KreinRidge(n_components=8, random_state=0).fit(
            PartitionedRows(InProcess(), parts, target="y")
        )
        for parts in (list(halves), [polars.from_pandas(half) for half in halves])
    ]
    np.testing.assert_array_equal(*(model.predict(X) for model in models))


def test_models_without_sums_over_partitions_say_so():
    rows = PartitionedRows(InProcess(), [(X, Y)])
    with pytest.raises(TypeError, match=r"can only be passed to fit of ridge models"):
        KernelGLMRegressor(n_components=8).fit(rows, Y)


def test_tables_have_no_rows_without_weight():
    part = np.eye(3), np.arange(3.0), np.array([1.0, 0.0, 2.0])
    assert CheckTable(PieceSplit(), True)(part)[0].y.tolist() == [0.0, 2.0]
