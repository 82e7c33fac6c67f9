"""Rows for arrays of every namespace, and the namespaces with their devices and types."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context

from bochner._base.namespaces import to_numpy

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = np.stack([np.sin(X[:, 0]) + 4.0, X[:, 1] * X[:, 2]], axis=1)
WEIGHT = np.where(np.arange(150) % 7 == 0, 0.0, RNG.uniform(0.5, 2.0, size=150))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
PARTS = (slice(0, 60), slice(60, 90), slice(90, 150))
TOLERANCE = {"float64": 1e-10, "float32": 3e-5}


@dataclass(frozen=True)
class Home:
    """A namespace, a device of it and a type."""

    xp: Any
    device: Any
    dtype: str

    def __call__(self, values, dtype=None):
        array = np.array(values, dtype=dtype or self.dtype)
        return self.xp.asarray(array, device=self.device)

    def assert_same(self, made, expected, dtype=None, tolerance=None):
        dtype = dtype or self.dtype
        assert isinstance(made, type(self(0.0)))
        assert made.device == self(0.0).device
        assert made.dtype == getattr(self.xp, dtype)
        tolerance = tolerance or TOLERANCE[self.dtype]
        assert_allclose(to_numpy(made), expected, rtol=tolerance, atol=tolerance)


@pytest.fixture(autouse=True)
def dispatch():
    with config_context(array_api_dispatch=True):
        yield


@pytest.fixture(name="tensors")
def home_of_torch():
    return Home(pytest.importorskip("torch"), None, "float64")
