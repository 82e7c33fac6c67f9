"""Warnings point at the user's line."""

import warnings
from functools import cache

import numpy as np
import pytest
from flat_parameters import flat
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bochner import FourierFeatures, KreinRidge, KreinRidgeClassifier, kernels
from bochner._base.warn import warn_user

X = np.random.default_rng(0).normal(size=(60, 2))
LABELS = X[:, 0] > 0
KERNEL = kernels.DeltaGaussian(1.0, 3.0)
FAR = 100.0 * X


def rough(A, B):
    """One where rows are the same, and zero elsewhere."""
    return (A[:, None] == B[None]).all(axis=-1).astype(float)


@cache
def features():
    return FourierFeatures(KERNEL, 64, random_state=0).fit(X)


@cache
def fitted(cls):
    return cls(KERNEL, 64, random_state=0).fit(X, LABELS)


FITTED = {"weights": "least_squares", "n_components": 4, "random_state": 0}

CALLS = {
    "transform": lambda: features().transform(FAR),
    "gram": lambda: features().gram(X, FAR),
    "predict": lambda: fitted(KreinRidge).predict(FAR),
    "partial_fit": lambda: clone(fitted(KreinRidge)).fit(X, LABELS).partial_fit(FAR, LABELS),
    "predict_proba": lambda: fitted(KreinRidgeClassifier).predict_proba(FAR),
    "pipeline": lambda: make_pipeline(StandardScaler(), features()).fit(X).transform(FAR),
    "least squares": lambda: FourierFeatures(rough, **FITTED).fit(X),
    "head": lambda: flat(KreinRidge, rough, **FITTED).fit(X, X[:, 0]),
    "poor draw": lambda: FourierFeatures(kernels.TL1(0.5), 4).fit(X),
    "poor head": lambda: KreinRidge(kernels.TL1(0.5), 4).fit(X, X[:, 0]),
}


@pytest.mark.thorough_cases(r"\bpoor\b")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warnings_come_from_this_file(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


def test_a_call_from_outside_is_its_own_place():
    with pytest.warns(RuntimeWarning, match="^so$") as caught:
        warn_user("so", RuntimeWarning)
    (warning,) = caught
    assert warning.filename == __file__


@pytest.mark.thorough
def test_a_poor_draw_is_called_so_and_a_good_one_is_not():
    with pytest.warns(UserWarning, match=r"badly: their predicted relative error is") as caught:
        map = FourierFeatures(kernels.TL1(0.5), 4).fit(X)
    assert f"is {map.predicted_error_:.3g} with n_components=4" in str(caught[0].message)
    assert map.predicted_error_ > 0.5
    with warnings.catch_warnings(action="error"):
        assert FourierFeatures(KERNEL, 512).fit(X).predicted_error_ < 0.5
