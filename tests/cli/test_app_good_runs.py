"""What a user does with `bochner fit`, `predict` and `explain`."""

import csv
import io
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.command import SMALL, app, bochner, fit, labelled, predict, table, write
from typer.main import get_command

import bochner as library
from bochner import TableRegressor
from bochner.cli import fitting
from bochner.cli.model_files import _unlike
from bochner.tables.table_checks import training_rows

COMPARED, COLUMNS = ("--effort", "quick"), "important columns"
COMMANDS = ("fit", "predict", "evaluate", "explain", "forecast", "diagnose", "demo")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_an_example_that_the_command_takes(name, tmp_path, monkeypatch):
    """The example is parsed, and fails only because its files do not exist."""
    monkeypatch.chdir(tmp_path)
    result = bochner(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: bochner {name}" in result.stdout
    example = " ".join(result.stdout.split("Example: bochner ")[1].split())
    if name != "demo":
        refused = bochner(*example.split())
        assert refused.exit_code == 2
        assert "houses" in refused.stderr or "sales" in refused.stderr
        assert "Usage" not in refused.stderr


def test_all_commands_have_at_most_sixty_options():
    """Those of reading a file are the same for all commands, and counted once."""
    reading = {"decimal", "dates", "types", "missing", "skip", "header", "table"}
    reading |= {"encoding", "fill_down", "bad_lines"}
    commands = get_command(app).commands
    options = [
        {each.name for each in command.params if each.param_type_name == "option"}
        for command in commands.values()
    ]
    assert reading <= set().union(*options)
    assert sum(len(names - reading) for names in options) + len(reading) <= 60


def test_the_commands_and_the_version_are_listed():
    result = bochner("--help")
    assert set(COMMANDS) <= set(result.stdout.split())
    assert bochner("--version").stdout == f"bochner {library.__version__}\n"
    module = subprocess.run(
        [sys.executable, "-m", "bochner", "--version"], capture_output=True, check=True, text=True
    )
    assert module.stdout == f"bochner {library.__version__}\n"


def row(output, method):
    """Return the values of a method's errors, without their standard errors."""
    line = re.search(rf"^{re.escape(method)}  .*", output, re.MULTILINE)[0]
    line = re.sub(r" ± \S+", "", line.removeprefix(method).replace(" %", "").replace("< ", ""))
    return [np.nan if cell == "–" else float(cell) for cell in line.split()]


@pytest.mark.thorough_cases(but="True")
@pytest.mark.parametrize("has_catboost", [False, True])
def test_fit_compares_methods_and_states_the_coverage(has_catboost, tmp_path, monkeypatch):
    if has_catboost:
        pytest.importorskip("catboost")
    else:
        monkeypatch.setitem(sys.modules, "catboost", None)
    path, out = write(table(), tmp_path / "t.csv"), tmp_path / "m.bochner"
    result = bochner("fit", path, "--target", "y", *COMPARED, "--out", out)
    assert result.exit_code == 0
    assert all(line.startswith("after ") for line in result.stderr.splitlines())
    flat = " ".join(result.stdout.split())
    whole = "".join(result.stdout.split())  # Long paths are folded
    assert "t.csv:150rows,3columns(2ofnumbers,1oftext)." in whole
    assert "120 rows to fit, 30 to test. The test rows were chosen at random." in flat
    assert ("CatBoost" in result.output) == has_catboost
    methods = ["bochner", "linear model", "RBFSampler + RidgeCV", "gradient-boosted trees"]
    errors = {
        method: row(result.stdout, method) for method in methods + ["CatBoost"] * has_catboost
    }
    unit = errors["linear model"][0] ** 2 / (100.0 - errors["linear model"][2])
    for rmse, mae, explained, *_ in errors.values():
        assert 0.0 < mae < rmse < 3.0
        assert explained == pytest.approx(100.0 - rmse**2 / unit, abs=0.2)
    order = sorted(errors, key=lambda method: errors[method][0])
    places = [result.stdout.index(f"\n{method} ") for method in order]
    assert places == sorted(places)
    record = library.load(out).record_
    assert errors["bochner"][3] == pytest.approx(100 * record["test_coverage"], abs=0.05)
    assert errors["bochner"][0] == pytest.approx(record["test_rmse"], rel=5e-3)
    assert f"intervals contain {100 * record['test_coverage']:.1f} % of the 30 test" in flat


@pytest.mark.thorough
def test_classes_are_compared_by_their_log_loss(tmp_path):
    path, out = write(labelled(), tmp_path / "t.csv"), tmp_path / "m.bochner"
    result = bochner("fit", path, "--target", "y", *COMPARED, "--out", out)
    assert result.exit_code == 0
    assert "intervals" not in result.stdout
    loss, error, area, _ = row(result.stdout, "bochner")
    record = library.load(out).record_
    assert error == pytest.approx(100.0 * record["test_error"], abs=0.05)
    assert loss == pytest.approx(record["test_log_loss"], abs=0.005)
    assert area == pytest.approx(record["test_auc"], rel=1e-3)
    assert error < 30.0
    flat = " ".join(result.stdout.split())
    assert f"The predicted 'y' is right for {100 - error:.0f} % of new rows" in flat
    assert np.isfinite(row(result.stdout, "gradient-boosted trees")).all()
    assert np.isnan(row(result.stdout, "RBFSampler + RidgeCV")[0])


@pytest.mark.thorough
def test_a_seed_makes_the_same_file(tmp_path):
    one, two, other = (
        fit(tmp_path, table(), "--seed", seed, out=f"{i}.bochner") for i, seed in enumerate("778")
    )

    def content(path):
        return path.read_bytes()

    assert content(one) == content(two)
    assert content(one) != content(other)


def test_predictions_are_those_of_the_loaded_model(regressor, tmp_path):
    features = table(20).drop(columns="y")
    loaded = library.load(regressor)
    mean = loaded.predict(features)
    found = predict(regressor, features)
    assert list(found.columns) == ["prediction"]
    np.testing.assert_allclose(found["prediction"], mean, rtol=5e-4, atol=0.005 * loaded.score_)
    assert found["prediction"].astype(str).str.len().max() <= 10
    out = tmp_path / "out.csv"
    result = bochner("predict", regressor, write(features, tmp_path / "x.csv"), "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith(f"Table  {out}: 20 rows\nOne of the 20 rows is unlike")
    np.testing.assert_array_equal(pd.read_csv(out)["prediction"], found["prediction"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "x.csv"]
    again = tmp_path / "again.bochner"
    library.save(loaded, again)
    np.testing.assert_array_equal(library.load(again).predict(features), mean)


def test_the_summary_in_a_file_is_that_of_the_model_and_shown_without_its_libraries(
    regressor, tmp_path
):
    result = bochner("explain", regressor)
    model = library.load(regressor)
    del model.record_["summary"]
    library.save(model, tmp_path / "m.bochner")
    examined = bochner("explain", tmp_path / "m.bochner").stdout.splitlines()
    assert examined[:-2] == result.stdout.splitlines()[:-2]  # The last lines have the path
    lines = "import pathlib, sys; from bochner.cli.stored_summary import print_stored as show"
    command = (
        f"{lines}; assert show(pathlib.Path(sys.argv[1])); assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", command, str(regressor)], check=True, stdout=-3)


def test_the_effect_of_a_column_is_printed_drawn_and_written(regressor, tmp_path):
    effect = library.load(regressor).effect("a", n_values=16)
    picture, out = tmp_path / "a.svg", tmp_path / "a.csv"
    result = bochner("explain", regressor, "--column", "a", "--plot", picture, "--out", out)
    heading, *lines = result.stdout.splitlines()
    assert heading.split()[:5] == ["a", "average", "y", "lower", "upper"]
    assert len(lines) == 16
    places = [line.index("o", len("a  average y")) for line in lines]
    assert np.argmax(places) == np.argmax(effect.mean)
    assert np.argmin(places) == np.argmin(effect.mean)
    assert "<svg" in picture.read_text()
    np.testing.assert_allclose(pd.read_csv(out)["mean"], effect.mean)
    points = json.loads(bochner("explain", regressor, "--column", "a", "--json").stdout)["effect"]
    np.testing.assert_allclose([point["upper"] for point in points], effect.upper, rtol=1e-6)
    shares = json.loads(bochner("explain", regressor, "--json").stdout)["importance"]
    assert len(shares) == 3


def shares(output, heading):
    """Return the shares that are printed under a heading, by name."""
    lines = output.split(f"\n{heading} ")[1].splitlines()[1:]
    rows = [line.split("  ") for line in lines[: [*lines, ""].index("")]]
    return {cells[0]: next(cell.strip() for cell in cells[1:] if cell) for cells in rows}


@pytest.mark.thorough
def test_weights_groups_and_times_are_those_of_the_table(tmp_path):
    frame = table(200).assign(w=np.arange(200) // 20 % 2, who=[f"p{i % 20}" for i in range(200)])
    by_group = fit(tmp_path, frame, "--weight", "w", "--group", "who")
    model = library.load(by_group)
    assert list(model.feature_names_in_) == ["a", "b", "colour"]
    # Four of twenty groups are for tests, and half the rows of each group have no weight.
    assert (model.record_["n_test_samples"], model.record_["n_samples"]) == (40, 80)
    features = frame.drop(columns=["y", "w", "who"])
    pd.testing.assert_frame_equal(
        predict(by_group, frame.drop(columns="y")), predict(by_group, features)
    )
    late = frame.drop(columns=["w", "who"]).assign(day=pd.date_range("2020-01-01", periods=200))
    late.loc[late.index[-40:], "y"] += 1000.0
    by_time = library.load(fit(tmp_path, late.iloc[::-1], "--time", "day"))
    assert "day" in by_time.feature_names_in_
    assert by_time.record_["n_test_samples"] == 40
    assert by_time.target_mean_ < 10.0


def test_intervals_and_quantiles_are_those_of_the_model(regressor):
    features = table(20).drop(columns="y")
    options = "--interval", "0.8", "--quantiles", "0.1, 0.5"
    found = predict(regressor, features, *options)
    assert list(found.columns) == ["prediction", "lower", "upper", "q0.1", "q0.5"]
    model = library.load(regressor)
    ends = np.array(model.predict_interval(features, 0.8)).T
    near = partial(np.testing.assert_allclose, rtol=5e-4, atol=0.005 * model.score_)
    near(found[["lower", "upper"]], ends)
    near(found[["q0.1", "q0.5"]], model.predict_quantiles(features, (0.1, 0.5)))


def test_a_target_in_the_file_is_passed_over(regressor):
    full = table(5)
    expected = predict(regressor, full.drop(columns="y"))
    for frame in (full[["y", "a", "b", "colour"]].assign(y=np.nan), full.assign(y="unknown")):
        pd.testing.assert_frame_equal(predict(regressor, frame), expected)


def test_notes_on_rows_unlike_the_training_rows():
    """The note counts rows by reason, and has the first such entry of each column."""
    towns, colours = ["Rome", "Oslo"] * 30, ["red", "red", "blue"] * 20
    known = pd.DataFrame({"town": towns, "colour": colours, "size": np.arange(60.0)})
    model = library.TableRegressor(effort="quick", random_state=0).fit(known, known["size"])
    new = pd.DataFrame(
        {
            "colour": ["pink", "red", None, "red"],
            "town": ["Rome", "Oslo", "Paris", "Bern"],
            "size": [1.0, 2.0, 3.0, 80.0],
        }
    )
    for rows, start in (
        (slice(0, 4), "3 of the 4 rows are unlike the training rows: 1 has a missing entry in col"),
        (slice(1, 3), "One of the 2 rows is unlike the training rows: 1 has a missing entry in c"),
        (slice(0, 1), "The row is unlike the training rows: 1 has text that no training row had,"),
    ):
        assert _unlike(model, new.iloc[rows])[: len(start)] == start
    note = _unlike(model, new)
    assert (
        "3 have text that no training row had, in columns 'town' (Paris) and 'colour' (pink)"
        in note
    )
    assert "1 has an entry beyond the range of the fit in column 'size' (80" in note
    assert _unlike(model, known) == ""


@pytest.mark.thorough
def test_text_is_read_as_at_the_fit(tmp_path):
    codes = table().assign(colour=np.tile(["007", "2020-01-01", "True", "B2", "C3"], 30))
    coded = fit(tmp_path, codes)
    together = predict(coded, codes.head(5))["prediction"]
    assert together.nunique() == 5
    alone = [predict(coded, codes.iloc[[i]])["prediction"][0] for i in range(5)]
    np.testing.assert_allclose(alone, together, rtol=1e-9)  # Sums round by the number of rows


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ((3, 4), "34"),
        ((True, False), ["True", "False"]),
        (('say "a", b', "c\nd"), None),
        (("7a", "x"), None),
    ],
)
def test_labels_keep_their_type(tmp_path, labels, shown):
    frame = labelled()
    frame["y"] = [labels[0] if y == "high" else labels[1] for y in frame["y"]]
    labelling = fit(tmp_path, frame)
    found = predict(labelling, frame.drop(columns="y"))
    assert set(found["prediction"]) == set(labels)
    assert np.mean(found["prediction"] == frame["y"]) > 0.75
    names = [f"p_{label}" for label in sorted(labels)]
    assert list(found.columns) == ["prediction", *names]
    np.testing.assert_allclose(found[names].sum(axis=1), 1.0)
    likely = found[names].to_numpy().argmax(axis=1)
    assert (np.array(sorted(labels))[likely] == found["prediction"]).all()
    written = bochner("predict", labelling, labelling.parent / "new.csv").stdout
    if shown:
        assert {line.split(",")[0] for line in written.splitlines()[1:]} == set(shown)


@pytest.mark.thorough
def test_the_demo(tmp_path, monkeypatch):
    # README's example fits the same table with the default effort.
    quick = partial(TableRegressor, effort="quick", random_state=0)
    monkeypatch.setattr(fitting, "TableRegressor", lambda **_: quick())
    result = bochner("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 0, result.output
    about, fitted, predicted = result.stdout.split("$ bochner ")
    assert "Life expectancy" in about
    assert "rows to fit" in " ".join(fitted.split())
    rows, look = predicted.split("What to look at")
    predictions = csv.DictReader(rows[rows.index("country,") :].splitlines()[:5])
    width = {row["country"]: float(row["upper"]) - float(row["lower"]) for row in predictions}
    assert set(width) == {"Japan", "Brazil", "Botswana", "Estonia"}
    assert width["Botswana"] > 2.0 * width["Japan"]  # What the last lines point to
    (page,) = re.findall(r"^1\. (.*) in a browser", look, re.MULTILINE)
    text = Path(page).read_text(encoding="utf-8")
    assert all(f">{title}<" in text for title in re.findall(r'"(.*?)"', look))
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    ends = (".csv", ".bochner", ".html", "_2012.csv")
    assert written == {f"gapminder{end}" for end in ends}


@pytest.mark.thorough
@pytest.mark.parametrize("frame", [table(80), labelled(80)], ids=["numbers", "classes"])
def test_the_command_that_the_screen_advises_works(frame, tmp_path):
    path = write(frame, tmp_path / "train.csv")
    out = tmp_path / "model.bochner"
    result = bochner("fit", path, "--target", "y", "--out", out, *SMALL)
    (advice,) = re.findall(r"^Next +bochner (.*)$", result.stdout, re.MULTILINE)
    advised = bochner(*advice.replace("FILE", str(path)).split())
    assert advised.exit_code == 0, advised.stderr
    assert len(pd.read_csv(io.StringIO(advised.stdout))) == 80


def test_durations_are_a_target_in_hours(tmp_path):
    frame = table(60).drop(columns="y")
    seconds = 1800 + (300 * frame["a"]).round().astype(int)
    durations = [f"0:{second // 60:02}:{second % 60:02}" for second in seconds]
    found = predict(fit(tmp_path, frame.assign(y=durations)), frame)
    np.testing.assert_allclose(3600 * found["prediction"], seconds, atol=60)


def test_a_model_is_fitted_again_to_all_rows(tmp_path):
    """The saved model is that of all rows, and keeps the errors of the rows that were held out."""
    path = write(table(80), tmp_path / "rows.csv")
    command = ("fit", path, "--target", "y", *SMALL)
    plain, again = tmp_path / "plain.bochner", tmp_path / "again.bochner"
    assert "--refit fits it again" in bochner(*command, "--out", plain).stdout
    assert "fitted again to all rows" in bochner(*command, "--refit", "--out", again).stdout
    before, after = library.load(plain).record_, library.load(again).record_
    assert (before["n_samples"], after["n_samples"]) == (64, 80)
    assert after["test_rmse"] == before["test_rmse"]
    assert after["fingerprint"]["chance"] == before["fingerprint"]["chance"]
    assert training_rows(after["fingerprint"], table(80).drop(columns="y"))[0] == 80
