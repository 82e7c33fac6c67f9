"""What is told of the rows of a table: weights, groups, times; and what is asked at new rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from tables.few_trees import boost_briefly

from bochner import TableClassifier, TableRegressor
from bochner.files.stamps import sortable_times
from bochner.tables.kernel_laws import KernelLaw
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


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_weights_of_zero_are_rows_left_out_and_their_unit_is_free(model, y):
    kept = np.arange(N) % 3 > 0
    part = model.fit(FRAME[kept], y[kept]).predict(FRAME)
    weighted = model.fit(FRAME, y, sample_weight=7.0 * kept).predict(FRAME)
    assert_array_equal(weighted, part)


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_a_row_may_outweigh_all_others(model, y):
    rows, weight = slice(0, 40), np.ones(40)
    weight[0] = 1e8
    chosen = clone(model).fit(FRAME[rows], y[rows], sample_weight=weight)
    assert chosen.record_["n_samples"] == 40
    answer = chosen.predict_proba if y is LABELS else chosen.predict
    assert np.isfinite(answer(FRAME)).all()


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


def test_heavy_rows_move_predictions_towards_them():
    shifted, weight = Y + np.where(GROUPS % 2, 2.0, 0.0), np.where(GROUPS % 2, 25.0, 1.0)
    level = REGRESSOR.fit(FRAME, shifted).predict(FRAME).mean()
    heavy = REGRESSOR.fit(FRAME, shifted, sample_weight=weight).predict(FRAME).mean()
    assert abs(level - Y.mean() - 1.0) < 0.2
    assert abs(heavy - Y.mean() - 2.0 * 25.0 / 26.0) < 0.2


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


def test_kernels_without_trends_predict_later_rows(monkeypatch):
    """Four years of a season with a slow drift: the last quarter of a year is predicted."""
    boost_briefly(monkeypatch)
    rng = np.random.default_rng(3)
    days = pd.Series(pd.date_range("2020-01-01", periods=700, freq="2D"))
    season = np.cos(2.0 * np.pi * days.dt.day_of_year / 365.25)
    drift = np.cumsum(rng.normal(size=700)) * 0.005
    X = pd.DataFrame({"day": days, "a": rng.normal(size=700)})
    y = season + X["a"] + drift - drift.mean() + 0.2 * rng.normal(size=700)
    model = REGRESSOR.fit(X[:560], y[:560], time="day")

    def numbers_of_columns(model):
        laws = model.head_.laws.members
        return {len(law.columns) for law in laws if isinstance(law, KernelLaw)}

    n_encoded = model.encoder_.get_feature_names_out().size
    assert {n_encoded, n_encoded - 1} <= numbers_of_columns(model)
    by_values = REGRESSOR.fit(X[:560], y[:560], time=np.arange(560))
    np.testing.assert_array_equal(by_values.head_.weights, model.head_.weights)
    shuffled = REGRESSOR.fit(X[:560], y[:560], groups=np.arange(560) // 70)
    assert numbers_of_columns(shuffled) == {n_encoded}


def test_errors_of_new_groups_are_those_that_are_expected():
    centre = np.repeat(RNG.normal(size=(N // 4, 2)), 4, axis=0)
    X, y = centre + 0.01 * RNG.normal(size=(N, 2)), RNG.normal(size=N // 4)[GROUPS]
    assert REGRESSOR.fit(X, y).score_ < 0.6 * y.std()
    assert REGRESSOR.fit(X, y, groups=GROUPS).score_ > 0.9 * y.std()


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
    assert_allclose(np.quantile(draws, 0.95, axis=1), high, atol=0.1)
    assert_array_equal(model.sample(new, 3, random_state=1), model.sample(new, 3, random_state=1))
    for wrong in (0.0, 1.0, "a", [0.5, 2.0]):
        with pytest.raises((TypeError, ValueError), match="levels must lie between 0 and 1"):
            model.predict_quantiles(new, wrong)


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


def test_counts_are_rows_and_equal_rows_stay():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]])
    y, counts = np.array([5.0, 6.0, 5.0, 7.0]), np.array([1.0, 2.0, 3.0, 6.0])
    counted = table_rows(rows, y, counts, None, None, are_counts=True)
    assert_array_equal(np.sort(counted.y), np.sort(np.repeat(y, counts.astype(int))))
    assert counted.weights is None
    assert (counted.n_given, counted.unit, counted.noise_unit) == (4, 1.0, 1.0)
    for factor in (0.5, 1.0, 1e3):
        precise = table_rows(rows, y, factor * counts, None, None)
        assert_allclose(np.sort(precise.weights), counts / counts.mean())
        assert (len(precise.y), precise.noise_unit) == (4, 1.0)


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


@pytest.mark.parametrize(
    ("n_rows", "copies", "is_warned"),
    [(60, 2, True), (60, 3, True), (5, 60, False)],
)
def test_copied_rows_are_warned_of(n_rows, copies, is_warned, recwarn):
    rows = np.random.default_rng(0).normal(size=(n_rows, 2))
    X, y = np.tile(rows, (copies, 1)), np.tile(rows[:, 0], copies)
    table_rows(X, y, None, None, None)
    advice = "pass the number of the observation as groups"
    assert any(advice in str(w.message) for w in recwarn) == is_warned
    recwarn.clear()
    table_rows(X, y, None, np.tile(np.arange(n_rows), copies), None)
    assert not recwarn.list


@pytest.mark.parametrize("option", ["time", "groups"])
def test_two_times_or_groups_are_enough(option):
    halves = {option: np.arange(N) % 2}
    assert 0.1 < REGRESSOR.fit(FRAME, Y, **halves).score_ < 2.0


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


def check_fewest_copied():
    """Twenty rows that are there twice are copies; fewer may be levels of a design."""
    for n_rows, n_warnings in ((19, 0), (20, 1)):
        rows = np.tile(np.random.default_rng(0).normal(size=(n_rows, 2)), (2, 1))
        with warnings.catch_warnings(record=True, action="always") as found:
            table_rows(rows, rows[:, 0], None, None, None)
        assert len(found) == n_warnings


def test_twenty_copied_rows_are_warned_of():
    check_fewest_copied()
