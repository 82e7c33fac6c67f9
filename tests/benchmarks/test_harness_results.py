"""Tables computed from tidy rows, against tables computed by hand."""

import math

import pytest

from benchmarks import markdown_table, median_table, medians, read_rows

HEADER = "benchmark,mode,run,dataset,method,p,seed,metric,value\n"


def row(dataset, method, p, seed, value, metric="error"):
    keys = {"benchmark": "toy", "mode": "full", "run": 1, "dataset": dataset, "method": method}
    return keys | {"p": p, "seed": seed, "metric": metric, "value": value}


@pytest.fixture
def rows():
    ours, theirs = (3.0, 1.0, 2.0), (4.0, 8.0, 5.0)
    table = [row("iris", "ours", 8, seed, value) for seed, value in enumerate(ours)]
    table += [row("iris", "theirs", 8, seed, value) for seed, value in enumerate(theirs)]
    table += [row("wine", "ours", 8, 0, 0.12345), row("wine", "ours", 8, 1, 0.12355)]
    return [*table, row("iris", "ours", 8, 0, 99.0, metric="seconds")]


def test_medians_over_seeds(rows):
    found = medians(rows, by=["dataset", "method"], metric="error")
    expected = {("iris", "ours"): 2.0, ("iris", "theirs"): 5.0, ("wine", "ours"): 0.1235}
    assert found == pytest.approx(expected)
    assert list(found) == list(expected)


def test_a_table_by_hand(rows):
    table = median_table(rows, index=["dataset"], metric="error", ratio_to="theirs", digits=4)
    assert table.splitlines() == [
        "| dataset | ours | theirs |",
        "| --- | ---: | ---: |",
        "| iris | 2 (0.40) | 5 |",
        "| wine | 0.1235 | – |",
    ]


def test_settings_and_modes_are_never_pooled_and_wrong_names_are_told(rows):
    other = row("iris", "ours", 16, 0, 1.0)
    quick = row("iris", "ours", 8, 3, 1.0) | {"mode": "quick"}
    for given, metric, message in (
        ([*rows, other], "error", r"'p' takes the values 8, 16 within iris, ours"),
        ([*rows, quick], "error", "'mode' takes the values full, quick"),
        (rows, "eror", "metric 'eror'"),
    ):
        with pytest.raises(ValueError, match=message):
            medians(given, by=["dataset", "method"], metric=metric)


def test_a_zero_reference_gives_no_ratio():
    rows = [row("iris", "ours", 8, 0, 1.0), row("iris", "theirs", 8, 0, 0.0)]
    table = median_table(rows, index=["dataset"], metric="error", ratio_to="theirs")
    assert table.splitlines()[-1] == "| iris | 1 | 0 |"


def test_markdown_escapes_bars():
    assert markdown_table(["a|b"], [["c"]]).splitlines()[0] == "| a\\|b |"


def test_rows_are_read_with_their_types(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text(HEADER + "toy,full,2,7,ours,0.5,3,error,1\ntoy,full,2,7,ours,qmc,4,error,inf\n")
    first, second = read_rows(path)
    assert first == row("7", "ours", 0.5, 3, 1.0) | {"run": 2}
    assert isinstance(first["value"], float)
    assert (second["p"], second["value"]) == ("qmc", math.inf)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", r"not a benchmark's CSV: it lacks the columns benchmark"),
        (HEADER + "toy,full,1,iris\n", r"toy\.csv, line 2: the row does not fit"),
        (HEADER + "toy,full,1,iris,ours,8,0,error,1,surplus\n", "line 2"),
    ],
)
def test_what_is_no_result_is_told(tmp_path, text, message):
    (tmp_path / "toy.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_rows(tmp_path / "toy.csv")
