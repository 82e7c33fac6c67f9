"""The JSON output, the screen and the report state the numbers of the same rows."""

import io
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cli.command import table
from report.says import mean_error, says
from rich.console import Console
from sklearn.metrics import confusion_matrix, log_loss

from bochner.cli import explaining, forecasting, screen
from bochner.cli import predicting as evaluating
from bochner.cli.json_documents import evaluation_record, fit_record
from bochner.cli.predicting import rounded
from bochner.comparison.contenders import OURS
from bochner.comparison.forecast_fits import OriginScores, SeriesFits, SeriesForecast
from bochner.comparison.forecast_words import outlook_sentence, shown_times
from bochner.comparison.outcomes import Outcome, by_group
from bochner.comparison.simple_forecasts import THETA
from bochner.comparison.split import Split
from bochner.comparison.study import Study, table_facts
from bochner.files.series_table import SeriesColumns
from bochner.report import forecast_report as reports
from bochner.tables.contributions import Contributions
from bochner.tables.sensitivity import VarianceShares


def printed(*shown):
    """Return the lines of tables and texts, with single spaces."""
    console = Console(file=io.StringIO(), width=100)
    for each in shown:
        console.print(each)
    return [re.sub(r" +", " ", line.strip()) for line in console.file.getvalue().splitlines()]


def line_of(lines, name):
    """Return the line that begins with a name, without it."""
    (line,) = (line for line in lines if line.startswith(f"{name} "))
    return line.removeprefix(name)


def numbers(seed, n=90):
    """Predictions of numbers with intervals, some of which are too narrow."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=n)
    width = rng.uniform(0.5, 2.0, n)
    return Outcome(mean + rng.normal(size=n), mean, mean - width, mean + width, unit=2.0)


def labels(seed, n=90):
    """Predictions of three classes, which are confused in one direction."""
    rng = np.random.default_rng(seed)
    names = np.array(["high", "low", "middle"])
    probability = rng.dirichlet([0.5, 1.0, 2.0], n)
    y = names[(np.argmax(probability, axis=1) + (rng.random(n) < 0.3)) % 3]
    return Outcome(y, names[probability.argmax(axis=1)], probability=probability, classes=names)


def scores_of(own):
    """Return means of losses and their standard errors, by their names in JSON."""
    if own.classes is not None:
        return {
            "error": mean_error((own.y != own.prediction).astype(float)),
            "log_loss": (log_loss(own.y, own.probability, labels=own.classes), None),
        }
    gap = own.y - own.prediction
    square, error = mean_error(gap**2)
    covered = ((own.lower <= own.y) & (own.y <= own.upper)).astype(float)
    return {
        "rmse": (np.sqrt(square), error / (2.0 * np.sqrt(square))),
        "mae": mean_error(np.abs(gap)),
        "r2": (1.0 - square / np.var(own.y), None),
        "coverage": mean_error(covered),
        "width": mean_error(own.upper - own.lower),
    }


def on_screen(own):
    """Return the numbers of a line of errors: standard errors of some metrics, and shares."""
    found = scores_of(own)
    if own.classes is not None:
        losses = -np.log(own.probability[own.y[:, None] == own.classes])
        return *mean_error(losses), *(100.0 * part for part in found["error"])
    shares = (100.0 * found[name][0] for name in ("r2", "coverage"))
    return *found["rmse"], found["mae"][0], *shares


def study_of(own, **facts):
    """A study of 150 rows to fit and some rows to test, whose model is not asked."""
    frame = table()
    split = Split(frame, frame["y"], frame[: len(own.y)], own.y, "regression")
    known = table_facts(frame.drop(columns="y"), "table.csv", ())
    model = SimpleNamespace(score_=None, unlike_rows=lambda X: {})
    return Study(model, "y", known, split, {OURS: own}, **facts)


MANY = np.repeat([f"group {chr(97 + i)}" for i in range(15)], np.arange(3, 18))
KINDS = {"numbers": numbers, "classes": labels}


@pytest.mark.parametrize("kind", KINDS)
def test_an_evaluation_says_the_same_everywhere(kind, monkeypatch):
    monkeypatch.setattr("bochner.report.diagnostics.checks", lambda study: [])
    own = KINDS[kind](0, len(MANY))
    groups = dict(by_group(own, MANY))
    study = study_of(own)
    (target,) = evaluation_record([study], [groups], Path("m"))["targets"]
    parts = {"": (own, target["methods"][0]["scores"])}
    for record in target["groups"]:
        rows = record["group"] == MANY
        assert record["n"] == rows.sum()
        parts[record["group"]] = own.part(rows), record["scores"]
    for part, scores in parts.values():
        for name, (value, error) in scores_of(part).items():
            assert scores[name]["value"] == pytest.approx(value)
            assert error is None or scores[name]["std_error"] == pytest.approx(error)
    console = Console(file=io.StringIO(), width=100)
    evaluating._print(console, study, groups, "site")
    lines = [re.sub(r" +", " ", line.strip()) for line in console.file.getvalue().splitlines()]
    says(line_of(lines, "bochner"), *on_screen(own))
    shown = [name for name in parts if f"{name} " in "\n".join(lines) and name]
    assert len(shown) == 12
    for name in shown:
        part = parts[name][0]
        says(line_of(lines, name), len(part.y), *on_screen(part))
    n_hidden = sum(len(part.y) for name, (part, _) in parts.items() if name and name not in shown)
    says(next(line for line in lines if "more groups" in line), 3, n_hidden)
    if kind == "classes":
        counts = confusion_matrix(own.y, own.prediction, labels=own.classes)
        assert (counts != counts.T).any()
        assert target["confusion"]["counts"] == counts.tolist()
        for name, row in zip(own.classes, counts, strict=True):
            says(line_of(lines, name), *row)


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_method_is_first_and_all_have_their_errors(kind):
    outcomes = {name: KINDS[kind](seed) for seed, name in enumerate((OURS, "trees", "line"))}
    lines = printed(screen.scores_table(outcomes))
    first = "log_loss" if kind == "classes" else "rmse"
    order = sorted(outcomes, key=lambda name: scores_of(outcomes[name])[first][0])
    assert [line.split()[0] for line in lines[1:]] == order
    for name, own in outcomes.items():
        says(line_of(lines, name), *on_screen(own))


def test_a_fit_counts_its_rows(monkeypatch):
    monkeypatch.setattr("bochner.report.diagnostics.checks", lambda study: [])
    share, error = np.array([0.6, 0.3, 0.2]), np.array([0.02, 0.01, np.nan])
    study = study_of(numbers(0), importance=VarianceShares(("b", "a", "colour"), share, error))
    found = fit_record([study], [], Path("m"), None, [])
    assert (found["split"]["n_fit"], found["split"]["n_test"]) == (150, 90)
    assert [entry["columns"] for entry in found["importance"]] == [["b"], ["a"], ["colour"]]
    assert [entry["share"] for entry in found["importance"]] == share.tolist()
    assert [entry["std_error"] for entry in found["importance"]] == [0.02, 0.01, None]


@pytest.mark.parametrize("share", [[0.5, 0.3, 0.1, 0.004, 0.003, 0.001], [0.04] * 25])
def test_shares_that_are_not_listed_are_added_up(share):
    names = tuple(f"column {chr(97 + i)}" for i in range(len(share)))
    found = VarianceShares(names, np.array(share), 0.1 * np.array(share))
    lines = printed(*screen.share_tables(found, None))
    listed = [name for name in names if any(line.startswith(f"{name} ") for line in lines)]
    for name, value in zip(listed, share, strict=False):
        says(line_of(lines, name), 100.0 * value, 10.0 * value)
    says(lines[-1], len(share) - len(listed), 100.0 * sum(share[len(listed) :]))


def test_contributions_say_the_same_everywhere():
    """Of 14 columns ten are shown, and the others add up with their signs."""
    rng = np.random.default_rng(0)
    names = tuple(f"column {chr(97 + i)}" for i in range(14))
    values, errors = rng.normal(size=(3, 14)), rng.uniform(0.01, 0.1, (3, 14))
    found = Contributions(names, 2.0, values, errors, 2.0 + values.sum(axis=1))
    model = SimpleNamespace(target_mean_=0.0, record_={"target": "y"})
    rows = explaining._record(model, Path("m"), found, [4, 0, 2])["rows"]
    frame = explaining._frame(model, found, [4, 0, 2])
    fresh = SimpleNamespace(features=pd.DataFrame(rng.normal(size=(5, 14)).round(2), columns=names))
    console = Console(file=io.StringIO(), width=100)
    explaining._print_row(console, model, fresh, found, 1, 0)
    lines = [re.sub(r" +", " ", line.strip()) for line in console.file.getvalue().splitlines()]
    says(lines[0].partition(":")[2], found.prediction[1], 2.0)
    order = np.argsort(-np.abs(values[1]), kind="stable")
    for place in order[:10]:
        entry = fresh.features.iloc[0, place]
        says(line_of(lines, names[place]).replace("+", ""), entry, values[1, place],
             errors[1, place])  # fmt: skip
    says(line_of(lines, "4 more together").replace("+", ""), values[1, order[10:]].sum())
    for place, number in enumerate((5, 1, 3)):
        assert rows[place]["row"] == frame["row"][place] == number
        np.testing.assert_allclose(rows[place]["contributions"][0], values[place])
        np.testing.assert_allclose(rows[place]["std_errors"][0], errors[place])
        np.testing.assert_allclose(frame[list(names)].iloc[place], values[place])


def series(name, rng, n_unknown, are_counts=False):
    """A series of months whose last values are unknown, its forecast, and errors before."""
    months = pd.date_range("2015-01-01", periods=54, freq="MS")
    values = pd.Series(rng.normal(50.0, 5.0, 48), months[:48])
    values.iloc[48 - n_unknown :] = np.nan
    mean, half = rng.normal(50.0, 5.0, 6), rng.uniform(5.0, 9.0, 6)
    errors = {OURS: rng.normal(size=12), THETA: 2.0 * rng.normal(size=12)}
    covered = (rng.random(12) < 0.7).astype(float)
    scale, observed, crps = rng.uniform(2.0, 3.0, (3, 12)) * [[1.0], [20.0], [0.5]]
    places = np.repeat([0, 1], 6), np.tile(np.arange(1, 7), 2)
    parts = errors, scale, observed, covered, crps, *places, months[:48]
    scores = OriginScores(6, 2, 12, *parts, are_counts=are_counts)
    paths = mean + half * rng.normal(size=(200, 6))
    ends = mean - half, mean + half
    return SeriesForecast(name, values, months[48:], mean, *ends, paths=paths), scores


def smape(scores, method):
    predicted = scores.observed - scores.errors[method]
    size = np.abs(scores.observed) + np.abs(predicted)
    return np.mean(200.0 * np.abs(scores.errors[method]) / size)


def error_sizes(errors, are_counts):
    """The error that ranks methods, and the other one."""
    sizes = np.mean(np.abs(errors)), np.sqrt(np.mean(errors**2))
    return sizes[::-1] if are_counts else sizes


@pytest.mark.parametrize("are_counts", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_a_forecast_says_the_same_everywhere(count, are_counts):
    rng = np.random.default_rng(count)
    names = ("north", "south", "west")[:count]
    made = [series(name, rng, n_unknown, are_counts) for n_unknown, name in enumerate(names)]
    columns = SeriesColumns("sales", "date", "shop" if count > 1 else None, ())
    model = SimpleNamespace(series_=dict.fromkeys(names))
    every, scores = [one for one, _ in made], dict(zip(names, (s for _, s in made), strict=True))
    forecasts = forecasting._Forecasts(SeriesFits(model, every, {}), columns, scores, 0.8)
    record = forecasting._record(forecasts, [])
    errors = printed(forecasting._scores_table(forecasts))
    shown = forecasting._forecast_rows if count == 1 else forecasting._panel_rows
    lines = printed(shown(forecasts))
    page = reports._overview(forecasts.fits, scores, 0.8).blocks[0]
    sizes, of_all = {}, []
    for place, (one, own) in enumerate(made):
        mases = [np.mean(np.abs(own.errors[m] / own.scale)) for m in (OURS, THETA)]
        sizes[one.name] = [
            error_sizes(own.errors[m] / own.scale, are_counts)[0] for m in (OURS, THETA)
        ]
        maes = [np.mean(np.abs(own.errors[m])) for m in (OURS, THETA)]
        share = np.mean(own.covered)
        of_all.extend(own.covered)
        found = record["series"][place]
        np.testing.assert_array_equal(found["forecast"], one.mean)
        np.testing.assert_array_equal(found["lower"], one.lower)
        np.testing.assert_array_equal(found["upper"], one.upper)
        for end, step in (("lowest", np.argmin(one.mean)), ("highest", np.argmax(one.mean))):
            law = (float(part[step]) for part in (one.mean, one.lower, one.upper))
            time = shown_times(one.times)[step]
            expected = dict(zip(("time", "forecast", "lower", "upper"), (time, *law), strict=True))
            assert found[end] == expected
            texts = [one.shown(value) for value in list(expected.values())[1:]]
            said = f"{end} {texts[0]} ({texts[1]} to {texts[2]}) at {time}"
            assert said in outlook_sentence(one, 0.8)
        past = found["from_past_origins"]
        other = past["others"][THETA]
        assert [past["mase"], other["mase"]] == pytest.approx(mases)
        assert [past["mae"], other["mae"]] == pytest.approx(maes)
        assert past["coverage"] == pytest.approx(share)
        smapes = [smape(own, m) for m in (OURS, THETA)]
        names = {True: {"mase", "mae", "rmse"}, False: {"mase", "mae", "rmse", "smape"}}
        assert set(other) == names[are_counts]
        if not are_counts:
            assert [past["smape"], other["smape"]] == pytest.approx(smapes)
        assert past["crps"] == pytest.approx(np.mean(own.crps))
        if count == 1:
            table, by_horizon = reports._errors(own)
            for k, (name, row) in enumerate(zip((OURS, THETA), table.rows, strict=True)):
                first, second = error_sizes(own.errors[name], are_counts)
                ours = error_sizes(own.errors[OURS], are_counts)[0]
                change = [100.0 * (first / ours - 1.0)][: name != OURS]
                says(line_of(errors, name), first, second, *change)
                said = " ".join(cell.text for cell in row[1:])
                shares = [smapes[k]][are_counts:]
                says(said, first, second, sizes[one.name][k], *shares, *change)
            for row in by_horizon.rows:
                steps = [int(text) for text in row[0].text.split(" to ")]
                part = own.part((own.steps >= steps[0]) & (own.steps <= steps[-1]))
                first, theta = (error_sizes(part.errors[m], are_counts)[0] for m in (OURS, THETA))
                scaled = error_sizes(part.errors[OURS] / part.scale, are_counts)[0]
                shares = (smape(part, OURS), 100.0 * np.mean(part.covered))[are_counts:]
                change = 100.0 * (theta / first - 1.0)
                said = " ".join(cell.text for cell in row[1:])
                says(said, first, scaled, np.mean(part.crps), *shares, change)
            for step, time in enumerate(shown_times(one.times)):
                says(line_of(lines, time), one.mean[step], one.lower[step], one.upper[step])
            continue
        says(line_of(errors, one.name), *sizes[one.name], 100.0 * share)
        ends = *np.quantile(one.paths.mean(axis=1), [0.5, 0.1, 0.9]), one.mean[-1]
        says(line_of(lines, one.name).replace("2019-06-01", ""), *ends)
        cells = dict(zip(page.heads, page.rows[place], strict=True))
        said = *ends, *sizes[one.name], 100.0 * share
        says(" ".join(cells[head].text for head in page.heads[2:]), *said)
    means = np.mean(list(sizes.values()), axis=0)
    if count > 1:
        says(errors[-1], count, *means, 100.0 * np.mean(of_all))


def test_predictions_have_the_digits_of_a_hundredth_of_the_error():
    """Four digits of small numbers and zero remain, and errors of targets have their columns."""
    values = np.array([28.817982, -0.00123456, 1234567.89, 0.0])
    assert rounded(values, 1.4).tolist() == [28.82, -0.001235, 1234567.89, 0.0]
    assert rounded(values, 5e4).tolist() == [28.82, -0.001235, 1234568.0, 0.0]
    both = rounded(np.array([[1.23456789, 1e-200 / 3]]), np.array([0.001, 1e-199]))
    assert both.tolist() == [[1.23457, 3.333e-201]]
