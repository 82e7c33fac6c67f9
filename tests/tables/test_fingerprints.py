"""Rows of the fit are found in a later file, and rows that are equal by chance are not counted."""

import json

import numpy as np
import pandas as pd

from bochner.tables import table_checks
from bochner.tables.table_checks import fingerprint, training_rows


def frame(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "k": rng.integers(0, 5, n),
            "c": rng.choice(["a", "b"], n),
            "t": pd.date_range("2020-01-01", periods=n, freq="h"),
        }
    )


def test_rows_of_the_fit_are_found():
    whole = frame(500)
    record = json.loads(json.dumps(fingerprint(whole[:400], whole[400:])))
    assert record["chance"] == 0.0
    count, is_fitted = training_rows(record, whole.sample(frac=1.0, random_state=1))
    assert count == 400
    assert is_fitted.sum() == 400
    order = whole.sample(frac=1.0, random_state=1).index.to_numpy()
    np.testing.assert_array_equal(is_fitted, order < 400)
    assert training_rows(record, frame(300, seed=1)) == (0, None)
    # A file of one row of the fit, and its numbers in another type
    assert training_rows(record, whole[5:6].astype({"k": float}))[0] == 1


def test_rows_that_are_equal_by_chance_say_nothing():
    few = frame(1000)[["k", "c"]]
    record = fingerprint(few[:800], few[800:])
    assert record["chance"] == 1.0
    assert training_rows(record, few) == (0, None)


def test_many_rows_are_a_sample(monkeypatch):
    monkeypatch.setattr(table_checks, "_MOST_KEYS", 256)
    whole = frame(4000)
    record = fingerprint(whole[:3000], whole[3000:])
    assert record["step"] == 12
    assert len(record["keys"]) < 4 * 256 * 4 / 3 * 1.5
    count, is_fitted = training_rows(record, whole)
    assert is_fitted is None
    assert abs(count - 3000) < 4 * np.sqrt(4000 * 12 * 0.25 * 0.75)
