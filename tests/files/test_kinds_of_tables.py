"""Models do not depend on the kind of the table: pandas, polars, Arrow, dictionary, array, list."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from bochner import TableClassifier, TableEncoder, TableRegressor, load, save
from bochner.files import ModelFileError

N = 60
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=N),
        "count": RNG.integers(0, 9, N),
        "kind": RNG.choice(["red", "green", "blue"], N),
        "day": pd.date_range("2021-03-01", periods=N, freq="9D").astype("datetime64[us]"),
    }
)
FRAME.loc[::7, "size"] = np.nan
Y = FRAME["count"] + 2.0 * (FRAME["kind"] == "red") + 0.1 * RNG.normal(size=N)


def _as_array(frame):
    return frame.astype(object).to_numpy()


NAMED = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "record batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
    "dictionary": lambda frame: {name: list(column) for name, column in frame.items()},
    "dictionary of series": lambda frame: {
        name: column.set_axis(RNG.permutation(len(frame))) for name, column in frame.items()
    },
    "dictionary of Arrow": lambda frame: dict(
        zip(frame.columns, pa.Table.from_pandas(frame, preserve_index=False).columns, strict=True)
    ),
}
KINDS = NAMED | {"array": _as_array, "list": lambda frame: _as_array(frame).tolist()}
ORDER = ["day", "size", "kind", "count"]


@pytest.fixture(scope="module")
def expected():
    return TableRegressor(effort="quick", random_state=0).fit(FRAME, Y).predict(FRAME)


@pytest.mark.thorough_cases(but="arrow")
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=() if k == "arrow" else pytest.mark.thorough) for k in KINDS]
)
def test_a_model_is_the_same_for_every_kind_of_table(kind, tmp_path, expected):
    names = list(FRAME) if kind in NAMED else ["x0", "x1", "x2", "x3"]
    model = TableRegressor(effort="quick", random_state=0).fit(KINDS[kind](FRAME), Y)
    save(model, tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        assert_array_equal(each.predict(KINDS[kind](FRAME)), expected)
        assert [state["name"] for state in each.encoder_.columns_] == names
        assert list(getattr(each, "feature_names_in_", names)) == names
        for other in NAMED if kind in NAMED else ():
            assert_array_equal(each.predict(NAMED[other](FRAME[ORDER])), expected)


def check_names(kind="arrow"):
    """A table has the names that its columns have, in any order."""
    encoder = TableEncoder().fit(NAMED[kind](FRAME), Y)
    expected = TableEncoder().fit(FRAME)
    assert list(encoder.get_feature_names_out()) == list(expected.get_feature_names_out())
    assert_array_equal(encoder.transform(NAMED[kind](FRAME[ORDER])), expected.transform(FRAME))
    with pytest.raises(ValueError, match="'kind'"):
        encoder.transform(NAMED[kind](FRAME[["size", "count", "day"]]))


@pytest.mark.parametrize("kind", NAMED)
def test_columns_have_the_names_of_the_table(kind):
    check_names(kind)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["polars", "arrow", "dictionary"])
def test_groups_weights_and_contributions_read_every_kind(kind):
    frame = FRAME.assign(group=np.arange(N) // 4)
    classes = np.where(Y.median() < Y, "high", "low")
    for model, y in (
        (TableRegressor(effort="quick", random_state=0), Y),
        (TableClassifier(effort="quick", random_state=0), classes),
    ):
        fits = [
            model.fit(table, y, sample_weight=1.0 + np.arange(N) % 3, groups="group").contributions(
                table, n_evaluations=500, random_state=0
            )
            for table in (frame, NAMED[kind](frame))
        ]
        assert fits[0].columns == fits[1].columns
        assert_array_equal(fits[0].values, fits[1].values)
    assert "</html>" in model.report(NAMED[kind](frame), classes).html


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({"a": [1.0, 2.0], "b": [1.0]}, ValueError, "equal lengths, got 1 and 2 entries"),
        ({"a": 1.0, "b": 2.0}, TypeError, "'a' is no column: expected a sequence"),
        ({"a": "text"}, TypeError, "'a' is no column"),
        ([{"a": 1.0}, {"a": 2.0}], TypeError, "X is a list of dictionaries"),
        (pl.LazyFrame({"a": [1.0, 2.0]}), TypeError, "collect"),
    ],
)
def test_other_collections_are_refused(table, error, message):
    with pytest.raises(error, match=message):
        TableEncoder().fit(table)
    with pytest.raises(error, match=message):
        TableRegressor().fit(table, [1.0, 2.0])


def check_refusal():
    """A model that does not load is not saved."""
    encoder = TableEncoder().fit(FRAME)
    encoder.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    with TemporaryDirectory() as folder:
        path = Path(folder, "model")
        with suppress(ModelFileError):
            save(encoder, path)
        assert not path.exists()


def test_what_would_not_load_is_not_saved(tmp_path):
    check_refusal()
    model = TableRegressor(effort="quick", random_state=0).fit(FRAME, Y)
    model.encoder_.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    with pytest.raises(ModelFileError, match=r"would not load, so it is not saved: .*columns"):
        save(model, tmp_path / "model")
