"""Scores of classifiers for labels that scikit-learn's metric cannot compare."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bochner import (
    KernelGLMClassifier,
    KreinRidgeClassifier,
    LearnedKernelClassifier,
    TableClassifier,
)

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] > 0.0
FITTED = [
    KreinRidgeClassifier(n_components=32, random_state=0).fit(X, Y),
    KernelGLMClassifier(n_components=32, random_state=0).fit(X, Y),
    LearnedKernelClassifier(10, n_burn_in=4, n_samples=4, random_state=0).fit(X, Y),
]


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_labels_among_objects_are_those_of_their_kind(model):
    weight = np.arange(40.0)
    found = model.score(X, Y.astype(object), weight)
    assert found == pytest.approx(np.average(model.predict(X) == Y, weights=weight))
    assert found == model.score(X, Y, weight)


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "bool[pyarrow]", "category"])
@pytest.mark.parametrize(
    "model", [*FITTED, TableClassifier("gaussian", n_components=32)], ids=lambda m: type(m).__name__
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
        clone(FITTED[0]).fit(X, pd.array([True, None] * 20, dtype="boolean"))


@pytest.mark.parametrize("y", [[None] * 40, ["a", 1] * 20], ids=["none", "mixed"])
@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_labels_that_are_no_classes_are_refused(model, y):
    with pytest.raises((ValueError, TypeError), match=r"\by\b"):
        model.score(X, np.array(y, dtype=object))
