"""Files that people bring come out as `brought.py` says, now and by their recorded layout."""

import json
import warnings
from datetime import time

import numpy as np
import pandas as pd
import pytest
from files.brought import BROUGHT, NAN, Brought, N, lines

from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions
from bochner.files.table_reading import read, read_table
from bochner.tables.encoder import TableEncoder


def write(folder, case, content, name):
    path = folder / f"{name}{case.ending}"
    if callable(content):
        content(path)
    else:
        path.write_text(content, encoding="utf-8")
    return path


def entries(series):
    """Entries of a column, None where missing."""
    return [None if pd.isna(entry) else entry for entry in series.tolist()]


def assert_reads(frame, columns):
    for name, expected in columns.items():
        assert name in frame
        if isinstance(expected, int):
            assert len(frame[name]) == expected
            continue
        found, wanted = entries(frame[name]), entries(pd.Series(expected, dtype=object))
        if wanted == [None] * len(wanted):
            assert found == wanted
        elif all(isinstance(entry, int | float) or entry is None for entry in wanted):
            assert frame[name].dtype.kind in "if"
            np.testing.assert_allclose(
                *([NAN if entry is None else entry for entry in each] for each in (found, wanted))
            )
        else:
            assert found == wanted


def check_reading(folder, case):
    """The columns and the notes are those of the entry."""
    found = read(write(folder, case, case.content, "t"), ReadOptions(**case.options))
    assert_reads(found.frame, case.columns)
    for words in case.notes:
        assert any(words in note for note in found.notes), (words, found.notes)
    if not case.notes:
        assert found.notes == ()
    assert not set(case.absent) & set(found.frame.columns)
    return found


def check_layout(folder, case):
    """The recorded layout reads the file alike, and later files as the entry says."""
    found = check_reading(folder, case)
    layout = ReadOptions.from_record(json.loads(json.dumps(found.layout.to_record())))
    again = read(folder / f"t{case.ending}", layout)
    assert list(again.frame.columns) == list(found.frame.columns)
    for name in found.frame:
        one, two = (each.astype(object) for each in (found.frame[name], again.frame[name]))
        pd.testing.assert_series_equal(one, two, check_dtype=False)
    first = next(iter(case.columns))
    for number, (content, expected) in enumerate(case.later.items()):
        path = write(folder, case, content, f"later{number}")
        if isinstance(expected, str):
            assert expected in refusal(path, layout)
        else:
            assert_reads(read(path, layout).frame, {first: expected})


def refusal(path, layout):
    """The message with which a file is refused, empty if it is read."""
    try:
        read(path, layout)
    except InputError as error:
        return str(error)
    return ""


def case_named(name: str) -> Brought:
    """The entry with a name."""
    return next(case for case in BROUGHT if case.name == name)


@pytest.mark.parametrize("case", BROUGHT, ids=lambda case: case.name)
def test_files_that_people_bring(tmp_path, case):
    if case.ending == ".xlsx":
        pytest.importorskip("openpyxl")
    check_layout(tmp_path, case)


def test_times_of_day_are_cyclic():
    times = [time(i % 24, i) for i in range(60)]
    frame = pd.DataFrame({"a": [*times, time(23, 59), time(0, 0), None]})
    encoder = TableEncoder().fit(frame)
    names = encoder.get_feature_names_out().tolist()
    waves = [names.index(f"a_<hour {wave} 1>") for wave in ("cos", "sin")]
    late, early, missing = encoder.transform(frame)[-3:, waves]
    assert np.abs(late - early).max() < 0.01
    np.testing.assert_array_equal(missing, [0.0, 0.0])
    with pytest.raises(ValueError, match="times of day at fit, now numbers"):
        encoder.transform(pd.DataFrame({"a": [12.5]}))
    numbers = TableEncoder().fit(pd.DataFrame({"a": [1.5, 2.5]}))
    with pytest.raises(ValueError, match="numbers at fit, now times of day"):
        numbers.transform(frame)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"skip": -1}, "skip must be a number of lines"), ({"header": 101}, "header must be")],
)
def test_numbers_of_lines(options, words):
    with pytest.raises(InputError, match=words):
        ReadOptions(**options)
    with pytest.raises(TypeError, match="missing must be a list"):
        ReadOptions(missing="NA")


def test_a_frame_of_text_is_read_by_the_same_rules():
    frame = pd.DataFrame({"weight": ["6.37 kg", "2 kg", "NA"], "n": [1, 2, 3]}, index=[7, 3, 5])
    with pytest.warns(UserWarning, match="Read the table: 'weight' holds amounts in kg"):
        found = read_table(frame)
    assert found.index.tolist() == [7, 3, 5]
    np.testing.assert_array_equal(found["weight"], [6.37, 2, np.nan])
    assert frame["weight"].tolist() == ["6.37 kg", "2 kg", "NA"]
    text = frame.assign(weight=["-99", "1", "2"])
    with pytest.warns(UserWarning, match="'weight' has numbers that are stored as text"):
        given = read_table(text, missing=["-99"])
    np.testing.assert_array_equal(given["weight"], [np.nan, 1, 2])


@pytest.mark.parametrize("entries", [["6.37 kg", "2 kg"], ["€ 3", "€ 5"]])
def test_models_warn_of_quantities_that_are_text(entries):
    frame = pd.DataFrame({"a": entries * 5, "b": np.arange(10.0)})
    with pytest.warns(UserWarning, match=r"written as text in column 'a' .*bochner\.read_table"):
        TableEncoder().fit(frame)
    with warnings.catch_warnings(action="error"):
        TableEncoder().fit(frame.assign(a=frame["a"].astype("category")))
        TableEncoder().fit(frame.assign(a=["12 Main", "5 Oak"] * 5))


def minutes(texts):
    """Times such as 1:30 in minutes."""
    parts = texts.str.extract(r"^(\d+):(\d\d)$").astype(float)
    return 60.0 * parts[0] + parts[1]


def test_a_rule_of_the_user_reads_a_column_or_declines_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(lines(*[f"{i}:30" for i in range(1, N)], "long"))
    with pytest.warns(UserWarning, match="'long', which count as missing .* are minutes"):
        found = read_table(path, rules={"minutes": minutes})
    np.testing.assert_array_equal(found["a"], [*(60.0 * i + 30.0 for i in range(1, N)), NAN])
    assert found["b"].tolist() == [f"t{i % 3}" for i in range(N)]
    declined = read_table(path, rules={"minutes": lambda texts: None}, types={"a": "text"})
    assert declined["a"][0] == "1:30"
    with pytest.raises(ValueError, match="returned 2 values for 40 entries"):
        read_table(path, rules={"short": lambda texts: texts[:2]})
    with pytest.raises(ZeroDivisionError) as refused:
        read_table(path, rules={"wrong": lambda texts: 1 / 0})
    assert refused.value.__notes__ == ["This was in the rule 'wrong' for the column 'a'."]
