"""What holds for kernels learned from arrays on a device; run by test_array_api.py."""

import numpy as np
import pytest
from array_api.homes import WEIGHT, X, Y, dispatch, home_of_torch  # noqa: F401
from numpy.testing import assert_allclose

from bochner import (
    LearnedKernelClassifier,
    LearnedKernelRegressor,
    LocallyStationaryRegressor,
)


def learned(cls, rows, targets, weight, **settings):
    model = cls(8, n_burn_in=2, n_samples=2, n_chains=2, random_state=0, **settings)
    return model.fit(rows, targets, weight)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_learned_kernels_of_torch_are_those_of_numpy(tensors, weight):
    moved = None if weight is None else tensors(weight)
    # Without noise, rounding would decide some of the proposals.
    noisy = Y[:, 0] + 0.3 * np.random.default_rng(1).normal(size=150)
    made = learned(LearnedKernelRegressor, tensors(X), tensors(noisy), moved)
    known = learned(LearnedKernelRegressor, X, noisy, weight)
    assert isinstance(made.learned_[0].draws.coef, np.ndarray)
    for own, expected in zip(
        made.predict(tensors(X), return_std=True), known.predict(X, return_std=True), strict=True
    ):
        assert_allclose(own, expected, rtol=1e-7, atol=1e-7)
    assert made.score_ == pytest.approx(known.score_, rel=1e-7)


def test_learned_labels_of_torch_are_those_of_numpy(tensors):
    labels = np.digitize(Y[:, 1], [-0.5, 0.5])
    made = learned(LearnedKernelClassifier, tensors(X), tensors(labels, "int64"), tensors(WEIGHT))
    known = learned(LearnedKernelClassifier, X, labels, WEIGHT)
    assert_allclose(made.predict_proba(tensors(X)), known.predict_proba(X), atol=1e-7)
    np.testing.assert_array_equal(made.predict(tensors(X)), known.predict(X))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LearnedKernelRegressor(8, likelihood="student_t"), "pass NumPy arrays"),
        (LearnedKernelRegressor(8, sampler="hmc"), "sampler='pcn'"),
        (LocallyStationaryRegressor(8), "model of LearnedKernelRegressor"),
    ],
)
def test_what_does_not_learn_on_a_device_says_so(tensors, model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(tensors(X), tensors(Y[:, 0]))
    with pytest.raises(ValueError, match="leave out checkpoint"):
        LearnedKernelRegressor(8).fit(tensors(X), tensors(Y[:, 0]), checkpoint="here")
