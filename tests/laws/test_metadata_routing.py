"""Metadata routing: weights, groups and times reach every estimator through pipelines."""

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn
from fuzz.subjects import SUBJECTS
from fuzz.test_invariances import WEIGHTED
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bochner

RNG = np.random.default_rng(0)
X = RNG.normal(size=(48, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=48)
LABELS = np.where(Y > 0.0, "a", "b")
WEIGHT = RNG.uniform(0.2, 2.0, 48)
GROUPS = np.arange(48) % 6
Z = StandardScaler().fit_transform(X)


@pytest.fixture(autouse=True)
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def scaler():
    return StandardScaler().set_fit_request(sample_weight=False)


def target(subject):
    return LABELS if subject.target == "labels" else Y


def test_every_estimator_with_weights_is_here():
    for name, subject in SUBJECTS.items():
        takes = "sample_weight" in inspect.signature(subject.build().fit).parameters
        assert takes == (name in WEIGHTED or subject.right), name


@pytest.mark.thorough_cases(but="ridge$|ridge classifier$")
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_reach_the_estimator(name):
    subject = SUBJECTS[name]
    y = target(subject)
    model = make_pipeline(scaler(), subject.build().set_fit_request(sample_weight=True))
    expected = subject.build().fit(Z, y, sample_weight=WEIGHT).predict(Z)
    np.testing.assert_array_equal(model.fit(X, y, sample_weight=WEIGHT).predict(X), expected)


@pytest.mark.thorough_cases(but="ridge")
@pytest.mark.parametrize("name", ["ridge", "ridge classifier", "table", "chain"])
def test_weights_of_folds_are_those_of_their_rows(name):
    subject = SUBJECTS[name]
    y = target(subject)
    model = subject.build().set_fit_request(sample_weight=True)
    model = model.set_score_request(sample_weight=True)
    if "groups" in inspect.signature(model.fit).parameters:
        model.set_fit_request(groups=False)
    folds = GroupKFold(2).set_split_request(groups=True)
    given = {"sample_weight": WEIGHT, "groups": GROUPS}
    found = cross_validate(model, X, y, cv=folds, params=given)
    expected = [
        subject.build().fit(X[a], y[a], sample_weight=WEIGHT[a]).score(X[b], y[b], WEIGHT[b])
        for a, b in folds.split(X, y, GROUPS)
    ]
    np.testing.assert_array_equal(found["test_score"], expected)


@pytest.mark.thorough
@pytest.mark.parametrize("given", ["groups", "time"])
def test_groups_and_times_reach_tables(given):
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    values = {"groups": GROUPS, "time": np.arange(48.0)}[given]
    routed = bochner.TableRegressor(effort="quick", random_state=0)
    routed.set_fit_request(**{given: True}).set_predict_request(return_std=True)
    scales = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scales, routed).fit(table, Y, **{given: values})
    expected = bochner.TableRegressor(effort="quick", random_state=0)
    expected.fit(scales.fit_transform(table), Y, **{given: values})
    scaled = scales.transform(table)
    np.testing.assert_array_equal(
        model.predict(table, return_std=True), expected.predict(scaled, return_std=True)
    )
