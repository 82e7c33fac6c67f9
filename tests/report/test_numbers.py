"""What a report states of rows is what NumPy, SciPy and scikit-learn compute from these rows."""

import re
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report.markup import Page
from report.says import mean_error, says
from report.studies import of_laws, page, with_quantiles
from scipy.stats import binom, norm, t
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from bochner._base.arrays import decimal_years
from bochner.comparison.contenders import CONSTANT
from bochner.comparison.outcomes import Outcome
from bochner.comparison.verdict import calibration, verdict
from bochner.files.columns import read_column
from bochner.report import accuracy, diagnostics, error_checks
from bochner.report import accuracy as unlike_rows
from bochner.report import class_sections as classes
from bochner.report import column_sections as columns
from bochner.report import residual_section as residuals
from bochner.report.html_blocks import Figure, Table
from bochner.report.residual_section import drift
from bochner.report.subject import Subject, subjects_of
from bochner.tables.sensitivity import Effect, VarianceShares
from bochner.tables.table_predictions import Transformation

STATED = []
"""Patterns of the titles of figures and tables, and of findings, whose numbers are tested here."""


def states(*titles):
    """Mark a test of all numbers of some figures, tables and findings."""
    STATED.extend(titles)
    return lambda test: test


def table_of(section, title):
    """Return the rows of a table of a section by the texts of their first cells."""
    (found,) = (b for b in section.blocks if isinstance(b, Table) and b.title == title)
    return {row[0].text: dict(zip(found.heads, row, strict=True)) for row in found.rows}


def kept_pictures(patch):
    """Return the displays and captions of the figures of sections, by title, not drawn."""
    made = {}

    def kept(display, title, caption):
        made[title] = display, caption
        return Figure(title, "", caption)

    for module in (accuracy, classes, columns, residuals):
        patch.setattr(module, "drawn", kept)
    return made


@pytest.fixture
def pictures(monkeypatch):
    return kept_pictures(monkeypatch)


def subject(**outcomes):
    (found,) = subjects_of([with_quantiles(replace(of_laws()[0], outcomes=outcomes))])
    return found


def rows(seed, n=301, *, noise=1.0, bias=0.0, heavy=False, clusters=None):
    """Predictions of n rows, with 90 % intervals for normal errors of deviation one."""
    rng = np.random.default_rng(seed)
    mean = 40.0 + 3.0 * rng.normal(size=n)
    errors = rng.standard_t(1.3, n) if heavy else rng.normal(size=n)
    errors *= np.where(mean > 42.0, 2.0, 1.0)  # More at the high end
    y = mean + bias + noise * errors
    return Outcome(y, mean, mean - 1.645, mean + 1.645, unit=9.0, clusters=clusters)


ROWS = {
    "as expected": rows(0),
    "biased": rows(1, bias=0.7),
    "heavy": rows(2, heavy=True),
    "narrow": rows(3, noise=1.6),
    "wide": rows(4, noise=0.4),
    "groups": rows(5, 300, noise=1.3, clusters=np.arange(300) // 10),
}


@pytest.fixture(params=ROWS)
def own(request):
    return ROWS[request.param]


def ratio_of(own, other):
    """Return the ratio of root mean squares and its interval, from differences row by row."""
    ours, theirs = ((each.y - each.prediction) ** 2 for each in (own, other))
    spread = mean_error(ours / ours.mean() - theirs / theirs.mean(), own.clusters)[1]
    return np.sqrt(ours.mean() / theirs.mean() * np.exp(2.0 * spread * np.array([0, -1, 1])))


@states("RMSE of all methods", "Errors on test rows")
@pytest.mark.parametrize("factor", [0.6, 0.99, 1.5])
def test_errors_of_methods(own, factor, pictures, monkeypatch):
    monkeypatch.setattr(accuracy, "comparison", lambda outcomes, metric: outcomes)
    other = replace(own, prediction=own.y - factor * (own.y - own.prediction)[::-1])
    other = replace(other, y=own.y, lower=None, upper=None)
    methods = {"bochner": own, "trees": other}
    section = accuracy.errors_section(subject(**methods))
    cells, errors, gaps = table_of(section, "Errors on test rows"), {}, {}
    for name, each in methods.items():
        gap = each.y - each.prediction
        square, error = mean_error(gap**2, own.clusters)
        errors[name] = rmse, std_error = np.sqrt(square), error / (2.0 * np.sqrt(square))
        says(cells[name]["RMSE"].text, rmse, std_error)
        says(cells[name]["MAE"].text, *mean_error(np.abs(gap), own.clusters))
        says(cells[name]["explained variance"].text, 100.0 * (1.0 - square / np.var(own.y)))
        gaps[name] = ratio_of(own, each)
        said = [1.0] if name == "bochner" else gaps[name]
        says(cells[name]["RMSE of bochner / method"].text, *said)
    best = min(errors, key=errors.get)
    assert list(cells) == sorted(errors, key=errors.get)
    caption = pictures["RMSE of all methods"][1]
    ratio, low, high = gaps["trees"]
    says(caption, *errors[best])
    assert caption.startswith(f"{best} has the lowest RMSE")
    text = verdict(subject(**methods).study)
    told = text.partition("variance. ")[2]
    if low > 1.0:
        assert text.startswith("This model is worse here than the trees: its RMSE")
        says(text.partition(",")[0], 100.0 * (ratio - 1.0))
    elif abs(ratio - 1.0) >= 0.005:
        says(told, 100.0 * abs(ratio - 1.0))
        assert ("lower than" if ratio < 1.0 else "higher than") in told
        assert ("is significant" in told) == (high < 1.0 or low > 1.0)


@states(".* has a lower error", "No other method has .* lower error")
@pytest.mark.parametrize("factor", [0.5, 0.8])
def test_another_method_that_is_better(own, factor):
    factors = factor * np.random.default_rng(7).uniform(0.4, 1.6, len(own.y))
    other = replace(own, prediction=own.y - factors * (own.y - own.prediction))
    ratio, low, high = ratio_of(own, other)
    found = error_checks.others(subject(bochner=own, trees=other))
    assert (found.weight == "check") == (low > 1.0)
    if low > 1.0:
        says(found.meaning, *(100.0 * np.array([ratio - 1.0, low - 1.0, high - 1.0])))


@states("Predicted against observed values")
def test_the_caption_of_predictions(own, pictures):
    accuracy.predictions_section(subject(bochner=own))
    covered = (own.lower <= own.y) & (own.y <= own.upper)
    caption = pictures["Predicted against observed values"][1]
    says(caption, 90, 100.0 * covered.mean())


@states("Coverage of intervals by level")
def test_coverage_by_level(own, pictures):
    accuracy.intervals_section(subject(bochner=own))
    display, caption = pictures["Coverage of intervals by level"]
    (at_level,) = np.flatnonzero(display.predicted == 0.9)
    assert display.observed[at_level] == np.mean((own.lower <= own.y) & (own.y <= own.upper))
    if own.clusters is None:
        ends = binom.interval(0.95, len(own.y), display.predicted)
        np.testing.assert_allclose([display.lower, display.upper], np.divide(ends, len(own.y)))
    below, above = display.observed < display.lower, display.observed > display.upper
    outside = np.flatnonzero(below | above)
    if not len(outside):
        says(caption)
        return
    worst = outside[np.argmax(np.abs(display.observed - display.predicted)[outside])]
    said = 100.0 * np.array([display.predicted[worst], display.observed[worst]])
    says(caption, len(outside), len(display.predicted), *said)
    assert ("too narrow" if below[worst] else "wider than necessary") in caption


class TwoTargets:
    """Intervals of a normal target, and of one with heavy tails."""

    transformation_ = None

    def predict(self, rows):
        return np.column_stack((rows["size"], 50.0 - rows["size"]))

    def predict_interval(self, rows, level):
        half = np.array([norm.ppf(0.5 + 0.5 * level), t(1.5).ppf(0.5 + 0.5 * level)])
        return self.predict(rows) - half, self.predict(rows) + half

    def predict_quantiles(self, rows, levels):
        return self.predict(rows)[..., None] + np.stack((norm.ppf(levels), t(1.5).ppf(levels)))


class Prices:
    """Means and intervals of a target whose logarithm is normal."""

    transformation_ = Transformation("log")

    def predict(self, rows):
        return np.exp(rows["size"].to_numpy() + 0.5)

    def predict_interval(self, rows, level):
        half = np.exp(norm.ppf(0.5 + 0.5 * level))
        return np.exp(rows["size"].to_numpy()) / half, np.exp(rows["size"].to_numpy()) * half

    def predict_quantiles(self, rows, levels):
        return np.exp(rows["size"].to_numpy()[:, None] + norm.ppf(levels))


@pytest.mark.parametrize(
    ("model", "number"),
    [(TwoTargets(), 0), (TwoTargets(), 1), (Prices(), None)],
    ids=["normal", "heavy", "log"],
)
def test_coverage_by_level_is_that_of_the_intervals_of_the_model(model, number, pictures):
    """Rows are counted at each level; ``number`` is that of a target among several."""
    (study,) = of_laws()
    rows = study.split.X_test

    def of_target(values):
        return values if number is None else values[:, number]

    y = of_target(model.predict(rows)) + 2.0 * np.random.default_rng(8).normal(size=len(rows))
    ends = map(of_target, model.predict_interval(rows, 0.9))
    own = Outcome(y, of_target(model.predict(rows)), *ends, unit=9.0)
    checked = replace(study, model=model, outcomes={"bochner": own}, number=number or 0)
    accuracy.intervals_section(Subject(checked, 1 if number is None else 2))
    ((display, _),) = pictures.values()
    for level, observed in zip(display.predicted, display.observed, strict=True):
        lower, upper = map(of_target, model.predict_interval(rows, level))
        assert observed == pytest.approx(np.mean((lower <= y) & (y <= upper)))


@states(r"Residuals against \w+", "Mean residuals by column")
def test_residuals(own, pictures):
    x = np.round(np.random.default_rng(6).normal(size=len(own.y)), 2)
    gap = own.y - own.prediction + 0.8 * (x > 1.0)
    own = replace(own, y=own.prediction + gap)
    checked = subject(bochner=own)
    found = drift(read_column("x", x), checked.residuals, own.clusters)
    section = residuals.residuals_section(checked, [found], 0)
    display, caption = pictures["Residuals against predictions"]
    worst, n_beyond = np.argmax(np.abs(gap)), [display.n_beyond] * bool(display.n_beyond)
    says(caption, np.median(np.abs(gap)), gap[worst], own.prediction[worst], *n_beyond)
    (row,) = table_of(section, "Mean residuals by column").values()
    means, total = [], 0.0
    for label in found.labels:
        low, high = (float(part.replace("−", "-")) for part in label.split(" to "))
        part = gap[(low <= x) & (x <= high)]
        means.append(part.mean())
        total += len(part) * (part.mean() - gap.mean()) ** 2
    share = total / np.sum((gap - gap.mean()) ** 2)
    says(row["share of squared error"].text, 100.0 * share)
    low, high = np.argmin(means), np.argmax(means)
    assert row["lowest where"].text == found.labels[low]
    assert row["highest where"].text == found.labels[high]
    sentence = residuals.sentence(found)
    ends = [float(part.replace("−", "-")) for i in (low, high)
            for part in found.labels[i].split(" to ")]  # fmt: skip
    says(sentence, means[low], *ends[:2], means[high], *ends[2:], 100.0 * share)


@states("Predictions are .*", r"Intervals are too .*", r".* intervals are calibrated: .*")
def test_bias_and_coverage(own):
    checked = subject(bochner=own)
    mean, error = mean_error(own.y - own.prediction, own.clusters)
    found = error_checks.bias(checked)
    if found.weight == "check":
        says(found.meaning.partition(",")[0], mean, error)
        assert f"too {'low' if mean > 0.0 else 'high'}" in found.title
    covered = 100.0 * np.mean((own.lower <= own.y) & (own.y <= own.upper))
    found = error_checks.coverage(checked)
    said = (90, 90, covered) if found.weight != "fine" else (90, covered)
    says(found.title.replace(": 90 %", ": 90 % of 90 %", found.weight != "fine"), *said)
    if found.weight != "fine":
        assert ("narrow" in found.title) == (covered < 90.0)


def kinds_of(own, *places):
    """Return a subject whose rows have gaps and new levels at some places."""
    (study,) = of_laws()
    masks = (np.isin(np.arange(len(own.y)), place) for place in places)
    unlike = dict(zip(("missing", "new level"), masks, strict=True))
    model = SimpleNamespace(unlike_rows=lambda rows: unlike, head_=None)
    return Subject(replace(study, model=model, outcomes={"bochner": own}))


@states("Errors by kind of rows", ".* for rows .*")
def test_rows_unlike_the_training_rows(own):
    """Errors, coverage and the sentence on them are those of the rows of each kind."""
    places = np.arange(80), np.arange(60, 140)
    gap = own.y - own.prediction
    gap[places[0]] *= 2.0
    own = replace(own, y=own.prediction + gap)
    section = unlike_rows.unlike_section(kinds_of(own, *places))
    rows = {"like the training rows": np.arange(140, len(gap)),
            "with a missing entry": places[0], "with a new level": places[1]}  # fmt: skip
    cells = table_of(section, "Errors by kind of rows")
    assert list(cells) == list(rows)
    error, coverage, narrow, larger = {}, {}, [], []
    for kind, part in rows.items():
        clusters = None if own.clusters is None else own.clusters[part]
        is_covered = np.abs(gap[part]) <= 1.645
        coverage[kind], spread = mean_error(is_covered, clusters)
        square, of_square = mean_error(gap[part] ** 2, clusters)
        error[kind] = square, of_square, np.sqrt(square), of_square / (2.0 * np.sqrt(square))
        says(cells[kind]["rows"].text, len(part))
        says(cells[kind]["RMSE"].text, *error[kind][2:])
        says(cells[kind]["MAE"].text, *mean_error(np.abs(gap[part]), clusters))
        says(cells[kind]["coverage"].text, 100.0 * coverage[kind], 100.0 * spread)
    like = error["like the training rows"]
    limit = norm.ppf(1.0 - 0.05 / 4.0)  # Of two kinds and two sides
    for kind in list(rows)[1:]:
        n = len(rows[kind])
        if own.clusters is not None:
            spread = mean_error(np.abs(gap[rows[kind]]) <= 1.645, own.clusters[rows[kind]])[1]
            n = int(coverage[kind] * (1.0 - coverage[kind]) / spread**2)
            n = np.clip(n, len(np.unique(own.clusters[rows[kind]])), len(rows[kind]))
        if coverage[kind] < binom.ppf(0.05 / 4.0, n, 0.9) / n:
            narrow.append(100.0 * coverage[kind])
        if error[kind][0] - like[0] > limit * np.hypot(error[kind][1], like[1]):
            larger += error[kind][2:]
    said = [90, *narrow] if narrow else []
    says(section.blocks[0], *said, *([*like[2:], *larger] if larger else []))
    finding = unlike_rows.unlike(kinds_of(own, *places))
    weight = "check" if narrow else "note" if larger else "fine"
    assert finding.weight == weight
    assert ("too narrow" in finding.title) == bool(narrow)


def test_nothing_is_said_where_all_rows_are_like_the_training_rows(own):
    assert unlike_rows.unlike_section(kinds_of(own, [], [])) is None
    assert unlike_rows.unlike(kinds_of(own, [], [])) is None


@states("The error is spread .*", "A few rows dominate .*")
def test_a_few_rows_with_much_of_the_error(own):
    assert error_checks.heavy_tails(subject(bochner=own)) is None  # Three rows are too few
    own = own.part(np.resize(np.arange(len(own.y)), 2 * len(own.y)))
    found = error_checks.heavy_tails(subject(bochner=own))
    squares = np.sort((own.y - own.prediction) ** 2)
    share = 100.0 * squares[-(len(squares) // 100) :].sum() / squares.sum()
    says(found.title.partition(". The largest")[0], 1, share)
    # The squares of normal errors beyond their quantiles of half a per cent, by integration.
    normal = 2.0 * norm.expect(np.square, lb=norm.ppf(0.995))
    assert (found.weight == "fine") == (share < 300.0 * normal)
    if found.weight != "fine":
        says(found.meaning.partition(".")[0], 100.0 * normal)


@states(r"The (RMSE|log loss) is .* expected.*")
@pytest.mark.parametrize("factor", [0.3, 1.0, 3.0])
def test_the_error_and_what_was_expected(factor):
    expected = float(of_laws()[0].model.score_)
    mean = np.linspace(0.0, 1.0, 400)
    signs = np.resize([1.2, -0.8], 400)
    own = Outcome(mean + factor * expected * signs, mean, unit=1.0)
    rmse = np.sqrt(np.mean((own.y - mean) ** 2))
    error = mean_error((own.y - mean) ** 2)[1] / (2.0 * rmse)
    found = error_checks.expectation(subject(bochner=own))
    assert {0.3: "lower than", 1.0: "as", 3.0: "higher than"}[factor] in found.title
    if factor == 3.0:
        says(found.meaning, expected, rmse, error)
    else:
        says(found.title, rmse, error, expected)


@states("Missing entries in .*", "No entry is missing", "Few entries .*")
def test_missing_entries():
    (study,) = of_laws()
    shares = {"size": 0.0, "when": 0.25, "colour": 0.04, "gaps": 0.5, "cycle": 0.1}
    facts = [replace(c, n_missing=round(260 * shares[c.name])) for c in study.table.columns]
    table = replace(study.table, columns=tuple(facts))
    (checked,) = subjects_of([replace(study, table=table)])
    title = diagnostics.missing(checked).title
    much = sorted((n for n in shares if shares[n] >= 0.05), key=lambda n: -shares[n])
    assert re.findall(r"'(\w+)'", title) == much  # Most are missing in the first one
    says(title, *(100.0 * shares[name] for name in much))


def of_labels(count, n=300, seed=0):
    """Predictions of classes, of which the last one is rare, that are too sure."""
    rng = np.random.default_rng(seed)
    names = np.array([f"class {letter}" for letter in "ABCDE"[:count]])
    sizes = np.r_[np.ones(count - 1), 0.3]
    true = rng.dirichlet(sizes, n)
    y = np.array([rng.choice(names, p=row) for row in true])
    sure = true**2 / np.sum(true**2, axis=1, keepdims=True)
    return Outcome(y, names[sure.argmax(axis=1)], probability=sure, classes=names)


@states("ROC curves", "Observed against predicted classes", "Classes")
@pytest.mark.parametrize("count", [2, 3, 5])
def test_classes(count, pictures):
    own = of_labels(count)
    section = classes.recognition_section(subject(bochner=own))
    pairs = dict.fromkeys(product(own.classes, repeat=2), 0)
    for pair in zip(own.y, own.prediction, strict=True):
        pairs[pair] += pair[0] != pair[1]
    (observed, predicted), most = max(pairs.items(), key=lambda item: item[1])
    n_wrong = np.sum(own.y != own.prediction)
    caption = pictures["Observed against predicted classes"][1]
    says(caption, most, 100.0 * most / n_wrong, n_wrong)
    assert f"of class '{observed}' predicted as '{predicted}'" in caption
    cells = table_of(section, "Classes")
    recalls, precisions = (
        metric(own.y, own.prediction, labels=own.classes, average=None)
        for metric in (recall_score, precision_score)
    )
    areas = {}
    for place, name in enumerate(own.classes):
        row = cells[name]
        says(row["test rows"].text, np.sum(own.y == name))
        says(row["predicted rows"].text, np.sum(own.prediction == name))
        says(row["recall"].text, 100.0 * recalls[place])
        says(row["precision"].text, 100.0 * precisions[place])
        says(row["mean probability"].text, 100.0 * own.probability[:, place].mean())
        areas[name] = roc_auc_score(own.y == name, own.probability[:, place])
    text = pictures["ROC curves"][1]
    if count == 2:
        says(text, 100.0 * areas["class B"])
        assert "a row of class 'class B'" in text
        return
    best, worst = max(areas, key=areas.get), min(areas, key=areas.get)
    says(text, areas[best], areas[worst])
    assert f"largest for '{best}'" in text
    assert f"least for '{worst}'" in text


@states("Hits by threshold", "Rows of the rare class found", "No row has .*", "Few test rows of.*")
def test_a_rare_class(pictures):
    """Hits, precision, recall and lift are those of the rows with the highest probabilities."""
    rng = np.random.default_rng(3)
    stated = rng.permutation(np.linspace(0.0, 0.45, 400) ** 3)
    y = np.where(rng.random(400) < stated, "yes", "no")
    both = np.column_stack([1.0 - stated, stated])
    own = Outcome(y, np.full(400, "no"), probability=both, classes=np.array(["no", "yes"]))
    checked = subject(bochner=own)
    section = classes.recognition_section(checked)
    hits, n_rare = y[np.argsort(-stated)] == "yes", np.sum(y == "yes")
    rows = table_of(section, "Hits by threshold").values()
    for row, n in zip(rows, (4, 8, 20, 40, 80, 200), strict=True):
        found, lowest = hits[:n].sum(), np.sort(stated)[-n]
        precision = found / n
        said = n / 4.0, n, 100.0 * lowest, found, 100.0 * precision, 100.0 * found / n_rare
        for cell, value in zip(row.values(), (*said, precision * 400 / n_rare), strict=True):
            says(cell.text, value)
    tenth, half = 100.0 * hits[:40].sum() / n_rare, 100.0 * hits[:200].sum() / n_rare
    display, caption = pictures["Rows of the rare class found"]
    says(caption, tenth, half)
    across, up = display.curves["yes"]
    assert np.interp(0.1, across, up) == pytest.approx(tenth / 100.0)
    area = roc_auc_score(y == "yes", stated)
    share = tenth / 100.0
    spread = 100.0 * np.sqrt(share * (1.0 - share) / n_rare)
    low, high = (np.quantile([*_areas_of_samples(y == "yes", stated)], q) for q in (0.16, 0.84))
    assert own.scores()["auc"].std_error == pytest.approx(0.5 * (high - low), rel=0.2)
    said = (40, 400, hits[:40].sum(), n_rare, tenth, spread, n_rare / 10.0, area)
    few = [n_rare] * bool(n_rare < 30)
    says(verdict(checked.study), *said, own.scores()["auc"].std_error, *few)
    constant = replace(own, probability=np.tile(both.mean(axis=0), (400, 1)))
    worse = verdict(subject(bochner=constant, trees=own).study)
    assert worse.startswith("This model is worse here than the trees: its log loss is ")
    assert f"that of the trees holds {hits[:40].sum()}, a random tenth" in worse
    equal = verdict(subject(bochner=constant, **{CONSTANT: constant, "trees": constant}).study)
    assert equal.startswith("The log loss of this model is not significantly lower than that of a")
    says(calibration(checked.study), 100.0 * stated.mean(), 100.0 * n_rare / 400, 400)
    found = diagnostics.classes(checked)
    assert found.title == "No row is more likely 'yes' than not"
    says(found.meaning, 100.0 * stated.max())
    says(diagnostics.rows(checked).title, n_rare)
    assert own.metrics == ["log_loss", "auc", "average_precision", "top_tenth"]


def _areas_of_samples(is_class, stated):
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = rng.integers(0, len(stated), len(stated))
        yield roc_auc_score(is_class[rows], stated[rows])


@states("Most frequent confusions")
def test_the_most_frequent_confusions():
    own = of_labels(5)
    rows = table_of(classes.recognition_section(subject(bochner=own)), "Most frequent confusions")
    ((observed, row), *_) = rows.items()
    wrong = (own.y == observed) & (own.prediction == row["predicted"].text)
    says(row["rows"].text, wrong.sum())
    says(row["share of the observed class"].text, 100.0 * wrong.sum() / np.sum(own.y == observed))
    right = replace(own, prediction=own.y, probability=1.0 * (own.y[:, None] == own.classes))
    section = classes.recognition_section(subject(bochner=right))
    assert [b.title for b in section.blocks if isinstance(b, Table)] == ["Classes"]
    assert section.blocks[0][0].caption == "Each class against all others: all areas are 1.000."


@states("No prediction and no .*", ".* below zero, but .*")
@pytest.mark.parametrize("shift", [0.0, 3.0, 9.0])
def test_a_positive_target_predicted_below_zero(shift):
    """The logarithm helps where all observations are positive, the root where some are zero."""
    mean = np.linspace(-1.0, 8.0, 50) + shift
    own = Outcome(np.abs(mean) + 0.1, mean, mean - 3.0, mean + 3.0)
    split = SimpleNamespace(y=np.array([0.0 if shift else 1.0, 2.0]))
    study = SimpleNamespace(own=own, split=split)
    found = error_checks.below_zero(SimpleNamespace(study=study))
    if shift == 9.0:
        assert found.weight == "fine"
        return
    n_means = [np.sum(mean < 0.0)] * (shift == 0.0)
    says(found.meaning, *n_means, np.sum(mean < 3.0), 50)
    assert ("transformation='log'" in found.advice) == (shift == 0.0)
    study.split.y = np.array([-1.0, 2.0])
    assert error_checks.below_zero(SimpleNamespace(study=study)) is None


@states("Observed shares by predicted probability")
@pytest.mark.parametrize("count", [2, 4])
def test_probabilities(count, pictures):
    own = of_labels(count, 3000, seed=1)
    classes.probabilities_section(subject(bochner=own))
    caption = pictures["Observed shares by predicted probability"][1]
    chosen = [1] if count == 2 else range(count)
    predicted = np.ravel(own.probability[:, chosen])
    happened = np.ravel(own.y[:, None] == own.classes[chosen])
    bins = np.minimum((10 * predicted).astype(int), 9)
    kept = [k for k in range(10) if np.sum(bins == k) >= 5]
    sizes = np.array([np.sum(bins == k) for k in kept])
    shares = np.array([[p[bins == k].mean() for k in kept] for p in (predicted, happened)])
    ends = np.divide(binom.interval(0.95, sizes, shares[0]), sizes)
    outside = np.flatnonzero((shares[1] < ends[0]) | (shares[1] > ends[1]))
    worst = outside[np.argmax(np.abs(shares[1] - shares[0])[outside])]
    said = 100.0 * shares[:, worst]
    says(caption, len(outside), len(kept), *said)
    assert f"are too {'low' if said[1] > said[0] else 'high'}" in caption


def assert_unlike_classes(sharpness=1.0):
    """Rows with gaps are too sure, and the other rows are as sure as they should be."""
    rng = np.random.default_rng(0)
    true = rng.dirichlet(np.ones(3), 400)
    names = np.array(["a", "b", "c"])
    y = np.array([rng.choice(names, p=row) for row in true])
    stated, gaps = true.copy(), np.arange(120)
    stated[gaps] = true[gaps] ** sharpness
    stated[gaps] /= stated[gaps].sum(axis=1, keepdims=True)
    own = Outcome(y, names[stated.argmax(axis=1)], probability=stated, classes=names)
    section = unlike_rows.unlike_section(kinds_of(own, gaps, []))
    cells = table_of(section, "Errors by kind of rows")
    losses = -np.log(stated[np.arange(400), np.searchsorted(names, y)])
    for kind, part in (("with a missing entry", gaps), ("like the training rows", slice(120, 400))):
        says(cells[kind]["log loss"].text, *mean_error(losses[part]))
        says(cells[kind]["error rate"].text, *_shares(own.prediction[part] != y[part]))
    finding = unlike_rows.unlike(kinds_of(own, gaps, []))
    if sharpness == 1.0:
        assert finding.weight == "fine"
        return
    assert finding.title == "Probabilities are too high for rows with a missing entry"
    right = np.mean(own.prediction[gaps] == y[gaps])
    start = (100.0 * right, 100.0 * stated[gaps].max(axis=1).mean())
    like = mean_error(losses[120:])
    says(finding.meaning, *start, *like, *mean_error(losses[gaps]))


def _shares(is_wrong):
    return [100.0 * value for value in mean_error(is_wrong)]


@pytest.mark.parametrize("sharpness", [1.0, 6.0])
def test_classes_of_rows_unlike_the_training_rows(sharpness):
    assert_unlike_classes(sharpness)


@states("Effect of .*")
@pytest.mark.parametrize("labels", [None, ["no", "yes"], ["red", "green", "blue"]])
@pytest.mark.parametrize("seed", range(4))
def test_where_an_effect_is_least_and_largest(labels, seed):
    """Of several classes, that of the largest change is named, and not the most frequent one."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=9)).round(3)
    mean = rng.normal(size=9)
    if labels is not None:
        spread = rng.permutation(len(labels)) + 1.0
        mean = np.exp(spread * rng.normal(size=(9, len(labels))) - 3.0 * spread)
        mean = 0.01 + 0.9 * mean / mean.sum(axis=1).max()
    effect = Effect(("size",), (values,), mean, mean, mean, labels and np.array(labels))
    sentence, unit = columns.effect_sentence(effect), 1.0
    if labels is not None:
        k = 1 if len(labels) == 2 else np.argmax(mean.max(axis=0) - mean.min(axis=0))
        assert f"probability of '{labels[k]}' ranges" in sentence
        mean, unit = mean[:, k], 100.0
    low, high = np.argmin(mean), np.argmax(mean)
    says(sentence, unit * mean[low], values[low], unit * mean[high], values[high])


@pytest.mark.parametrize(("spans", "are_classes", "ends"), [
    ([(0.01, 0.02), (0.012, 0.013), (np.nan, np.nan)], True, (0.0, 0.0205)),
    ([(0.8, 0.9)], True, (0.795, 0.905)),
    ([(0.0, 1.0)], False, (-0.05, 1.05)),
])  # fmt: skip
def test_curves_have_one_scale_from_zero_unless_that_flattens_them(spans, are_classes, ends):
    assert columns._common_limits(spans, are_classes) == pytest.approx(ends)


@states("Importance of columns", "Columns by importance", "Interactions of columns")
def test_shares_of_columns(pictures):
    share, error = np.array([0.5, 0.3, 0.15, 0.004, 0.001]), np.array([5, 4, 3, 2, 1]) / 1000
    names = ("a", "b", "c", "d", "e")
    pairs = VarianceShares((("a", "b"), ("b", "c")), np.array([0.04, 0.005]), error[:2])
    (study,) = of_laws()
    changed = replace(study, importance=VarianceShares(names, share, error), interactions=pairs)
    section = columns.importance_section(subjects_of([changed])[0])
    says(pictures["Importance of columns"][1], 50.0, 0.5, 0.5 / 0.3)
    says(pictures["Interactions of columns"][1], 4.0, 0.5)
    cells = table_of(section, "Columns by importance")
    for name, value, spread in zip(names, share, error, strict=True):
        says(cells[name]["share of variance"].text, 100.0 * value, 100.0 * spread)
    (row,) = table_of(section, "Interactions of columns").values()
    says(row["share of variance"].text, 4.0, 0.5)


OF_WORDS = ("There are enough rows: .*", "All columns are used: .*", "No two important columns .*",
            "Residuals (show|depend) .*", r"\d+ % intervals (are calibrated for|depend on) .*",
            "Few (test )?rows: .*", "All classes are .*", "No column determines .*",
            "Log loss of all methods", "Columns", "Parts of the model")  # fmt: skip
"""Findings, a figure and tables that are tested with the checks and the pages."""


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["laws", "two classes"])
def test_all_that_a_report_states_has_a_test(kind):
    """A new figure or table of numbers needs a test with ``states`` and its title."""
    found = Page(page(kind))
    titles = [each.text for svg in found.all("svg") for each in found.within(svg, "title")]
    titles += [each.text for each in found.all("caption")]
    findings = [p.text for li in found.all("li") for p in found.within(li, "p")[:1]]
    titles += [re.sub(r"^(Fine|Note|Look) ", "", text.strip()) for text in findings]
    known = re.compile("|".join((*STATED, *OF_WORDS)))
    plain = [title.replace("\u00a0", " ").strip() for title in titles]
    assert not [title for title in plain if not known.match(title)]


def test_effects_of_times_are_averaged_by_weekday_and_hour():
    """Averages by weekday and hour are those of pandas' days and hours, on the zone's clock."""
    times = pd.date_range("2024-03-01", periods=24 * 60, freq="h")
    mean = np.random.default_rng(0).normal(size=len(times))
    years = decimal_years(times.to_numpy())
    effect = Effect(("when",), (np.append(years, np.nan),), *[np.append(mean, 99.0)] * 3)
    for zone in (None, "Europe/Berlin"):
        local = times.tz_localize("UTC").tz_convert(zone or "UTC")
        for cycle, labels in (("weekday", local.day_name()), ("hour", local.hour)):
            found = columns._by_cycle(effect, cycle, zone)
            expected = pd.Series(mean).groupby(np.asarray(labels)).mean()
            np.testing.assert_allclose(found.mean, expected[found.values[0]], atol=1e-9)
            assert len(found.mean) == len(expected)
    assert columns._by_cycle(effect, "weekday", None).values[0][0] == "Monday"
