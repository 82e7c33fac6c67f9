"""The benchmark of hierarchies: their sums, the methods, and the errors that are measured."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import hierarchies
from benchmarks.harness import Cell, Options
from benchmarks.hierarchies import ADDED, ALONE, RECONCILED, Hierarchy


def test_sums_of_sums_come_first():
    parts = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]})
    frame = Hierarchy(parts, {"total": ["ab", "c"], "ab": ["a", "b"]}).all_series()
    assert list(frame) == ["total", "ab", "a", "b", "c"]
    assert frame["total"].tolist() == [9.0, 12.0]
    assert frame["ab"].tolist() == [4.0, 6.0]


@pytest.mark.parametrize("method", hierarchies.METHODS)
def test_errors_are_those_of_forecasts_from_the_rows_before(method):
    options, name = Options(), hierarchies._QUICK
    found = hierarchies._run(Cell(name, method, 3, {}), options)
    model, frame, origin = hierarchies._fitted(name, 3, None)
    assert origin == len(frame) - 12
    means = {each: model.of(each).predict(12) for each in frame}
    if method == RECONCILED:
        means = model.predict(12)
    if method == ADDED:
        means["total"] = means["north"] + means["south"]
    future, past = frame[origin:], frame[:origin]
    scaled = [
        np.abs(future[each] - means[each]).mean() / past[each].diff(12).abs().mean()
        for each in frame
    ]
    assert found["mase"] == pytest.approx(np.mean(scaled))
    squares = (future["total"] - means["total"]) ** 2
    scale = np.sqrt((past["total"].diff(12) ** 2).mean())
    assert found["rmsse_total"] == pytest.approx(np.sqrt(squares.mean()) / scale)
    assert ("crps" in found) == (method != ADDED)
    if method == ALONE:
        inside = 0.0
        for each in frame:
            lower, upper = model.of(each).predict_interval(12, 0.9)
            inside += ((lower <= future[each]) & (future[each] <= upper)).mean() / 3
        assert found["coverage"] == pytest.approx(inside)


def test_generated_parts_have_correlated_changes():
    frames = [hierarchies.generated("abcd", seed, 400).diff().dropna() for seed in range(8)]
    means = [frame.corr().to_numpy()[np.triu_indices(4, 1)].mean() for frame in frames]
    assert min(means) > -0.2
    assert max(means) > 0.3
