"""Columns that determine the target alone are named, and strong honest ones are not."""

from time import process_time

import numpy as np
import pandas as pd
import pytest

from bochner.comparison import study
from bochner.comparison.split import split_rows
from bochner.comparison.study import Leak, leaks, measured_studies, table_facts
from bochner.comparison.verdict import suspicion
from bochner.files.columns import read_column

DRAWS = 20


def named(frame, is_class=False, time=None):
    columns = [read_column(name, frame[name]) for name in frame if name != "y"]
    return [leak.column for leak in leaks(columns, frame["y"].to_numpy(), is_class, time)]


def others(rng, n, *, count=6):
    frame = pd.DataFrame({f"noise {place}": rng.normal(size=n) for place in range(count)})
    return frame.assign(word=rng.choice(list("pqrst"), n))


KNOWN_AFTERWARDS = {
    "in other units": lambda y, rng: 3.2 * y + 7.0,
    "its logarithm": lambda y, rng: np.log(y),
    "falling": lambda y, rng: np.exp(-y / y.max()),
    "with little noise": lambda y, rng: y * (1.0 + 0.01 * rng.normal(size=len(y))),
    "rounded": lambda y, rng: np.round(y, 1),
    "text of a tenth": lambda y, rng: [
        f"{place * 10 // len(y)}." for place in np.argsort(np.argsort(y))
    ],
    "a bent curve": lambda y, rng: (y - np.median(y)) ** 3,
}


@pytest.mark.parametrize("name", KNOWN_AFTERWARDS)
def test_a_column_made_of_the_target_is_named(name):
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        y = np.exp(0.3 * rng.normal(size=200))
        frame = others(rng, 200).assign(y=y, made=KNOWN_AFTERWARDS[name](y, rng))
        assert named(frame) == ["made"]


def test_a_target_with_many_small_values_is_named_if_it_is_rounded():
    """Ranks of small values are lost by rounding, and little of the variance."""
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        y = rng.uniform(size=400) ** 3
        assert named(others(rng, 400).assign(y=y, made=np.round(10.0 * y))) == ["made"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("made", ["code", "score", "rare"])
def test_a_column_made_of_the_class_is_named(n_classes, made):
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        p = [0.95, *[0.05 / (n_classes - 1)] * (n_classes - 1)] if made == "rare" else None
        number = rng.choice(n_classes, 400, p=p)
        column = (
            number + 0.1 * rng.normal(size=400) if made == "score" else [f"k{i}" for i in number]
        )
        frame = others(rng, 400).assign(y=np.array(list("abc"))[number], made=column)
        assert named(frame, True) == ["made"]


@pytest.mark.parametrize("explained", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("n", [40, 200])
def test_a_strong_column_with_noise_is_not_named(explained, n):
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        strong = rng.normal(size=n)
        y = np.sqrt(explained) * strong + np.sqrt(1.0 - explained) * rng.normal(size=n)
        frame = others(rng, n).assign(strong=strong)
        for target in (y, np.exp(y), np.round(y, 1)):
            assert named(frame.assign(y=target)) == []
        number = rng.integers(0, 2, n)
        likely = number + 0.35 * rng.normal(size=n)  # 92 % of the rows are right
        assert named(frame.assign(y=number.astype(str), strong=likely), True) == []


def dated(n, seed):
    rng = np.random.default_rng(seed)
    walk, trend = np.cumsum(rng.normal(size=n)), np.arange(n) ** 1.5 + 0.3 * rng.normal(size=n)
    day = pd.date_range("2020-01-01", periods=n)
    return pd.DataFrame({"day": day, "noise": rng.normal(size=n)}), walk, trend


@pytest.mark.parametrize("n", [60, 2_000])
def test_lagged_values_and_times_are_not_named(n):
    for seed in range(DRAWS):
        frame, *targets = dated(n, seed)
        for y in targets:
            lagged = frame.assign(y=y, lag=np.r_[0.0, y[:-1]])
            assert named(lagged) == []
            assert named(lagged.sample(frac=1.0, random_state=seed)) == []
            number = lagged.assign(step=np.arange(float(n))).drop(columns="day")
            assert named(number, time="step") == []
        is_high = targets[0] > np.median(targets[0])
        lagged = frame.assign(y=is_high, lag=np.r_[False, is_high[:-1]].astype(str))
        assert named(lagged, True) == []
        years = 1950 + np.arange(n) % 50
        growing = pd.DataFrame({"year": years, "y": np.exp(0.02 * years)})
        assert named(growing) == []


def test_a_column_made_of_a_target_in_time_is_named():
    for seed in range(DRAWS):
        frame, walk, _ = dated(200, seed)
        made = 2.0 * walk + 0.01 * np.random.default_rng(seed).normal(size=200)
        assert named(frame.assign(y=walk, made=made)) == ["made"]


def test_identifiers_few_rows_and_missing_entries():
    rng = np.random.default_rng(0)
    y = rng.normal(size=100)
    text = [f"row {place}" for place in range(100)]
    assert named(pd.DataFrame({"y": y, "name": text})) == []
    frame = pd.DataFrame({"y": y, "made": 2.0 * y})
    assert named(frame[:29]) == []
    assert named(frame[:30]) == ["made"]
    frame.loc[::3, "made"] = np.nan
    assert named(frame) == ["made"]
    assert named(frame.assign(y=1.0)) == []
    number = rng.integers(0, 2, 100)
    gaps = pd.DataFrame({"y": number.astype(str), "lifeboat": np.where(number, "boat", None)})
    assert named(gaps, True) == ["lifeboat"]


def test_many_rows_and_columns_are_quick():
    rng = np.random.default_rng(0)
    frame = others(rng, 20_000, count=19).assign(y=rng.normal(size=20_000))
    columns = [read_column(name, frame[name]) for name in frame if name != "y"]
    target = frame["y"].to_numpy()
    seconds = []
    for _ in range(3):
        began = process_time()
        leaks(columns, target, False)
        seconds.append(process_time() - began)
    assert min(seconds) < 0.1


def test_each_target_has_its_leaks(monkeypatch):
    rng = np.random.default_rng(0)
    frame = others(rng, 100).assign(made=rng.normal(size=100))
    targets = pd.DataFrame({"y": rng.normal(size=100), "z": 3.0 * frame["made"]})
    split = split_rows(frame, targets, "regression", 0.2, 0)
    facts = table_facts(frame, "frame")
    monkeypatch.setattr(study, "own_outcomes", lambda *_: [{}, {}])
    first, second = measured_studies(object(), split, ("y", "z"), facts, is_analysed=False)
    assert first.leaks == []
    assert [leak.column for leak in second.leaks] == ["made"]
    assert suspicion(Leak("paid", 0.997)).startswith("'paid' alone explains 99.7 %: is it known")
