"""Kernels of a user's own file that break a promise are refused with what to write instead."""

from dataclasses import dataclass

import numpy as np
import pytest

import bochner
from bochner.kernels import Correlation, Gaussian
from bochner.kernels.kernel_names import KERNELS_BY_DIMENSION, NAMED_KERNELS
from bochner.spectral import Chi

X = np.random.default_rng(0).normal(size=(20, 2))
BUILT_IN = (*NAMED_KERNELS, *KERNELS_BY_DIMENSION)


def bell(X, Y):
    return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


def fresh_kernel():
    @dataclass(frozen=True, slots=True)
    class Fresh(Correlation):
        def correlation(self, X, Y):
            return bell(X, Y)

    return Fresh


@pytest.mark.parametrize("name", [*BUILT_IN, "auto", "precomputed"])
def test_names_of_the_library_are_refused(name):
    before = bochner.FourierFeatures(NAMED_KERNELS.get(name, Gaussian)(1.0), 8, random_state=0)
    cls = fresh_kernel()
    with pytest.raises(ValueError, match=f"kernel={name!r} already .*another name"):
        bochner.register(cls, name=name)
    assert not bochner._base.registry.is_registered(cls)
    if name in NAMED_KERNELS:
        after = bochner.FourierFeatures(name, 8, length_scale=1.0, random_state=0)
        np.testing.assert_array_equal(after.fit_transform(X), before.fit_transform(X))


@dataclass(frozen=True, slots=True)
class Column(Correlation):
    """Forgets all rows of Y but one."""

    def correlation(self, X, Y):
        return bell(X, Y)[:, 0]


@dataclass(frozen=True, slots=True)
class ByInput(Correlation):
    """Forgets the product over inputs."""

    def correlation(self, X, Y):
        return np.exp(-np.abs(X[:, None] - Y[None]))


@pytest.mark.parametrize(
    ("kernel", "method", "shape"),
    [
        (Column(0.5), "Column.correlation", r"\(20,\)"),
        (ByInput(0.5), "ByInput.correlation", r"\(20, 20, 2\)"),
    ],
)
def test_values_of_another_shape_are_refused(kernel, method, shape):
    message = rf"{method} must return .* \(n, n2\), here \(20, 20\), got {shape}"
    for each in (kernel, 2.0 * kernel, Gaussian() + kernel, kernel * Gaussian(), kernel.on([0, 1])):
        with pytest.raises(ValueError, match=message):
            each(X)
    with pytest.raises(ValueError, match=message):
        bochner.GaussianProcessRegressor(kernel, optimizer=None).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("fact", "made", "message"),
    [
        ("law", Chi(), r"law= of Fresh must return a Law, got Chi\(\); wrap it in Isotropic or"),
        ("law", None, "law= of Fresh must return a Law, got None"),
        ("closed_form", Chi(), r"closed_form= of Fresh must return a SpectralMeasure, got Chi"),
    ],
)
def test_what_is_no_law_is_refused(fact, made, message):
    cls = bochner.register(fresh_kernel(), **{fact: lambda kernel, dim: made})
    with pytest.raises(TypeError, match=message):
        bochner.FourierFeatures(cls(), 32).fit(X)
