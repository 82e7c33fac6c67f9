"""Frequencies held by Hadamard blocks: the features of the array, without the array."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import Frequencies, spectral_measure
from bochner.kernels import Gaussian, Matern, SpectralMixture
from bochner.spectral.hadamard import HadamardRows

DIM, M = 100, 200
RNG = np.random.default_rng(0)
X = RNG.normal(size=(23, DIM))
HELD = spectral_measure(Gaussian(10.0), DIM).sample(M, 0, "structured")


@pytest.fixture
def no_array(monkeypatch):
    def refuse(self, dtype=None, copy=None):
        raise AssertionError("omega was made")

    monkeypatch.setattr(HadamardRows, "__array__", refuse)


def test_nothing_makes_the_array(no_array):
    twin = pickle.loads(pickle.dumps(copy.deepcopy(HELD))).with_weights(2.0 * HELD.weight)
    assert twin.is_symmetric
    assert_allclose(twin.gram(X), 2.0 * HELD.gram(X), atol=1e-13)
    with pytest.raises(AssertionError, match="omega was made"):
        HELD.omega  # noqa: B018


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 2e-7), (np.float64, 2e-14)])
def test_errors_against_extended_precision(dtype, bound):
    rows = (20.0 * X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
    phase = np.linspace(-20.0, 20.0, M)
    f = Frequencies(HELD.omega_blocks / np.array(0.1), np.ones(M), phase)
    angle = rows.astype(np.longdouble) @ f.omega.astype(np.longdouble).T + phase
    Z = f.features(rows)
    assert Z.dtype == dtype
    assert np.abs(Z - np.hstack([np.cos(angle), np.sin(angle)])).max() < bound


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(10.0) * Matern(10.0),
        Gaussian(10.0) + Matern(10.0),
        SpectralMixture([1.0], np.zeros((1, DIM)), [np.eye(DIM) / 100.0]),
    ],
    ids=["product", "sum", "mixture"],
)
def test_other_laws_make_the_array(kernel):
    drawn = spectral_measure(kernel, DIM).sample(2000, 0, "structured")
    assert isinstance(drawn.omega_blocks, np.ndarray)
    assert np.abs(drawn.gram(X) - kernel(X)).max() < 0.2
