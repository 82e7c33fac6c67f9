"""Tables computed from tidy rows, against tables computed by hand."""

import math

import pytest

from benchmarks import markdown_table, median_table, medians, read_rows

HEADER = "benchmark,mode,run,dataset,method,p,seed,metric,value\n"


def row(dataset, method, p, seed, value, metric="error"):
    return {
        "benchmark": "toy",
        "mode": "full",
        "run": 1,
        "dataset": dataset,
        "method": method,
        "p": p,
        "seed": seed,
        "metric": metric,
        "value": value,
    }


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


def test_different_settings_are_never_pooled(rows):
    with pytest.raises(ValueError, match=r"'p' takes the values 8, 16 within iris, ours"):
        medians([*rows, row("iris", "ours", 16, 0, 1.0)], by=["dataset", "method"], metric="error")


def test_quick_and_full_are_never_pooled(rows):
    quick = row("iris", "ours", 8, 3, 1.0) | {"mode": "quick"}
    with pytest.raises(ValueError, match="'mode' takes the values full, quick"):
        medians([*rows, quick], by=["dataset", "method"], metric="error")


def test_a_zero_reference_gives_no_ratio():
    rows = [row("iris", "ours", 8, 0, 1.0), row("iris", "theirs", 8, 0, 0.0)]
    table = median_table(rows, index=["dataset"], metric="error", ratio_to="theirs")
    assert table.splitlines()[-1] == "| iris | 1 | 0 |"


def test_wrong_names_are_told(rows):
    with pytest.raises(ValueError, match=r"metric 'eror'"):
        medians(rows, by=["dataset"], metric="eror")


def test_markdown_escapes_bars():
    assert markdown_table(["a|b"], [["c"]]).splitlines()[0] == "| a\\|b |"


def test_rows_are_read_with_their_types(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text(HEADER + "toy,full,2,7,ours,0.5,3,error,1\ntoy,full,2,7,ours,qmc,4,error,inf\n")
    first, second = read_rows(path)
    assert first == row("7", "ours", 0.5, 3, 1.0) | {"run": 2}
    assert isinstance(first["value"], float)
    assert (second["p"], second["value"]) == ("qmc", math.inf)


def test_what_is_no_result_is_told(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"not a benchmark's CSV: it lacks the columns benchmark"):
        read_rows(path)
    path.write_text(HEADER + "toy,full,1,iris\n")
    with pytest.raises(ValueError, match=r"toy\.csv, line 2: the row does not fit"):
        read_rows(path)
    path.write_text(HEADER + "toy,full,1,iris,ours,8,0,error,1,surplus\n")
    with pytest.raises(ValueError, match="line 2"):
        read_rows(path)
