"""Scores of classifiers for labels that scikit-learn's metric cannot compare."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bochner import (
    GaussianProcessClassifier,
    KernelGLMClassifier,
    KreinRidgeClassifier,
    LearnedKernelClassifier,
    LocallyStationaryClassifier,
    TableClassifier,
)
from bochner.engines.partition_rows import checked_part_targets
from bochner.learned import Chains

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] > 0.0
MODELS = [
    KreinRidgeClassifier(n_components=32, random_state=0),
    KernelGLMClassifier(n_components=32, random_state=0),
    LearnedKernelClassifier(10, random_state=0, chains=Chains(n_burn_in=4, n_samples=4)),
]


@cache
def fitted(model):
    return clone(model).fit(X, Y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_among_objects_are_those_of_their_kind(model):
    weight = np.arange(40.0)
    model = fitted(model)
    found = model.score(X, Y.astype(object), weight)
    assert found == pytest.approx(np.average(model.predict(X) == Y, weights=weight))
    assert found == model.score(X, Y, weight)


@pytest.mark.thorough_cases(r"LearnedKernelClassifier|TableClassifier-bool\[pyarrow\]")
@pytest.mark.parametrize("dtype", ["boolean", "Int64", "bool[pyarrow]", "category"])
@pytest.mark.parametrize(
    "model", [*MODELS, TableClassifier(effort="quick")], ids=lambda m: type(m).__name__
)
def test_classes_of_pandas_types_are_those_of_numpy(model, dtype):
    own = Y.astype(int) if dtype == "Int64" else Y
    y = pd.Series(own, dtype=dtype)
    with warnings.catch_warnings(action="ignore"):  # a frame of one column, few draws
        fitted = clone(model).fit(X, y.to_frame() if dtype == "boolean" else y)
    assert fitted.classes_.dtype == own.dtype
    assert fitted.classes_.tolist() == np.unique(own).tolist()
    assert fitted.score(X, y) == fitted.score(X, own) > 0.8


def test_missing_labels_of_pandas_types_are_refused():
    with pytest.raises(ValueError, match="y must not have masked entries"):
        clone(MODELS[0]).fit(X, pd.array([True, None] * 20, dtype="boolean"))


@pytest.mark.parametrize("y", [[None] * 40, ["a", 1] * 20], ids=["none", "mixed"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_that_are_no_classes_are_refused(model, y):
    with pytest.raises((ValueError, TypeError), match=r"\by\b"):
        fitted(model).score(X, np.array(y, dtype=object))


ONE_KIND, TEXT = (
    "y must hold labels of one kind|the target is missing in [0-9]+ of 40 rows",
    "y must hold labels that are text, booleans or whole",
)
NO_LABELS = {
    "missing and text": ([np.nan, "a", "b", "b"] * 10, ONE_KIND),
    "missing text": ([None, "a", "b", "b"] * 10, ONE_KIND), "no dates": ([pd.NaT] * 40, ONE_KIND),
    "booleans and text": ([True, "True", "x", "x"] * 10, ONE_KIND),
    "numbers and text": ([1, "1"] * 20, ONE_KIND),
    "infinity and text": ([np.inf, "a"] * 20, ONE_KIND),
    "bytes and text": ([b"a", "a"] * 20, ONE_KIND),
    "series": (pd.Series([np.nan, "a", "b", "b"] * 10), ONE_KIND),
    "categories": (pd.Categorical(["a", "b", None, "b"] * 10), ONE_KIND),
    "strings": (pd.array(["a", None] * 20, "string"), ONE_KIND),
    "dates": (pd.date_range("2020", periods=40), TEXT),
    "durations": (pd.timedelta_range("1D", periods=40), TEXT),
    "months": (pd.period_range("2020-01", periods=40, freq="M"), TEXT),
    "fractions": ([0.1, 0.2] * 20, TEXT), "beyond 64 bits": ([10**20, 1] * 20, TEXT),
    "2**64": ([2**64, 1] * 20, TEXT),
    "long floats": (np.array([1, 2] * 20, dtype=np.longdouble), TEXT),
}  # fmt: skip
"""Labels that no classifier takes, and the first words of the refusal after scikit-learn's."""


@pytest.mark.parametrize("case", NO_LABELS)
@pytest.mark.parametrize(
    "model",
    [
        *MODELS,
        TableClassifier(effort="quick"),
        TableClassifier(class_weight="balanced"),
        GaussianProcessClassifier(),
        LocallyStationaryClassifier(chains=Chains(n_burn_in=2, n_samples=2)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_reads_labels_by_the_same_rule(model, case):
    """Labels of two kinds would be merged as text, and others could not be saved."""
    if case == "long floats" and np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("This system has no long floats")
    y, words = NO_LABELS[case]
    with pytest.raises(ValueError, match=words):
        clone(model).fit(X, y)


@pytest.mark.parametrize("case", ["missing and text", "fractions", "2**64"])
def test_partitions_read_labels_by_the_same_rule(case):
    y, words = NO_LABELS[case]
    with pytest.raises(ValueError, match=words):
        checked_part_targets(y, X, numeric=False, single=True)
