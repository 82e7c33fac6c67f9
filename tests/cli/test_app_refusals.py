"""What the commands refuse: one message, exit code 2, and no file touched."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cli.command import SMALL, bochner, fit, labelled, refusal, table, usage_error, write
from typer.testing import CliRunner

import bochner as library
from bochner.cli.app import app


def fit_refusal(folder, file, *options, target="y"):
    (folder / "model.bochner").write_text('{"bochner": "what was here before"}')
    out = folder / "model.bochner"
    return refusal(folder, "fit", file, "--target", target, "--out", out, *SMALL, *options)


TEXTS = {
    "empty": ("", "is empty"),
    "one row": ("a,y\n1,2\n", "The table has one row"),
    "two rows": ("a,y\n1,2\n2,3\n", "leaves 1 to fit and 1 to test: expected at least 2"),
    "no header": ("1,2\n3,4\n5,6\n", "is the line of column names missing?"),
}


@pytest.mark.parametrize(("text", "message"), TEXTS.values(), ids=TEXTS)
def test_texts(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert message in fit_refusal(tmp_path, path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--time-limit", "0"), "--time-limit must be a positive number of seconds, got 0."),
        (("--weights", "counts"), "--weights counts needs a column of weights: give --weight"),
        (("--weight", "colour"), "The weight 'colour' holds text (row 1: "),
        (("--time", "colour"), "holds text (row 1: 'red'): expected numbers or dates in every"),
        (("--group", "colour", "--test-size", "0.7"), "of 3 groups leaves 0 to fit and 3 to test"),
        (("--group", "colour", "--time", "a"), "give one of them"),
        (("--report", "r.txt"), "r.txt would be written as a report: expected an ending of .html"),
        (("--report", "model.bochner"), "Two outputs have the same file"),
        (("--split", "random", "--time", "a"), "--split random and --time contradict each other"),
        (("--task", "classification"), "classes with only one row"),
        (("--test-size", "0"), "--test-size must lie between 0 and 1, got 0.0."),
        (("--target", "y"), "--target names a column twice: y, y."),
        (("--drop", "colou"), "Did you mean 'colour'?"),
        (("--drop", "a", "--drop", "b", "--drop", "colour"), "no column but the target"),
    ],
)
def test_options(tmp_path, good, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    assert message in fit_refusal(tmp_path, good, *options)


def out_refusal(folder, good, out):
    return refusal(folder, "fit", good, "--target", "y", "--out", out, *SMALL)


def test_output_that_cannot_be_written(tmp_path, good):
    assert "There is no folder" in out_refusal(tmp_path, good, tmp_path / "no" / "m.bochner")
    assert not (tmp_path / "no").exists()
    assert "is a folder" in out_refusal(tmp_path, good, tmp_path)
    assert "is read from, and would be replaced" in out_refusal(tmp_path, good, good)


@pytest.mark.parametrize("name", ["other.csv", "m.CSV.gz", "m.parquet", "m.html", "m.json"])
def test_models_have_no_ending_of_data_or_pages(tmp_path, good, name):
    (tmp_path / name).write_text("what was here before")
    message = out_refusal(tmp_path, good, tmp_path / name)
    assert f"{name} would be written as a model file" in message
    assert "give it the ending .bochner" in message


@pytest.mark.parametrize(
    "line",
    [
        "fit t.csv --target y --out -",
        "fit t.csv --target y --report -",
        "evaluate m.bochner t.csv --report -",
        "demo --out -",
    ],
)
def test_a_dash_is_no_model_report_or_folder(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    words = line.split()
    present = {"t.csv", "m.bochner"} & set(words)
    for name in present:
        (tmp_path / name).write_text("what is there")
    message = refusal(tmp_path, *words)
    assert message.startswith(f"{words[-2]} - is standard output, which takes CSV only: name a ")
    assert {path.name for path in tmp_path.iterdir()} == present


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "t.csv"), "Missing option '--target'"),
        (("fit", "t.csv", "--target", "y", "--seed", "-1"), "'--seed'"),
        (("fit", "t.csv", "--target", "y", "--n-jobs", "many"), "'--n-jobs'"),
        (
            ("fit", "t.csv", "--target", "y", "--groups", "x"),
            "--groups (Possible options: --group)",
        ),
        (("fit", "t.csv", "--target", "y", "--depth", "x"), "No such option: --depth ╰"),
        (("fit", "t.csv", "--target", "y", "--effort", "quik"), "'quik' is not one of 'quick',"),
        (("predict", "m.bochner", "t.csv", "--keep", "some"), "'some' is not one of 'none',"),
        (("fit", "t.csv", "--target", "y", "--transformation", "x"), "is not one of"),
        (("fitt",), "No such command 'fitt'"),
        (("predict", "m.bochner"), "Missing argument"),
    ],
)
def test_wrong_usage(arguments, message):
    assert message in usage_error(*arguments)


@pytest.mark.filterwarnings("default")
def test_warnings_are_lines_without_paths(monkeypatch, tmp_path):
    def warning(*_):
        for _ in range(2):
            warnings.warn("Few rows.", stacklevel=1)
            np.float64(1.0) / np.float64(0.0)

    monkeypatch.setattr("bochner.cli.demo.run_demo", warning)
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert (result.exception, result.stderr) == (None, "Note: Few rows.\n")


def test_debugging_shows_the_traceback(tmp_path, monkeypatch):
    monkeypatch.setenv("BOCHNER_DEBUG", "1")
    result = bochner("explain", tmp_path / "none.bochner")
    assert isinstance(result.exception, ValueError)


def predict_refusal(folder, model, frame, *options):
    path = write(frame, folder / "new.csv")
    (folder / "out.csv").write_text("prediction")
    return refusal(folder, "predict", model, path, "--out", folder / "out.csv", *options)


FEATURES = table(3).drop(columns="y")
TABLES = {
    "missing": (FEATURES.drop(columns="b"), "Missing column 'b'"),
    "only the target": (table(3)[["y"]], "Missing columns 'a', 'b' and 'colour'"),
    "text for numbers": (FEATURES.assign(a="x"), "Column 'a' should hold numbers, but 3 of 3"),
    "no rows": (FEATURES.head(0), "has a header but no rows"),
}


@pytest.mark.parametrize(("frame", "message"), TABLES.values(), ids=TABLES)
def test_tables_to_predict(tmp_path, regressor, frame, message):
    assert message in predict_refusal(tmp_path, regressor, frame)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"a,b\n1,2\n", "is not a model file"), (None, "There is no file")],
)
def test_files_that_are_no_models(tmp_path, content, message):
    path = tmp_path / "m.bochner"
    if content is not None:
        path.write_bytes(content)
    assert message in predict_refusal(tmp_path, path, FEATURES)
    assert message in refusal(tmp_path, "explain", path)


def test_models_of_no_table(tmp_path):
    path = tmp_path / "m.bochner"
    library.save(library.kernels.Gaussian(1.0), path)
    assert "holds a Gaussian" in predict_refusal(tmp_path, path, FEATURES)
    library.save(library.TableRegressor(), path)
    assert "not fitted yet" in predict_refusal(tmp_path, path, FEATURES)
    assert "not fitted yet" in refusal(tmp_path, "explain", path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--interval", "1.5"), "--interval must lie between 0 and 1, or 50 and 100 for per cent"),
        (("--quantiles", "0.1;0.9"), "such as 10,50,90, got '0.1;0.9'"),
        (("--quantiles", "0.1,0"), "--quantiles must be numbers between 0 and 1"),
        (("--out", "p.xlsx"), "as a table: expected an ending of .csv, .tsv, .txt"),
        (("--out", "p.csv.gz"), "or none, got '.gz'"),
    ],
)
def test_levels(tmp_path, regressor, options, message):
    assert message in predict_refusal(tmp_path, regressor, FEATURES, *options)


def test_predictions_that_cannot_be_written(tmp_path, regressor):
    path = write(FEATURES, tmp_path / "new.csv")
    for out, message in (
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "out.csv", "There is no folder"),
        (path, "is read from, and would be replaced"),
        (regressor, "is read from, and would be replaced"),
    ):
        assert message in refusal(tmp_path, "predict", regressor, path, "--out", out)


def test_classes_have_no_intervals(tmp_path):
    model = fit(tmp_path, labelled())
    for options in (("--interval", "0.9"), ("--quantiles", "0.5")):
        message = predict_refusal(tmp_path, model, FEATURES, *options)
        assert f"{options[0]} is for regression" in message


def test_rows_whose_group_is_missing_or_whose_class_is_new(tmp_path):
    frame = table(60).assign(who=np.repeat(list("abcdef"), 10))
    path = write(frame.assign(y=frame["who"]), tmp_path / "t.csv")
    assert "No row to fit has the class" in fit_refusal(tmp_path, path, "--group", "who")
    frame.loc[3, "who"] = None
    path = write(frame, tmp_path / "t.csv")
    message = "The group 'who' is missing in 1 of 60 rows (row 4, counting"
    assert message in fit_refusal(tmp_path, path, "--group", "who")


def test_a_target_that_is_constant_where_it_is_fitted(tmp_path):
    y = np.ones(12)
    y[3] = 2.5
    path = write(pd.DataFrame({"a": np.sqrt(np.arange(12.0)), "y": y}), tmp_path / "t.csv")
    assert "rows to fit all have the target 1.0" in fit_refusal(tmp_path, path, "--seed", "1")
