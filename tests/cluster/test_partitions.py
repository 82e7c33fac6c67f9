"""Dask collections that do not fit together are refused, in words that help."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cluster.rows import LABELS, WEIGHT, X, Y, arrays, frames

from bochner import BaNKClassifier, BaNKRegressor, KreinRidge, KreinRidgeClassifier
from bochner.distributed.partitions import Partitions

MODELS = [KreinRidge(n_components=8, random_state=0), BaNKRegressor(4, "dense", n_burn_in=0)]


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
    "other divisions": (
        lambda: (frames(Y)[0], frames(Y)[1].repartition(divisions=(0, 5, 9, 239)), None),
        "repartition",
    ),
    "one dimension": (lambda: (da.from_array(Y), da.from_array(Y), None), "two dimensions"),
    "a missing number": (
        lambda: (da.from_array(np.where(X > 2.0, np.nan, X), chunks=(90, 3)), *arrays(Y)[1:]),
        r"In partition \d: .*NaN",
    ),
    "a missing target": (
        lambda: (arrays(Y)[0], da.from_array(np.where(Y > 1.0, np.nan, Y), chunks=90), None),
        "not finite",
    ),
    "a negative weight": (lambda: arrays(Y, WEIGHT - 1.0), "not negative"),
    "no weight": (lambda: arrays(Y, 0.0 * WEIGHT), "no rows|weight|zero"),
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("case", BAD)
def test_bad_data_are_refused(case, model):
    make, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        model.fit(*make())


def test_blocks_of_frames_and_arrays_must_have_the_same_rows():
    table = frames(Y)[0]
    y = da.from_array(Y, chunks=100)
    with pytest.raises(ValueError, match=r"Partition \d has 80 rows of X and \d+ of y"):
        KreinRidge(n_components=8).fit(table, y)


def test_targets_in_memory_go_with_an_array():
    parts = Partitions.of(arrays(Y)[0], Y.tolist()).parts
    assert [len(part.compute()[2]) for part in parts] == [90, 90, 60]


@pytest.mark.parametrize("kind", [KreinRidgeClassifier, BaNKClassifier])
def test_one_class_is_refused(kind):
    with pytest.raises(ValueError, match="two classes"):
        kind().fit(*arrays(np.zeros(len(X))))


def test_what_needs_rows_in_memory_says_so(tmp_path):
    with pytest.raises(ValueError, match="sampler='mh'"):
        BaNKClassifier(4, sampler="mh").fit(*arrays(LABELS))
    with pytest.raises(ValueError, match="no checkpoint"):
        BaNKRegressor(4).fit(*arrays(Y), checkpoint=tmp_path / "file")


def test_other_collections_are_refused():
    import dask.bag as db

    with pytest.raises(TypeError, match="array or data frame"):
        KreinRidge().fit(db.from_sequence([1, 2]), Y)


def test_two_columns_of_targets_are_too_many_for_a_chain():
    with pytest.raises(ValueError, match=r"In partition \d: y should"):
        BaNKRegressor(4).fit(arrays(Y)[0], da.from_array(np.c_[Y, Y], chunks=(90, 2)))


def test_frames_of_one_partition_and_many_are_alike():
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    fits = [
        KreinRidge(n_components=8, random_state=0)
        .fit(dd.from_pandas(table, npartitions=k), dd.from_pandas(pd.Series(Y), npartitions=k))
        .coef_
        for k in (1, 7)
    ]
    assert np.allclose(*fits, rtol=1e-11)


@pytest.mark.parametrize("make", [arrays, frames])
@pytest.mark.parametrize(
    "model", [*MODELS, KreinRidgeClassifier(), BaNKClassifier(4)], ids=lambda m: type(m).__name__
)
def test_missing_targets_are_asked_for(model, make):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        model.fit(make(Y)[0], None)
