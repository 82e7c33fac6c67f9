"""TableEncoder: each kind of column against an independent oracle, its state, its refusals."""

import datetime
import decimal
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import ndtri
from scipy.stats import f_oneway, rankdata
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import TableRegressor
from bochner.tables import encoder as encoder_module
from bochner.tables.encoder import TableEncoder
from bochner.tables.level_means import Removal

ENCODERS = [
    TableEncoder(),
    TableEncoder(numeric="normal_quantile", n_quantiles=16),
    TableEncoder(numeric="tails", clip=0.1),
]


@parametrize_with_checks(ENCODERS, xfail_strict=True)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        "check_get_feature_names_out_error",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
    ],
)
@pytest.mark.filterwarnings("ignore:X (does not have|has).*feature names")
def test_scikit_learn_name_checks(check):
    getattr(estimator_checks, check)("TableEncoder", TableEncoder())


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(50.0, 7.0, n),
            "rooms": rng.integers(1, 6, n),
            "new": rng.integers(0, 2, n).astype(bool),
            "colour": rng.choice(["red", "green", "blue"], n),
            "sold": pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    frame["floor"] = frame["rooms"].astype(float)
    frame.loc[::7, "floor"] = np.nan
    frame.loc[3, "colour"] = None
    return frame


def test_tails_are_columns_beyond_the_clip_as_they_are():
    frame = table(200)
    frame.loc[5, "size"], frame.loc[6, "size"] = 1000.0, np.nan
    encoder = TableEncoder(numeric="tails").fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["size"]
    size = frame["size"]
    expected = (size.fillna(size.median()) - size.mean()) / size.std(ddof=0)
    np.testing.assert_allclose(encoder.transform(frame)[:, 0], expected, rtol=1e-9)
    beyond = table(10).assign(size=[1e6, -1e6] * 5)
    ends = (np.array([1000.0, size.min()]) - size.mean()) / size.std(ddof=0)
    np.testing.assert_allclose(encoder.transform(beyond)[:2, 0], ends, rtol=1e-9)
    assert TableEncoder(numeric="tails").fit_transform(table(200)).shape == (200, 0)


def column(values, **parameters):
    """The encoder of a table with this one column, and the features it gives."""
    frame = pd.DataFrame({"a": values})
    encoder = TableEncoder(**parameters).fit(frame)
    return encoder, encoder.transform(frame)


class TestNumbers:
    def test_standardised_as_scikit_learn_does(self):
        x = np.random.default_rng(0).normal(1e3, 2.0, 200)
        _, out = column(x, clip=50.0)
        expected = StandardScaler().fit_transform(x[:, None])
        np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)

    def test_clipped_at_fit_and_beyond(self):
        x = np.append(np.zeros(99), 1.0)
        encoder, out = column(x, clip=3.0)
        assert out.max() == 3.0
        far = encoder.transform(pd.DataFrame({"a": [-1e9, 1e9]}))
        assert far.ravel().tolist() == [-3.0, 3.0]

    def test_missing_take_the_median_and_an_indicator(self):
        encoder, out = column([1.0, np.nan, 2.0, 9.0])
        assert encoder.get_feature_names_out().tolist() == ["a", "a_<missing>"]
        assert out[:, 1].tolist() == [0.0, 1.0, 0.0, 0.0]
        assert out[1, 0] == out[2, 0]

    @pytest.mark.parametrize(
        "values",
        [
            pd.array([1, None, 3], dtype="Int64"),
            np.array([1, None, 3], dtype=object),
            [decimal.Decimal(1), None, decimal.Decimal(3)],
            [np.float32(1), float("nan"), 3],
            pd.to_timedelta([1, None, 3], "h"),
        ],
    )
    def test_ways_to_write_numbers_agree(self, values):
        _, expected = column([1.0, np.nan, 3.0])
        np.testing.assert_array_equal(column(values)[1], expected)


class TestNormalQuantile:
    def test_mid_ranks_with_ties(self):
        x = np.random.default_rng(1).integers(0, 6, 100).astype(float)
        _, out = column(x, numeric="normal_quantile", clip=9.0)
        np.testing.assert_allclose(out.ravel(), ndtri((rankdata(x) - 0.5) / x.size), atol=1e-12)

    def test_monotone_and_within_the_clip(self):
        x = np.random.default_rng(3).lognormal(sigma=3.0, size=3000)
        encoder, _ = column(x, numeric="normal_quantile", n_quantiles=50, clip=2.5)
        out = encoder.transform(pd.DataFrame({"a": np.sort(np.append(x, [-1.0, 1e9]))})).ravel()
        assert np.all(np.diff(out) >= 0)
        assert out[0] == -2.5
        assert out[-1] == 2.5
        assert len(encoder.columns_[0]["points"]) <= 50


class TestText:
    def test_one_feature_a_level_and_one_for_the_rest(self):
        encoder, out = column(["b", "a", None, "b"])
        assert encoder.get_feature_names_out().tolist() == ["a_a", "a_b", "a_<unknown>"]
        assert out.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
        new = encoder.transform(pd.DataFrame({"a": ["c", "a"]}))
        assert new.tolist() == [[0, 0, 1], [1, 0, 0]]

    def test_categories_of_numbers_are_text(self):
        encoder, out = column(pd.Categorical([10, 2, None, 10]))
        assert encoder.columns_[0]["levels"] == ["10", "2"]
        assert out.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]

    def test_levels_of_a_later_table_that_are_new(self):
        """Neither missing entries nor numbers are new levels."""
        frame = pd.DataFrame({"a": ["b", "c", None, "b"], "b": [1.0, 2.0, 3.0, 4.0]})
        encoder = TableEncoder().fit(frame)
        assert not encoder.known(frame).is_new.any()
        later = pd.DataFrame({"b": [9.0, 9.0, 9.0], "a": ["d", None, "c"]})
        assert encoder.known(later).is_new.T.tolist() == [[True, False, False], [False] * 3]


def in_tokyo(day):
    return day.replace(tzinfo=datetime.UTC).astimezone(
        datetime.timezone(datetime.timedelta(0, 32400))
    )


class TestDates:
    def oracle(self, day):
        start = datetime.datetime(day.year, 1, 1)
        end = datetime.datetime(day.year + 1, 1, 1)
        return day.year + (day - start) / (end - start)

    days = (
        datetime.datetime(2020, 2, 29, 12),
        datetime.datetime(1969, 7, 20, 20, 17),
        datetime.datetime(2021, 12, 31, 23, 59, 59),
    )

    @pytest.mark.parametrize(
        "write",
        [
            lambda days: np.array(days, dtype="datetime64[s]"),
            lambda days: pd.Series(days).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
            lambda days: pd.Series(list(days), dtype=object),
            lambda days: pd.Series(list(days), dtype="timestamp[us][pyarrow]"),
            lambda days: pd.Series([in_tokyo(day) for day in days], dtype=object),
            lambda days: pd.Series([in_tokyo(day).isoformat() for day in days], dtype="string"),
        ],
    )
    def test_decimal_years_in_utc(self, write):
        encoder, out = column(write(self.days), clip=9.0)
        years = np.array([self.oracle(day) for day in self.days])
        np.testing.assert_allclose(out[:, 0], (years - years.mean()) / years.std(), atol=1e-9)
        assert encoder.columns_[0]["kind"] == "date"
        # A shift of every date cancels in the standardised feature, not in the median.
        assert encoder.columns_[0]["fill"] == pytest.approx(np.median(years), abs=1e-9)

    def test_cycles_are_points_on_circles(self):
        minutes = np.random.default_rng(0).integers(0, 10**6, 300)
        times = pd.Series(pd.Timestamp("2019-11-05") + pd.to_timedelta(minutes, "min"))
        times[7] = None
        encoder, out = column(times)
        seconds = (times - times.dt.normalize()).dt.total_seconds()
        year = (times.dt.day_of_year - 1) / (365 + times.dt.is_leap_year)
        week = times.dt.day_of_week / 7
        phases = {"hour": seconds / 86400, "weekday": week, "day of year": year}
        expected = {}
        for name in ("hour 1", "hour 2", "weekday 1", "weekday 2", "day of year 1"):
            cycle, k = name.rsplit(" ", 1)
            angle = 2 * np.pi * int(k) * phases[cycle]
            expected[f"a_<{cycle} cos {k}>"] = np.sqrt(2) * np.cos(angle).fillna(0)
            expected[f"a_<{cycle} sin {k}>"] = np.sqrt(2) * np.sin(angle).fillna(0)
        assert encoder.get_feature_names_out().tolist() == ["a", *expected, "a_<missing>"]
        np.testing.assert_allclose(out[:, 1:-1], np.column_stack([*expected.values()]), atol=1e-9)
        missing = encoder.transform(pd.DataFrame({"a": [np.nan]}))  # a column of numbers to pandas
        np.testing.assert_array_equal(missing[0, 1:], [0.0] * 10 + [1.0])

    @pytest.mark.parametrize(
        ("start", "periods", "step", "cycles"),
        [
            ("2020-01-01", 400, "D", {"weekday", "day of year"}),
            ("2020-01-01", 300, "D", {"weekday"}),
            ("2020-01-01", 24, "h", set()),
            ("2020-01-01", 25, "h", set()),  # A day from the first to the last, and no more
            ("2020-01-01", 26, "h", {"hour"}),
            ("2020-01-01", 100, "h", {"hour"}),
            ("2020-01-01 08:30", 20, "7D", set()),
            ("2020-01-01", 40, "MS", {"day of year"}),
            ("2020-01-31", 40, "ME", {"day of year"}),
            ("1990-12-31", 30, "YE", set()),
        ],
    )
    def test_cycles_that_vary_and_repeat(self, start, periods, step, cycles):
        encoder, _ = column(pd.date_range(start, periods=periods, freq=step))
        assert set(encoder.columns_[0].get("cycles", [])) == cycles

    def test_text_at_fit_is_text_later(self):
        encoder, _ = column(["2020-01-01", "soon", "2020-01-01"])
        new = encoder.transform(pd.DataFrame({"a": ["2020-01-01", None]}))
        assert new.tolist() == [[1, 0, 0], [0, 0, 1]]


class TestManyLevels:
    def rows(self, n=400, n_levels=40):
        """Text of many levels, none as frequent as another among the first ten, and a target."""
        rng = np.random.default_rng(5)
        level = np.append(np.repeat(np.arange(10), np.arange(20, 30)), np.arange(10, 20))
        level = rng.permutation(np.append(level, rng.integers(10, n_levels, n - level.size)))
        y = rng.normal(size=n_levels)[level] + rng.normal(size=n)
        return pd.DataFrame({"a": [f"level {i}" for i in level], "b": y}), y

    def test_frequent_levels_have_features(self):
        X, _ = self.rows()
        oracle = OneHotEncoder(max_categories=11, sparse_output=False).fit(X[["a"]])
        encoder = TableEncoder(max_levels=10)
        np.testing.assert_array_equal(encoder.fit_transform(X[["a"]]), oracle.transform(X[["a"]]))
        assert (
            encoder.transform(pd.DataFrame({"a": ["new", None]})).tolist() == [[0] * 10 + [1]] * 2
        )

    def test_rare_levels_are_not_new(self):
        """Without means of the target their names are unknown, so that no level counts as new."""
        X, y = self.rows()
        later = pd.DataFrame({"a": [*X["a"].unique(), "new"]})
        assert not TableEncoder(max_levels=10).fit(X[["a"]]).known(later).is_new.any()
        (mask,) = TableEncoder(max_levels=10).fit(X[["a"]], y).known(later).is_new.T
        assert np.flatnonzero(mask).tolist() == [len(later) - 1]

    def test_means_of_rare_levels_are_shrunk_and_out_of_fold(self):
        X, y = self.rows()
        encoder = TableEncoder(max_levels=10)
        out = encoder.fit_transform(X[["a"]], y)[:, -1]
        known = X.assign(y=y)[~X["a"].isin(encoder.columns_[0]["levels"])]
        groups = [some["y"] for _, some in known.groupby("a")]
        sizes, n = np.array([len(some) for some in groups]), len(known)
        within = sum(len(some) * some.var(ddof=0) for some in groups) / (n - len(groups))
        ratio = f_oneway(*groups).statistic - 1
        between = ratio * within * (len(groups) - 1) / (n - np.sum(sizes**2) / n)
        mean, fold = known["y"].mean(), known.groupby("a").cumcount() % 5
        expected = np.zeros(len(X))
        for i in known.index:
            other = known["y"][(known["a"] == known["a"][i]) & (fold != fold[i])] - mean
            expected[i] = other.sum() / (len(other) + within / between) / np.sqrt(between)
        np.testing.assert_allclose(out, expected, atol=1e-9)
        oracle = TargetEncoder(smooth=within / between, target_type="continuous")
        means = oracle.fit(known[["a"]], known["y"]).transform(known[["a"]])
        encoder.columns_ = json.loads(json.dumps(encoder.columns_))
        later = encoder.transform(known[["a"]])[:, -1:]
        np.testing.assert_allclose(later, (means - mean) / np.sqrt(between), atol=1e-9)
        assert encoder.transform(pd.DataFrame({"a": ["new", None]}))[:, -1].tolist() == [0, 0]

    def expected_means(self, known, fold, counts, size):
        """Shrunken means of other folds, of the rows that count, by loops over rows."""
        some = known[counts]
        groups = [part["y"] for _, part in some.groupby("a")]
        sizes, n = np.array([len(part) for part in groups]), len(some)
        within = sum(len(part) * part.var(ddof=0) for part in groups) / (n - len(groups))
        ratio = f_oneway(*groups).statistic - 1
        between = ratio * within * (len(groups) - 1) / (n - np.sum(sizes**2) / n)
        expected = np.zeros(size)
        for i in known.index:
            is_other = (some["a"] == known["a"][i]) & ((fold[counts] != fold[i]) | ~counts[i])
            other = some["y"][is_other] - some["y"].mean()
            expected[i] = other.sum() / (len(other) + within / between) / np.sqrt(between)
        return expected

    def known_rows(self):
        X, y = self.rows()
        encoder = TableEncoder(max_levels=10).fit(X[["a"]], y)
        return X[["a"]], y, X.assign(y=y)[~X["a"].isin(encoder.columns_[0]["levels"])]

    def test_means_of_a_level_leave_groups_out(self):
        X, y, known = self.known_rows()
        groups = np.random.default_rng(6).integers(0, 60, len(X))
        out = TableEncoder(max_levels=10).fit_training_rows(X, y, Removal.of_labels(groups))
        numbers = known.assign(group=groups[known.index]).groupby("a")["group"]
        fold = numbers.rank("dense").astype(int).sub(1) % 5
        everyone = pd.Series(True, known.index)
        expected = self.expected_means(known, fold, everyone, len(X))
        np.testing.assert_allclose(out[:, -1], expected, atol=1e-9)
        alone = TableEncoder(max_levels=10).fit_training_rows(
            X, y, Removal.of_labels(X["a"].to_numpy())
        )
        assert not alone[:, -1].any()  # A level of one group tells nothing of new groups

    def test_means_of_a_level_know_no_later_target(self):
        X, y, known = self.known_rows()
        removal = Removal.of_times(np.arange(len(X)) // 7)
        out = TableEncoder(max_levels=10).fit_training_rows(X, y, removal)
        blocks = known.assign(group=removal.groups[known.index]).groupby("a")["group"]
        fold = blocks.rank("dense").astype(int).sub(1) % 5
        stretch = pd.Series(removal.stretches[known.index], known.index)
        expected = self.expected_means(known, fold, stretch == 0, len(X))
        first = removal.stretches < 2  # These have means of rows before all stretches
        np.testing.assert_allclose(out[first, -1], expected[first], atol=1e-9)
        assert out[~first, -1].any()
        for number in (1, 2, 3):
            changed = np.where(removal.stretches >= number, 100.0 * y, y)
            again = TableEncoder(max_levels=10).fit_training_rows(X, changed, removal)
            known_before = removal.stretches <= number
            np.testing.assert_array_equal(again[known_before], out[known_before])
            assert number == 3 or not np.array_equal(again, out)

    def test_classes_are_indicators_and_noise_has_no_means(self):
        X, y = self.rows()
        classes = np.array(["low", "mid", "high"])[np.digitize(y, [-0.7, 0.7])]
        out = TableEncoder(max_levels=10).fit_transform(X[["a"]], classes)
        each = [TableEncoder(max_levels=10).fit_transform(X[["a"]], classes == some)[:, -1]
                for some in ("high", "low", "mid")]  # fmt: skip
        np.testing.assert_array_equal(out[:, -3:], np.column_stack(each))
        noise = np.arange(len(X)) % 2  # as even in every level as chance would not make it
        X = X.assign(a=np.repeat(X["a"].to_numpy()[::2], 2))
        assert TableEncoder(max_levels=10).fit_transform(X[["a"]], noise).shape == (400, 11)

    def test_identifiers_are_left_out_with_a_warning(self):
        X = pd.DataFrame({"the id": [f"id{i}" for i in range(300)], "b": range(300)})
        encoder = TableEncoder()
        with pytest.warns(UserWarning, match=r"'the id' \(300 .* 300 rows\).*--drop \"the id\""):
            assert encoder.fit_transform(X).shape == (300, 1)
        assert encoder.transform(X.assign(**{"the id": 1})).shape == (300, 1)
        with pytest.raises(ValueError, match=r"'the id' \(identifier\)"):
            encoder.fit(X[["the id"]])


class TestWrittenValues:
    @pytest.mark.parametrize(
        "entries",
        [
            ["1,5", "2"],
            ["1.5", "2"],
            ["1.234,5", "7"],
            ["31.12.2021", "1.1.2022"],
            ["12/31/2021 2:30 PM", None],
            ["3 Jan 2021", "4 Jan 2021"],
            ["2021/01/31", "2021/02/01"],
        ],
    )
    def test_numbers_and_dates_as_text_are_named_once(self, entries):
        X = pd.DataFrame({"a": entries, "b": [1.0, 2.0]})
        with pytest.warns(UserWarning, match=r"written as text in column 'a' \(row 1: ") as caught:
            encoder = TableEncoder().fit(X)
        assert "bochner.read_table" in str(caught[0].message)
        assert encoder.columns_[0]["kind"] == "text"
        many = pd.DataFrame({"a": [f"{i},5" for i in range(400)], "b": range(400)})
        with pytest.warns(UserWarning, match="written as text in column 'a'") as caught:
            TableEncoder().fit(many)
        assert len(caught) == 1

    @pytest.mark.parametrize(
        "entries",
        [
            ["1", "2"],
            ["1,5", "x"],
            ["1,5", "1.5"],
            ["2020-13", "2020-14"],
            ["red", "blue"],
            ["2020-01-01", "2020-01-02"],
            pd.Categorical(["1,5", "2,5"]),
            pd.Categorical(["31.12.2021", "1.1.2022"]),
        ],
    )
    def test_other_text_has_no_warning(self, entries):
        with warnings.catch_warnings(action="error"):
            TableEncoder().fit(pd.DataFrame({"a": entries, "b": [1.0, 2.0]}))


class TestState:
    @pytest.mark.parametrize("numeric", ["standardize", "normal_quantile"])
    def test_through_json_bit_for_bit(self, numeric):
        encoder = TableEncoder(numeric=numeric).fit(table())
        copy = clone(encoder).fit(table(seed=1))
        new = table(seed=2)
        assert not np.array_equal(copy.transform(new), encoder.transform(new))
        copy.columns_ = json.loads(json.dumps(encoder.columns_, allow_nan=False))
        np.testing.assert_array_equal(copy.transform(new), encoder.transform(new))

    def test_array_list_and_frame_agree(self):
        frame = table()
        objects = frame.to_numpy(dtype=object)
        from_frame = TableEncoder().fit_transform(frame)
        np.testing.assert_array_equal(TableEncoder().fit_transform(objects), from_frame)
        np.testing.assert_array_equal(TableEncoder().fit_transform(objects.tolist()), from_frame)
        assert TableEncoder().fit(objects).get_feature_names_out()[0] == "x0"

    def test_many_rows_have_fewer_features_of_levels(self, monkeypatch):
        """The others have means of the target; two columns of text share the features."""
        monkeypatch.setattr(encoder_module, "_MOST_OF_LEVELS", 200 * 24)
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({name: rng.choice(list("abcdefghijklmnop"), 200) for name in "st"})
        y = (frame["s"] < "h") + 0.1 * rng.normal(size=200)
        first, second = TableEncoder().fit(frame, y).columns_
        assert [len(state["levels"]) for state in (first, second)] == [12, 12]
        counts = frame["s"].value_counts()
        assert counts[first["levels"]].min() >= counts[list(first["means"])].max()

    def test_polars_and_pandas_agree(self):
        polars = pytest.importorskip("polars")
        frame = table().assign(
            code=pd.Categorical(["2020-01-01", "b", None] * 20),
            zone=pd.date_range("2020-01-01", periods=60, freq="5h", tz="Asia/Tokyo"),
            took=pd.to_timedelta(np.arange(60), "min"),
        )
        X = polars.from_pandas(frame)
        encoder = TableEncoder().fit(X)
        np.testing.assert_array_equal(encoder.transform(X), TableEncoder().fit_transform(frame))
        np.testing.assert_array_equal(encoder.transform(frame), encoder.transform(X))
        assert encoder.feature_names_in_.tolist() == X.columns
        turned = encoder.transform(X[X.columns[::-1]])
        np.testing.assert_array_equal(turned, encoder.transform(X))
        with pytest.raises(TypeError, match="collect"):
            TableEncoder().fit(X.lazy())
        y = X["size"].fill_null(0.0)
        model = TableRegressor(effort="quick", random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), model.predict(frame))

    def test_constant_and_empty_columns_become_nothing(self):
        frame = pd.DataFrame({"a": [1, 2, 3], "same": "x", "none": [None] * 3, "three": 3})
        encoder = TableEncoder().fit(frame)
        assert encoder.get_feature_names_out().tolist() == ["a"]
        later = frame.assign(same=[1, 2, 3], none="now", three=np.inf)
        np.testing.assert_array_equal(encoder.transform(later), encoder.transform(frame))


REFUSED_AT_FIT = {
    "no rows": (pd.DataFrame({"a": []}), ValueError, ["no rows", "at least 2"]),
    "one row": (pd.DataFrame({"a": [1.0]}), ValueError, ["one row", "at least 2"]),
    "no columns": (pd.DataFrame(index=range(3)), ValueError, ["0 feature"]),
    "nothing varies": (pd.DataFrame({"a": [1, 1]}), ValueError, ["'a' (constant)", "varies"]),
    "infinite": (
        pd.DataFrame({"a": [1.0, 2.0, np.inf], "b": 1}),
        ValueError,
        ["'a'", "row 3: inf", "Replace"],
    ),
    "mixed": (
        pd.DataFrame({"a": np.array([1, None, "x"], dtype=object)}),
        ValueError,
        ["'a' (row 1: 1, row 3: 'x')", "--drop a"],
    ),
    "dates and text": (
        pd.DataFrame({"a": np.array([datetime.date(2020, 1, 1), "x"], dtype=object)}),
        ValueError,
        ["'a'", "row 2: 'x'", "dates"],
    ),
    "complex": (pd.DataFrame({"a": [1j, 2.0]}), ValueError, ["Complex", "'a'", "drop it"]),
    "lists": (pd.DataFrame({"a": [[1], [2]]}), TypeError, ["'a' (list)", "string, a number"]),
    "twice": (
        pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["a", "b", "a"]),
        ValueError,
        ["Duplicate", "'a' (2 times)", "Rename"],
    ),
}


@pytest.mark.parametrize(("X", "error", "parts"), REFUSED_AT_FIT.values(), ids=REFUSED_AT_FIT)
def test_refused_at_fit(X, error, parts):
    with pytest.raises(error) as caught:
        TableEncoder().fit(X)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda f: f.drop(columns="size"), ["Missing column 'size'", "Rename or add"]),
        (lambda f: f[[]], ["Missing columns 'size'", "'colour'", "Rename or add"]),
        (
            lambda f: f.rename(columns={"colour": "Color"}),
            ["Missing column 'colour'", "nearest name there: 'Color'"],
        ),
        (lambda f: f.assign(price=1), ["Unexpected column 'price'", "delete"]),
        (lambda f: f.assign(size="big"), ["'size' (numbers at fit, now text, row 1: 'big')"]),
        (lambda f: f.assign(colour=1), ["'colour' (text at fit, now numbers, row 1: 1)"]),
        (lambda f: f.assign(sold=1), ["'sold' (dates at fit, now numbers"]),
        (
            lambda f: f.assign(rooms=np.array([1, "x"] * 30, dtype=object)),
            ["'rooms' (numbers at fit, now a mixture, row 1: 1, row 2: 'x')"],
        ),
        (lambda f: f.assign(size=-np.inf), ["'size' (60 of them", "row 1: -inf"]),
        (lambda f: f.iloc[:0], ["no rows"]),
    ],
)
def test_refused_at_transform(change, parts):
    frame = table()
    encoder = TableEncoder().fit(frame)
    with pytest.raises(ValueError, match=r".") as caught:
        encoder.transform(change(frame))
    for part in parts:
        assert part in str(caught.value)


def test_one_row_and_all_missing_rows_are_transformed():
    encoder = TableEncoder().fit(table())
    row = table().iloc[[0]]
    np.testing.assert_array_equal(encoder.transform(row), encoder.transform(table())[:1])
    blank = row.astype(object)
    blank.loc[:, :] = None
    assert np.isfinite(encoder.transform(blank)).all()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"numeric": "rank"}, "numeric must be one of"),
        ({"clip": 0.0}, "clip must be positive"),
        ({"clip": float("inf")}, "clip must be positive and finite"),
        ({"max_levels": 0}, "max_levels"),
        ({"n_quantiles": 1}, "n_quantiles"),
    ],
)
def test_parameters(parameters, match):
    with pytest.raises(ValueError, match=match):
        TableEncoder(**parameters).fit(table())


@pytest.mark.parametrize("kind", [float, int, object, "U6", "M8[ns]"])
def test_masked_entries_are_missing(kind):
    whole = np.arange(8, dtype="i8").reshape(4, 2) * 10**10
    hidden = whole == whole[2, 1]
    given = np.ma.array(whole.astype(kind), mask=hidden)
    expected = pd.DataFrame(whole.astype(kind), columns=["x0", "x1"]).mask(hidden)
    encoder = TableEncoder().fit(given)
    np.testing.assert_array_equal(encoder.transform(given), TableEncoder().fit_transform(expected))
    assert len(encoder.get_feature_names_out()) > 2


def test_records_and_arrays_of_polars_are_named():
    numbers = [1.0, 2.0, 3.0]
    records = pl.Series([{"p": 1, "q": "x"}] * 3)
    arrays = pl.Series([[1, 2]] * 3, dtype=pl.Array(pl.Int64, 2))
    for column, name in ((records, "dict"), (arrays, "Series")):
        with pytest.raises(TypeError, match=rf"Unreadable column 's' \({name}\)"):
            TableEncoder().fit(pl.DataFrame({"a": numbers, "s": column}))


def test_whole_numbers_beyond_floats_are_named():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1, -(10**5000), 3]})
    with pytest.raises(ValueError, match=r"in column 'b' .* row 2: a whole number of 16610 bits"):
        TableEncoder().fit(frame)
