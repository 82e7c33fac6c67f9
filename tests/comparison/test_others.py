"""Other methods on the rows of a fitted model."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from bochner import TableEncoder
from bochner.comparison import contenders
from bochner.comparison.outcomes import outcome
from bochner.comparison.split import Split


@pytest.fixture(autouse=True)
def without_catboost(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)


def split(task="regression", n=160):
    rng = np.random.default_rng(0)
    a, level = rng.normal(size=n), rng.integers(0, 300, n)  # More levels than are one-hot encoded
    frame = pd.DataFrame({"a": a, "level": [f"level {number}" for number in level % 40]})
    y = a + 0.1 * (level % 40) + 0.1 * rng.normal(size=n)
    if task == "classification":
        y = np.where(y > np.median(y), "high", "low")
    half = n // 2
    return Split(frame[:half], y[:half], frame[half:], y[half:], task)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_outcomes_are_those_of_each_method_alone(task):
    weighted = replace(split(task), weight=np.linspace(0.5, 1.5, 80))
    found = [{}]
    assert contenders.add_others(found, weighted, seed=3) == []
    names = list(contenders.CONTENDERS)
    assert list(found[0]) == names
    for name in names:
        alone = contenders.CONTENDERS[name](task, contenders.N_COMPONENTS, 3)
        seconds = contenders.timed_fit(alone, weighted)
        expected = outcome(alone, weighted)
        if task == "regression":
            np.testing.assert_allclose(found[0][name].prediction, expected.prediction, rtol=1e-6)
        else:
            np.testing.assert_array_equal(found[0][name].prediction, expected.prediction)
        assert 0.0 < found[0][name].seconds < 100.0 * seconds


def test_each_target_has_its_outcomes():
    both = split()
    both = replace(
        both, y=np.stack([both.y, -both.y], 1), y_test=np.stack([both.y_test, -both.y_test], 1)
    )
    found = [{}, {}]
    contenders.add_others(found, both)
    first, second = (outcomes[contenders.LINEAR].prediction for outcomes in found)
    np.testing.assert_allclose(first, -second, rtol=1e-6)


def test_the_table_is_encoded_once(monkeypatch):
    calls = []
    for name in ("fit", "fit_transform", "transform"):
        right = getattr(TableEncoder, name)

        def counted(self, *arguments, _right=right, _name=name, **options):
            calls.append(_name)
            return _right(self, *arguments, **options)

        monkeypatch.setattr(TableEncoder, name, counted)
    contenders.add_others([{}], split())
    assert calls == ["fit_transform", "transform"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_methods_have_the_threads_of_the_fit(n_jobs, monkeypatch):
    threads = set()
    monkeypatch.setattr("bochner._base.threads.cpu_count", lambda: 8)

    def fitted(model, split, **options):
        threads.update(pool["num_threads"] for pool in threadpool_info())
        threads.add(options["n_openmp"])
        return timed_fit(model, split, **options)

    timed_fit = contenders.timed_fit
    monkeypatch.setattr(contenders, "timed_fit", fitted)
    contenders.add_others([{}], split(), n_jobs=n_jobs)
    assert threads == {n_jobs}


def test_methods_without_time_are_named():
    found = [{}]
    names = list(contenders.CONTENDERS)
    assert contenders.add_others(found, split(), until=0.0) == names
    assert found == [{}]
