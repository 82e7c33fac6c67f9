"""Messages on values: bounded, in one piece, and without the control characters of the value."""

import pandas as pd
import pytest
from fuzz.subjects import SUBJECTS
from fuzz.test_parameters_in_files import KINDS, QUICK, _given

import bochner

LONG = {"list": [0] * 30_000, "control": "\x1b[31m\a" * 5_000}
MOST = 700
"""Characters of a message on one value: the value has sixty, choices and advice the rest."""


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.thorough)
        for name in KINDS.values()
    ],
)
def test_messages_on_parameters(name, kind):
    subject, wrong = SUBJECTS[name], []
    for parameter in (*subject.parameters, "random_state"):
        try:
            subject.build(**{parameter: LONG[kind]}).fit(**_given(subject))
        except (ValueError, TypeError) as error:
            text = str(error)
            if len(text) > MOST or not all(char.isprintable() or char == "\n" for char in text):
                wrong.append((parameter, text[:300]))
    assert not wrong


NAME = "n\n<b>" + "x" * 100_000
LEVELS = [c + "x" * 1_000_000 for c in "abcdefghijklmnop"]


@pytest.mark.parametrize(("entries", "advice"), [
    ([1.0, "a"] * 16, "drop it"), ([b"x" * 10_000] * 32, "drop it"), ([[0] * 10_000] * 32, "drop"),
    ([float("inf")] * 32, "Replace them"), (LEVELS * 2, "Shorten the texts"),
])  # fmt: skip
def test_messages_on_columns(entries, advice):
    X = pd.DataFrame({NAME: entries, "a": range(32)})
    with pytest.raises((ValueError, TypeError), match=advice) as caught:
        bochner.TableRegressor(effort="quick").fit(X, X["a"])
    assert NAME[-50_000:] not in str(caught.value)
    assert r"'n\n<b>x" in str(caught.value)
    assert len(str(caught.value)) < MOST
    for options in ({"time": NAME}, {"groups": NAME}, {"groups": [NAME]}):
        with pytest.raises((ValueError, TypeError)) as caught:
            bochner.TableRegressor(effort="quick").fit(X[["a"]], X["a"], **options)
        assert len(str(caught.value)) < MOST


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "xlsx", "parquet"])
def test_a_file_of_zeros_is_not_read_into_memory(tmp_path, ending):
    with (tmp_path / f"rows.{ending}").open("wb") as file:
        file.truncate(10**11)
    with pytest.raises(ValueError, match="begins with 65,536 zero bytes: copy or export"):
        bochner.read_table(file.name)
