"""Hostile series: a finite forecast near the values, or an error that says what to do."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from bochner import Forecaster

N, MADRID = 60, "Europe/Madrid"
RNG = np.random.default_rng(0)
WALK, FEW, DAYS = 10.0 + RNG.normal(size=N).cumsum(), np.arange(N), pd.date_range("2020", periods=N)
CONSTANT, SIZE, MISSING = "is constant", "Change the unit of y", "at least 8 known values"
NUMBERS, ORDER = "y must be a series of numbers", "Times must be inc.*(Sort|Sum)"


def put(rows, value, y=WALK):
    y = np.array(y, dtype=float)
    y[rows] = value
    return y


def at(times, y=WALK):
    return pd.Series(y, index=times)


def hours(day):
    return pd.date_range(day, periods=N, freq="h", tz=MADRID)


REFUSED = {
    "constant": (np.full(N, 3.0), CONSTANT),
    "up to rounding": (5.0 + 1e-14 * WALK, CONSTANT),
    "beyond precision": (1e17 + WALK, CONSTANT),
    "three values": (put(slice(3, None), np.nan), MISSING),
    "all missing": (np.full(N, np.nan), MISSING),
    "no values": ([], MISSING),
    **{f"{factor:g}": (WALK * factor, SIZE) for factor in (1e300, -1e300, 1e-300, 1e-320)},
    "one of 1e300": (put(30, 1e300), SIZE),
    **{f"{value}": (put(9, value), "some are infinite") for value in (np.inf, -np.inf)},
    "complex": (WALK + 1j, "must hold real numbers"),
    **{name: (pd.Series(y), NUMBERS) for name, y in {
        "text": ["a", *WALK[1:]], "written numbers": WALK.astype(str), "dates": DAYS,
        "lists": [[1.0]] * N, "signalling": [Decimal("sNaN"), *map(Decimal, WALK[1:])],
    }.items()},
    "three axes": (WALK[:, None, None], r"must have shape \(n,\)"),
    "time twice": (at(DAYS[[0, 0, *range(2, N)]]), ORDER),
    "unsorted": (at(RNG.permutation(DAYS)), ORDER),
    "reversed": (at(DAYS[::-1]), ORDER),
    "repeated hour": (at(hours("2020-10-24").tz_localize(None)), ORDER),
    "no date": (at(DAYS.insert(9, pd.NaT).delete(10)), "some are missing"),
    "infinite time": (at(put(-1, np.inf, FEW)), "Times must be finite"),
    "huge times": (at(FEW * 1e300), "Change the unit"),
    "durations": (at(pd.to_timedelta(FEW, unit="h")), "durations"),
    "truth": (at(FEW > 3), "entries of type bool"),
    "equal as floats": (at(pd.date_range("2020", periods=N, freq="ns")), "must be further apart"),
    "irregular": (at(np.sort(RNG.uniform(size=N))), "pass the times to predict at"),
    "steps of 1e-300": (at(np.cumsum(10.0 ** RNG.uniform(-300, 0, N))), "further apart|increasing"),
    "names twice": (pd.DataFrame(np.c_[WALK, WALK], columns=["a", "a"]), "must differ"),
    "a constant one": (pd.DataFrame({"a": WALK, "b": 1.0}), "Series 'b'.*constant"),
}  # fmt: skip

TAKEN = {
    "two values": RNG.integers(0, 2, N), "alternating": FEW % 2, "step": FEW > 30, "line": FEW,
    "one spike": FEW == 30, "last spike": FEW == N - 1, "first differs": FEW == 0, "saw": FEW % 7,
    "geometric": 2.0**FEW, "1e12 higher": WALK + 1e12, "outlier": put(30, 1e20),
    "negative counts": -RNG.poisson(0.3, N), "large counts": RNG.poisson(0.2, N) * 1e15,
    "uint64": RNG.integers(2**63, 2**64 - 1, N, dtype=np.uint64), "eight": WALK[:8],
    "gap": put(slice(9, 50), np.nan), "ends missing": put(slice(30, None), np.nan),
    "objects": WALK.astype(object), "None": pd.Series([None, *WALK[1:]], dtype=object),
    "decimals": pd.Series(list(map(Decimal, WALK))), "zeros, then noise": WALK * (FEW > 40),
    "Int64": pd.Series([None, *range(N - 1)], dtype="Int64"), "half": WALK.astype(np.float16),
    "summer time": at(hours("2020-03-28")), "winter time": at(hours("2020-10-24")),
    "century": at(DAYS[:30].append(DAYS[:30] + pd.Timedelta(days=36_500))),
    "whole objects": at(pd.Index(FEW, dtype=object)), "1e15 later": at(FEW + 1e15),
    "tiny steps": at(FEW * 1e-300), "1677": at(pd.date_range("1677-10-01", periods=N)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    y, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        Forecaster(random_state=0).fit(y).predict(3)
    assert 20 < len(str(caught.value)) < 300


@pytest.mark.thorough
@pytest.mark.parametrize("name", TAKEN)
def test_taken(name):
    """Forecasts are finite and within ten ranges of the values, unless these grow."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Forecaster(random_state=0).fit(TAKEN[name])
        mean, (lower, upper) = model.predict(12), model.predict_interval(12)
    values = np.asarray(TAKEN[name], dtype=float)
    assert np.isfinite([mean, lower, upper]).all()
    assert (lower <= upper).all()
    reach = 1e4 if name == "geometric" else 10.0
    assert np.abs(mean - np.nanmean(values)).max() <= reach * np.ptp(values[np.isfinite(values)])
