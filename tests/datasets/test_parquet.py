"""Chunks of rows from Parquet files."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import KreinRidge, KreinRidgeClassifier
from bochner.datasets import ParquetChunks

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(500, 3)), columns=["a", "b", "c"])
TABLE["n"] = RNG.integers(0, 5, size=500)
TABLE["w"] = RNG.uniform(size=500)
TABLE["y"] = np.sin(TABLE["a"]) + TABLE["n"]
TABLE["label"] = (TABLE["a"] > 0).astype(int)
TABLE["word"] = "x"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "table.parquet"
    TABLE.to_parquet(path, row_group_size=130)
    return path


def test_chunks_make_up_the_table(path):
    rows = ParquetChunks(path, ["y", "a"], columns=["c", "n"], weight="w", chunk_rows=100)
    for _ in range(2):
        X, y, weight = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        assert_array_equal(X, TABLE[["c", "n"]])
        assert_array_equal(y, TABLE[["y", "a"]])
        assert_array_equal(weight, TABLE["w"])
    assert rows.n_samples == 500
    assert max(len(chunk[0]) for chunk in rows) <= 100


def test_all_other_columns_are_inputs(path):
    inputs = ParquetChunks(path, "y", weight="w").columns
    assert inputs == ["a", "b", "c", "n", "label", "word"]


def test_float32_stays(tmp_path):
    TABLE[["a", "y"]].astype(np.float32).to_parquet(tmp_path / "t.parquet")
    ((X, y),) = ParquetChunks(tmp_path / "t.parquet", "y")
    assert X.dtype == y.dtype == np.float32
    assert y.shape == (500,)


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_a_regression_on_a_file_is_that_on_the_table(path, solver):
    rows = ParquetChunks(path, "y", columns=["a", "b", "n"], weight="w", chunk_rows=70)
    model = KreinRidge("gaussian", 60, length_scale=2.0, solver=solver, tol=1e-12, random_state=0)
    found = model.fit(rows).coef_.copy()
    whole = model.fit(TABLE[["a", "b", "n"]].to_numpy(), TABLE["y"], TABLE["w"])
    assert_allclose(found, whole.coef_, rtol=1e-6, atol=1e-9)


def test_a_classifier_meets_the_labels_first(path):
    rows = ParquetChunks(path, "label", columns=["a", "b"])
    assert (
        KreinRidgeClassifier(length_scale=1.0, random_state=0)
        .fit(rows)
        .score(TABLE[["a", "b"]].to_numpy(), TABLE["label"])
        > 0.95
    )


def test_decimals_are_numbers(tmp_path):
    exact = TABLE[["a", "y"]].map(lambda value: Decimal(f"{value:.3f}"))
    exact.to_parquet(tmp_path / "exact.parquet")
    ((X, y),) = ParquetChunks(tmp_path / "exact.parquet", "y")
    assert X.dtype == y.dtype == np.float64
    assert_allclose(np.column_stack((X, y)), exact.astype(np.float64), rtol=1e-15)


def test_columns_that_are_not_there_are_named(path):
    with pytest.raises(ValueError, match=r"no column 'z'; it has 'a', 'b'"):
        ParquetChunks(path, "z")
    with pytest.raises(ValueError, match="no input columns"):
        ParquetChunks(path, "y", columns=[])


def test_words_and_gaps_are_refused(path, tmp_path):
    with pytest.raises(ValueError, match=r"Column 'word' must be numeric, got .*string"):
        list(ParquetChunks(path, "y"))
    TABLE.assign(a=TABLE["a"].where(TABLE["b"] < 1.0)).to_parquet(tmp_path / "gaps.parquet")
    with pytest.raises(ValueError, match="Column 'a' lacks"):
        list(ParquetChunks(tmp_path / "gaps.parquet", "y", columns=["a"]))


@pytest.mark.parametrize("chunk_rows", [0, -1, np.int64(-5), 2.0, True, "100", None], ids=repr)
def test_a_chunk_has_a_positive_number_of_rows(path, chunk_rows):
    with pytest.raises((TypeError, ValueError), match=r"chunk_rows must be .*got"):
        ParquetChunks(path, "y", chunk_rows=chunk_rows)


def test_a_row_at_a_time_is_a_chunk_size(path):
    assert sum(1 for _ in ParquetChunks(path, "y", columns=["a"], chunk_rows=np.int64(1))) == 500
