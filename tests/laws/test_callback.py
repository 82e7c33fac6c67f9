"""Callbacks of long fits: what they are told, how they stop a fit, and what they leave alone."""

import dataclasses

import numpy as np
import pytest
import sklearn
from fuzz.subjects import CHAINS, SUBJECTS
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bochner
from bochner import FitProgress
from bochner._base.progress import Progress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=60)
LONG = [
    "chain",
    "chain of classes",
    "local chain",
    "local chain of classes",
    "learned table",
    "learned table of classes",
]


def fit(name, callback=None):
    subject = SUBJECTS[name]
    y = np.where(Y > 0.0, "a", "b") if subject.target == "labels" else Y
    return subject.build().fit(X, y, callback=callback)


@pytest.mark.thorough
@pytest.mark.parametrize("name", LONG)
def test_steps_are_told_and_change_nothing(name):
    steps = []
    model = fit(name, steps.append)
    assert all(type(step) is FitProgress for step in steps)
    assert np.all(np.diff([step.seconds for step in steps]) >= 0.0)
    counted = [step for step in steps if step.step is not None]
    assert all(1 <= step.step <= step.total for step in counted)
    np.testing.assert_array_equal(model.predict(X), fit(name).predict(X))
    with pytest.raises(dataclasses.FrozenInstanceError):
        steps[0].stage = "another"


@pytest.mark.thorough
@pytest.mark.parametrize("name", LONG)
def test_a_stopped_fit_is_a_fit(name):
    whole, steps = [], []
    fit(name, whole.append)

    def stop(step):
        steps.append(step)
        return len(steps) < 2

    model = fit(name, stop)
    assert len(steps) < len(whole)
    assert np.isfinite(getattr(model, "predict_proba", model.predict)(X)).all()


@pytest.mark.thorough_cases(r"\bof\b|\blocal\b")
@pytest.mark.parametrize("name", LONG)
def test_an_error_of_a_callback_is_raised(name):
    def fail(step):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fit(name, fail)


def series():
    t = np.arange(80.0)
    return t / 40.0 + np.sin(2.0 * np.pi * t / 8.0) + 0.1 * RNG.normal(size=80)


def test_a_stopped_forecaster_forecasts():
    y, whole, steps = series(), [], []
    bochner.Forecaster(random_state=0).fit(y, callback=whole.append)

    def stop(step):
        steps.append(step.stage)
        return False

    model = bochner.Forecaster(random_state=0).fit(y, callback=stop)
    assert len(steps) == 2 < len(whole)
    assert steps[-1] == whole[-1].stage
    assert np.isfinite(model.predict(5, return_std=True)).all()


@pytest.mark.parametrize("answer", [None, 0, "", [], True, 1.0])
def test_only_false_stops(answer):
    progress = Progress(lambda step: answer)
    progress("a stage")
    assert not progress.is_stopped


def test_false_of_numpy_stops_and_stays():
    answers = iter([np.bool_(False), True])
    progress = Progress(lambda step: next(answers))
    progress("one")
    progress("two")
    assert progress.is_stopped


@pytest.mark.parametrize(
    "model", [bochner.LearnedKernelRegressor(**CHAINS), bochner.TableRegressor()]
)
def test_a_callback_is_a_function(model):
    with pytest.raises(TypeError, match=r"callback must be a function of a bochner\.FitProgress"):
        model.fit(X, Y, callback="print")


def test_a_search_hands_the_callback_to_its_fits():
    steps = []
    with sklearn.config_context(enable_metadata_routing=True):
        model = bochner.LearnedKernelRegressor(**CHAINS, random_state=0).set_fit_request(
            callback=True
        )
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model), {"learnedkernelregressor__trend": [0, 1]}, cv=2
        )
        search.fit(X, Y, callback=steps.append)
    assert sum((step.stage, step.step) == ("sampling", 3) for step in steps) == 5
