"""What a user does with `bochner evaluate` and `explain`, and scores that `predict` adds."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from cli.command import bochner, fit, labelled, refusal, table, write

import bochner as library


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("classifier"), labelled())


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A model whose rows have names."""
    frame = table().assign(who=[f"row {i}" for i in range(150)])
    return fit(tmp_path_factory.mktemp("named"), frame, "--id", "who")


def fresh(n_rows=40):
    return table(190).tail(n_rows).reset_index(drop=True)


def run(*arguments):
    result = bochner(*arguments)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.thorough
def test_errors_on_a_table_are_those_of_its_predictions(regressor, tmp_path):
    frame = fresh()
    path = write(frame, tmp_path / "new.csv")
    shown = json.loads(run("evaluate", regressor, path, "--json").stdout)
    model = library.load(regressor)
    residual = model.predict(frame.drop(columns="y")) - frame["y"]
    lower, upper = model.predict_interval(frame.drop(columns="y"), 0.9)
    (method,) = shown["targets"][0]["methods"]
    values = {name: score["value"] for name, score in method["scores"].items()}
    assert values["rmse"] == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert values["coverage"] == np.mean((lower <= frame["y"]) & (frame["y"] <= upper))
    printed = run("evaluate", regressor, path).stdout
    assert f"{values['rmse']:.3g}" in printed
    assert "for the rows of this file" in " ".join(printed.split())


@pytest.mark.thorough
def test_rows_without_a_target_are_passed_over(regressor, tmp_path):
    frame = fresh()
    frame.loc[::4, "y"] = np.nan
    path = write(frame, tmp_path / "new.csv")
    assert json.loads(run("evaluate", regressor, path, "--json").stdout)["n"] == 30
    written = run("predict", regressor, path)
    assert len(pd.read_csv(pd.io.common.StringIO(written.stdout))) == 40
    assert "Errors at 30 rows with 'y': RMSE " in written.stderr


def check_kinds_of_rows(path_of_model, folder):
    """Errors of rows with a gap, a new level or a large number are shown, next to other rows."""
    frame = fresh()
    frame[["a", "b"]] *= 0.2  # Within the range of the fit
    frame.loc[:5, "a"] = np.nan
    frame.loc[4:11, "colour"] = "pink"
    frame.loc[12:19, "a"] = 9.0
    path = write(frame, folder / "new.csv")
    shown = json.loads(run("evaluate", path_of_model, path, "--json").stdout)
    found = {kind["kind"]: kind for kind in shown["targets"][0]["kinds_of_rows"]}
    model, features = library.load(path_of_model), frame.drop(columns="y")
    residual = (model.predict(features) - frame["y"]).to_numpy()
    lower, upper = model.predict_interval(features, 0.9)
    is_covered = ((lower <= frame["y"]) & (frame["y"] <= upper)).to_numpy()
    rows = {
        "like the training rows": slice(20, 40),
        "missing": slice(0, 6),
        "new level": slice(4, 12),
        "beyond the range": slice(12, 20),
    }
    assert list(found) == list(rows)
    for kind, part in rows.items():
        assert found[kind]["n"] == len(residual[part])
        scores = found[kind]["scores"]
        assert scores["rmse"]["value"] == pytest.approx(np.sqrt(np.mean(residual[part] ** 2)))
        assert scores["coverage"]["value"] == pytest.approx(np.mean(is_covered[part]))
    printed = run("evaluate", path_of_model, path).stdout
    assert re.search(r"^kind of rows +rows +RMSE +MAE +coverage$", printed, re.M)
    value = found["missing"]["scores"]["rmse"]["value"]
    assert re.search(rf"^with a missing entry +6 +{value:.2f} ", printed, re.M)


def test_errors_by_kind_of_rows(regressor, tmp_path):
    check_kinds_of_rows(regressor, tmp_path)


def test_a_table_without_the_target_cannot_be_evaluated(regressor, tmp_path):
    path = write(fresh().drop(columns="y"), tmp_path / "new.csv")
    message = refusal(tmp_path, "evaluate", regressor, path)
    assert "no row with a known target 'y'" in message


def test_contributions_of_a_row_add_up(regressor, tmp_path):
    frame = fresh()
    path = write(frame, tmp_path / "new.csv")
    shown = json.loads(run("explain", regressor, path, "--row", "3", "--json").stdout)
    (row,) = shown["rows"]
    assert row["row"] == 3
    total = shown["average"][0] + np.sum(row["contributions"][0])
    assert total == pytest.approx(row["prediction"][0], rel=1e-9)
    expected = library.load(regressor).predict(frame.drop(columns="y"))[2]
    assert row["prediction"][0] == pytest.approx(expected)
    printed = run("explain", regressor, path, "--row", "3").stdout
    assert f"'y' is predicted as {expected:.4g}" in printed
    for name, value in zip(shown["columns"], row["contributions"][0], strict=True):
        assert re.search(rf"^{name} .*{re.escape(f'{value:+.4g}')} ", printed, re.M)


def test_contributions_are_written_for_all_rows(classifier, tmp_path):
    path = write(labelled(170).tail(20), tmp_path / "new.csv")
    out = tmp_path / "c.csv"
    run("explain", classifier, path, "--out", out)
    found = pd.read_csv(out)
    assert sorted(set(found["output"])) == ["high", "low"]
    assert found["row"].tolist() == 2 * list(range(1, 21))
    sums = found[["average", "a", "b", "colour"]].sum(axis=1)
    np.testing.assert_allclose(sums, found["prediction"], atol=1e-9)
    both = found.groupby("row")["prediction"].sum()
    np.testing.assert_allclose(both, 1.0, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("keep", "columns"), [("none", []), ("id", ["who"]), ("all", ["who", "a", "b", "colour", "y"])]
)
def test_columns_are_kept(named, tmp_path, keep, columns):
    frame = fresh(5).assign(who=[f"new {i}" for i in range(5)])[["who", "a", "b", "colour", "y"]]
    path, out = write(frame, tmp_path / "new.csv"), tmp_path / "p.csv"
    run("predict", named, path, "--keep", keep, "--out", out)
    found = pd.read_csv(out)
    assert list(found.columns) == [*columns, "prediction"]
    pd.testing.assert_frame_equal(found[columns], frame[columns])
    clash = write(frame.assign(prediction=1.0), tmp_path / "clash.csv")
    if keep == "all":
        message = refusal(tmp_path, "predict", named, clash, "--keep", keep)
        assert "keeps a column 'prediction'" in message


def test_the_table_comes_from_standard_input(regressor, tmp_path):
    from cli.command import CliRunner, app

    text = fresh().to_csv(index=False)
    result = CliRunner().invoke(app, ["predict", str(regressor), "-"], input=text)
    assert result.exit_code == 0, result.output
    expected = run("predict", regressor, write(fresh(), tmp_path / "x.csv"))
    assert result.stdout == expected.stdout


@pytest.mark.thorough
def test_several_targets(tmp_path):
    frame = table().assign(z=lambda f: 3.0 * f["a"] - f["y"])
    model = fit(tmp_path, frame, "--target", "z")
    loaded = library.load(model)
    assert loaded.record_["target"] == ["y", "z"]
    features = frame[["a", "b", "colour"]].head(6)
    path = write(features, tmp_path / "new.csv")
    text = run("predict", model, path, "--interval", "90").stdout
    found = pd.read_csv(pd.io.common.StringIO(text))
    np.testing.assert_allclose(
        found[["y_prediction", "z_prediction"]], loaded.predict(features), rtol=5e-4, atol=1e-3
    )
    lower, _ = loaded.predict_interval(features, 0.9)
    np.testing.assert_allclose(found[["y_lower", "z_lower"]], lower, rtol=5e-4, atol=1e-3)
    shown = json.loads(run("evaluate", model, write(frame, tmp_path / "t.csv"), "--json").stdout)
    assert [target["name"] for target in shown["targets"]] == ["y", "z"]


@pytest.mark.thorough
def test_rows_with_a_target_that_no_prediction_has_are_counted(classifier, regressor, tmp_path):
    frame = labelled(40)
    frame.loc[:9, "y"] = "middle"
    path = write(frame, tmp_path / "new.csv")
    message = "Errors leave out 10 rows: 'y' is not a class of the training rows (row 1: 'middle')."
    shown = " ".join(run("evaluate", classifier, path).stdout.split())  # Lines of 80 characters
    assert message in shown
    assert message in run("predict", classifier, path).stderr
    message = "Errors leave out 40 rows: 'y' holds text, and held numbers in the fit"
    assert message in refusal(tmp_path, "evaluate", regressor, path)
    frame = fresh(20)
    frame.loc[3, "y"] = 1e140
    found = run("evaluate", regressor, write(frame, tmp_path / "far.csv")).stdout
    assert "leave out 1 row: 'y' is beyond 1e+100 in size (row 4: 1e+140)" in found
    assert "nan" not in found
