"""Scores of classifiers for labels that scikit-learn's metric cannot compare."""

import numpy as np
import pytest

from bochner import BaNKClassifier, KernelGLMClassifier, KreinRidgeClassifier

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] > 0.0
FITTED = [
    KreinRidgeClassifier(n_components=32, random_state=0).fit(X, Y),
    KernelGLMClassifier(n_components=32, random_state=0).fit(X, Y),
    BaNKClassifier(10, n_burn_in=4, n_samples=4, random_state=0).fit(X, Y),
]


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_labels_among_objects_are_those_of_their_kind(model):
    weight = np.arange(40.0)
    found = model.score(X, Y.astype(object), weight)
    assert found == pytest.approx(np.average(model.predict(X) == Y, weights=weight))
    assert found == model.score(X, Y, weight)


@pytest.mark.parametrize("y", [[None] * 40, ["a", 1] * 20], ids=["none", "mixed"])
@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_labels_that_are_no_classes_are_refused(model, y):
    with pytest.raises((ValueError, TypeError), match=r"\by\b"):
        model.score(X, np.array(y, dtype=object))
