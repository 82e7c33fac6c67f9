"""Text, dates, masks, mappings and lazy tables in the place of numbers."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bochner
from bochner._base import checks as checked

X = np.random.default_rng(0).normal(size=(20, 2))
Y = X[:, 0]
DATES = np.array(["NaT", "2020-01-02"] * 10, dtype="M8[D]")[:, None]
MASKED = np.ma.masked_less(X, 0.0)
TEXT = X.astype(str)
CODES = ["1", "2"] * 10

NO_NUMBERS = {
    "text": (TEXT, "of type str"),
    "bytes": (X.astype("S"), "of type bytes"),
    "list": (TEXT.tolist(), "of type str"),
    "objects": (TEXT.astype(object), "of type str"),
    "frame": (pd.DataFrame({"a": Y, "b": CODES}), "'1' of type str in column 'b'"),
    "categories": (pd.DataFrame({"b": pd.Categorical(CODES)}), "'1' of type str in column 'b'"),
    "polars": (pl.DataFrame({"a": Y, "b": CODES}), "'1' of type str in column 'b'"),
    "dates": (DATES, r"dates or durations \(datetime64\[D\]\)"),
    "durations": (DATES - DATES[1], r"durations \(timedelta64\[D\]\)"),
    "frame of dates": (pd.DataFrame({"a": Y, "t": DATES[:, 0]}), "dates .* in column 't'"),
    "objects of dates": (np.full((20, 1), datetime.date(2020, 1, 1), object), "of type date"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("name", ["X", "Y"])
def test_text_and_dates_are_no_numbers(kind, name):
    given, message = NO_NUMBERS[kind]
    with pytest.raises(ValueError, match=f"{name} must hold numbers, got .*{message}"):
        checked.check_rows_given(given, name, dtype=np.float64)


@pytest.mark.parametrize(
    "given",
    [
        X.astype(object),
        np.array([[Decimal("0.5"), True]], dtype=object),
        pd.DataFrame(X, dtype=object),
        pd.DataFrame({"a": pd.Categorical([1, 2]), "b": pd.array([1, 2], dtype="Int64")}),
        pl.DataFrame({"a": Y, "b": [True, False] * 10}),
        np.ma.array(X, mask=False),
    ],
)
def test_numbers_of_any_type_are_rows(given):
    found = checked.check_rows_given(given, dtype=np.float64)
    assert np.isfinite(found).all()
    assert found.dtype == np.float64


@pytest.mark.parametrize("given", [TEXT, DATES, MASKED])
@pytest.mark.parametrize(
    "model",
    [
        bochner.KreinRidge(n_components=8),
        bochner.FourierFeatures(n_components=8),
        bochner.KernelGLMRegressor(n_components=8),
        bochner.AsymmetricKernelRidge(n_components=8),
        bochner.LearnedKernelRegressor(),
    ],
)
def test_estimators_of_arrays_refuse_them(model, given):
    with pytest.raises(ValueError, match=r"^X must (hold numbers|not have masked)"):
        model.fit(given, Y)


def test_masked_entries_are_named():
    hidden = np.ma.array(Y, mask=np.arange(20) == 5)
    for call in (checked.numbers, checked.labels):
        with pytest.raises(ValueError, match=r"y must not have masked entries.* got 1"):
            call(hidden)
    for model in (bochner.TableRegressor(), bochner.KreinRidge(n_components=8)):
        with pytest.raises(ValueError, match="y must not have masked entries"):
            model.fit(X, hidden)
    with pytest.raises(ValueError, match="sample_weight must not have masked entries"):
        bochner.KreinRidge(n_components=8).fit(X, Y, abs(hidden))
    counts = bochner.KernelGLMRegressor("poisson", n_components=8)
    with pytest.raises(ValueError, match=r"exposure must not have masked entries.* got 1"):
        counts.fit(X, np.round(abs(Y)), exposure=1.0 + abs(hidden))
    with pytest.raises(ValueError, match="groups must not have missing entries"):
        bochner.TableRegressor().fit(X, Y, groups=np.round(hidden))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"a": value} for value in Y], "X is a list of dictionaries"),
        (pl.DataFrame({"a": Y}).lazy(), r"X is a lazy table.* X\.collect\(\)"),
    ],
)
@pytest.mark.parametrize("model", [bochner.KreinRidge(), bochner.TableRegressor()])
def test_what_is_no_table_of_rows(model, given, message):
    with pytest.raises(TypeError, match=message):
        model.fit(given, Y)
    with pytest.raises(TypeError, match=message.replace("X", "y")):
        model.fit(X, given)


def test_a_dictionary_is_no_array():
    message = r"X is a dict: expected an array or a table\. Give pandas\.DataFrame\(X\)"
    with pytest.raises(TypeError, match=message):
        bochner.KreinRidge().fit({"a": Y}, Y)
    with pytest.raises(TypeError, match=message.replace("X", "y")):
        bochner.TableRegressor().fit(X, {"a": Y})


def test_entries_are_shown_without_types_of_numpy():
    assert checked.shown(np.float64(0.5)) == "0.5"
    assert checked.shown(np.str_("a")) == "'a'"
    assert len(checked.shown("a" * 100)) == 60
    one = [np.zeros(20), np.full(20, "a")]
    classifiers = [bochner.KreinRidgeClassifier(), bochner.KernelGLMClassifier()]
    for model in (*classifiers, bochner.TableClassifier()):
        for y, shown in zip(one, ("0.0", "'a'"), strict=True):
            with pytest.raises(ValueError, match=rf"class: {shown}\.$"):
                model.fit(X, y)
