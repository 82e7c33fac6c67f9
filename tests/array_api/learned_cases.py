"""What holds for kernels learned from arrays on a device; run by test_array_api.py."""

import numpy as np
import pytest
from array_api.homes import WEIGHT, Home, X, Y, dispatch  # noqa: F401
from numpy.testing import assert_array_equal

from bochner import (
    LearnedKernelClassifier,
    LearnedKernelRegressor,
    LocallyStationaryRegressor,
)


@pytest.fixture(name="arrays", params=["torch", "array_api_strict"])
def home_of_library(request):
    xp = pytest.importorskip(request.param)
    device = xp.Device("device1") if request.param == "array_api_strict" else None
    return Home(xp, device, "float64")


@pytest.mark.parametrize(
    ("cls", "settings"),
    [
        (LearnedKernelRegressor, {}),
        (LocallyStationaryRegressor, {}),
        (LearnedKernelClassifier, {}),
    ],
)
def test_learned_kernels_of_arrays_are_those_of_numpy(arrays, cls, settings):
    is_classifier = cls is LearnedKernelClassifier
    targets = np.digitize(Y[:, 1], [-0.5, 0.5]) if is_classifier else Y[:, 0]

    def learned(rows, targets, weight):
        model = cls(8, n_burn_in=2, n_samples=2, n_chains=2, random_state=0, **settings)
        return model.fit(rows, targets, weight)

    moved = arrays(targets, "int64") if is_classifier else arrays(targets)
    made = learned(arrays(X), moved, arrays(WEIGHT))
    expected = learned(X, targets, WEIGHT)
    assert isinstance(made.learned_[0].draws.coef, np.ndarray)
    assert_array_equal(made.predict(arrays(X)), expected.predict(X))
