"""What is told of the rows of a table: weights, groups, times; and what is asked at new rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from bochner import TableClassifier, TableRegressor
from bochner.files.stamps import sortable_times
from bochner.tables.table_rows import table_rows

RNG = np.random.default_rng(0)
N = 240
FRAME = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N)})
Y = pd.Series(np.sin(2.0 * FRAME["a"]) + 0.3 * RNG.normal(size=N) + 5.0)
LABELS = np.where(FRAME["a"] + 0.5 * RNG.normal(size=N) > 0.0, "up", "down")
GROUPS = np.arange(N) // 4
REGRESSOR = TableRegressor(effort="quick", random_state=0)
CLASSIFIER = TableClassifier(effort="quick", random_state=0)
MODELS = [(REGRESSOR, Y), (CLASSIFIER, LABELS)]


@pytest.mark.thorough
@pytest.mark.parametrize(("model", "y"), MODELS)
def test_weights_of_zero_are_rows_left_out_and_their_unit_is_free(model, y):
    kept = np.arange(N) % 3 > 0
    part = model.fit(FRAME[kept], y[kept]).predict(FRAME)
    weighted = model.fit(FRAME, y, sample_weight=7.0 * kept).predict(FRAME)
    assert_array_equal(weighted, part)


@pytest.mark.thorough
def test_noise_of_weights_far_apart_has_the_right_size_or_is_refused():
    """Beyond the limit, variances of the function would be lost in those of the noise."""
    rng, rows = np.random.default_rng(1), FRAME[:60]
    weight = np.where(np.arange(60) < 30, 0.5, 5e7)
    y = Y[:60] + 3e4 * rng.normal(size=60) / np.sqrt(weight)
    model = clone(REGRESSOR).fit(rows, y, sample_weight=weight)
    _, std = model.predict(rows, return_std=True, sample_weight=np.ones(60))
    assert 1e4 < np.median(std) < 9e4
    ends = model.predict_interval(rows, sample_weight=np.full(60, 1e-50))
    assert np.isfinite(ends).all()
    weight[0] /= 2.0
    with pytest.raises(ValueError, match=r"sample_weight .*got 0.25 and 5e\+07. Use 0 for rows"):
        clone(REGRESSOR).fit(rows, y, sample_weight=weight)


@pytest.mark.thorough
@pytest.mark.parametrize(("model", "y"), MODELS)
def test_columns_may_name_groups_and_times(model, y):
    frame = FRAME.assign(group=GROUPS.astype(str), day=pd.date_range("2020", periods=N))[:100]
    y = y[:100]
    for option, values in (("groups", frame["group"]), ("time", frame["day"].astype(str))):
        name = {"groups": "group", "time": "day"}[option]
        by_name = model.fit(frame, y, **{option: name}).score_
        assert model.fit(frame, y, **{option: values}).score_ == by_name
        assert model.fit(frame, y).score_ != by_name


def test_errors_of_later_rows_are_those_of_later_stretches():
    spread = np.where(np.arange(N) < 0.4 * N, 0.05, 2.0)
    y = FRAME["a"] + spread * np.random.default_rng(7).normal(size=N)
    shuffled = np.random.default_rng(8).permutation(N)
    model = REGRESSOR.fit(FRAME.iloc[shuffled], y.iloc[shuffled], time=shuffled)
    assert model.score_ > 1.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": GROUPS, "time": GROUPS}, "give one of them"),
        ({"groups": "region"}, "'region', which the table does not have"),
        ({"groups": GROUPS[:5]}, "an entry for each of the 240 rows, got 5"),
        ({"groups": np.c_[GROUPS, GROUPS]}, "groups must have .* got an array of shape"),
        ({"time": 3}, r"time must have .* got an array of shape \(\)"),
        ({"groups": np.array(["a", 1] * (N // 2), dtype=object)}, "groups must hold labels of one"),
        ({"sample_weight": "a"}, "sample_weight must hold numbers"),
        ({"groups": np.zeros(N)}, "at least two different labels"),
        ({"time": np.where(GROUPS == 3, np.nan, GROUPS)}, "must not have missing entries"),
        ({"sample_weight": -np.ones(N)}, "Negative values"),
        ({"sample_weight": np.zeros(N)}, "zero"),
    ],
)
@pytest.mark.parametrize(("model", "y"), MODELS)
def test_what_is_told_of_rows_is_checked(model, y, options, message):
    with pytest.raises(ValueError, match=message):
        model.fit(FRAME, y, **options)


def test_a_fifth_of_too_few_rows_is_none():
    assert REGRESSOR.fit(FRAME[:5], Y[:5], time=np.arange(5)).score_ > 0.0
    with pytest.raises(ValueError, match="expected at least 5 rows and two different times, got 4"):
        REGRESSOR.fit(FRAME[:4], Y[:4], time=np.arange(4))
    with pytest.raises(ValueError, match="got 9 rows and 1 different time"):
        REGRESSOR.fit(FRAME[:9], Y[:9], time=np.ones(9))


def test_quantiles_intervals_and_draws_agree():
    model = REGRESSOR.fit(FRAME[:160], Y[:160])
    new = FRAME[160:]
    low, middle, high = model.predict_quantiles(new, [0.05, 0.5, 0.95]).T
    assert np.all(low < middle)
    assert np.all(middle < high)
    ends = model.predict_interval(new, level=0.9)
    assert_allclose(high - low, ends[1] - ends[0], rtol=0.25)
    draws = model.sample(new, 4000, random_state=0)
    assert draws.shape == (80, 4000)
    assert_allclose(np.quantile(draws, 0.95, axis=1), high, rtol=0.03)
    assert_array_equal(model.sample(new, 3, random_state=1), model.sample(new, 3, random_state=1))
    for wrong in (0.0, 1.0, "a", [0.5, 2.0]):
        with pytest.raises((TypeError, ValueError), match=r"levels must .*between 0 and 1"):
            model.predict_quantiles(new, wrong)


@pytest.mark.thorough
def test_probabilities_are_never_zero_or_one_and_expected_as_they_turn_out():
    clear = np.where(FRAME["a"] > 0.0, "up", "down")
    probability = CLASSIFIER.fit(FRAME, clear).predict_proba(FRAME)
    assert 0.0 < probability.min() < 0.02
    assert probability.max() < 1.0
    model = CLASSIFIER.fit(FRAME[:160], LABELS[:160])
    own = model.predict_proba(FRAME[160:])[
        np.arange(80), np.searchsorted(model.classes_, LABELS[160:])
    ]
    assert abs(model.score_ + np.log(own).mean()) < 0.12


@pytest.mark.thorough_cases("y1")
@pytest.mark.parametrize(("model", "y"), MODELS)
def test_counts_are_repeated_rows(model, y):
    """Repeated rows in any order are independent rows, and so are counts."""
    frame = FRAME.assign(text=np.where(FRAME["b"] > 0.0, "much", None))
    times = np.random.default_rng(1).integers(1, 4, N)
    repeated = np.random.default_rng(2).permutation(np.repeat(np.arange(N), times))
    weighted = clone(model).set_params(weights="counts").fit(frame, y, sample_weight=times)
    expected, score = weighted.predict(frame), weighted.score_
    assert weighted.record_["n_samples"] == N
    model.fit(frame.iloc[repeated], np.asarray(y)[repeated])
    assert_array_equal(model.predict(frame), expected)
    assert model.score_ == score
    assert model.record_["n_samples"] == times.sum()


def test_many_counts_are_fewer_rows_of_greater_weight():
    counts = np.array([3.0, 5e5, 1e6])
    rows = np.arange(6.0).reshape(3, 2)
    counted = table_rows(rows, np.arange(3.0), counts, None, None, are_counts=True)
    assert len(counted.y) < 250_000
    for value, count in enumerate(counts):
        of_row = counted.noise_unit * counted.weights_or_ones
        assert_allclose(of_row[counted.y == value].sum(), count)


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_fractions_are_no_counts(model, y):
    counting = clone(model).set_params(weights="counts")
    with pytest.raises(ValueError, match=r"whole numbers in sample_weight, got 0\.5: round them"):
        counting.fit(FRAME, y, sample_weight=np.where(GROUPS == 1, 0.5, 1.0))
    with pytest.raises(ValueError, match=r"weights must be one of .*precisions.*counts"):
        clone(model).set_params(weights="rows").fit(FRAME, y)


def test_classes_have_no_factors_if_weights_are_counts():
    with pytest.raises(ValueError, match="class_weight needs weights='precisions'"):
        TableClassifier(class_weight="balanced", weights="counts").fit(FRAME, LABELS)


class TestTimes:
    """Entries of ``time`` are numbers or dates; other entries have no order that is known."""

    @pytest.mark.parametrize(
        ("time", "error", "message"),
        [
            ([f"x{i}" for i in range(20)], TypeError, "must hold numbers or dates, got 'x0' first"),
            ([True, False] * 10, TypeError, "got True and False"),
            ([np.inf, *range(19)], ValueError, "finite numbers or dates, got infinite"),
            (pd.Categorical(["b", "a"] * 10), TypeError, "must hold numbers or dates, got 'b'"),
            (
                [pd.Timestamp(2020, 1, 1 + i, tz="UTC" if i % 2 else None) for i in range(20)],
                ValueError,
                "dates with a time zone and dates without",
            ),
        ],
    )
    def test_entries_without_an_order_are_refused(self, time, error, message):
        with pytest.raises(error, match=message):
            sortable_times("time", time)

    @pytest.mark.parametrize(
        "time",
        [
            [3.5, 1, 2],
            np.array([3, 1, 2], dtype=object),
            ["2020-03-01", "2020-01-01", "2020-02-01"],
            pd.to_datetime(["2020-03-01", "2020-01-01", "2020-02-01"]),
            pd.Series(pd.to_datetime(["2020-03-01", "2020-01-01", "2020-02-01"], utc=True)),
            pd.PeriodIndex(["2020-03", "2020-01", "2020-02"], freq="M"),
            pd.Series(["high", "low", "middle"], dtype="category").cat.set_categories(
                ["low", "middle", "high"], ordered=True
            ),
            # Their order by the clock is another one
            ["2020-01-01T06:00+00:00", "2020-01-01T09:00+09:00", "2020-01-01T07:00+04:00"],
        ],
        ids=repr,
    )
    def test_numbers_dates_and_ordered_categories_are_sorted(self, time):
        assert np.argsort(sortable_times("time", time)).tolist() == [1, 2, 0]


def test_twenty_copied_rows_are_warned_of():
    """Twenty rows that are there twice are copies; fewer may be levels of a design."""
    for n_rows, n_warnings in ((19, 0), (20, 1)):
        rows = np.tile(np.random.default_rng(0).normal(size=(n_rows, 2)), (2, 1))
        with warnings.catch_warnings(record=True, action="always") as found:
            table_rows(rows, rows[:, 0], None, None, None)
        assert len(found) == n_warnings


def test_some_rows_have_the_order_of_their_times():
    times, chosen = np.random.default_rng(0).permutation(12), np.array([7, 2, 9, 4, 0])
    rows = table_rows(pd.DataFrame({"a": times}), np.arange(12.0), None, None, times)
    assert_array_equal(rows.part(chosen).order, np.argsort(times[chosen]))
