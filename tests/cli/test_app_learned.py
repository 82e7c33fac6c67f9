"""What a user does with models that learn their kernel: `bochner fit --model bank`."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from cli.command import (
    QUICK,
    SMALL,
    bochner,
    fit,
    labelled,
    predict,
    refusal,
    table,
    usage_error,
    write,
)

import bochner as library
from bochner.cli.inspecting import encoded_columns
from bochner.estimators.learned_tables import LearnedTableClassifier, LearnedTableRegressor

PICTURES = {"kernel.png", "spectrum.png", "relevance.png", "trace.png", "predictions.png"}


def yearly(n_rows=200):
    """A number with a period of one and a half units, over a range of twelve."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0.0, 12.0, n_rows))
    y = 5.0 + 2.0 * np.sin(2.0 * np.pi * t / 1.5) + 0.1 * rng.normal(size=n_rows)
    return pd.DataFrame({"time": t, "y": y})


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    path, out, pictures = write(yearly(), folder / "t.csv"), folder / "m.bochner", folder / "p"
    result = bochner(
        "fit", path, "--target", "y", "--out", out, "--pictures", pictures, *QUICK
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return out, result, pictures


def periods(output):
    """The first period of `time` in what was printed, and its share."""
    found = re.search(r"periods of time\s+([\d.]+) \((\d+)%\)", output)
    return float(found.group(1)), int(found.group(2))


def test_it_finds_the_period_in_the_units_of_the_table(learned):
    length, share = periods(learned[1].stdout)
    assert length == pytest.approx(1.5, rel=0.03)
    assert share > 30


def test_it_says_what_it_has_learned(learned):
    out, result, _ = learned
    flat = " ".join(result.stdout.split())
    assert "Regression of 'y' from 1 column: 160 rows to fit, 40 to test, 48 features." in flat
    for part in ("frequencies 24, dense", "draws 8", "R-hat", "time 100.0% 100.0%"):
        assert part in flat
    assert re.search(r"components \d+", flat)
    record = library.load(out).record_
    assert f"intervals cover {record['test_coverage']:.1%} of the test rows" in flat


def test_inspect_shows_the_same(learned):
    out, result, _ = learned
    shown = bochner("inspect", out)
    assert shown.exit_code == 0
    assert periods(shown.stdout) == periods(result.stdout)
    flat = " ".join(shown.stdout.split())
    for part in ("model LearnedTableRegressor", "n samples 160", "frequencies 24", "time numeric"):
        assert part in flat


def test_pictures(learned):
    _, result, folder = learned
    assert {path.name for path in folder.iterdir()} == PICTURES
    for name in PICTURES:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
        assert name in result.stdout.replace("\n", "")


def test_predictions_are_those_of_the_loaded_model(learned):
    out = learned[0]
    model, features = library.load(out), yearly(30)[["time"]]
    assert isinstance(model, LearnedTableRegressor)
    mean, std = model.predict(features, return_std=True)
    found = predict(out, features, "--std")
    np.testing.assert_array_equal(found["prediction"], mean)
    np.testing.assert_array_equal(found["std"], std)
    assert np.sqrt(np.mean((mean - yearly(30)["y"]) ** 2)) < 0.5


def test_three_classes(tmp_path):
    frame = labelled()
    frame.loc[frame["b"] > 1.0, "y"] = "far"
    path, out, folder = write(frame, tmp_path / "t.csv"), tmp_path / "m.bochner", tmp_path / "p"
    result = bochner(
        "fit", path, "--target", "y", "--out", out, "--pictures", folder, *QUICK
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "intervals cover" not in result.stdout
    assert "components" in result.stdout
    traces = {f"trace-{number}.png" for number in range(3)}
    kept = PICTURES - {"trace.png", "predictions.png"}
    assert {path.name for path in folder.iterdir()} == kept | traces
    model = library.load(out)
    assert isinstance(model, LearnedTableClassifier)
    found = predict(out, frame.drop(columns="y"))
    assert set(found["prediction"]) <= {"high", "low", "far"}
    assert np.mean(found["prediction"] == frame["y"]) > 0.7
    assert found["probability"].between(1.0 / 3.0, 1.0).all()


def test_a_level_that_no_row_had(tmp_path):
    model = fit(tmp_path, table(), settings=QUICK)
    frame = table(4).assign(colour=["red", "violet", None, "blue"])
    assert np.isfinite(predict(model, frame)["prediction"]).all()
    assert "unknown" not in bochner("inspect", model).stdout


def test_inspect_a_model_of_python(tmp_path):
    path, frame = tmp_path / "m.bochner", yearly()
    X, y = frame[["time"]].to_numpy(), frame["y"].to_numpy()
    model = library.BaNKRegressor(12, n_burn_in=20, n_samples=20, random_state=0)
    with warnings.catch_warnings(action="ignore"):
        library.save(model.fit(X, y), path)
    flat = " ".join(bochner("inspect", path).stdout.split())
    assert flat.startswith("model BaNKRegressor frequencies 12, dense components")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "bnak"), "bank, gabasr, fourier, got 'bnak'. Did you mean"),
        (("--kernel", "matern"), "--kernel is an option of --model fourier"),
        (("--n-components", "64"), "--n-components is an option of --model fourier"),
        (("--model", "fourier", "--n-frequencies", "8"), "--n-frequencies is an option of --model"),
        (("--model", "fourier", "--trend", "1"), "--trend is an option of --model bank"),
        (("--model", "fourier", "--time-limit", "9"), "--time-limit is an option of --model bank"),
        (("--model", "fourier", "--pictures", "p"), "--pictures show what --model bank"),
        (("--pictures", "t.csv"), "t.csv is a file: expected the name of a folder"),
    ],
)
def test_options_of_the_other_model(tmp_path, good, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "m.bochner"
    assert message in refusal(tmp_path, "fit", good, "--target", "y", "--out", out, *options)


@pytest.mark.parametrize("option", [("--trend", "3"), ("--n-frequencies", "0")])
def test_numbers_out_of_range(good, option):
    assert option[0] in usage_error("fit", good, "--target", "y", *option)


def test_a_locally_stationary_model_shows_its_envelope_in_the_units_of_the_table(tmp_path):
    frame, out, folder = yearly(), tmp_path / "m.bochner", tmp_path / "p"
    path = write(frame, tmp_path / "t.csv")
    files = ("--out", out, "--pictures", folder)
    result = bochner("fit", path, "--target", "y", "--model", "gabasr", *files, *QUICK)
    assert result.exit_code == 0, result.output
    assert {file.name for file in folder.iterdir()} == {*PICTURES, "envelope.png", "local.png"}
    model = library.load(out)
    assert isinstance(model.head_, library.GaBaSRRegressor)
    rows, inputs = frame[["time"]], encoded_columns(model)
    # The encoder clips what lies beyond three deviations, and nothing here does.
    np.testing.assert_allclose(inputs.decoded(model.encode(rows)), rows, atol=1e-9)
    np.testing.assert_allclose(inputs.encoded(rows.to_numpy()), model.encode(rows), atol=1e-9)
    np.testing.assert_array_equal(predict(out, rows)["prediction"], model.predict(rows))


def test_both_models_give_std_for_numbers_only(tmp_path):
    for settings in (QUICK, SMALL):
        model = fit(tmp_path, labelled(), settings=settings)
        message = refusal(tmp_path, "predict", model, tmp_path / "train.csv", "--std")
        assert "--std is for regression" in message
