"""What a user does with `bochner forecast`: files in, forecasts and reports out."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from cli.command import bochner, refusal, write

import bochner as library
from bochner import Forecaster
from bochner.comparison.forecast_words import model_facts

RNG = np.random.default_rng(0)
MONTHS = pd.date_range("2015-01-01", periods=72, freq="MS")
SALES = 200.0 + np.arange(72.0) + 30.0 * np.sin(np.arange(72.0) * np.pi / 6.0)
SALES = (SALES + 3.0 * RNG.normal(size=72)).round(2)


def sales(n=72):
    return pd.DataFrame({"date": MONTHS[:n].strftime("%Y-%m-%d"), "sales": SALES[:n]})


def forecast(folder, frame, *options, target="sales"):
    """Run the command on a table, and return the result and the forecast that it wrote."""
    path = write(frame, folder / "series.csv")
    out = folder / "forecast.csv"
    result = bochner("forecast", path, "--target", target, "--out", out, *options)
    assert result.exit_code == 0, result.output
    return result, pd.read_csv(out)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forecast")
    files = {name: folder / f"sales.{name}" for name in ("html", "bochner")}
    options = ("--report", files["html"], "--model", files["bochner"])
    return *forecast(folder, sales(60), "--horizon", "12", *options), files


def test_the_forecast_is_that_of_the_forecaster(made):
    _, frame, files = made
    assert list(frame) == ["date", "forecast", "lower", "upper"]
    assert list(frame["date"]) == list(MONTHS[60:].strftime("%Y-%m-%d"))
    series = pd.Series(SALES[:60], index=MONTHS[:60])
    model = Forecaster(random_state=0).fit(series)
    lower, upper = model.predict_interval(12, 0.9)
    for name, expected in (("forecast", model.predict(12)), ("lower", lower), ("upper", upper)):
        np.testing.assert_allclose(frame[name], expected, atol=0.005)  # Two decimals
    assert np.abs(frame["forecast"] - SALES[60:]).mean() < 5.0
    again = library.load(files["bochner"]).predict(12)
    np.testing.assert_allclose(again, frame["forecast"], atol=0.005)


def test_the_screen_has_the_series_the_errors_and_the_values(made):
    result, frame, files = made
    screen = result.stdout
    assert "60 values, 2015-01-01 to 2019-12-01" in " ".join(screen.split())
    said = " ".join(screen.split())
    assert re.search(
        r"Past forecasts have a mean absolute error of \d.\d+; that of the .* \d+ % larger", said
    )
    assert re.search(
        r"The next 12 months: about [\d.]+ a month on average \(90 % interval [\d.]+ to", said
    )
    assert re.search(
        r"12 steps from 3 origins +mean absolute error +RMSE +error relative to bochner", screen
    )
    assert re.search(r"The 90 % intervals contained \d+\.\d % of 36 past values, ", said)
    assert "Past forecasts begin at 2017-01-01, 2018-01-01, 2019-01-01." in said
    places = [frame["forecast"].idxmin(), frame["forecast"].idxmax()]
    for name, place in zip(("lowest", "highest"), places, strict=True):
        assert re.search(rf"{name} [\d.]+ \([\d.]+ to [\d.]+\) at {frame['date'][place]}", said)
    assert re.search(rf"2020-12-01 +{frame['forecast'].iloc[-1]:.1f}", screen)
    for path in files.values():
        assert str(path) in screen
        assert path.stat().st_size > 1000
    assert all(len(line) <= 80 for line in screen.splitlines() if "/" not in line)


def test_the_report_has_its_sections(made):
    *_, files = made
    page = files["html"].read_text(encoding="utf-8")
    for title in ("Forecast", "Errors from past origins", "Components", "Values"):
        assert re.search(rf"<h2[^>]*>.*{title}", page)
    assert page.count("<svg") >= 2
    assert re.search(r"<th[^>]*><button[^>]*><bdi>date</bdi>", page)  # As in the file
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_model_of_a_series_says_what_it_is_for(made, tmp_path):
    """`bochner predict` names the ways to use it, and `explain` has the words of `forecast`."""
    result, _, files = made
    path = write(sales(), tmp_path / "new.csv")
    said = refusal(tmp_path, "predict", files["bochner"], path)
    assert "holds a model of a series" in said
    assert "`bochner explain`" in said
    shown = " ".join(bochner("explain", files["bochner"]).stdout.split())
    series = next(iter(library.load(files["bochner"]).series_.values()))
    for name, text in model_facts(series).items():
        assert f"{name.lower()} {text}" in shown
        assert text in " ".join(result.stdout.split())
    assert "independent" not in shown


@pytest.mark.thorough
def test_errors_from_past_origins_are_those_of_a_loop(tmp_path):
    """MASE of both methods, by fits and differences that are written out here."""
    result, _ = forecast(tmp_path, sales(), "--horizon", "12", "--json")
    ((record),) = json.loads(result.stdout)["series"]
    found = record["from_past_origins"]
    ours, repeated, sizes = [], [], []
    for origin in (36, 48, 60):
        series = pd.Series(SALES[:origin], index=MONTHS[:origin])
        scale = np.abs(SALES[12:origin] - SALES[: origin - 12]).mean()
        mean = Forecaster(random_state=0).fit(series).predict(12)
        ours.extend(np.abs(mean - SALES[origin : origin + 12]) / scale)
        repeated.extend(np.abs(SALES[origin - 12 : origin] - SALES[origin : origin + 12]) / scale)
        sizes.append(scale)
    assert found["mase"] == pytest.approx(np.mean(ours), rel=1e-6)
    other = found["others"]["last year repeated"]
    assert other["mase"] == pytest.approx(np.mean(repeated), rel=1e-12)
    in_units = [np.mean(each * np.repeat(sizes, 12)) for each in (ours, repeated)]
    found_in_units = [found["mae"], other["mae"]]
    assert found_in_units == pytest.approx(in_units, rel=1e-6)
    assert (found["n_origins"], found["horizon"]) == (3, 12)


@pytest.mark.thorough
def test_rows_without_a_value_are_forecast(tmp_path):
    frame = sales()
    frame.loc[66:, "sales"] = np.nan
    frame.loc[30, "sales"] = np.nan  # Unknown, not to be forecast
    _, found = forecast(tmp_path, frame.sample(frac=1.0, random_state=0), "--no-compare")
    assert list(found["date"]) == list(frame["date"][66:])
    assert np.abs(found["forecast"] - SALES[66:]).mean() < 5.0


def shops():
    """Two series of days with a known price, whose last seven values are to be forecast."""
    days = pd.date_range("2022-01-01", periods=120, freq="D")
    parts = []
    for name, level in (("north", 50.0), ("007", 80.0)):
        price = RNG.choice([10.0, 12.0], 120)
        units = level - 5.0 * (price - 10.0) + RNG.normal(size=120)
        units[-7:] = np.nan
        parts.append(pd.DataFrame({"day": days, "shop": name, "units": units, "price": price}))
    return pd.concat(parts)


@pytest.mark.thorough
def test_several_series_with_a_known_input(tmp_path):
    frame = shops()
    options = ("--series", "shop", "--known", "price", "--no-compare")
    result, found = forecast(tmp_path, frame, *options, target="units")
    assert list(found) == ["shop", "day", "forecast", "lower", "upper"]
    written = (tmp_path / "forecast.csv").read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in written] == ["north"] * 7 + ["007"] * 7
    later = frame[frame["units"].isna()]
    expected = np.repeat([50.0, 80.0], 7) - 5.0 * (later["price"].to_numpy() - 10.0)
    np.testing.assert_allclose(found["forecast"], expected, atol=2.0)
    assert re.search(r"north +2022-04-30", result.stdout)


@pytest.mark.thorough
def test_holidays_are_inputs(tmp_path):
    pytest.importorskip("holidays")
    days = pd.date_range("2020-01-01", "2022-12-20", freq="D")
    is_christmas = (days.month == 12) & (days.day == 25)
    values = 100.0 - 50.0 * is_christmas + RNG.normal(size=len(days))
    frame = pd.DataFrame({"day": days, "visits": values})
    options = ("--holidays", "DE", "--horizon", "7", "--no-compare")
    result, found = forecast(tmp_path, frame, *options, target="visits")
    assert "Christmas Day" in result.stdout
    by_day = found.set_index("day")["forecast"]
    assert by_day["2022-12-25"] < 75.0 < by_day["2022-12-24"]


@pytest.mark.thorough
def test_dates_with_offsets_keep_their_clock(tmp_path):
    """Hours of a place whose clock changes: the peak stays at the same hour of the clock."""
    hours = pd.date_range("2024-03-20", "2024-04-04", freq="h", tz="Europe/Berlin")
    values = 10.0 + 5.0 * np.cos(2.0 * np.pi * (hours.hour - 8) / 24.0)
    frame = pd.DataFrame({"t": [hour.isoformat() for hour in hours], "y": values})
    frame["y"] += 0.05 * RNG.normal(size=len(frame))
    _, found = forecast(tmp_path, frame, "--horizon", 24, "--no-compare", target="y")
    assert found["t"].str.endswith("+02:00").all()
    peak = found["t"][found["forecast"].idxmax()]
    assert "08:00" in peak
    np.testing.assert_allclose(found["forecast"].max(), 15.0, atol=0.2)


TWICE = pd.concat([sales(20), sales(20)])
SHORT = sales().assign(price=1.0, word="a").assign(number=np.arange(72.0))

REFUSED = {
    "no horizon": (sales(), (), "How far to forecast is not known: give --horizon"),
    "a time twice": (TWICE, ("--horizon", 3), "in rows 1 and 21. Name the column .*--series"),
    "no column": (sales(), ("--horizon", 3, "--known", "prise"), "No column 'prise' in the table"),
    "text as time": (SHORT, ("--horizon", 3, "--time", "word"), "holds text .*: expected dates"),
    "known too short": (SHORT, ("--horizon", 3, "--known", "price"), "reach 0 rows beyond"),
    "a time that is a known input": (
        sales(), ("--horizon", 3, "--known", "date"), "'date' has two roles: the times"
    ),
    "the table twice on standard output": (
        sales(), ("--horizon", 3, "--json", "--out", "-"), "both write to standard output"
    ),
    "few values": (sales(5), ("--horizon", 3), "needs at least 8 known values"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_forecast_is_refused(case, tmp_path, monkeypatch):
    frame, options, message = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    path = write(frame, tmp_path / "series.csv")
    said = refusal(tmp_path, "forecast", path, "--target", "sales", *map(str, options))
    assert re.search(message, said), said
    assert [each.name for each in tmp_path.iterdir()] == ["series.csv"]


def several(**changed):
    """A table of three series, of which some have other rows."""
    parts = {"a": sales(40), "b": sales(40), "c": sales(40)} | changed
    return pd.concat([part.assign(shop=name) for name, part in parts.items()], ignore_index=True)


@pytest.mark.thorough
def test_a_series_that_cannot_be_forecast_leaves_the_others(tmp_path):
    """The others are forecast as alone, and the reasons are named at the end."""
    constant = sales(40).assign(sales=1.0)
    frame = several(b=sales(5), c=constant, d=TWICE, e=sales(40))
    path, out = write(frame, tmp_path / "series.csv"), tmp_path / "forecast.csv"
    options = ("--target", "sales", "--series", "shop", "--horizon", "3", "--no-compare")
    report = tmp_path / "forecast.html"
    result = bochner("forecast", path, *options, "--out", out, "--json", "--report", report)
    assert result.exit_code == 1, result.output
    said = " ".join(result.stderr.split())
    assert "3 of 5 series have no forecast:" in said
    assert "'b': A forecast needs at least 8 known values" in said or "'b': " in said
    assert "'d': The time" in said
    record = json.loads(result.stdout)
    assert sorted(record["refused"]) == ["b", "c", "d"]
    page = html.unescape(re.sub(r"<[^>]+>", "", report.read_text(encoding="utf-8")))
    page = re.sub(r"\s", " ", page)
    assert page.count("without 3 series that have no forecast") >= 1
    for name, reason in record["refused"].items():
        assert re.search(rf"{name}\s+{re.escape(reason)}", page), name
    found = pd.read_csv(out)
    assert found["shop"].tolist() == ["a"] * 3 + ["e"] * 3
    out.unlink()  # A table of another input is not replaced
    _, alone = forecast(tmp_path, sales(40), "--horizon", "3", "--no-compare")
    np.testing.assert_allclose(found["forecast"][:3], alone["forecast"])


def test_a_horizon_of_irregular_times_is_refused_with_advice(tmp_path):
    places = np.unique(np.geomspace(1, 70, 25).astype(int))
    path = write(sales().iloc[places], tmp_path / "series.csv")
    options = ("--target", "sales", "--horizon", "3", "--no-compare")
    said = refusal(tmp_path, "forecast", path, *options)
    assert "are irregular, so that --horizon 3 has no unit" in said
    assert "in FILE or by --future" in said
