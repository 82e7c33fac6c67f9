"""Rows of the fit are found in a later file, and rows that are equal by chance are not counted."""

import json

import numpy as np
import pandas as pd

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
