"""Effects of dates: predictions of the table's own rows at other hours, weekdays and weeks."""

import numpy as np
import pandas as pd
import pytest

from bochner import TableClassifier, TableRegressor
from bochner.report.dates import cycles_of, date_effects


@pytest.fixture(scope="module")
def hourly():
    """Rows of two months whose target has a peak at noon on working days."""
    rng = np.random.default_rng(0)
    when = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 1440, 400), "h"))
    frame = pd.DataFrame({"when": when, "x": rng.normal(size=400)})
    works = when.dt.day_of_week < 5
    y = frame["x"] + np.where(works, 5.0 - np.abs(when.dt.hour - 12) / 2.0, 1.0)
    return TableRegressor(effort="quick", random_state=0).fit(frame, y), frame


def test_effects_are_averages_of_predictions(hourly):
    """With dates moved here by pandas, in the table itself."""
    model, frame = hourly
    some = np.random.default_rng(0).permutation(len(frame))
    rows = frame.iloc[some].reset_index(drop=True)  # The order in which the model keeps them
    over, by_hour, by_weekday, by_both = date_effects(model, "when")
    at_nine = rows.assign(when=rows["when"].dt.normalize() + pd.Timedelta(hours=9))
    assert by_hour.values[0][9] == 9.0
    assert by_hour.mean[9] == pytest.approx(model.predict(at_nine).mean(), rel=1e-6)
    days = pd.to_timedelta(3 - rows["when"].dt.day_of_week, "D")
    thursday = rows.assign(when=rows["when"] + days)
    assert by_weekday.mean[3] == pytest.approx(model.predict(thursday).mean(), rel=1e-6)
    noon = rows.assign(when=(rows["when"] + days).dt.normalize() + pd.Timedelta(hours=12))[:100]
    assert by_both.values[1][3] == "Thu"
    assert by_both.mean[12, 3] == pytest.approx(model.predict(noon).mean(), rel=1e-6)
    last = rows["when"].max()
    weeks = rows.assign(when=last - (last - rows["when"]) % pd.Timedelta(days=7))
    assert set(weeks["when"].dt.hour) == set(rows["when"].dt.hour)
    assert over.mean[-1] == pytest.approx(model.predict(weeks).mean(), rel=1e-6)
    assert over.columns == ("when",)


def test_the_peak_is_where_the_table_has_it(hourly):
    *_, by_hour, by_weekday, by_both = date_effects(hourly[0], "when")
    assert 10 <= np.argmax(by_hour.mean) <= 14
    assert by_weekday.mean[:5].min() > by_weekday.mean[5:].max()
    workdays, weekends = by_both.mean[:, 1:4], by_both.mean[:, 5:]
    assert np.ptp(workdays, axis=0).min() > 2.0 * np.ptp(weekends, axis=0).max()
    assert np.all(by_hour.lower <= by_hour.upper)


def test_days_have_no_hours_and_classes_have_shares():
    days = pd.Series(np.datetime64("2020-01-01") + np.arange(200).astype("m8[D]"))
    frame = pd.DataFrame({"day": days, "x": np.random.default_rng(0).normal(size=200)})
    labels = np.where(days.dt.day_of_week < 5, "work", "rest")
    model = TableClassifier(effort="quick", random_state=0).fit(frame, labels)
    assert cycles_of(model, "day") == ["weekday"]
    assert cycles_of(model, "x") == []
    over, by_weekday = date_effects(model, "day")
    assert over.mean.shape == (30, 2)
    np.testing.assert_allclose(by_weekday.mean.sum(axis=1), 1.0)
    assert by_weekday.mean[:5, 1].min() > 0.5 > by_weekday.mean[5:, 1].max()
